package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReadNamed reads a regular file of at most limit bytes that an operator named,
// in the form of the operating system and anywhere. Links in the name are the
// operator's choice and are followed, and the file may have other names and
// lie on another mount; for the rest the conditions of [Root.ReadFile] hold.
// Never give it a name that came from a document or a model.
func ReadNamed(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fail("read", path, err)
	}
	defer osFile{f}.close()
	n, err := fileNode(f)
	if err != nil {
		return nil, fail("read", path, err)
	}
	n.links = 1 // see above
	var b buffer
	src := source{f: osFile{f}, now: n, path: path, root: &Root{}}
	if err := src.read(limit, &b); err != nil {
		return nil, fail("read", path, err)
	}
	return b.data, nil
}

// WriteNamed writes a file that an operator named, under the conditions of
// [Root.WriteFile]. If the name is a link, the file it leads to is written; a
// link that leads nowhere is refused with code not_found.
func WriteNamed(path string, data []byte, perm fs.FileMode) error {
	full, err := resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Only a missing file may be made, not what a dangling link names.
		if _, linkErr := os.Lstat(path); errors.Is(linkErr, fs.ErrNotExist) {
			full, err = filepath.Abs(path)
		}
	}
	if err != nil {
		return fail("write", path, err)
	}
	dir, name := filepath.Split(full)
	if name == "" {
		return fail("write", path, refuse(NotRegular))
	}
	r, err := Open(dir, nil)
	if err != nil {
		return failNamed("write", path, err)
	}
	defer r.top.close()
	// The name is the operator's choice too, so the policy is not asked.
	return failNamed("write", path, r.replace(r.top, name, name, data, perm))
}

// resolve returns the absolute name without links.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	full, err := filepath.EvalSymlinks(abs)
	if _, system := errors.AsType[syscall.Errno](err); err != nil && !system {
		return "", refuse(Link) // its one error of its own is about a circle of links
	}
	return full, err
}

// failNamed completes an error with the name that the operator gave.
func failNamed(op, path string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Op: op, Path: path, Code: e.Code, Err: e.Err}
	}
	return fail(op, path, err)
}
