package rootfs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A file that has the size and the time of another is told from it, by each of
// the two ways to open a root.
func TestInfoTellsFilesApart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has neither a change time nor an inode")
	}
	dir := t.TempDir()
	at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, name := range []string{"a", "b"} {
		full := filepath.Join(dir, name)
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, opts := range []*rootfs.Options{nil, {Portable: true}} {
		r, err := rootfs.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		a, err := r.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		var b rootfs.Info
		err = r.Walk(t.Context(), ".", nil, func(info rootfs.Info) error {
			if info.Path == "b" {
				b = info
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if a.Size != b.Size || !a.ModTime.Equal(b.ModTime) || a.Inode == b.Inode || a.Inode == 0 || b.Inode == 0 {
			t.Errorf("a is %+v, b is %+v", a, b)
		}
		if age := time.Since(a.ChangeTime); age < -time.Minute || age > time.Hour {
			t.Errorf("a changed %v ago", age)
		}
	}
}
