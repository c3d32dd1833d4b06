package contracttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/result"
)

type divideArgs struct {
	A float64 `json:"a" jsonschema:"dividend"`
	B float64 `json:"b" jsonschema:"divisor"`
}

type quotient struct {
	Quotient float64 `json:"quotient"`
}

func divide(_ context.Context, _ *mcp.CallToolRequest, in divideArgs) (*mcp.CallToolResult, quotient, error) {
	if in.B == 0 {
		return nil, quotient{}, &result.Error{Code: "division_by_zero", Message: "b must not be 0"}
	}
	return nil, quotient{in.A / in.B}, nil
}

var calls = []contracttest.Call{
	{Tool: "divide", Arguments: divideArgs{6, 3}},
	{Tool: "divide", Arguments: divideArgs{1, 0}, Fails: true},
}

// annotations of a tool that only computes.
func annotations() *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no, IdempotentHint: true}
}

// plain is a server as the SDK makes it.
func plain() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "divider", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "divide", Description: "Divide a by b.", Annotations: annotations()}, divide)
	return s
}

// kept is a server that keeps every promise.
func kept() *mcp.Server {
	s := plain()
	s.AddResource(&mcp.Resource{URI: "divider://about", Name: "about"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "divider://about", Text: "It divides."}}}, nil
	})
	result.Install(s, nil)
	return s
}

// raw adds a tool whose handler the SDK does not check.
func raw(s *mcp.Server, schema string, handler mcp.ToolHandler) *mcp.Server {
	s.AddTool(&mcp.Tool{Name: "raw", Description: "Do something.", InputSchema: json.RawMessage(schema), Annotations: annotations()}, handler)
	return s
}

const closed = `{"type": "object", "properties": {}, "additionalProperties": false}`

func TestKeptPromises(t *testing.T) {
	rec := &recorder{TB: t}
	contracttest.Run(rec, kept, &contracttest.Options{
		Calls:   calls,
		Clients: []contracttest.Client{{Name: "claude-code", Version: "2.1.332"}, {Name: "Zed", Version: "0.2.0"}, {}},
	})
	for _, e := range rec.errors {
		t.Errorf("reported on a server that keeps its promises: %s", e)
	}
	if len(rec.warnings) > 0 {
		t.Errorf("warned of a small server: %q", rec.warnings)
	}
}

func TestNilOptions(t *testing.T) {
	rec := &recorder{TB: t}
	contracttest.Run(rec, kept, nil)
	if len(rec.errors) > 0 {
		t.Errorf("reported without calls: %q", rec.errors)
	}
}

// The children end in the middle of a test, so nothing of theirs is cleaned up
// unless it is below a directory of the parent.
func TestLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // Windows has the last two
		t.Setenv(name, temp)
	}
	t.Run("run", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(t.TempDir(), "made"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		contracttest.Run(t, kept, &contracttest.Options{Clients: []contracttest.Client{{}}})
	})
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}

// TestBrokenPromises has a server for each trap that an author can fall into,
// and the report that has to come of it.
func TestBrokenPromises(t *testing.T) {
	rawCall := []contracttest.Call{{Tool: "raw"}}
	tests := []struct {
		name   string
		server func() *mcp.Server
		calls  []contracttest.Call
		want   string
	}{
		{"both representations", plain, calls, `one-representation: both text and structuredContent (tool "divide"`},
		{"typed error result", func() *mcp.Server {
			s := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
			mcp.AddTool(s, &mcp.Tool{Name: "raw", Description: "Fail.", Annotations: annotations()},
				func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, quotient, error) {
					return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no"}}}, quotient{}, nil
				})
			return s
		}, []contracttest.Call{{Tool: "raw", Fails: true}}, `error-envelope: structuredContent beside an error hides its text`},
		{"plain error text", func() *mcp.Server {
			s := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
			mcp.AddTool(s, &mcp.Tool{Name: "raw", Description: "Fail.", Annotations: annotations()},
				func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
					return nil, nil, errors.New("no luck")
				})
			return s
		}, []contracttest.Call{{Tool: "raw", Fails: true}}, `error-envelope: the text of the error is not {"error": {"code", "message"}}`},
		{"nil result", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
		}, rawCall, `one-representation: the result is null (tool "raw"`},
		{"empty result", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
			})
		}, rawCall, `one-representation: an empty result (tool "raw"`},
		{"structured for a text client", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"a": 1}}, nil
			})
		}, rawCall, `structuredContent for a client that reads text: its model sees nothing (tool "raw", claude-code 2.0.20`},
		{"list as structured content", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: []int{1}}, nil
			})
		}, rawCall, `one-representation: structuredContent is no object`},
		{"unencodable result", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{StructuredContent: map[string]any{"ratio": math.NaN()}}, nil
			})
		}, rawCall, `alive: tools/call got no reply within 500ms (tool "raw"`},
		{"panic", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") })
		}, rawCall, `alive: tools/call ended the server: panic: boom`},
		{"protocol error from a tool", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, errors.New("no luck")
			})
		}, rawCall, `error-envelope: the call got a protocol error, which models do not see (tool "raw"`},
		{"echoed arguments", plain, calls, `no-echo: the answer to 1000 unknown arguments has`},
		{"echoed tool name", plain, nil, `no-echo: the answer to an unknown tool with a long name has`},
		{"control character in a URI", func() *mcp.Server {
			s := plain()
			s.AddResource(&mcp.Resource{URI: "divider://about", Name: "about"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "divider://about", Text: "It divides."}}}, nil
			})
			return s
		}, nil, `alive: resources/read`},
		{
			"open schema", func() *mcp.Server { return raw(kept(), `{"type": "object", "properties": {}}`, sayHello) }, nil,
			`schema: input schema: the root is open: additionalProperties is not false (tool "raw"`,
		},
		{
			"schema without properties", func() *mcp.Server { return raw(kept(), `{"type": "object", "additionalProperties": false}`, sayHello) }, nil,
			`schema: input schema: the root has no properties, not even empty ones (tool "raw"`,
		},
		{"schema with references", func() *mcp.Server {
			return raw(kept(), `{"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}`, sayHello)
		}, nil, `schema: input schema: the root has $defs`},
		{"union at the root", func() *mcp.Server {
			return raw(kept(), `{"type": "object", "properties": {}, "oneOf": [{"required": ["a"]}]}`, sayHello)
		}, nil, `schema: input schema: oneOf at the root`},
		{"open schema in an arm", func() *mcp.Server {
			return raw(kept(), `{"type": "object", "additionalProperties": false, "properties": {"request": {"oneOf": [{"type": "object"}]}}}`, sayHello)
		}, nil, `schema: input schema: "request", oneOf is open`},
		{"no annotations", func() *mcp.Server {
			s := kept()
			s.AddTool(&mcp.Tool{Name: "raw", InputSchema: json.RawMessage(closed)}, sayHello)
			return s
		}, nil, `annotations: no annotations: hosts assume the worst (tool "raw"`},
		{"half of the annotations", func() *mcp.Server {
			s := kept()
			s.AddTool(&mcp.Tool{Name: "raw", InputSchema: json.RawMessage(closed), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, sayHello)
			return s
		}, nil, `annotations: no openWorldHint (tool "raw"`},
		{"tool that does not say what it changes", func() *mcp.Server {
			s := kept()
			s.AddTool(&mcp.Tool{Name: "raw", InputSchema: json.RawMessage(closed), Annotations: &mcp.ToolAnnotations{}}, sayHello)
			return s
		}, nil, `annotations: neither readOnlyHint true nor a destructiveHint (tool "raw"`},
		{"open schema of a list's items", func() *mcp.Server {
			return raw(kept(), `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "array", "items": {"type": ["object", "null"]}}}}`, sayHello)
		}, nil, `schema: input schema: "a", items is open`},
		{"schema that allows anything", func() *mcp.Server {
			return raw(kept(), `{"type": "object", "additionalProperties": false, "properties": {"a": true}}`, sayHello)
		}, nil, `schema: input schema: "a" is a schema that is only true or false`},
		{"a list for each client", perClientList, nil, `uniform-list: tools/list differs from what another client got`},
		{"public by accident", plain, nil, `cache: tools/list has the cacheScope "public"`},
		{"more than one block in an error", func() *mcp.Server {
			return raw(plain(), closed, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				no := &mcp.TextContent{Text: "no"}
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{no, no}}, nil
			})
		}, []contracttest.Call{{Tool: "raw", Fails: true}}, `error-envelope: an error is exactly one text block (tool "raw"`},
		{
			"code with blanks", func() *mcp.Server {
				return raw(plain(), closed, answerError(`{"error": {"code": "Not Found", "message": "no"}}`))
			},
			[]contracttest.Call{{Tool: "raw", Fails: true}},
			`error-envelope: the code "Not Found" is not lower_snake_case`,
		},
		{
			"error without a message", func() *mcp.Server { return raw(plain(), closed, answerError(`{"error": {"code": "not_found"}}`)) },
			[]contracttest.Call{{Tool: "raw", Fails: true}},
			`error-envelope: the error has no message (tool "raw"`,
		},
		{
			"huge error", func() *mcp.Server { return raw(plain(), closed, answerError(strings.Repeat("long ", 2000))) },
			[]contracttest.Call{{Tool: "raw", Fails: true}},
			`error-envelope: the error has 1`,
		},
		{"tool that asks the client in a handshake", func() *mcp.Server {
			return raw(plain(), closed, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Sure?"})
				return nil, err
			})
		}, rawCall, `error-envelope: the call got a protocol error`},
		{"output schema of a list", func() *mcp.Server {
			s := kept()
			s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					res, err := next(ctx, method, req)
					if list, ok := res.(*mcp.ListToolsResult); ok {
						one := *list.Tools[0]
						one.OutputSchema = json.RawMessage(`{"type": "array"}`)
						return &mcp.ListToolsResult{Tools: []*mcp.Tool{&one}}, nil
					}
					return res, err
				}
			})
			return s
		}, nil, `schema: output schema: the root has no type "object"`},
		{"huge catalog", func() *mcp.Server {
			s := kept()
			for i := range 50 {
				s.AddTool(&mcp.Tool{
					Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("words ", 400),
					InputSchema: json.RawMessage(closed), Annotations: annotations(),
				}, sayHello)
			}
			return s
		}, nil, `budget: the catalog has`},
		{"result that breaks its schema", func() *mcp.Server {
			s := kept()
			s.AddTool(&mcp.Tool{
				Name: "raw", InputSchema: json.RawMessage(closed), Annotations: annotations(),
				OutputSchema: json.RawMessage(`{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`),
			}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}}, nil
			})
			return s
		}, rawCall, `schema: the result does not match the output schema that the client was shown`},
		{
			"success that should fail", kept,
			[]contracttest.Call{{Tool: "divide", Arguments: divideArgs{6, 3}, Fails: true}},
			`the call succeeds, and Options.Calls says it fails`,
		},
		{
			"failure that should succeed", kept,
			[]contracttest.Call{{Tool: "divide", Arguments: divideArgs{6, 0}}},
			`the call fails, and Options.Calls says it succeeds`,
		},
		{"tool that is not there", kept, []contracttest.Call{{Tool: "multiply"}}, `Options.Calls names a tool that is not in tools/list (tool "multiply"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{TB: t}
			contracttest.Run(rec, test.server, &contracttest.Options{
				Calls: test.calls, Timeout: 500 * time.Millisecond,
				Clients: []contracttest.Client{{Name: "claude-code", Version: "2.0.20"}, {Name: "codex-mcp-client", Version: "0.171.0"}},
			})
			for _, e := range rec.errors {
				if strings.Contains(e, test.want) {
					return
				}
			}
			t.Errorf("no report has %q; got %d:\n%s", test.want, len(rec.errors), strings.Join(rec.errors, "\n"))
		})
	}
}

func sayHello(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil
}

func answerError(text string) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// perClientList shows a tool to one client only, whatever the protocol.
func perClientList() *mcp.Server {
	s := raw(kept(), closed, sayHello)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListToolsResult)
			if ok && result.ClientOf(req).Name == "codex-mcp-client" {
				one := *list
				one.Tools = list.Tools[:1]
				return &one, err
			}
			return res, err
		}
	})
	return s
}

func TestPublicCache(t *testing.T) {
	rec := &recorder{TB: t}
	contracttest.Run(rec, plain, &contracttest.Options{PublicCache: true, Clients: []contracttest.Client{{}}})
	for _, e := range rec.errors {
		if strings.HasPrefix(e, "cache:") {
			t.Errorf("reported a cache that is public on purpose: %s", e)
		}
	}
}

// TestWarnings checks that what is allowed but costly is logged and no fault.
func TestWarnings(t *testing.T) {
	rec := &recorder{TB: t}
	large := func() *mcp.Server {
		s := kept()
		mcp.AddTool(s, &mcp.Tool{Name: "raw", Description: "Say much.", Annotations: annotations()},
			func(context.Context, *mcp.CallToolRequest, divideArgs) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 11_000)}}}, nil, nil
			})
		for i := range 10 {
			s.AddTool(&mcp.Tool{
				Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("words ", 500),
				InputSchema: json.RawMessage(closed), Annotations: annotations(),
			}, sayHello)
		}
		return s
	}
	contracttest.Run(rec, large, &contracttest.Options{
		Calls: []contracttest.Call{{Tool: "raw", Arguments: divideArgs{1, 1}}}, Clients: []contracttest.Client{{Name: "Zed", Version: "1"}},
	})
	if len(rec.errors) > 0 {
		t.Errorf("a warning became an error: %q", rec.errors)
	}
	all := strings.Join(rec.warnings, "\n")
	for _, want := range []string{"warning: budget: a result has 11", "warning: budget: the catalog has 3"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning has %q; got:\n%s", want, all)
		}
	}
}

// recorder keeps the reports that would fail a test.
type recorder struct {
	testing.TB
	errors, warnings []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Logf(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}
