package resolve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

const fleet = 200

// writeFleet writes a workspace of 200 repos, every other one with a manifest,
// and a registry that is right about all of them. Each repo lacks most of the
// files that a prober would ask for, and some of those that it declares.
func writeFleet(tb testing.TB, dir string) {
	tb.Helper()
	var reg strings.Builder
	reg.WriteString("schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n")
	for i := range fleet {
		id := fmt.Sprintf("repo-%03d", i)
		repo := filepath.Join(dir, id)
		write(tb, filepath.Join(repo, "README.md"), "# "+id+"\n")
		write(tb, filepath.Join(repo, "docs", "index.md"), "index of "+id+"\n")
		fmt.Fprintf(&reg, "  - repo_id: %s\n    entrypoints: [README.md, docs/index.md, mkdocs.yml]\n", id)
		reg.WriteString("    entrypoint_status: {mkdocs.yml: missing}\n    resource_roots: {docs: docs}\n    views: {contracts: docs/index.md}\n")
		if i%2 == 0 {
			reg.WriteString("    manifest_source: generated\n")
			continue
		}
		reg.WriteString("    manifest_source: repo\n    manifest_path: docs/agent/manifest.yaml\n")
		write(tb, filepath.Join(repo, "docs", "agent", "manifest.yaml"), "schema_version: \"1.0\"\nkind: repo_manifest\nrepo_id: "+id+
			"\nentrypoints: [docs/index.md, docs/agent/none.md, README.md, mkdocs.yml]\nviews: {workflows: docs/flows/none.md}\n")
	}
	write(tb, filepath.Join(dir, "registry.yaml"), reg.String())
}

// readAll resolves every repo and does with it all that the registry and the
// manifest declare. It returns how many files were read.
func readAll(t *testing.T, r *resolve.Resolver) (read int) {
	t.Helper()
	for entry := range r.Registry().Repos() {
		repo, err := r.Resolve(t.Context(), entry.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range repo.Entrypoints {
			if _, err := repo.Open(t.Context(), e.Path); err == nil {
				read++
			} else if codeOf(t, err) != resolve.FileMissing {
				t.Fatal(err)
			}
		}
		for view := range repo.Views {
			if _, err := repo.View(t.Context(), view); err == nil {
				read++
			} else if codeOf(t, err) != resolve.FileMissing {
				t.Fatal(err)
			}
		}
		if _, _, err := repo.Inspect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Scan(t.Context(), "docs"); err != nil {
			t.Fatal(err)
		}
		if err := repo.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return read
}

// The promise of the package: where the registry is right, nothing that is
// declared ever leads to a failed file operation.
func TestNoBlindProbes(t *testing.T) {
	dir := t.TempDir()
	writeFleet(t, dir)
	r, ops := counted(load(t, dir), nil)
	// Without a manifest: two entrypoints and a view. With one: the same two,
	// and the manifest as a second view.
	if got, want := readAll(t, r), fleet/2*3+fleet/2*4; got != want {
		t.Errorf("read %d files, want %d", got, want)
	}
	if len(ops.failed) > 0 {
		t.Errorf("%d of %d file operations failed, the first: %+v", len(ops.failed), ops.all, ops.failed[0])
	}
	if ops.all < fleet*5 {
		t.Errorf("only %d file operations were counted", ops.all)
	}
}

// The counter counts: one wrong status in the registry is one failed operation.
func TestProbesAreCounted(t *testing.T) {
	dir := t.TempDir()
	writeFleet(t, dir)
	name := filepath.Join(dir, "registry.yaml")
	reg := load(t, dir)
	entry, _ := reg.Lookup("repo-000")
	if entry.EntrypointStatus["mkdocs.yml"] != registry.StatusMissing {
		t.Fatalf("unexpected entry %+v", entry)
	}
	text := readFile(t, name)
	write(t, name, strings.Replace(text, "mkdocs.yml: missing", "mkdocs.yml: present", 1))
	r, ops := counted(load(t, dir), nil)
	readAll(t, r)
	// Once by Open, once by Inspect.
	if len(ops.failed) != 2 || ops.failed[0].Path != "repo-000/mkdocs.yml" {
		t.Errorf("got failed operations %v, want two on mkdocs.yml", ops.failed)
	}
}

func TestResolveAllocations(t *testing.T) {
	dir := t.TempDir()
	writeFleet(t, dir)
	r := resolve.New(resolve.Static(load(t, dir)), nil)
	got := testing.AllocsPerRun(200, func() {
		if _, err := r.Resolve(t.Context(), "repo-100"); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 { // the repo and its entrypoints
		t.Errorf("resolving without files costs %v allocations, want at most 2", got)
	}
}

func BenchmarkResolve(b *testing.B) {
	dir := b.TempDir()
	writeFleet(b, dir)
	r := resolve.New(resolve.Static(load(b, dir)), nil)
	for name, id := range map[string]string{"fallback": "repo-100", "manifest": "repo-101"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				repo, err := r.Resolve(b.Context(), id)
				if err != nil {
					b.Fatal(err)
				}
				_ = repo.Close()
			}
		})
	}
}
