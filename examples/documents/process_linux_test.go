package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// childrenOf are the processes that a process has started, dead or alive.
func childrenOf(tb testing.TB, pid int) []string {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Fatal(err)
	}
	var children []string
	for _, e := range entries {
		if strings.Trim(e.Name(), "0123456789") != "" {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name of a process may have anything in it, so count from its end.
		_, rest, _ := strings.Cut(string(stat), ") ")
		if rest := strings.Fields(rest); len(rest) > 1 && rest[1] == strconv.Itoa(pid) {
			children = append(children, string(stat))
		}
	}
	return children
}

// The watch sees what it looks for: this test has a child.
func TestChildrenOf(t *testing.T) {
	t.Parallel()
	s := sampleProject(t).serve(t, structured)
	if children := childrenOf(t, os.Getpid()); len(children) == 0 {
		t.Error("a running child is not seen")
	}
	s.stop(t)
}

// residentKiB is how much memory a process holds.
func residentKiB(tb testing.TB, pid int) int {
	tb.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
