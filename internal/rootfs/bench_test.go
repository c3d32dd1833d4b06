package rootfs_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func bigTree(tb testing.TB) string {
	dir := tb.TempDir()
	data := make([]byte, 4096)
	for i := range 2000 {
		data[0], data[1] = byte(i), byte(i>>8)
		p := filepath.Join(dir, fmt.Sprintf("d%02d", i/100), "sub", fmt.Sprintf("f%04d.md", i))
		os.MkdirAll(filepath.Dir(p), 0o755)
		if err := os.WriteFile(p, data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func plain(tb testing.TB, dir string) int {
	n := 0
	h := sha256.New()
	buf := make([]byte, 128<<10)
	var sum []byte
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
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
		n++
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func strict(tb testing.TB, r *rootfs.Root) int {
	n := 0
	err := r.Walk(context.Background(), ".", nil, func(i rootfs.Info) error {
		if i.Mode.IsDir() {
			return nil
		}
		_, _, err := r.Hash(i.Path, 1<<20)
		n++
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func BenchmarkX(b *testing.B) {
	dir := bigTree(b)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			plain(b, dir)
		}
	})
	for _, p := range []bool{false, true} {
		r, _ := rootfs.Open(dir, &rootfs.Options{Portable: p})
		b.Run(fmt.Sprint("strict-", p), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				strict(b, r)
			}
		})
		r.Close()
	}
}

func BenchmarkX2(b *testing.B) {
	dir := bigTree(b)
	for _, p := range []bool{false, true} {
		r, _ := rootfs.Open(dir, &rootfs.Options{Portable: p})
		b.Run(fmt.Sprint("inwalk-", p), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Walk(context.Background(), ".", &rootfs.Limits{HashBytes: 1 << 20}, func(i rootfs.Info) error { return i.Err })
			}
		})
		r.Close()
	}
}
