package treetest_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// sample makes a directory with one of each kind.
func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, "a.txt", "first")
	treetest.Write(t, dir, "docs/deep/b.txt", "second\n")
	treetest.Write(t, dir, "docs/deep/b.txt", "again\n")
	treetest.Write(t, dir, "state/log", "x")
	if err := os.MkdirAll(filepath.Join(dir, "docs", "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := sample(t)
	all := map[string]string{
		"a.txt": "first", "docs/deep/b.txt": "again\n", "docs/none/": "", "state/log": "x", "up": "L---------",
	}
	without := func(names ...string) map[string]string {
		left := maps.Clone(all)
		for _, name := range names {
			delete(left, name)
		}
		return left
	}
	tests := []struct {
		name string
		skip []string
		want map[string]string
	}{
		{"all", nil, all},
		{"without a directory", []string{"state"}, without("state/log")},
		{"without a file in one", []string{"docs/deep/b.txt"}, without("docs/deep/b.txt")},
		{"without a file and what follows it", []string{"a.txt", "up"}, without("a.txt", "up")},
		{"without what is not there", []string{"stat", "docs/dee"}, all},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, treetest.Read(t, dir, tt.skip...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := treetest.Read(t, t.TempDir()); len(got) != 0 {
		t.Errorf("an empty directory has %q", got)
	}
}

func TestText(t *testing.T) {
	const want = "a.txt\nfirst\ndocs/deep/b.txt\nagain\n\ndocs/none/\n\nup\nL---------\n"
	if diff := cmp.Diff(want, treetest.Text(t, sample(t), "state")); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// A failing is a test that notes that it was ended.
type failing struct {
	testing.TB
	ended bool
}

func (f *failing) Helper()      {}
func (f *failing) Fatal(...any) { f.ended = true }

func TestFailures(t *testing.T) {
	dir := sample(t)
	for name, do := range map[string]func(f *failing){
		"below a file": func(f *failing) { treetest.Write(f, dir, "a.txt/b", "x") },
		"a directory":  func(f *failing) { treetest.Write(f, dir, "docs", "x") },
		"no directory": func(f *failing) { treetest.Read(f, filepath.Join(dir, "missing")) },
	} {
		f := &failing{TB: t}
		do(f)
		if !f.ended {
			t.Errorf("%s: the test goes on", name)
		}
	}
}
