package connections_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/vault"
)

// demoProbe stands for [probe.Check] where there is nothing to run.
func demoProbe(context.Context, normalize.Launch, *probe.Options) (probe.Report, error) {
	return probe.Report{Name: "files", Protocol: "2026-07-28", Tools: []string{"read", "write"}, Digest: strings.Repeat("0", 64)}, nil
}

// openDemo makes a vault in a folder of its own.
func openDemo(ctx context.Context) (v *vault.Vault, dir string) {
	dir, err := os.MkdirTemp("", "connections")
	if err != nil {
		log.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := vault.MakeKeyFile(key); err != nil {
		log.Fatal(err)
	}
	if v, err = vault.Create(ctx, filepath.Join(dir, "vault"), vault.KeyFile(key)); err != nil {
		log.Fatal(err)
	}
	return v, dir
}

func ExampleFeature() {
	ctx := context.Background()
	v, dir := openDemo(ctx)
	defer os.RemoveAll(dir)
	defer v.Close()
	store, err := connections.New(v, vault.Default, &connections.Options{Probe: demoProbe})
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := token.Open(filepath.Join(dir, "tokens"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tokens.Close()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "connections", Version: "1.0.0"}, nil,
		connections.Feature(store, &mcpkit.Approvals{Store: tokens, Project: "connections/default"}))
	if err != nil {
		log.Fatal(err)
	}

	// What a host does with it.
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "codex", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	call := func(request map[string]any) map[string]any {
		res, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "register_server", Arguments: map[string]any{"request": request}})
		if err != nil || res.IsError {
			log.Fatal(err, res)
		}
		return res.StructuredContent.(map[string]any)
	}
	proposed := call(map[string]any{
		"op":   "prepare",
		"text": `{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@acme/files"], "env": {"FILES_TOKEN": "hunter2hunter2"}}}}`,
	})
	fmt.Println(proposed["proposal"].(map[string]any)["argv"], proposed["proposal"].(map[string]any)["refs"])
	// A person looks at the proposal and agrees.
	applied := call(map[string]any{"op": "apply", "proposalToken": proposed["proposalToken"]})
	fmt.Println(applied["commandStatus"])
	secret, _, err := mustProfile(v).Get("FILES_TOKEN")
	fmt.Println(secret, len(secret.Reveal()), err)
	// Output:
	// [npx -y @acme/files] [FILES_TOKEN]
	// applied
	// [redacted] 14 <nil>
}

// What "connections approve" does, in a program that opens the same vault.
func ExampleRecheck() {
	ctx := context.Background()
	v, dir := openDemo(ctx)
	defer os.RemoveAll(dir)
	defer v.Close()
	store, err := connections.New(v, vault.Default, nil)
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := token.Open(filepath.Join(dir, "tokens"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tokens.Close()
	approvals := &mcpkit.Approvals{Store: tokens, Project: "connections/default", Recheck: connections.Recheck(store)}
	if err := approvals.Decide(ctx, os.Stdout, nil); err != nil {
		log.Fatal(err)
	}
	// Output: nothing waits for approval
}

func mustProfile(v *vault.Vault) *vault.Profile {
	p, err := v.Profile(vault.Default)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

func ExampleNew() {
	ctx := context.Background()
	v, dir := openDemo(ctx)
	defer os.RemoveAll(dir)
	defer v.Close()
	store, err := connections.New(v, vault.Default, nil)
	if err != nil {
		log.Fatal(err)
	}
	list, err := store.List()
	fmt.Println(store.Profile(), len(list), err)
	_, err = store.Launch(ctx, "files")
	fmt.Println(err)
	// Output:
	// default 0 <nil>
	// there is no connection "files": list them to see their names
}

func ExampleRecordOf() {
	paste, err := normalize.Parse([]byte(`{"mcpServers": {"hub": {"url": "https://hub.example.com/mcp", "headers": {"X-Key": "${HUB_KEY}"}}}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	s := &paste.Servers[0]
	r := connections.RecordOf(s, nil, s.Notes)
	fmt.Println(r.Name, r.Transport, r.URL, r.Headers, r.Warnings)
	// Output: hub http https://hub.example.com/mcp map[X-Key:${HUB_KEY}] [type_inferred:http]
}
