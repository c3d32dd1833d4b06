package rootfs_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// manyFiles makes 2,000 files of 4 KiB in 20 directories, two levels down.
func manyFiles(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for i := range 2000 {
		put(b, dir, fmt.Sprintf("d%02d/sub/f%04d.md", i/100, i), fmt.Sprintf("%4096d", i))
	}
	return dir
}

// hashPlainly is what BenchmarkWalk compares with: WalkDir and os.Open, with
// one buffer for all files.
func hashPlainly(dir string, buf []byte) error {
	h := sha256.New()
	var sum []byte
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		h.Reset()
		if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf); err != nil {
			return err
		}
		sum = h.Sum(sum[:0])
		return nil
	})
}

// cpuTime returns the processor time that the thread has used, the kernel's
// included. Unlike a clock it does not run on while other programs do.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var ts unix.Timespec
	must(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}

// BenchmarkWalk walks and hashes 2,000 files of 4 KiB, in turn with doing the
// same plainly. The metric "x-plain" is the least processor time taken as a
// multiple of the least of the other.
func BenchmarkWalk(b *testing.B) {
	dir := manyFiles(b)
	hash := func(r *rootfs.Root) error {
		return r.Walk(b.Context(), ".", &rootfs.Limits{HashBytes: 1 << 20}, func(i rootfs.Info) error { return i.Err })
	}
	each := func(r *rootfs.Root) error {
		return r.Walk(b.Context(), ".", nil, func(i rootfs.Info) error {
			if !i.Mode.IsRegular() {
				return i.Err
			}
			_, _, err := r.Hash(i.Path, 1<<20)
			return err
		})
	}
	for _, c := range []struct {
		name string
		do   func(*rootfs.Root) error
	}{
		{"hashing while walking", hash},
		{"Hash for each", each},
	} {
		for way, opts := range ways() {
			b.Run(c.name+", "+way, func(b *testing.B) {
				r := open(b, dir, opts)
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				buf := make([]byte, 128<<10)
				plain, strict := time.Hour, time.Hour
				for b.Loop() {
					start := cpuTime(b)
					must(b, hashPlainly(dir, buf))
					middle := cpuTime(b)
					must(b, c.do(r))
					plain = min(plain, middle-start)
					strict = min(strict, cpuTime(b)-middle)
				}
				b.ReportMetric(float64(strict)/float64(plain), "x-plain")
			})
		}
	}
}
