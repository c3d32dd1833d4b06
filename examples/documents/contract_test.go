package main

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
)

// TestContract holds the whole server, with a writer, to every promise of the
// library, towards every kind of client.
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
	// Calls that can be repeated by everyone: those that need the id of an earlier
	// reply are in TestServe.
	calls := []contracttest.Call{
		{Tool: "create_changeset", Arguments: args{"title": "x"}},
		{Tool: "create_changeset", Arguments: args{"title": ""}, Fails: true},
		{Tool: "candidate_prepare", Arguments: args{"candidateId": "x", "expectedFiles": []string{"plans/x.md"}}},
		{Tool: "candidate_inspect", Arguments: args{"candidateId": "x"}, Fails: true}, // nobody staged the file
	}
	for _, call := range eachTool("cs-aaaaaaaaaaaaaaaaaaaaaaaaaa", "x1_command_"+strings.Repeat("A", 43)) {
		switch {
		case strings.HasPrefix(call.want, `"code":`), call.args["changesetId"] != nil:
			calls = append(calls, contracttest.Call{Tool: call.tool, Arguments: call.args, Fails: true})
		case call.tool == "candidate_discard" || call.tool == "candidate_inspect" || call.tool == "candidate_apply":
			calls = append(calls, contracttest.Call{Tool: call.tool, Arguments: call.args, Fails: true}) // there is no such candidate
		default:
			calls = append(calls, contracttest.Call{Tool: call.tool, Arguments: call.args})
		}
	}
	// One of each kind: the calls are many, and most of them are those of the features, which meet every client.
	clients := []contracttest.Client{{Name: "claude-code", Version: "2.1.332"}, {Name: "Zed", Version: "0.2.0"}, {}}
	contracttest.Run(t, newSampleServer, &contracttest.Options{Calls: calls, Clients: clients})
}
