package templates_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/templates"
)

func ExampleLoad() {
	files := fstest.MapFS{ // an embed.FS in a program
		"templates.yaml": {Data: []byte(`
schema_version: "1"
set: v1
templates:
  plan:
    file: plan.md
    artifact_path: docs/plan.md
    media_type: text/markdown
`)},
		"plan.md": {Data: []byte("# Plan\n")},
	}
	set, err := templates.Load(files, nil)
	if err != nil {
		log.Fatal(err)
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "docs", Version: "1.0.0"}, nil, set.Install)
	if err != nil {
		log.Fatal(err)
	}

	// What a client does with it.
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	res, err := client.ReadResource(ctx, &mcp.ReadResourceParams{URI: "template://v1/plan"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(res.Contents[0].Text)
	// Output: # Plan
}
