package rootfs_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// attack exchanges the entries a and b again and again until stop is called.
func attack(t *testing.T, a, b string) (swaps *atomic.Int64, stop func()) {
	t.Helper()
	swaps = new(atomic.Int64)
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
			swaps.Add(1)
		}
	})
	return swaps, func() { done.Store(true); wg.Wait() }
}

// raceScene has a file d/f, and outside another one of that name.
func raceScene(t *testing.T, opts rootfs.Options) *scene {
	t.Helper()
	s := newScene(t, opts)
	put(t, s.dir, "d/f", "inside")
	put(t, s.base, "out/f", secret)
	s.link("../out", "l")
	s.link("ok.md", "d/l")
	put(t, s.dir, "e/f", "other")
	s.link("e", "m")
	must(s, syscall.Mkfifo(s.in("p"), 0o644), syscall.Mkfifo(s.in("d/p"), 0o644))
	return s
}

// TestRace opens a file while its directory is swapped for a link to outside,
// 200,000 times, while it or its directory is swapped for a link to another
// inside, and while either is swapped for a pipe. Not one open may read what a
// link leads to, or wait for a pipe.
func TestRace(t *testing.T) {
	cases := []struct {
		name, entry, swap string
		opens             int
	}{
		{"directory and link", "d", "l", 100_000},
		{"file and link", "d/f", "d/l", 20_000},
		{"directory and link to inside", "d", "m", 20_000},
		{"directory and pipe", "d", "p", 20_000},
		{"file and pipe", "d/f", "d/p", 20_000},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for way, opts := range ways() {
				t.Run(way, func(t *testing.T) {
					s := raceScene(t, opts)
					r := open(t, s.dir, opts)
					swaps, stop := attack(t, s.in(c.entry), s.in(c.swap))
					defer stop()
					count := map[rootfs.Code]int{}
					n := 0
					// On a busy machine the attacker may get no turn for a while.
					idle := func() bool { return (count[""] == 0 || count[""] == n) && n < 100*c.opens }
					for ; n < c.opens || idle(); n++ {
						data, err := r.ReadFile("d/f", 100)
						if err == nil && string(data) != "inside" {
							t.Fatalf("read %q", data)
						}
						count[rootfs.CodeOf(err)]++
					}
					stop()
					t.Logf("%d opens, %d swaps, outcomes %v", n, swaps.Load(), count)
					for code := range count {
						switch code {
						case "", rootfs.Link, rootfs.Changed, rootfs.Escape, rootfs.NotDir, rootfs.NotRegular:
						default:
							t.Errorf("unexpected code %q", code)
						}
					}
					if count[""] == 0 || count[""] == n {
						t.Errorf("the attack had no effect: %v", count)
					}
				})
			}
		})
	}
}

// TestRaceWalker walks again and again while a directory is swapped for a link to
// outside, or to another one inside: no walk may report as the entries of the one
// what is behind the other.
func TestRaceWalker(t *testing.T) {
	for _, swap := range []string{"l", "m"} {
		for way, opts := range ways() {
			t.Run(swap+", "+way, func(t *testing.T) {
				s := raceScene(t, opts)
				r := open(t, s.dir, opts)
				inside, err := r.Stat("d/f")
				must(t, err)
				w := r.Walker(".", nil)
				swaps, stop := attack(t, s.in("d"), s.in(swap))
				defer stop()
				met, hidden, n := 0, 0, 0
				for ; n < 2000 || (met == 0 || hidden == 0) && n < 100_000; n++ {
					seen := false
					must(t, w.Walk(t.Context(), func(i rootfs.Info) error {
						// Under the link's own name the directory is itself.
						if i.Path == "d/f" {
							seen = true
							if i.Inode != inside.Inode {
								t.Fatalf("d/f is inode %d, want %d", i.Inode, inside.Inode)
							}
						}
						return nil
					}))
					if seen {
						met++
					} else {
						hidden++
					}
				}
				stop()
				t.Logf("%d walks, %d met the file, %d swaps", n, met, swaps.Load())
				if met == 0 || hidden == 0 {
					t.Errorf("the attack had no effect: met %d times, hidden %d times", met, hidden)
				}
			})
		}
	}
}

// TestRaceWrites swaps a directory for a link while files and directories are made, renamed
// and removed: nothing may appear or vanish outside.
func TestRaceWrites(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := raceScene(t, opts)
			r := open(t, s.dir, opts)
			swaps, stop := attack(t, s.in("d"), s.in("l"))
			defer stop()
			for _, p := range []string{"out/new", "out/empty"} {
				must(t, os.Mkdir(filepath.Join(s.base, p), 0o755))
			}
			before := tree(t, filepath.Join(s.base, "out"))
			done := 0
			for n := 0; n < 3000 || swaps.Load() < 100 && n < 1_000_000; n++ {
				f, err := r.Create("d/g", 0o644)
				if err == nil {
					done++
					must(t, f.Close())
				}
				for _, err := range []error{
					r.Rename("d/g", "d/h"), r.Remove("d/g"), r.Remove("d/h"), r.Remove("d/empty"), r.MkdirAll("d/m", 0o755),
					r.Remove("d/m"),
				} {
					if err == nil {
						done++
					}
				}
			}
			stop()
			if diff := cmp.Diff(before, tree(t, filepath.Join(s.base, "out"))); diff != "" {
				t.Errorf("outside changed (-before +after):\n%s", diff)
			}
			if done == 0 || swaps.Load() == 0 {
				t.Errorf("%d operations worked during %d swaps", done, swaps.Load())
			}
		})
	}
}

// TestRaceLock locks a file while its name is free or a dangling link by turns:
// the link's target must never be made.
func TestRaceLock(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			r := open(t, s.dir, opts)
			s.link("d/new", "spare")
			name, spare, done := s.in("lock"), s.in("spare"), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						_ = os.Rename(spare, name)
						_ = os.Rename(name, spare)
					}
				}
			})
			count := map[rootfs.Code]int{}
			for n := 0; n < 5000 || len(count) < 2 && n < 1_000_000; n++ {
				l, err := r.Lock(t.Context(), "lock")
				count[rootfs.CodeOf(err)]++
				if err == nil {
					must(t, l.Unlock())
					_ = os.Remove(name)
					_ = os.Symlink("d/new", spare) // the lock file took its place
				}
			}
			close(done)
			wg.Wait()
			if _, err := os.Lstat(s.in("d/new")); err == nil {
				t.Error("the link's target was made")
			}
			if count[""] == 0 || count[rootfs.Link] == 0 {
				t.Errorf("outcomes %v", count)
			}
		})
	}
}
