package peer_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// The headers and the two kinds of replies of both protocol eras.
func TestHTTP(t *testing.T) {
	tests := []struct {
		name string
		id   peer.Identity
		want []string // session, protocol version, method and name of each request
	}{
		{"session", peer.Identity{Name: "Zed", Version: "1"}, []string{"|||", "s1|2025-11-25||", "s1|2025-11-25||"}},
		{"per request", peer.Identity{Name: "Zed", Version: "1", PerRequest: true}, []string{"|2026-07-28|server/discover|", "|2026-07-28|tools/call|add"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h := r.Header
				got = append(got, strings.Join([]string{h.Get("Mcp-Session-Id"), h.Get("Mcp-Protocol-Version"), h.Get("Mcp-Method"), h.Get("Mcp-Name")}, "|"))
				body, _ := io.ReadAll(r.Body)
				switch {
				case strings.Contains(string(body), "notifications/"):
					w.WriteHeader(http.StatusAccepted)
				case strings.Contains(string(body), `"id":1,`):
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Mcp-Session-Id", "s1")
					io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"n":1}}`)
				default:
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":2}}\n\n")
				}
			}))
			defer server.Close()
			p := peer.NewHTTP(t.Context(), server.URL, tt.id)
			if hello, err := p.Start(); err != nil || string(hello.Result) != `{"n":1}` {
				t.Fatalf("got %s, %v", hello.Result, err)
			}
			if reply, err := p.Call("add", nil); err != nil || string(reply.Result) != `{"n":2}` {
				t.Errorf("got %s, %v", reply.Result, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTPErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not here", http.StatusForbidden)
	}))
	defer server.Close()
	tests := []struct{ name, url, want string }{
		{"refused", server.URL, "403 Forbidden: not here"},
		{"no URL", "http://%", "invalid URL"},
		{"no scheme", "nowhere", "unsupported protocol scheme"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := peer.NewHTTP(t.Context(), tt.url, peer.Identity{}).Start()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}
