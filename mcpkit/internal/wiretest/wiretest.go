// Package wiretest is a client for tests that writes raw messages, so that nothing of the SDK stands between a test and
// the wire.
//
//	p := wiretest.Dial(t, server, wiretest.Stateless, "zed")
//	r := p.Call(t, "add", `{"a":1,"b":2}`)
//
// [Dial] talks to a server in the test's own process, [Start] to one in a process of its own, and [Connect] to one over
// HTTP. A Peer is not safe for concurrent use.
package wiretest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Era is a generation of the protocol.
type Era string

const (
	// Handshake clients send initialize once.
	Handshake Era = "handshake"
	// Stateless clients say who they are in every request.
	Stateless Era = "stateless"
)

const (
	handshakeVersion = "2025-11-25"
	statelessVersion = "2026-07-28"
)

// Eras returns both.
func Eras() []Era { return []Era{Handshake, Stateless} }

// Client is who a peer says it is. The name codex reads structured results, zed reads text.
type Client struct {
	Name string

	// Elicit, if not nil, answers the questions of the server: it gets their parameters and returns a result, both JSON.
	// Then the client says that it can show forms.
	Elicit func(params string) string
}

func (c *Client) capabilities() string {
	if c.Elicit == nil {
		return "{}"
	}
	return `{"elicitation":{"form":{}}}`
}

// Peer is one connected client.
type Peer struct {
	link   link
	client Client
	meta   string // sent with each request, "" in a handshake session
	id     int
}

// A link is a way to a server.
type link interface {
	// exchange sends a message and hands over what comes back, until got returns false. A nil got waits for nothing.
	exchange(message []byte, got func(reply []byte) bool) error
}

// Result is the result of a tool call as it comes off the wire.
type Result struct {
	Content           []Block
	StructuredContent json.RawMessage
	IsError           bool
}

// Block is one content block.
type Block struct {
	Type     string
	Text     *string
	Resource *struct {
		URI, MIMEType, Text string
		Blob                *string // nil if it is not there
	}
}

// JSON returns the JSON of a result or error, wherever it is.
func (r *Result) JSON() string {
	if r.StructuredContent != nil {
		return string(r.StructuredContent)
	}
	if n := len(r.Content); n > 0 && r.Content[n-1].Text != nil {
		return *r.Content[n-1].Text
	}
	return ""
}

// begin says hello over l.
func begin(tb testing.TB, l link, era Era, client *Client) *Peer {
	tb.Helper()
	p := &Peer{link: l, client: *client}
	info := fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, client.Name)
	if era == Stateless {
		p.meta = fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s,`+
			`"io.modelcontextprotocol/clientInfo":%s}`, statelessVersion, client.capabilities(), info)
		return p
	}
	p.Send(tb, "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, handshakeVersion, client.capabilities(), info))
	if err := l.exchange([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil); err != nil {
		tb.Fatal(err)
	}
	return p
}

// A message is any that a server sends.
type message struct {
	ID            json.RawMessage
	Method        string
	Params        json.RawMessage
	Result, Error json.RawMessage
}

// Try returns the result of a request, or the error of the protocol. params is a JSON object. Its error means that there
// was no reply.
func (p *Peer) Try(method, params string) (json.RawMessage, error) {
	if p.meta != "" {
		rest := params[1:]
		if rest != "}" {
			rest = "," + rest
		}
		params = "{" + p.meta + rest
	}
	p.id++
	id := fmt.Sprint(p.id)
	var m message
	var bad error
	err := p.link.exchange(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params), func(reply []byte) bool {
		m = message{}
		if bad = json.Unmarshal(reply, &m); bad != nil {
			bad = fmt.Errorf("reply %s: %w", reply, bad)
			return false
		}
		if m.Method != "" {
			bad = p.hear(&m)
			return bad == nil
		}
		return string(m.ID) != id
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("reply to %s: %w", method, err)
	case bad != nil:
		return nil, bad
	case m.Error != nil:
		return m.Error, nil
	}
	return m.Result, nil
}

// hear answers a request of the server. Notifications are not of interest.
func (p *Peer) hear(m *message) error {
	if m.ID == nil {
		return nil
	}
	if m.Method != "elicitation/create" || p.client.Elicit == nil {
		return fmt.Errorf("the server asked for %s", m.Method)
	}
	answer := p.client.Elicit(string(m.Params))
	return p.link.exchange(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer), nil)
}

// Send is Try for tests in which there has to be a reply.
func (p *Peer) Send(tb testing.TB, method, params string) json.RawMessage {
	tb.Helper()
	r, err := p.Try(method, params)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Call calls a tool, and answers the questions about that. args is a JSON object.
func (p *Peer) Call(tb testing.TB, tool, args string) *Result {
	tb.Helper()
	r, err := p.TryCall(tool, args)
	if err != nil {
		tb.Fatalf("call %s %.500s: %v", tool, args, err)
	}
	return r
}

// TryCall is Call for tests in which the server may die before it replies.
func (p *Peer) TryCall(tool, args string) (*Result, error) {
	var r struct {
		Result
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Params json.RawMessage }
	}
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)
	for {
		raw, err := p.Try("tools/call", params)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", raw, err)
		}
		if r.ResultType != "input_required" || p.client.Elicit == nil {
			return &r.Result, nil
		}
		answers := make(map[string]json.RawMessage)
		for id, q := range r.InputRequests {
			answers[id] = json.RawMessage(p.client.Elicit(string(q.Params)))
		}
		given, err := json.Marshal(answers)
		if err != nil {
			return nil, err
		}
		params = fmt.Sprintf(`{"name":%q,"arguments":%s,"requestState":%q,"inputResponses":%s}`, tool, args, r.RequestState, given)
		r.ResultType = ""
	}
}

// Dial connects a client of that name, and runs the server for as long as the test.
func Dial(tb testing.TB, server *mcp.Server, era Era, client string) *Peer {
	tb.Helper()
	return begin(tb, inside(tb, server), era, &Client{Name: client})
}
