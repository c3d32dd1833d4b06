package token_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"syscall"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/token"
)

// A modelDisk is a file system for one log, in memory, that knows what would
// survive a power cut: what was written is there at once, but is durable only
// after a sync; a name only after a sync of the directory. It can fail or stop
// at any call.
type modelDisk struct {
	mu    sync.Mutex
	held  chan struct{} // the lock; it is lost with the power
	named *modelFile    // what the name leads to now; nil for nothing
	kept  *modelFile    // what it leads to after a power cut, at worst

	calls  int
	faults map[int]fault // by call
	dead   bool          // the power is off: nothing works any more
	broken breakage
}

// A modelFile is what a name can lead to.
type modelFile struct {
	data    []byte // as readers see it
	durable []byte // as it is after a power cut, at worst
	pending []write
}

// A write is not durable yet. Without data it is a truncation to off.
type write struct {
	off  int64
	data []byte
	cut  bool
}

func (w write) apply(data []byte) []byte {
	if w.cut {
		if int64(len(data)) > w.off {
			return slices.Clone(data[:w.off])
		}
		return append(slices.Clone(data), make([]byte, w.off-int64(len(data)))...)
	}
	data = slices.Clone(data)
	if need := int(w.off) + len(w.data) - len(data); need > 0 {
		data = append(data, make([]byte, need)...)
	}
	copy(data[w.off:], w.data)
	return data
}

// A fault is what happens at a call.
type fault struct {
	name  string
	err   error
	half  bool // half of a write is done
	lost  bool // a failed sync loses what it was to make durable, for good
	off   bool // the power goes off; what the call does is under way
	twice bool // the next call fails, too
}

var (
	errPower = errors.New("the power is off")
	failures = []fault{
		{name: "EIO", err: syscall.EIO, lost: true},
		{name: "ENOSPC", err: syscall.ENOSPC},
		{name: "short write", err: io.ErrShortWrite, half: true},
		{name: "EIO twice", err: syscall.EIO, lost: true, twice: true},
	}
)

// A breakage is a protocol that is wrong on purpose.
type breakage int

const (
	nothingBroken breakage = iota
	noFileSync             // appended frames are not synced
	noTempSync             // a new file gets its name before it is durable
	noDirSync              // a new name is not made durable
	inPlace                // a new log is written over the old one
)

func newModelDisk() *modelDisk {
	return &modelDisk{held: make(chan struct{}, 1), faults: map[int]fault{}}
}

// call counts a call and returns what goes wrong in it.
func (d *modelDisk) call() (fault, error) {
	if d.dead {
		return fault{}, errPower
	}
	f := d.faults[d.calls]
	d.calls++
	if f.off {
		d.dead = true
		return f, errPower
	}
	return f, f.err
}

func (d *modelDisk) Lock(ctx context.Context) (func() error, error) {
	d.mu.Lock()
	_, err := d.call()
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case d.held <- struct{}{}: // tried once even if ctx has ended
	default:
		select {
		case d.held <- struct{}{}:
		case <-ctx.Done():
			return nil, &rootfs.Error{Op: "lock", Code: rootfs.Locked, Err: context.Cause(ctx)}
		}
	}
	return func() error { <-d.held; return nil }, nil
}

func (d *modelDisk) Open() (token.TestFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.call(); err != nil {
		return nil, err
	}
	if d.named == nil {
		return nil, fs.ErrNotExist
	}
	return &modelHandle{d, d.named}, nil
}

// Replace does what an atomic replacement does, in five calls.
func (d *modelDisk) Replace(data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &modelFile{}
	if d.broken == inPlace && d.named != nil {
		f = d.named
		if err := d.do(f, write{cut: true}); err != nil {
			return err
		}
	}
	if err := d.do(f, write{data: data}); err != nil {
		return err
	}
	if err := d.sync(f, noTempSync); err != nil {
		return err
	}
	if _, err := d.call(); err != nil && !d.dead {
		return err
	}
	d.named = f
	if d.dead {
		return errPower
	}
	return d.syncDir()
}

func (d *modelDisk) SyncDir() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncDir()
}

func (d *modelDisk) syncDir() error {
	if _, err := d.call(); err != nil {
		return err
	}
	if d.broken != noDirSync {
		d.kept = d.named
	}
	return nil
}

func (d *modelDisk) Close() error { return nil }

// do writes to or truncates a file.
func (d *modelDisk) do(f *modelFile, w write) error {
	bad, err := d.call()
	if err != nil && !bad.half && !bad.off {
		return err
	}
	if bad.half {
		w.data = w.data[:len(w.data)/2]
	}
	f.data = w.apply(f.data)
	f.pending = append(f.pending, w)
	return err
}

// sync makes a file durable, unless that is broken.
func (d *modelDisk) sync(f *modelFile, how breakage) error {
	bad, err := d.call()
	if err != nil {
		if bad.lost {
			f.pending = nil
		}
		return err
	}
	if d.broken != how {
		for _, w := range f.pending {
			f.durable = w.apply(f.durable)
		}
		f.pending = nil
	}
	return nil
}

type modelHandle struct {
	d *modelDisk
	f *modelFile
}

func (h *modelHandle) ReadAt(p []byte, off int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if _, err := h.d.call(); err != nil {
		return 0, err
	}
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *modelHandle) WriteAt(p []byte, off int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.do(h.f, write{off: off, data: slices.Clone(p)}); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (h *modelHandle) Truncate(size int64) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.d.do(h.f, write{off: size, cut: true})
}

func (h *modelHandle) Sync() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.d.sync(h.f, noFileSync)
}

func (h *modelHandle) Stat() (int64, bool, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if _, err := h.d.call(); err != nil {
		return 0, false, err
	}
	return int64(len(h.f.data)), h.d.named == h.f, nil
}

func (h *modelHandle) Close() error { return nil }

// after returns all that the disk can be after a power cut now: each name
// durable or not, each unsynced write there, half there, not there, or of the
// right length and full of zeros, in any combination.
func (d *modelDisk) after() []*modelDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := []*modelFile{d.kept}
	if d.named != d.kept {
		files = append(files, d.named)
	}
	var list []*modelDisk
	for _, f := range files {
		if f == nil {
			list = append(list, newModelDisk())
			continue
		}
		for _, data := range survivors(f.durable, f.pending) {
			next := newModelDisk()
			next.named = &modelFile{data: data, durable: data}
			next.kept = next.named
			list = append(list, next)
		}
	}
	return list
}

// survivors combines the fates of unsynced writes; of more than four it takes
// the older ones as done.
func survivors(durable []byte, pending []write) [][]byte {
	for len(pending) > 4 {
		durable, pending = pending[0].apply(durable), pending[1:]
	}
	all := [][]byte{durable}
	for _, w := range pending {
		var next [][]byte
		for _, data := range all {
			next = append(next, data, w.apply(data))
			if n := len(w.data); n > 0 {
				half := write{off: w.off, data: w.data[:n/2]}
				zeros := write{off: w.off, data: append(slices.Clone(w.data[:n/3]), make([]byte, n-n/3)...)}
				next = append(next, half.apply(data), zeros.apply(data))
			}
		}
		all = next
	}
	return all
}
