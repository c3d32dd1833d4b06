package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// A transport answers requests without a network, and keeps them.
type transport struct {
	answer func(*http.Request) (*http.Response, error)

	mu   sync.Mutex
	seen []*http.Request
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	t.seen = append(t.seen, r)
	t.mu.Unlock()
	resp, err := t.answer(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func (t *transport) addresses() []string {
	var out []string
	for _, r := range t.seen {
		out = append(out, r.URL.Scheme+"://"+r.URL.Host+r.URL.EscapedPath())
	}
	return out
}

func reply(code int, body string, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i+1 < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// resolver makes a resolver with the default bases over a transport.
func resolver(rt *transport, opts lookup.Options) *lookup.Resolver {
	opts.Client = &http.Client{Transport: rt}
	return lookup.New(&opts)
}

const oneEntry = `{"server": {"name": "io.github.acme/notes", "version": "1.0.0", "packages": [{"registryType": "npm", "identifier": "@acme/notes", "version": "1.0.0", "environmentVariables": [{"name": "A"}]}]}}`

func TestRequests(t *testing.T) {
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		switch r.URL.Host {
		case "api.github.com":
			return reply(200, `[{"name": "package.json", "type": "file"}]`), nil
		case "raw.githubusercontent.com":
			return reply(200, `{"name": "notes-mcp", "bin": "cli.js"}`), nil
		}
		return reply(200, `{"servers": []}`), nil
	}}
	_, evidence, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "https://me:hunter2@github.com/acme/notes/tree/main?key=hunter2")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"https://registry.modelcontextprotocol.io/v0.1/servers",
		"https://registry.modelcontextprotocol.io/v0.1/servers",
		"https://api.github.com/repos/acme/notes/contents",
		"https://raw.githubusercontent.com/acme/notes/main/package.json",
		"https://glama.ai/api/mcp/v1/servers",
	}
	if diff := cmp.Diff(want, rt.addresses()); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	for _, r := range rt.seen {
		for _, name := range []string{"Authorization", "Cookie", "Referer"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s: header %s: %s", r.URL, name, v)
			}
		}
		if r.Method != http.MethodGet || r.Body != nil {
			t.Errorf("%s %s has a body or is no GET", r.Method, r.URL)
		}
	}
	if strings.Contains(evidence.String(), "hunter2") {
		t.Errorf("the evidence holds the secret:\n%v", evidence)
	}
}

func TestRedirects(t *testing.T) {
	tests := []struct {
		name string
		to   []string // where each answer points, until the last is answered
		want lookup.Code
		asks int
	}{
		{"same host", []string{"/other"}, "", 2},
		{"another source", []string{"https://glama.ai/x"}, "", 2},
		{"stranger", []string{"https://evil.example/x"}, lookup.CodeHostRefused, 1},
		{"a host that begins like a source", []string{"https://api.github.com.evil.example/x"}, lookup.CodeHostRefused, 1},
		{"another port", []string{"https://registry.modelcontextprotocol.io:8443/x"}, lookup.CodeHostRefused, 1},
		{"plain http", []string{"http://registry.modelcontextprotocol.io/x"}, lookup.CodeHostRefused, 1},
		{"with a user", []string{"https://u:p@glama.ai/x"}, lookup.CodeHostRefused, 1},
		{"stranger in the middle", []string{"/a", "https://evil.example/", "https://glama.ai/x"}, lookup.CodeHostRefused, 2},
		{"local address", []string{"https://127.0.0.1/x"}, lookup.CodeHostRefused, 1},
		{"without end", []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"}, lookup.CodeIncomplete, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hop := 0
			rt := &transport{answer: func(*http.Request) (*http.Response, error) {
				if hop == len(tt.to) {
					return reply(200, oneEntry), nil
				}
				hop++
				return reply(302, "", "Location", tt.to[hop-1]), nil
			}}
			_, _, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
			if got := lookup.CodeOf(err); got != tt.want {
				t.Errorf("code %q, want %q: %v", got, tt.want, err)
			}
			if len(rt.seen) != tt.asks {
				t.Errorf("%d requests, want %d: %v", len(rt.seen), tt.asks, rt.addresses())
			}
			for _, r := range rt.seen {
				if got := r.Header.Get("Referer"); got != "" {
					t.Errorf("%s is told of %s", r.URL, got)
				}
			}
		})
	}
}

// TestNoCookies holds that the jar of a caller's client is not used.
func TestNoCookies(t *testing.T) {
	rt := &transport{answer: func(*http.Request) (*http.Response, error) {
		return reply(200, oneEntry, "Set-Cookie", "a=b; Path=/"), nil
	}}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: rt, Jar: jar}
	r := lookup.New(&lookup.Options{Client: client})
	for range 2 {
		if _, _, err := r.Resolve(t.Context(), "io.github.acme/notes"); err != nil {
			t.Fatal(err)
		}
	}
	if got := rt.seen[1].Header.Get("Cookie"); got != "" {
		t.Errorf("cookie %q", got)
	}
	if client.Jar != jar || client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		code    int
		headers []string
		want    lookup.Code
		reset   time.Time
	}{
		{"seconds", 429, []string{"Retry-After", "90"}, lookup.CodeRateLimited, now.Add(90 * time.Second)},
		{"date", 429, []string{"Retry-After", "Sun, 01 Mar 2026 13:00:00 GMT"}, lookup.CodeRateLimited, now.Add(time.Hour)},
		{"window", 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1772370000"}, lookup.CodeRateLimited, now.Add(time.Hour)},
		{"secondary limit", 403, []string{"Retry-After", "60", "X-RateLimit-Reset", "1772370000"}, lookup.CodeRateLimited, now.Add(time.Minute)},
		{"at once", 429, []string{"Retry-After", "0"}, lookup.CodeRateLimited, now},
		{"two days", 429, []string{"Retry-After", "172800"}, lookup.CodeRateLimited, now.Add(24 * time.Hour)},
		{"more than a day", 429, []string{"Retry-After", "86401"}, lookup.CodeRateLimited, now.Add(24 * time.Hour)},
		{"unsaid", 429, nil, lookup.CodeRateLimited, time.Time{}},
		{"nonsense", 429, []string{"Retry-After", "soon", "X-RateLimit-Reset", "-1"}, lookup.CodeRateLimited, time.Time{}},
		{"far away", 429, []string{"X-RateLimit-Reset", "99999999999"}, lookup.CodeRateLimited, now.Add(24 * time.Hour)},
		{"refused for another reason", 403, []string{"X-RateLimit-Remaining", "12"}, lookup.CodeIncomplete, time.Time{}},
		{"broken", 500, nil, lookup.CodeIncomplete, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := &transport{answer: func(*http.Request) (*http.Response, error) { return reply(tt.code, "", tt.headers...), nil }}
			_, _, err := resolver(rt, lookup.Options{Now: func() time.Time { return now }}).Resolve(t.Context(), "io.github.acme/notes")
			failure, ok := errors.AsType[*lookup.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if failure.Code != tt.want || !failure.Reset.Equal(tt.reset) {
				t.Errorf("code %q, reset %v, want %q, %v", failure.Code, failure.Reset, tt.want, tt.reset)
			}
			if !tt.reset.IsZero() && !strings.Contains(err.Error(), tt.reset.Format(time.RFC3339)) {
				t.Errorf("error %q does not say when", err)
			}
		})
	}
}

// TestPause holds that a source that wants a pause is not asked before its end.
func TestPause(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	limited := true
	rt := &transport{answer: func(*http.Request) (*http.Response, error) {
		if limited {
			return reply(429, "", "Retry-After", "60"), nil
		}
		return reply(200, oneEntry), nil
	}}
	r := resolver(rt, lookup.Options{Now: func() time.Time { return now }})
	for i, step := range []struct {
		after time.Duration
		asks  int
		want  lookup.Code
	}{{0, 1, lookup.CodeRateLimited}, {59 * time.Second, 1, lookup.CodeRateLimited}, {time.Second, 2, ""}} {
		now = now.Add(step.after)
		_, _, err := r.Resolve(t.Context(), "io.github.acme/notes")
		if got := lookup.CodeOf(err); got != step.want || len(rt.seen) != step.asks {
			t.Errorf("step %d: code %q after %d requests, want %q after %d", i, got, len(rt.seen), step.want, step.asks)
		}
		limited = false
	}
}

func TestConditionalRequests(t *testing.T) {
	tests := []struct {
		name           string
		sent, received [2]string // header and value
	}{
		{"etag", [2]string{"ETag", `"v1"`}, [2]string{"If-None-Match", `"v1"`}},
		{"date", [2]string{"Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT"}, [2]string{"If-Modified-Since", "Sun, 01 Mar 2026 12:00:00 GMT"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
				if r.Header.Get(tt.received[0]) == tt.received[1] {
					return reply(304, ""), nil
				}
				return reply(200, oneEntry, tt.sent[0], tt.sent[1]), nil
			}}
			r := resolver(rt, lookup.Options{})
			first, _, err := r.Resolve(t.Context(), "io.github.acme/notes")
			if err != nil {
				t.Fatal(err)
			}
			second, _, err := r.Resolve(t.Context(), "io.github.acme/notes")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first.Args, second.Args); diff != "" {
				t.Errorf("(-first +second)\n%s", diff)
			}
			if got := rt.seen[1].Header.Get(tt.received[0]); got != tt.received[1] {
				t.Errorf("second request: %s %q", tt.received[0], got)
			}
		})
	}
}

// TestMemory holds that the memory for answers is bounded: the oldest go.
func TestMemory(t *testing.T) {
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		return reply(200, strings.Replace(oneEntry, "io.github.acme/notes", strings.Split(strings.TrimPrefix(r.URL.Path, "/v0.1/servers/"), "/versions")[0], 1), "ETag", "v"), nil
	}}
	r := resolver(rt, lookup.Options{})
	for i := range 65 {
		if _, _, err := r.Resolve(t.Context(), fmt.Sprintf("io.github.acme/n%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		held bool
	}{{"n64", true}, {"n1", true}, {"n0", false}} {
		if _, _, err := r.Resolve(t.Context(), "io.github.acme/"+tt.name); err != nil {
			t.Fatal(err)
		}
		if held := rt.seen[len(rt.seen)-1].Header.Get("If-None-Match") != ""; held != tt.held {
			t.Errorf("%s held: %v, want %v", tt.name, held, tt.held)
		}
	}
}

// TestMemorySize holds that large answers push the oldest out before there are
// many.
func TestMemorySize(t *testing.T) {
	pad := strings.Repeat(" ", 1<<20-len(oneEntry)-100)
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v0.1/servers/"), "/versions")
		return reply(200, strings.Replace(oneEntry, "io.github.acme/notes", name, 1)+pad, "ETag", "v"), nil
	}}
	r := resolver(rt, lookup.Options{})
	for _, tt := range []struct {
		name string
		held bool
	}{{"a", false}, {"b", false}, {"c", false}, {"d", false}, {"a", true}, {"e", false}, {"b", false}, {"e", true}} {
		if _, _, err := r.Resolve(t.Context(), "io.github.acme/"+tt.name); err != nil {
			t.Fatal(err)
		}
		if held := rt.seen[len(rt.seen)-1].Header.Get("If-None-Match") != ""; held != tt.held {
			t.Errorf("%s held: %v, want %v", tt.name, held, tt.held)
		}
	}
}

func TestAnswerTooLarge(t *testing.T) {
	for _, tt := range []struct {
		max  int64
		want lookup.Code
	}{{int64(len(oneEntry)), ""}, {int64(len(oneEntry)) - 1, lookup.CodeTooLarge}} {
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return reply(200, oneEntry), nil }}
		_, _, err := resolver(rt, lookup.Options{MaxBytes: tt.max}).Resolve(t.Context(), "io.github.acme/notes")
		if got := lookup.CodeOf(err); got != tt.want {
			t.Errorf("at most %d bytes: code %q, want %q", tt.max, got, tt.want)
		}
	}
}

func TestTime(t *testing.T) {
	blocked := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	t.Run("its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, evidence, err := resolver(&transport{answer: blocked}, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
			if lookup.CodeOf(err) != lookup.CodeTimeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if got := time.Since(start); got != 30*time.Second {
				t.Errorf("took %v, want 30s", got)
			}
			if len(evidence) < 2 {
				t.Errorf("evidence %v", evidence)
			}
		})
	})
	t.Run("the caller's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _, err := resolver(&transport{answer: blocked}, lookup.Options{Timeout: time.Minute}).Resolve(ctx, "acme/notes")
			if lookup.CodeOf(err) != lookup.CodeTimeout {
				t.Errorf("error %v", err)
			}
		})
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := resolver(&transport{answer: blocked}, lookup.Options{Agent: scripted("never asked")}).Resolve(ctx, "acme/notes")
		if lookup.CodeOf(err) != lookup.CodeCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		broken := errors.New("connection reset")
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return nil, broken }}
		_, _, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
		if lookup.CodeOf(err) != lookup.CodeIncomplete || !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

// TestTooManyRequests holds that a source cannot make a lookup ask without end:
// a registry of many pages, and a repository whose README claims many names.
func TestTooManyRequests(t *testing.T) {
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/contents"):
			return reply(200, `[{"name": "package.json", "type": "file"}, {"name": "pyproject.toml", "type": "file"}, {"name": "server.json", "type": "file"},
				{"name": "manifest.json", "type": "file"}, {"name": ".vscode", "type": "dir"}, {"name": ".cursor", "type": "dir"}, {"name": "README.md", "type": "file"}]`), nil
		case r.URL.Host == "raw.githubusercontent.com":
			var b strings.Builder
			for i := range 100 {
				fmt.Fprintf(&b, "mcp-name: io.github.acme/n%d\n", i)
			}
			return reply(200, b.String()), nil
		case r.URL.Query().Has("search"):
			return reply(200, `{"servers": [], "metadata": {"nextCursor": "more"}}`), nil
		}
		return reply(404, ""), nil
	}}
	_, evidence, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "acme/notes")
	if got := lookup.CodeOf(err); got != lookup.CodeTooLarge {
		t.Errorf("code %q, want %q: %v", got, lookup.CodeTooLarge, err)
	}
	if n := len(rt.seen); n != 20 || len(evidence) > 40 {
		t.Errorf("%d requests, %d steps", n, len(evidence))
	}
}

func TestConcurrentUse(t *testing.T) {
	rt := &transport{answer: func(*http.Request) (*http.Response, error) { return reply(200, oneEntry, "ETag", "v"), nil }}
	r := resolver(rt, lookup.Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, _, err := r.Resolve(t.Context(), "io.github.acme/notes"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestNewPanics(t *testing.T) {
	for _, base := range []string{"registry.example", "ftp://registry.example", "https://", "https://u@registry.example", "https://registry.example?x=1", "https://registry.example#x", "%"} {
		t.Run(base, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, "base address 1") {
					t.Errorf("panic %q", got)
				}
			}()
			lookup.New(&lookup.Options{Registry: base})
		})
	}
}
