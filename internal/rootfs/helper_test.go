package rootfs_test

import (
	"context"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// secret is what no test may ever read.
const secret = "SECRET outside the root"

// ways yields the two methods of opening.
func ways() iter.Seq2[string, rootfs.Options] {
	return maps.All(map[string]rootfs.Options{"openat2": {}, "portable": {Portable: true}})
}

// open opens dir until the end of the test.
func open(tb testing.TB, dir string, opts rootfs.Options) *rootfs.Root {
	tb.Helper()
	r, err := rootfs.Open(dir, &opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	return r
}

// must ends the test if one of errs is not nil.
func must(tb testing.TB, errs ...error) {
	tb.Helper()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// put writes files, given as name and content in turn, and the directories
// they are in.
func put(tb testing.TB, dir string, files ...string) {
	tb.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		must(tb, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(files[i+1]), 0o644))
	}
}

// mountPoint is the name of a directory that tests mount something on.
const mountPoint = "mnt"

// tree returns all that is below dir but not mounted there: path to content,
// kind or link target.
func tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	must(tb, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if d.Name() == mountPoint {
			return fs.SkipDir
		}
		rel, _ := filepath.Rel(dir, p)
		all[rel] = d.Type().String()
		switch {
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil || info.Size() > 1<<20 {
				return err
			}
			data, err := os.ReadFile(p)
			all[rel] = string(data)
			return err
		case d.Type() == fs.ModeSymlink:
			all[rel], err = os.Readlink(p)
		}
		return err
	}))
	return all
}

// events records what Options.Trace is told.
type events struct {
	mu  sync.Mutex
	all []rootfs.Event
}

func (e *events) add(ev rootfs.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// take returns and forgets the events so far.
func (e *events) take() []rootfs.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.all
	e.all = nil
	return all
}

// operations names everything that can be done to one path.
func operations(r *rootfs.Root, path string) map[string]func() error {
	ctx := context.Background()
	return map[string]func() error{
		"Stat":      func() error { _, err := r.Stat(path); return err },
		"ReadFile":  func() error { _, err := r.ReadFile(path, 1<<20); return err },
		"Hash":      func() error { _, _, err := r.Hash(path, 1<<20); return err },
		"ReadDir":   func() error { _, err := r.ReadDir(path, 100); return err },
		"Walk":      func() error { return r.Walk(ctx, path, nil, func(rootfs.Info) error { return nil }) },
		"Collision": func() error { _, err := r.Collision(path); return err },
		"WriteFile": func() error { return r.WriteFile(path, []byte("new"), 0o644) },
		"Create": func() error {
			f, err := r.Create(path, 0o644)
			if err == nil {
				err = f.Close()
			}
			return err
		},
		"MkdirAll":    func() error { return r.MkdirAll(path, 0o755) },
		"Remove":      func() error { return r.Remove(path) },
		"Rename":      func() error { return r.Rename("ok.md", path) },
		"Rename from": func() error { return r.Rename(path, "other.md") },
		"SyncDir":     func() error { return r.SyncDir(path) },
		"Lock": func() error {
			l, err := r.Lock(ctx, path)
			if err == nil {
				err = l.Unlock()
			}
			return err
		},
	}
}

// second drops a result.
func second[T any](_ T, err error) error { return err }
