package registry

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

const (
	defaultInterval = 2 * time.Second
	minInterval     = 10 * time.Millisecond
	// Two writes so close together may leave the same size and time on a file. FAT keeps even seconds.
	timeGrain = 2 * time.Second
)

// Watcher keeps the registry of a file up to date. All methods may be called at the same time, and none but
// Close ever waits.
type Watcher struct {
	state  atomic.Pointer[watched]
	notify func(changes []Change, err error)
	path   string
	opts   ParseOptions

	stop    chan struct{}
	once    sync.Once
	stopped chan struct{}

	// For the goroutine that polls.
	sources []source // what the last attempt to load read
	rested  bool     // the sources have been compared since they last changed
}

// watched is what a Watcher knows at one time.
type watched struct {
	reg *Registry
	err error
}

// source is a file that was read.
type source struct {
	path string
	info os.FileInfo // from before it was read, nil if it was not there
	sum  string      // of its content, or why it could not be read
}

// Watch loads a registry as [Load] does, and from then on looks every interval whether the file has changed;
// 0 or less stands for 2 seconds, and less than 10 milliseconds for those. It fails if the first load does.
//
// A changed file is loaded once it has rested for an interval, so that a file is not taken while it is being
// written: a change is in force within two intervals and the time to load. A file that cannot be loaded
// changes nothing but [Watcher.Err]; the last good registry stays in force.
//
// If notify is not nil, it is called after each load of a changed file: with how the entries have changed,
// see [Diff], which may be not at all, or with the error of the load. It is called from one goroutine, and
// must not call [Watcher.Close]. Who watches must close.
func Watch(path string, interval time.Duration, opts *ParseOptions, notify func(changes []Change, err error)) (*Watcher, error) {
	w := &Watcher{notify: notify, path: path, stop: make(chan struct{}), stopped: make(chan struct{})}
	if opts != nil {
		w.opts = *opts
		w.opts.Classes = slices.Clone(opts.Classes)
	}
	reg, sources, err := load(path, &w.opts)
	if err != nil {
		return nil, err
	}
	w.state.Store(&watched{reg: reg})
	w.sources = sources
	if interval <= 0 {
		interval = defaultInterval
	}
	go w.run(max(interval, minInterval))
	return w, nil
}

// Registry gives the registry in force: that of the last file that was good. It is never nil.
func (w *Watcher) Registry() *Registry { return w.state.Load().reg }

// Err says why the file as it is now is not in force, an [*Error]; nil if it is in force.
func (w *Watcher) Err() error { return w.state.Load().err }

// Close ends watching. It waits until a load under way and notify have ended; Registry and Err then keep
// giving what they give. It may be called again. The error is always nil.
func (w *Watcher) Close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.stopped
	return nil
}

func (w *Watcher) run(interval time.Duration) {
	defer close(w.stopped)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.poll()
		}
	}
}

// poll loads the file if it has changed and rests.
func (w *Watcher) poll() {
	var newest time.Time
	changed := false
	for i := range w.sources {
		s := &w.sources[i]
		info, err := os.Stat(s.path)
		if err != nil {
			info = nil
		}
		changed = changed || !sameInfo(s.info, info)
		if s.info = info; info != nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if changed {
		w.rested = false
		return
	}
	if w.rested {
		return
	}
	w.rested = time.Since(newest) > timeGrain
	if slices.ContainsFunc(w.sources, func(s source) bool { return s.sum != sumOf(s.path, &w.opts) }) {
		w.reload()
	}
}

func (w *Watcher) reload() {
	reg, sources, err := load(w.path, &w.opts)
	w.sources, w.rested = sources, false
	if rootfs.CodeOf(err) == rootfs.Changed {
		return // it does not rest
	}
	before := w.state.Load().reg
	var changes []Change
	if err == nil {
		changes = Diff(before, reg)
	}
	w.state.Store(&watched{reg: cmp.Or(reg, before), err: err})
	if w.notify != nil {
		w.notify(changes, err)
	}
}

// sameInfo reports whether nothing speaks for a change between two looks at a name.
func sameInfo(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// readSource reads a registry file. The errors are [*Error].
func readSource(path string, o *ParseOptions) ([]byte, source, error) {
	s := source{path: path}
	if info, err := os.Stat(path); err == nil {
		s.info = info
	}
	data, err := readFile(path, o)
	if err != nil {
		s.sum = err.Error()
		return nil, s, err
	}
	s.sum = canon.Sum(data)
	return data, s, nil
}
