package result_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listing is JSON as a typed tool makes it: about 2 KB in 20 entries.
func listing() json.RawMessage {
	items := make([]string, 20)
	for i := range items {
		items[i] = fmt.Sprintf(`{"path":"docs/chapter-%02d.md","sha256":"%s","size":%d}`, i, strings.Repeat("0f", 20), 1000+i)
	}
	return json.RawMessage(`{"items":[` + strings.Join(items, ",") + `]}`)
}

func answer(raw json.RawMessage, text string, mirror bool) *mcp.CallToolResult {
	res := &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: raw}
	if mirror {
		res.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	}
	return res
}

// callFrom is a call of protocol 2026-07-28 as it comes off the wire.
func callFrom(name, version string) *mcp.CallToolRequest {
	return &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{
		Name: "list",
		Meta: mcp.Meta{
			mcp.MetaKeyProtocolVersion:    "2026-07-28",
			mcp.MetaKeyClientInfo:         map[string]any{"name": name, "version": version},
			mcp.MetaKeyClientCapabilities: map[string]any{},
		},
	}}
}

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

func BenchmarkMiddleware(b *testing.B) {
	for _, bm := range []struct {
		name, client string
		mirror       bool
	}{{"text/mirror", "Zed", true}, {"text/plain", "Zed", false}, {"structured/mirror", "codex", true}, {"structured/plain", "codex", false}} {
		b.Run(bm.name, func(b *testing.B) {
			ctx, req := context.Background(), callFrom(bm.client, "1.0.0")
			made := answer(listing(), string(listing()), bm.mirror)
			h := result.Middleware(nil)(func(context.Context, string, mcp.Request) (mcp.Result, error) { return made, nil })
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h(ctx, "tools/call", req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
