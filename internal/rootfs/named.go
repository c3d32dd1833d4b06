package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadNamed reads a file that an operator named, in the form of the operating
// system and anywhere. Its links are resolved once; after that the conditions
// of [Root.ReadFile] hold. Never give it a name that came from a document or
// a model.
func ReadNamed(path string, max int64) ([]byte, error) {
	var data []byte
	full, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = inParent(full, func(r *Root, name string) (err error) {
			data, err = r.readAll(name, max)
			return err
		})
	}
	return data, failNamed("read", path, err)
}

// WriteNamed writes a file that an operator named, under the conditions of
// [Root.WriteFile]. If the name is a link, the file it leads to is written; a
// link that leads nowhere is refused with code not_found.
func WriteNamed(path string, data []byte, perm fs.FileMode) error {
	full, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// Only a missing file may be made, not what a dangling link names.
		if _, linkErr := os.Lstat(path); errors.Is(linkErr, fs.ErrNotExist) {
			full, err = path, nil
		}
	}
	if err == nil {
		err = inParent(full, func(r *Root, name string) error {
			return r.replace(r.top, name, name, data, perm)
		})
	}
	return failNamed("write", path, err)
}

// inParent opens the directory that the file full is in and runs fn with the
// last part. That part is an operator's choice, so the policy is not asked.
func inParent(full string, fn func(r *Root, name string) error) error {
	abs, err := filepath.Abs(full)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(abs)
	if name == "" {
		return refuse(NotRegular, "")
	}
	r, err := Open(dir, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	return fn(r, name)
}

// failNamed completes an error with the name that the operator gave.
func failNamed(op, path string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{Op: op, Path: path, Code: e.Code, Err: e.Err}
	}
	return fail(op, path, err)
}
