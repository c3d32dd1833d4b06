package probe

import "sync"

// A tail keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	keep int

	mu  sync.Mutex
	buf []byte
	cut bool // something was dropped
}

// Write keeps the end of p and never fails, so that a program which writes
// without end is never held up.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > t.keep {
		p, t.cut = p[len(p)-t.keep:], true
	}
	// Moving bytes only when twice as many are there keeps the cost per byte
	// constant.
	if len(t.buf)+len(p) > 2*t.keep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-min(len(t.buf), t.keep):]...)
		t.cut = true
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// text gives what is kept, and whether there was more before it.
func (t *tail) text() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.buf) > t.keep {
		return string(t.buf[len(t.buf)-t.keep:]), true
	}
	return string(t.buf), t.cut
}
