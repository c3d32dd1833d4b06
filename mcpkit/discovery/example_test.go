package discovery_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

func ExampleFeature() {
	reg, err := registry.Parse([]byte(`
schema_version: "1.0"
kind: workspace_registry
repos:
  - {repo_id: ledger, manifest_source: generated, entrypoints: [README.md], owner: finance}
`), &registry.ParseOptions{Root: "/srv/workspace"})
	if err != nil {
		log.Fatal(err)
	}
	resolver := resolve.New(resolve.Static(reg), &resolve.Options{NoHeuristics: true})
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "workspace", Version: "1.0.0"}, nil,
		discovery.Feature(resolver, nil))
	if err != nil {
		log.Fatal(err)
	}

	// A client in the same process.
	ctx := context.Background()
	clientSide, serverSide := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, serverSide, nil); err != nil {
		log.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, nil).Connect(ctx, clientSide, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, call := range []*mcp.CallToolParams{
		{Name: "list_repos"},
		{Name: "resolve_repo", Arguments: map[string]any{"repo_id": "leger"}},
	} {
		result, err := session.CallTool(ctx, call)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	}
	// Output:
	// {"items":[{"repo_id":"ledger","repo_class":"","lifecycle":"active","owner":"finance","manifest_source":"generated","signals":{"has_docs":false,"has_mkdocs":false,"has_adr":false,"has_intents":false}}]}
	// {"error":{"code":"probe_forbidden","message":"repo \"leger\" is not in the registry, and looking for repos elsewhere is switched off; nearest ids: ledger","details":{"repo_id":"leger","nearest":["ledger"]}}}
}
