package result_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A handler that has bodies to send may ask for the shape first: here the
// body goes into the output, or into a block of its own for text clients.
func ExampleOptions_ShapeFor() {
	type chapter struct {
		Title string `json:"title"`
		Body  string `json:"body,omitempty"`
	}
	opts := &result.Options{}
	read := func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, chapter, error) {
		out, body := chapter{Title: "Tides"}, "High water is at noon."
		if opts.ShapeFor(result.ClientOf(req)) == result.Structured {
			out.Body = body
			return nil, out, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: body}}}, out, nil
	}

	s := mcp.NewServer(&mcp.Implementation{Name: "book", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read"}, read)
	result.Install(s, opts)

	fmt.Println(call(s, "codex", "read", `{}`))
	fmt.Println(call(s, "Zed", "read", `{}`))
	// Output:
	// {"content":[],"structuredContent":{"body":"High water is at noon.","title":"Tides"},"resultType":"complete"}
	// {"content":[{"type":"text","text":"High water is at noon."},{"type":"text","text":"{\"title\":\"Tides\"}"}],"resultType":"complete"}
}

// A log of calls, by middleware that is added after Install.
func ExampleClientOf() {
	s := mcp.NewServer(&mcp.Implementation{Name: "adder", Version: "v1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, add)
	result.Install(s, nil)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if r, ok := res.(*mcp.CallToolResult); ok {
				fmt.Println(result.ClientOf(req).Name, "called a tool:", r.GetError())
			}
			return res, err
		}
	})

	call(s, "codex", "add", `{"a":1,"b":2}`)
	call(s, "codex", "add", `{"a":101,"b":2}`)
	// Output:
	// codex called a tool: <nil>
	// codex called a tool: a is larger than 100: use a smaller number
}

func TestClientOf(t *testing.T) {
	const (
		version = mcp.MetaKeyProtocolVersion
		info    = mcp.MetaKeyClientInfo
		caps    = mcp.MetaKeyClientCapabilities
	)
	declare := func(v any) map[string]any { return map[string]any{"extensions": map[string]any{result.Extension: v}} }
	for _, tt := range []struct {
		name string
		meta mcp.Meta
		want result.Client
	}{
		{"nothing", nil, result.Client{}},
		{"no version", mcp.Meta{info: map[string]any{"name": "codex"}}, result.Client{}},
		{"older version", mcp.Meta{version: "2025-11-25", info: map[string]any{"name": "codex"}}, result.Client{}},
		{"version of another type", mcp.Meta{version: 2026.0}, result.Client{}},
		{"version alone", mcp.Meta{version: "2026-07-28"}, result.Client{Protocol: "2026-07-28", PerRequest: true}},
		{
			"everything",
			mcp.Meta{version: "2026-07-28", info: map[string]any{"name": "a", "version": "1", "title": "A"}, caps: declare(map[string]any{})},
			result.Client{Name: "a", Version: "1", Protocol: "2026-07-28", PerRequest: true, Declared: result.Structured},
		},
		{
			"other types",
			mcp.Meta{version: "2026-07-28", info: map[string]any{"name": 1.0, "version": nil}, caps: map[string]any{"extensions": "x"}},
			result.Client{Protocol: "2026-07-28", PerRequest: true},
		},
		{"info of another type", mcp.Meta{version: "2026-07-28", info: "codex", caps: "x"}, result.Client{Protocol: "2026-07-28", PerRequest: true}},
		{"declared text", mcp.Meta{version: "2026-07-28", caps: declare(map[string]any{"shape": "text"})}, result.Client{Protocol: "2026-07-28", PerRequest: true, Declared: result.Text}},
		{"declared null", mcp.Meta{version: "2026-07-28", caps: declare(nil)}, result.Client{Protocol: "2026-07-28", PerRequest: true}},
		{"declared otherwise", mcp.Meta{version: "2026-07-28", caps: declare(map[string]any{"shape": 1.0})}, result.Client{Protocol: "2026-07-28", PerRequest: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := result.ClientOf(&mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Meta: tt.meta}})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := result.ClientOf(new(mcp.ListToolsRequest)); got != (result.Client{}) {
		t.Errorf("without parameters: got %+v", got)
	}
	if got := result.ClientOf(new(mcp.ElicitRequest)); got != (result.Client{}) {
		t.Errorf("a request to a client: got %+v", got)
	}
}
