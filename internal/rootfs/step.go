package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// stepDir walks with os.Root, one part at a time: look at the entry, open it,
// and see that what was opened is what was looked at. os.Root alone never
// leaves the root but follows links inside it, and has no flag against that.
type stepDir struct {
	root *os.Root
	dev  uint64 // device of the top directory
}

// openStep opens the directory name, whose links are followed.
func openStep(name string) (dir, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, refuse(NotDir)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	d := &stepDir{root: root}
	n, err := d.self()
	if err != nil {
		d.close()
		return nil, err
	}
	d.dev = n.dev
	return d, nil
}

func (d *stepDir) sub(p string) (dir, error) {
	if p == "." {
		root, err := d.root.OpenRoot(".")
		if err != nil {
			return nil, stepError(err)
		}
		return &stepDir{root, d.dev}, nil
	}
	at := d
	for part := range strings.SplitSeq(p, "/") {
		next, err := at.child(part)
		if at != d {
			at.close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// child opens one directory directly inside d.
func (d *stepDir) child(name string) (*stepDir, error) {
	before, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkDir(before); err != nil {
		return nil, err
	}
	// OpenRoot(name) would open anything and then look: a pipe would block it.
	root, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, stepError(err)
	}
	sub := &stepDir{root, d.dev}
	after, err := sub.self()
	if err == nil && !same(before, after) {
		err = refuse(Changed)
	}
	if err != nil {
		sub.close()
		return nil, err
	}
	return sub, nil
}

// maxTries bounds how often an operation is begun again because somebody else
// keeps changing what it works on.
const maxTries = 16

// in opens the directory that p is in and returns the last part of p. The
// caller closes it by calling done.
func (d *stepDir) in(p string) (parent *stepDir, name string, done func(), err error) {
	at, name := path.Split(p)
	if at == "" {
		return d, name, func() {}, nil
	}
	sub, err := d.sub(path.Clean(at))
	if err != nil {
		return nil, "", nil, err
	}
	return sub.(*stepDir), name, sub.close, nil
}

func (d *stepDir) open(p string, seen *node) (handle, node, error) {
	parent, name, done, err := d.in(p)
	if err != nil {
		return nil, node{}, err
	}
	defer done()
	if seen == nil {
		before, err := parent.lstat(name)
		if err != nil {
			return nil, node{}, err
		}
		seen = &before
	}
	f, n, err := parent.openAs(name, os.O_RDONLY, *seen)
	if err != nil {
		return nil, node{}, err
	}
	return osFile{f}, n, nil
}

func (d *stepDir) create(p string, flag int, perm fs.FileMode) (*os.File, error) {
	parent, name, done, err := d.in(p)
	if err != nil {
		return nil, err
	}
	defer done()
	for range maxTries {
		if flag&os.O_EXCL == 0 {
			before, err := parent.lstat(name)
			if err == nil {
				f, _, err := parent.openAs(name, flag, before)
				return f, err
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		// Without O_EXCL a dangling link would be written through.
		f, err := parent.root.OpenFile(name, flag|os.O_CREATE|os.O_EXCL|openFlags, perm)
		if flag&os.O_EXCL == 0 && errors.Is(err, fs.ErrExist) {
			continue // somebody else was first
		}
		return f, stepError(err)
	}
	return nil, refuse(Changed)
}

// openAs opens the existing file name if it is still the one described, and
// describes what it opened.
func (d *stepDir) openAs(name string, flag int, before node) (*os.File, node, error) {
	if err := checkFile(before); err != nil {
		return nil, node{}, err
	}
	f, err := d.root.OpenFile(name, flag|openFlags, 0)
	if err != nil {
		return nil, node{}, stepError(err)
	}
	after, err := fileNode(f)
	if err == nil && !same(before, after) {
		err = refuse(Changed)
	}
	if err != nil {
		osFile{f}.close()
		return nil, node{}, err
	}
	return f, after, nil
}

func (d *stepDir) self() (node, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return node{}, stepError(err)
	}
	return nodeOf(info), nil
}

func (d *stepDir) names(limit int, _ []string) ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, stepError(err)
	}
	defer osFile{f}.close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

func (d *stepDir) lstat(name string) (node, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return node{}, stepError(err)
	}
	n := nodeOf(info)
	// Finds another file system, but not a second mount of the same one.
	n.mount = n.dev != d.dev
	return n, nil
}

func (d *stepDir) mkdir(name string, perm fs.FileMode) error {
	return stepError(d.root.Mkdir(name, perm))
}

func (d *stepDir) rename(from, to string) error {
	return stepError(d.root.Rename(from, to))
}

func (d *stepDir) remove(name string, _ bool) error {
	return stepError(d.root.Remove(name))
}

func (d *stepDir) sync() error {
	if !syncsDirs {
		return nil
	}
	f, err := d.root.Open(".")
	if err != nil {
		return stepError(err)
	}
	defer osFile{f}.close()
	return f.Sync()
}

func (d *stepDir) close() { _ = d.root.Close() }

// stepError recognises os.Root's own refusal, the only one of its errors that
// is not an error of the operating system: an entry became a link to outside
// between the look and the opening.
func stepError(err error) error {
	if err == nil {
		return nil
	}
	err = bare(err)
	if err.Error() == "path escapes from parent" {
		return refuse(Escape)
	}
	return err
}
