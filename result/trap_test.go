package result_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests in this file have two halves: how the SDK behaves alone, and how
// it behaves with this package. When an SDK upgrade fails a first half, the
// trap is gone and the workaround that its second half tests can go too.

const (
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":99,"method":"ping"}`
	pong        = `{"jsonrpc":"2.0","id":99,"result":{}}`
)

func handshake(t *testing.T, w wire) {
	t.Helper()
	w.send(t, initialize("codex", "1.0.0", "2025-11-25"))
	w.send(t, initialized)
}

// alone starts a server without this package and shakes hands.
func alone(t *testing.T) *child {
	t.Helper()
	c := startChild(t, serverConfig{Plain: true})
	handshake(t, c)
	return c
}

// panics are one request for every kind of handler that a server has.
var panics = map[string]string{
	"tool":       `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"panic"}}`,
	"resource":   `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"doc://panic"}}`,
	"prompt":     `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"panic"}}`,
	"completion": `{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"x","value":"panic"}}}`,
}

// F1: the SDK does not recover, so that one bad call ends the process. If the
// first half fails, the SDK recovers by itself.
func TestTrapF1PanicEndsTheProcess(t *testing.T) {
	for kind, request := range panics {
		t.Run(kind, func(t *testing.T) {
			c := alone(t)
			c.write(t, request)
			if line, ended := c.ends(t); !ended {
				t.Errorf("the SDK alone lives and says %s", line)
			}

			c = startChild(t, serverConfig{})
			handshake(t, c)
			reply := c.send(t, request)
			if !strings.Contains(reply, "internal") || strings.Contains(reply, "secret") {
				t.Errorf("got %s, want an internal error without the panic's value", reply)
			}
			exchange(t, c, ping, pong)
		})
	}
}

// F2: a raw handler that returns nil, nil is sent as null in a handshake
// session, and ends the process of a 2026-07-28 one.
func TestTrapF2NilResult(t *testing.T) {
	request := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"raw-nil"}}`
	modern := strings.Replace(request, `"name"`, perRequest("codex", "1.0.0")+`,"name"`, 1)
	c := alone(t)
	exchange(t, c, request, `{"jsonrpc":"2.0","id":2,"result":null}`)
	c = startChild(t, serverConfig{Plain: true})
	c.write(t, modern)
	if line, ended := c.ends(t); !ended {
		t.Errorf("the SDK alone lives and says %s", line)
	}

	c = startChild(t, serverConfig{})
	handshake(t, c)
	for _, line := range []string{request, modern} {
		if reply := c.send(t, line); !strings.Contains(reply, `\"code\":\"internal\"`) {
			t.Errorf("got %s, want an internal error", reply)
		}
	}
}

// F3: a call whose result cannot be encoded is never answered.
func TestTrapF3UnencodableResult(t *testing.T) {
	for _, tool := range []string{"raw-nan", "raw-nan-meta", "raw-nan-block", "raw-nan-resource", "raw-broken"} {
		t.Run(tool, func(t *testing.T) {
			request := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `"}}`
			c := alone(t)
			c.write(t, request)
			out := c.send(t, ping) + c.send(t, ping) + c.send(t, ping) + c.rest(t)
			if strings.Contains(out, `"id":2`) {
				t.Errorf("the SDK alone answers %s", out)
			}

			c = startChild(t, serverConfig{})
			handshake(t, c)
			if reply := c.send(t, request); !strings.Contains(reply, `\"code\":\"internal\"`) {
				t.Errorf("got %s, want an internal error", reply)
			}
		})
	}
}

// F4: an unknown resource URI with a control character ends a stdio session,
// because the SDK quotes it in Go syntax, which is not JSON.
func TestTrapF4ControlCharacterInURI(t *testing.T) {
	request := `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"none://\u0007"}}`
	modern := strings.Replace(request, `"uri"`, perRequest("codex", "1.0.0")+`,"uri"`, 1)
	c := alone(t)
	c.write(t, request)
	if line, ended := c.ends(t); !ended {
		t.Errorf("the SDK alone lives and says %s", line)
	}

	c = startChild(t, serverConfig{})
	handshake(t, c)
	want := `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Resource not found","data":{"uri":"none://\u0007"}}}`
	exchange(t, c, request, want)
	exchange(t, c, modern, want)
	exchange(t, c, ping, pong)
}

// F5: a result that middleware makes itself lacks resultType in 2026-07-28,
// since only the SDK can set the field.
func TestTrapF5ResultTypeOfFreshResult(t *testing.T) {
	fresh, err := json.Marshal(&mcp.CallToolResult{Content: []mcp.Content{}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(fresh), "resultType") {
		t.Errorf("the SDK alone encodes %s", fresh)
	}

	h := result.Middleware(nil)(func(context.Context, string, mcp.Request) (mcp.Result, error) {
		return nil, errors.New("trouble")
	})
	for _, client := range []string{"codex", "Zed"} {
		res, err := h(t.Context(), "tools/call", callFrom(client, "1.0.0"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(res)
		if err != nil || !strings.HasSuffix(string(data), `"resultType":"complete"}`) {
			t.Errorf("got %s and error %v, want a resultType", data, err)
		}
	}
}

// F6: an initialize that asks for 2026-07-28 negotiates 2025-11-25, yet the
// session says 2026-07-28, and input_required goes to a client that knows no
// such thing.
func TestTrapF6EraOfTheSession(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`
	hello := initialize("codex", "1.0.0", "2026-07-28")
	c := startChild(t, serverConfig{Plain: true})
	if reply := c.send(t, hello); !strings.Contains(reply, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("the SDK alone negotiates %s", reply)
	}
	if reply := c.send(t, ask); !strings.Contains(reply, "input_required") {
		t.Errorf("the SDK alone answers %s", reply)
	}

	var client result.Client
	s := fixture(serverConfig{})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			client = result.ClientOf(req)
			return next(ctx, method, req)
		}
	})
	w := pipe(t, s)
	w.send(t, hello)
	if reply := w.send(t, ask); !strings.Contains(reply, `\"code\":\"input_unavailable\"`) || strings.Contains(reply, "resultType") {
		t.Errorf("got %s, want input_unavailable", reply)
	}
	if reply := w.send(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"note"}}`); !strings.Contains(reply, asStructured) {
		t.Errorf("got %s, want what a 2025-11-25 client gets", reply)
	}
	if want := (result.Client{Name: "codex", Version: "1.0.0", Protocol: "2025-11-25"}); client != want {
		t.Errorf("got %+v, want %+v", client, want)
	}
}

// F7: what the SDK says of a client costs a decoding of _meta for each
// question, and falls back to an earlier request's identity.
func TestTrapF7IdentityOfTheRequest(t *testing.T) {
	req := callFrom("codex", "1.0.0")
	if n := testing.AllocsPerRun(100, func() { req.ClientInfo() }); n == 0 {
		t.Error("the SDK alone reads the identity without an allocation")
	}
	if n := testing.AllocsPerRun(100, func() { result.ClientOf(req) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}

	// A first request says who asks; the second does not.
	var sdk, ours string
	s := fixture(serverConfig{})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok {
				ours = result.ClientOf(call).Name
				sdk = ""
				if info := call.ClientInfo(); info != nil {
					sdk = info.Name
				}
			}
			return next(ctx, method, req)
		}
	})
	w := pipe(t, s)
	w.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+perRequest("codex", "1.0.0")+`,"name":"note"}}`)
	if ours != "codex" {
		t.Errorf("got %q, want codex", ours)
	}
	reply := w.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+perRequest("", "")+`,"name":"note"}}`)
	if sdk != "codex" {
		t.Errorf("the SDK alone says %q of a request without identity", sdk)
	}
	if ours != "" || !strings.Contains(reply, asText) {
		t.Errorf("got %q and %s, want nobody and text", ours, reply)
	}
}

// F8: the SDK writes into the results that it gets, so that a value shared by
// two calls is a data race. What leaves this package is never shared; what a
// handler returns must not be.
func TestTrapF8SharedResults(t *testing.T) {
	shared := map[string]mcp.Result{
		"tools/call": &mcp.CallToolResult{
			Meta:              mcp.Meta{"k": "v"},
			Content:           []mcp.Content{&mcp.TextContent{Text: `{"a":1}`}},
			StructuredContent: json.RawMessage(`{"a":1}`),
		},
		"tools/list":               &mcp.ListToolsResult{Meta: mcp.Meta{"k": "v"}, Tools: []*mcp.Tool{{Name: "a", OutputSchema: json.RawMessage(`{"type":"object"}`)}}},
		"prompts/list":             &mcp.ListPromptsResult{Meta: mcp.Meta{"k": "v"}},
		"resources/list":           &mcp.ListResourcesResult{Meta: mcp.Meta{"k": "v"}},
		"resources/templates/list": &mcp.ListResourceTemplatesResult{Meta: mcp.Meta{"k": "v"}},
		"resources/read":           &mcp.ReadResourceResult{Meta: mcp.Meta{"k": "v"}},
		"prompts/get":              &mcp.GetPromptResult{Meta: mcp.Meta{"k": "v"}},
		"completion/complete":      &mcp.CompleteResult{Meta: mcp.Meta{"k": "v"}},
		"server/discover":          &mcp.DiscoverResult{Meta: mcp.Meta{"k": "v"}},
	}
	for method, res := range shared {
		for _, client := range []string{"codex", "Zed"} {
			t.Run(method+" "+client, func(t *testing.T) {
				h := result.Middleware(nil)(func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, nil })
				got, err := h(t.Context(), method, callFrom(client, "1.0.0"))
				if err != nil {
					t.Fatal(err)
				}
				if got == res {
					t.Error("the handler's own value leaves")
				}
				got.GetMeta()["io.modelcontextprotocol/serverInfo"] = "written by the SDK"
				if len(res.GetMeta()) != 1 {
					t.Error("the handler's _meta leaves")
				}
			})
		}
	}
	if tool := shared["tools/list"].(*mcp.ListToolsResult).Tools[0]; tool.OutputSchema == nil {
		t.Error("the registered tool lost its schema")
	}
}

// F9: parameters of a wrong type are answered by the SDK with all of them
// echoed, before any middleware. Nothing here can help; if this test fails,
// the SDK stopped doing so.
func TestTrapF9MalformedParamsAreEchoed(t *testing.T) {
	c := startChild(t, serverConfig{})
	handshake(t, c)
	reply := c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":5,"arguments":{"x":"`+strings.Repeat("y", 20_000)+`"}}}`)
	if !strings.Contains(reply, `"code":-32602`) || len(reply) < 20_000 {
		t.Errorf("got %.300s (%d bytes), want everything echoed", reply, len(reply))
	}
}

// TestNotANumber keeps the fixture honest: this is what cannot be encoded.
func TestNotANumber(t *testing.T) {
	if _, err := json.Marshal(math.NaN()); err == nil {
		t.Error("NaN can be encoded: the tests of F3 prove nothing")
	}
}
