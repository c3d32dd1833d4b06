// Package wiretest is a client for tests that writes raw messages, so that nothing of the SDK stands between a test and
// the wire.
//
//	p := wiretest.Dial(t, server, wiretest.Stateless, "zed")
//	r := p.Call(t, "add", `{"a":1,"b":2}`)
//
// A Peer is not safe for concurrent use.
package wiretest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// Eras returns both.
func Eras() []Era { return []Era{Handshake, Stateless} }

// Peer is one connected client.
type Peer struct {
	w    io.Writer
	r    *bufio.Reader
	meta string // sent with each request, "" in a handshake session
	id   int
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
	Resource *struct{ URI, MIMEType, Text string }
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

// Dial connects a client of that name, and runs the server for as long as the test. The name codex reads structured
// results, zed reads text.
func Dial(tb testing.TB, server *mcp.Server, era Era, client string) *Peer {
	tb.Helper()
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	ctx := context.WithoutCancel(tb.Context())
	go func() { ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut}) }()
	tb.Cleanup(func() {
		_ = clientOut.Close()
		go func() { _, _ = io.Copy(io.Discard, clientIn) }() // what nobody waited for
		err := <-ended
		_ = serverOut.Close()
		if err != nil {
			tb.Errorf("server ended with %v", err)
		}
	})
	p := &Peer{w: clientOut, r: bufio.NewReader(clientIn)}
	info := fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, client)
	if era == Handshake {
		p.Send(tb, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":`+info+`}`)
	} else {
		p.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
			`"io.modelcontextprotocol/clientInfo":` + info + `}`
	}
	return p
}

// Send returns the result of a request, or the error of the protocol. params is a JSON object.
func (p *Peer) Send(tb testing.TB, method, params string) json.RawMessage {
	tb.Helper()
	if p.meta != "" {
		rest := params[1:]
		if rest != "}" {
			rest = "," + rest
		}
		params = "{" + p.meta + rest
	}
	p.id++
	if _, err := fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, params); err != nil {
		tb.Fatal(err)
	}
	line, err := p.r.ReadBytes('\n')
	if err != nil {
		tb.Fatalf("reply to %s: %v", method, err)
	}
	var r struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &r); err != nil {
		tb.Fatalf("reply %s: %v", line, err)
	}
	if r.Error != nil {
		return r.Error
	}
	return r.Result
}

// Call calls a tool. args is a JSON object.
func (p *Peer) Call(tb testing.TB, tool, args string) *Result {
	tb.Helper()
	raw := p.Send(tb, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	r := new(Result)
	if err := json.Unmarshal(raw, r); err != nil {
		tb.Fatalf("call %s %s: %s", tool, args, raw)
	}
	return r
}
