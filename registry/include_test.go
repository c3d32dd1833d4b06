package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/registry"
)

// spread makes the files of a registry, whose versions and kinds are written for short: "R:" starts a registry,
// "O:" an overlay.
func spread(text string) []txtar.File {
	text = strings.ReplaceAll(text, "\nR:", "\nschema_version: \"1.0\"\nkind: workspace_registry")
	text = strings.ReplaceAll(text, "\nO:", "\nschema_version: \"1.0\"\nkind: workspace_overlay")
	return txtar.Parse([]byte(text)).Files
}

// summary gives what was loaded of a workspace, or why it was not.
func summary(t *testing.T, dir string) string {
	t.Helper()
	reg, err := registry.Load(filepath.Join(dir, "r.yaml"), nil)
	var b strings.Builder
	var found []registry.Problem
	if err != nil {
		found = problems(t, err)
	} else {
		for repo := range reg.Repos() {
			fmt.Fprintf(&b, "%s %s %s %v\n", repo.ID, repo.Path, repo.Owner, repo.Entrypoints)
		}
		found = reg.Warnings()
	}
	b.WriteString(report(found))
	return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), "")
}

func TestInclude(t *testing.T) { scan(t, "testdata/include/*.txtar", summary) }

func TestLocalOverlayForMachinePaths(t *testing.T) {
	dir := workspace(t, spread(`
-- main/r.yaml --
R:
repos: [{repo_id: a, manifest_source: generated, entrypoints: [R.md]}]
`))
	local := fmt.Sprintf("schema_version: \"1.0\"\nkind: workspace_overlay\nworkspace_root: %s\nextend: [{repo_id: a, path: %s/elsewhere/a}]\n", filepath.ToSlash(dir), filepath.ToSlash(dir))
	put(t, filepath.Join(dir, "main", "r.local.yaml"), local, long(0))
	reg, err := registry.Load(filepath.Join(dir, "main", "r.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if repo, _ := reg.Lookup("a"); repo.Path != "elsewhere/a" || reg.Root() != dir || len(reg.Warnings()) > 0 {
		t.Errorf("path %s, root %s, warnings %v", repo.Path, reg.Root(), reg.Warnings())
	}
}

func TestIncludeLimits(t *testing.T) {
	chain := func(n int) string {
		dir := t.TempDir()
		for i := range n {
			text := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos: []\n"
			if i+1 < n {
				text += fmt.Sprintf("include: [r%d.yaml]\n", i+1)
			}
			put(t, filepath.Join(dir, fmt.Sprintf("r%d.yaml", i)), text, long(0))
		}
		return filepath.Join(dir, "r0.yaml")
	}
	if _, err := registry.Load(chain(9), nil); err != nil {
		t.Error(err)
	}
	_, err := registry.Load(chain(10), nil)
	if got := problems(t, err); len(got) != 1 || got[0].Code != registry.TooDeep || !strings.HasSuffix(got[0].File, "r8.yaml") {
		t.Errorf("problems %v", got)
	}
	_, err = registry.Parse([]byte("schema_version: \"1.0\"\nkind: workspace_registry\ninclude: [a.yaml]"), nil)
	if got := problems(t, err); len(got) != 1 || got[0].Code != registry.IncludeUnreadable {
		t.Errorf("problems %v", got)
	}
}

func TestIncludeDigest(t *testing.T) {
	dir := workspace(t, spread("\n-- r.yaml --\nR:\ninclude: [m]\n-- m/a.yaml --\nR:\nrepos: []\n"))
	digest := func(dir string) string {
		reg, err := registry.Load(filepath.Join(dir, "r.yaml"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return reg.Digest()
	}
	before := digest(dir)
	t.Chdir(dir)
	if digest(".") != before {
		t.Error("the digest depends on where the files are")
	}
	if err := os.Rename(filepath.Join(dir, "m", "a.yaml"), filepath.Join(dir, "m", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if digest(dir) == before {
		t.Error("the digest does not tell that a file has another name")
	}
}

func TestWatchIncluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := workspace(t, spread("\n-- m/b.yaml --\nR:\nrepos: [{repo_id: b, manifest_source: generated}]\n"))
		w := watch(t, listing("a"))
		defer w.Close()
		home := filepath.Dir(w.path)
		pass(3)
		put(t, w.path, listing("a")+"include: [m, x.yaml]\n", long(1))
		pass(4)
		w.want(t, "a", "error include_unreadable")
		if err := os.Rename(filepath.Join(dir, "m"), filepath.Join(home, "m")); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(home, "x.yaml"), listing("x"), long(1))
		pass(4)
		w.want(t, "a b x", "repo_added b", "repo_added x")
		put(t, filepath.Join(home, "m", "c.yaml"), listing("c"), long(1))
		pass(4)
		w.want(t, "a b c x", "repo_added c")
		put(t, filepath.Join(home, "m", "b.yaml"), listing("b2"), long(2))
		pass(4)
		w.want(t, "a b2 c x", "repo_removed b", "repo_added b2")
		put(t, filepath.Join(home, "registry.local.yaml"), "schema_version: \"1.0\"\nkind: workspace_overlay\nremove: [c]\n", long(2))
		pass(4)
		w.want(t, "a b2 x", "repo_removed c")
	})
}

func TestGenerateWithIncludes(t *testing.T) {
	dir := workspace(t, append(spread(`
-- r.yaml --
R:
include: [m]
defaults: {manifest_source: generated, origin: generated}
repos:
  - repo_id: gone
    path: d
-- m/b.yaml --
R:
repos: [{repo_id: bee, path: b}]
-- r.local.yaml --
O:
remove: [gone]
`), txtar.Parse([]byte(twoRepos)).Files...))
	data, found, err := registry.Generate(context.Background(), dir, &registry.ScanOptions{File: filepath.Join(dir, "r.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "r.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(data)); diff != "" || len(found) > 0 {
		t.Errorf("what other files say was written again (-want +got):\n%s\n%v", diff, found)
	}
}

// Included files together have no more bytes than one file may.
func TestIncludedBytesAreBounded(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("r.yaml", yamlHead+"include: [a.yaml, b.yaml]\nrepos: []\n")
	for _, name := range []string{"a.yaml", "b.yaml"} {
		write(name, yamlHead+"repos: []\n"+strings.Repeat("#\n", 100))
	}
	for limit, want := range map[int64]registry.Code{400: registry.TooLarge, 800: ""} {
		var got registry.Code
		_, err := registry.Load(filepath.Join(dir, "r.yaml"), &registry.ParseOptions{MaxBytes: limit})
		if err != nil {
			p := problems(t, err)[0]
			got = p.Code
			if p.Field != "include[1]" || p.Line != 3 {
				t.Errorf("%d bytes: got %+v, want it to point to the second file", limit, p)
			}
		}
		if got != want {
			t.Errorf("%d bytes: got code %q, want %q (%v)", limit, got, want, err)
		}
	}
}
