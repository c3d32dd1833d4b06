package token

import (
	"container/list"
	"context"
	"errors"
	"iter"
)

// slack is how many bytes of changes a log gathers, beyond its size when it
// was written, before it is written anew.
const slack = 256 << 10

// logStore is the Backend that keeps records in a file. Writers hold the lock
// of the directory; readers look at the file up to its mark, without it.
type logStore struct {
	disk  disk
	slack int64 // the constant, except in tests
	// Each holds one value while somebody has it, the first while he waits for
	// the disk's lock and has that, the second while he uses what follows. So
	// nobody who only reads waits for the lock.
	writing, turn chan struct{}

	closed bool
	file   diskFile // nil if there is no log, or it was not read yet
	head   header
	end    int64 // up to where the records come from the file
	mark   int   // the mark that says so
	order  *list.List
	byHash map[string]*list.Element // of *Record
}

func newLog(d disk) *logStore {
	l := &logStore{disk: d, slack: slack, writing: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
	l.reset()
	return l
}

// Close closes the files.
func (l *logStore) Close() error {
	l.turn <- struct{}{}
	defer l.leave()
	if l.closed {
		return nil
	}
	l.reset()
	l.closed = true
	return ioError("close", l.disk.close())
}

// enter waits until nobody else in this process uses what was read.
func (l *logStore) enter(ctx context.Context) error {
	if err := await(ctx, l.turn); err != nil {
		return err
	}
	if l.closed {
		l.leave()
		return &Error{Code: CodeClosed, Op: "use"}
	}
	return nil
}

// await waits until turn has room, and fills it. It tries at least once before
// a deadline of ours counts, so that a slow disk is not taken for a held lock.
func await(ctx context.Context, turn chan struct{}) error {
	if ctx.Err() != nil && CodeOf(context.Cause(ctx)) != CodeLocked {
		return context.Cause(ctx)
	}
	select {
	case turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return waited(ctx)
	}
}

// waited makes the error for a lock that was not free before ctx ended.
func waited(ctx context.Context) error {
	err := context.Cause(ctx)
	if own, ok := errors.AsType[*Error](err); ok {
		return own // the deadline is ours, see bounded
	}
	return &Error{Code: CodeLocked, Op: "lock", Err: err}
}

func (l *logStore) leave() { <-l.turn }

// reset forgets what was read.
func (l *logStore) reset() {
	if l.file != nil {
		// Whatever mattered was synced or refused before.
		_ = l.file.Close()
	}
	l.file, l.head, l.end, l.mark = nil, header{}, 0, -1
	l.order, l.byHash = list.New(), map[string]*list.Element{}
}

// verify reads the log, with the lock if that is free, and so cuts off a torn
// tail. Who holds it does that as well, so nobody waits for him.
func (l *logStore) verify(ctx context.Context) error {
	now, cancel := context.WithCancel(ctx)
	cancel() // the lock is tried once
	unlock, err := l.disk.lock(now)
	free := err == nil
	if err = ioError("lock", err); err != nil && CodeOf(err) != CodeLocked {
		return err
	}
	if free {
		defer func() { _ = unlock() }() // see locked
	}
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	return l.refresh(free)
}

// locked runs fn with the lock, after everything in the file was read.
func (l *logStore) locked(ctx context.Context, fn func() error) (err error) {
	if err := await(ctx, l.writing); err != nil {
		return err
	}
	defer func() { <-l.writing }()
	unlock, err := l.disk.lock(ctx)
	if err != nil {
		return ioError("lock", err)
	}
	// The system releases the lock when the file is closed, even if closing
	// reports an error; the change is durable by then.
	defer func() { _ = unlock() }()
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	if err := l.refresh(true); err != nil {
		return err
	}
	return fn()
}

// Get implements Backend.
func (l *logStore) Get(ctx context.Context, hash string) (*Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	if err := l.refresh(false); err != nil {
		return nil, err
	}
	return l.get(hash), nil
}

func (l *logStore) get(hash string) *Record {
	if e := l.byHash[hash]; e != nil {
		return e.Value.(*Record)
	}
	return nil
}

// Range implements Backend.
func (l *logStore) Range(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		all, err := l.all(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, rec := range all {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// all returns the records, oldest first.
func (l *logStore) all(ctx context.Context) ([]*Record, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	if err := l.refresh(false); err != nil {
		return nil, err
	}
	return l.records(), nil
}

func (l *logStore) records() []*Record {
	all := make([]*Record, 0, l.order.Len())
	for e := l.order.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*Record))
	}
	return all
}

// Swap implements Backend.
func (l *logStore) Swap(ctx context.Context, changes ...*Record) error {
	return l.locked(ctx, func() error {
		done := make([]change, len(changes))
		for i, c := range changes {
			var version int64
			old := l.get(c.Hash)
			if old != nil {
				version = old.Version
			}
			if c.Version != version {
				return &Error{Code: CodeConflict, Op: "swap"}
			}
			done[i] = change{Record: *c}
			done[i].Version++
			if old != nil && old.Bound == c.Bound && old.Claim.equal(&c.Claim) {
				done[i].Keep = true
			}
		}
		return l.write(done)
	})
}

// write makes the changes durable and then visible.
func (l *logStore) write(changes []change) error {
	payload, err := encodeChanges(changes)
	if err != nil {
		return err
	}
	if l.file == nil || l.end+int64(len(payload)) > 2*l.head.base+l.slack {
		return l.rewrite(changes)
	}
	frame := l.head.appendFrame(nil, l.end, payload)
	if err := l.append(frame); err != nil {
		l.cut()
		return ioError("write", err)
	}
	for _, c := range changes {
		l.apply(c)
	}
	return nil
}

// append writes a frame at the end and makes it durable.
func (l *logStore) append(frame []byte) error {
	if _, err := l.file.WriteAt(frame, l.end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.end += int64(len(frame))
	l.acknowledge()
	return nil
}

// cut takes back what could not be made durable. To sync it again would prove
// nothing: after a failed sync the next one can succeed with the bytes gone.
func (l *logStore) cut() {
	if l.file.Truncate(l.end) != nil {
		// If this fails, too, the worst that can come of it after a crash is
		// a log that is refused.
		_ = l.rewrite(nil)
	}
}

// acknowledge marks the file as durable up to the end. The mark only tells
// torn from damaged, so that a change counts even if it cannot be written.
func (l *logStore) acknowledge() {
	turn := (l.mark + 1) & 1
	if _, err := l.file.WriteAt(l.head.mark(turn, l.end), marksAt+int64(turn)*markSize); err == nil {
		l.mark = turn
	}
}

// rewrite replaces the file by one with the records as they are after the
// changes.
func (l *logStore) rewrite(changes []change) error {
	for _, c := range changes {
		l.apply(c)
	}
	records := l.records()
	// Whatever happens, what is in memory is read again.
	l.reset()
	h := newHeader()
	var frames []byte
	for _, rec := range records {
		payload, err := encodeChanges([]change{{Record: *rec}})
		if err != nil {
			return err
		}
		frames = h.appendFrame(frames, headerSize+int64(len(frames)), payload)
	}
	h.base = headerSize + int64(len(frames))
	if err := l.disk.replace(append(h.append(nil), frames...)); err != nil {
		return ioError("write", err)
	}
	// The change is durable. Without a mark the next holder of the lock makes
	// it so once more.
	file, err := l.disk.open()
	if err != nil {
		return nil
	}
	l.file, l.head, l.end = file, h, h.base
	l.acknowledge()
	for _, rec := range records {
		l.byHash[rec.Hash] = l.order.PushBack(rec)
	}
	return nil
}

// apply makes one change in memory.
func (l *logStore) apply(c change) {
	e := l.byHash[c.Hash]
	switch {
	case c.State == "":
		if e != nil {
			l.order.Remove(e)
			delete(l.byHash, c.Hash)
		}
	case e != nil:
		rec := c.Record
		e.Value = &rec
	default:
		rec := c.Record
		l.byHash[c.Hash] = l.order.PushBack(&rec)
	}
}
