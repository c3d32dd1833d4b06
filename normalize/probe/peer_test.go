package probe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// peerVar says which peer this binary is when it is started as a server.
const peerVar = "PROBE_TEST_PEER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(peerVar); kind != "" {
		run, ok := peers()[kind]
		if !ok {
			fmt.Fprintf(os.Stderr, "no peer %q\n", kind)
			os.Exit(2)
		}
		run(os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// peers are the programs that the tests probe.
func peers() map[string]func(args []string) {
	return map[string]func(args []string){
		"sdk":          func([]string) { serve(newServer("pear", "4.2.0", "ripen", "slice", "core")) },
		"legacy":       func([]string) { legacy(nil) },
		"dies":         func([]string) { fmt.Fprintln(os.Stderr, "cannot open the orchard"); os.Exit(3) },
		"silent":       func([]string) { time.Sleep(10 * time.Minute) },
		"strict-first": strictFirst,
		"no-discover":  noDiscover,
		"garbage":      garbage,
		"banner": func([]string) {
			fmt.Println("Pear server v4, listening\n{\"level\":\"info\"}")
			serve(newServer("pear", "4.2.0", "ripen"))
		},
		"huge":         func(args []string) { huge(false) },
		"endless-line": func(args []string) { huge(true) },
		"noisy-stderr": noisyStderr,
		"says":         says,
		"fork":         fork,
		"grandchild":   grandchild,
		"asks":         asks,
		"pages":        pages,
		"lists":        func(args []string) { legacy(func(message) string { return `{"tools":` + args[0] + `}` }) },
		"deep":         func(args []string) { legacy(func(message) string { return deep(args[0]) }) },
		"marks":        marks,
		"leaves":       leaves,
		"orphan":       orphan,
		"babbles":      babbles,
		"batches":      batches,
		"answers":      answers,
		"toolless":     toolless,
		"probe":        probes,
		"environ":      environ,
		"listens":      listens,
		"refuses":      refuses,
		"closes":       func([]string) { os.Stdout.Close(); time.Sleep(10 * time.Minute) },
	}
}

// newServer makes a server of the SDK.
func newServer(name, version string, tools ...string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, nil)
	for _, tool := range tools {
		s.AddTool(&mcp.Tool{Name: tool, Description: "Does " + tool + ".", InputSchema: &jsonschema.Schema{Type: "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	return s
}

func serve(s *mcp.Server) {
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// message is a request as a hand-written server sees it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// each calls handle with every message on stdin.
func each(handle func(message)) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			handle(m)
		}
	}
}

func reply(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

const initialized = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"quince","version":"0.9"}}`

// legacy is a server by hand that knows initialize only. The answers to
// tools/list come from list.
func legacy(list func(message) string) {
	each(func(m message) {
		switch {
		case m.Method == "initialize":
			reply(m.ID, initialized)
		case m.Method == "tools/list" && list != nil:
			reply(m.ID, list(m))
		case m.Method == "tools/list":
			reply(m.ID, `{"tools":[{"name":"stew","inputSchema":{"type":"object"}}]}`)
		case m.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
		}
	})
}

// strictFirst ends when the first message is not initialize.
func strictFirst([]string) {
	first := true
	each(func(m message) {
		if first && m.Method != "initialize" {
			fmt.Fprintln(os.Stderr, "expected initialize")
			os.Exit(1)
		}
		first = false
		switch m.Method {
		case "initialize":
			reply(m.ID, initialized)
		case "tools/list":
			reply(m.ID, `{"tools":[]}`)
		}
	})
}

// deep gives an answer that is nested as deep as a number says.
func deep(levels string) string {
	n, _ := strconv.Atoi(levels)
	return `{"tools":[],"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
}

// leaves starts an orphan, and ends when that listens.
func leaves(args []string) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), peerVar+"=orphan")
	if err := cmd.Start(); err != nil {
		os.Exit(2)
	}
	for {
		if conn, err := net.Dial("tcp", args[0]); err == nil {
			conn.Close()
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// orphan serves HTTP at the address of its argument, as soon as its parent is gone.
func orphan(args []string) {
	parent := os.Getppid()
	get := func(*http.Request) *mcp.Server {
		for os.Getppid() == parent {
			time.Sleep(5 * time.Millisecond)
		}
		return newServer("pear", "4.2.0", "ripen")
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(args[0], mcp.NewStreamableHTTPHandler(get, nil)))
}

// marks leaves a file behind that shows that it ran.
func marks(args []string) {
	_ = os.WriteFile(args[0], nil, 0o600)
	legacy(nil)
}

// noDiscover does not answer what it does not know.
func noDiscover([]string) {
	each(func(m message) {
		switch m.Method {
		case "initialize":
			reply(m.ID, initialized)
		case "tools/list":
			reply(m.ID, `{"tools":[]}`)
		}
	})
}

func garbage([]string) {
	each(func(message) { fmt.Println("what? <html>") })
}

// huge answers with a gigabyte.
func huge(oneLine bool) {
	chunk := []byte(strings.Repeat("x", 1<<16))
	if !oneLine {
		for i := 0; i < len(chunk); i += 512 {
			copy(chunk[i:], "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"")
			copy(chunk[i+508:], "\"}}\n")
		}
	}
	for range 1 << 14 {
		if _, err := os.Stdout.Write(chunk); err != nil {
			return
		}
	}
}

func noisyStderr(args []string) {
	chunk := []byte(strings.Repeat("the orchard is loud tonight\n", 1<<10))
	for written := 0; written < 100<<20; written += len(chunk) {
		os.Stderr.Write(chunk)
	}
	fmt.Fprintln(os.Stderr, "last words")
	if len(args) > 0 {
		os.Exit(1)
	}
	legacy(nil)
}

// says writes its arguments to stderr and ends.
func says(args []string) {
	for i, arg := range args {
		if i > 0 {
			fmt.Fprintln(os.Stderr)
		}
		fmt.Fprint(os.Stderr, os.Expand(arg, os.Getenv))
	}
	os.Exit(1)
}

// fork starts a grandchild that holds stdout and stderr and ignores what can be
// ignored, and does the same itself.
func fork(args []string) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), peerVar+"=grandchild")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	os.WriteFile(args[0], fmt.Appendf(nil, "%d %d", os.Getpid(), cmd.Process.Pid), 0o600)
	if args[1] == "polite" {
		legacy(nil)
		return
	}
	signal.Ignore(syscall.SIGTERM)
	legacy(nil)
	time.Sleep(10 * time.Minute)
}

func grandchild(args []string) {
	if args[1] != "polite" {
		signal.Ignore(syscall.SIGTERM)
	}
	time.Sleep(10 * time.Minute)
}

// asks wants all kinds of input before it answers anything.
func asks([]string) {
	var waiting json.RawMessage
	var refused []string
	each(func(m message) {
		switch {
		case m.Method == "initialize":
			reply(m.ID, initialized)
		case m.Method == "tools/list":
			waiting = m.ID
			fmt.Println(`{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}`)
			fmt.Println(`{"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`)
			fmt.Println(`{"jsonrpc":"2.0","id":"c","method":"roots/list"}`)
		case m.Method == "" && m.ID != nil:
			outcome := "answered-" + strings.Trim(string(m.ID), `"`)
			if m.Error != nil {
				outcome = "refused-" + strings.Trim(string(m.ID), `"`)
			}
			refused = append(refused, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, outcome))
			if len(refused) == 3 {
				reply(waiting, `{"tools":[`+strings.Join(refused, ",")+`]}`)
			}
		case m.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
		}
	})
}

// toolless knows no method but initialize, and announces nothing.
func toolless([]string) {
	each(func(m message) {
		switch {
		case m.Method == "initialize":
			reply(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"empty","version":"1"}}`)
		case m.ID != nil:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
		}
	})
}

// babbles writes a line as often as its arguments say, and then does what a
// server should.
func babbles(args []string) {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	for range n {
		fmt.Println(args[1])
	}
	legacy(nil)
}

// batches answers with lists of messages, as protocol 2025-03-26 allows.
func batches([]string) {
	each(func(m message) {
		result := strings.Replace(initialized, "2025-06-18", "2025-03-26", 1)
		if m.Method == "tools/list" {
			result = `{"tools":[]}`
		}
		if m.ID != nil && m.Method != "server/discover" {
			fmt.Printf(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":%s}]`+"\n", m.ID, result)
		} else if m.ID != nil {
			fmt.Printf(`[{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}]`+"\n", m.ID)
		}
	})
}

// answers gives its arguments as the results of server/discover, initialize and
// tools/list, and an error where there is none.
func answers(args []string) {
	results := map[string]string{"server/discover": args[0], "initialize": args[1], "tools/list": args[2]}
	each(func(m message) {
		switch result := results[m.Method]; {
		case m.ID == nil:
		case result == "":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", m.ID)
		default:
			reply(m.ID, result)
		}
	})
}

// pages lists tools without end, with the cursors that its argument says.
func pages(args []string) {
	page := 0
	legacy(func(message) string {
		page++
		cursor := fmt.Sprintf("c%d", page)
		if args[0] == "same" {
			cursor = "c"
		}
		tools := ""
		if args[0] == "tools" {
			tools = strings.Repeat(`{"name":"stew","inputSchema":{"type":"object"}},`, 500)
			tools = tools[:len(tools)-1]
		}
		return fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, tools, cursor)
	})
}

// environ lists the names of its variables, and its folder, as tools.
func environ([]string) {
	wd, _ := os.Getwd()
	tools := []string{`{"name":"in ` + wd + `","inputSchema":{"type":"object"}}`}
	for _, entry := range os.Environ() {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, entry))
	}
	legacy(func(message) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` })
}

// listens serves HTTP at the address of its argument, a little late.
func listens(args []string) {
	time.Sleep(100 * time.Millisecond)
	fmt.Println("listening")
	get := func(*http.Request) *mcp.Server { return newServer("pear", "4.2.0", "ripen") }
	fmt.Fprintln(os.Stderr, http.ListenAndServe(args[0], mcp.NewStreamableHTTPHandler(get, nil)))
}

// probes checks the peer of its argument, and prints what memory that took.
func probes(args []string) {
	launch := normalize.Launch{
		Transport: normalize.Stdio, Command: os.Args[0],
		Env: []normalize.Pair{{Name: peerVar, Value: args[0]}},
	}
	report, err := probe.Check(context.Background(), launch, nil)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Println(memory.Sys, report, err) // Sys never shrinks
}

// refuses answers every request with an error that quotes a variable.
func refuses([]string) {
	each(func(m message) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no: %s"}}`+"\n", m.ID, os.Getenv("ORCHARD_TOKEN"))
	})
}

// peer is the launch of a program of the table.
func peer(t *testing.T, kind string, args ...string) normalize.Launch {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return normalize.Launch{
		Name: "pear", Transport: normalize.Stdio, Command: exe, Args: args,
		// The second is for runs that measure coverage, which complain without, the
		// third for the race detector, whose programs else sleep before they end.
		Env: []normalize.Pair{{Name: peerVar, Value: kind}, {Name: "GOCOVERDIR", Value: t.TempDir()}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}},
	}
}
