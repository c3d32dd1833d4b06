package rootfs

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Files is what the stores of this module do to a file system, so that their
// tests can put in its place a model that loses what was not synced, or one that
// fails at any call. The methods have the meaning and the errors of those of
// [Root]; [Root.Files] is the real one.
type Files interface {
	Stat(path string) (Info, error)
	ReadFile(path string, limit int64) ([]byte, error)
	Hash(path string, limit int64) (sum [sha256.Size]byte, size int64, err error)
	ReadDir(dir string, limit int) ([]Info, error)
	Walk(ctx context.Context, dir string, lim *Limits, fn func(Info) error) error
	Copy(from, to string, limit int64, perm fs.FileMode) (sum [sha256.Size]byte, size int64, err error)
	Create(path string, perm fs.FileMode) (NewFile, error)
	MkdirAll(path string, perm fs.FileMode) error
	Rename(oldpath, newpath string) error
	Remove(path string) error
	SyncDir(dir string) error
	Lock(ctx context.Context, path string) (Unlocker, error)
	Close() error
}

// NewFile is a new file that is being written, such as a [File].
type NewFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// Fill writes data to a new file, makes it durable and closes it, also when that
// fails. The error holds all that went wrong.
func Fill(f NewFile, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Unlocker is a lock that is held, such as a [Lock].
type Unlocker interface{ Unlock() error }

// Files returns the root as the interface that tests can replace.
func (r *Root) Files() Files { return disk{r} }

type disk struct{ *Root }

func (d disk) Create(path string, perm fs.FileMode) (NewFile, error) {
	f, err := d.Root.Create(path, perm)
	if err != nil {
		return nil, err // a nil *File in a NewFile would not be nil
	}
	return f, nil
}

func (d disk) Lock(ctx context.Context, path string) (Unlocker, error) {
	l, err := d.Root.Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// OpenOrMake is [Open] for a directory that may be missing: then it is made, with
// what is missing above it, durably and with mode perm before the umask.
func OpenOrMake(dir string, perm fs.FileMode, opts *Options) (*Root, error) {
	root, err := Open(dir, opts)
	if CodeOf(err) != NotFound {
		return root, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	above, missing := filepath.Dir(abs), filepath.Base(abs)
	for {
		// Only what is there can be opened, so find where it begins.
		_, err := os.Lstat(above)
		if !errors.Is(err, fs.ErrNotExist) || above == filepath.Dir(above) {
			break
		}
		missing = filepath.Base(above) + "/" + missing
		above = filepath.Dir(above)
	}
	parent, err := Open(above, opts)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(parent.MkdirAll(missing, perm), parent.Close()); err != nil {
		return nil, err
	}
	return Open(abs, opts)
}
