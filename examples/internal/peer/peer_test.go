package peer_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

func TestPeer(t *testing.T) {
	tests := []struct {
		name string
		id   peer.Identity
		want string
	}{{
		name: "session",
		id:   peer.Identity{Name: "Zed", Version: "1"},
		want: `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"Zed","version":"1"},"protocolVersion":"2025-11-25"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"id":2,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{},"name":"a<b"}}
`,
	}, {
		name: "per request",
		id:   peer.Identity{Name: "Zed", Version: "1", PerRequest: true},
		want: `{"id":1,"jsonrpc":"2.0","method":"server/discover","params":{META}}
{"id":2,"jsonrpc":"2.0","method":"tools/call","params":{META,"arguments":{},"name":"a<b"}}
`,
	}}
	const meta = `"_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"Zed","version":"1"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sent bytes.Buffer
			replies := `{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","method":"notifications/message","params":{}}
{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}
`
			p := peer.New(&sent, strings.NewReader(replies), tt.id)
			if _, err := p.Start(); err != nil {
				t.Fatal(err)
			}
			reply, err := p.Call("a<b", nil)
			if err != nil || reply.Error == nil || reply.Error.Message != "no" || reply.Bytes != 64 {
				t.Errorf("got %+v, %v", reply, err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, "META", meta), sent.String()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if _, err := p.Send("ping", nil); err == nil {
				t.Error("no error at the end of the replies")
			}
		})
	}
}

func TestPeerBrokenConnection(t *testing.T) {
	closed, w := io.Pipe()
	closed.Close()
	if _, err := peer.New(w, strings.NewReader(""), peer.Identity{}).Start(); err == nil {
		t.Error("no error for a closed connection")
	}
	if _, err := peer.New(io.Discard, strings.NewReader("hello\n"), peer.Identity{}).Start(); err == nil {
		t.Error("no error for a reply that is no JSON")
	}
	p := peer.New(io.Discard, strings.NewReader(""), peer.Identity{})
	if _, err := p.Send("x", map[string]any{"f": func() {}}); err == nil {
		t.Error("no error for what cannot be encoded")
	}
}

func TestReplyPayload(t *testing.T) {
	tests := []struct {
		name, result, payload string
		structured, failed    bool
	}{
		{"structured", `{"content":[],"structuredContent":{"a":1}}`, `{"a":1}`, true, false},
		{"text", `{"content":[{"text":"no"},{"text":"{}"}]}`, `{}`, false, false},
		{"failed", `{"content":[{"text":"{}"}],"isError":true}`, `{}`, false, true},
		{"empty", `{"content":[]}`, ``, false, false},
		{"no result", `[]`, ``, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			payload, structured, failed := peer.Reply{Result: []byte(tt.result)}.Payload()
			if string(payload) != tt.payload || structured != tt.structured || failed != tt.failed {
				t.Errorf("got %s, %v, %v", payload, structured, failed)
			}
		})
	}
}

func TestNotifications(t *testing.T) {
	var sent bytes.Buffer
	p := peer.New(&sent, strings.NewReader(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}
{"jsonrpc":"2.0","id":9,"result":{}}
{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}
{"jsonrpc"
`), peer.Identity{PerRequest: true})
	if err := p.Listen(); err != nil || !strings.Contains(sent.String(), `"method":"subscriptions/listen","params":{"_meta":`) ||
		!strings.Contains(sent.String(), `"notifications":{"resourcesListChanged":true}`) {
		t.Errorf("sent %s, %v", &sent, err)
	}
	for _, want := range []string{"notifications/subscriptions/acknowledged", "notifications/resources/list_changed"} {
		if got, err := p.Next(); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	for _, want := range []string{"unexpected end of JSON input", "EOF"} {
		if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
