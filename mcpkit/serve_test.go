package mcpkit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

func noBudget() *result.Options { return &result.Options{MaxResult: -1} }

// A pipeListener accepts connections within the process, so that a test can have a clock of its own.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (l *pipeListener) dial(t *testing.T) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
	case <-l.closed:
		t.Fatal("the listener is closed")
	}
	t.Cleanup(func() { ours.Close() })
	return ours
}

// client returns a client of l alone.
func (l *pipeListener) client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Told to stop, a server answers the calls it has, ends streams and sessions, and takes nothing new.
func TestServeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		server := newServer(t, nil)
		server.AddTool(&mcp.Tool{Name: "whoami", InputSchema: map[string]string{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(5 * time.Second)
			return &mcp.CallToolResult{StructuredContent: map[string]string{"state": "done"}}, nil
		})
		stop := serveOn(t, l, server, nil)
		client := l.client(t)
		p := &poster{url: "http://localhost/", client: client}
		p.post(t, initializeMessage)
		stream := openStream(t, p)
		var calls sync.WaitGroup
		calls.Go(func() {
			if rest, err := io.ReadAll(stream); err != nil || len(rest) > 0 {
				t.Errorf("stream: %q, %v", rest, err)
			}
		})
		for _, message := range []string{whoamiMessage, statelessWhoami} {
			calls.Go(func() {
				if status, reply := p.post(t, message); status != 200 || !strings.Contains(reply, "done") {
					t.Errorf("a call in flight: got %d %s", status, reply)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if err := stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if took := time.Since(start); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("stopped after %v, want as long as the calls take", took)
		}
		calls.Wait()
		for s := range server.Sessions() {
			t.Errorf("session %s is left", s.ID())
		}
	})
}

// A call that does not end is left behind, and the error says so.
func TestServeLeavesStuckCalls(t *testing.T) {
	for _, message := range []string{whoamiMessage, statelessWhoami} {
		synctest.Test(t, func(t *testing.T) {
			l := newPipeListener()
			server := newServer(t, nil)
			server.AddTool(&mcp.Tool{Name: "whoami", InputSchema: map[string]string{"type": "object"}}, slowTool)
			stop := serveOn(t, l, server, &mcpkit.HTTPOptions{Grace: time.Minute})
			p := &poster{url: "http://localhost/", client: l.client(t)}
			p.post(t, initializeMessage)
			failed := make(chan error, 1)
			go func() {
				_, err := p.client.Do(p.request(t, message))
				failed <- err
			}()
			synctest.Wait()
			start := time.Now()
			err := stop()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
				t.Errorf("Serve ended after %v with %v", time.Since(start), err)
			}
			if err := <-failed; err == nil {
				t.Error("the call was answered")
			}
			time.Sleep(time.Hour) // until the tool ends too
		})
	}
}

func TestServeAcceptFails(t *testing.T) {
	h, err := mcpkit.NewHTTPHandler(newServer(t, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newPipeListener()
	l.Close()
	if err := h.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// After Shutdown nothing is served, whatever server the handler hangs in.
func TestShutdown(t *testing.T) {
	h, err := mcpkit.NewHTTPHandler(newServer(t, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // once more does no harm
		if err := h.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	}
	l := newPipeListener()
	serveHandler(t, l, h)
	p := &poster{url: "http://localhost/", client: l.client(t)}
	if status, reply := p.post(t, initializeMessage); status != 503 {
		t.Errorf("got %d %s", status, reply)
	}
}

// serveHandler serves h with a plain server.
func serveHandler(t *testing.T, l net.Listener, h http.Handler) {
	t.Helper()
	server := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
}

// In a server without write deadlines, the handler leaves none behind.
func TestForeignServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := mcpkit.NewHTTPHandler(newServer(t, &mcpkit.Options{Principal: "tester"}, features()...), nil)
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		mux.Handle("/mcp", h)
		mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, "slow")
		})
		l := newPipeListener()
		serveHandler(t, l, mux)
		client := l.client(t)
		p := &poster{url: "http://localhost/mcp", client: client}
		if status, reply := p.post(t, statelessWhoami); status != 200 {
			t.Errorf("got %d %s", status, reply)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/slow", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r) // over the same connection
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "slow" {
			t.Errorf("got %q, %v", body, err)
		}
	})
}

// 64 clients of both eras at once, all of which are served, and of which nothing is left.
func TestServeManyClients(t *testing.T) {
	const clients, calls = 64, 3
	before := openFiles(t)
	synctest.Test(t, func(t *testing.T) { // that no goroutine is left is checked at its end
		l := newPipeListener()
		server := newServer(t, nil, append(features(), askTool)...)
		stop := serveOn(t, l, server, nil)
		client := l.client(t)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() { manyCalls(t, client, "http://localhost/", i, calls) })
		}
		all.Wait()
		if err := stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		client.CloseIdleConnections()
	})
	url, stop, client := tcpServer(t)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { manyCalls(t, client, url, i, calls) })
	}
	all.Wait()
	client.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	// The client closes its ends when it notices that the server closed the others.
	for deadline := time.Now().Add(10 * time.Second); ; {
		after := openFiles(t)
		if after <= before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d open files, %d before", after, before)
		}
	}
}

func tcpServer(t *testing.T) (url string, stop func() error, client *http.Client) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop = serveOn(t, l, newServer(t, nil, append(features(), askTool)...), nil)
	return "http://" + l.Addr().String(), stop, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
}

// manyCalls is one client of the SDK.
func manyCalls(t *testing.T, httpClient *http.Client, url string, i, calls int) {
	t.Helper()
	versions := mcp.SupportedProtocolVersions()
	client := mcp.NewClient(&mcp.Implementation{Name: "codex-mcp-client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := client.Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: httpClient},
		&mcp.ClientSessionOptions{ProtocolVersion: versions[i%len(versions)]})
	if err != nil {
		t.Errorf("client %d: %v", i, err)
		return
	}
	for n := range calls {
		if got := textOf(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})); got != "decline" {
			t.Errorf("client %d, ask %d: got %s", i, n, got)
		}
		id := fmt.Sprintf("repo%d.%d", i, n)
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"repo_id": id}})
		if err != nil || res.IsError || !strings.Contains(fmt.Sprint(res.StructuredContent, textOr(res)), id) {
			t.Errorf("client %d, search %d: %v, %v", i, n, res, err)
		}
	}
	if err := session.Close(); err != nil {
		t.Errorf("client %d: closing: %v", i, err)
	}
}

func textOr(res *mcp.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// openFiles counts the descriptors of this process, where the system tells.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Connections beyond the limit are closed, those below it are served.
func TestServeMaxConns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipeListener()
		serveOn(t, l, newServer(t, nil), &mcpkit.HTTPOptions{MaxConns: 2})
		const request = "GET /.well-known/x HTTP/1.1\r\nHost: localhost\r\n\r\n"
		served := func(conn net.Conn) bool {
			if _, err := io.WriteString(conn, request); err != nil {
				return false
			}
			buf := make([]byte, 12)
			_, err := io.ReadFull(conn, buf)
			return err == nil && string(buf) == "HTTP/1.1 404"
		}
		first, second := l.dial(t), l.dial(t)
		synctest.Wait()
		if third := l.dial(t); served(third) {
			t.Error("a third connection is served")
		}
		if !served(first) || !served(second) {
			t.Error("two connections are not served")
		}
		first.Close()
		synctest.Wait()
		if !served(l.dial(t)) {
			t.Error("after one has ended, another is not served")
		}
	})
}

// A body is one JSON value: what follows it is not left out in silence.
func TestHTTPBody(t *testing.T) {
	url := serve(t, newServer(t, nil, features()...), nil)
	session := &poster{url: url}
	session.post(t, initializeMessage)
	for name, body := range map[string]string{
		"junk after it":        statelessWhoami + "junk",
		"another after it":     statelessWhoami + statelessWhoami,
		"another line":         statelessWhoami + "\n" + statelessWhoami,
		"brace after it":       statelessWhoami + "}",
		"zero byte after it":   statelessWhoami + "\x00",
		"byte order mark":      "\ufeff" + statelessWhoami,
		"cut":                  statelessWhoami[:len(statelessWhoami)-1],
		"comma in an object":   `{"jsonrpc":"2.0",}`,
		"junk after an array":  "[" + whoamiMessage + "]x",
		"nothing but blanks":   " \n",
		"single-quoted":        "{'jsonrpc':'2.0'}",
		"unquoted and trailed": "junk",
	} {
		for era, p := range map[string]*poster{"stateless": {url: url}, "handshake": session} {
			message := statelessWhoami
			if era == "handshake" {
				message = whoamiMessage
			}
			resp, got := p.postBody(t, message, body)
			want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not one JSON value"}}`
			if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Content-Type") != "application/json" || got != want {
				t.Errorf("%s, %s: got %s, %s, want status 400, %s", name, era, resp.Status, got, want)
			}
		}
	}
	for _, id := range []string{"9007199254740993", "1.5"} {
		lost := strings.Replace(whoamiMessage, `"id":`, `"id":`+id+`,"was":`, 1)
		want := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"an id has to be a text, or a whole number between -2^53 and 2^53 in digits alone"}}`
		if status, reply := session.post(t, lost); status != http.StatusBadRequest || strings.TrimSpace(reply) != want {
			t.Errorf("id %s: got %d %s, want %s", id, status, reply, want)
		}
	}
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}]`
	if resp, got := session.postBody(t, whoamiMessage, batch); resp.StatusCode != http.StatusBadRequest || !strings.Contains(got, `"id":null`) || !strings.Contains(got, "between -2^53") {
		t.Errorf("a batch with such an id: got %s %s", resp.Status, got)
	}
	if status, reply := session.post(t, " \n"+whoamiMessage+"\r\n "); status != http.StatusOK {
		t.Errorf("white space around it: got %d %s", status, reply)
	}
}

// postBody posts another body in the place of a message.
func (p *poster) postBody(t *testing.T, message, body string) (*http.Response, string) {
	t.Helper()
	r := p.request(t, message)
	setBody(r, body)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}
