// Package clitest runs the commands of the reference servers as real processes:
// the test binary starts itself and then behaves as the command.
//
//	func TestMain(m *testing.M) {
//		clitest.Main(m, func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
//	}
//
//	func TestServe(t *testing.T) {
//		s := clitest.Start(t, peer.Identity{Name: "Zed", Version: "0.1"}, "-root", dir)
//		...
//		s.End(t)
//	}
//
// # Concurrency
//
// A [Server] is not safe for concurrent use; the functions are.
package clitest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// asCommand makes the test binary behave as the command.
const asCommand = "EXAMPLE_TEST_AS_COMMAND"

// Main runs the command where the process is to behave as it, and the tests
// elsewhere. It ends the process.
func Main(m *testing.M, command func(ctx context.Context) error) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(command))
	}
	os.Exit(m.Run())
}

// Command is the command with args, not started yet. It ends with the test.
func Command(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), exe, args...)
	// A program with the race detector sleeps for a second before it ends.
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// Output runs the command to its end and returns what it wrote and its exit
// code.
func Output(tb testing.TB, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	cmd := Command(tb, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// Server is a process that serves stdio, with a client.
type Server struct {
	*peer.Peer
	// Cmd is the process; Hello is how it introduced itself.
	Cmd   *exec.Cmd
	Hello peer.Reply

	stdin  io.Closer
	stderr lockedText
}

// lockedText is what a process has written so far, which a test may read while
// it runs.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Start starts the command as a server and introduces the client.
func Start(tb testing.TB, id peer.Identity, args ...string) *Server {
	tb.Helper()
	s := &Server{Cmd: Command(tb, args...)}
	stdin, err := s.Cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := s.Cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	s.Cmd.Stderr, s.stdin = &s.stderr, stdin
	if err := s.Cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s.Peer = peer.New(stdin, stdout, id)
	if s.Hello, err = s.Start(); err != nil {
		tb.Fatalf("%v; stderr: %s", err, s.Stderr())
	}
	return s
}

// Listen starts the command as a server on a port of this machine, by the flag
// -http, and returns its URL. Connect clients with [Dial] and end it with
// [Server.Stop].
func Listen(tb testing.TB, args ...string) (s *Server, url string) {
	tb.Helper()
	s = &Server{Cmd: Command(tb, append([]string{"-http", "127.0.0.1:0"}, args...)...)}
	r, w := io.Pipe()
	s.Cmd.Stderr = w
	if err := s.Cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if !ok || err != nil {
		tb.Fatalf("got %q, %v", line, err)
	}
	_, _ = io.WriteString(&s.stderr, line) // never fails
	go func() { _, _ = io.Copy(&s.stderr, lines) }()
	tb.Cleanup(func() { _ = w.Close() })
	return s, url
}

// Dial introduces another client to a server at a URL.
func (s *Server) Dial(tb testing.TB, url string, id peer.Identity) *Server {
	tb.Helper()
	c := &Server{Cmd: s.Cmd, Peer: peer.NewHTTP(tb.Context(), url, id)}
	var err error
	if c.Hello, err = c.Start(); err != nil {
		tb.Fatalf("%v; stderr: %s", err, s.Stderr())
	}
	return c
}

// Stop ends a server of [Listen], which has to end in good order.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Error(err)
	}
	s.End(tb)
}

// Stderr is what the process has written to its error stream so far.
func (s *Server) Stderr() string {
	s.stderr.mu.Lock()
	defer s.stderr.mu.Unlock()
	return s.stderr.text.String()
}

// Close closes the input of the process, which ends it.
func (s *Server) Close() { _ = s.stdin.Close() }

// End waits for a process that was told to end, and wants nothing on its error
// stream but what it serves.
func (s *Server) End(tb testing.TB) {
	tb.Helper()
	err := s.Cmd.Wait()
	said := s.Stderr()
	if err != nil || !strings.HasPrefix(said, "serving ") || strings.Count(said, "\n") != 1 {
		tb.Errorf("ended with %v; stderr: %s", err, said)
	}
}

// EachEra runs a test as a reader of structured results and one of text, in both
// eras of the protocol.
func EachEra(t *testing.T, test func(t *testing.T, id peer.Identity)) {
	t.Helper()
	for _, id := range []peer.Identity{
		{Name: "claude-code", Version: "2.1.332"},
		{Name: "claude-code", Version: "2.1.332", PerRequest: true},
		{Name: "Zed", Version: "0.210.0"},
		{Name: "Zed", Version: "0.210.0", PerRequest: true},
	} {
		t.Run(fmt.Sprintf("%s, per request %v", id.Name, id.PerRequest), func(t *testing.T) { test(t, id) })
	}
}
