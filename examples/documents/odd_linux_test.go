package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is no document in the folder of the documents is named and left out, and
// nothing waits for it.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	f.write(t, "outside.md", "# Outside\n")
	for name, to := range map[string]string{"docs/link.md": "outside.md", "docs/loop.md": "docs/loop.md", "docs/folder": "plans"} {
		if err := os.Symlink(f.path(to), f.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(f.path("docs/pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(f.path("outside.md"), f.path("docs/twice.md")); err != nil {
		t.Fatal(err)
	}
	f.write(t, "docs/CON.md", "# Con\n")
	f.write(t, "docs/open.md", "---\ntitle: open\n")
	f.write(t, "docs/bytes.md", "# \xff\xfe\n")
	before := f.tree(t)
	s := f.serve(t, structured)
	payload := s.call(t, "validate_project", nil).payload
	for _, want := range []string{
		`"file_unreadable","severity":"warning","path":"link.md"`, `"file_unreadable","severity":"warning","path":"loop.md"`,
		`"file_unreadable","severity":"warning","path":"folder"`, `"file_unreadable","severity":"warning","path":"pipe.md"`,
		`"file_unreadable","severity":"warning","path":"twice.md"`, `"file_unreadable","severity":"warning","path":"CON.md"`,
		`"front_matter_invalid","severity":"error","id":"open"`, `"not_utf8","severity":"warning","id":"bytes"`,
	} {
		if !strings.Contains(payload, want) {
			t.Errorf("validate_project: got %s, want %s in it", payload, want)
		}
	}
	if got := s.good(t, "search", args{"query": "outside"}); len(got.Items) > 0 {
		t.Errorf("found %v outside", got.Items)
	}
	s.stop(t)
	if diff := cmp.Diff(before, f.tree(t)); diff != "" {
		t.Errorf("files (-before +after)\n%s", diff)
	}
}
