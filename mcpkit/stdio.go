package mcpkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxStdioLine is the longest message, as in the SDK's own transport.
const maxStdioLine = mcp.DefaultMaxLineLength

// StdioTransport serves one client over lines of standard input and output.
// Unlike [mcp.StdioTransport] it outlives a line that is no message: one that
// is not JSON, is nested too deep, is longer than 16 MiB, is a batch, or has an
// id that the SDK would not give back, such as a number beyond 2^53. Such a
// line is answered with the protocol's error -32700 or -32600, under the id of
// the request where one can be read, and calls under way go on.
//
// When the input ends, the calls that were read before are answered first, within
// 30 seconds, and then the session ends; a call that waits for an answer of the
// client is given up.
//
// The zero value is ready to use. A StdioTransport serves one session.
type StdioTransport struct {
	// Reader and Writer take the place of standard input and output. Both are
	// closed with the session. Nil means the standard ones, which stay open.
	Reader io.ReadCloser
	Writer io.WriteCloser
}

// Connect implements [mcp.Transport].
func (t *StdioTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lineWriter{w: t.Writer}
	if t.Writer == nil {
		out.w = keepOpen{os.Stdout}
	}
	in := &lineReader{r: t.Reader, out: out}
	if t.Reader == nil {
		in.r = os.Stdin
	}
	in.lines = bufio.NewReaderSize(in.r, 64<<10)
	conn, err := (&mcp.IOTransport{Reader: in, Writer: out}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return newDrained(conn), nil
}

// keepOpen is a writer that a session must not close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// lineWriter writes each message whole, whoever it comes from.
type lineWriter struct {
	mu sync.Mutex
	w  io.WriteCloser
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func (w *lineWriter) Close() error { return w.w.Close() }

// lineReader passes on the lines that the SDK can read, and answers the others.
type lineReader struct {
	r     io.ReadCloser
	lines *bufio.Reader
	out   *lineWriter
	left  []byte // of the present line
}

func (r *lineReader) Close() error { return r.r.Close() }

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		line, err := r.line()
		if err != nil && len(bytes.TrimSpace(line)) == 0 {
			return 0, err
		}
		if refused := refusal(line); refused != nil {
			if err := r.refuse(line, refused); err != nil {
				return 0, err
			}
			continue
		}
		r.left = line
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// line reads one line. Of one that is too long it keeps the beginning, one byte
// more than allowed.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxStdioLine+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// refusal says why the SDK would end the session for a line, or nil.
func refusal(line []byte) *jsonrpc.Error {
	trimmed := bytes.TrimSpace(line)
	switch {
	case len(line) > maxStdioLine:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is longer than 16 MiB"}
	case len(trimmed) == 0:
		return nil
	case trimmed[0] == '[':
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not served: send one message a line"}
	case !json.Valid(trimmed):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON, or nested too deep"}
	}
	if _, err := jsonrpc.DecodeMessage(trimmed); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a JSON-RPC 2.0 message, or nested too deep"}
	}
	if !keepsID(trimmed) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: wantID}
	}
	return nil
}

// wantID refuses a message that would be answered under another id than its own.
const wantID = "an id has to be a text, or a whole number between -2^53 and 2^53 in digits alone"

// keepsID reports whether a reply to a message, or each reply to a batch, can have
// the message's own id: the SDK reads numbers as float64 and half of a surrogate
// pair as another character, and takes an id of another kind for none.
func keepsID(message []byte) bool {
	var batch []json.RawMessage
	if json.Unmarshal(message, &batch) == nil {
		return !slices.ContainsFunc(batch, func(m json.RawMessage) bool { return !keepable(rawID(m)) })
	}
	return keepable(rawID(message))
}

// keepable reports whether the SDK gives an id back as it is.
func keepable(id json.RawMessage) bool {
	const most = 1 << 53
	switch {
	case len(id) == 0, string(id) == "null":
		return true
	case id[0] == '"':
		return unicodeText(id)
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -most <= n && n <= most
}

// rawID returns the id of a message as it stands there, nil if there is none.
func rawID(message []byte) json.RawMessage {
	var members map[string]json.RawMessage // a struct would take "ID" for it, too
	if json.Unmarshal(message, &members) != nil {
		return nil
	}
	return members["id"]
}

// refuse answers a line. A notification or a response gets an answer too, under
// the id null: nobody waits for it, and a client that logs can show it.
func (r *lineReader) refuse(line []byte, why *jsonrpc.Error) error {
	reply, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", idOf(line), why})
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(reply, '\n'))
	return err
}

// maxEchoedID bounds what a refusal repeats of a request.
const maxEchoedID = 128

// idOf returns the id of a message, or null where there is none that a response
// can carry.
func idOf(line []byte) json.RawMessage {
	null := json.RawMessage("null")
	id := rawID(line)
	if len(id) == 0 || len(id) > maxEchoedID {
		return null
	}
	if c := id[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return null
	}
	return id
}
