package probe_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// failure is what of an error a client sees, apart from its text.
type failure struct {
	Code  probe.Code
	Phase probe.Phase
}

// check probes a peer that fails, and gives the error.
func check(t *testing.T, opts *probe.Options, kind string, args ...string) *probe.Error {
	t.Helper()
	report, err := probe.Check(t.Context(), peer(t, kind, args...), opts)
	e, ok := errors.AsType[*probe.Error](err)
	if !ok {
		t.Fatalf("Check = %+v, %v; want an *Error", report, err)
	}
	return e
}

func TestHostilePrograms(t *testing.T) {
	t.Parallel()
	second := &probe.Options{Timeout: time.Second}
	long := &probe.Options{Timeout: 20 * time.Second}
	tests := []struct {
		name    string
		opts    *probe.Options
		peer    []string
		want    failure
		message string // a part of it
		stderr  string // its end
	}{
		{"never answers", second, []string{"silent"}, failure{probe.Timeout, probe.Handshake}, "did not finish within 1s", ""},
		{"garbage", second, []string{"garbage"}, failure{probe.Failed, probe.Handshake}, `no MCP message: "what? <html>"`, ""},
		{"garbage without end", long, []string{"babbles", "65", "what?"}, failure{probe.Failed, probe.Handshake}, `no MCP message: "what?"`, ""},
		{"much garbage", long, []string{"babbles", "2", strings.Repeat("what? ", 7000)}, failure{probe.Failed, probe.Handshake}, `no MCP message: "what? what?`, ""},
		{"a gigabyte", &probe.Options{MaxBytes: 1 << 20}, []string{"huge"}, failure{probe.TooLarge, probe.Handshake}, "more than 1048576 bytes", ""},
		{"an endless line", long, []string{"endless-line"}, failure{probe.TooLarge, probe.Handshake}, "a line of more than 4194304 bytes", ""},
		{"small limit", &probe.Options{MaxBytes: 64}, []string{"legacy"}, failure{probe.TooLarge, probe.Handshake}, "more than 64 bytes", ""},
		{"dies at once", long, []string{"dies"}, failure{probe.Failed, probe.Handshake}, "ended (exit status 3)", "cannot open the orchard"},
		{"closes stdout", long, []string{"closes"}, failure{probe.Failed, probe.Handshake}, "closed its stdout", ""},
		{"refuses", long, []string{"refuses"}, failure{probe.Failed, probe.Handshake}, `error -32001: "no:"`, ""},
		{"the same cursor again", long, []string{"pages", "same"}, failure{probe.Failed, probe.ListTools}, "cursor of an earlier one", ""},
		{"pages without end", long, []string{"pages", "new"}, failure{probe.TooLarge, probe.ListTools}, "more than 200 pages", ""},
		{"tools without end", long, []string{"pages", "tools"}, failure{probe.TooLarge, probe.ListTools}, "more than 2000 tools", ""},
		{"few tools allowed", &probe.Options{MaxTools: 2}, []string{"sdk"}, failure{probe.TooLarge, probe.ListTools}, "more than 2 tools", ""},
		{"a deep answer", long, []string{"deep", "1000"}, failure{probe.Failed, probe.ListTools}, "nested more than 1000 levels deep", ""},
		{"a very deep answer", long, []string{"deep", "200000"}, failure{probe.Failed, probe.ListTools}, "nested more than 1000 levels deep", ""},
		{"100 MB on stderr", long, []string{"noisy-stderr", "die"}, failure{probe.Failed, probe.Handshake}, "ended (exit status 1)", "loud tonight\nlast words"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := check(t, test.opts, test.peer[0], test.peer[1:]...)
			if diff := cmp.Diff(test.want, failure{e.Code, e.Phase}); diff != "" {
				t.Errorf("error %v (-want +got):\n%s", e, diff)
			}
			if !strings.Contains(e.Message, test.message) {
				t.Errorf("message %q lacks %q", e.Message, test.message)
			}
			if !strings.HasSuffix(e.Stderr, test.stderr) || len(e.Stderr) > 8<<10 {
				t.Errorf("stderr of %d bytes %q does not end in %q", len(e.Stderr), e.Stderr, test.stderr)
			}
		})
	}
}

func TestTimeoutIsADeadline(t *testing.T) {
	begin := time.Now()
	e := check(t, &probe.Options{Timeout: 400 * time.Millisecond}, "silent")
	if took := time.Since(begin); took > 20*time.Second { // without a deadline it is 30 s
		t.Errorf("a probe of 400 ms took %v", took)
	}
	if !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("%v is no deadline", e)
	}
}

func TestCanceledContextComesBackAsItIs(t *testing.T) {
	t.Parallel()
	for _, when := range []time.Duration{0, 100 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		if when == 0 {
			cancel()
		}
		stop := time.AfterFunc(when, cancel)
		_, err := probe.Check(ctx, peer(t, "silent"), nil)
		stop.Stop()
		if err != context.Canceled { //nolint:errorlint // as it is, not wrapped
			t.Errorf("canceled after %v: %v", when, err)
		}
		cancel()
	}
}

func TestMuchOnStderrIsNoFailure(t *testing.T) {
	t.Parallel()
	report, err := probe.Check(t.Context(), peer(t, "noisy-stderr"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"stew"}, report.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestDeadlineOfTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := probe.Check(ctx, peer(t, "silent"), nil)
	if probe.CodeOf(err) != probe.Timeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begin); took > 20*time.Second { // without a deadline it is 30 s
		t.Errorf("a probe of 400 ms took %v", took)
	}
}

// TestNoTimeIsLeft has no time to start anything.
func TestNoTimeIsLeft(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := probe.Check(ctx, peer(t, "marks", ran), nil)
	if probe.CodeOf(err) != probe.Timeout || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "over before") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the program was started: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	e := &probe.Error{Code: probe.Failed, Server: "pear", Phase: probe.Handshake, Message: "it does not ripen", Stderr: strings.Repeat("ä", 600) + "\nno sun"}
	want := `probe of "pear", handshake: it does not ripen; stderr: "...` + strings.Repeat("ä", 508) + `\nno sun"`
	if diff := cmp.Diff(want, e.Error()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if e.ErrorCode() != "probe_failed" || probe.CodeOf(e) != probe.Failed || probe.CodeOf(context.Canceled) != "" || e.Unwrap() != nil {
		t.Errorf("code %q", e.ErrorCode())
	}
}

// TestNoGoroutineIsLeft probes all kinds of servers and waits a little for what
// is on its way out.
func TestNoGoroutineIsLeft(t *testing.T) {
	url := start(t, http.NotFoundHandler())
	before := runtime.NumGoroutine()
	for _, kind := range []string{"sdk", "legacy", "dies", "garbage", "silent", "closes", "no-discover", "asks"} {
		_, _ = probe.Check(t.Context(), peer(t, kind), &probe.Options{Timeout: 300 * time.Millisecond})
	}
	_, _ = probe.Check(t.Context(), remote(normalize.HTTP, url), nil)
	_, _ = probe.Check(t.Context(), remote(normalize.SSE, url), nil)
	deadline := time.Now().Add(20 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", after, before, stacks[:runtime.Stack(stacks, true)])
	}
}

// TestMemory runs a probe in a process of its own, which tells how much memory
// it has ever taken.
func TestMemory(t *testing.T) {
	const limit = 96 << 20
	for _, kind := range []string{"huge", "endless-line", "noisy-stderr"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], kind)
			cmd.Env = append(os.Environ(), peerVar+"=probe")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var taken int
			if _, err := fmt.Sscan(string(out), &taken); err != nil || taken == 0 || taken > limit {
				t.Errorf("the probe took %d MiB (%v): %s", taken>>20, err, out)
			}
			t.Logf("%d MiB", taken>>20)
		})
	}
}
