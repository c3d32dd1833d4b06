package templates_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The generations of the protocol.
const (
	handshake = "handshake"
	stateless = "stateless"
)

var eras = []string{handshake, stateless}

// A peer is a client that writes raw messages.
type peer struct {
	w    io.Writer
	r    *bufio.Reader
	meta string // sent with each request, "" in a handshake session
	id   int
}

func dial(tb testing.TB, server *mcp.Server, era, client string) *peer {
	tb.Helper()
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	ctx := context.WithoutCancel(tb.Context())
	go func() { ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut}) }()
	tb.Cleanup(func() {
		clientOut.Close()
		if err := <-ended; err != nil {
			tb.Errorf("server ended with %v", err)
		}
	})
	p := &peer{w: clientOut, r: bufio.NewReader(clientIn)}
	info := fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, client)
	if era == handshake {
		p.send(tb, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":`+info+`}`)
	} else {
		p.meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
			`"io.modelcontextprotocol/clientInfo":` + info + `}`
	}
	return p
}

// send returns the result of a request, or the error of the protocol.
func (p *peer) send(tb testing.TB, method, params string) json.RawMessage {
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

func (p *peer) call(tb testing.TB, tool, args string) toolResult {
	tb.Helper()
	raw := p.send(tb, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var r toolResult
	if err := json.Unmarshal(raw, &r); err != nil {
		tb.Fatalf("call %s %s: %s", tool, args, raw)
	}
	return r
}
