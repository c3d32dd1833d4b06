package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// An Area is where candidates of one project are staged, and promoted from.
// Open makes one.
//
// It is safe for concurrent use, and several processes may have areas on one
// root. Close it when it is no longer needed.
type Area struct {
	files files
	opts  Options
	newID func() string // the random part of an operation id
}

// Open opens the area of the project in the directory root, named in the form
// of the operating system. Nothing is written before it is needed. The error's
// code is stage_options_invalid, or stage_io with the reason why the directory
// cannot be opened.
func Open(root string, opts *Options) (*Area, error) {
	full, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r, err := rootfs.Open(root, nil)
	if err != nil {
		return nil, &Error{Code: CodeIO, Op: "open", Err: err}
	}
	return &Area{files: r.Files(), opts: full, newID: randomID}, nil
}

// randomID keeps operations apart that have the same number.
func randomID() string { return strings.ToLower(rand.Text()[:8]) }

// Close releases the handle of the root. What is under way in other calls is
// completed. The error is always nil, as nothing can be lost.
func (a *Area) Close() error { return a.files.Close() }

// setUp makes the area's directory, and has git ignore it.
func (a *Area) setUp(op string) error {
	if err := a.makeDir(op, a.opts.Dir); err != nil {
		return err
	}
	p := a.below(ignoreName)
	_, err := a.files.Stat(p)
	if rootfs.CodeOf(err) != rootfs.NotFound {
		return wrap(CodeUnsafe, op, p, err)
	}
	// Without a lock, so two processes may meet here; both write the same.
	f, err := a.files.Create(p, 0o644)
	if rootfs.CodeOf(err) == rootfs.Exists {
		return nil
	}
	if err == nil {
		err = rootfs.Fill(f, []byte("*\n"))
	}
	if err == nil {
		err = a.files.SyncDir(a.opts.Dir)
	}
	return wrap(CodeUnsafe, op, p, err)
}

// makeDir makes a directory of the area.
func (a *Area) makeDir(op, dir string) error {
	return wrap(CodeUnsafe, op, dir, a.files.MkdirAll(dir, 0o755))
}

// lock waits for the area's lock, until ctx ends or Options.LockTimeout is over.
func (a *Area) lock(ctx context.Context, op string) (rootfs.Unlocker, error) {
	if err := a.setUp(op); err != nil {
		return nil, err
	}
	p := a.below(lockName)
	wait := a.opts.LockTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("it was held for %v", wait))
	defer cancel()
	l, err := a.files.Lock(ctx, p)
	if rootfs.CodeOf(err) == rootfs.Locked {
		return nil, &Error{Code: CodeLocked, Op: op, Err: err}
	}
	return l, wrap(CodeUnsafe, op, p, err)
}

// unlock releases the area's lock.
func unlock(op string, l rootfs.Unlocker) error {
	return wrap(CodeIO, op, "", l.Unlock())
}

// put makes data the content of the area's own file at dir/name, durably and
// at once. The caller holds the lock. placed is false if the file is surely
// what it was before.
func (a *Area) put(dir, name string, data []byte) (placed bool, err error) {
	temp := dir + "/" + rootfs.TempPrefix + name
	if err := a.removeFile(temp); err != nil { // left by a crash
		return false, err
	}
	f, err := a.files.Create(temp, 0o600)
	if err != nil {
		return false, err
	}
	if err := rootfs.Fill(f, data); err != nil {
		return false, errors.Join(err, a.removeFile(temp))
	}
	if err := a.files.Rename(temp, dir+"/"+name); err != nil {
		return true, err
	}
	return true, a.files.SyncDir(dir)
}

// removeFile removes the file at path if there is one.
func (a *Area) removeFile(path string) error {
	err := a.files.Remove(path)
	if code := rootfs.CodeOf(err); code == rootfs.NotFound || code == rootfs.NotDir {
		return nil
	}
	return err
}
