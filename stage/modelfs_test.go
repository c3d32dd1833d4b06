package stage_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/stage"
)

// The methods of a model that make it a file system of the package, with the
// errors of the real one.

func (m *model) note(op, p string) fault {
	c := call{op, p}
	switch op {
	case "create", "write", "sync", "mkdir", "rename", "remove", "syncdir":
		if m.before != nil {
			m.before(c)
		}
	}
	if m.fail != nil {
		return m.fail(c)
	}
	return works
}

func oops(op, p string, code rootfs.Code, err error) error {
	return &rootfs.Error{Op: op, Path: p, Code: code, Err: err}
}

// system returns the error of a fault.
func (f fault) system(op, p string) error {
	switch f {
	case works:
		return nil
	case failsFull:
		return oops(op, p, rootfs.IO, syscall.ENOSPC)
	default:
		return oops(op, p, rootfs.IO, syscall.EIO)
	}
}

// find returns the entry at p.
func (m *model) find(op, p string) (*inode, error) {
	if p != "." {
		if err := rootfs.Check(p); err != nil {
			return nil, err
		}
	}
	at := m.top
	if p == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(p, "/") {
		if !at.dir {
			return nil, oops(op, p, rootfs.NotDir, syscall.ENOTDIR)
		}
		sub, ok := at.names[part]
		if !ok {
			return nil, oops(op, p, rootfs.NotFound, syscall.ENOENT)
		}
		at = sub
	}
	return at, nil
}

func (m *model) findFile(op, p string, limit int64) (*inode, error) {
	if f := m.note(op, p); f != works {
		return nil, failsEIO.system(op, p)
	}
	n, err := m.find(op, p)
	switch {
	case err != nil:
		return nil, err
	case n.dir:
		return nil, oops(op, p, rootfs.NotRegular, nil)
	case int64(len(n.data)) > limit:
		return nil, oops(op, p, rootfs.TooLarge, nil)
	}
	return n, nil
}

func (m *model) findDir(op, p string) (*inode, error) {
	n, err := m.find(op, p)
	if err == nil && !n.dir {
		err = oops(op, p, rootfs.NotDir, syscall.ENOTDIR)
	}
	return n, err
}

// alter changes a directory.
func (m *model) alter(dir *inode, c change) {
	m.seq++
	c.seq = m.seq
	c.apply(dir.names)
	dir.pending = append(dir.pending, c)
	dir.lies = false
}

func (m *model) info(p string, n *inode) rootfs.Info {
	return rootfs.Info{Path: p, Size: int64(len(n.data)), Mode: n.mode, ModTime: time.Unix(0, 0)}
}

func (m *model) Stat(p string) (rootfs.Info, error) {
	if f := m.note("stat", p); f != works {
		return rootfs.Info{}, failsEIO.system("stat", p)
	}
	n, err := m.find("stat", p)
	if err != nil {
		return rootfs.Info{}, err
	}
	return m.info(p, n), nil
}

func (m *model) ReadFile(p string, limit int64) ([]byte, error) {
	n, err := m.findFile("read", p, limit)
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.data), nil
}

func (m *model) Hash(p string, limit int64) ([32]byte, int64, error) {
	n, err := m.findFile("hash", p, limit)
	if err != nil {
		return [32]byte{}, 0, err
	}
	return sha256.Sum256(n.data), int64(len(n.data)), nil
}

func (m *model) ReadDir(dir string, limit int) ([]rootfs.Info, error) {
	if f := m.note("readdir", dir); f != works {
		return nil, failsEIO.system("readdir", dir)
	}
	n, err := m.findDir("readdir", dir)
	if err != nil {
		return nil, err
	}
	var infos []rootfs.Info
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		infos = append(infos, m.info(path.Join(dir, name), n.names[name]))
	}
	return infos, nil
}

func (m *model) Walk(_ context.Context, dir string, _ *rootfs.Limits, fn func(rootfs.Info) error) error {
	infos, err := m.ReadDir(dir, 0)
	for _, info := range infos {
		if err := fn(info); err != nil {
			return err
		}
		if info.Mode.IsDir() {
			if err := m.Walk(context.Background(), info.Path, nil, fn); err != nil {
				return err
			}
		}
	}
	return err
}

func (m *model) Create(p string, perm fs.FileMode) (stage.NewFile, error) {
	f := m.note("create", p)
	if f != works && f != failsLate {
		return nil, f.system("create", p)
	}
	dir, err := m.findDir("create", path.Dir(p))
	if err != nil {
		return nil, err
	}
	if _, ok := dir.names[path.Base(p)]; ok {
		return nil, oops("create", p, rootfs.Exists, syscall.EEXIST)
	}
	n := &inode{mode: perm, safe: true}
	m.alter(dir, change{name: path.Base(p), node: n})
	if f == failsLate {
		return nil, f.system("create", p)
	}
	return &modelFile{m, p, n}, nil
}

type modelFile struct {
	m    *model
	path string
	n    *inode
}

func (f *modelFile) Write(p []byte) (int, error) {
	how := f.m.note("write", f.path)
	if how == failsEIO || how == failsFull {
		return 0, how.system("write", f.path)
	}
	if how == failsShort {
		p = p[:len(p)/2]
	}
	if len(p) > 0 {
		f.n.data = append(f.n.data, p...)
		f.n.safe = false
	}
	return len(p), how.system("write", f.path)
}

func (f *modelFile) Sync() error {
	how := f.m.note("sync", f.path)
	switch {
	case how == failsShort:
		f.n.lies = true
	case (how == works || how == failsLate) && !f.n.lies && !f.m.broken.ignores("sync", f.path):
		f.n.disk, f.n.safe = f.n.data, true
	}
	return how.system("sync", f.path)
}

func (f *modelFile) Close() error {
	if how := f.m.note("close", f.path); how != works {
		return how.system("close", f.path)
	}
	return nil
}

func (m *model) Copy(from, to string, limit int64, perm fs.FileMode) (sum [32]byte, size int64, err error) {
	n, err := m.findFile("read", from, limit)
	if err != nil {
		return sum, 0, err
	}
	f, err := m.Create(to, perm)
	if err != nil {
		return sum, 0, err
	}
	if _, err = f.Write(n.data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = m.Remove(to)
		return sum, 0, err
	}
	return sha256.Sum256(n.data), int64(len(n.data)), nil
}

func (m *model) MkdirAll(p string, _ fs.FileMode) error {
	at, so := m.top, "."
	for part := range strings.SplitSeq(p, "/") {
		so = path.Join(so, part)
		if _, ok := at.names[part]; !ok {
			f := m.note("mkdir", so)
			if f != works && f != failsLate {
				return f.system("mkdir", so)
			}
			m.alter(at, change{name: part, node: newDir()})
			if f == failsLate {
				return f.system("mkdir", so)
			}
			if err := m.SyncDir(path.Dir(so)); err != nil {
				return err
			}
		}
		if at = at.names[part]; !at.dir {
			return oops("mkdir", p, rootfs.NotDir, syscall.ENOTDIR)
		}
	}
	return nil
}

func (m *model) Rename(from, to string) error {
	f := m.note("rename", to)
	if f != works && f != failsLate {
		return f.system("rename", to)
	}
	n, err := m.find("rename", from)
	if err != nil {
		return err
	}
	dir, err := m.findDir("rename", path.Dir(to))
	if err != nil {
		return err
	}
	if path.Dir(from) != path.Dir(to) {
		return oops("rename", to, rootfs.PathInvalid, nil)
	}
	if !m.broken.rename(m, dir, from, to, n) {
		m.alter(dir, change{name: path.Base(to), node: n, from: path.Base(from)})
	}
	return f.system("rename", to)
}

func (m *model) Remove(p string) error {
	f := m.note("remove", p)
	if f != works && f != failsLate {
		return f.system("remove", p)
	}
	n, err := m.find("remove", p)
	if err != nil {
		return err
	}
	if n.dir && len(n.names) > 0 {
		return oops("remove", p, rootfs.NotEmpty, syscall.ENOTEMPTY)
	}
	dir, _ := m.find("remove", path.Dir(p))
	m.alter(dir, change{name: path.Base(p)})
	return f.system("remove", p)
}

func (m *model) SyncDir(p string) error {
	f := m.note("syncdir", p)
	n, err := m.findDir("sync", p)
	if err != nil {
		return err
	}
	switch {
	case f == failsShort:
		n.lies = true
	case (f == works || f == failsLate) && !n.lies && !m.broken.ignores("syncdir", p):
		n.durable, n.pending = maps.Clone(n.names), nil
	}
	return f.system("sync", p)
}

type noLock struct{}

func (noLock) Unlock() error { return nil }

func (m *model) Lock(_ context.Context, p string) (stage.Unlocker, error) {
	if f := m.note("lock", p); f != works {
		return nil, failsEIO.system("lock", p)
	}
	return noLock{}, nil
}

func (m *model) Close() error { return nil }
