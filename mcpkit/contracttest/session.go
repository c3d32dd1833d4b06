package contracttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine   = 32 << 20 // of a reply
	maxStderr = 64 << 10
)

var (
	errNoReply = errors.New("no reply")
	errDied    = errors.New("the server ended")
)

// session is a client that writes and reads lines of JSON, so that it sees
// what a server sends and not what an SDK makes of it.
type session struct {
	in      io.WriteCloser
	lines   <-chan []byte // closed when the server ends
	stderr  *tail
	stop    func() // ends the server and waits for it
	timeout time.Duration
	id      int
}

// reply is one JSON-RPC response. raw is the whole line.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	raw []byte
}

// startChild starts this test program again, to serve in the test of that name.
// The child ends in the middle of that test and cleans nothing up, so what it
// makes goes below temp.
func startChild(test, temp string, timeout time.Duration) (*session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	cmd := exec.Command(self, "-test.run="+strings.Join(parts, "/")) //nolint:noctx // session.stop ends it
	cmd.Env = append(os.Environ(), childEnv+"="+test, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	if _, set := os.LookupEnv("GORACE"); !set {
		// A program with the race detector sleeps for a second before it ends.
		cmd.Env = append(cmd.Env, "GORACE=atexit_sleep_ms=0")
	}
	s := &session{stderr: new(tail), timeout: timeout}
	cmd.Stderr = s.stderr
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines, read := readLines(out)
	s.lines = lines
	s.stop = sync.OnceFunc(func() {
		_ = s.in.Close()
		kill := time.AfterFunc(timeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		<-read
		_ = cmd.Wait() // its exit code says no more than the closed output did
	})
	return s, nil
}

// startInside serves in this process, over pipes.
func startInside(ctx context.Context, server *mcp.Server, timeout time.Duration) *session {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := server.Run(ctx, &mcp.IOTransport{Reader: fromClient, Writer: toClient})
		toClient.CloseWithError(err)
		fromClient.Close()
	}()
	lines, read := readLines(fromServer)
	stop := sync.OnceFunc(func() {
		toServer.Close()
		cancel()
		<-done
		fromServer.Close()
		<-read
	})
	return &session{in: toServer, lines: lines, stderr: new(tail), stop: stop, timeout: timeout}
}

// readLines sends each line of r. Both channels are closed at its end; unread
// lines are dropped when there are too many of them.
func readLines(r io.Reader) (<-chan []byte, <-chan struct{}) {
	lines, done := make(chan []byte, 1024), make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		sc := bufio.NewScanner(r)
		sc.Buffer(nil, maxLine)
		for sc.Scan() {
			select {
			case lines <- bytes.Clone(sc.Bytes()):
			default:
			}
		}
	}()
	return lines, done
}

// request sends one request and returns its reply. The error is errNoReply,
// errDied, or about a line that is no JSON.
func (s *session) request(method string, params any) (reply, error) {
	s.id++
	id := fmt.Sprint(s.id)
	sent := make(chan error, 1)
	go func() {
		sent <- s.send(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	}()
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return reply{}, errNoReply
		case err := <-sent:
			if err != nil {
				return reply{}, errDied
			}
			sent = nil
		case line, ok := <-s.lines:
			if !ok {
				return reply{}, errDied
			}
			r := reply{raw: line}
			if err := json.Unmarshal(line, &r); err != nil {
				return r, fmt.Errorf("a line that is not JSON-RPC: %v", err)
			}
			switch {
			case r.Method == "" && string(r.ID) == id:
				return r, nil
			case r.Method != "" && r.ID != nil:
				s.refuse(r.ID)
			}
		}
	}
}

// refuse answers a request of the server, whatever it asks for.
func (s *session) refuse(id json.RawMessage) {
	_ = s.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32601, "message": "this client answers nothing"}})
}

func (s *session) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(line, '\n'))
	return err
}

// tail keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - maxStderr; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
