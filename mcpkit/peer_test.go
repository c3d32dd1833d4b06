package mcpkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// A peer is a client that writes raw messages, so that nothing of the SDK stands between a test and the wire. It is the
// structured client codex-mcp-client, of the handshake era or of protocol 2026-07-28.
type peer struct {
	w    io.Writer
	r    *bufio.Reader
	era  era
	id   int
	caps string // the client's capabilities

	// elicit answers the server's questions in a handshake session; "" leaves one unanswered.
	elicit func(params string) string
}

// An era is the generation of the protocol that a client speaks.
type era bool

const (
	handshake era = false // initialize once
	stateless era = true  // identity in every request
)

var eras = []era{handshake, stateless}

func (e era) String() string {
	if e == stateless {
		return "stateless"
	}
	return "handshake"
}

// dial runs the server for as long as the test.
func dial(tb testing.TB, server *mcp.Server, e era) *peer {
	tb.Helper()
	return dialWith(tb, server, e, "{}")
}

// dialWith is dial for a client with the given capabilities.
func dialWith(tb testing.TB, server *mcp.Server, e era, caps string) *peer {
	tb.Helper()
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ctx := context.WithoutCancel(tb.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
	}()
	tb.Cleanup(func() {
		clientOut.Close()
		go io.Copy(io.Discard, clientIn) // what nobody waited for, such as a question taken back
		err := <-ended
		serverOut.Close()
		if err != nil {
			tb.Errorf("server ended with %v", err)
		}
	})
	p := &peer{w: clientOut, r: bufio.NewReader(clientIn), era: e, caps: caps}
	if e == handshake {
		p.send(tb, "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+caps+`,"clientInfo":{"name":"codex-mcp-client","version":"1.2.3"}}`)
	}
	return p
}

// A reply is what came for one request.
type reply struct {
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// send sends one request and waits for its reply.
func (p *peer) send(tb testing.TB, method, params string) reply {
	tb.Helper()
	if p.era == stateless {
		meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + p.caps + `,` +
			`"io.modelcontextprotocol/clientInfo":{"name":"codex-mcp-client","version":"1.2.3"}}`
		if params = params[1:]; params != "}" {
			params = "," + params
		}
		params = meta + params
	}
	p.id++
	if _, err := fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, params); err != nil {
		tb.Fatal(err)
	}
	for {
		line, err := p.r.ReadBytes('\n')
		if err != nil {
			tb.Fatalf("reply to %s: %v", params, err)
		}
		var r struct {
			reply
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("reply %s: %v", line, err)
		}
		if r.Method == "" {
			return r.reply
		}
		if r.Method != "elicitation/create" || p.elicit == nil {
			continue // a notification
		}
		if result := p.elicit(string(r.Params)); result != "" {
			fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
		}
	}
}

// callTool returns the JSON that a structured client gets from a call, which is the error envelope for a failure.
func (p *peer) callTool(tb testing.TB, name, args string) string {
	tb.Helper()
	r := p.send(tb, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	var res struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if r.Error != nil || json.Unmarshal(r.Result, &res) != nil {
		tb.Fatalf("call %s %s: %s %s", name, args, r.Error, r.Result)
	}
	if res.IsError {
		return res.Content[0].Text
	}
	return string(res.StructuredContent)
}

// callError returns the code and the message of a call that has to fail.
func (p *peer) callError(tb testing.TB, name, args string) (code, message string) {
	tb.Helper()
	text := p.callTool(tb, name, args)
	var envelope struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil || envelope.Error.Code == "" {
		tb.Fatalf("call %s %s: got %s, want an error", name, args, text)
	}
	return envelope.Error.Code, envelope.Error.Message
}

// newServer returns a server with the given features.
func newServer(tb testing.TB, opts *mcpkit.Options, features ...mcpkit.Feature) *mcp.Server {
	tb.Helper()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, opts, features...)
	if err != nil {
		tb.Fatal(err)
	}
	return server
}
