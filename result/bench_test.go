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

// BenchmarkEndToEnd is a whole call through the SDK's stdio transport, with
// this package and without.
func BenchmarkEndToEnd(b *testing.B) {
	for _, bm := range []struct {
		name, client string
		plain        bool
	}{{"plain SDK", "codex", true}, {"text", "Zed", false}, {"structured", "codex", false}} {
		for _, era := range []string{"handshake", "per request"} {
			b.Run(bm.name+"/"+era, func(b *testing.B) {
				w := pipe(b, fixture(serverConfig{Plain: bm.plain}))
				request := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"items","arguments":{"count":50}}}`
				if era == "handshake" {
					w.send(b, initialize(bm.client, "1.0.0", "2025-11-25"))
					w.send(b, initialized)
				} else {
					request = strings.Replace(request, `"name"`, perRequest(bm.client, "1.0.0")+`,"name"`, 1)
				}
				b.ReportAllocs()
				for b.Loop() {
					w.send(b, request)
				}
				b.SetBytes(int64(len(w.send(b, request))))
			})
		}
	}
}
