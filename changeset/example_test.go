package changeset_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// exampleProject makes a directory with two documents.
func exampleProject() (root string, clean func()) {
	root, err := os.MkdirTemp("", "changeset-")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{
		"setup.md":  "---\nid: setup\nkind: guide\ntitle: Set-up\n---\nRun it, see [[limits]].\n",
		"limits.md": "---\nid: limits\nkind: spec\ntitle: Limits\n---\nAt most ten.\n",
	} {
		name = filepath.Join(root, "docs", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return root, func() { os.RemoveAll(root) }
}

// A change is proposed, checked and shown. The document stays as it is.
func Example() {
	root, clean := exampleProject()
	defer clean()
	project, err := docgraph.Open(root, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer project.Close()
	ctx := context.Background()
	store, err := changeset.Open(root, project, &changeset.Options{
		Views: []changeset.View{{ID: "review", Renderer: "review"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	writer, err := store.Bind("ada", changeset.Policy{Allow: []changeset.Op{changeset.Update}})
	if err != nil {
		log.Fatal(err)
	}
	c, err := writer.Create(ctx, "Raise the limit", "Ten were too few.")
	if err != nil {
		log.Fatal(err)
	}
	text := "At most twenty.\n"
	if _, err := writer.ProposeUpdate(ctx, c.ID, "limits", changeset.NodeEdit{Text: &text}); err != nil {
		log.Fatal(err)
	}
	_, err = writer.ProposeDelete(ctx, c.ID, "setup")
	fmt.Println(changeset.CodeOf(err))

	v, err := store.Validate(ctx, c.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("valid:", v.Valid)
	diffs, err := store.Diff(ctx, c.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(diffs[0].Unified)
	preview, err := store.Preview(ctx, c.ID, "review")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Replace(preview.Path, c.ID, "ID", 1))
	// Output:
	// operation_not_allowed
	// valid: true
	// diff --git a/docs/limits.md b/docs/limits.md
	// --- a/docs/limits.md
	// +++ b/docs/limits.md
	// @@ -3,4 +3,4 @@
	//  kind: spec
	//  title: Limits
	//  ---
	// -At most ten.
	// +At most twenty.
	// .mcpdocs/previews/ID-review.html
}

func ExampleOpen() {
	root, clean := exampleProject()
	defer clean()
	project, err := docgraph.Open(root, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer project.Close()
	_, err = changeset.Open(root, project, &changeset.Options{Changesets: "docs/proposed"})
	fmt.Println(err)
	// Output: open: the options are not valid: the folder "docs/proposed" overlaps "docs", which nothing may write to
}

// exampleChangeset begins a changeset under a policy.
func exampleChangeset(root string, policy changeset.Policy) (*changeset.Store, *changeset.Writer, changeset.Changeset) {
	project, err := docgraph.Open(root, nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := changeset.Open(root, project, nil)
	if err != nil {
		log.Fatal(err)
	}
	writer, err := store.Bind("ada", policy)
	if err != nil {
		log.Fatal(err)
	}
	c, err := writer.Create(context.Background(), "An example", "")
	if err != nil {
		log.Fatal(err)
	}
	return store, writer, c
}

func ExampleStore_Validate() {
	root, clean := exampleProject()
	defer clean()
	store, writer, c := exampleChangeset(root, changeset.Policy{Allow: []changeset.Op{changeset.Delete}})
	defer store.Close()
	ctx := context.Background()
	if _, err := writer.ProposeDelete(ctx, c.ID, "limits"); err != nil {
		log.Fatal(err)
	}
	v, err := store.Validate(ctx, c.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range v.Problems {
		fmt.Printf("%s in %s: %s\n", p.Code, p.ID, p.Message)
	}
	// Output: dangling_reference in setup: it refers to the id "limits", which no node has after the changeset
}

func ExampleStore_Bind() {
	root, clean := exampleProject()
	defer clean()
	store, writer, c := exampleChangeset(root, changeset.Policy{
		Allow: []changeset.Op{changeset.Create, changeset.Update},
		Kinds: []string{"guide"},
		Paths: []string{"guides/**/*.md"},
	})
	defer store.Close()
	for _, path := range []string{"guides/install/linux.md", "linux.md"} {
		o, err := writer.ProposeCreate(context.Background(), c.ID, changeset.NewNode{ID: path, Kind: "guide", Title: "Linux", Path: path, Text: "Run it.\n"})
		fmt.Printf("%q %q\n", o.NewPath, changeset.CodeOf(err))
	}
	// Output:
	// "guides/install/linux.md" ""
	// "" "path_not_allowed"
}
