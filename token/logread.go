package token

import (
	"errors"
	"io"
	"io/fs"
)

// refresh reads what others wrote. With the lock it also reads what was never
// acknowledged, makes that durable, and cuts off what is torn.
func (l *logStore) refresh(locked bool) error {
	err := l.update(locked)
	if err != nil {
		l.reset()
	}
	return ioError("read", err)
}

func (l *logStore) update(locked bool) error {
	var size int64
	if l.file != nil {
		n, current, err := l.file.stat()
		if err != nil {
			return err
		}
		if size = n; !current {
			l.reset()
		}
	}
	if l.file == nil {
		file, err := l.disk.open()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.file = file
		if size, _, err = file.stat(); err != nil {
			return err
		}
	}
	durable, marked, err := l.readHeader()
	if err != nil {
		return err
	}
	if err := l.readFrames(durable); err != nil {
		return err
	}
	if !locked {
		return nil // a change may be under way
	}
	return l.settleTail(size, marked)
}

// readHeader returns up to where the file is durable, and whether a mark says
// so.
func (l *logStore) readHeader() (durable int64, marked bool, err error) {
	var b [headerSize]byte
	if n, err := l.file.ReadAt(b[:], 0); n < headerSize {
		return 0, false, unread(err)
	}
	h, durable, turn, ok := parseHeader(b[:])
	if !ok {
		return 0, false, damaged("its header is not valid")
	}
	if l.end > 0 && h.id != l.head.id {
		return 0, false, damaged("its header changed")
	}
	// What was read before was durable, even if its mark could not be written.
	durable = max(durable, l.end)
	if durable > maxLog {
		return 0, false, damaged("it is larger than any that was written")
	}
	l.head = h
	if l.end == 0 {
		l.end = headerSize
	}
	if turn >= 0 {
		l.mark = turn
	}
	return durable, turn >= 0, nil
}

// readFrames reads the frames from the end known so far up to durable. All of
// them must be whole.
func (l *logStore) readFrames(durable int64) error {
	if durable == l.end {
		return nil
	}
	b := make([]byte, durable-l.end)
	if n, err := l.file.ReadAt(b, l.end); n < len(b) {
		return unread(err)
	}
	rest, err := l.takeFrames(b)
	if err == nil && len(rest) > 0 {
		return damaged("a frame is not what was written")
	}
	return err
}

// takeFrames takes in the whole frames that b begins with, and returns the rest.
func (l *logStore) takeFrames(b []byte) (rest []byte, err error) {
	for len(b) > 0 {
		n, err := l.readFrame(b)
		if n == 0 || err != nil {
			return b, err
		}
		b = b[n:]
	}
	return nil, nil
}

// readFrame takes in the frame that b begins with and returns its length, or 0
// if it is not whole.
func (l *logStore) readFrame(b []byte) (int, error) {
	payload, n, ok := l.head.frame(b, l.end)
	if !ok {
		return 0, nil
	}
	changes, err := decodeChanges(payload)
	if err != nil {
		return 0, damaged("a change cannot be read: " + err.Error())
	}
	for _, c := range changes {
		old := l.get(c.Hash)
		switch {
		case old == nil && (c.Keep || c.State == ""):
			return 0, damaged("a change has no record")
		case old != nil && c.Version != old.Version+1, old == nil && c.Version != 1 && l.end >= l.head.base:
			return 0, damaged("a change is missing")
		case c.Keep:
			c.Claim, c.Bound = old.Claim, old.Bound
		}
		l.apply(c)
	}
	l.end += int64(n)
	return n, nil
}

// settleTail deals with what is behind the mark. At most one change was never
// acknowledged, and the mark may be one change behind after a power cut.
func (l *logStore) settleTail(size int64, marked bool) error {
	if size < l.end {
		return damaged("it is shorter than it was")
	}
	if size-l.end > 2*(maxPayload+frameOverhead) {
		return damaged("more follows its end than one change can leave")
	}
	start := l.end
	if size > l.end {
		if err := l.readTail(size); err != nil {
			return err
		}
	}
	if !marked {
		if err := l.disk.syncDir(); err != nil {
			return err
		}
	}
	if l.end == start && marked {
		return nil
	}
	err := l.file.Sync()
	if err == nil {
		l.acknowledge()
		return nil
	}
	// To sync again would prove nothing, and the tail may have been
	// acknowledged: all of it goes to a new file.
	if rewriteErr := l.rewrite(nil); rewriteErr != nil || l.file == nil {
		return err
	}
	return nil
}

// readTail takes in the whole frames behind the mark and cuts off the rest.
func (l *logStore) readTail(size int64) error {
	b := make([]byte, size-l.end)
	if n, err := l.file.ReadAt(b, l.end); n < len(b) {
		return unread(err)
	}
	b, err := l.takeFrames(b)
	if len(b) == 0 || err != nil {
		return err
	}
	if l.head.findFrame(b, l.end) {
		return damaged("a frame before its last one is not what was written")
	}
	return l.file.Truncate(l.end)
}

// damaged makes the error for a log that is not what was written.
func damaged(detail string) error {
	return &Error{Code: CodeDamaged, Op: "read", Detail: detail}
}

// unread makes the error for a read that gave too little.
func unread(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return damaged("it is shorter than it was")
	}
	return err
}
