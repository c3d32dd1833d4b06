package stage_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/stage"
)

// A candidate is staged, planned, approved and promoted.
func Example() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**", "index.md"}})
	if err != nil {
		log.Fatal(err)
	}
	defer area.Close()

	prepared, err := area.Prepare(ctx, "first-plan", []string{"docs/plan.md"})
	if err != nil {
		log.Fatal(err)
	}
	staged := filepath.Join(root, filepath.FromSlash(prepared.Dir), "docs")
	if err := os.MkdirAll(staged, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staged, "plan.md"), []byte("# Plan\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	manifest, err := area.Inspect(ctx, "first-plan")
	if err != nil {
		log.Fatal(err)
	}
	index := stage.Generated{Path: "index.md", Data: []byte("- docs/plan.md\n")}
	plan, err := area.Plan(ctx, manifest, []stage.Generated{index}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes() {
		fmt.Printf("%s: %d bytes, replaces %q\n", c.Path, c.Size, c.Before)
	}
	// A person approves plan.Digest() here.
	receipt, err := area.Promote(ctx, plan)
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "plan.md"))
	fmt.Printf("%d files promoted: %q %v\n", len(receipt.Files), text, err)
	// Output:
	// docs/plan.md: 7 bytes, replaces ""
	// index.md: 15 bytes, replaces ""
	// 2 files promoted: "# Plan\n" <nil>
}

// Nothing may be staged or promoted unless a pattern allows it.
func ExampleOpen() {
	root, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**/*.md"}})
	if err != nil {
		log.Fatal(err)
	}
	defer area.Close()
	_, err = area.Prepare(context.Background(), "sneaky", []string{"src/main.go"})
	fmt.Println(stage.CodeOf(err))
	fmt.Println(err)
	// Output:
	// path_not_allowed
	// prepare "sneaky": promotion may not write there: "src/main.go"
}
