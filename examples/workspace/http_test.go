package main

import (
	"bufio"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// listen starts a child process that serves HTTP, and returns its URL. Call stop
// when all is well; a test that fails before kills the process.
func listen(t *testing.T, args ...string) (s *server, url string, stop func()) {
	t.Helper()
	s = &server{cmd: command(t, append([]string{"-http", "127.0.0.1:0"}, args...)...)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if !ok || err != nil {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := io.WriteString(&s.stderr, line); err != nil {
		t.Fatal(err)
	}
	return s, url, func() {
		t.Helper()
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(&s.stderr, lines); err != nil {
			t.Error(err)
		}
		s.end(t)
	}
}

// TestServeHTTP makes the calls of TestServe over HTTP: all clients use one process,
// and SIGTERM ends it in good order while their sessions are open.
func TestServeHTTP(t *testing.T) {
	dir := sampleWorkspace(t)
	child, url, stop := listen(t, "-root", dir)
	eachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		s := &server{cmd: child.cmd, Peer: peer.NewHTTP(t.Context(), url, id)}
		var err error
		if s.hello, err = s.Start(); err != nil {
			t.Fatal(err)
		}
		s.checkIdentity(t)
		s.checkToolList(t)
		s.checkTools(t, id)
		s.checkStale(t, dir)
	})
	stop()
}
