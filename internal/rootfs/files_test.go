package rootfs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func TestOpenOrMake(t *testing.T) {
	base := t.TempDir()
	if err := os.Symlink(base, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir string
		want      rootfs.Code
	}{
		{"missing", "a", ""},
		{"missing below what is missing", "b/c/d", ""},
		{"there", "a", ""},
		{"below a link to a folder", "link/e", ""}, // what the operator named is resolved once
		{"below a file", "file/f", rootfs.NotDir},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root, err := rootfs.OpenOrMake(filepath.Join(base, filepath.FromSlash(test.dir)), 0o700, nil)
			if rootfs.CodeOf(err) != test.want {
				t.Fatalf("error %v, want code %q", err, test.want)
			}
			if err != nil {
				return
			}
			defer root.Close()
			info, err := os.Stat(root.Dir())
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("made %v, %v", info, err)
			}
		})
	}
}

// The root behind the interface gives nil, not an interface around nil, where it
// fails.
func TestFilesErrors(t *testing.T) {
	root, err := rootfs.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files := root.Files()
	if f, err := files.Create("../x", 0o600); f != nil || rootfs.CodeOf(err) != rootfs.PathInvalid {
		t.Errorf("create: %v, %v", f, err)
	}
	if l, err := files.Lock(t.Context(), "../x"); l != nil || err == nil {
		t.Errorf("lock: %v, %v", l, err)
	}
	f, err := files.Create("x", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	l, err := files.Lock(t.Context(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}
