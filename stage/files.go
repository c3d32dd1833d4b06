package stage

import (
	"context"
	"crypto/sha256"
	"io/fs"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// files is all that this package does to a file system, so that the tests can
// put a model in its place that loses what was not synced. The methods have the
// meaning and the errors of those of [rootfs.Root].
type files interface {
	Stat(path string) (rootfs.Info, error)
	ReadFile(path string, limit int64) ([]byte, error)
	Hash(path string, limit int64) (sum [sha256.Size]byte, size int64, err error)
	ReadDir(dir string, limit int) ([]rootfs.Info, error)
	Walk(ctx context.Context, dir string, lim *rootfs.Limits, fn func(rootfs.Info) error) error
	Copy(from, to string, limit int64, perm fs.FileMode) (sum [sha256.Size]byte, size int64, err error)
	Create(path string, perm fs.FileMode) (file, error)
	MkdirAll(path string, perm fs.FileMode) error
	Rename(oldpath, newpath string) error
	Remove(path string) error
	SyncDir(dir string) error
	Lock(ctx context.Context, path string) (unlocker, error)
	Close() error
}

// file is a new file that is being written.
type file interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// unlocker is a lock that is held.
type unlocker interface{ Unlock() error }

// disk is the file system below a root.
type disk struct{ *rootfs.Root }

func (d disk) Create(path string, perm fs.FileMode) (file, error) {
	f, err := d.Root.Create(path, perm)
	if err != nil {
		return nil, err // a nil *rootfs.File in a file would not be nil
	}
	return f, nil
}

func (d disk) Lock(ctx context.Context, path string) (unlocker, error) {
	l, err := d.Root.Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	return l, nil
}
