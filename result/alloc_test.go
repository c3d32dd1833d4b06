//go:build !race

package result_test

import (
	"context"
	"testing"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAllocs holds what the middleware may allocate for a call of about 2 KB.
// The race detector allocates by itself.
func TestAllocs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		client  string
		version string
		mirror  bool
		most    float64
	}{
		{"text with the mirror", "Zed", "1.0.0", true, 1},
		{"text without", "Zed", "1.0.0", false, 3},
		{"structured with the mirror", "codex", "1.0.0", true, 1},
		{"structured without", "claude-code", "2.1.332", false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, req := context.Background(), callFrom(tt.client, tt.version)
			raw := listing()
			text := string(raw)
			var made mcp.Result // the handler's own allocations are not ours
			h := result.Middleware(nil)(func(context.Context, string, mcp.Request) (mcp.Result, error) { return made, nil })
			made = answer(raw, text, tt.mirror)
			got := testing.AllocsPerRun(1000, func() {
				if _, err := h(ctx, "tools/call", req); err != nil {
					t.Fatal(err)
				}
			})
			if got > tt.most {
				t.Errorf("got %v allocations a call, want at most %v", got, tt.most)
			}
		})
	}
}
