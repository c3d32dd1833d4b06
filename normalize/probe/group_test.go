//go:build unix

package probe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// running reports whether a process runs; one that has ended and that nobody
// has waited for does not.
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func TestTheWholeGroupEnds(t *testing.T) {
	t.Parallel()
	for _, manners := range []string{"polite", "stubborn"} {
		t.Run(manners, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			begin := time.Now()
			report, err := probe.Check(t.Context(), peer(t, "fork", file, manners), &probe.Options{Timeout: 6 * time.Second})
			took := time.Since(begin)
			if err != nil || len(report.Tools) != 1 {
				t.Fatalf("Check = %+v, %v", report, err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var server, grandchild int
			if _, err := fmt.Sscan(string(text), &server, &grandchild); err != nil {
				t.Fatal(err)
			}
			for _, pid := range []int{server, grandchild} {
				if running(pid) {
					t.Errorf("process %d of %s still runs", pid, text)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			t.Logf("all ended %v after the start", took.Round(time.Millisecond))
		})
	}
}

func TestManyProbesLeaveNothing(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skipf("the system does not list open files: %v", err)
		}
		return len(entries)
	}
	if _, err := probe.Check(t.Context(), peer(t, "legacy"), nil); err != nil {
		t.Fatal(err)
	}
	before := open()
	for _, launch := range []normalize.Launch{peer(t, "legacy"), peer(t, "dies"), peer(t, "garbage"), {Transport: normalize.Stdio, Command: "/no/such/program"}} {
		_, _ = probe.Check(t.Context(), launch, &probe.Options{Timeout: time.Second})
	}
	if after := open(); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}
