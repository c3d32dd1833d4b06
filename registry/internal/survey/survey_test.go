package survey_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/survey"
)

// workspace makes the files of an archive and opens their folder. A name that ends in a slash is a folder.
func workspace(t *testing.T, archive string) (*rootfs.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if strings.HasSuffix(f.Name, "/") {
			if err := os.MkdirAll(p, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// files makes an archive of empty files.
func files(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "-- %s --\n", n)
	}
	return b.String()
}

func TestLook(t *testing.T) {
	roots := func(pairs ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	tests := []struct {
		name, archive string
		want          survey.Report
	}{
		{"empty", "", survey.Report{Roots: roots()}},
		{"readme only", files("README.md"), survey.Report{Roots: roots(), Entrypoints: []string{"README.md"}}},
		{"spelling of the readme", files("ReadMe.MD"), survey.Report{Roots: roots(), Entrypoints: []string{"ReadMe.MD"}}},
		{"readme without Markdown", files("README.rst", "README"), survey.Report{Roots: roots(), Entrypoints: []string{"README.rst"}}},
		{"exact spelling first", files("README.md", "readme.md"), survey.Report{Roots: roots(), Entrypoints: []string{"README.md"}}},
		{"docs index", files("docs/index.md", "docs/README.md"), survey.Report{
			Docs: "docs/index.md", Roots: roots("docs", "docs"), Entrypoints: []string{"docs/index.md"},
		}},
		{"docs readme", files("docs/readme.md"), survey.Report{
			Docs: "docs/readme.md", Roots: roots("docs", "docs"), Entrypoints: []string{"docs/readme.md"},
		}},
		{"a page three levels down", files("docs/a/b/page.md"), survey.Report{Docs: "docs/a/b/page.md", Roots: roots("docs", "docs")}},
		{"a page four levels down", files("docs/a/b/c/page.md"), survey.Report{Roots: roots()}},
		{"no Markdown in docs", files("docs/a.pdf"), survey.Report{Roots: roots()}},
		{"mkdocs", "-- mkdocs.yml --\nsite_name: x\ndocs_dir: ./pages/\nplugins: !!python/name:x.y\n" + files("pages/a.md", "docs/b.md"), survey.Report{
			Mkdocs: "mkdocs.yml", Docs: "pages/a.md", Roots: roots("docs", "pages"), Entrypoints: []string{"mkdocs.yml"},
		}},
		{"mkdocs inherits", "-- mkdocs.yaml --\nINHERIT: ../base.yml\n", survey.Report{
			Mkdocs: "mkdocs.yaml", Roots: roots(), Entrypoints: []string{"mkdocs.yaml"},
		}},
		{"mkdocs outside", "-- mkdocs.yml --\nsite_name: x\ndocs_dir: ../other\n" + files("docs/a.md"), survey.Report{
			Mkdocs: "mkdocs.yml", Docs: "docs/a.md", Roots: roots("docs", "docs"), Entrypoints: []string{"mkdocs.yml"},
			Notes: []string{"mkdocs.yml: docs_dir is no folder of the repo"},
		}},
		{"mkdocs that is none", "-- mkdocs.yml --\nname: x\n-- properdocs.yml --\n- x\n", survey.Report{
			Roots: roots(),
			Notes: []string{
				"there are several MkDocs configurations, tools differ in which they take: mkdocs.yml, properdocs.yml",
				"mkdocs.yml is no MkDocs configuration: it has neither site_name nor INHERIT, or cannot be read",
				"properdocs.yml is no MkDocs configuration: it has neither site_name nor INHERIT, or cannot be read",
			},
		}},
		{"records", files("docs/adr/0001-a.md", "docs/adr/0002-b.md", "docs/adr/why.md", "docs/adr/index.md", "docs/adr/README.md", "docs/adr/template.md", "docs/adr/x.pdf"), survey.Report{
			Docs: "docs/adr/0001-a.md", ADR: "docs/adr, 3 found, 2 numbered",
			Roots: roots("docs", "docs", "adr", "docs/adr"), Entrypoints: []string{"docs/adr/index.md"},
		}},
		{"an empty folder of records", files("docs/adr/template.md", "doc/adr/1-a.md"), survey.Report{
			Docs: "docs/adr/template.md", ADR: "doc/adr, 1 found, 1 numbered", Roots: roots("docs", "docs", "adr", "doc/adr"),
		}},
		{".adr-dir", "-- .adr-dir --\n./design/records/\n" + files("design/records/1-a.md", "adr/x.md"), survey.Report{
			ADR: "design/records, 1 found, 1 numbered", Roots: roots("adr", "design/records"),
		}},
		{".adr-dir leads out", "-- .adr-dir --\n../../x\n" + files("adr/x.md"), survey.Report{
			ADR: "adr, 1 found, 0 numbered", Roots: roots("adr", "adr"),
		}},
		{"log4brains", "-- .log4brains.yml --\nproject:\n  adrFolder: ./records\n" + files("records/20240102-x.md"), survey.Report{
			ADR: "records, 1 found, 1 numbered", Roots: roots("adr", "records"),
		}},
		{"broken log4brains", "-- .log4brains.yml --\n{\n" + files("adrs/x.md"), survey.Report{
			ADR: "adrs, 1 found, 0 numbered", Roots: roots("adr", "adrs"),
		}},
		{"intents", files("docs/intents/a.md"), survey.Report{
			Docs: "docs/intents/a.md", Intents: "docs/intents/a.md", Roots: roots("docs", "docs", "intents", "docs/intents"),
		}},
		{"openspec", files("openspec/specs/x/spec.md"), survey.Report{
			Intents: "openspec/specs/x/spec.md", Roots: roots("intents", "openspec"),
		}},
		{"intents without Markdown", files("intents/gateway.json"), survey.Report{Roots: roots()}},
		{"everything to start with", files("docs/agent/start-here.md", "AGENTS.md", "README.md", "docs/index.md", "docs/context/capabilities.md",
			"docs/context/contracts.md", "docs/context/workflows.md", "llms.txt"), survey.Report{
			Docs: "docs/index.md", Roots: roots("docs", "docs", "context", "docs/context"),
			Entrypoints: []string{
				"docs/agent/start-here.md", "AGENTS.md", "README.md", "docs/index.md", "docs/context/capabilities.md",
				"docs/context/workflows.md", "docs/context/contracts.md", "llms.txt",
			},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, _ := workspace(t, tt.archive)
			got := survey.Look(survey.NewFolder(root, "."))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestLookFollowsNoLink checks that what is behind a link is as if it were not there.
func TestLookFollowsNoLink(t *testing.T) {
	root, dir := workspace(t, files("outside/docs/index.md", "outside/README.md", "repo/AGENTS.md"))
	for name, to := range map[string]string{"repo/docs": "../outside/docs", "repo/README.md": "../outside/README.md"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("this account may not make links: ", err)
		}
	}
	got := survey.Look(survey.NewFolder(root, "repo"))
	want := survey.Report{Roots: map[string]string{}, Entrypoints: []string{"AGENTS.md"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestLookMakesNoFailedOperation checks that files are not asked for by name: listing shows what is there.
func TestLookMakesNoFailedOperation(t *testing.T) {
	_, dir := workspace(t, files("repo/README.md", "repo/docs/a.md", "repo/docs/agent/x.md", "repo/.github/x"))
	operations := make(map[string]int)
	root, err := rootfs.Open(dir, &rootfs.Options{Trace: func(e rootfs.Event) {
		if e.Err != nil {
			t.Errorf("%s %s: %v", e.Op, e.Path, e.Err)
		}
		if e.Op == "readdir" {
			operations[e.Path]++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := survey.NewFolder(root, "repo")
	survey.Look(f)
	survey.Owner(f)
	for p, n := range operations {
		if n != 1 {
			t.Errorf("%s was listed %d times", p, n)
		}
	}
	if len(operations) == 0 {
		t.Error("nothing was listed")
	}
}

func TestFolderLimits(t *testing.T) {
	many := make([]string, 1998)
	for i := range many {
		many[i] = fmt.Sprintf("repo/docs/f%d", i)
	}
	root, _ := workspace(t, files(append(many, "repo/README.md", "repo/a/b/c/d/e/f.md")...))
	f := survey.NewFolder(root, "repo")
	survey.Look(f)
	if diff := cmp.Diff([]string{"docs"}, f.Incomplete); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if f.IsFile("a/b/c/d/e/f.md") || !f.IsDir("a/b/c/d/e") || f.Sees("a/b/c/d/e") || !f.Sees("a") || f.Sees("docs") {
		t.Error("depth: files in a folder five levels down must not be seen")
	}
	if _, ok := f.Read("none"); ok {
		t.Error("read a file that is not there")
	}
}

func TestReadIsBounded(t *testing.T) {
	root, dir := workspace(t, files("mkdocs.yml"))
	if err := os.WriteFile(filepath.Join(dir, "mkdocs.yml"), append([]byte("site_name: x\n#"), make([]byte, 256<<10)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := survey.Look(survey.NewFolder(root, ".")); got.Mkdocs != "" || len(got.Notes) != 1 {
		t.Errorf("got %+v, want a note and no evidence", got)
	}
}

func TestOwner(t *testing.T) {
	tests := []struct{ name, archive, owner, file string }{
		{"none", "", "", ""},
		{"simple", "-- CODEOWNERS --\n# all\n*  @acme/platform # everyone\n", "@acme/platform", "CODEOWNERS"},
		{"last wins", "-- docs/CODEOWNERS --\n* @a\n/docs @b\n* @c @d\n", "@c", "docs/CODEOWNERS"},
		{"cleared", "-- CODEOWNERS --\n* @a\n*\n", "", "CODEOWNERS"},
		{"only paths", "-- CODEOWNERS --\n/docs @b\n*.go @c\n", "", "CODEOWNERS"},
		{"first file counts", "-- CODEOWNERS --\n* @a\n-- .github/CODEOWNERS --\n/x @b\n", "", ".github/CODEOWNERS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, _ := workspace(t, tt.archive)
			owner, file := survey.Owner(survey.NewFolder(root, "."))
			if owner != tt.owner || file != tt.file {
				t.Errorf("got %q from %q, want %q from %q", owner, file, tt.owner, tt.file)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	all := files("a/.git/HEAD", "a/sub/.git/HEAD", "b/c/.git", "b/d/docs/agent/manifest.yaml", "e/f/g/h/.git", "node_modules/m/.git/x", "plain/x.txt", "go/go.mod")
	tests := []struct {
		name, archive string
		search        survey.Search
		want, skipped []string // skipped are beginnings
	}{
		{"markers", all, survey.Search{Markers: []string{".git", survey.ManifestPath}}, []string{"a", "b/c", "b/d", "e/f/g/h"}, nil},
		{"another marker", all, survey.Search{Markers: []string{"go.mod"}}, []string{"go"}, nil},
		{"depth", all, survey.Search{Markers: []string{".git"}, Depth: 2}, []string{"a", "b/c"}, []string{`"b/d/docs": deeper than 2 levels`, `"e/f/g": deeper than 2 levels`}},
		{"the root is a repo", files(".git/HEAD", "sub/x"), survey.Search{Markers: []string{".git"}}, []string{"."}, nil},
		{"the root holds repos", files(".git/HEAD", "sub/.git/HEAD"), survey.Search{Markers: []string{".git"}}, []string{"sub"}, nil},
		{"nothing", files("x/y"), survey.Search{Markers: []string{".git"}}, nil, nil},
		{"entries", files("a/.git", "b/1", "b/2", "b/3", "c/.git"), survey.Search{Markers: []string{".git"}, Entries: 5}, []string{"a", "c"}, []string{`"b": `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, _ := workspace(t, tt.archive)
			s := tt.search
			s.Root = root
			if s.Depth == 0 {
				s.Depth = 8
			}
			if s.Entries == 0 {
				s.Entries = 1000
			}
			var got []string
			err := s.Run(t.Context(), func(p string, f *survey.Folder) { got = append(got, p) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !slices.EqualFunc(s.Skipped, tt.skipped, strings.HasPrefix) {
				t.Errorf("skipped: got %q, want %q", s.Skipped, tt.skipped)
			}
		})
	}
}

func TestSearchSkips(t *testing.T) {
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("d%02d/deep/x", i)
	}
	root, _ := workspace(t, files(names...))
	s := survey.Search{Root: root, Markers: []string{".git"}, Depth: 1, Entries: 1000}
	if err := s.Run(t.Context(), func(string, *survey.Folder) {}); err != nil {
		t.Fatal(err)
	}
	if len(s.Skipped) != 20 || s.More != 10 || s.Skipped[0] != `"d00/deep": deeper than 1 levels` {
		t.Errorf("got %d and %d more, first %s", len(s.Skipped), s.More, s.Skipped[0])
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	root, _ := workspace(t, files("a/.git", "b/.git", "c/.git"))
	ctx, cancel := context.WithCancel(t.Context())
	s := survey.Search{Root: root, Markers: []string{".git"}, Depth: 8, Entries: 100}
	n := 0
	err := s.Run(ctx, func(string, *survey.Folder) { n++; cancel() })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("got %v after %d repos, want context canceled after 1", err, n)
	}
}

func TestSearchProgress(t *testing.T) {
	root, _ := workspace(t, files("a/.git", "b/c/.git"))
	var got []string
	s := survey.Search{
		Root: root, Markers: []string{".git"}, Depth: 8, Entries: 100,
		Progress: func(repos, entries int) { got = append(got, fmt.Sprint(repos, " ", entries)) },
	}
	if err := s.Run(t.Context(), func(string, *survey.Folder) {}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 2", "2 3", "2 3"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
