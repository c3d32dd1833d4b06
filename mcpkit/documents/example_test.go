package documents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/result"
)

func ExampleFeature() {
	dir, err := os.MkdirTemp("", "handbook")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	check(os.Mkdir(filepath.Join(dir, "docs"), 0o700))
	check(os.WriteFile(filepath.Join(dir, "docs", "tides.md"), []byte("# Tides\n\nHigh water at noon.\n"), 0o600))

	project, err := docgraph.Open(dir, &docgraph.Options{Project: "handbook"})
	check(err)
	defer project.Close()
	store, err := changeset.Open(dir, project, nil)
	check(err)
	defer store.Close()
	writer, err := store.Bind("agent", changeset.Policy{Allow: []changeset.Op{changeset.Update}})
	check(err)
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "handbook", Version: "1.0.0"}, nil,
		documents.Feature(project, &documents.Options{Store: store, Writer: writer}))
	check(err)

	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	_, err = server.Connect(ctx, there, nil)
	check(err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "codex", Version: "1.0.0"}, nil).Connect(ctx, here, nil)
	check(err)
	defer client.Close()
	found, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "water"}})
	check(err)
	first := found.StructuredContent.(map[string]any)["items"].([]any)[0].(map[string]any)
	fmt.Println(first["id"], "-", first["snippet"])
	// Output: tides - High water at noon.
}

// Given to the server's result.Options, the function describes the replies of all
// tools that do not say themselves where they come from.
func ExampleProvenance() {
	dir, err := os.MkdirTemp("", "handbook")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	check(os.Mkdir(filepath.Join(dir, "docs"), 0o700))
	project, err := docgraph.Open(dir, &docgraph.Options{Project: "handbook"})
	check(err)
	defer project.Close()

	opts := &result.Options{Provenance: documents.Provenance(project, "")}
	from := opts.Provenance(context.Background(), "candidate_inspect")
	fmt.Println(from.Project, from.Adapter, from.Staleness)
	// Output: handbook docgraph/1 current
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
