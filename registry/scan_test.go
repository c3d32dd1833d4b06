package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/registry"
)

// workspace makes the files of an archive below a new folder. A name that ends in a slash is a folder, a name
// with " -> " is a link.
func workspace(t *testing.T, archive []txtar.File) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "workspace")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive {
		name, link, isLink := strings.Cut(f.Name, " -> ")
		p := filepath.Join(dir, filepath.FromSlash(name))
		parent := filepath.Dir(p)
		if strings.HasSuffix(name, "/") {
			parent = p
		}
		if err := os.MkdirAll(parent, 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(link, p)
		case parent != p:
			err = os.WriteFile(p, f.Data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scan runs a function on the workspace of each archive, and compares the result with the file "want" of it,
// which is not part of the workspace.
func scan(t *testing.T, pattern string, run func(t *testing.T, dir string) string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives at %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if last := len(a.Files) - 1; a.Files[last].Name == "want" {
				want = string(a.Files[last].Data)
				a.Files = a.Files[:last]
			}
			got := run(t, workspace(t, a.Files))
			if diff := cmp.Diff(want, got); diff == "" {
				return
			} else if !*update {
				t.Errorf("(-want +got)\n%s", diff)
				return
			}
			a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
			if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestGenerateGolden(t *testing.T) {
	scan(t, "testdata/generate/*.txtar", func(t *testing.T, dir string) string {
		t.Helper()
		data, found, err := registry.Generate(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := registry.Generate(t.Context(), dir, nil)
		if err != nil || string(again) != string(data) {
			t.Errorf("a second run differs (%v)", err)
		}
		reg, err := registry.Parse(data, &registry.ParseOptions{Root: dir})
		if err != nil {
			t.Fatalf("the result does not load:\n%s", report(problems(t, err)))
		}
		return report(found) + report(reg.Warnings()) + string(data)
	})
}

func TestCheckGolden(t *testing.T) {
	scan(t, "testdata/check/*.txtar", func(t *testing.T, dir string) string {
		t.Helper()
		reg, err := registry.Load(filepath.Join(dir, "registry.yaml"), nil)
		if err != nil {
			t.Fatal(report(problems(t, err)))
		}
		found, err := registry.Check(t.Context(), reg, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(report(found), dir+string(filepath.Separator), "")
	})
}

// TestCheckLargeFile declares a file that is larger than what readers serve.
func TestCheckLargeFile(t *testing.T) {
	dir := workspace(t, empty("svc/README.md", "svc/fits.md"))
	for name, size := range map[string]int64{"README.md": 4<<20 + 1, "fits.md": 4 << 20} {
		if err := os.Truncate(filepath.Join(dir, "svc", name), size); err != nil {
			t.Fatal(err)
		}
	}
	text := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - repo_id: svc\n    manifest_source: generated\n    owner: team\n    entrypoints: [README.md, fits.md]\n"
	for status, want := range map[string]string{
		"": "reject path_unusable <test>:4:5: repos[0].entrypoints[0]: \"README.md\" has 4194305 bytes, more than the 4194304 that are served; give it the status too-large (repo svc)\n",
		"    entrypoint_status: {README.md: too-large}\n": "",
	} {
		reg, err := registry.Parse([]byte(text+status), &registry.ParseOptions{File: "<test>", Root: dir})
		if err != nil {
			t.Fatal(report(problems(t, err)))
		}
		found, err := registry.Check(t.Context(), reg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, report(found)); diff != "" {
			t.Errorf("with %q (-want +got)\n%s", status, diff)
		}
	}
}

// TestCheckLargeManifest declares a manifest that is larger than what readers take.
func TestCheckLargeManifest(t *testing.T) {
	const limit, head = 256 << 10, "kind: repo_manifest\nrepo_id: svc\n"
	for size, want := range map[int]string{
		limit:     "",
		limit + 1: "reject manifest_invalid <test>:4:5: repos[0].manifest_path: the manifest \"m.yaml\" has more than 262144 bytes, the most that is read; split what it holds (repo svc)\n",
	} {
		dir := workspace(t, []txtar.File{{Name: "svc/m.yaml", Data: []byte(head + strings.Repeat("#", size-len(head)))}})
		text := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - {repo_id: svc, manifest_source: repo, manifest_path: m.yaml, owner: team}\n"
		reg, err := registry.Parse([]byte(text), &registry.ParseOptions{File: "<test>", Root: dir})
		if err != nil {
			t.Fatal(report(problems(t, err)))
		}
		found, err := registry.Check(t.Context(), reg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, report(found)); diff != "" {
			t.Errorf("with %d bytes (-want +got)\n%s", size, diff)
		}
	}
}

// empty makes archive entries of empty files.
func empty(names ...string) []txtar.File {
	files := make([]txtar.File, len(names))
	for i, n := range names {
		files[i].Name = n
	}
	return files
}

// TestGenerateLargeIsJSON checks the form of a large registry, which has one entry on a line.
func TestGenerateLargeIsJSON(t *testing.T) {
	opts := &registry.ScanOptions{Owner: "team <a&b>"}
	for n, isJSON := range map[int]bool{0: false, 5000: false, 5001: true} {
		data, err := registry.WriteNumbered(n, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.HasPrefix(data, []byte("{")); got != isJSON || isJSON && !json.Valid(data) {
			t.Errorf("%d repos: JSON is %v, want %v", n, got, isJSON)
		}
		if lines := bytes.Count(data, []byte("\n    {\"repo_id\"")); isJSON && lines != n {
			t.Errorf("%d entries on lines of their own", lines)
		}
		if n == 5000 {
			continue // reading YAML of this size is slow, and no different
		}
		reg, err := registry.Parse(data, &registry.ParseOptions{Root: t.TempDir()})
		if err != nil {
			t.Fatal(report(problems(t, err)[:1]))
		}
		repo, ok := reg.Lookup("svc4711")
		if reg.Len() != n || ok != (n > 0) || ok && (repo.Path != "team0/svc4711" || repo.Owner != "team <a&b>" || !repo.Signals.HasDocs) {
			t.Errorf("%d repos, svc4711: %+v", reg.Len(), repo)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := workspace(t, empty("a/.git", "b/.git"))
	var calls []string
	if _, _, err := registry.Generate(t.Context(), dir, &registry.ScanOptions{
		Progress: func(repos, entries int) { calls = append(calls, fmt.Sprint(repos, " of ", entries)) },
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 of 2", "2 of 2", "2 of 2"}, calls); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestGenerateOptions(t *testing.T) {
	dir := workspace(t, empty("a/go.mod", "b/.git", "c/d/e/go.mod", "c/d/e/README.md"))
	data, found, err := registry.Generate(t.Context(), dir, &registry.ScanOptions{
		Markers: []string{"go.mod"}, Owner: "team", Class: "library", AuthorityOrder: []string{"repo_spec"}, WorkspaceRoot: "../..", Depth: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Parse(data, &registry.ParseOptions{Root: filepath.Join(dir, "x", "y")})
	if err != nil {
		t.Fatal(err)
	}
	if reg.Root() != dir {
		t.Errorf("root: got %s, want %s", reg.Root(), dir)
	}
	e, ok := reg.Lookup("e")
	want := registry.Repo{
		ID: "e", Path: "c/d/e", ManifestSource: registry.SourceGenerated, Entrypoints: []string{"README.md"}, AuthorityOrder: []string{"repo_spec"},
		Class: "library", Lifecycle: registry.Active, Owner: "team", SafeToProbe: true, Origin: "generated",
	}
	if diff := cmp.Diff(want, e); diff != "" || !ok || reg.Len() != 2 {
		t.Errorf("%d repos; (-want +got)\n%s", reg.Len(), diff)
	}
	if len(found) != 0 {
		t.Errorf("problems: %v", found)
	}
}

func TestGenerateRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, dir string
		opts      *registry.ScanOptions
		code      registry.Code
	}{
		{"no folder", filepath.Join(dir, "none"), nil, registry.Unreadable},
		{"marker outside", dir, &registry.ScanOptions{Markers: []string{"../x"}}, registry.InvalidValue},
		{"owner of two lines", dir, &registry.ScanOptions{Owner: "a\nb"}, registry.InvalidValue},
		{"class with a blank", dir, &registry.ScanOptions{Class: "a "}, registry.InvalidValue},
		{"empty authority", dir, &registry.ScanOptions{AuthorityOrder: []string{""}}, registry.InvalidValue},
		{"Windows root", dir, &registry.ScanOptions{WorkspaceRoot: `..\x`}, registry.PathWindows},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, _, err := registry.Generate(t.Context(), tt.dir, tt.opts)
			if data != nil {
				t.Errorf("got data beside the error %v", err)
			}
			if p := problems(t, err)[0]; p.Code != tt.code {
				t.Errorf("got %v, want %s", p, tt.code)
			}
		})
	}
}

func TestScansEndWithTheirContext(t *testing.T) {
	dir := workspace(t, empty("a/.git", "b/.git"))
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := registry.Generate(ctx, dir, &registry.ScanOptions{Progress: func(int, int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Generate: got %v", err)
	}
	reg := parse(t, sample)
	if _, err := registry.Check(ctx, reg, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Check: got %v", err)
	}
}

func TestCheckWithoutWorkspace(t *testing.T) {
	reg, err := registry.Parse([]byte(sample), &registry.ParseOptions{Root: filepath.Join(t.TempDir(), "none")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = registry.Check(t.Context(), reg, nil)
	if p := problems(t, err)[0]; p.Code != registry.Unreadable || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestCheckIsBounded(t *testing.T) {
	text := yamlHead + "defaults: {manifest_source: generated, entrypoints: [README.md]}\nrepos:\n" + repeat(1500, "- {repo_id: r%d}\n")
	done := 0
	found, err := registry.Check(t.Context(), parse(t, text), &registry.ScanOptions{Progress: func(repos, entries int) { done = repos }})
	if err != nil {
		t.Fatal(err)
	}
	if last := found[len(found)-1]; len(found) != 1001 || last.Code != registry.TooManyProblems || last.Message != "500 more problems are not listed" || done != 1500 {
		t.Errorf("got %d problems, last %v, progress %d", len(found), last, done)
	}
}
