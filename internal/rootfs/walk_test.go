package rootfs_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// walked returns the paths that a walk from dir reports, and its error. fn may
// be nil.
func walked(ctx context.Context, r *rootfs.Root, dir string, fn func(rootfs.Info) error) ([]string, error) {
	var paths []string
	err := r.Walk(ctx, dir, nil, func(i rootfs.Info) error {
		paths = append(paths, i.Path)
		if fn == nil {
			return i.Err
		}
		return fn(i)
	})
	return paths, err
}

func TestWalk(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "b", "", "a/z", "", "a/y/x", "", "a-b", "", "a.md", "", "a0", "", "B/c", "")
			r := open(t, dir, opts)
			stop := errors.New("stop")
			at := func(path string, err error) func(rootfs.Info) error {
				return func(i rootfs.Info) error {
					if i.Path == path {
						return err
					}
					return nil
				}
			}
			cases := []struct {
				name, dir string
				fn        func(rootfs.Info) error
				want      []string
				err       error
			}{
				{"all", ".", nil, []string{"B", "B/c", "a-b", "a.md", "a", "a/y", "a/y/x", "a/z", "a0", "b"}, nil},
				{"below", "a", nil, []string{"a/y", "a/y/x", "a/z"}, nil},
				{"without a", ".", at("a", fs.SkipDir), []string{"B", "B/c", "a-b", "a.md", "a", "a0", "b"}, nil},
				{"not after a/y/x", ".", at("a/y/x", fs.SkipDir), []string{"B", "B/c", "a-b", "a.md", "a", "a/y", "a/y/x", "a/z", "a0", "b"}, nil},
				{"not after a.md", ".", at("a.md", fs.SkipDir), []string{"B", "B/c", "a-b", "a.md"}, nil},
				{"until a/y/x", ".", at("a/y/x", stop), []string{"B", "B/c", "a-b", "a.md", "a", "a/y", "a/y/x"}, stop},
				{"until a", ".", at("a", stop), []string{"B", "B/c", "a-b", "a.md", "a"}, stop},
			}
			for _, c := range cases {
				got, err := walked(t.Context(), r, c.dir, c.fn)
				if !errors.Is(err, c.err) {
					t.Errorf("%s: error %v, want %v", c.name, err, c.err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.name, diff)
				}
			}
			all, _ := walked(t.Context(), r, ".", nil)
			files := slices.DeleteFunc(all, func(p string) bool { return p == "a" || p == "B" || p == "a/y" })
			if !slices.IsSorted(files) {
				t.Errorf("files are not in byte order: %q", files)
			}
			if _, err := walked(t.Context(), r, "b", nil); rootfs.CodeOf(err) != rootfs.NotDir {
				t.Errorf("Walk of a file = %v, want code not_dir", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			got, err := walked(ctx, r, ".", func(i rootfs.Info) error { cancel(); return nil })
			if !errors.Is(err, context.Canceled) || len(got) != 1 {
				t.Errorf("Walk after cancel = %v after %q, want context.Canceled after one entry", err, got)
			}
		})
	}
}

func TestWalkHashes(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "a/f", "content", "a/g", "too long", "h", "")
			r := open(t, dir, opts)
			type result struct {
				Sum  [sha256.Size]byte
				Size int64
				Code rootfs.Code
			}
			got := map[string]result{}
			must(t, r.Walk(t.Context(), ".", &rootfs.Limits{HashBytes: 7}, func(i rootfs.Info) error {
				if i.Mode.IsRegular() {
					got[i.Path] = result{i.Sum, i.Size, rootfs.CodeOf(i.Err)}
				}
				return nil
			}))
			want := map[string]result{
				"a/f": {sha256.Sum256([]byte("content")), 7, ""},
				"a/g": {[sha256.Size]byte{}, 8, rootfs.TooLarge},
				"h":   {sha256.Sum256(nil), 0, ""},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListingShrinks removes an entry between its being listed and described.
func TestListingShrinks(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "a", "", "b", "", "c", "")
			opts.Trace = func(e rootfs.Event) {
				if e.Op == "readdir" {
					_ = os.Remove(filepath.Join(dir, "b"))
				}
			}
			infos, err := open(t, dir, opts).ReadDir(".", 3)
			must(t, err)
			var got []string
			for _, i := range infos {
				got = append(got, i.Path)
			}
			if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHash compares with the standard library over sizes around the buffer's.
func TestHash(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, opts)
			for _, size := range []int{0, 1, 128<<10 - 1, 128 << 10, 128<<10 + 1, 300_000} {
				data := make([]byte, size)
				for i := range data {
					data[i] = byte(i * 7)
				}
				must(t, r.WriteFile("f", data, 0o644))
				sum, n, err := r.Hash("f", int64(size))
				if sum != sha256.Sum256(data) || n != int64(size) || err != nil {
					t.Errorf("Hash of %d bytes = %x, %d, %v", size, sum, n, err)
				}
				if _, _, err := r.Hash("f", int64(size)-1); rootfs.CodeOf(err) != rootfs.TooLarge {
					t.Errorf("Hash of %d bytes with a lower limit = %v, want code too_large", size, err)
				}
			}
		})
	}
}
