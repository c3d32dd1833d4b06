package wiretest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a link over which each message is one line.
type lines struct {
	w io.Writer
	r *bufio.Reader
}

func (l *lines) exchange(message []byte, got func([]byte) bool) error {
	if _, err := l.w.Write(append(message, '\n')); err != nil {
		return err
	}
	for got != nil {
		line, err := l.r.ReadBytes('\n')
		if err != nil {
			return err
		}
		if !got(line) {
			return nil
		}
	}
	return nil
}

// inside runs server for as long as the test.
func inside(tb testing.TB, server *mcp.Server) link {
	tb.Helper()
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	ctx := context.WithoutCancel(tb.Context())
	go func() { ended <- server.Run(ctx, &mcp.IOTransport{Reader: serverIn, Writer: serverOut}) }()
	tb.Cleanup(func() {
		_ = clientOut.Close()
		go func() { _, _ = io.Copy(io.Discard, clientIn) }() // what nobody waited for
		err := <-ended
		_ = serverOut.Close()
		if err != nil {
			tb.Errorf("server ended with %v", err)
		}
	})
	return &lines{clientOut, bufio.NewReader(clientIn)}
}

// Start starts a process that serves its standard input and output, and connects to it. The test ends it by closing its
// input; how it ends is for the caller to check, who may kill it before.
func Start(tb testing.TB, cmd *exec.Cmd, era Era, client *Client) *Peer {
	tb.Helper()
	// A program with the race detector sleeps for a second before it ends.
	cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	return begin(tb, &lines{in, bufio.NewReader(out)}, era, client)
}

// posts is a link over which each message is a request of HTTP.
type posts struct {
	ctx     context.Context //nolint:containedctx // of the test, whose link this is
	url     string
	session string // of a handshake peer, once it has one
}

// Connect connects to a server at a URL.
func Connect(tb testing.TB, url string, era Era, client *Client) *Peer {
	tb.Helper()
	return begin(tb, &posts{ctx: tb.Context(), url: url}, era, client)
}

// maxEvent is the most bytes of one message in a stream.
const maxEvent = 4 << 20

func (l *posts) exchange(message []byte, got func([]byte) bool) error {
	req, err := l.request(message)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // what was needed is read
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		l.session = id
	}
	if got == nil {
		if resp.StatusCode != http.StatusAccepted {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err == nil && got(body) {
			err = io.ErrUnexpectedEOF
		}
		return err
	case "text/event-stream":
		return readEvents(resp.Body, got)
	}
	return fmt.Errorf("status %s, type %q", resp.Status, kind)
}

// readEvents hands over the messages of a stream.
func readEvents(r io.Reader, got func([]byte) bool) error {
	events := bufio.NewScanner(r)
	events.Buffer(nil, maxEvent)
	for events.Scan() {
		if data, ok := bytes.CutPrefix(events.Bytes(), []byte("data: ")); ok && !got(data) {
			return nil
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// request makes the request for a message, with the headers that its protocol version asks for.
func (l *posts) request(message []byte) (*http.Request, error) {
	var m struct {
		Method string
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
			Name string
			URI  string
		}
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(l.ctx, http.MethodPost, l.url, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if raw, ok := m.Params.Meta[mcp.MetaKeyProtocolVersion]; ok {
		req.Header.Set("Mcp-Protocol-Version", strings.Trim(string(raw), `"`))
		req.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	} else if m.Method != "initialize" {
		req.Header.Set("Mcp-Protocol-Version", handshakeVersion)
		req.Header.Set("Mcp-Session-Id", l.session)
	}
	return req, nil
}
