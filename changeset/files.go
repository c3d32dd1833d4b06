package changeset

import (
	"context"
	"fmt"
	"path"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// files is all that this package does to a file system, so that the tests can
// let each call fail.
type files = rootfs.Files

// The fixed names in the two folders. One temporary name is enough, since only
// the holder of the lock writes; so a crash leaves at most one file behind,
// which the next writer replaces.
const (
	lockName = "lock"
	tempName = rootfs.TempPrefix + "changeset"
)

// lock waits for the right to write below both folders, until ctx ends or
// Options.LockTimeout is over.
func (s *Store) lock(ctx context.Context, op string) (rootfs.Unlocker, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir := s.opts.Changesets
	if err := s.files.MkdirAll(dir, 0o755); err != nil {
		return nil, wrap(op, dir, err)
	}
	p := dir + "/" + lockName
	wait := s.opts.LockTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("it was held for %v", wait))
	defer cancel()
	l, err := s.files.Lock(ctx, p)
	return l, wrap(op, p, err)
}

// put makes data the content of the file at p, durably and at once: after a
// crash the old or the new file is there, whole. The caller holds the lock.
func (s *Store) put(p string, data []byte) error {
	dir := path.Dir(p)
	temp := dir + "/" + tempName
	if err := s.drop(temp); err != nil {
		return err
	}
	f, err := s.files.Create(temp, 0o644)
	if err != nil {
		return err
	}
	if err = rootfs.Fill(f, data); err == nil {
		err = s.files.Rename(temp, p)
	}
	if err != nil {
		_ = s.drop(temp) // the next put tries again
		return err
	}
	return s.files.SyncDir(dir)
}

// drop removes a file if it is there.
func (s *Store) drop(p string) error {
	if err := s.files.Remove(p); rootfs.CodeOf(err) != rootfs.NotFound {
		return err
	}
	return nil
}
