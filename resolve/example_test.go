package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// exampleWorkspace writes a workspace of one repo to a folder.
func exampleWorkspace() (dir string, err error) {
	dir, err = os.MkdirTemp("", "workspace-")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(dir, "ledger"), 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "ledger", "README.md"), []byte("Double-entry bookkeeping.\n"), 0o644)
}

const exampleRegistry = `
schema_version: "1.0"
kind: workspace_registry
repos:
  - repo_id: ledger
    manifest_source: generated
    entrypoints: [README.md, CHANGES.md]
    entrypoint_status: {README.md: present, CHANGES.md: missing}
`

func Example() {
	dir, err := exampleWorkspace()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	reg, err := registry.Parse([]byte(exampleRegistry), &registry.ParseOptions{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	repo, err := resolve.New(resolve.Static(reg), nil).Resolve(ctx, "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer repo.Close()
	fmt.Println(repo.Mode)
	for _, e := range repo.Entrypoints {
		fmt.Println(e.Path, e.Status)
	}
	file, err := repo.Open(ctx, "README.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", file.Data)
	// Output:
	// registry-fallback
	// README.md present
	// CHANGES.md missing
	// Double-entry bookkeeping.
}

func ExampleNew() {
	reg, err := registry.Parse([]byte(exampleRegistry), &registry.ParseOptions{Root: "/srv/workspace"})
	if err != nil {
		log.Fatal(err)
	}
	r := resolve.New(resolve.Static(reg), &resolve.Options{NoHeuristics: true})
	_, err = r.Resolve(context.Background(), "leger")
	if e, ok := errors.AsType[*resolve.Error](err); ok {
		fmt.Println(e.Code)
		fmt.Println(e.Details.Nearest)
	}
	fmt.Println(err)
	// Output:
	// probe_forbidden
	// [ledger]
	// repo "leger" is not in the registry, and looking for repos elsewhere is switched off; nearest ids: ledger
}

func ExampleStatic() {
	reg, err := registry.Parse([]byte(exampleRegistry), &registry.ParseOptions{Root: "/srv/workspace"})
	if err != nil {
		log.Fatal(err)
	}
	r := resolve.New(resolve.Static(reg), nil)
	fmt.Println(r.Registry().Len())
	// Output: 1
}

func ExampleRepo_Open() {
	dir, err := exampleWorkspace()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	reg, err := registry.Parse([]byte(exampleRegistry), &registry.ParseOptions{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	repo, err := resolve.New(resolve.Static(reg), nil).Resolve(ctx, "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer repo.Close()
	_, err = repo.Open(ctx, "../payroll/salaries.csv")
	fmt.Println(err)
	// Output: repo "ledger" does not declare the path "../payroll/salaries.csv"; entrypoints: README.md, CHANGES.md; folders: none
}
