package registry_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpcontract/mcpcontract/registry"
)

// exampleWorkspace makes a folder with a registry and two repos.
func exampleWorkspace() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		panic(err)
	}
	for name, text := range map[string]string{
		"workspace-registry.yaml": `schema_version: "1.0"
kind: workspace_registry
repos:
  - repo_id: billing
    former_ids: [invoices]
    owner: finance
    manifest_source: generated
    entrypoints: [README.md, docs/index.md]
`,
		"billing/.git/HEAD":        "",
		"billing/README.md":        "# Billing\n",
		"billing/docs/adr/0001.md": "# Use a ledger\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

func Example() {
	dir, remove := exampleWorkspace()
	defer remove()
	reg, err := registry.Load(filepath.Join(dir, "workspace-registry.yaml"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	repo, ok := reg.Lookup("invoices")
	fmt.Println(ok, repo.ID, repo.Path, repo.ManifestSource, repo.Entrypoints)
	// Output: true billing billing generated [README.md docs/index.md]
}

func ExampleLoad() {
	_, err := registry.Load("no-such-file.yaml", nil)
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}

func ExampleParse() {
	const text = `schema_version: "1.0"
kind: workspace_registry
repos:
  - repo_id: billing
    manifest_source: generated
    entrypoint: [README.md]
    path: D:\work\billing
`
	_, err := registry.Parse([]byte(text), &registry.ParseOptions{File: "registry.yaml"})
	if faults, ok := errors.AsType[*registry.Error](err); ok {
		for _, p := range faults.Problems {
			fmt.Println(p.Severity, p)
		}
	}
	// Output:
	// warn registry.yaml:4:5: repos[0].entrypoints: there is neither a manifest nor an entrypoint, so nothing can be read (repo billing)
	// reject registry.yaml:6:5: repos[0].entrypoint: unknown field "entrypoint"; did you mean "entrypoints"? (repo billing)
	// reject registry.yaml:7:11: repos[0].path: "D:\\work\\billing" is a Windows path; write it relative, with forward slashes (repo billing)
}

func ExampleParseManifest() {
	const text = `schema_version: "1.0"
kind: repo_manifest
repo_id: billing
entrypoints: [docs/agent/start-here.md, ../other/secrets.md]
resource_roots: {specs: docs/context}
`
	m, found, err := registry.ParseManifest([]byte(text), &registry.ParseOptions{File: "manifest.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Entrypoints, m.ResourceRoots)
	for _, p := range found {
		fmt.Println(p)
	}
	// Output:
	// [docs/agent/start-here.md] [{specs [docs/context]}]
	// manifest.yaml:4:41: entrypoints[1]: "../other/secrets.md" leads out of the repo
}

func ExampleRegistry_Repos() {
	reg, err := registry.Parse([]byte(`{"schema_version": "1.0", "kind": "workspace_registry",
		"defaults": {"manifest_source": "generated", "entrypoints": ["README.md"]},
		"repos": [{"repo_id": "web"}, {"repo_id": "api", "lifecycle": "archived"}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for repo := range reg.Repos() {
		fmt.Println(repo.ID, repo.Lifecycle, repo.Entrypoints)
	}
	// Output:
	// api archived [README.md]
	// web active [README.md]
}

func ExampleGenerate() {
	dir, remove := exampleWorkspace()
	defer remove()
	text, found, err := registry.Generate(context.Background(), dir, &registry.ScanOptions{
		Owner:          "platform-team",
		Class:          "application",
		AuthorityOrder: []string{"repo_owner_rules", "repo_spec"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text), len(found), " problems\n")
	// Output:
	// schema_version: "1.0"
	// kind: workspace_registry
	// generator: mcpcontract
	// defaults:
	//   manifest_source: generated
	//   authority_order:
	//     - repo_owner_rules
	//     - repo_spec
	//   repo_class: application
	//   lifecycle: active
	//   owner: platform-team
	//   safe_to_probe: true
	//   origin: generated
	// repos:
	//   - repo_id: billing
	//     entrypoints:
	//       - README.md
	//     resource_roots:
	//       adr:
	//         - docs/adr
	//       docs:
	//         - docs
	//     signals:
	//       has_docs: true
	//       has_adr: true
	//     evidence:
	//       has_adr: docs/adr, 1 found, 0 numbered
	//       has_docs: docs/adr/0001.md
	//     fingerprint: entrypoints=be3ae3b6 resource_roots=4d2b686a signals=0023fcd8 evidence=fa329ee4
	// 0 problems
}

func ExampleCheck() {
	dir, remove := exampleWorkspace()
	defer remove()
	reg, err := registry.Load(filepath.Join(dir, "workspace-registry.yaml"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := registry.Check(context.Background(), reg, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range found {
		fmt.Println(p.Code, p.Field, p.Message)
	}
	// Output: path_missing repos[0].entrypoints[1] "docs/index.md" is not there; remove it, or give it the status missing
}

func ExampleJSONSchema() {
	fmt.Printf("%.60s\n", registry.JSONSchema())
	// Output:
	// {
	//   "$schema": "http://json-schema.org/draft-07/schema#",
}

func ExampleWatch() {
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "registry.yaml")
	write := func(repos string) {
		text := "schema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated}\nrepos: " + repos
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			panic(err)
		}
		if err := os.Rename(file+".new", file); err != nil { // readers see the old file or the new one
			panic(err)
		}
	}
	write("[{repo_id: billing}]")

	told := make(chan string)
	w, err := registry.Watch(file, 10*time.Millisecond, nil, func(changes []registry.Change, err error) {
		if err != nil {
			told <- "kept the last good file: " + err.Error()
			return
		}
		for _, c := range changes {
			told <- string(c.Code) + " " + c.RepoID
		}
	})
	if err != nil {
		panic(err)
	}
	write("[{repo_id: billing}, {repo_id: orders}]")
	fmt.Println(<-told)
	if err := w.Close(); err != nil {
		panic(err)
	}
	fmt.Println(w.Registry().Len(), "repos")
	// Output:
	// repo_added orders
	// 2 repos
}

func ExampleDiff() {
	parse := func(owner string) *registry.Registry {
		text := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos: [{repo_id: billing, manifest_source: generated, owner: " + owner + "}]"
		reg, err := registry.Parse([]byte(text), nil)
		if err != nil {
			panic(err)
		}
		return reg
	}
	for _, c := range registry.Diff(parse("payments"), parse("platform")) {
		fmt.Printf("%s %s: %s -> %s\n", c.RepoID, c.Field, c.Before, c.After)
	}
	// Output: billing owner: "payments" -> "platform"
}
