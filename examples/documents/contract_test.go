package main

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
)

// TestContract holds the whole server, with a writer, to every promise of the
// library, towards every kind of client. The features do the same to each of
// their tools, and TestServe makes good and bad calls of all: here are some of
// each feature, side by side in one catalog.
func TestContract(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	c := &config{root: string(f), writer: "agent", approve: mcpkit.Token}
	newSampleServer := func() *mcp.Server {
		p, err := open(c.root, c.writer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
		server, err := p.server(c)
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	calls := []contracttest.Call{ // that can be repeated by everyone
		{Tool: "project_status"},
		{Tool: "create_changeset", Arguments: args{"title": "x"}},
		{Tool: "preview_changeset", Arguments: args{"changesetId": "cs-aaaaaaaaaaaaaaaaaaaaaaaaaa", "view": "review"}, Fails: true},
		{Tool: "candidate_prepare", Arguments: args{"candidateId": "x", "expectedFiles": []string{"plans/x.md"}}},
		{Tool: "candidate_apply", Arguments: apply("x1_command_" + strings.Repeat("A", 43)), Fails: true},
		{Tool: "template_get_many", Arguments: args{"ids": []string{"plan"}}},
		{Tool: "diagnostic_read", Arguments: args{"diagnosticId": "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, Fails: true},
	}
	// One of each kind.
	clients := []contracttest.Client{{Name: "claude-code", Version: "2.1.332"}, {Name: "Zed", Version: "0.2.0"}, {}}
	contracttest.Run(t, newSampleServer, &contracttest.Options{Calls: calls, Clients: clients})
}
