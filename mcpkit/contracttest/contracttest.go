package contracttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say how to test a server. A nil *Options and the zero value check
// everything that needs no knowledge of the tools.
type Options struct {
	// Calls are the calls to make. Each is made once by every client over every
	// transport, so they must be repeatable.
	Calls []Call

	// Clients are the identities to call as. Nil means [Clients].
	Clients []Client

	// PublicCache accepts results that any cache may share between users. Set
	// it when the server chose that on purpose.
	PublicCache bool

	// Timeout is how long a reply may take. Zero means 10 s.
	Timeout time.Duration
}

// Call is one call of a tool.
type Call struct {
	// Tool is the name as clients see it.
	Tool string
	// Arguments are encoded as JSON. Nil means an object without fields.
	Arguments any
	// Fails says that the call has to end in an error of the tool.
	Fails bool
}

// Client is an identity that a server may see.
type Client struct {
	// Name and Version are sent as clientInfo. With an empty Name, clientInfo
	// is left out where the protocol allows that, and empty elsewhere.
	Name, Version string
}

// String returns name and version, or "no clientInfo".
func (c Client) String() string {
	if c.Name == "" {
		return "no clientInfo"
	}
	return c.Name + " " + c.Version
}

// Clients returns identities of all kinds: clients that read structured
// results, clients that read text, one behind a proxy, and one that does not
// say who it is.
func Clients() []Client {
	return []Client{
		{"codex-mcp-client", "0.171.0"},
		{"claude-code", "2.0.20"},
		{"claude-code", "2.1.332"},
		{"claude-code (via mcp-remote 0.15.1)", "2.1.332"},
		{"cursor-vscode", "1.0.0"},
		{"gemini-cli-mcp-client", "0.61.0"},
		{"Visual Studio Code", "1.120.0"},
		{"Zed", "0.2.0"},
		{},
	}
}

// childEnv holds, in a child process, the name of the test that serves.
const childEnv = "MCPCONTRACT_CONTRACTTEST_SERVE"

// Run checks the server that newServer makes, and reports every broken promise
// by tb.Errorf and every doubt by tb.Logf. newServer is called once for each
// session, and must make an independent server each time.
func Run(tb testing.TB, newServer func() *mcp.Server, opts *Options) {
	tb.Helper()
	if os.Getenv(childEnv) == tb.Name() {
		serveChild(newServer())
	}
	if opts == nil {
		opts = new(Options)
	}
	calls, err := encodeCalls(opts.Calls)
	if err != nil {
		tb.Fatalf("contracttest: %v", err)
	}
	c := &checker{
		tb: tb, calls: calls, publicCache: opts.PublicCache,
		timeout: cmp.Or(opts.Timeout, 10*time.Second),
		seen:    map[string]bool{},
	}
	clients := opts.Clients
	if clients == nil {
		clients = Clients()
	}
	temp := tb.TempDir()
	c.transport, c.connect = "stdio", func() (*session, error) { return startChild(tb.Name(), temp, c.timeout) }
	c.checkAll(clients)
	if c.dead {
		tb.Logf("contracttest: not run inside this process, which the server would end too")
		return
	}
	c.transport, c.connect = "in-memory", func() (*session, error) { return startInside(tb.Context(), newServer(), c.timeout), nil }
	c.checkAll(clients)
}

// serveChild serves one session on standard input and output and ends the
// process.
func serveChild(s *mcp.Server) {
	code := 0
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "contracttest: serving:", err)
		code = 1
	}
	os.Exit(code) //nolint:forbidigo // the process is a child that only serves
}

// rawCall is a Call whose arguments are encoded.
type rawCall struct {
	tool  string
	args  json.RawMessage
	fails bool
}

func encodeCalls(calls []Call) ([]rawCall, error) {
	out := make([]rawCall, len(calls))
	for i, c := range calls {
		args := []byte("{}")
		if c.Arguments != nil {
			var err error
			if args, err = json.Marshal(c.Arguments); err != nil {
				return nil, fmt.Errorf("arguments of call %d, of tool %q: %v", i, c.Tool, err)
			}
		}
		out[i] = rawCall{c.Tool, args, c.Fails}
	}
	return out, nil
}
