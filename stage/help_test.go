package stage_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/stage"
)

// A project is a directory with an area in it.
type project struct {
	dir  string
	area *stage.Area
}

// allowDocs lets the tests promote to docs and to one index.
func allowDocs() *stage.Options {
	return &stage.Options{Allow: []string{"docs/**", "index.md"}}
}

// newProject makes a project with the given files.
func newProject(tb testing.TB, opts *stage.Options, files map[string]string) *project {
	tb.Helper()
	p := &project{dir: tb.TempDir()}
	for name, text := range files {
		p.write(tb, name, text)
	}
	p.area = p.open(tb, opts)
	return p
}

// open opens one more area on the project.
func (p *project) open(tb testing.TB, opts *stage.Options) *stage.Area {
	tb.Helper()
	area, err := stage.Open(p.dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { area.Close() })
	return area
}

// path returns the name of a file for the operating system.
func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// write writes a file, and makes its directory.
func (p *project) write(tb testing.TB, name, text string) {
	tb.Helper()
	treetest.Write(tb, p.dir, name, text)
}

// prepare declares and writes the files of a candidate.
func (p *project) prepare(tb testing.TB, id string, files map[string]string) {
	tb.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	prepared, err := p.area.Prepare(tb.Context(), id, names)
	if err != nil {
		tb.Fatal(err)
	}
	for name, text := range files {
		p.write(tb, prepared.Dir+"/"+name, text)
	}
}

// plan plans the promotion of a candidate.
func (p *project) plan(tb testing.TB, id string, generated []stage.Generated, remove []string) stage.Plan {
	tb.Helper()
	m, err := p.area.Inspect(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := p.area.Plan(tb.Context(), m, generated, remove)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// tree returns the files of the project by path, without those of the area.
func (p *project) tree(tb testing.TB) map[string]string {
	tb.Helper()
	return treetest.Read(tb, p.dir, ".mcpcontract")
}

// wantCode checks the code of err.
func wantCode(tb testing.TB, err error, want stage.Code) {
	tb.Helper()
	if got := stage.CodeOf(err); got != want {
		tb.Fatalf("code is %q, want %q: %v", got, want, err)
	}
}

// approval is an approval as a token store names it.
func approval(n int) string { return strings.Repeat("0123456789abcdef"[n%16:n%16+1], 64) }
