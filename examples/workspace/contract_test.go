package main

import (
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// TestContract holds the server to every promise of the library, towards every kind
// of client.
func TestContract(t *testing.T) {
	t.Parallel()
	reg, err := registry.Load(filepath.Join(sampleWorkspace(t), "workspace-registry.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	newSampleServer := func() *mcp.Server {
		server, err := newServer(resolve.Static(reg), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	contracttest.Run(t, newSampleServer, &contracttest.Options{Calls: []contracttest.Call{
		{Tool: "list_repos"},
		{Tool: "list_repos", Arguments: args{"includeArchived": true, "owner": "nobody"}},
		{Tool: "list_repos", Arguments: args{"cursor": "x"}, Fails: true},
		{Tool: "resolve_repo", Arguments: args{"repo_id": "ledger"}},
		{Tool: "resolve_repo", Arguments: args{"repo_id": "storefront"}},
		{Tool: "resolve_repo", Arguments: args{"repo_id": "oldbooks"}},
		{Tool: "resolve_repo", Arguments: args{"repo_id": "notebook"}}, // heuristic: nobody knows its manifest_source
		{Tool: "resolve_repo", Arguments: args{"repo_id": "none"}, Fails: true},
		{Tool: "read_entrypoint", Arguments: args{"repo_id": "storefront", "path": "mkdocs.yml"}},
		{Tool: "read_entrypoint", Arguments: args{"repo_id": "storefront", "path": "CHANGES.md"}, Fails: true},
		{Tool: "read_entrypoint", Arguments: args{"repo_id": "storefront", "path": "../ledger/README.md"}, Fails: true},
		{Tool: "read_view", Arguments: args{"repo_id": "ledger", "view": "start-here"}},
		{Tool: "read_view", Arguments: args{"repo_id": "storefront", "view": "contracts"}, Fails: true},
		{Tool: "scan_root", Arguments: args{"repo_id": "ledger", "type": "adr"}},
		{Tool: "scan_root", Arguments: args{"repo_id": "ledger", "type": "none"}, Fails: true},
		{Tool: "check_registry"},
		{Tool: "check_registry", Arguments: args{"cursor": "x"}, Fails: true},
		// What can be read there gets its id anew each time.
		{Tool: "diagnostic_read", Arguments: args{"diagnosticId": "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, Fails: true},
	}})
}
