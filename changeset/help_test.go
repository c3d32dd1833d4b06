package changeset_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// A folder is a source over the Markdown files of a directory, read anew each
// time.
type folder string

func (f folder) Snapshot(context.Context) (*changeset.Snapshot, error) {
	snap := &changeset.Snapshot{Project: "handbook"}
	var all strings.Builder
	err := filepath.WalkDir(string(f), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(string(f), name)
		if err != nil {
			return err
		}
		p := page.Parse(filepath.ToSlash(rel), raw)
		n := changeset.Node{
			ID: p.ID, Kind: p.Kind, Title: p.Title, Status: p.Status, Path: filepath.ToSlash(rel),
			DependsOn: p.DependsOn, Tags: p.Tags, Links: p.Links, Hash: canon.Sum(raw), Size: int64(len(raw)),
		}
		all.WriteString(n.Path + n.Hash)
		snap.Nodes = append(snap.Nodes, n)
		return nil
	})
	slices.SortFunc(snap.Nodes, func(a, b changeset.Node) int { return strings.Compare(a.ID, b.ID) })
	snap.Revision = canon.Sum([]byte(all.String()))
	return snap, err
}

func (f folder) Read(_ context.Context, p string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), filepath.FromSlash(p)))
}

// A project is a directory with documents and a store.
type project struct {
	dir   string
	store *changeset.Store
}

// handbook are the documents most tests begin with.
func handbook() map[string]string {
	return map[string]string{
		"docs/setup.md":       "---\nid: setup\nkind: guide\ntitle: Set-up\n---\n# Set-up\n\nRun it, see [[limits]].\n",
		"docs/spec/limits.md": "---\nid: limits\nkind: spec\ntitle: Limits\ndepends_on: [terms]\n---\nAt most ten.\n",
		"docs/spec/terms.md":  "---\nid: terms\nkind: spec\ntitle: Terms\n---\nWords.\n",
		"docs/notes/plain.md": "# Plain\n\nNo front matter.\n",
		"site/outline.html":   "an old outline\n",
		"mcpdocs.yaml":        "schema_version: \"1.0\"\n",
	}
}

// options are those of most tests: two views, one output, a clock that stands.
func options() *changeset.Options {
	return &changeset.Options{
		Views: []changeset.View{
			{ID: "review", Title: "Review", Renderer: "review"},
			{ID: "outline", Title: "Outline", Renderer: "outline"},
		},
		Outputs: []changeset.Output{{View: "outline", Path: "site/outline.html"}},
		Now:     func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC) },
	}
}

// everything is a policy that refuses nothing.
func everything() changeset.Policy {
	return changeset.Policy{Allow: []changeset.Op{changeset.Create, changeset.Update, changeset.Move, changeset.Delete}}
}

// newProject makes a project with the given files.
func newProject(tb testing.TB, opts *changeset.Options, files map[string]string) *project {
	tb.Helper()
	p := &project{dir: tb.TempDir()}
	p.write(tb, "docs/.keep", "")
	for name, text := range files {
		p.write(tb, name, text)
	}
	p.store = p.open(tb, opts)
	return p
}

// source reads the documents of the project.
func (p *project) source() folder { return folder(filepath.Join(p.dir, "docs")) }

// open opens one more store on the project.
func (p *project) open(tb testing.TB, opts *changeset.Options) *changeset.Store {
	tb.Helper()
	s, err := changeset.Open(p.dir, p.source(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// path returns the name of a file for the operating system.
func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// write writes a file, and makes its directory.
func (p *project) write(tb testing.TB, name, text string) {
	tb.Helper()
	treetest.Write(tb, p.dir, name, text)
}

// writer binds a writer that may do everything.
func (p *project) writer(tb testing.TB, name string) *changeset.Writer {
	tb.Helper()
	w, err := p.store.Bind(name, everything())
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// writerOn binds a writer that may do everything on another source.
func (p *project) writerOn(tb testing.TB, src changeset.Source) *changeset.Writer {
	tb.Helper()
	s, err := changeset.Open(p.dir, src, options())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return (&project{p.dir, s}).writer(tb, "ada")
}

// begin creates a changeset.
func begin(tb testing.TB, w *changeset.Writer) string {
	tb.Helper()
	c, err := w.Create(tb.Context(), "A change", "Why it is needed.")
	if err != nil {
		tb.Fatal(err)
	}
	return c.ID
}

// get reads a changeset.
func (p *project) get(tb testing.TB, id string) changeset.Changeset {
	tb.Helper()
	c, err := p.store.Get(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// wantCode checks the code of err.
func wantCode(tb testing.TB, err error, want changeset.Code) {
	tb.Helper()
	if got := changeset.CodeOf(err); got != want {
		tb.Fatalf("code is %q, want %q: %v", got, want, err)
	}
}
