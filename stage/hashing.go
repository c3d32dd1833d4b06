package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"sync"
	"sync/atomic"
)

// A hashing reads the files of a candidate, several at once.
type hashing struct {
	area  *Area
	op    string
	dir   string // of the candidate, with a slash
	files []File // each is set by whoever took its index from todo

	todo    chan int
	stopped atomic.Bool // the rest need not be read
	working sync.WaitGroup

	mu    sync.Mutex
	at    int // of the file that err is about
	err   error
	ended context.Context //nolint:containedctx // of the one call that this belongs to
}

// startHashing starts to set the hashes of those files that add names, and
// their sizes to what was hashed.
func (a *Area) startHashing(ctx context.Context, op, id string, files []File) *hashing {
	h := &hashing{
		area: a, op: op, dir: a.candidateDir(id) + "/", files: files, ended: ctx,
		todo: make(chan int, len(files)), // so that add never waits
	}
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		h.working.Go(h.work)
	}
	return h
}

// add has file i read. It is called at most once for each.
func (h *hashing) add(i int) { h.todo <- i }

// end waits for the files that were added, unless they are of no use any more,
// and returns the error about the first of them that has one.
func (h *hashing) end(useless bool) error {
	if useless {
		h.stopped.Store(true)
	}
	close(h.todo)
	h.working.Wait()
	if err := h.ended.Err(); err != nil {
		return err
	}
	return h.err
}

func (h *hashing) work() {
	var digits [2 * sha256.Size]byte
	for i := range h.todo {
		if h.stopped.Load() || h.ended.Err() != nil {
			continue
		}
		f := &h.files[i]
		sum, size, err := h.area.files.Hash(h.dir+f.Path, h.area.opts.MaxFileBytes)
		if err != nil {
			h.fail(i, wrap(CodeUnsafe, h.op, f.Path, err))
		}
		hex.Encode(digits[:], sum[:])
		f.Size, f.SHA256 = size, string(digits[:])
	}
}

// fail keeps an error if it is about an earlier file than the one so far.
func (h *hashing) fail(i int, err error) {
	h.stopped.Store(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil || i < h.at {
		h.at, h.err = i, err
	}
}
