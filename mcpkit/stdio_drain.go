package mcpkit

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxDrain is how long a session whose input has ended waits for its calls.
const maxDrain = 30 * time.Second

// methodListen is the request that is answered when the session ends, and not
// before.
const methodListen = "subscriptions/listen"

// drained is a connection that reports the end of its input only when the calls
// read before are answered: the SDK ends the session at once, and what a client
// wrote before it closed its end, such as a line of a shell's pipe, would be
// carried out or not without a word.
type drained struct {
	mcp.Connection

	mu      sync.Mutex
	calls   map[jsonrpc.ID]struct{} // of the client, not answered yet
	asked   map[jsonrpc.ID]struct{} // of the server, not answered yet
	changed chan struct{}           // closed and replaced with each change
}

func newDrained(conn mcp.Connection) *drained {
	return &drained{Connection: conn, calls: map[jsonrpc.ID]struct{}{}, asked: map[jsonrpc.ID]struct{}{}, changed: make(chan struct{})}
}

// Read reads the next message.
func (d *drained) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := d.Connection.Read(ctx)
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if err == nil && m.IsCall() && m.Method != methodListen {
			d.note(func() { d.calls[m.ID] = struct{}{} })
		}
	case *jsonrpc.Response:
		if err == nil {
			d.note(func() { delete(d.asked, m.ID) })
		}
	}
	if errors.Is(err, io.EOF) {
		d.drain(ctx)
	}
	return msg, err
}

// Write writes a message, and only then takes its call for answered.
func (d *drained) Write(ctx context.Context, msg jsonrpc.Message) error {
	if m, ok := msg.(*jsonrpc.Request); ok && m.IsCall() {
		d.note(func() { d.asked[m.ID] = struct{}{} })
	}
	err := d.Connection.Write(ctx, msg)
	if m, ok := msg.(*jsonrpc.Response); ok {
		d.note(func() { delete(d.calls, m.ID) })
	}
	return err
}

func (d *drained) note(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	close(d.changed)
	d.changed = make(chan struct{})
}

// drain waits until every call is answered. A call that waits for an answer of
// the client will never get one, so there is nothing to wait for.
func (d *drained) drain(ctx context.Context) {
	limit := time.NewTimer(maxDrain)
	defer limit.Stop()
	for {
		d.mu.Lock()
		done, changed := len(d.calls) == 0 || len(d.asked) > 0, d.changed
		d.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
