package result_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
)

// A toolReply is what these tests read of a reply to tools/call.
type toolReply struct {
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

// A failure is the envelope of an error.
type failure struct {
	Error struct {
		Code, Message string
		Details       struct {
			Truncated    bool
			DiagnosticID string
			TotalBytes   int
			Count        int
			Paths        []string
		}
	}
}

func callTool(t *testing.T, w wire, meta, name, args string) (toolReply, string) {
	t.Helper()
	if meta != "" {
		meta += ","
	}
	line := w.send(t, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+meta+`"name":`+quote(name)+`,"arguments":`+args+`}}`)
	var r toolReply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %.300s", err, line)
	}
	return r, line
}

func failureOf(t *testing.T, r toolReply) failure {
	t.Helper()
	if !r.Result.IsError || len(r.Result.Content) != 1 || r.Result.StructuredContent != nil {
		t.Fatalf("got %+v, want an error with one block", r)
	}
	var f failure
	if err := json.Unmarshal([]byte(r.Result.Content[0].Text), &f); err != nil {
		t.Fatalf("%v in %.300s", err, r.Result.Content[0].Text)
	}
	return f
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// eras are the ways in which a structured client can call.
var eras = []struct{ name, meta string }{
	{"handshake", ""},
	{"per request", perRequest("codex", "1.0.0")},
}

// TestErrorBudget tries everything that could make a large error.
func TestErrorBudget(t *testing.T) {
	colors := "[" + strings.Repeat("0,", 2999) + "0]"
	var unknown strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&unknown, `,"field-%d":1`, i)
	}
	tests := []struct {
		name, tool, args, code string
		truncated              bool
		count                  int
		path                   string
	}{
		{"message and details", "fail-huge", `{}`, "many_problems", true, 100, "docs/0.md"},
		{"text blocks", "fail-huge-flag", `{}`, "internal", true, 0, ""},
		{"3,000 bad values", "pick", `{"colors":` + colors + `}`, "invalid_arguments", false, 3000, "/colors/0"},
		{"more bad values than are counted", "pick", `{"colors":[` + strings.Repeat("0,", 19_999) + `0]}`, "invalid_arguments", false, 10_000, "/colors/0"},
		{"3,000 unknown fields", "pick", `{` + unknown.String()[1:] + `}`, "invalid_arguments", false, 3000, "/field-0"},
		{"a large value", "pick", `{"size":` + quote(strings.Repeat("secret ", 20_000)) + `}`, "invalid_arguments", false, 1, "/size"},
		{"a large key", "pick", `{` + quote(controls()) + `:1}`, "invalid_arguments", false, 1, ""},
		{"a value that does not decode", "pick", `{"since":` + quote(controls()) + `}`, "invalid_arguments", false, 1, "/since"},
	}
	for _, tr := range transports {
		for _, era := range eras {
			w := tr.open(t, serverConfig{})
			if era.meta == "" {
				handshake(t, w)
			}
			for _, tt := range tests {
				if tt.truncated && (tr.name == "stdio") != (era.meta == "") {
					continue // large ones once on each transport and in each era
				}
				t.Run(strings.Join([]string{tr.name, era.name, tt.name}, "/"), func(t *testing.T) {
					reply, line := callTool(t, w, era.meta, tt.tool, tt.args)
					size := len(line) - len(`{"jsonrpc":"2.0","id":7,"result":}`)
					if size > 8192 {
						t.Errorf("the error has %d bytes, want at most 8,192", size)
					}
					if strings.Contains(line, "secret") {
						t.Errorf("a value is echoed in %.300s", line)
					}
					got := failureOf(t, reply).Error
					if got.Code != tt.code || got.Details.Truncated != tt.truncated || got.Details.Count != tt.count {
						t.Errorf("got %+v, want code %s, truncated %v, count %d", got, tt.code, tt.truncated, tt.count)
					}
					if (got.Details.DiagnosticID != "") != tt.truncated {
						t.Errorf("got the diagnostic id %q", got.Details.DiagnosticID)
					}
					if tt.path != "" && (len(got.Details.Paths) == 0 || got.Details.Paths[0] != tt.path) {
						t.Errorf("got the paths %q, want %q first", got.Details.Paths, tt.path)
					}
				})
			}
		}
	}
}

// TestProtocolErrorBudget is for errors that are no result.
func TestProtocolErrorBudget(t *testing.T) {
	w := pipe(t, fixture(serverConfig{}))
	handshake(t, w)
	for _, request := range []string{
		`"method":"tools/call","params":{"name":` + quote(controls()) + `}`,
		`"method":"prompts/get","params":{"name":` + quote(controls()) + `}`,
		`"method":"resources/read","params":{"uri":` + quote("none://"+controls()) + `}`,
		`"method":"resources/read","params":{"uri":` + quote("none://"+strings.Repeat("x", 20_000)) + `}`,
		`"method":"resources/read","params":{"uri":"doc://huge"}`,
	} {
		line := w.send(t, `{"jsonrpc":"2.0","id":7,`+request+`}`)
		if !strings.Contains(line, `"error":{"code":-32602`) || len(line) > 8192 {
			t.Errorf("%.100s: got %.300s (%d bytes)", request, line, len(line))
		}
	}
}

// TestDiagnosticPages reads what was cut and joins the pages.
func TestDiagnosticPages(t *testing.T) {
	var whole bytes.Buffer
	enc := json.NewEncoder(&whole)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"error": struct {
		Code    string    `json:"code"`
		Message string    `json:"message"`
		Details []problem `json:"details"`
	}{"many_problems", controls(), problems(100)}}); err != nil {
		t.Fatal(err)
	}
	huge := strings.TrimSuffix(whole.String(), "\n")
	mixed := strings.Repeat("a€\"\\😀\n<é", 300)
	some := strings.Repeat("a€\"\\😀\n<é", 70)
	for _, tt := range []struct {
		name, tool, args, want string
		maxBytes               int
	}{
		{"a huge error", "fail-huge", `{}`, huge, 16_000},
		{"a large result", "echo", `{"text":` + quote(mixed) + `}`, `{"text":` + unescaped(mixed) + `}`, 0},
		{"not UTF-8, and a resource", "raw-latin", `{}`, strings.Repeat("caf\uFFFD ", 500) + "\nbody", 0},
		{"small pages", "echo", `{"text":` + quote(mixed) + `}`, `{"text":` + unescaped(mixed) + `}`, 130},
		{"pages of one character", "echo", `{"text":` + quote(some) + `}`, `{"text":` + unescaped(some) + `}`, 1},
		{"pages larger than any", "echo", `{"text":` + quote(mixed) + `}`, `{"text":` + unescaped(mixed) + `}`, 1 << 30},
	} {
		for _, client := range []string{"codex", "Zed"} {
			if tt.tool == "fail-huge" && client == "Zed" {
				continue // 300 pages, once
			}
			t.Run(tt.name+"/"+client, func(t *testing.T) {
				t.Parallel()
				w := pipe(t, fixture(serverConfig{Options: result.Options{MaxResult: 1100}}))
				if tt.tool == "fail-huge" {
					w = pipe(t, fixture(serverConfig{}))
				}
				meta := perRequest(client, "1.0.0")
				reply, _ := callTool(t, w, meta, tt.tool, tt.args)
				details := failureOf(t, reply).Error.Details
				if details.TotalBytes != len(tt.want) {
					t.Errorf("got %d total bytes, want %d", details.TotalBytes, len(tt.want))
				}
				got := readAll(t, w, meta, details.DiagnosticID, tt.maxBytes)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("the pages joined differ (-want +got):\n%.500s", diff)
				}
			})
		}
	}
}

// unescaped returns s as a JSON string without HTML escapes.
func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(quote(s))
}

// readAll joins the pages of one diagnostic.
func readAll(t *testing.T, w wire, meta, id string, maxBytes int) string {
	t.Helper()
	var all strings.Builder
	for offset := 0; ; {
		args := fmt.Sprintf(`{"diagnosticId":%q,"offset":%d,"maxBytes":%d}`, id, offset, maxBytes)
		if maxBytes == 0 {
			args = fmt.Sprintf(`{"diagnosticId":%q,"offset":%d}`, id, offset)
		}
		reply, line := callTool(t, w, meta, "diagnostic_read", args)
		raw := reply.Result.StructuredContent
		if raw == nil && len(reply.Result.Content) == 1 {
			raw = json.RawMessage(reply.Result.Content[0].Text)
		}
		var page struct {
			Content            string
			Offset, TotalBytes int
			NextOffset         *int
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		if page.Offset != offset || page.Content == "" {
			t.Fatalf("got the page %+v at offset %d", page, offset)
		}
		if encoded := len(quote(page.Content)) - 2; maxBytes > 12 && encoded > maxBytes || encoded > 16_000 {
			t.Fatalf("the page has %d bytes, want at most %d", encoded, maxBytes)
		}
		all.WriteString(page.Content)
		if page.NextOffset == nil {
			return all.String()
		}
		offset = *page.NextOffset
	}
}

func TestDiagnosticRefusals(t *testing.T) {
	w := pipe(t, fixture(serverConfig{Options: result.Options{MaxResult: 1024}}))
	meta := perRequest("Zed", "1.0.0")
	reply, _ := callTool(t, w, meta, "echo", `{"text":`+quote(strings.Repeat("€", 1000))+`}`)
	id := failureOf(t, reply).Error.Details.DiagnosticID
	for _, tt := range []struct{ name, args, code string }{
		{"no id", `{}`, "invalid_arguments"},
		{"no such form", `{"diagnosticId":"x"}`, "invalid_arguments"},
		{"unknown", `{"diagnosticId":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "diagnostic_unknown"},
		{"negative offset", `{"diagnosticId":"` + id + `","offset":-1}`, "invalid_arguments"},
		{"offset behind the end", `{"diagnosticId":"` + id + `","offset":9999999}`, "invalid_arguments"},
		{"offset in a character", `{"diagnosticId":"` + id + `","offset":10}`, "invalid_arguments"},
		{"no room", `{"diagnosticId":"` + id + `","maxBytes":0}`, "invalid_arguments"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, _ := callTool(t, w, meta, "diagnostic_read", tt.args)
			if got := failureOf(t, reply).Error.Code; got != tt.code {
				t.Errorf("got code %s, want %s", got, tt.code)
			}
		})
	}
}

// inProcess connects a client of the SDK, for tests with a fake clock.
func inProcess(t *testing.T, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	server, err := s.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "Zed", Version: "1.0.0"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Wait()
	})
	return client
}

// fail calls a failing tool and returns the id of its diagnostic.
func fail(t *testing.T, c *mcp.ClientSession, tool string) string {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
	if err != nil {
		t.Fatal(err)
	}
	var f failure
	if err := json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &f); err != nil {
		t.Fatal(err)
	}
	return f.Error.Details.DiagnosticID
}

// isKept reports whether a diagnostic can be read.
func isKept(t *testing.T, c *mcp.ClientSession, id string) bool {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "diagnostic_read", Arguments: map[string]any{"diagnosticId": id}})
	if err != nil {
		t.Fatal(err)
	}
	return !res.IsError
}

func TestDiagnosticsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(t, fixture(serverConfig{}))
		first := fail(t, c, "fail-long")
		time.Sleep(20 * time.Minute)
		second := fail(t, c, "fail-long")
		time.Sleep(10*time.Minute - time.Second)
		if !isKept(t, c, first) {
			t.Error("gone before 30 minutes")
		}
		time.Sleep(time.Second)
		if isKept(t, c, first) {
			t.Error("kept for more than 30 minutes")
		}
		if !isKept(t, c, second) {
			t.Error("a younger one went too")
		}
	})
}

func TestDiagnosticsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		tool string
		keep int
	}{
		{"fail-long", 64}, // many
		{"fail-large", 3}, // large: 5 MiB each of 16
	} {
		t.Run(tt.tool, func(t *testing.T) {
			c := inProcess(t, fixture(serverConfig{}))
			ids := make([]string, tt.keep+1)
			for i := range ids {
				ids[i] = fail(t, c, tt.tool)
				if !isKept(t, c, ids[0]) && i < tt.keep {
					t.Fatalf("the oldest went with only %d", i+1)
				}
			}
			if isKept(t, c, ids[0]) {
				t.Error("the oldest is still kept")
			}
			if !isKept(t, c, ids[1]) || !isKept(t, c, ids[tt.keep]) {
				t.Error("another one went")
			}
		})
	}
	t.Run("one that is larger than all room", func(t *testing.T) {
		c := inProcess(t, fixture(serverConfig{}))
		kept := fail(t, c, "fail-long")
		if id := fail(t, c, "fail-giant"); id != "" {
			t.Errorf("got the id %q", id)
		}
		if !isKept(t, c, kept) {
			t.Error("it displaced another")
		}
	})
}

// TestMiddlewareAlone has no tool that could read a diagnostic, so it keeps
// none.
func TestMiddlewareAlone(t *testing.T) {
	s := fixture(serverConfig{Plain: true})
	s.AddReceivingMiddleware(result.Middleware(nil))
	c := inProcess(t, s)
	if id := fail(t, c, "fail-huge"); id != "" {
		t.Errorf("got the diagnostic id %q", id)
	}
	for tool, err := range c.Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == "diagnostic_read" {
			t.Error("the tool is there")
		}
	}
}

func TestDiagnosticToolName(t *testing.T) {
	s := fixture(serverConfig{Options: result.Options{DiagnosticTool: "x_diagnostic"}})
	c := inProcess(t, s)
	id := fail(t, c, "fail-long")
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "x_diagnostic", Arguments: map[string]any{"diagnosticId": id}})
	if err != nil || res.IsError {
		t.Errorf("got %+v and error %v", res, err)
	}
}

// TestMaxResult counts what a model reads, and nothing else.
func TestMaxResult(t *testing.T) {
	text := func(n int) mcp.Content { return &mcp.TextContent{Text: strings.Repeat("x", n)} }
	embedded := func(n int) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "doc://a", Text: strings.Repeat("x", n)}}
	}
	raw := func(n int) json.RawMessage { return json.RawMessage(`{"a":"` + strings.Repeat("x", n-8) + `"}`) }
	for _, tt := range []struct {
		name     string
		res      *mcp.CallToolResult
		tooLarge bool
	}{
		{"text", &mcp.CallToolResult{Content: []mcp.Content{text(1000), text(1000)}}, false},
		{"more text", &mcp.CallToolResult{Content: []mcp.Content{text(1000), text(1001)}}, true},
		{"output", &mcp.CallToolResult{StructuredContent: raw(2000)}, false},
		{"more output", &mcp.CallToolResult{StructuredContent: raw(2001)}, true},
		{"the SDK's copy", &mcp.CallToolResult{StructuredContent: raw(2000), Content: []mcp.Content{&mcp.TextContent{Text: string(raw(2000))}}}, false},
		{"embedded text", &mcp.CallToolResult{StructuredContent: raw(1000), Content: []mcp.Content{embedded(1000)}}, false},
		{"more embedded text", &mcp.CallToolResult{StructuredContent: raw(1000), Content: []mcp.Content{embedded(1001)}}, true},
		{"an image", &mcp.CallToolResult{StructuredContent: raw(1000), Content: []mcp.Content{&mcp.ImageContent{Data: make([]byte, 5000)}}}, false},
	} {
		for _, client := range []string{"codex", "Zed"} {
			t.Run(tt.name+"/"+client, func(t *testing.T) {
				res, err := through(t, &result.Options{MaxResult: 2000}, "tools/call", callFrom(client, "1.0.0"), tt.res, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := res.(*mcp.CallToolResult).IsError; got != tt.tooLarge {
					t.Errorf("got an error %v, want %v", got, tt.tooLarge)
				}
			})
		}
	}
}

// TestConcurrentCalls is for the race detector: one server, many sessions.
func TestConcurrentCalls(t *testing.T) {
	s := fixture(serverConfig{})
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := inProcess(t, s)
			for range 10 {
				if id := fail(t, c, "fail-long"); !isKept(t, c, id) {
					t.Error("a diagnostic was lost")
				}
			}
		})
	}
}

// The body of an embedded resource that does not fit can be read back too.
func TestTooLargeResource(t *testing.T) {
	body := strings.Repeat("a body\n", 400)
	s := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "bodies", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x://1", Text: body}},
			&mcp.TextContent{Text: `{"items":[1]}`},
		}}, nil
	})
	result.Install(s, &result.Options{MaxResult: 1100})
	w := pipe(t, s)
	meta := perRequest("Zed", "1.0.0")
	reply, _ := callTool(t, w, meta, "bodies", `{}`)
	id := failureOf(t, reply).Error.Details.DiagnosticID
	if diff := cmp.Diff(body+"\n"+`{"items":[1]}`, readAll(t, w, meta, id, 0)); diff != "" {
		t.Errorf("the pages joined differ (-want +got)\n%.300s", diff)
	}
}
