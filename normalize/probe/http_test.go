package probe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// remote is the launch of a server at an address.
func remote(transport normalize.Transport, url string, headers ...normalize.Pair) normalize.Launch {
	return normalize.Launch{Name: "pear", Transport: transport, URL: url, Headers: headers}
}

func start(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCheckHTTP(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *mcp.Server { return newServer("pear", "4.2.0", "ripen", "core") }
	tests := []struct {
		name      string
		transport normalize.Transport
		handler   http.Handler
		protocol  string
	}{
		{"stateless", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}), "2026-07-28"},
		{"stateful", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, nil), "2025-11-25"},
		{"json", normalize.HTTP, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}), "2025-11-25"},
		{"sse", normalize.SSE, mcp.NewSSEHandler(get, nil), "2025-11-25"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := probe.Check(t.Context(), remote(test.transport, start(t, test.handler)), &probe.Options{Timeout: 8 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			got.Digest = ""
			want := probe.Report{Name: "pear", Version: "4.2.0", Protocol: test.protocol, Tools: []string{"core", "ripen"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

// initializes answers the handshake of protocol 2025-06-18 by hand and leaves all
// else to next.
func initializes(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, initialized)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "tools/list":
			w.Header().Set("Test-Id", string(m.ID))
			next(w, r)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}
}

func write(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// gigabyte writes a chunk until a gigabyte is full or the client has enough.
func gigabyte(contentType, chunk string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for n := 0; n < 1<<30; n += len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
}

func TestHostileAddresses(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that the client is gone only after that
		<-r.Context().Done()
	}
	x := strings.Repeat("x", 1<<16)
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another server got %s %s with %q", r.Method, r.URL, r.Header)
	})
	elsewhere := start(t, other)
	second := 800 * time.Millisecond
	tests := []struct {
		name      string
		transport normalize.Transport
		handler   http.HandlerFunc
		timeout   time.Duration
		want      failure
		message   string
	}{
		{"never answers", normalize.HTTP, hang, second, failure{probe.Timeout, probe.Handshake}, "did not finish"},
		{"never answers a stream", normalize.SSE, hang, second, failure{probe.Timeout, probe.Handshake}, "did not finish"},
		{"never lists", normalize.HTTP, initializes(hang), second, failure{probe.Timeout, probe.ListTools}, "did not finish"},
		{"wants credentials", normalize.HTTP, status(401), 0, failure{probe.Failed, probe.Handshake}, "401 Unauthorized: it wants credentials"},
		{"wants other credentials", normalize.SSE, status(403), 0, failure{probe.Failed, probe.Handshake}, "403 Forbidden: it wants credentials"},
		{"wants credentials later", normalize.HTTP, initializes(status(401)), 0, failure{probe.Failed, probe.ListTools}, "401 Unauthorized: it wants credentials"},
		{"not here", normalize.HTTP, status(404), 0, failure{probe.Failed, probe.Handshake}, "404 Not Found: check the address"},
		{"not here for a stream", normalize.SSE, status(405), 0, failure{probe.Failed, probe.Handshake}, "405 Method Not Allowed: check the address"},
		{"broken", normalize.HTTP, status(500), 0, failure{probe.Failed, probe.Handshake}, "500 Internal Server Error: it is broken or busy"},
		{"a web page", normalize.HTTP, write("text/html", "<html>Pears</html>"), 0, failure{probe.Failed, probe.Handshake}, "text/html"},
		{"a web page as a stream", normalize.SSE, write("text/html", "<html>Pears</html>"), 0, failure{probe.Failed, probe.Handshake}, "broke off"},
		{"garbage", normalize.HTTP, write("application/json", "{{{"), 0, failure{probe.Failed, probe.Handshake}, "failed to decode response"},
		{"deep", normalize.HTTP, write("application/json", strings.Repeat("[", 4<<20-9)), 0, failure{probe.Failed, probe.Handshake}, ""},
		{"deep in a message", normalize.HTTP, write("application/json", `{"jsonrpc":"2.0","id":1,"result":`+strings.Repeat("[", 4<<20-90)), 0, failure{probe.Failed, probe.Handshake}, ""},
		{"a gigabyte", normalize.HTTP, gigabyte("application/json", x), 0, failure{probe.TooLarge, probe.Handshake}, "message of more than 4194304"},
		{"a gigabyte of events", normalize.HTTP, gigabyte("text/event-stream", "data: "+`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"`+x[:1<<12]+`"}}`+"\n\n"), 0, failure{probe.TooLarge, probe.Handshake}, "more than 8388608"},
		{"an endless event", normalize.SSE, gigabyte("text/event-stream", x), 0, failure{probe.TooLarge, probe.Handshake}, "more than 8388608"},
		{"a gigabyte of error", normalize.HTTP, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			gigabyte("application/json", x)(w, r)
		}, 0, failure{probe.TooLarge, probe.Handshake}, "message of more than 4194304"},
		{"redirects elsewhere", normalize.HTTP, http.RedirectHandler(elsewhere, http.StatusTemporaryRedirect).ServeHTTP, 0, failure{probe.Failed, probe.Handshake}, "points to another one"},
		{"redirects in circles", normalize.HTTP, http.RedirectHandler("/", http.StatusTemporaryRedirect).ServeHTTP, 0, failure{probe.Failed, probe.Handshake}, "too many redirects"},
		{"endpoint elsewhere", normalize.SSE, func(w http.ResponseWriter, r *http.Request) {
			write("text/event-stream", "event: endpoint\ndata: "+elsewhere+"/x\n\n")(w, r)
			http.NewResponseController(w).Flush()
			<-r.Context().Done() // a stream that ends would be another fault
		}, 0, failure{probe.Failed, probe.Handshake}, "points to another one"},
		{"stream ends", normalize.SSE, write("text/event-stream", "event: endpoint\ndata: /x\n\n"), 0, failure{probe.Failed, probe.Handshake}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			launch := remote(test.transport, start(t, test.handler), normalize.Pair{Name: "X-Orchard-Key", Value: canary})
			begin := time.Now()
			_, err := probe.Check(t.Context(), launch, &probe.Options{Timeout: test.timeout})
			e, ok := errors.AsType[*probe.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, failure{e.Code, e.Phase}); diff != "" {
				t.Errorf("error %v (-want +got):\n%s", e, diff)
			}
			if !strings.Contains(e.Message, test.message) || strings.Contains(texts(err), canary) {
				t.Errorf("message %q; want %q in it, and not the header", e.Message, test.message)
			}
			t.Log(err, time.Since(begin).Round(time.Millisecond))
		})
	}
}

func TestHeadersAndRedirects(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *mcp.Server { return newServer("pear", "4.2.0", "ripen") }
	handler := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true})
	mux := http.NewServeMux()
	mux.Handle("/old", http.RedirectHandler("/new", http.StatusTemporaryRedirect))
	mux.HandleFunc("/new", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Orchard-Key") != canary || r.Host != "pears.example" || strings.Contains(r.Header.Get("Content-Type"), "plum") && r.Method == http.MethodPost {
			t.Errorf("%s to %q with %q", r.Method, r.Host, r.Header)
		}
		handler.ServeHTTP(w, r)
	})
	launch := remote(normalize.HTTP, start(t, mux)+"/old",
		normalize.Pair{Name: "x-orchard-key", Value: canary}, normalize.Pair{Name: "Host", Value: "pears.example"}, normalize.Pair{Name: "Content-Type", Value: "text/plum"})
	if _, err := probe.Check(t.Context(), launch, nil); err != nil {
		t.Error(err)
	}
}

func TestProgramWithAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()

	launch := peer(t, "listens", address)
	launch.Transport, launch.URL = normalize.HTTP, "http://"+address+"/mcp"
	report, err := probe.Check(t.Context(), launch, nil)
	if err != nil || len(report.Tools) != 1 {
		t.Errorf("Check = %+v, %v", report, err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the program still listens")
	}

	launch = peer(t, "dies")
	launch.Transport, launch.URL = normalize.HTTP, "http://"+address+"/mcp"
	_, err = probe.Check(t.Context(), launch, nil)
	e, ok := errors.AsType[*probe.Error](err)
	if !ok || e.Code != probe.Failed || !strings.Contains(e.Message, "exit status 3") || e.Stderr != "cannot open the orchard" {
		t.Errorf("a program that dies: %v", err)
	}

	launch = peer(t, "silent")
	launch.Transport, launch.URL = normalize.HTTP, "http://"+address+"/mcp"
	_, err = probe.Check(t.Context(), launch, &probe.Options{Timeout: 500 * time.Millisecond})
	if probe.CodeOf(err) != probe.Timeout || !strings.Contains(err.Error(), "could not be reached") {
		t.Errorf("a program that does not listen: %v", err)
	}
}

// TestAnotherServerAtTheAddress has programs that are not what answers.
func TestAnotherServerAtTheAddress(t *testing.T) {
	get := func(*http.Request) *mcp.Server { return newServer("pear", "4.2.0", "ripen") }
	var asked atomic.Int32
	handler := mcp.NewStreamableHTTPHandler(get, nil)
	count := func(w http.ResponseWriter, r *http.Request) { asked.Add(1); handler.ServeHTTP(w, r) }
	for _, transport := range []normalize.Transport{normalize.HTTP, normalize.SSE} {
		ran := filepath.Join(t.TempDir(), "ran")
		launch := peer(t, "marks", ran)
		launch.Transport, launch.URL = transport, start(t, http.HandlerFunc(count))
		_, err := probe.Check(t.Context(), launch, nil)
		if probe.CodeOf(err) != probe.Failed || !strings.Contains(err.Error(), "before the program is started") || asked.Load() != 0 {
			t.Errorf("%s: %d requests, error %v", transport, asked.Load(), err)
		}
		if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the program was started: %v", err)
		}
	}

	// One that ends while another process listens.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	launch := peer(t, "leaves", address)
	launch.Transport, launch.URL = normalize.HTTP, "http://"+address+"/mcp"
	_, err = probe.Check(t.Context(), launch, nil)
	if probe.CodeOf(err) != probe.Failed || !strings.Contains(err.Error(), "the program ended (exit status 0)") {
		t.Errorf("error %v", err)
	}
}

func TestOwnAddresses(t *testing.T) {
	tests := []struct {
		launch, address string
		want            bool
	}{
		{"https://pears.example/mcp", "https://pears.example/other?x=1", true},
		{"https://pears.example/mcp", "https://PEARS.example/mcp", true},
		{"https://pears.example:8443/", "https://pears.example:8443/", true},
		{"http://pears.example/", "https://pears.example/", true},
		{"http://[::1]:80/", "http://[::1]:80/x", true},
		{"https://pears.example/", "http://pears.example/", false},
		{"https://pears.example/", "https://pears.example:8443/", false},
		{"http://pears.example:80/", "https://pears.example:8443/", false},
		{"https://pears.example/", "https://pears.example.plums.example/", false},
		{"https://pears.example/", "https://sub.pears.example/", false},
		{"https://pears.example/", "https://pears.example@plums.example/", false},
		{"https://pears.example/", "/relative", false},
		{"http://pears\x7f", "https://pears.example/", false},
	}
	for _, test := range tests {
		t.Run(test.launch+" to "+test.address, func(t *testing.T) {
			if got := probe.Own(test.launch, test.address); got != test.want {
				t.Errorf("own = %t", got)
			}
		})
	}
}

// TestDeniedThenSilent has a server that refuses server/discover and then hangs.
func TestDeniedThenSilent(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		<-r.Context().Done()
	}))
	_, err := probe.Check(t.Context(), remote(normalize.HTTP, url), &probe.Options{Timeout: 400 * time.Millisecond})
	if e, ok := errors.AsType[*probe.Error](err); !ok || !strings.Contains(e.Message, "403 Forbidden") || !strings.Contains(e.Message, "credentials") {
		t.Errorf("error %v", err)
	}
}

// TestDiscoverThatHangs has a server that never answers what it does not know.
func TestDiscoverThatHangs(t *testing.T) {
	t.Parallel()
	known := initializes(func(w http.ResponseWriter, r *http.Request) {
		write("application/json", `{"jsonrpc":"2.0","id":`+w.Header().Get("Test-Id")+`,"result":{"tools":[]}}`)(w, r)
	})
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || strings.Contains(string(body), `"server/discover"`) {
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		known(w, r)
	}))
	report, err := probe.Check(t.Context(), remote(normalize.HTTP, url), &probe.Options{Timeout: 3 * time.Second})
	if err != nil || report.Protocol != "2025-06-18" {
		t.Errorf("Check = %+v, %v", report, err)
	}
}
