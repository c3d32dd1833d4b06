package probe_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// remote is the launch of a server at an address.
func remote(transport normalize.Transport, url string, headers ...normalize.Pair) normalize.Launch {
	return normalize.Launch{Name: "pear", Transport: transport, URL: url, Headers: headers}
}

func start(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCheckHTTP(t *testing.T) {
	get := func(*http.Request) *mcp.Server { return newServer("pear", "4.2.0", "ripen", "core") }
	tests := []struct {
		name      string
		transport normalize.Transport
		handler   http.Handler
		protocol  string
	}{
		{"stateless", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}), "2026-07-28"},
		{"stateful", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, nil), "2025-11-25"},
		{"json", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}), "2025-11-25"},
		{"sse", normalize.SSE, mcp.NewSSEHandler(get, nil), "2025-11-25"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := probe.Check(t.Context(), remote(test.transport, start(t, test.handler)), &probe.Options{Timeout: 8 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			got.Digest = ""
			want := probe.Report{Name: "pear", Version: "4.2.0", Protocol: test.protocol, Tools: []string{"core", "ripen"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}
