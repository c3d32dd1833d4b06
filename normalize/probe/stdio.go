package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxNoise and maxNoiseBytes bound what is skipped on stdout.
	maxNoise      = 64
	maxNoiseBytes = 64 << 10
	// noiseWait is how long a program that has written noise may take to its
	// first message.
	noiseWait = 10 * time.Second
	// maxFirst is how much of the first such line is remembered: enough that a
	// secret at its end is seen whole.
	maxFirst = 32 << 10
	// discoverWait is how long a program may leave server/discover unanswered
	// before it gets initialize.
	discoverWait = 10 * time.Second
)

// noise is what a program wrote to stdout that is no message.
type noise struct {
	lines, bytes int
	first        string
	spoke        bool // there was a message, too
}

// stdioTransport talks to a program line by line. Unlike the SDK's own it
// counts what it reads, and skips lines that are no messages, as most clients
// do: some programs greet.
type stdioTransport struct {
	probe *probe
	in    io.WriteCloser // of the program
	out   io.ReadCloser
	wait  time.Duration // for an answer to server/discover
	eof   atomic.Bool   // the program closed its side
	conn  *stdioConn    // set by Connect
}

// Connect starts to read.
func (t *stdioTransport) Connect(context.Context) (mcp.Connection, error) {
	t.conn = &stdioConn{stdioTransport: t, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), pumped: make(chan struct{})}
	go t.conn.pump()
	return t.conn, nil
}

// end closes the connection, if there is one, and waits for its reader.
func (t *stdioTransport) end() {
	if t.conn != nil {
		_ = t.conn.Close() // never fails
		<-t.conn.pumped
	}
}

// A stdioConn is the connection to one program.
type stdioConn struct {
	*stdioTransport
	messages chan jsonrpc.Message
	pumped   chan struct{} // closed when nothing more comes
	closed   chan struct{}
	once     sync.Once
	writing  sync.Mutex
}

// SessionID is part of [mcp.Connection]. A program has no sessions.
func (c *stdioConn) SessionID() string { return "" }

// Read gives the next message.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.messages:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
	case <-c.pumped:
	}
	return nil, io.EOF
}

// Write sends a message. It blocks while the program does not read, until the
// connection is closed.
func (c *stdioConn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if req, ok := m.(*jsonrpc.Request); ok && req.Method == "server/discover" {
		time.AfterFunc(c.wait, func() { c.giveUp(req.ID) })
	}
	c.probe.asked(m)
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err = c.in.Write(append(data, '\n')); err != nil {
		c.gone(err)
	}
	return err
}

// gone remembers that the program closed its side, unless this one was closed
// before.
func (c *stdioConn) gone(err error) {
	select {
	case <-c.closed:
	default:
		c.eof.CompareAndSwap(false, !errors.Is(err, os.ErrClosed) && !errors.Is(err, errTooLarge))
	}
}

// giveUp answers server/discover in place of a program that does not, so that
// the client goes on with initialize. If the program answers later, the client
// ignores that.
func (c *stdioConn) giveUp(id jsonrpc.ID) {
	c.deliver(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no answer"}})
}

// deliver hands a message to Read and reports whether there is still one.
func (c *stdioConn) deliver(m jsonrpc.Message) bool {
	select {
	case c.messages <- m:
		return true
	case <-c.closed:
		return false
	}
}

// pump reads lines until the program or the connection ends, or a limit is
// passed, which ends the probe.
func (c *stdioConn) pump() {
	defer close(c.pumped)
	lines := bufio.NewReaderSize(c.out, 64<<10)
	for {
		line, err := c.line(lines)
		if len(bytes.TrimSpace(line)) > 0 && !c.handle(line) {
			return
		}
		if err != nil {
			c.gone(err)
			return
		}
	}
}

// line reads up to the next line break. The last line may lack one.
func (c *stdioConn) line(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if !c.probe.take(len(part)) {
			return nil, errTooLarge
		}
		if len(line)+len(part) > maxMessage {
			c.probe.fail(c.probe.errorf(TooLarge, "the server sent a line of more than %d bytes", maxMessage))
			return nil, errTooLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// handle delivers the messages of a line and reports whether to go on.
func (c *stdioConn) handle(line []byte) bool {
	messages, err := decode(line)
	if err != nil {
		return !c.probe.tooDeep(line) && c.probe.skip(line)
	}
	c.probe.spoke()
	for _, m := range messages {
		c.probe.heard(m)
		// No notification matters to a probe, and some servers send very many.
		if req, ok := m.(*jsonrpc.Request); ok && !req.IsCall() {
			continue
		}
		if !c.deliver(m) {
			return false
		}
	}
	return true
}

// decode reads one message or, as protocol 2025-03-26 allows, a list of them.
func decode(line []byte) ([]jsonrpc.Message, error) {
	// Also what is nested without end is refused here, before anything descends
	// into it.
	if !json.Valid(line) {
		return nil, errors.New("no JSON")
	}
	raws := []json.RawMessage{line}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		if err := json.Unmarshal(line, &raws); err != nil {
			return nil, err
		}
	}
	messages := make([]jsonrpc.Message, 0, len(raws))
	for _, raw := range raws {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// Close closes both streams, which also ends a Read and a Write that wait.
func (c *stdioConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		_ = c.in.Close() // closing is how the program learns of the end; there is nothing to do if that fails
		_ = c.out.Close()
	})
	return nil
}
