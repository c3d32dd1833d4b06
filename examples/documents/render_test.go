package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
)

func (f folder) command(tb testing.TB, words ...string) (stdout, stderr string, code int) {
	tb.Helper()
	return clitest.Output(tb, append([]string{"--project-root", string(f)}, words...)...)
}

// A person renders the declared outputs, all or those of a view; the server only
// tells how they stand.
func TestRender(t *testing.T) {
	f := sampleProject(t)
	f.replace(t, "mcpdocs.yaml", "path: site/outline.html}", "path: site/outline.html}\n  - {view: review, path: site/new/review.html}")
	s := f.serve(t, structured, "--proposal-writer", "agent")
	defer s.stop(t)
	states := func() string {
		t.Helper()
		var all []string
		for _, item := range s.good(t, "render_status", nil).Items {
			all = append(all, item.State)
		}
		return strings.Join(all, ", ")
	}
	if got := states(); got != "missing, missing" {
		t.Errorf("before: %s", got)
	}
	before := f.tree(t, "site", ".mcpdocs")
	out, stderr, code := f.command(t, "render", "outline")
	if page := f.read(t, "site/outline.html"); code != 0 || stderr != "" || !strings.HasPrefix(out, "site/outline.html (outline, ") || !strings.Contains(page, "Night watch") {
		t.Errorf("ended with %d: %s%s", code, out, stderr)
	}
	if got := states(); got != "current, missing" {
		t.Errorf("after one: %s", got)
	}
	if out, stderr, code = f.command(t, "render"); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("ended with %d: %s%s", code, out, stderr)
	}
	if got := states(); got != "current, current" {
		t.Errorf("after all: %s", got)
	}
	f.replace(t, "docs/lamp.md", "title: The lamp", "title: The large lamp")
	if got := states(); got != "stale, stale" {
		t.Errorf("after a change: %s", got)
	}
	f.replace(t, "docs/lamp.md", "title: The large lamp", "title: The lamp")
	if diff := cmp.Diff(before, f.tree(t, "site", ".mcpdocs")); diff != "" {
		t.Errorf("other files (-before +after)\n%s", diff)
	}
	for name := range f.tree(t) {
		if strings.HasPrefix(name, "site/") && !strings.HasSuffix(name, ".html") && name != "site/new" {
			t.Errorf("%s is left", name)
		}
	}
}

func TestRenderNothingDeclared(t *testing.T) {
	f := sampleProject(t)
	before := f.tree(t)
	if out, stderr, code := f.command(t, "render", "review"); code != 0 || !strings.Contains(out, "no output is declared") {
		t.Errorf("ended with %d: %s%s", code, out, stderr)
	}
	if diff := cmp.Diff(before, f.tree(t)); diff != "" {
		t.Errorf("files (-before +after)\n%s", diff)
	}
}

// Nobody is led out of the project, and what is no regular file stays.
func TestRenderRefusesLinks(t *testing.T) {
	outside := folder(t.TempDir())
	outside.write(t, "page.html", "mine")
	kept := outside.tree(t)
	tests := []struct {
		name  string
		setUp func(f folder) error
		want  string // in the message
	}{
		{"the file is a link", func(f folder) error {
			return os.Symlink(outside.path("page.html"), f.path("site/outline.html"))
		}, "site/outline.html"},
		{"the file is a link to nothing", func(f folder) error {
			return os.Symlink(outside.path("none.html"), f.path("site/outline.html"))
		}, "site/outline.html"},
		{"the folder is a link", func(f folder) error {
			if err := os.Remove(f.path("site")); err != nil {
				return err
			}
			return os.Symlink(string(outside), f.path("site"))
		}, `"site`},
		{"the folder is a file", func(f folder) error {
			if err := os.Remove(f.path("site")); err != nil {
				return err
			}
			return os.WriteFile(f.path("site"), []byte("x"), 0o600)
		}, `"site`},
		{"the file is a folder", func(f folder) error { return os.Mkdir(f.path("site/outline.html"), 0o700) }, "site/outline.html"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sampleProject(t)
			if err := os.Mkdir(f.path("site"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.setUp(f); err != nil {
				t.Fatal(err)
			}
			before := f.tree(t)
			s := f.serve(t, structured)
			if got := s.good(t, "render_status", nil).Items[0].State; got == "current" || got == "stale" {
				t.Errorf("the state is %s", got)
			}
			s.stop(t)
			out, stderr, code := f.command(t, "render")
			if code != 1 || out != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("ended with %d: %s%s", code, out, stderr)
			}
			if diff := cmp.Diff(before, f.tree(t)); diff != "" {
				t.Errorf("files (-before +after)\n%s", diff)
			}
			if diff := cmp.Diff(kept, outside.tree(t)); diff != "" {
				t.Errorf("files outside (-before +after)\n%s", diff)
			}
		})
	}
}

// Rendering again writes the same bytes, and a reader never sees half a page.
func TestRenderAgain(t *testing.T) {
	f := sampleProject(t)
	if _, stderr, code := f.command(t, "render"); code != 0 {
		t.Fatal(stderr)
	}
	first := f.read(t, "site/outline.html")
	open, err := os.Open(f.path("site/outline.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	f.replace(t, "docs/lamp.md", "title: The lamp", "title: A lamp")
	if _, stderr, code := f.command(t, "render"); code != 0 {
		t.Fatal(stderr)
	}
	held := make([]byte, len(first)+1)
	if n, _ := open.Read(held); string(held[:n]) != first {
		t.Error("who has the old page open reads something else")
	}
	if f.read(t, "site/outline.html") == first {
		t.Error("the page stays as it was")
	}
	f.replace(t, "docs/lamp.md", "title: A lamp", "title: The lamp")
	if _, stderr, code := f.command(t, "render"); code != 0 || f.read(t, "site/outline.html") != first {
		t.Errorf("the same project gives another page: %d %s", code, stderr)
	}
}

// The demo shows what it promises, in this order, and leaves its folder on
// purpose: the preview is in it.
func TestDemo(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	stdout, stderr, code := clitest.Output(t, "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("ended with %d: %s", code, stderr)
	}
	rest := stdout
	for _, want := range []string{
		"######## claude-code 2.1.332", "-> project_status", "<- structuredContent", "-> search", "-> get_context", "-> impact",
		"-> create_changeset", "-> propose_node_update", "-> propose_node_create", "-> propose_node_move", "code: path_taken",
		"-> validate_changeset", "valid: true", "-> get_changeset_diff", "+Three bulbs", "-> preview_changeset", "state: missing",
		"######## Zed", "<- one text block of JSON after 1 of content", "| # Plan: NAME", "-> candidate_prepare", "-> candidate_inspect",
		"commandStatus: approval_required", "commandStatus: applied", "commandStatus: applied", "code: path_not_allowed", "left for you to look at",
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, stdout)
		}
		rest = rest[i+len(want):]
	}
	_, rest, _ = strings.Cut(stdout, "The preview, for a browser: ")
	preview, _, _ := strings.Cut(rest, "\n")
	page, err := os.ReadFile(preview)
	if err != nil || !strings.HasPrefix(preview, temp) || !strings.Contains(string(page), "Three bulbs in reserve") {
		t.Errorf("the preview %q holds %.100q, %v", preview, page, err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 1 || !strings.Contains(stdout, left[0].Name()) {
		t.Errorf("the demo leaves %v, %v", left, err)
	}
}
