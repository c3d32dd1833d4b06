//go:build chromium

// The tests of this file drive a real browser: see testdata/chromium.sh.

package review_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

var shots = flag.String("shots", "", "write screenshots to this directory")

// A browser is one Chromium, spoken to over a pipe. Everything it asks of the
// network goes to a proxy that serves one page and counts the rest.
type browser struct {
	t     *testing.T
	in    *os.File
	proxy *proxy

	mu      sync.Mutex
	next    int
	replies map[int]chan message
	events  []message
	session string
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct{ Message string }
}

// A proxy answers host page.test with a page and everything else with nothing.
type proxy struct {
	mu       sync.Mutex
	page     []byte
	requests []string
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Host == "page.test" && r.URL.Path == "/" {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(p.page)
		return
	}
	p.requests = append(p.requests, r.Method+" "+r.Host+r.URL.Path)
	http.Error(w, "nothing here", http.StatusNotFound)
}

// seen returns the requests that a page can have caused: to the hosts of the
// payloads and to its own.
func (p *proxy) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(s string) bool {
		return !strings.Contains(s, ".example") && !strings.Contains(s, "page.test")
	})
}

func start(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: pages are not opened in a browser")
	}
	b := &browser{t: t, replies: map[int]chan message{}, proxy: &proxy{}}
	server := httptest.NewServer(b.proxy)
	t.Cleanup(server.Close)
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b.in = in
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe",
		"--proxy-server="+server.URL, "--proxy-bypass-list=<-loopback>", "about:blank")
	cmd.ExtraFiles = []*os.File{childIn, childOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = childIn.Close(), childOut.Close()
	go b.read(out)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its helpers too
		_ = cmd.Wait()
		_ = in.Close()
	})
	b.attach()
	return b
}

// read takes messages apart until the browser ends.
func (b *browser) read(out *os.File) {
	defer out.Close()
	r := bufio.NewReader(out)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.ID != 0 {
			b.replies[m.ID] <- m
			delete(b.replies, m.ID)
		} else {
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
	}
}

// call sends a command and decodes its result into out, if that is given.
func (b *browser) call(method string, params map[string]any, out any) {
	b.t.Helper()
	b.mu.Lock()
	b.next++
	reply := make(chan message, 1)
	b.replies[b.next] = reply
	raw, err := json.Marshal(map[string]any{"id": b.next, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		raw, err = json.Marshal(map[string]any{"id": b.next, "method": method, "params": params})
	}
	b.mu.Unlock()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		b.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer stop()
	select {
	case m := <-reply:
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if out != nil {
			if err := json.Unmarshal(m.Result, out); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-ctx.Done():
		b.t.Fatalf("%s: no reply", method)
	}
}

func (b *browser) attach() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.call("Target.setDiscoverTargets", map[string]any{"discover": true}, nil)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Accessibility"} {
		b.call(domain+".enable", nil, nil)
	}
}

// open loads an address and waits until whatever it starts has had its time.
func (b *browser) open(url string) {
	b.t.Helper()
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait("Page.loadEventFired")
	b.settle()
}

// settle lets half a second pass in the browser: a refresh at once and its
// requests need less.
func (b *browser) settle() {
	b.eval(`new Promise(done => setTimeout(done, 500))`, nil)
}

func (b *browser) wait(method string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); len(b.named(method)) == 0; {
		if time.Now().After(deadline) {
			b.t.Fatalf("no %s", method)
		}
		time.Sleep(20 * time.Millisecond) // a browser has its own clock
	}
}

// named returns the events of a name since the last open.
func (b *browser) named(method string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, m := range b.events {
		if m.Method == method {
			out = append(out, string(m.Params))
		}
	}
	return out
}

func (b *browser) eval(script string, out any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, r.ExceptionDetails)
	}
	if out != nil {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			b.t.Fatalf("%s: %v in %s", script, err, r.Result.Value)
		}
	}
}

// unsafePage shows that the counting works: the payloads as they are.
func unsafePage() []byte {
	page := "<!DOCTYPE html><title>control</title>"
	for _, name := range []string{"image handler", "style element", "link element", "iframe", "script"} {
		page += payloads()[name]
	}
	return []byte(page + `<img src=https://attacker.example/control.png><meta http-equiv=refresh content="0;url=http://attacker.example/refresh">`)
}

// addresses returns where b can open the page: as a file, and over HTTP.
func (b *browser) addresses(page []byte) map[string]string {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.proxy.mu.Lock()
	b.proxy.page, b.proxy.requests = page, nil
	b.proxy.mu.Unlock()
	return map[string]string{"file": "file://" + file, "http": "http://page.test/"}
}

// TestChromiumInert opens hostile pages, clicks on everything in them, and wants
// no request, no dialog, no navigation and no complaint about the policy.
func TestChromiumInert(t *testing.T) {
	b := start(t)
	for _, renderer := range review.Renderers() {
		for how, url := range b.addresses(render(t, renderer, hostileModel())) {
			t.Run(renderer+" by "+how, func(t *testing.T) {
				b.t = t
				b.open(url)
				b.eval(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil)
				b.eval(`document.querySelectorAll('body *:not(summary, a)').forEach(e => e.click())`, nil)
				b.settle()
				if got := b.proxy.seen(); len(got) > 0 {
					t.Errorf("requests: %q", got)
				}
				if got := b.named("Network.requestWillBeSent"); len(got) != 1 {
					t.Errorf("the browser sent %d requests, want 1 for the page: %q", len(got), got)
				}
				for _, event := range []string{"Page.javascriptDialogOpening", "Page.windowOpen", "Page.frameRequestedNavigation", "Page.downloadWillBegin", "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"} {
					if got := b.named(event); len(got) > 0 {
						t.Errorf("%s: %q", event, got)
					}
				}
				if got := b.named("Page.frameNavigated"); len(got) != 1 {
					t.Errorf("%d navigations, want 1: %q", len(got), got)
				}
				var at string
				b.eval(`location.href.split('#')[0]`, &at)
				if at != url {
					t.Errorf("the browser is at %q", at)
				}
			})
		}
	}
}

func TestChromiumControl(t *testing.T) {
	b := start(t)
	url := b.addresses(unsafePage())["file"]
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait("Page.javascriptDialogOpening")
	b.call("Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil)
	for deadline := time.Now().Add(10 * time.Second); len(b.proxy.seen()) < 3; {
		if time.Now().After(deadline) {
			t.Fatalf("the proxy saw %q of a page that loads much", b.proxy.seen())
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("without our renderer: a dialog and %d requests", len(b.proxy.seen()))
}

// view sets the width and the theme.
func (b *browser) view(width int, theme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": theme}}}, nil)
}

func (b *browser) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	var size struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	b.call("Page.getLayoutMetrics", nil, &size)
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": map[string]any{
		"x": 0, "y": 0, "width": size.CSSContentSize.Width, "height": min(size.CSSContentSize.Height, 5000), "scale": 1,
	}}, &shot)
	raw, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestChromiumLayout opens pages at both widths and in both themes: nothing makes
// the page scroll sideways.
func TestChromiumLayout(t *testing.T) {
	b := start(t)
	pages := map[string]*review.Model{"sample": sample(), "hostile": hostileModel()}
	themes := map[string]int{"sample": 2, "hostile": 1}
	for name, m := range pages {
		for _, renderer := range review.Renderers() {
			url := b.addresses(render(t, renderer, m))["file"]
			b.open(url)
			for _, width := range []int{400, 1600} {
				for _, theme := range []string{"light", "dark"}[:themes[name]] {
					b.view(width, theme)
					for _, open := range []bool{false, true} {
						if open {
							b.eval(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil)
						}
						var over int
						b.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &over)
						if over > 0 {
							t.Errorf("%s %s at %d px: %d px too wide", name, renderer, width, over)
						}
						b.shoot(fmt.Sprintf("%s-%s-%d-%s-open=%v", name, renderer, width, theme, open))
					}
					b.eval(`document.querySelectorAll('details').forEach(d => d.open = d.matches('summary + *, article > details:first-of-type'))`, nil)
				}
			}
		}
	}
}

// TestChromiumCopy selects a diff and wants its text without numbers and signs.
func TestChromiumCopy(t *testing.T) {
	b := start(t)
	b.open(b.addresses(render(t, "review", sample()))["file"])
	var got string
	b.eval(`(() => { const s = getSelection(), c = document.querySelector('h4 + table.unified').querySelectorAll('td.text');
		s.setBaseAndExtent(c[0], 0, c[c.length - 1], c[c.length - 1].childNodes.length); return s.toString() })()`, &got)
	for line := range strings.Lines(got) {
		if strings.ContainsAny(line[:1], "+-\t0123456789") && line != "\n" {
			t.Errorf("copied line %q has more than the text", line)
		}
	}
	t.Logf("copied: %q", got)
}

type axNode struct {
	Ignored    bool
	Role, Name struct{ Value any }
	Properties []struct {
		Name  string
		Value struct{ Value any }
	}
}

// TestChromiumAccessible reads the accessibility tree as a screen reader gets it.
func TestChromiumAccessible(t *testing.T) {
	b := start(t)
	for _, renderer := range review.Renderers() {
		b.open(b.addresses(render(t, renderer, sample()))["file"])
		b.eval(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil)
		var tree struct{ Nodes []axNode }
		b.call("Accessibility.getFullAXTree", nil, &tree)
		roles := map[string]int{}
		level := 0
		for _, n := range tree.Nodes {
			role, _ := n.Role.Value.(string)
			name, _ := n.Name.Value.(string)
			if n.Ignored {
				continue
			}
			roles[role]++
			if slices.Contains([]string{"link", "heading", "region", "navigation", "DisclosureTriangle", "columnheader", "rowheader"}, role) && strings.TrimSpace(name) == "" {
				t.Errorf("%s: a %s has no name", renderer, role)
			}
			for _, p := range n.Properties {
				if v, ok := p.Value.Value.(float64); ok && p.Name == "level" && role == "heading" {
					if int(v) > level+1 {
						t.Errorf("%s: heading %q of level %v follows one of level %d", renderer, name, v, level)
					}
					level = int(v)
				}
			}
		}
		for role, want := range map[string]int{"banner": 1, "main": 1, "navigation": 1, "contentinfo": 1} {
			if roles[role] != want {
				t.Errorf("%s: %d nodes of role %s, want %d", renderer, roles[role], role, want)
			}
		}
		if renderer == "review" {
			for _, role := range []string{"insertion", "deletion", "mark", "rowheader", "columnheader", "table", "article", "DisclosureTriangle"} {
				if roles[role] == 0 {
					t.Errorf("no node of role %s", role)
				}
			}
		}
		for _, role := range slices.Sorted(maps.Keys(roles)) {
			t.Logf("%s: %3d %s", renderer, roles[role], role)
		}
	}
}
