package rootfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// A dir is an open directory that was reached without following a link. It has
// two implementations: fastDir uses openat2 of Linux, stepDir the os.Root of
// the standard library one part at a time.
//
// Paths given to it have passed Check, or are names that a listing of this
// very directory returned. Its errors are completed by fail.
type dir interface {
	// sub opens the directory at path, which may be ".".
	sub(path string) (dir, error)
	// open opens what may be of any kind but a link, for reading, and
	// describes it. seen, if not nil, is what lstat just said about it.
	open(path string, seen *node) (handle, node, error)
	// create makes a file if there is none, and opens it with flag. Without
	// O_EXCL it may have been there, of any kind but a link.
	create(path string, flag int, perm fs.FileMode) (*os.File, error)
	// self describes the directory.
	self() (node, error)
	// names returns at most limit names, in no order. It can be called once. Where
	// they are those of last, which an earlier call may have returned for the
	// same directory, they share its memory.
	names(limit int, last []string) ([]string, error)

	// lstat and what follows take a single name.
	lstat(name string) (node, error)
	mkdir(name string, perm fs.FileMode) error
	rename(from, to string) error
	remove(name string, isDir bool) error

	// sync makes the entries durable.
	sync() error
	close()
}

// A handle is a file that is open for reading.
type handle interface {
	io.Reader
	node() (node, error)
	close()
}

// osFile is the handle of a file that the os package opened.
type osFile struct{ *os.File }

func (f osFile) node() (node, error) { return fileNode(f.File) }

func (f osFile) close() { _ = f.Close() }

// A node is what the operating system says about one entry.
type node struct {
	mode    fs.FileMode
	size    int64
	mod     time.Time
	changed time.Time   // when anything of it changed; zero if not known
	links   uint64      // how many names it has; 0 if not known
	dev     uint64      // the device it is on; 0 if not known
	ino     uint64      // its number there; 0 if not known
	mount   bool        // another file system is mounted here
	info    fs.FileInfo // where it came from; nil from openat2
}

// tracedDir reports what another dir does.
type tracedDir struct {
	d  dir
	at string // where it is, relative to the root
	fn func(Event)
}

func (t *tracedDir) note(op, name string, err error) {
	p := path.Join(t.at, name)
	t.fn(Event{Op: op, Path: p, Err: fail(op, p, err)})
}

func (t *tracedDir) sub(p string) (dir, error) {
	d, err := t.d.sub(p)
	t.note("opendir", p, err)
	if err != nil {
		return nil, err
	}
	return &tracedDir{d: d, at: path.Join(t.at, p), fn: t.fn}, nil
}

func (t *tracedDir) open(p string, seen *node) (handle, node, error) {
	f, n, err := t.d.open(p, seen)
	t.note("open", p, err)
	return f, n, err
}

func (t *tracedDir) create(p string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := t.d.create(p, flag, perm)
	t.note("create", p, err)
	return f, err
}

func (t *tracedDir) self() (node, error) {
	n, err := t.d.self()
	t.note("stat", ".", err)
	return n, err
}

func (t *tracedDir) names(limit int, last []string) ([]string, error) {
	names, err := t.d.names(limit, last)
	t.note("readdir", ".", err)
	return names, err
}

func (t *tracedDir) lstat(name string) (node, error) {
	n, err := t.d.lstat(name)
	t.note("stat", name, err)
	return n, err
}

func (t *tracedDir) mkdir(name string, perm fs.FileMode) error {
	err := t.d.mkdir(name, perm)
	t.note("mkdir", name, err)
	return err
}

func (t *tracedDir) rename(from, to string) error {
	err := t.d.rename(from, to)
	t.note("rename", to, err)
	return err
}

func (t *tracedDir) remove(name string, isDir bool) error {
	err := t.d.remove(name, isDir)
	t.note("remove", name, err)
	return err
}

func (t *tracedDir) sync() error {
	err := t.d.sync()
	t.note("sync", ".", err)
	return err
}

func (t *tracedDir) close() { t.d.close() }
