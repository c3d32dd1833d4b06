package result_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary is its own stdio server: with this variable set it serves
// its fixture instead of running tests. The value holds serverConfig as JSON.
const serverVariable = "RESULT_TEST_SERVER"

type serverConfig struct {
	Plain   bool     // the SDK alone, without this package
	Only    []string // the tools to serve, if not all
	Options result.Options
}

func TestMain(m *testing.M) {
	value, ok := os.LookupEnv(serverVariable)
	if !ok {
		os.Exit(m.Run())
	}
	var config serverConfig
	if err := json.Unmarshal([]byte(value), &config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := fixture(config).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fixture is a server whose tools do every right and wrong thing that the
// package has an answer for.
func fixture(config serverConfig) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "v1.2.3"}, &mcp.ServerOptions{
		CompletionHandler: complete,
	})
	addSuccesses(s)
	addFailures(s)
	addRawTools(s)
	addResources(s)
	if config.Only != nil {
		s.AddReceivingMiddleware(only(config.Only))
	}
	if !config.Plain {
		result.Install(s, &config.Options)
	}
	return s
}

// only hides every other tool from the list.
func only(names []string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return !slices.Contains(names, t.Name) })
			}
			return res, err
		}
	}
}

type none struct{}

type note struct {
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
}

type echo struct {
	Text string `json:"text"`
}

type pick struct {
	Colors []string  `json:"colors,omitempty"`
	Size   int8      `json:"size,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Blob   coded     `json:"blob,omitempty"`
}

// coded refuses every value with a code of its own while it is decoded.
type coded string

func (*coded) UnmarshalText([]byte) error {
	return &result.Error{Code: "blob_refused", Message: "blobs are not taken here"}
}

// tool adds a typed tool, the way that any server does.
func tool[In, Out any](s *mcp.Server, name string, h func(In) (*mcp.CallToolResult, Out, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		return h(in)
	})
}

func addSuccesses(s *mcp.Server) {
	tool(s, "note", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{Title: "A <b>bold</b> title & more"}, nil
	})
	tool(s, "list", func(none) (*mcp.CallToolResult, []string, error) { return nil, []string{"a", "b"}, nil })
	tool(s, "number", func(none) (*mcp.CallToolResult, int, error) { return nil, 42, nil })
	tool(s, "nil-list", func(none) (*mcp.CallToolResult, []string, error) { return nil, nil, nil })
	tool(s, "nothing", func(none) (*mcp.CallToolResult, any, error) { return nil, nil, nil })
	tool(s, "image", func(none) (*mcp.CallToolResult, note, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "prose"},
			&mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "doc://a", Text: "body"}},
		}}, note{Title: "pictures"}, nil
	})
	tool(s, "indented", func(none) (*mcp.CallToolResult, note, error) {
		n := note{Title: "same", Tags: []string{"x"}}
		data, err := json.MarshalIndent(n, "", "  ")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}, n, err
	})
	tool(s, "meta", func(none) (*mcp.CallToolResult, note, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"com.example/took": 3}}, note{Title: "with meta"}, nil
	})
	tool(s, "echo", func(in echo) (*mcp.CallToolResult, echo, error) { return nil, in, nil })
	tool(s, "items", func(in struct {
		Count int `json:"count"`
	},
	) (*mcp.CallToolResult, result.Page[map[string]any], error) {
		var p result.Page[map[string]any]
		for i := range in.Count {
			p.Items = append(p.Items, map[string]any{"path": fmt.Sprintf("docs/%04d.md", i), "size": i})
		}
		return nil, p, nil
	})
}

// A domainError is how a package that knows nothing of result says its code.
type domainError struct{ id string }

func (e *domainError) Error() string     { return fmt.Sprintf("no repo %q", e.id) }
func (e *domainError) ErrorCode() string { return "repo_unknown" }
func (e *domainError) ErrorDetails() any { return map[string]any{"known": []string{"alpha", "beta"}} }

func addFailures(s *mcp.Server) {
	tool(s, "fail-coded", func(none) (*mcp.CallToolResult, note, error) {
		err := &result.Error{Code: "note_gone", Message: "the note is gone: list again", Err: errors.New("secret cause")}
		return nil, note{}, fmt.Errorf("secret context: %w", err)
	})
	tool(s, "fail-domain", func(none) (*mcp.CallToolResult, note, error) { return nil, note{}, &domainError{"gamma"} })
	tool(s, "fail-plain", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, errors.New("disk <full> & done")
	})
	tool(s, "fail-flag", func(none) (*mcp.CallToolResult, note, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{
			&mcp.TextContent{Text: "first"}, &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}, &mcp.TextContent{Text: "second"},
		}}, note{}, nil
	})
	tool(s, "fail-silent", func(none) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{IsError: true}, nil, nil
	})
	tool(s, "fail-envelope", func(none) (*mcp.CallToolResult, note, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{
			&mcp.TextContent{Text: `{"error":{"code":"own_code","message":"own message","hint":"kept"}}`},
		}}, note{}, nil
	})
	tool(s, "fail-wire", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, &jsonrpc.Error{Code: mcp.CodeURLElicitationRequired, Message: "open a page", Data: json.RawMessage(`{"elicitations":[]}`)}
	})
	tool(s, "fail-huge", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, &result.Error{Code: "many_problems", Message: controls(), Details: problems(100)}
	})
	tool(s, "fail-huge-flag", func(none) (*mcp.CallToolResult, note, error) {
		res := &mcp.CallToolResult{IsError: true}
		for range 100 {
			res.Content = append(res.Content, &mcp.TextContent{Text: controls()})
		}
		return res, note{}, nil
	})
	tool(s, "fail-long", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, errors.New(strings.Repeat("long ", 2000))
	})
	tool(s, "fail-large", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, errors.New(strings.Repeat("x", 5<<20))
	})
	tool(s, "fail-giant", func(none) (*mcp.CallToolResult, note, error) {
		return nil, note{}, errors.New(strings.Repeat("x", 17<<20))
	})
	tool(s, "fail-late", func(none) (*mcp.CallToolResult, note, error) { return nil, note{}, context.DeadlineExceeded })
	tool(s, "panic", func(none) (*mcp.CallToolResult, note, error) { panic("secret of the panic") })
	tool(s, "pick", func(pick) (*mcp.CallToolResult, note, error) { return nil, note{Title: "picked"}, nil })
}

// controls are 9,000 characters that take seven bytes each on the wire.
func controls() string { return strings.Repeat("\x01", 9000) }

type problem struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func problems(n int) []problem {
	all := make([]problem, n)
	for i := range all {
		all[i] = problem{Path: fmt.Sprintf("docs/%d.md", i), Text: controls()}
	}
	return all
}

// sure is a question to the person at the client.
func sure() mcp.InputRequestMap {
	return mcp.InputRequestMap{"sure": &mcp.ElicitParams{
		Message: "Sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	}}
}

func addRawTools(s *mcp.Server) {
	raw := func(name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	raw("raw-value", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"a": 1, "b": "<x>"}}, nil
	})
	raw("raw-spaced", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := "{ \"a\" : \"b c\",\n \"d\": [ 1, 2 ] }"
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
	})
	raw("raw-text", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello, world"}}}, nil
	})
	raw("raw-latin", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: strings.Repeat("caf\xe9 ", 500)},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "doc://a", Text: "body"}},
		}}, nil
	})
	raw("raw-error", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("raw trouble")
	})
	raw("raw-coded", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &domainError{"delta"}
	})
	raw("raw-nil", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	raw("raw-nan", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"x": math.NaN()}}, nil
	})
	raw("raw-nan-meta", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"x": math.NaN()}}, nil
	})
	raw("raw-nan-block", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "x", Annotations: &mcp.Annotations{Priority: math.Inf(1)}},
		}}, nil
	})
	raw("raw-nan-resource", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.AudioContent{}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "doc://a", Meta: mcp.Meta{"x": math.NaN()}}},
		}}, nil
	})
	raw("raw-broken", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := `{"a": "unescaped "quote""}`
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
	})
	raw("raw-null-block", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{nil, (*mcp.TextContent)(nil)}}, nil
	})
	raw("ask-once", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["sure"].(*mcp.ElicitResult); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the answer is " + answer.Action}}}, nil
		}
		return &mcp.CallToolResult{InputRequests: sure()}, nil
	})
	raw("ask", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: sure()}, nil
	})
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	switch req.Params.Argument.Value {
	case "panic":
		panic("secret of the panic")
	case "nil":
		return nil, nil
	case "fail":
		return nil, &domainError{"epsilon"}
	}
	return new(mcp.CompleteResult), nil
}

func addResources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{URI: "doc://a", Name: "a", MIMEType: "text/plain"}, readResource)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "doc://{name}", Name: "doc"}, readResource)
	s.AddPrompt(&mcp.Prompt{Name: "hello"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return new(mcp.GetPromptResult), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "panic"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		panic("secret of the panic")
	})
	s.AddPrompt(&mcp.Prompt{Name: "nil"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "ask"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{InputRequests: sure()}, nil
	})
}

func readResource(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	res := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "text of a"}}}
	switch req.Params.URI {
	case "doc://a":
	case "doc://panic":
		panic("secret of the panic")
	case "doc://public":
		res.CacheScope, res.TTLMs = "public", 60_000
	case "doc://negative":
		res.TTLMs = -1
	case "doc://fail":
		return nil, fmt.Errorf("secret context: %w", &domainError{"zeta"})
	case "doc://plain":
		return nil, errors.New("disk full")
	case "doc://huge":
		return nil, &result.Error{Code: "many_problems", Message: controls(), Details: problems(10)}
	case "doc://nan":
		res.Contents[0].Meta = mcp.Meta{"x": math.NaN()}
	case "doc://ask":
		return &mcp.ReadResourceResult{InputRequests: sure()}, nil
	default:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return res, nil
}
