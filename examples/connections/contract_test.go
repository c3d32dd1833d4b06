package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// fewReferences knows one reference.
type fewReferences struct{}

func (fewReferences) Resolve(_ context.Context, reference string) (normalize.Server, lookup.Evidence, error) {
	steps := lookup.Evidence{{Step: "registry", Source: "https://registry.example.com/v0/servers", Outcome: "one entry"}}
	if reference != "acme/files" {
		return normalize.Server{}, steps, &lookup.Error{Code: lookup.CodeNotFound, Reference: reference, Message: "nobody knows it", Evidence: steps}
	}
	return normalize.Server{Name: "files", Transport: normalize.Stdio, Command: "npx", Args: []string{"-y", "@acme/files@1.0.0"}}, steps, nil
}

// TestContract holds the server to every promise of the library, towards every kind
// of client. The probe is of no server: what is registered is not what is tested.
func TestContract(t *testing.T) {
	dir := t.TempDir()
	c := &config{vault: filepath.Join(dir, "vault"), profile: "default", keyFile: filepath.Join(dir, "key")}
	if err := initialize(t.Context(), c, streams{out: new(strings.Builder)}, nil); err != nil {
		t.Fatal(err)
	}
	d, err := c.open(t.Context(), &connections.Options{
		Lookup: fewReferences{},
		Probe: func(_ context.Context, l normalize.Launch, _ *probe.Options) (probe.Report, error) {
			if l.Command == "false" {
				return probe.Report{}, &probe.Error{Code: probe.Failed, Server: l.Name, Phase: probe.Start, Message: "it does not run"}
			}
			return probe.Report{Name: "files", Version: "1", Protocol: "2025-11-25", Tools: []string{"read"}, Digest: strings.Repeat("0", 64)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	const text = `{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@acme/files"], "env": {"FILES_TOKEN": "` + canary + `", "R": "${NOWHERE}"}}}}`
	if err := register(t, d, c, text); err != nil {
		t.Fatal(err)
	}
	newContractServer := func() *mcp.Server {
		server, err := d.server(c)
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	// One of each kind: every call of this server reads or writes a vault.
	clients := []contracttest.Client{{Name: "codex-mcp-client", Version: "0.171.0"}, {Name: "claude-code (via mcp-remote 0.15.1)", Version: "2.1.332"}, {}}
	contracttest.Run(t, newContractServer, &contracttest.Options{Clients: clients, Calls: []contracttest.Call{
		{Tool: "normalize_config", Arguments: args{"text": text}},
		{Tool: "normalize_config", Arguments: args{"text": text, "dialect": "cursor", "os": "windows"}},
		{Tool: "normalize_config", Arguments: args{"text": "[mcp_servers.a]\nurl = \"https://x.example.com/mcp\"\noauth = false\n"}},
		{Tool: "normalize_config", Arguments: args{"text": `{"a": `}, Fails: true},
		{Tool: "resolve_reference", Arguments: args{"reference": "acme/files"}},
		{Tool: "resolve_reference", Arguments: args{"reference": "acme/other"}, Fails: true},
		{Tool: "register_server", Arguments: prepare(args{"text": text, "replace": true})},
		{Tool: "register_server", Arguments: prepare(args{"reference": "acme/files", "name": "more"})},
		{Tool: "register_server", Arguments: prepare(args{"text": text}), Fails: true},
		{Tool: "register_server", Arguments: prepare(args{"text": "{}"}), Fails: true},
		{Tool: "register_server", Arguments: apply("x1_token_none"), Fails: true},
		{Tool: "list_servers"},
		{Tool: "list_servers", Arguments: args{"cursor": "x"}, Fails: true},
		{Tool: "set_enabled", Arguments: args{"name": "files", "enabled": true}},
		{Tool: "set_enabled", Arguments: args{"name": "none", "enabled": true}, Fails: true},
		{Tool: "probe_server", Arguments: args{"name": "files"}},
		{Tool: "probe_server", Arguments: args{"name": "none"}, Fails: true},
		{Tool: "remove_server", Arguments: prepare(args{"name": "files"})},
		{Tool: "remove_server", Arguments: prepare(args{"name": "none"}), Fails: true},
		{Tool: "export_config", Arguments: args{"dialect": "codex"}},
		{Tool: "export_config", Arguments: args{"dialect": "none"}, Fails: true},
		// What can be read there gets its id anew each time.
		{Tool: "diagnostic_read", Arguments: args{"diagnosticId": "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, Fails: true},
	}})
	if files, hits, err := search(dir, canary); err != nil || hits > 0 || files < 3 {
		t.Errorf("%d of %d files have the secret, %v", hits, files, err)
	}
}

// register registers a server, as a client does.
func register(t *testing.T, d *desk, c *config, text string) error {
	t.Helper()
	server, err := d.server(c)
	if err != nil {
		return err
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		return err
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "codex", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		return err
	}
	call := func(arguments args) (args, error) {
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "register_server", Arguments: arguments})
		if err != nil {
			return nil, err
		}
		fields, ok := res.StructuredContent.(args)
		if !ok {
			return nil, errors.New("the registration was refused")
		}
		return fields, nil
	}
	proposed, err := call(prepare(args{"text": text}))
	if err == nil {
		_, err = call(apply(proposed["proposalToken"].(string)))
	}
	return errors.Join(err, client.Close())
}
