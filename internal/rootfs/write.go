package rootfs

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// TempPrefix begins the name of every file that is not complete yet. A crash
// may leave one behind; it can be removed once nobody writes.
const TempPrefix = ".x-tmp-"

// WriteFile makes data the content of the file at path, durably and at once:
// after a crash at any point the old or the new file is there, whole. The
// content goes to a new file beside it, which is made durable and then given
// the name. perm is the mode before the umask; an old file's mode is not kept.
//
// An existing entry must be a regular file with one name, else it is refused
// with code link, not_regular, hard_link or cross_device, and stays as it is.
// So it does after any failure but that of the last step, the sync of the
// directory: then the file is replaced, but not yet certain to survive a crash.
// A failed sync is never tried again, because its second success would prove
// nothing.
func (r *Root) WriteFile(path string, data []byte, perm fs.FileMode) error {
	return r.within("write", path, func(d dir, name string) error {
		return r.replace(d, path, name, data, perm)
	})
}

// replace writes data under a temporary name in d and then names it name. For
// Trace it is at p.
func (r *Root) replace(d dir, p, name string, data []byte, perm fs.FileMode) error {
	if err := replaceable(d, name); err != nil {
		return err
	}
	temp := TempPrefix + rand.Text()
	f, err := r.create(d, path.Join(path.Dir(p), temp), temp, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = f.finish(err); err == nil {
		err = d.rename(temp, name)
	}
	if err != nil {
		_ = d.remove(temp, false) // nothing better can be done if this fails too
		return err
	}
	return d.sync()
}

// replaceable reports whether a file may take the name.
func replaceable(d dir, name string) error {
	n, err := d.lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkFile(n)
}

// A File is a new file that is being written. It is not safe for concurrent
// use. Close it; what was written survives a crash only after Sync, and the
// file's name only after [Root.SyncDir] on its directory.
type File struct {
	f    *os.File
	path string
	root *Root
}

// Create makes a new, empty file at path and opens it for writing. perm is the
// mode before the umask. Code exists means that the name is taken, by
// whatever.
func (r *Root) Create(path string, perm fs.FileMode) (*File, error) {
	var f *File
	err := r.within("create", path, func(d dir, name string) (err error) {
		f, err = r.create(d, path, name, perm)
		return err
	})
	return f, err
}

// create makes the file name in d, which is at p.
func (r *Root) create(d dir, p, name string, perm fs.FileMode) (*File, error) {
	f, err := d.create(name, os.O_WRONLY|os.O_EXCL, perm.Perm())
	if err != nil {
		return nil, err
	}
	return &File{f: f, path: p, root: r}, nil
}

// end reports an operation on f and completes its error.
func (f *File) end(op string, err error) error {
	f.root.note(op, f.path, err)
	return fail(op, f.path, err)
}

// Write appends p to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, f.end("write", err)
}

// Chmod sets the permissions to perm, whatever the umask.
func (f *File) Chmod(perm fs.FileMode) error {
	return f.end("chmod", f.f.Chmod(perm.Perm()))
}

// Sync makes the content durable. If it fails, part of the content may be lost
// for good even if a second Sync succeeds: remove the file and write another.
func (f *File) Sync() error { return f.end("sync", f.f.Sync()) }

// finish makes the content durable, unless writing it ended with err, and
// closes the file. It returns the first error.
func (f *File) finish(err error) error {
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Close closes the file. Closing it again is an error without effect.
func (f *File) Close() error { return fail("close", f.path, f.f.Close()) }

// Copy makes a new file at to with the content of the regular file at from,
// under the conditions of [Root.ReadFile] for the one and [Root.Create] for the
// other, and makes the content durable. It returns the SHA-256 and the size of
// the bytes it wrote, whatever is at from by then. If it fails, there is no
// file at to unless there was one before.
func (r *Root) Copy(from, to string, limit int64, perm fs.FileMode) (sum [sha256.Size]byte, size int64, err error) {
	if err := check(from); err != nil {
		return sum, 0, fail("copy", from, err)
	}
	f, n, err := r.top.open(from, nil)
	if err != nil {
		return sum, 0, fail("copy", from, err)
	}
	defer f.close()
	src := source{f: f, now: n, path: from, root: r}
	err = r.within("copy", to, func(d dir, name string) error {
		out, err := r.create(d, to, name, perm)
		if err != nil {
			return err
		}
		if sum, size, err = src.hash(limit, out); err != nil {
			err = fail("copy", from, err)
		}
		if err = out.finish(err); err != nil {
			_ = d.remove(name, false) // nothing better can be done if this fails too
		}
		return err
	})
	if err != nil {
		return [sha256.Size]byte{}, 0, err
	}
	return sum, size, nil
}

// MkdirAll makes the directory at path and those above it that are missing,
// top down, each durable before the next. perm is the mode of new directories
// before the umask. What exists must be directories, not links to them.
func (r *Root) MkdirAll(path string, perm fs.FileMode) error {
	if path == "." {
		return nil
	}
	if err := check(path); err != nil {
		return fail("mkdir", path, err)
	}
	d, err := r.top.sub(".")
	if err != nil {
		return fail("mkdir", path, err)
	}
	for part := range strings.SplitSeq(path, "/") {
		next, err := enter(d, part, perm)
		d.close()
		if err != nil {
			return fail("mkdir", path, err)
		}
		d = next
	}
	d.close()
	return nil
}

// enter opens the directory name in d, and makes it first if need be.
func enter(d dir, name string, perm fs.FileMode) (dir, error) {
	sub, err := d.sub(name)
	if err == nil || codeOfOS(err) != NotFound {
		return sub, err
	}
	// Somebody else may make it at the same time, and may not sync it.
	if err := d.mkdir(name, perm.Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := d.sync(); err != nil {
		return nil, err
	}
	return d.sub(name)
}

// Remove removes the file, the link itself, or the empty directory at path. It
// is durable after [Root.SyncDir] on the directory it was in.
func (r *Root) Remove(path string) error {
	return r.within("remove", path, func(d dir, name string) error {
		n, err := d.lstat(name)
		if err != nil {
			return err
		}
		return d.remove(name, n.mode.IsDir())
	})
}

// Rename gives the entry at oldpath the name newpath, which must be in the
// same directory, so that one [Root.SyncDir] makes it durable. A regular file
// with one name is replaced; anything else at newpath is refused with code
// link, not_regular, hard_link or cross_device.
func (r *Root) Rename(oldpath, newpath string) error {
	if err := check(oldpath); err != nil {
		return fail("rename", oldpath, err)
	}
	return r.within("rename", newpath, func(d dir, name string) error {
		if path.Dir(oldpath) != path.Dir(newpath) {
			return refusef(PathInvalid, "it is not in the directory of %.160q", oldpath)
		}
		if err := replaceable(d, name); err != nil {
			return err
		}
		return d.rename(path.Base(oldpath), name)
	})
}

// SyncDir makes the names in the directory dir, which may be ".", durable. On
// Windows, where that cannot be asked for, it does nothing.
func (r *Root) SyncDir(dir string) error {
	d, err := r.openDir(dir)
	if err != nil {
		return fail("sync", dir, err)
	}
	defer d.close()
	return fail("sync", dir, d.sync())
}
