package rootfs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// lockDir in the environment makes the test binary hold the lock "lock" there
// until its input ends or it is killed.
const lockDir = "ROOTFS_TEST_LOCK_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockDir); dir != "" {
		holdLock(dir)
		return
	}
	os.Exit(m.Run())
}

func holdLock(dir string) {
	r, err := rootfs.Open(dir, nil)
	if err == nil {
		_, err = r.Lock(context.Background(), "lock")
	}
	fmt.Println("locked:", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestLockOfDeadProcess kills the process that holds the lock.
func TestLockOfDeadProcess(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), lockDir+"="+dir)
			in, err := cmd.StdinPipe()
			must(t, err)
			defer in.Close()
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "locked: <nil>\n" {
				t.Errorf("the process said %q", line)
			}
			r := open(t, dir, opts)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := r.Lock(ended, "lock"); rootfs.CodeOf(err) != rootfs.Locked {
				t.Errorf("Lock beside the process = %v, want code locked", err)
			}
			must(t, cmd.Process.Kill())
			_ = cmd.Wait() // says that it was killed
			l, err := r.Lock(t.Context(), "lock")
			must(t, err)
			must(t, l.Unlock())
			if info, err := os.Stat(filepath.Join(dir, "lock")); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
				t.Errorf("lock file: %v, %v, want mode 0600", info.Mode(), err)
			}
		})
	}
}

// TestLockWaits measures waiting on a false clock.
func TestLockWaits(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			var seen events
			opts.Trace = seen.add
			r := open(t, dir, opts)
			synctest.Test(t, func(t *testing.T) {
				held, err := r.Lock(t.Context(), "lock")
				must(t, err)
				why := errors.New("no patience")
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, why)
				defer cancel()
				start := time.Now()
				seen.take()
				_, err = r.Lock(ctx, "lock")
				if rootfs.CodeOf(err) != rootfs.Locked || !errors.Is(err, why) {
					t.Errorf("Lock = %v, want code locked and the context's cause", err)
				}
				if took := time.Since(start); took != 10*time.Second {
					t.Errorf("Lock waited %v, want 10s", took)
				}
				if n := len(seen.take()); n > 20_000 {
					t.Errorf("waiting took %d operations", n)
				}
				time.AfterFunc(time.Minute, func() { _ = held.Unlock() })
				l, err := r.Lock(t.Context(), "lock")
				must(t, err)
				if took := time.Since(start); took < 70*time.Second || took > 71*time.Second {
					t.Errorf("Lock returned after %v, want the time of Unlock", took)
				}
				must(t, l.Unlock(), l.Unlock(), held.Unlock())
			})
		})
	}
}

// TestLockFair lets several wait while one takes the lock again and again: none
// of them waits for ever.
func TestLockFair(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, opts)
			var got atomic.Int64
			const others = 4
			synctest.Test(t, func(t *testing.T) {
				var wg sync.WaitGroup
				start := time.Now()
				for range others {
					wg.Go(func() {
						for range 20 {
							l, err := r.Lock(t.Context(), "lock")
							must(t, err)
							time.Sleep(time.Millisecond)
							must(t, l.Unlock())
						}
						got.Add(1)
					})
				}
				for got.Load() < others && time.Since(start) < time.Minute {
					l, err := r.Lock(t.Context(), "lock")
					must(t, err)
					time.Sleep(3 * time.Millisecond) // held three quarters of the time
					must(t, l.Unlock())
					time.Sleep(time.Millisecond)
				}
				wg.Wait()
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("the others were done after %v", took)
				}
			})
		})
	}
}

// TestLockExcludes counts in a file under the lock.
func TestLockExcludes(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "n", "0")
			name := filepath.Join(dir, "n")
			increment := func(r *rootfs.Root) error {
				l, err := r.Lock(t.Context(), "lock")
				if err != nil {
					return err
				}
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				n, err := strconv.Atoi(string(data))
				if err != nil {
					return err
				}
				return errors.Join(os.WriteFile(name, strconv.AppendInt(nil, int64(n+1), 10), 0o644), l.Unlock())
			}
			var wg sync.WaitGroup
			for range 4 {
				r := open(t, dir, opts)
				wg.Go(func() {
					for range 20 {
						if err := increment(r); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if got := tree(t, dir)["n"]; got != "80" {
				t.Errorf("counted %s, want 80", got)
			}
		})
	}
}

// TestLockFileReplaced removes or replaces the lock file between its being
// opened and locked: nobody may end up with a lock that keeps nobody out.
func TestLockFileReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced on Windows")
	}
	for way, opts := range ways() {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s made again %v", way, again), func(t *testing.T) {
				dir := t.TempDir()
				name := filepath.Join(dir, "lock")
				done := false
				opts.Trace = func(e rootfs.Event) {
					if e.Op != "create" || done {
						return
					}
					done = true
					must(t, os.Remove(name))
					if again {
						put(t, dir, "lock", "")
					}
				}
				r := open(t, dir, opts)
				l, err := r.Lock(t.Context(), "lock")
				must(t, err)
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := open(t, dir, opts).Lock(ended, "lock"); rootfs.CodeOf(err) != rootfs.Locked {
					t.Errorf("second Lock = %v, want code locked", err)
				}
				must(t, l.Unlock())
			})
		}
	}
}

func TestLockRefused(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "d/x", "")
			r := open(t, dir, opts)
			for path, want := range map[string]rootfs.Code{
				"d": rootfs.NotRegular, "no/lock": rootfs.NotFound, "d/x/lock": rootfs.NotDir, "../lock": rootfs.PathInvalid,
			} {
				if l, err := r.Lock(t.Context(), path); l != nil || rootfs.CodeOf(err) != want {
					t.Errorf("Lock(%q) = %v, %v, want code %s", path, l, err, want)
				}
			}
		})
	}
}
