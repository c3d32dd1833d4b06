package rootfs_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// steps returns events as "op path", the random part of a temporary name
// replaced, and with the code of an error.
func steps(all []rootfs.Event) []string {
	var out []string
	for _, e := range all {
		p := e.Path
		if dir, name, ok := strings.Cut(p, rootfs.TempPrefix); ok && name != "" {
			p = dir + "TEMP"
		}
		s := e.Op + " " + p
		if e.Err != nil {
			s += ": " + string(rootfs.CodeOf(e.Err))
		}
		out = append(out, s)
	}
	return out
}

// TestWriteFileSteps fixes the order that makes a write durable: the content,
// then the name, then the directory.
func TestWriteFileSteps(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			var seen events
			opts.Trace = seen.add
			dir := t.TempDir()
			r := open(t, dir, opts)
			must(t, r.MkdirAll("a/b", 0o755))
			want := []string{
				"opendir .",
				"opendir a: not_found", "mkdir a", "sync .", "opendir a",
				"opendir a/b: not_found", "mkdir a/b", "sync a", "opendir a/b",
			}
			if diff := cmp.Diff(want, steps(seen.take())); diff != "" {
				t.Errorf("MkdirAll (-want +got):\n%s", diff)
			}
			for _, content := range []string{"first", "second"} {
				must(t, r.WriteFile("a/b/f", []byte(content), 0o644))
				want := []string{
					"opendir a/b", "stat a/b/f: not_found", "create a/b/TEMP", "write a/b/TEMP", "sync a/b/TEMP",
					"rename a/b/f", "sync a/b",
				}
				if content == "second" {
					want[1] = "stat a/b/f"
				}
				if diff := cmp.Diff(want, steps(seen.take())); diff != "" {
					t.Errorf("WriteFile of the %s content (-want +got):\n%s", content, diff)
				}
				if diff := cmp.Diff(map[string]string{"a": "d---------", "a/b": "d---------", "a/b/f": content}, tree(t, dir)); diff != "" {
					t.Errorf("files after the %s content (-want +got):\n%s", content, diff)
				}
			}
		})
	}
}

// TestReadSteps fixes what reading costs: nothing that can fail is tried on
// the off chance.
func TestReadSteps(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			var seen events
			opts.Trace = seen.add
			dir := t.TempDir()
			put(t, dir, "a/f", "x")
			r := open(t, dir, opts)
			if got := seen.take(); len(got) > 0 {
				t.Errorf("Open caused %v", steps(got))
			}
			cases := []struct {
				name string
				do   func() error
				want []string
			}{
				{"ReadFile", func() error { return second(r.ReadFile("a/f", 9)) }, []string{"open a/f", "read a/f", "stat a/f"}},
				{"Stat", func() error { return second(r.Stat("a/f")) }, []string{"opendir a", "stat a/f"}},
				{"Stat of the root", func() error { return second(r.Stat(".")) }, []string{"stat ."}},
				{"ReadDir", func() error { return second(r.ReadDir(".", 9)) }, []string{"opendir .", "readdir .", "stat a"}},
				{"Walk", func() error {
					return r.Walk(t.Context(), ".", &rootfs.Limits{HashBytes: 9}, func(rootfs.Info) error { return nil })
				}, []string{"opendir .", "readdir .", "stat a", "opendir a", "readdir a", "stat a/f", "open a/f", "read a/f", "stat a/f"}},
				{"nothing there", func() error { _, _ = r.ReadFile("a/g", 9); return nil }, []string{"open a/g: not_found"}},
				{"Remove", func() error { return r.Remove("a/f") }, []string{"opendir a", "stat a/f", "remove a/f"}},
			}
			for _, c := range cases {
				must(t, c.do())
				if diff := cmp.Diff(c.want, steps(seen.take())); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.name, diff)
				}
			}
		})
	}
}

func TestCreate(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			var seen events
			opts.Trace = seen.add
			dir := t.TempDir()
			r := open(t, dir, opts)
			f, err := r.Create("f", 0o600|fs.ModeSetuid)
			must(t, err)
			seen.take()
			for _, part := range []string{"one ", "two"} {
				if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			}
			must(t, f.Chmod(0o751), f.Sync(), f.Close())
			if diff := cmp.Diff([]string{"write f", "write f", "chmod f", "sync f"}, steps(seen.take())); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if _, err := f.Write(nil); rootfs.CodeOf(err) != rootfs.IO || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Write after Close = %v, want code io and fs.ErrClosed", err)
			}
			if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("second Close = %v, want fs.ErrClosed", err)
			}
			i, err := r.Stat("f")
			must(t, err)
			if i.Size != 7 || runtime.GOOS != "windows" && i.Mode != 0o751 {
				t.Errorf("Stat = %v, want 7 bytes and mode 0751", i)
			}
			if _, err := r.Create("f", 0o644); rootfs.CodeOf(err) != rootfs.Exists || !errors.Is(err, fs.ErrExist) {
				t.Errorf("Create again = %v, want code exists", err)
			}
			if _, err := r.Create("no/f", 0o644); rootfs.CodeOf(err) != rootfs.NotFound {
				t.Errorf("Create without a directory = %v, want code not_found", err)
			}
		})
	}
}

func TestCopy(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			content := strings.Repeat("0123456789", 30_000)
			put(t, dir, "a/f", content, "b/old", "old")
			grow := false
			opts.Trace = func(e rootfs.Event) {
				if grow && e.Op == "open" {
					grow = false
					put(t, dir, "a/f", content+"more")
				}
			}
			r := open(t, dir, opts)
			size := int64(len(content))
			sum, n, err := r.Copy("a/f", "b/g", size, 0o600)
			if sum != sha256.Sum256([]byte(content)) || n != size || err != nil {
				t.Errorf("Copy = %x, %d, %v", sum, n, err)
			}
			if got := tree(t, dir)["b/g"]; got != content {
				t.Errorf("the copy has %d bytes, want %d", len(got), size)
			}
			if i, err := r.Stat("b/g"); err != nil || runtime.GOOS != "windows" && i.Mode != 0o600 {
				t.Errorf("Stat of the copy = %v, %v, want mode 0600", i.Mode, err)
			}
			before := tree(t, dir)
			for _, c := range []struct {
				from, to string
				limit    int64
				want     rootfs.Code
			}{
				{"a/f", "b/h", size - 1, rootfs.TooLarge},
				{"a/f", "b/old", size, rootfs.Exists},
				{"a/f", "c/h", size, rootfs.NotFound},
				{"a/g", "b/h", size, rootfs.NotFound},
				{"a", "b/h", size, rootfs.NotRegular},
				{"../a", "b/h", size, rootfs.PathInvalid},
				{"a/f", "../h", size, rootfs.PathInvalid},
			} {
				sum, n, err := r.Copy(c.from, c.to, c.limit, 0o644)
				if rootfs.CodeOf(err) != c.want || n != 0 || sum != [sha256.Size]byte{} {
					t.Errorf("Copy(%q, %q, %d) = %d, %v, want code %s", c.from, c.to, c.limit, n, err, c.want)
				}
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("refused copies changed files (-before +after):\n%s", diff)
			}
			grow = true
			if _, _, err := r.Copy("a/f", "b/h", 2*size, 0o644); rootfs.CodeOf(err) != rootfs.Changed {
				t.Errorf("Copy of a growing file = %v, want code changed", err)
			}
			if _, err := r.Stat("b/h"); rootfs.CodeOf(err) != rootfs.NotFound {
				t.Errorf("it left a copy: %v", err)
			}
		})
	}
}

func TestRenameAndRemove(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "d/a", "a", "d/b", "b", "e/c", "c")
			r := open(t, dir, opts)
			cases := []struct {
				name string
				do   func() error
				want rootfs.Code
				left map[string]string // files then
			}{
				{"onto a file", func() error { return r.Rename("d/a", "d/b") }, "", map[string]string{"d/b": "a", "e/c": "c"}},
				{"to a free name", func() error { return r.Rename("d/b", "d/x") }, "", map[string]string{"d/x": "a", "e/c": "c"}},
				{"a directory", func() error { return r.Rename("e", "g") }, "", map[string]string{"d/x": "a", "g/c": "c"}},
				{"into another directory", func() error { return r.Rename("d/x", "g/x") }, rootfs.PathInvalid, nil},
				{"onto a directory", func() error { return r.Rename("g", "d") }, rootfs.NotRegular, nil},
				{"nothing", func() error { return r.Rename("d/q", "d/r") }, rootfs.NotFound, nil},
				{"bad old name", func() error { return r.Rename("../x", "d/r") }, rootfs.PathInvalid, nil},
				{"remove a full directory", func() error { return r.Remove("d") }, rootfs.NotEmpty, nil},
				{"remove nothing", func() error { return r.Remove("q") }, rootfs.NotFound, nil},
				{"remove a file", func() error { return r.Remove("d/x") }, "", map[string]string{"g/c": "c"}},
				{"remove a directory", func() error { return r.Remove("d") }, "", nil},
				{"sync", func() error { return r.SyncDir("g") }, "", nil},
				{"sync the root", func() error { return r.SyncDir(".") }, "", nil},
				{"sync a file", func() error { return r.SyncDir("g/c") }, rootfs.NotDir, nil},
				{"make the root", func() error { return r.MkdirAll(".", 0o755) }, "", nil},
			}
			left := map[string]string{}
			for _, c := range cases {
				if err := c.do(); rootfs.CodeOf(err) != c.want {
					t.Errorf("%s: %v, want code %q", c.name, err, c.want)
				}
				if c.left != nil {
					left = c.left
				}
				got := tree(t, dir)
				for p, content := range got {
					if strings.HasPrefix(content, "d-") {
						delete(got, p)
					}
				}
				if diff := cmp.Diff(left, got); diff != "" {
					t.Errorf("%s: files (-want +got):\n%s", c.name, diff)
				}
			}
			if _, err := r.Stat("d"); rootfs.CodeOf(err) != rootfs.NotFound {
				t.Errorf("Stat of a removed directory = %v", err)
			}
		})
	}
}

// TestRemoveLink removes a link and keeps what it leads to.
func TestRemoveLink(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			base := t.TempDir()
			put(t, base, "out/secret", secret, "root/ok.md", "ok")
			dir := filepath.Join(base, "root")
			if err := os.Symlink("../out", filepath.Join(dir, "l")); err != nil {
				t.Skipf("making a link needs privilege: %v", err)
			}
			r := open(t, dir, opts)
			must(t, r.Remove("l"))
			want := map[string]string{"out": "d---------", "out/secret": secret, "root": "d---------", "root/ok.md": "ok"}
			if diff := cmp.Diff(want, tree(t, base)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConcurrentUse reads and replaces one file from several goroutines: every
// read sees one of the contents, whole, or that the file was replaced.
func TestConcurrentUse(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, opts)
			content := func(i int) string { return strings.Repeat(string(rune('a'+i)), 3000+i) }
			must(t, r.MkdirAll("d", 0o755), r.WriteFile("d/f", []byte(content(0)), 0o644))
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					for range 20 {
						if err := r.WriteFile("d/f", []byte(content(i)), 0o644); err != nil {
							t.Error(err)
						}
					}
				})
				wg.Go(func() {
					for range 200 {
						data, err := r.ReadFile("d/f", 1<<20)
						if rootfs.CodeOf(err) == rootfs.Changed {
							continue
						}
						if err != nil || string(data) != content(int(data[0]-'a')) {
							t.Errorf("read %d bytes, %v", len(data), err)
						}
					}
				})
				wg.Go(func() {
					for range 20 {
						if err := r.MkdirAll("x/y/z", 0o755); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := tree(t, dir); len(got) != 5 {
				t.Errorf("left behind: %d entries", len(got))
			}
		})
	}
}

// TestClosed uses a Root after Close.
func TestClosed(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "ok.md", "ok")
			r := open(t, dir, opts)
			must(t, r.Close())
			for name, op := range operations(r, "ok.md") {
				if err := op(); rootfs.CodeOf(err) != rootfs.IO || !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s = %v, want code io and fs.ErrClosed", name, err)
				}
			}
			if diff := cmp.Diff(map[string]string{"ok.md": "ok"}, tree(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
