package mcpkit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// askTool asks its caller and returns the answer.
func askTool(in *mcpkit.Installer) error {
	in.Server().AddTool(&mcp.Tool{
		Name: "ask", Description: "Ask.", InputSchema: map[string]string{"type": "object"},
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{
				Message:         "Go on?",
				RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}},
			}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Action}}}, nil
	})
	return nil
}

// Every protocol version of the SDK's client works on one URL, and can be asked in each where it says so.
func TestHTTPVersions(t *testing.T) {
	url := serve(t, newServer(t, nil, append(features(), askTool)...), nil)
	answers := map[string]func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error){
		"cannot be asked": nil,
		"accept": func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"ok": true}}, nil
		},
		"decline": func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	}
	for _, version := range mcp.SupportedProtocolVersions() {
		for name, handler := range answers {
			t.Run(version+"/"+name, func(t *testing.T) {
				client := mcp.NewClient(&mcp.Implementation{Name: "any", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: handler})
				session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if got := session.InitializeResult().ProtocolVersion; got != version {
					t.Errorf("negotiated %s", got)
				}
				list, err := session.ListTools(t.Context(), nil)
				if err != nil || len(list.Tools) != 5 {
					t.Errorf("list: %v, %v", list, err)
				}
				if got := textOf(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"})); got != "error no request or principal" {
					t.Errorf("call: got %s", got)
				}
				got := textOf(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}))
				if handler == nil && !strings.HasPrefix(got, "error ") || handler != nil && got != name {
					t.Errorf("ask: got %s", got)
				}
			})
		}
	}
}

// textOf sums the outcome of a call up.
func textOf(res *mcp.CallToolResult, err error) string {
	if err != nil {
		return "error " + err.Error()
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		_, message, _ := strings.Cut(text, `"message":"`)
		return "error " + strings.TrimSuffix(message, `"}}`)
	}
	return text
}

const (
	initializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}`
	whoamiMessage     = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami"}}`
	statelessMeta     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"codex-mcp-client","version":"1"}}`
	statelessWhoami   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami",` + statelessMeta + `}}`
)

func TestHTTPRefused(t *testing.T) {
	var log lockedBuffer
	url := serve(t, newServer(t, &mcpkit.Options{Principal: "tester"}, features()...), &mcpkit.HTTPOptions{
		Hosts:   []string{"Tools.example.com"},
		Origins: []string{"https://app.example.com"},
		MaxBody: 100_000,
		Logger:  slog.New(slog.NewTextHandler(&log, nil)),
	})
	tests := []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"as it is", func(*http.Request) {}, 200},
		{"localhost", func(r *http.Request) { r.Host = "LocalHost:99" }, 200},
		{"IPv6 loopback", func(r *http.Request) { r.Host = "[::1]:99" }, 200},
		{"other loopback", func(r *http.Request) { r.Host = "127.9.9.9" }, 200},
		{"own host", func(r *http.Request) { r.Host = "tools.EXAMPLE.com:443" }, 200},
		{"foreign host", func(r *http.Request) { r.Host = "evil.example.org" }, 403},
		{"host that begins like ours", func(r *http.Request) { r.Host = "tools.example.com.evil.org" }, 403},
		{"host that begins like loopback", func(r *http.Request) { r.Host = "127.0.0.1.evil.org" }, 403},
		{"subdomain of localhost", func(r *http.Request) { r.Host = "evil.localhost" }, 403},
		{"other address", func(r *http.Request) { r.Host = "192.168.1.1" }, 403},
		{"own origin", func(r *http.Request) { r.Header.Set("Origin", "http://"+r.URL.Host) }, 200},
		{"trusted origin", func(r *http.Request) {
			r.Header.Set("Origin", "https://app.example.com")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 200},
		{"foreign origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.org") }, 403},
		{"foreign port", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"null origin", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"cross-site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"foreign origin, GET", func(r *http.Request) { r.Method = "GET"; r.Header.Set("Origin", "https://evil.example.org") }, 403},
		{"foreign origin, preflight", func(r *http.Request) {
			r.Method = "OPTIONS"
			r.Header.Set("Origin", "https://evil.example.org")
			r.Header.Set("Access-Control-Request-Method", "POST")
		}, 403},
		{"GET without a session", func(r *http.Request) { r.Method = "GET" }, 405},
		{"unknown method", func(r *http.Request) { r.Method = "PUT" }, 405},
		{"well-known", func(r *http.Request) { r.URL.Path = "/.well-known/oauth-protected-resource" }, 404},
		{"other path", func(r *http.Request) { r.URL.Path = "/mcp" }, 200},
		{"body too large", func(r *http.Request) { setBody(r, strings.Repeat(" ", 100_001)) }, 413},
		{"body too large, chunked", func(r *http.Request) { setBody(r, strings.Repeat(" ", 1<<20)); r.ContentLength = -1 }, 413},
		{"body just right", func(r *http.Request) {
			setBody(r, statelessWhoami+strings.Repeat(" ", 100_000-len(statelessWhoami)))
		}, 200},
		{"batch", func(r *http.Request) { batch(r, 100) }, 200},
		{"batch too large", func(r *http.Request) { batch(r, 1000) }, 413},
		{"empty body", func(r *http.Request) { r.Body, r.ContentLength = nil, 0 }, 400},
		{"unknown later version", func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2031-01-01") }, 400},
		{"unknown earlier version", func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2020-01-01") }, 400},
		{"version in the body only", func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") }, 400},
		{"session that is not there", func(r *http.Request) {
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			r.Header.Set("Mcp-Session-Id", "x")
		}, 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log.Reset()
			p := &poster{url: url}
			r := p.request(t, statelessWhoami)
			test.change(r)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != test.status || strings.Contains(string(body), "evil") {
				t.Errorf("got status %d, %v, want %d: %s", resp.StatusCode, err, test.status, body)
			}
			if refused := test.status == 403 || test.status == 413; refused != strings.Contains(log.String(), "request refused") {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}

func setBody(r *http.Request, body string) {
	r.Body = io.NopCloser(strings.NewReader(body))
	r.ContentLength = int64(len(body))
}

// batch makes r a batch of n calls, which the oldest protocol versions allow.
func batch(r *http.Request, n int) {
	var messages []string
	for i := range n {
		messages = append(messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"whoami"}}`, i))
	}
	setBody(r, " ["+strings.Join(messages, ",")+"]")
	r.Header.Set("Mcp-Protocol-Version", "2025-03-26")
}

// A lockedBuffer may be written and read at the same time.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Reset()
}

// Pages of a trusted origin may ask and read.
func TestHTTPCrossOrigin(t *testing.T) {
	h, err := mcpkit.NewHTTPHandler(newServer(t, nil), &mcpkit.HTTPOptions{Origins: []string{"https://app.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "http://localhost/", nil)
	r.Header.Set("Origin", "https://app.example.com")
	r.Header.Set("Access-Control-Request-Method", "POST")
	r.Header.Set("Access-Control-Request-Headers", "content-type,mcp-protocol-version")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	want := http.Header{
		"Access-Control-Allow-Origin":   {"https://app.example.com"},
		"Access-Control-Allow-Methods":  {"GET, POST, DELETE"},
		"Access-Control-Allow-Headers":  {"content-type,mcp-protocol-version"},
		"Access-Control-Expose-Headers": {"Mcp-Session-Id, WWW-Authenticate"},
		"Vary":                          {"Origin"},
	}
	if diff := cmp.Diff(want, w.Header()); w.Code != http.StatusNoContent || diff != "" {
		t.Errorf("preflight: status %d, headers (-want +got):\n%s", w.Code, diff)
	}
	r.Method = http.MethodDelete
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("request: status %d, headers %v", w.Code, w.Header())
	}
}

// verifyTest knows two users, and everything that can be wrong with a token.
func verifyTest(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	info := &auth.TokenInfo{UserID: token, Scopes: []string{"use"}, Expiration: time.Now().Add(time.Hour)}
	switch token {
	case "tester", "other":
	case "old":
		info.Expiration = time.Now().Add(-time.Hour)
	case "weak":
		info.Scopes = nil
	case "nobody":
		info.UserID = ""
	case "nil":
		return nil, nil
	case "broken":
		return nil, errors.New("no route to hunter2")
	case "oauth":
		return nil, fmt.Errorf("%w: hunter2", auth.ErrOAuth)
	default:
		return nil, fmt.Errorf("%w: hunter2", auth.ErrInvalidToken)
	}
	return info, nil
}

func TestHTTPBearer(t *testing.T) {
	var log lockedBuffer
	url := serve(t, newServer(t, &mcpkit.Options{Principal: "local"}, features()...), &mcpkit.HTTPOptions{
		Verify: verifyTest,
		Bearer: &auth.RequireBearerTokenOptions{Scopes: []string{"use"}, ResourceMetadataURL: "https://x.example.com/meta"},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	tests := []struct {
		token  string
		status int
		want   string // part of the body
	}{
		{"tester", 200, `{"state":"done"}`},
		{"other", 200, "no request or principal"},
		{"", 401, "no bearer token"},
		{"guess", 401, "invalid token"},
		{"old", 401, "token expired"},
		{"weak", 403, "insufficient scope"},
		{"nobody", 500, "the token could not be verified"},
		{"nil", 500, "token validation failed"},
		{"broken", 500, "the token could not be verified"},
		{"oauth", 400, "oauth error"},
	}
	for _, test := range tests {
		for _, message := range []string{statelessWhoami, initializeMessage} {
			p := &poster{url: url, token: test.token}
			status, reply := p.post(t, message)
			if message == initializeMessage && status == 200 {
				_, reply = p.post(t, whoamiMessage)
			}
			if status != test.status || !strings.Contains(reply, test.want) || strings.Contains(reply, "hunter2") {
				t.Errorf("token %q, %.40s: got %d %s, want %d %s", test.token, message, status, reply, test.status, test.want)
			}
		}
	}
	if got := log.String(); !strings.Contains(got, "no route to hunter2") {
		t.Errorf("the log does not say what the verifier said: %s", got)
	}

	p := &poster{url: url, token: "tester"}
	p.post(t, initializeMessage)
	p.token = "other"
	if status, reply := p.post(t, whoamiMessage); status != 403 {
		t.Errorf("another user in the session: got %d %s", status, reply)
	}
}

func TestHTTPOptionErrors(t *testing.T) {
	if _, err := mcpkit.NewHTTPHandler(nil, nil); err == nil {
		t.Error("nil server: got no error")
	}
	for _, opts := range []*mcpkit.HTTPOptions{
		{Hosts: []string{""}},
		{Hosts: []string{"a:80"}},
		{Hosts: []string{"http://a"}},
		{Hosts: []string{"a/b"}},
		{Origins: []string{"app.example.com"}},
		{Origins: []string{"https://app.example.com/path"}},
		{Origins: []string{"*"}},
	} {
		if _, err := mcpkit.NewHTTPHandler(newServer(t, nil), opts); err == nil {
			t.Errorf("hosts %q, origins %q: got no error", opts.Hosts, opts.Origins)
		}
	}
}

// Sessions are bounded in number and in idle time.
func TestHTTPSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		serveOn(t, l, newServer(t, &mcpkit.Options{Principal: "tester"}, features()...), &mcpkit.HTTPOptions{
			MaxSessions: 3, SessionTimeout: time.Minute,
		})
		client := l.client(t)
		var posters []*poster
		for range 3 {
			p := &poster{url: "http://localhost/", client: client}
			if status, reply := p.post(t, initializeMessage); status != 200 {
				t.Fatalf("initialize: %d %s", status, reply)
			}
			posters = append(posters, p)
		}
		extra := &poster{url: "http://localhost/", client: client}
		if status, _ := extra.post(t, initializeMessage); status != 503 {
			t.Errorf("a session too many: got %d", status)
		}
		if status, _ := extra.post(t, statelessWhoami); status != 200 {
			t.Errorf("a request without a session, beside: got %d", status)
		}
		time.Sleep(40 * time.Second)
		if status, reply := posters[0].post(t, whoamiMessage); status != 200 || !strings.Contains(reply, "done") {
			t.Errorf("call after 40s: got %d %s", status, reply)
		}
		time.Sleep(40 * time.Second)
		for i, want := range []int{200, 404, 404} {
			if status, reply := posters[i].post(t, whoamiMessage); status != want {
				t.Errorf("session %d after 80s: got %d %s, want %d", i, status, reply, want)
			}
		}
		if status, reply := extra.post(t, initializeMessage); status != 200 {
			t.Errorf("after sessions ended: got %d %s", status, reply)
		}
	})
}

// Slow clients are not waited for, whichever part they are slow with.
func TestHTTPSlow(t *testing.T) {
	big := returns(struct{ Text string }{strings.Repeat("x", 1<<20)})
	call := strings.ReplaceAll(statelessWhoami, "whoami", "probe")
	post := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: probe\r\nContent-Length: " + fmt.Sprint(len(call)) + "\r\n\r\n"
	tests := []struct {
		name, send string
		read       int           // bytes to read before going slow
		want       string        // what comes
		after      time.Duration // when the connection has ended
	}{
		{"nothing sent", "", 0, "", 30 * time.Second},
		{"half of the headers", "POST / HTTP/1.1\r\nHost:", 0, "", 30 * time.Second},
		{"half of the body", post + call[:20], 0, "HTTP/1.1 408 Request Timeout", 30 * time.Second},
		{"reply not read", post + call, 100, "HTTP/1.1 200 OK", 30 * time.Second},
		{"idle afterwards", "GET /.well-known/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, "HTTP/1.1 404 Not Found", 2 * time.Minute},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			l := newPipeListener()
			server := newServer(t, &mcpkit.Options{Result: noBudget()}, big)
			serveOn(t, l, server, nil)
			conn := l.dial(t)
			start := time.Now()
			if _, err := io.WriteString(conn, test.send); err != nil {
				t.Fatal(err)
			}
			var got []byte
			if test.read > 0 {
				got = make([]byte, test.read)
				if _, err := io.ReadFull(conn, got); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // the client goes away for a while
				synctest.Wait()
				for range server.Sessions() {
					t.Errorf("%s: the request is still being served", test.name)
				}
				conn.Close()
			} else {
				var err error
				if got, err = io.ReadAll(conn); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
				if after := time.Since(start); after != test.after {
					t.Errorf("%s: ended after %v, want %v", test.name, after, test.after)
				}
			}
			if !strings.HasPrefix(string(got), test.want) || test.want == "" && len(got) > 0 {
				t.Errorf("%s: got %.200q, want %q", test.name, got, test.want)
			}
		})
	}
}

// A call and a stream may take much longer than a client may.
func TestHTTPPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		server := newServer(t, nil)
		server.AddTool(&mcp.Tool{Name: "whoami", InputSchema: map[string]string{"type": "object"}}, slowTool)
		serveOn(t, l, server, &mcpkit.HTTPOptions{SessionTimeout: 24 * time.Hour})
		p := &poster{url: "http://localhost/", client: l.client(t)}
		if status, reply := p.post(t, statelessWhoami); status != 200 || !strings.Contains(reply, `"text":"slow"`) {
			t.Errorf("stateless: got %d %s", status, reply)
		}
		p.post(t, initializeMessage)
		stream := openStream(t, p)
		if status, reply := p.post(t, whoamiMessage); status != 200 || !strings.Contains(reply, `"text":"slow"`) {
			t.Errorf("handshake: got %d %s", status, reply)
		}
		other := &poster{url: p.url, client: p.client}
		other.post(t, initializeMessage)
		slow, r := other.request(t, whoamiMessage), other.request(t, whoamiMessage)
		go func() {
			if resp, err := other.client.Do(slow); err == nil {
				resp.Body.Close()
			}
		}()
		synctest.Wait()
		r.Method = http.MethodDelete // waits for the call
		if resp, err := other.client.Do(r); err != nil || resp.StatusCode != http.StatusNoContent {
			t.Errorf("ending a session: %v, %v", resp, err)
		}
		server.RemoveTools("whoami") // is announced on the stream, two hours after its headers
		if line, err := stream.ReadString('\n'); err != nil || line != "event: message\n" {
			t.Errorf("stream: %q, %v", line, err)
		}
		go func() { _, _ = io.Copy(io.Discard, stream) }()
	})
}

func slowTool(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	time.Sleep(time.Hour)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "slow"}}}, nil
}
