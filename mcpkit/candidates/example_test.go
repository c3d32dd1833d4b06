package candidates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

func ExampleFeature() {
	root, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	area, err := stage.Open(root, &stage.Options{Allow: []string{"docs/**"}})
	if err != nil {
		log.Fatal(err)
	}
	defer area.Close()
	store, err := token.Open(filepath.Join(root, ".mcpcontract", "tokens"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "docs", Version: "1.0.0"}, nil,
		candidates.Feature(area, &mcpkit.Approvals{Store: store, Project: "acme"}, nil))
	if err != nil {
		log.Fatal(err)
	}

	// What a host does with it.
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "codex", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	call := func(tool string, args any) map[string]any {
		res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || res.IsError {
			log.Fatal(err, res)
		}
		return res.StructuredContent.(map[string]any)
	}
	type m = map[string]any
	prepared := call("candidate_prepare", m{"candidateId": "hello", "expectedFiles": []string{"docs/hello.md"}})
	file := filepath.Join(root, prepared["stagePath"].(string), "docs", "hello.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("# Hello\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	proposed := call("candidate_apply", m{"request": m{"op": "prepare", "candidateId": "hello"}})
	fmt.Println(proposed["commandStatus"])
	// A person looks at the proposal and agrees.
	applied := call("candidate_apply", m{"request": m{"op": "apply", "proposalToken": proposed["proposalToken"]}})
	files, err := json.Marshal(applied["receipt"].(m)["files"])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(applied["commandStatus"], string(files))
	// Output:
	// approval_required
	// applied [{"before":null,"path":"docs/hello.md","sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be"}]
}
