package contracttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Budgets in bytes. The soft ones are logged.
const (
	maxCatalog  = 80 << 10
	softCatalog = 24 << 10
	softResult  = 10_000
	maxError    = 8192
	shownBytes  = 400
)

// modern is the first protocol whose requests carry their own identity.
const modern = "2026-07-28"

// protocols are tried with every client.
func protocols() []string { return []string{"2025-06-18", "2025-11-25", modern} }

// checker runs the checks and reports what it finds.
type checker struct {
	tb          testing.TB
	calls       []rawCall
	publicCache bool
	timeout     time.Duration

	transport string
	connect   func() (*session, error)

	// The session under test.
	session  *session
	client   Client
	first    bool // the first client of this protocol
	protocol string

	dead    bool            // the server ended where it should not
	uniform string          // the tool list of the first modern client
	seen    map[string]bool // reports made, without the client
}

// checkAll calls the server as every client over the current transport.
func (c *checker) checkAll(clients []Client) {
	c.uniform = ""
	for _, protocol := range protocols() {
		for i, client := range clients {
			c.protocol, c.client, c.first = protocol, client, i == 0
			c.checkSession()
		}
	}
}

func (c *checker) checkSession() {
	s, err := c.connect()
	if err != nil {
		c.tb.Fatalf("contracttest: starting the server: %v", err)
	}
	c.session = s
	defer s.stop()
	if !c.open() {
		return
	}
	tools, ok := c.checkTools()
	if !ok {
		return
	}
	for _, call := range c.calls {
		if !c.checkCall(call, tools) {
			return
		}
	}
	if c.checkHostileCalls(tools) {
		c.checkResources()
	}
}

// open does the handshake where the protocol has one.
func (c *checker) open() bool {
	if c.protocol == modern {
		return true
	}
	r, ok := c.ask("", "initialize", map[string]any{
		"protocolVersion": c.protocol,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": c.client.Name, "version": c.client.Version},
	})
	if !ok {
		return false
	}
	if r.Error != nil {
		c.broken("alive", "", "initialize is refused", r.raw)
		return false
	}
	return c.session.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized", "params": map[string]any{}}) == nil
}

// params adds to p what every request of the protocol carries.
func (c *checker) params(p map[string]any) map[string]any {
	if c.protocol != modern {
		return p
	}
	meta := map[string]any{
		mcp.MetaKeyProtocolVersion:    modern,
		mcp.MetaKeyClientCapabilities: map[string]any{},
	}
	if c.client.Name != "" {
		meta[mcp.MetaKeyClientInfo] = map[string]any{"name": c.client.Name, "version": c.client.Version}
	}
	p["_meta"] = meta
	return p
}

// ask sends a request that has to be answered. It reports false, after having
// reported why, when the session is over.
func (c *checker) ask(tool, method string, params map[string]any) (reply, bool) {
	r, err := c.session.request(method, c.params(params))
	switch {
	case err == nil:
		return r, true
	case errors.Is(err, errDied):
		c.dead = true
		c.session.stop()
		c.broken("alive", tool, method+" ended the server: "+firstPanic(c.session.stderr.String()), nil)
	case errors.Is(err, errNoReply):
		c.broken("alive", tool, fmt.Sprintf("%s got no reply within %v", method, c.session.timeout), nil)
	default:
		c.broken("alive", tool, fmt.Sprintf("%s was answered by %v", method, err), r.raw)
	}
	return r, false
}

// firstPanic finds the line of stderr that says why a process died.
func firstPanic(stderr string) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return cut(strings.TrimSpace(stderr))
}

// broken reports a broken promise: once, for the first client that meets it.
func (c *checker) broken(promise, tool, what string, raw []byte) {
	c.tb.Helper()
	if text, isNew := c.describe(promise, tool, what, raw); isNew {
		c.tb.Errorf("%s", text)
	}
}

// doubtful logs what is allowed but costs the clients something.
func (c *checker) doubtful(promise, tool, what string) {
	c.tb.Helper()
	if text, isNew := c.describe(promise, tool, what, nil); isNew {
		c.tb.Logf("warning: %s", text)
	}
}

func (c *checker) describe(promise, tool, what string, raw []byte) (text string, isNew bool) {
	era := "handshake"
	if c.protocol == modern {
		era = modern
	}
	key := strings.Join([]string{promise, tool, what, era, c.transport}, "\x00")
	if c.seen[key] {
		return "", false
	}
	c.seen[key] = true
	where := fmt.Sprintf("%s, protocol %s, %s", c.client, c.protocol, c.transport)
	if tool != "" {
		where = fmt.Sprintf("tool %q, %s", tool, where)
	}
	text = fmt.Sprintf("%s: %s (%s)", promise, what, where)
	if raw != nil {
		text += "\n\t" + cut(string(raw))
	}
	return text, true
}

// cut shortens what is quoted.
func cut(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return fmt.Sprintf("%s ... (%d bytes)", strings.ToValidUTF8(s[:shownBytes], ""), len(s))
}

// decode reads JSON that a check has already seen to be valid.
func decode[T any](data json.RawMessage) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}
