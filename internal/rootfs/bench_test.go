package rootfs_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// BenchmarkWalk walks and hashes 2,000 files of 4 KiB, in turn with doing the
// same plainly. The metric "x-plain" is the shortest time taken as a multiple
// of the shortest of the other: load on the machine only ever adds.
func BenchmarkWalk(b *testing.B) {
	dir := manyFiles(b)
	fail := func(i rootfs.Info) error { return i.Err }
	hash := func(r *rootfs.Root) func() error {
		return func() error {
			return r.Walk(b.Context(), ".", &rootfs.Limits{HashBytes: 1 << 20}, fail)
		}
	}
	each := func(r *rootfs.Root) func() error {
		return func() error {
			return r.Walk(b.Context(), ".", nil, func(i rootfs.Info) error {
				if !i.Mode.IsRegular() {
					return i.Err
				}
				_, _, err := r.Hash(i.Path, 1<<20)
				return err
			})
		}
	}
	fast := open(b, dir, rootfs.Options{})
	portable := open(b, dir, rootfs.Options{Portable: true})
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"openat2", hash(fast)},
		{"portable", hash(portable)},
		{"openat2,Hash-for-each", each(fast)},
		{"portable,Hash-for-each", each(portable)},
	} {
		b.Run(c.name, func(b *testing.B) {
			buf := make([]byte, 128<<10)
			plain, strict := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				must(b, hashPlainly(dir, buf))
				middle := time.Now()
				must(b, c.do())
				plain = min(plain, middle.Sub(start))
				strict = min(strict, time.Since(middle))
			}
			b.ReportMetric(float64(strict)/float64(plain), "x-plain")
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		must(b, rootfs.Check("docs/guide/getting-started.md"))
	}
}
