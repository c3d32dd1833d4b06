package result_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// through sends what a handler returns through the middleware.
func through(t *testing.T, opts *result.Options, method string, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	t.Helper()
	h := result.Middleware(opts)(func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, err })
	return h(t.Context(), method, req)
}

// TestLog has what only the log may see.
func TestLog(t *testing.T) {
	for kind, request := range panics {
		t.Run(kind, func(t *testing.T) {
			var log bytes.Buffer
			w := pipe(t, fixture(serverConfig{Options: result.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}))
			handshake(t, w)
			reply := w.send(t, request)
			if strings.Contains(reply, "secret of the panic") || strings.Contains(reply, "goroutine") {
				t.Errorf("the reply says too much: %s", reply)
			}
			if !strings.Contains(reply, "its log has the details") {
				t.Errorf("the reply does not point to the log: %s", reply)
			}
			for _, want := range []string{"level=ERROR", `msg="panic in a handler"`, "secret of the panic", "server_test.go"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q: %s", want, log.String())
				}
			}
		})
	}
	t.Run("unusable result", func(t *testing.T) {
		var log bytes.Buffer
		w := pipe(t, fixture(serverConfig{Options: result.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}))
		handshake(t, w)
		w.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"raw-nan"}}`)
		if !strings.Contains(log.String(), "unsupported value: NaN") || !strings.Contains(log.String(), "target=raw-nan") {
			t.Errorf("got the log %s", log.String())
		}
	})
}

// TestOuterMiddleware sees the code of a failed call, and what caused it.
func TestOuterMiddleware(t *testing.T) {
	cause := errors.New("cause")
	res, err := through(t, nil, "tools/call", callFrom("codex", "1.0.0"), nil, fmt.Errorf("context: %w", &result.Error{Code: "gone", Err: cause}))
	if err != nil {
		t.Fatal(err)
	}
	got := res.(*mcp.CallToolResult).GetError()
	var e *result.Error
	if !errors.As(got, &e) || e.ErrorCode() != "gone" || !errors.Is(got, cause) {
		t.Errorf("got %#v", got)
	}
	if want := `{"error":{"code":"gone","message":"gone"}}`; textOf(res) != want {
		t.Errorf("got %s, want %s", textOf(res), want)
	}
}

func textOf(res mcp.Result) string {
	return res.(*mcp.CallToolResult).Content[0].(*mcp.TextContent).Text
}

// TestInstallTwice must not shape what is shaped.
func TestInstallTwice(t *testing.T) {
	once, twice := fixture(serverConfig{}), fixture(serverConfig{})
	result.Install(twice, nil)
	a, b := pipe(t, once), pipe(t, twice)
	for _, client := range []string{"codex", "Zed"} {
		meta := perRequest(client, "1.0.0")
		for _, tool := range []string{"note", "list", "image", "fail-coded", "fail-flag", "raw-spaced", "ask", "panic"} {
			_, want := callTool(t, a, meta, tool, `{}`)
			_, got := callTool(t, b, meta, tool, `{}`)
			if got != want {
				t.Errorf("%s for %s: got %s, want %s", tool, client, got, want)
			}
		}
		r, _ := callTool(t, b, meta, "fail-huge", `{}`)
		id := failureOf(t, r).Error.Details.DiagnosticID
		r, line := callTool(t, b, meta, "diagnostic_read", `{"diagnosticId":"`+id+`"}`)
		if r.Result.IsError && !strings.Contains(line, "diagnostic_unknown") {
			t.Errorf("got %s", line)
		}
	}
}

// TestInputPassesUntouched: in 2026-07-28 the SDK has yet to finish a result
// that asks for input, so it must get the very value.
func TestInputPassesUntouched(t *testing.T) {
	ask := mcp.InputRequestMap{"x": &mcp.ElicitParams{Message: "x"}}
	for method, res := range map[string]mcp.Result{
		"tools/call":     &mcp.CallToolResult{InputRequests: ask, RequestState: "sealed"},
		"prompts/get":    &mcp.GetPromptResult{InputRequests: ask},
		"resources/read": &mcp.ReadResourceResult{InputRequests: ask},
	} {
		got, err := through(t, nil, method, callFrom("codex", "1.0.0"), res, nil)
		if err != nil || got != res {
			t.Errorf("%s: got %v and error %v, want the same value", method, got, err)
		}
		got, err = through(t, nil, method, new(mcp.CallToolRequest), res, nil)
		if r, ok := got.(*mcp.CallToolResult); ok {
			err = r.GetError()
		}
		if err == nil || !strings.Contains(err.Error(), "more input") {
			t.Errorf("%s in a handshake session: got %v and error %v", method, got, err)
		}
	}
	busy := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}}
	if got, err := through(t, nil, "tools/call", callFrom("codex", "1.0.0"), busy, nil); err != nil || got != mcp.Result(busy) {
		t.Errorf("load shedding: got %v and error %v", got, err)
	}
}

// TestAsking plays a client of a handshake session that is asked.
func TestAsking(t *testing.T) {
	for _, tt := range []struct {
		name, capabilities, tool, answer, want string
	}{
		{"answered", `{"elicitation":{}}`, "ask-once", `"result":{"action":"decline"}`, `"text":"the answer is decline"`},
		{"asked again", `{"elicitation":{}}`, "ask", `"result":{"action":"decline"}`, `\"code\":\"input_unavailable\"`},
		{"refused", `{"elicitation":{}}`, "ask-once", `"error":{"code":-32601,"message":"what?"}`, `\"code\":\"input_unavailable\"`},
		{"cannot ask", `{}`, "ask-once", "", `\"code\":\"input_unavailable\"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := pipe(t, fixture(serverConfig{}))
			w.send(t, strings.Replace(initialize("codex", "1.0.0", "2025-11-25"), `"capabilities":{}`, `"capabilities":`+tt.capabilities, 1))
			w.send(t, initialized)
			reply := w.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tt.tool+`"}}`)
			if tt.answer != "" {
				var asked struct{ ID json.RawMessage }
				if err := json.Unmarshal([]byte(reply), &asked); err != nil {
					t.Fatal(err)
				}
				reply = w.send(t, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,`+tt.answer+`}`)
			}
			if !strings.Contains(reply, tt.want) {
				t.Errorf("got %s, want %s", reply, tt.want)
			}
		})
	}
}

// TestErrorsOfHandlers is for what middleware alone can tell.
func TestErrorsOfHandlers(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string // of the envelope; empty for a protocol error
	}{
		{"canceled", context.Canceled, `{"error":{"code":"canceled","message":"context canceled"}}`},
		{"details nil", &result.Error{Code: "x", Message: "y", Details: (*int)(nil)}, `{"error":{"code":"x","message":"y"}}`},
		{"details unencodable", &result.Error{Code: "x", Message: "y", Details: func() {}}, `{"error":{"code":"x","message":"y"}}`},
		{"details not escaped", &result.Error{Code: "x", Message: "<y>", Details: map[string]string{"a": "&"}}, `{"error":{"code":"x","message":"<y>","details":{"a":"&"}}}`},
		{"no code", &result.Error{Message: "y"}, `{"error":{"code":"internal","message":"y"}}`},
		{"no UTF-8", errors.New("a\xff"), `{"error":{"code":"internal","message":"a` + "\uFFFD" + `"}}`},
		{"joined", errors.Join(errors.New("a"), &result.Error{Code: "x", Message: "y"}), `{"error":{"code":"x","message":"y"}}`},
		{"coded over protocol", &result.Error{Code: "x", Message: "y", Err: &jsonrpc.Error{Code: -32600}}, `{"error":{"code":"x","message":"y"}}`},
		{"protocol without code", &jsonrpc.Error{Message: "y"}, `{"error":{"code":"internal","message":"y"}}`},
		{"protocol", &jsonrpc.Error{Code: -32000, Message: "y"}, ""},
		{"protocol wrapped", fmt.Errorf("w: %w", &jsonrpc.Error{Code: -32000, Message: "y"}), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := through(t, nil, "tools/call", callFrom("codex", "1.0.0"), nil, tt.err)
			if tt.want == "" {
				var w *jsonrpc.Error
				if !errors.As(err, &w) || w.Code != -32000 || !strings.HasSuffix(w.Message, "y") {
					t.Errorf("got %v and error %v", res, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, textOf(res)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMetaOfErrors is kept while it fits.
func TestMetaOfErrors(t *testing.T) {
	for _, size := range []int{10, 10_000} {
		failed := &mcp.CallToolResult{IsError: true, Meta: mcp.Meta{"k": strings.Repeat("x", size)}, Content: []mcp.Content{&mcp.TextContent{Text: "trouble"}}}
		res, err := through(t, nil, "tools/call", callFrom("codex", "1.0.0"), failed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if kept := res.GetMeta()["k"] != nil; kept != (size == 10) {
			t.Errorf("%d bytes of _meta: kept %v", size, kept)
		}
		if !strings.Contains(textOf(res), `"message":"trouble`) {
			t.Errorf("got %s", textOf(res))
		}
	}
}

// TestCustomMethods pass, unless they cannot be encoded.
func TestCustomMethods(t *testing.T) {
	type custom struct {
		mcp.ResultBase
		X any `json:"x"`
	}
	good := &custom{X: 1}
	if got, err := through(t, nil, "acme/x", new(mcp.CallToolRequest), good, nil); err != nil || got != mcp.Result(good) {
		t.Errorf("got %v and error %v", got, err)
	}
	if got, err := through(t, nil, "acme/x", new(mcp.CallToolRequest), &custom{X: func() {}}, nil); err == nil {
		t.Errorf("got %v, want an error", got)
	}
	if got, err := through(t, nil, "acme/x", new(mcp.CallToolRequest), (*custom)(nil), nil); err == nil {
		t.Errorf("got %v, want an error", got)
	}
	if got, err := through(t, nil, "notifications/x", new(mcp.CallToolRequest), nil, nil); err != nil || got != nil {
		t.Errorf("a notification: got %v and error %v", got, err)
	}
}

// TestAnsweredResourcesAreNotCached: what a person's answer led to is for one
// call.
func TestAnsweredResourcesAreNotCached(t *testing.T) {
	res := &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{TTLMs: 60_000}}
	for _, answers := range []mcp.InputResponseMap{nil, {"x": &mcp.ElicitResult{}}} {
		req := &mcp.ReadResourceRequest{Params: &mcp.ReadResourceParams{InputResponses: answers}}
		got, err := through(t, nil, "resources/read", req, res, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := mcp.Cacheable{TTLMs: 60_000, CacheScope: "private"}
		if answers != nil {
			want.TTLMs = 0
		}
		if diff := cmp.Diff(want, got.(*mcp.ReadResourceResult).Cacheable); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestEmptyResource: contents always have a text or a blob, and the handler's own
// value stays as it is.
func TestEmptyResource(t *testing.T) {
	res := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "a:b"}, {URI: "a:c", Text: "c"}, {URI: "a:d", Blob: []byte("d")}}}
	got, err := through(t, nil, "resources/read", &mcp.ReadResourceRequest{Params: &mcp.ReadResourceParams{}}, res, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(got.(*mcp.ReadResourceResult).Contents)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"uri":"a:b","blob":""},{"uri":"a:c","text":"c"},{"uri":"a:d","blob":"ZA=="}]`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if res.Contents[0].Blob != nil {
		t.Error("the handler's own value was changed")
	}
}

// TestListedSchemas: only schemas whose root is an object are listed, in
// whatever Go type they are.
func TestListedSchemas(t *testing.T) {
	object := map[string]any{"type": "object"}
	var tools []*mcp.Tool
	for name, schema := range map[string]any{
		"raw": json.RawMessage(`{"type":"object"}`), "map": object, "array": json.RawMessage(`{"type":"array"}`),
		"either": json.RawMessage(`{"type":["object","null"]}`), "any": map[string]any{}, "true": true, "none": nil, "func": func() {},
	} {
		tools = append(tools, &mcp.Tool{Name: name, InputSchema: object, OutputSchema: schema})
	}
	got, err := through(t, &result.Options{OutputSchemas: true}, "tools/list", callFrom("Zed", "1.0.0"), &mcp.ListToolsResult{Tools: tools}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range got.(*mcp.ListToolsResult).Tools {
		if want := tool.Name == "raw" || tool.Name == "map"; (tool.OutputSchema != nil) != want {
			t.Errorf("%s: listed %v, want %v", tool.Name, tool.OutputSchema != nil, want)
		}
	}
	broken := []*mcp.Tool{{Name: "x", InputSchema: func() {}}}
	if got, err := through(t, nil, "tools/list", callFrom("Zed", "1.0.0"), &mcp.ListToolsResult{Tools: broken}, nil); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}
