package rootfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A Walker, however often it walked before, reports what a first walk does,
// whatever was done to the tree meanwhile.
func TestWalkerForgetsWhatChanged(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "a/b/f", "1", "a/g", "2", "c-d", "3", "c/e", "4")
			r := open(t, dir, opts)
			w := r.Walker(".", nil)
			random := rand.New(rand.NewPCG(3, 4))
			for round := range 300 {
				var done []string
				for range random.IntN(4) {
					done = append(done, disturb(dir, random))
				}
				want, wantErr := walkInfos(t.Context(), r.Walker(".", nil))
				got, err := walkInfos(t.Context(), w)
				if diff := cmp.Diff(want, got, cmp.Comparer(sameError)); diff != "" || err != nil || wantErr != nil {
					t.Fatalf("round %d, after %q: %v, %v (-first +again):\n%s", round, done, wantErr, err, diff)
				}
			}
		})
	}
}

// disturb changes one thing below dir, and says what.
func disturb(dir string, random *rand.Rand) string {
	names := []string{"a", "a/b", "a/b/f", "a/g", "c", "c-d", "c/e", "c/-x", "n", "n/o", "n/o/p"}
	name, other := names[random.IntN(len(names))], names[random.IntN(len(names))]
	full := filepath.Join(dir, name)
	// What cannot be done now may be later.
	switch random.IntN(8) {
	case 0:
		_ = os.Mkdir(full, 0o755)
		return "mkdir " + name
	case 1:
		_ = os.Remove(full)
		return "remove " + name
	case 2:
		_ = os.Symlink("..", full)
		return "symlink " + name
	case 3:
		_ = os.Link(filepath.Join(dir, other), full)
		return "link " + other + " " + name
	case 4:
		_ = os.Rename(filepath.Join(dir, other), full)
		return "rename " + other + " " + name
	case 5:
		_ = os.RemoveAll(full)
		return "remove all of " + name
	case 6:
		_ = os.Chmod(full, 0o700|fs.FileMode(random.IntN(0o100)))
		return "chmod " + name
	default:
		_ = os.WriteFile(full, make([]byte, random.IntN(9)), 0o644)
		return "write " + name
	}
}

// walkInfos returns all that a walk reports.
func walkInfos(ctx context.Context, w *rootfs.Walker) ([]rootfs.Info, error) {
	var infos []rootfs.Info
	err := w.Walk(ctx, func(i rootfs.Info) error { infos = append(infos, i); return nil })
	return infos, err
}

// sameError compares what errors say.
func sameError(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// folders and files of each is what the tests of costs walk over.
const folders, files = 8, 50

// shallow makes that tree.
func shallow(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range folders * files {
		put(t, dir, fmt.Sprintf("d%d/f%02d.md", i/files, i%files), "")
	}
	return dir
}

// none takes what a walk reports.
func none(rootfs.Info) error { return nil }

// Each walk looks once at each entry, and opens nothing but directories.
func TestWalkerCost(t *testing.T) {
	dir := shallow(t)
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			var e events
			opts.Trace = e.add
			w := open(t, dir, opts).Walker(".", nil)
			want := map[string]int{"opendir": 1 + folders, "readdir": 1 + folders, "stat": folders * (1 + files)}
			for range 2 {
				must(t, w.Walk(t.Context(), none))
				got := map[string]int{}
				for _, ev := range e.take() {
					got[ev.Op]++
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A walk that failed leaves nothing behind that a later one would trust.
func TestWalkerAfterFailure(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "a", "", "b", "", "d/e", "")
			shrink := true
			opts.Trace = func(e rootfs.Event) {
				if e.Op == "readdir" && shrink {
					_ = os.Remove(filepath.Join(dir, "b"))
				}
			}
			w := open(t, dir, opts).Walker(".", &rootfs.Limits{Entries: 5})
			walk := func() string {
				infos, err := walkInfos(t.Context(), w)
				all := string(rootfs.CodeOf(err))
				for _, i := range infos {
					all += " " + i.Path
				}
				return all
			}
			var got []string
			got = append(got, walk()) // b goes after it was listed
			shrink = false
			put(t, dir, "b", "")
			got = append(got, walk())
			put(t, dir, "d/f", "", "d/g", "")
			got = append(got, walk()) // one too many
			must(t, os.Remove(filepath.Join(dir, "a")))
			got = append(got, walk())
			stop := errors.New("stop")
			if err := w.Walk(t.Context(), func(rootfs.Info) error { return stop }); !errors.Is(err, stop) {
				t.Errorf("a walk that was stopped ended with %v", err)
			}
			got = append(got, walk())
			must(t, os.RemoveAll(filepath.Join(dir, "d")))
			got = append(got, walk())
			want := []string{" a d d/e", " a b d d/e", "too_many a b d", " b d d/e d/f d/g", " b d d/e d/f d/g", " b"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("walks (-want +got):\n%s", diff)
			}
		})
	}
}
