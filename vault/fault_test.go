package vault_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/vault"
)

// faulty fails one operation, before or after it was carried out.
type faulty struct {
	vault.Files
	armed bool
	left  int  // operations until the one that fails
	after bool // it is carried out first
	done  bool
	cause *rootfs.Error // instead of a full disk
}

// run carries fn out unless it is the one that fails.
func (f *faulty) run(op, path string, fn func() error) error {
	hit := f.armed && !f.done && f.left == 0
	if f.armed {
		f.left--
	}
	if !hit {
		return fn()
	}
	f.done = true
	if f.after {
		if err := fn(); err != nil {
			return err
		}
	}
	if f.cause != nil {
		return f.cause
	}
	return &rootfs.Error{Op: op, Path: path, Code: rootfs.IO, Err: syscall.ENOSPC}
}

func (f *faulty) ReadFile(path string, limit int64) (data []byte, err error) {
	err = f.run("read", path, func() (err error) { data, err = f.Files.ReadFile(path, limit); return err })
	return data, err
}

func (f *faulty) ReadDir(dir string, limit int) (list []rootfs.Info, err error) {
	err = f.run("readdir", dir, func() (err error) { list, err = f.Files.ReadDir(dir, limit); return err })
	return list, err
}

func (f *faulty) Create(path string, perm fs.FileMode) (file *rootfs.File, err error) {
	err = f.run("create", path, func() (err error) { file, err = f.Files.Create(path, perm); return err })
	if err != nil && file != nil {
		file.Close() // it is there, and nobody has it
	}
	return file, err
}

func (f *faulty) Copy(from, to string, limit int64, perm fs.FileMode) (sum [32]byte, size int64, err error) {
	err = f.run("copy", to, func() (err error) { sum, size, err = f.Files.Copy(from, to, limit, perm); return err })
	return sum, size, err
}

func (f *faulty) Rename(from, to string) error {
	return f.run("rename", to, func() error { return f.Files.Rename(from, to) })
}

func (f *faulty) Remove(path string) error {
	return f.run("remove", path, func() error { return f.Files.Remove(path) })
}

func (f *faulty) SyncDir(dir string) error {
	return f.run("sync", dir, func() error { return f.Files.SyncDir(dir) })
}

func (f *faulty) Lock(ctx context.Context, path string) (l *rootfs.Lock, err error) {
	before := f.done
	err = f.run("lock", path, func() (err error) {
		if f.done && !before {
			return nil // a lock that is reported as failed is not held
		}
		l, err = f.Files.Lock(ctx, path)
		return err
	})
	return l, err
}

// TestFaults lets every operation of a change fail: the vault opens, with the
// old or the new state, and an error says so if it was not acknowledged.
func TestFaults(t *testing.T) {
	for name, change := range changes {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, carried out %v", name, after), func(t *testing.T) {
				points := 0
				for ; ; points++ {
					first, dir := create(t)
					set(t, first, "A", "old")
					root, err := vault.Traced(dir, func(rootfs.Event) {})
					if err != nil {
						t.Fatal(err)
					}
					f := &faulty{Files: root, left: points, after: after}
					v, err := vault.OpenOn(t.Context(), f, goodKey)
					if err != nil {
						t.Fatal(err)
					}
					f.armed = true
					err = change(t.Context(), v)
					f.armed = false
					value := wantWhole(t, dir)
					if err == nil && name == "update" && value != "new" {
						t.Errorf("point %d: acknowledged, and A is %q", points, value)
					}
					if code := vault.CodeOf(err); err != nil && code != vault.CodeIO {
						t.Errorf("point %d gave code %q (%v)", points, code, err)
					}
					// The vault that failed goes on with what is there.
					wantGet(t, profile(t, v, vault.Default), "A", value, "vault:default")
					set(t, v, "A", "new")
					wantWhole(t, dir)
					v.Close()
					if !f.done {
						break
					}
				}
				if points < 5 {
					t.Errorf("only %d operations", points)
				}
			})
		}
	}
}

// TestDenied: where the system denies access, the error says so, and not that
// others have it.
func TestDenied(t *testing.T) {
	_, dir := create(t)
	root, err := vault.Traced(dir, func(rootfs.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{Files: root, cause: &rootfs.Error{Op: "lock", Path: "vault.lock", Code: rootfs.Permission, Err: syscall.EACCES}}
	v, err := vault.OpenOn(t.Context(), f, goodKey)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	f.armed = true
	err = v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", "1") })
	wantCode(t, "Update", err, vault.CodePermissions)
	if err == nil || !strings.Contains(err.Error(), "denies access") || strings.Contains(err.Error(), "not private") {
		t.Errorf("the text is %v", err)
	}
}

// unnamed fails to make names durable.
type unnamed struct {
	vault.Files
	renamed bool // vault.json was replaced
}

func (u *unnamed) Rename(from, to string) error {
	u.renamed = u.renamed || to == "vault.json"
	return u.Files.Rename(from, to)
}

func (u *unnamed) SyncDir(dir string) error {
	if u.renamed {
		return &rootfs.Error{Op: "sync", Path: dir, Code: rootfs.IO, Err: syscall.EIO}
	}
	return u.Files.SyncDir(dir)
}

// TestNameNotDurable: a change is not acknowledged before the new file has its
// name for good, and with that step failed it is there all the same.
func TestNameNotDurable(t *testing.T) {
	for name, change := range changes {
		first, dir := create(t)
		set(t, first, "A", "old")
		root, err := vault.Traced(dir, func(rootfs.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		v, err := vault.OpenOn(t.Context(), &unnamed{Files: root}, goodKey)
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, name, change(t.Context(), v), vault.CodeIO)
		if value := wantWhole(t, dir); name == "update" && value != "new" {
			t.Errorf("%s: A is %q", name, value)
		}
		v.Close()
	}
}
