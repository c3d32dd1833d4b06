package docgraph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// handbook writes a small project and returns its folder and what removes it.
func handbook() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "handbook")
	if err != nil {
		panic(err)
	}
	for name, text := range map[string]string{
		"backup.md":  "---\nid: backup\nkind: guide\ndepends_on: [storage]\n---\n# Backups\n\nA backup is made every night.\n",
		"storage.md": "# Storage\n\nThree disks.\n",
		"restore.md": "# Restore\n\nTake the newest [[backup]].\n",
	} {
		full := filepath.Join(dir, "docs", name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

func Example() {
	dir, remove := handbook()
	defer remove()
	project, err := docgraph.Open(dir, &docgraph.Options{Project: "handbook"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer project.Close()
	graph, err := project.Graph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, total, err := graph.Search("newest backup", 0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range hits {
		fmt.Printf("%d: %s: %s\n", total, h.Node.Title, h.Snippet)
	}
	effects, err := graph.Impact("storage")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range effects {
		fmt.Println(e.Node.ID, e.Via())
	}
	// Output:
	// 1: Restore: Take the newest [[backup]].
	// backup [storage backup]
	// restore [storage backup restore]
}

func ExampleOpen() {
	dir, remove := handbook()
	defer remove()
	project, err := docgraph.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer project.Close()
	snapshot, err := project.Snapshot(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range snapshot.Nodes {
		fmt.Println(n.ID, n.Kind, n.Path, n.DependsOn, n.Links)
	}
	// Output:
	// backup guide backup.md [storage] []
	// restore page restore.md [] [backup]
	// storage page storage.md [] []
}

func ExampleGraph_Context() {
	dir, remove := handbook()
	defer remove()
	project, err := docgraph.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer project.Close()
	graph, err := project.Graph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	request := docgraph.ContextRequest{ID: "backup", MaxBytes: 500}
	for {
		page, err := graph.Context(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range page.Pieces {
			fmt.Printf("%s#%s: %d bytes\n", p.ID, p.Name, len(p.Text))
		}
		if page.Complete {
			break
		}
		fmt.Println("next page")
		request.From = page.Next
	}
	// Output:
	// backup#: 53 bytes
	// backup#backups: 41 bytes
	// next page
	// storage#storage: 24 bytes
}
