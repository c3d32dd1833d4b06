package rootfs

import (
	"crypto/sha256"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
	"time"
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
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fail("open", dir, err)
	}
	r.path = abs
	if !opts.Portable {
		r.top = openFast(abs)
	}
	if r.top == nil {
		if r.top, err = openStep(abs); err != nil {
			return nil, fail("open", dir, err)
		}
	}
	if r.trace != nil {
		r.top = &tracedDir{d: r.top, at: ".", fn: r.trace}
	}
	return r, nil
}

// Close closes the handle. Later operations fail; those under way are
// completed.
func (r *Root) Close() error { return fail("close", ".", r.top.close()) }

// Dir returns the absolute name of the directory, links resolved, as it was
// when the Root was opened.
func (r *Root) Dir() string { return r.path }

// note tells Options.Trace of an operation on an open file.
func (r *Root) note(op, p string, err error) {
	if r.trace != nil {
		r.trace(Event{Op: op, Path: p, Err: err})
	}
}

// parent opens the directory that p is in, and returns the last part of p. It
// checks p first.
func (r *Root) parent(p string) (dir, string, error) {
	if err := Check(p); err != nil {
		return nil, "", err
	}
	d, err := r.top.sub(path.Dir(p))
	return d, path.Base(p), err
}

// within runs fn with the directory that p is in and the last part of p, and
// completes its error.
func (r *Root) within(op, p string, fn func(d dir, name string) error) error {
	d, name, err := r.parent(p)
	if err != nil {
		return fail(op, p, err)
	}
	defer d.close()
	return fail(op, p, fn(d, name))
}

// An Info describes one entry.
type Info struct {
	// Path is relative to the root, in slash form; "." is the root itself.
	Path string
	// Size is the length in bytes; it means something for regular files only.
	Size int64
	// Mode has the kind and the permissions. A link is described itself, not
	// what it leads to.
	Mode fs.FileMode
	// ModTime is when the content last changed.
	ModTime time.Time
	// Err, if not nil, is the reason why this entry can be neither read nor
	// entered: an [*Error] with code path_invalid, link, not_regular,
	// hard_link or cross_device. In Walk it may also say why a directory
	// could not be listed.
	Err error
}

// infoOf describes the entry at p, which need not have passed Check.
func infoOf(p string, n node) Info {
	info := Info{Path: p, Size: n.size, Mode: n.mode, ModTime: n.mod}
	err := check(p)
	switch {
	case p == ".":
	case err != nil:
		info.Err = &Error{Op: "stat", Path: p, Code: PathInvalid, Err: err}
	case n.mode.IsDir():
		info.Err = fail("stat", p, checkDir(n))
	default:
		info.Err = fail("stat", p, checkFile(n))
	}
	return info
}

// checkDir reports whether n may be entered.
func checkDir(n node) error {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return refuse(Link, "")
	case !n.mode.IsDir():
		return refuse(NotDir, "")
	case n.mount:
		return refuse(CrossDevice, "")
	}
	return nil
}

// checkFile reports whether n may be read, or replaced, as a file.
func checkFile(n node) error {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return refuse(Link, "")
	case !n.mode.IsRegular():
		return refuse(NotRegular, "")
	case n.mount:
		return refuse(CrossDevice, "")
	case n.links > 1:
		return refuse(HardLink, "")
	}
	return nil
}

// Stat describes the entry at path; "." is the root itself. A link anywhere in
// path, the last part included, is refused with code link.
func (r *Root) Stat(path string) (Info, error) {
	if path == "." {
		n, err := r.top.self()
		return infoOf(".", n), fail("stat", path, err)
	}
	var info Info
	err := r.within("stat", path, func(d dir, name string) error {
		n, err := d.lstat(name)
		if err != nil {
			return err
		}
		if n.mode&fs.ModeSymlink != 0 {
			return refuse(Link, "")
		}
		info = infoOf(path, n)
		return nil
	})
	return info, err
}
