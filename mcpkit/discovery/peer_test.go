package discovery_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// identities are a structured and a text client in both eras of the protocol.
var identities = []identity{
	{"structured session", "codex-mcp-client", false},
	{"text session", "Zed", false},
	{"structured stateless", "codex-mcp-client", true},
	{"text stateless", "Zed", true},
}

type identity struct {
	title, name string
	stateless   bool
}

// peer is a client that writes raw messages, so that nothing of the SDK stands
// between a test and the wire.
type peer struct {
	tb testing.TB
	w  io.Writer
	r  *bufio.Reader
	id identity
	n  int
}

// dial serves the resolver for as long as the test.
func dial(tb testing.TB, r *resolve.Resolver, opts *discovery.Options, id identity) *peer {
	tb.Helper()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, discovery.Feature(r, opts))
	if err != nil {
		tb.Fatal(err)
	}
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	ctx := context.WithoutCancel(tb.Context())
	go func() {
		ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
	}()
	tb.Cleanup(func() {
		clientOut.Close()
		if err := <-ended; err != nil {
			tb.Errorf("server ended with %v", err)
		}
	})
	p := &peer{tb: tb, w: clientOut, r: bufio.NewReader(clientIn), id: id}
	if !id.stateless {
		p.send("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+id.name+`","version":"1.2.3"}}`)
	}
	return p
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	} `json:"error"`
	size int // bytes of the result
}

// send sends one request, params being a JSON object, and waits for its reply.
func (p *peer) send(method, params string) reply {
	p.tb.Helper()
	if p.id.stateless {
		meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
			`"io.modelcontextprotocol/clientInfo":{"name":"` + p.id.name + `","version":"1.2.3"}}`
		if params = params[1:]; params != "}" {
			params = "," + params
		}
		params = meta + params
	}
	p.n++
	if _, err := fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.n, method, params); err != nil {
		p.tb.Fatal(err)
	}
	line, err := p.r.ReadBytes('\n')
	if err != nil {
		p.tb.Fatalf("reply to %s: %v", params, err)
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		p.tb.Fatalf("reply %s: %v", line, err)
	}
	r.size = len(r.Result)
	return r
}

// call returns the payload of a tool call, whichever way the client gets it: the
// result, or the error envelope.
func (p *peer) call(tool, args string) (payload json.RawMessage, failed bool, size int) {
	p.tb.Helper()
	r := p.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var res struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if r.Error != nil || json.Unmarshal(r.Result, &res) != nil {
		p.tb.Fatalf("call %s %.200s: %+v %s", tool, args, r.Error, r.Result)
	}
	structured := p.id.name == "codex-mcp-client" && !res.IsError
	if structured != (res.StructuredContent != nil) || structured != (len(res.Content) == 0) {
		p.tb.Fatalf("call %s %.200s for %s: wrong representation %.500s", tool, args, p.id.title, r.Result)
	}
	if structured {
		return res.StructuredContent, false, r.size
	}
	return json.RawMessage(res.Content[0].Text), res.IsError, r.size
}

// get calls a tool that has to succeed, decodes the result and returns its size
// on the wire.
func get[T any](p *peer, tool, args string) (value T, size int) {
	p.tb.Helper()
	payload, failed, size := p.call(tool, args)
	if failed {
		p.tb.Fatalf("call %s %s: %s", tool, args, payload)
	}
	if err := json.Unmarshal(payload, &value); err != nil {
		p.tb.Fatalf("call %s %s: %v in %s", tool, args, err, payload)
	}
	return value, size
}

type fault struct {
	Code, Message string
	Details       resolve.Details
}

// refused calls a tool that has to fail.
func (p *peer) refused(tool, args string) fault {
	p.tb.Helper()
	payload, failed, size := p.call(tool, args)
	var envelope struct{ Error fault }
	if !failed || json.Unmarshal(payload, &envelope) != nil || envelope.Error.Message == "" {
		p.tb.Fatalf("call %s %.200s: got %.500s, want an error", tool, args, payload)
	}
	if size > 8<<10 {
		p.tb.Errorf("call %s %.200s: an error of %d bytes", tool, args, size)
	}
	return envelope.Error
}

// workspace writes the files of an archive to a folder and loads the registry
// among them.
func workspace(tb testing.TB, archive string) *registry.Registry {
	tb.Helper()
	dir := tb.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		write(tb, filepath.Join(dir, filepath.FromSlash(file.Name)), string(file.Data))
	}
	reg, err := registry.Load(filepath.Join(dir, "registry.yaml"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return reg
}

func write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}
