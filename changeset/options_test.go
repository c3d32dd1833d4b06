package changeset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// TestOpenRefused offers options that would let something be written where it
// must not, and others that break their rules.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	view := func(id, renderer string) func(*changeset.Options) {
		return func(o *changeset.Options) { o.Views = []changeset.View{{ID: id, Renderer: renderer}}; o.Outputs = nil }
	}
	roots := func(changesets, previews string) func(*changeset.Options) {
		return func(o *changeset.Options) { o.Changesets, o.Previews = changesets, previews }
	}
	for _, test := range []struct {
		name   string
		change func(*changeset.Options)
	}{
		{"changesets are the docs", roots("docs", "")},
		{"changesets in the docs", roots("docs/changesets", "")},
		{"changesets in the docs, other case", roots("Docs/changesets", "")},
		{"previews in the docs", roots("", "docs/previews")},
		{"changesets around the docs", func(o *changeset.Options) { o.Docs = "a/docs"; o.Changesets = "a" }},
		{"previews around an output", roots("", "site")},
		{"previews are an output", roots("", "site/outline.html")},
		{"previews below an output", roots("", "site/outline.html/x")},
		{"changesets around an output", roots("SITE", "")},
		{"previews in the changesets", roots("a", "a/b")},
		{"changesets in the previews", roots("a/b", "a")},
		{"both the same", roots("a", "A")},
		{"changesets are the root", roots(".", "")},
		{"changesets leave", roots("../a", "")},
		{"previews leave", roots("", "a/../../b")},
		{"absolute", roots("/tmp/a", "")},
		{"absolute on Windows", roots(`C:\a`, "")},
		{"in Git", roots(".git/a", "")},
		{"long", roots(strings.Repeat("a/", 31)+"a", "")},
		{"among documents in the root", func(o *changeset.Options) { o.Docs, o.Previews = ".", "previews" }},
		{"leave the root of the documents", func(o *changeset.Options) { o.Docs, o.Previews = ".", "../previews" }},
		{"docs leave", func(o *changeset.Options) { o.Docs = "../docs" }},
		{"output leaves", func(o *changeset.Options) { o.Outputs[0].Path = "../x.html" }},
		{"output of no view", func(o *changeset.Options) { o.Outputs[0].View = "print" }},
		{"unknown renderer", view("review", "shell")},
		{"no renderer", view("review", "")},
		{"view with a path", view("../review", "review")},
		{"view without an id", view("", "review")},
		{"long view", view(strings.Repeat("a", 65), "review")},
		{"view twice", func(o *changeset.Options) { o.Views[1].ID = "review" }},
		{"title of two lines", func(o *changeset.Options) { o.Views[0].Title = "a\nb" }},
		{"many views", func(o *changeset.Options) { o.Views = make([]changeset.View, 65) }},
		{"many outputs", func(o *changeset.Options) { o.Outputs = make([]changeset.Output, 65) }},
		{"negative limit", func(o *changeset.Options) { o.MaxFileBytes = -1 }},
		{"negative time", func(o *changeset.Options) { o.LockTimeout = -1 }},
		{"many changesets", func(o *changeset.Options) { o.MaxChangesets = 5000 }},
		{"many operations", func(o *changeset.Options) { o.MaxOperations = 20_000 }},
		{"many bytes", func(o *changeset.Options) { o.MaxBytes = 1 << 40 }},
		{"nil validator", func(o *changeset.Options) { o.Validators = []changeset.Validator{nil} }},
		{"many validators", func(o *changeset.Options) { o.Validators = make([]changeset.Validator, 17) }},
		{"policy", func(o *changeset.Options) { o.Policy = &changeset.Policy{Allow: []changeset.Op{"apply"}} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opts := options()
			test.change(opts)
			dir := t.TempDir()
			_, err := changeset.Open(dir, folder(filepath.Join(dir, "docs")), opts)
			wantCode(t, err, changeset.CodeOptions)
		})
	}
}

// TestOpenPlaces opens stores where something else is.
func TestOpenPlaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		make func(dir string) error
		want changeset.Code
	}{
		{"nothing there", func(string) error { return nil }, ""},
		{"folder there", func(dir string) error { return os.MkdirAll(dir+"/.mcpdocs/previews", 0o755) }, ""},
		{"file", func(dir string) error { return os.WriteFile(dir+"/.mcpdocs", nil, 0o644) }, changeset.CodeOptions},
		{"link to the docs", func(dir string) error { return os.Symlink("docs", dir+"/.mcpdocs") }, changeset.CodeOptions},
		{"link outside", func(dir string) error { return os.Symlink("/tmp", dir+"/.mcpdocs") }, changeset.CodeOptions},
		{"link in between", func(dir string) error {
			if err := os.Mkdir(dir+"/.mcpdocs", 0o755); err != nil {
				return err
			}
			return os.Symlink("../docs", dir+"/.mcpdocs/previews")
		}, changeset.CodeOptions},
		{"no root", os.RemoveAll, changeset.CodeIO},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "project")
			if err := os.MkdirAll(dir+"/docs", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := test.make(dir); err != nil {
				t.Fatal(err)
			}
			s, err := changeset.Open(dir, folder(dir+"/docs"), nil)
			wantCode(t, err, test.want)
			if err == nil {
				s.Close()
			}
		})
	}
	_, err := changeset.Open(t.TempDir(), nil, nil)
	wantCode(t, err, changeset.CodeOptions)
}

// TestDocsAreTheRoot proposes in a project whose documents are not in a folder
// of their own.
func TestDocsAreTheRoot(t *testing.T) {
	t.Parallel()
	p := &project{dir: t.TempDir()}
	p.write(t, "setup.md", handbook()["docs/setup.md"])
	p.write(t, "odd.md/x", "")
	opts := options()
	opts.Docs = "."
	s, err := changeset.Open(p.dir, folder(p.dir), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := s.Bind("ada", everything())
	if err != nil {
		t.Fatal(err)
	}
	id := begin(t, w)
	for step, want := range map[string]changeset.Code{
		"create new new.md": "", "create odd odd.md": changeset.CodePathTaken, "create s Setup.md": changeset.CodePathTaken,
		"create c .mcpdocs/changesets/c.md": changeset.CodePath, "move setup ../setup.md": changeset.CodePath,
	} {
		_, err := propose(t, w, id, step)
		wantCode(t, err, want)
	}
}

// TestFoldersMoveLater puts a link in place of a folder after the store was
// opened. Nothing may be written through it.
func TestFoldersMoveLater(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	if err := os.Rename(p.path(".mcpdocs/changesets"), p.path("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../docs", p.path(".mcpdocs/changesets")); err != nil {
		t.Fatal(err)
	}
	before := treetest.Read(t, p.dir)
	_, err := w.Create(t.Context(), "A change", "")
	wantCode(t, err, changeset.CodeIO)
	_, err = propose(t, w, id, "update setup Text")
	wantCode(t, err, changeset.CodeIO)
	after := treetest.Read(t, p.dir)
	if len(before) != len(after) || before["docs/setup.md"] != after["docs/setup.md"] {
		t.Errorf("before %v, after %v", before, after)
	}
}

// A placed source says which folder it reads.
type placed struct {
	folder

	docs string
}

func (p placed) Docs() string { return p.docs }

// TestOpenPlaced checks that options and source cannot speak of two folders.
func TestOpenPlaced(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		docs string // of the source
		opts changeset.Options
		want changeset.Code
	}{
		{"by default", "docs", changeset.Options{}, ""},
		{"both say so", "pages", changeset.Options{Docs: "pages"}, ""},
		{"only the source says so", "pages", changeset.Options{Changesets: "docs/a"}, ""},
		{"another", "pages", changeset.Options{Docs: "docs"}, changeset.CodeOptions},
		{"another spelling", "pages", changeset.Options{Docs: "Pages"}, changeset.CodeOptions},
		{"changesets in it", "pages", changeset.Options{Changesets: "pages/a"}, changeset.CodeOptions},
		{"previews in the root", ".", changeset.Options{Previews: "previews"}, changeset.CodeOptions},
		{"no folder", "../pages", changeset.Options{}, changeset.CodeOptions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := changeset.Open(dir, placed{folder(dir), test.docs}, &test.opts)
			if s != nil {
				defer s.Close()
			}
			wantCode(t, err, test.want)
		})
	}
}
