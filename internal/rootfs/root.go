package rootfs

import (
	"crypto/sha256"
	"path"
	"sync"
)

// Options changes how a [Root] works. Nil and the zero value are the default.
type Options struct {
	// Portable avoids openat2 even where the kernel has it, and takes the
	// slower way of other systems. It is meant for tests.
	Portable bool

	// Trace, if not nil, is told of every operation on the file system after
	// it ended, well or not. What the path policy refuses causes none. It may
	// be called from several goroutines at once.
	Trace func(Event)
}

// An Event is one operation on the file system, as told to Options.Trace.
type Event struct {
	// Op is opendir, readdir, stat, open, read, create, write, chmod, mkdir,
	// rename, remove, sync or lock.
	Op string
	// Path is what it was done to, relative to the root and in slash form. Of
	// a rename it is the new path.
	Path string
	// Err is the outcome: nil if it worked.
	Err error
}

// A Root is an open directory below which files are read and written. It keeps
// a handle: if the directory is renamed, the Root follows it.
//
// A Root is safe for concurrent use, also by several processes on one
// directory. Close it when it is no longer needed.
type Root struct {
	path    string
	top     dir
	trace   func(Event)
	hashers sync.Pool // of *hasher
}

// Open opens the directory named dir, in the form of the operating system. The
// name may contain links, and is resolved once. The error's code is not_found,
// not_dir, permission or io.
func Open(dir string, opts *Options) (*Root, error) {
	if opts == nil {
		opts = &Options{}
	}
	r := &Root{trace: opts.Trace}
	r.hashers.New = func() any {
		return &hasher{sum: sha256.New(), buf: make([]byte, hashBuffer)}
	}
	abs, err := resolve(dir)
	if err != nil {
		return nil, fail("open", dir, err)
	}
	r.path = abs
	if !opts.Portable {
		r.top, err = openFast(abs)
	}
	if r.top == nil && err == nil {
		r.top, err = openStep(abs)
	}
	if err != nil {
		return nil, fail("open", dir, err)
	}
	if r.trace != nil {
		r.top = &tracedDir{d: r.top, at: ".", fn: r.trace}
	}
	return r, nil
}

// Close closes the handle. Later operations fail; those under way are
// completed. The error is always nil, as nothing can be lost.
func (r *Root) Close() error {
	r.top.close()
	return nil
}

// Dir returns the absolute name of the directory, links resolved, as it was
// when the Root was opened.
func (r *Root) Dir() string { return r.path }

// note tells Options.Trace of an operation on an open file.
func (r *Root) note(op, p string, err error) {
	if r.trace != nil {
		r.trace(Event{Op: op, Path: p, Err: fail(op, p, err)})
	}
}

// within checks p, runs fn with the directory that p is in and the last part
// of p, and completes the error.
func (r *Root) within(op, p string, fn func(d dir, name string) error) error {
	if err := check(p); err != nil {
		return fail(op, p, err)
	}
	d, err := r.top.sub(path.Dir(p))
	if err != nil {
		return fail(op, p, err)
	}
	defer d.close()
	return fail(op, p, fn(d, path.Base(p)))
}

// openDir checks and opens the directory at p.
func (r *Root) openDir(p string) (dir, error) {
	if p != "." {
		if err := check(p); err != nil {
			return nil, err
		}
	}
	return r.top.sub(p)
}
