package registry_test

import (
	"errors"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// FuzzParse checks what every caller relies on: a registry that loads holds only ids and paths that are safe
// to use, each id finds its entry, and whatever does not load has problems with a place and a code.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample), "r.yaml")
	f.Add([]byte(sampleJSON), "r.json")
	f.Add([]byte(sampleTOML), "r.toml")
	f.Add([]byte(`{"schema_version":"1.0","kind":"workspace_registry","repos":[{"repo_id":"a","path":"/ws/a","manifest_source":"repo","manifest_path":"/ws/a/m"}]}`), "r.json")
	f.Add([]byte("schema_version: \"1.4\"\nkind: workspace_registry\nx: 1\nrepos: [{repo_id: a, manifest_source: generated, path: .}]\n"), "r.yaml")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		reg, err := registry.Parse(data, &registry.ParseOptions{File: name, Root: "/ws"})
		if err != nil {
			checkError(t, err)
			return
		}
		last := ""
		for r := range reg.Repos() {
			if r.ID <= last {
				t.Fatalf("id %q after %q", r.ID, last)
			}
			last = r.ID
			if found, ok := reg.Lookup(r.ID); !ok || found.ID != r.ID {
				t.Fatalf("id %q is not found", r.ID)
			}
			for _, former := range r.FormerIDs {
				if found, ok := reg.Lookup(former); !ok || found.ID != r.ID {
					t.Fatalf("former id %q gives %q", former, found.ID)
				}
			}
			checkRepo(t, &r)
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *registry.Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T", err)
	}
	rejects := 0
	for _, p := range e.Problems {
		if p.Line < 1 || p.Column < 1 || p.Code == "" || p.Message == "" {
			t.Fatalf("incomplete problem: %+v", p)
		}
		if p.Severity == registry.Reject {
			rejects++
		}
	}
	if rejects == 0 || len(e.Problems) > 1001 || e.Error() == "" {
		t.Fatalf("%d problems, %d of them reject: %v", len(e.Problems), rejects, err)
	}
}

func checkRepo(t *testing.T, r *registry.Repo) {
	t.Helper()
	paths := append([]string{}, r.Entrypoints...)
	if r.Path != "." {
		paths = append(paths, r.Path)
	}
	if r.ManifestPath != "" {
		paths = append(paths, r.ManifestPath)
	}
	if r.ManifestPath == "" && r.ManifestSource == registry.SourceRepo || r.ManifestSource == "" || r.Lifecycle == "" {
		t.Fatalf("incomplete entry %+v", r)
	}
	for _, p := range r.Views {
		paths = append(paths, p)
	}
	for p := range r.EntrypointStatus {
		paths = append(paths, p)
	}
	roots := append([]registry.ResourceRoot{}, r.ResourceRoots...)
	for _, c := range r.Components {
		roots = append(roots, c.Roots...)
	}
	for _, root := range roots {
		paths = append(paths, root.Paths...)
	}
	for _, p := range paths {
		if err := rootfs.Check(p); err != nil {
			t.Fatalf("path %q of %s: %v", p, r.ID, err)
		}
	}
}

// FuzzParseManifest checks that a manifest gives only paths that are safe to use, and that each problem has a
// place.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("schema_version: \"1.0\"\nkind: repo_manifest\nrepo_id: a\nentrypoints: README.md\nresource_roots: {docs: docs}\n"))
	f.Add([]byte("components:\n- {id: c, paths: {src: [../x, y]}}\nviews: {a: C:\\x}\nnotes: [1]\n"))
	f.Add([]byte(`{"repo_id": "", "entrypoints": ["a", "a", null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, found, err := registry.ParseManifest(data, nil)
		if err != nil {
			checkError(t, err)
			return
		}
		for _, p := range found {
			if p.Line < 1 || p.Column < 1 || p.Code == "" {
				t.Fatalf("incomplete problem: %+v", p)
			}
		}
		checkRepo(t, &registry.Repo{
			Path: ".", ManifestSource: registry.SourceGenerated, Lifecycle: registry.Active, Entrypoints: m.Entrypoints,
			ResourceRoots: m.ResourceRoots, Views: m.Views, Components: m.Components,
		})
	})
}
