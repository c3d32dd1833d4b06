package rootfs_test

import (
	"context"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func TestSmoke(t *testing.T) {
	for _, portable := range []bool{false, true} {
		r, err := rootfs.Open(t.TempDir(), &rootfs.Options{Portable: portable, Trace: func(e rootfs.Event) { t.Log(e) }})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.MkdirAll("a/b", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteFile("a/b/c.md", []byte("hello"), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := r.ReadFile("a/b/c.md", 5)
		if err != nil || string(b) != "hello" {
			t.Fatal(b, err)
		}
		if _, n, err := r.Hash("a/b/c.md", 5); err != nil || n != 5 {
			t.Fatal(n, err)
		}
		l, err := r.Lock(context.Background(), "a/lock")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Unlock()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := r.Lock(ctx, "a/lock"); rootfs.CodeOf(err) != rootfs.Locked {
			t.Fatal(err)
		}
		var n int
		if err := r.Walk(context.Background(), ".", nil, func(i rootfs.Info) error { n++; t.Log(i); return nil }); err != nil || n != 4 {
			t.Fatal(n, err)
		}
		if err := r.Rename("a/b/c.md", "a/b/d.md"); err != nil {
			t.Fatal(err)
		}
		if err := r.Remove("a/b/d.md"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadFile("a/b/d.md", 5); rootfs.CodeOf(err) != rootfs.NotFound {
			t.Fatal(err)
		}
		t.Log(err)
	}
}
