package result_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestInvalidArguments has one schema keyword or two in each row. The text
// never holds a value of the arguments.
func TestInvalidArguments(t *testing.T) {
	const prefix = "the arguments do not match the tool's input schema: "
	for _, tt := range []struct {
		name, schema, args, want string
		paths                    []string
	}{
		{
			"enum", `{"properties":{"a":{"enum":["x","y"],"description":"for people"}}}`, `{"a":"zzz"}`,
			`/a: got a string, want {"enum":["x","y"]}`,
			[]string{"/a"},
		},
		{
			"pattern", `{"properties":{"a":{"type":"string","pattern":"^<[a-z]+>$"}}}`, `{"a":"zzz"}`,
			`/a: got a string, want {"type":"string","pattern":"^<[a-z]+>$"}`,
			[]string{"/a"},
		},
		{
			"nested", `{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}},"required":["b","c"]}}}}`,
			`{"a":[{"b":1,"c":2},{"b":"zzz"}]}`, `/a/1/c: missing; /a/1/b: got a string, want {"type":"integer"}`,
			[]string{"/a/1/c", "/a/1/b"},
		},
		{
			"array bounds", `{"properties":{"a":{"type":"array","maxItems":1}}}`, `{"a":[1,2]}`,
			`/a: got an array, want {"type":"array","maxItems":1}`,
			[]string{"/a"},
		},
		{
			"map values", `{"properties":{"a":{"type":"object","additionalProperties":{"type":"integer"}}}}`, `{"a":{"k":1,"l":null,"m":"zzz"}}`,
			`/a/l: got null, want {"type":"integer"}; /a/m: got a string, want {"type":"integer"}`,
			[]string{"/a/l", "/a/m"},
		},
		{
			"one of several", `{"properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":true}`,
			`/a: got a boolean, want {"oneOf":[{"type":"string"},{"type":"null"}]}`,
			[]string{"/a"},
		},
		{
			"no arguments taken", `{"additionalProperties":false}`, `{"a":1}`,
			`/a: unknown, want one of `,
			[]string{"/a"},
		},
		{
			"a reference is named where it stands", `{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer"}}}`, `{"a":"zzz"}`,
			`got an object, want {"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer"}}}`,
			[]string{""},
		},
		{
			"many", `{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":["a","b","c","d","e","f"]}`,
			strings.Repeat("; /a/N: got a string, want {\"type\":\"integer\"}", 4)[2:] + "; and 2 more",
			[]string{"/a/0", "/a/1", "/a/2", "/a/3"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "v1"}, &mcp.ServerOptions{PageSize: 1})
			result.Install(s, nil)
			schema := `{"type":"object",` + tt.schema[1:]
			mcp.AddTool(s, &mcp.Tool{Name: "x", InputSchema: json.RawMessage(schema)}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
				t.Error("the handler was called")
				return nil, nil, nil
			})
			reply, line := callTool(t, pipe(t, s), perRequest("Zed", "1.0.0"), "x", tt.args)
			got := failureOf(t, reply).Error
			if got.Code != result.CodeInvalidArguments || strings.Contains(line, "zzz") || strings.Contains(line, "for people") {
				t.Errorf("got %s", line)
			}
			want := tt.want
			for _, path := range tt.paths {
				want = strings.Replace(want, "/a/N", path, 1)
			}
			if diff := cmp.Diff(prefix+want, got.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.paths, got.Details.Paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInvalidArgumentsWithoutSchema: where the list cannot be had, what the
// SDK said goes out, cut.
func TestInvalidArgumentsWithoutSchema(t *testing.T) {
	for name, list := range map[string]func() (mcp.Result, error){
		"refused":    func() (mcp.Result, error) { return nil, context.Canceled },
		"nil":        func() (mcp.Result, error) { return nil, nil },
		"without it": func() (mcp.Result, error) { return &mcp.ListToolsResult{}, nil },
		"endless":    func() (mcp.Result, error) { return &mcp.ListToolsResult{NextCursor: "more"}, nil },
		"no schema": func() (mcp.Result, error) {
			return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "x", InputSchema: 1}}}, nil
		},
		"another fits": func() (mcp.Result, error) {
			return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "x", InputSchema: true}}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed := new(mcp.CallToolResult)
			failed.SetError(textError(`validating "arguments": why ` + strings.Repeat("x", 9000)))
			h := result.Middleware(nil)(func(_ context.Context, method string, _ mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					return list()
				}
				return failed, nil
			})
			res, err := h(t.Context(), "tools/call", &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "x"}})
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(res); !strings.HasPrefix(text, `{"error":{"code":"invalid_arguments","message":"the arguments do not match the tool's input schema: why xxx`) || len(text) > 2000 {
				t.Errorf("got %s", text)
			}
		})
	}
}

type textError string

func (e textError) Error() string { return string(e) }
