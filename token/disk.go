package token

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The files in a store's directory.
const (
	logName  = "approvals.log"
	lockName = "approvals.lock"
	keyName  = "seal.keys"
	keyLock  = "seal.lock"
)

// A disk is what the log needs of a file system. Tests put in its place one
// that fails, or that forgets what was not made durable.
type disk interface {
	// lock waits for the lock that all processes on the directory share. It
	// tries at least once, even if ctx has ended, and fails with
	// [rootfs.Locked] if that is not free by then.
	lock(ctx context.Context) (unlock func() error, err error)
	// open opens the log for reading and writing, or fails with
	// fs.ErrNotExist.
	open() (diskFile, error)
	// replace gives the log new content, durably and at once.
	replace(data []byte) error
	// syncDir makes the log's name durable.
	syncDir() error
	close() error
}

// A diskFile is an open log.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	// stat returns the size, and whether this is still the file of that name.
	stat() (size int64, current bool, err error)
}

// osDisk is the disk of the operating system.
type osDisk struct {
	root  *rootfs.Root
	files *os.Root // for handles that stay open, which rootfs does not give
}

// openDisk opens the directory dir, and makes it if it is missing.
func openDisk(dir string) (*osDisk, error) {
	root, err := rootfs.OpenOrMake(dir, 0o700, nil)
	if err != nil {
		return nil, ioError("open", err)
	}
	files, err := os.OpenRoot(root.Dir())
	if err != nil {
		_ = root.Close() // the first error says more
		return nil, ioError("open", err)
	}
	return &osDisk{root: root, files: files}, nil
}

func (d *osDisk) lock(ctx context.Context) (func() error, error) {
	l, err := d.root.Lock(ctx, lockName)
	if err != nil {
		return nil, err // ioError knows one that is held
	}
	return l.Unlock, nil
}

func (d *osDisk) open() (diskFile, error) {
	f, err := d.files.OpenFile(logName, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	file := &osFile{File: f, dir: d.files}
	if file.info, err = f.Stat(); err == nil {
		err = private(file.info)
	}
	if err == nil {
		var current bool
		// The name could have been a link, which OpenFile follows.
		if _, current, err = file.stat(); err == nil && !current {
			err = fs.ErrInvalid
		}
	}
	if err != nil {
		_ = f.Close() // the first error says more
		return nil, err
	}
	return file, nil
}

// private refuses what is not a regular file for its owner alone. Windows does
// not show in a mode who may read a file.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fs.ErrInvalid
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return &Error{Code: CodeExposed, Op: "open", Detail: info.Name()}
	}
	return nil
}

func (d *osDisk) replace(data []byte) error { return d.root.WriteFile(logName, data, 0o600) }
func (d *osDisk) syncDir() error            { return d.root.SyncDir(".") }
func (d *osDisk) close() error              { return errors.Join(d.files.Close(), d.root.Close()) }

// osFile is a diskFile of the operating system.
type osFile struct {
	*os.File
	dir  *os.Root
	info fs.FileInfo
}

func (f *osFile) stat() (int64, bool, error) {
	named, err := f.dir.Lstat(logName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return named.Size(), os.SameFile(named, f.info), nil
}

// ioError classifies an error of the operating system or of rootfs.
func ioError(op string, err error) error {
	own, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return nil
	case ok:
		return own
	case rootfs.CodeOf(err) == rootfs.Locked: // the log's or the key file's
		return &Error{Code: CodeLocked, Op: op, Err: err}
	case errors.Is(err, fs.ErrClosed):
		return &Error{Code: CodeClosed, Op: op, Err: err}
	}
	return &Error{Code: CodeIO, Op: op, Err: err}
}
