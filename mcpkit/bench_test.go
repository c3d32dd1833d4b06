package mcpkit_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// plainSearch is the tool search as the SDK alone makes it.
func plainSearch() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "1"}, nil)
	type plainResult struct {
		RepoID string       `json:"repo_id"`
		Items  []searchItem `json:"items"`
	}
	type plainArgs struct {
		RepoID string   `json:"repo_id"`
		Limit  int      `json:"limit,omitempty"`
		Tags   []string `json:"tags,omitempty"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "search"}, func(_ context.Context, _ *mcp.CallToolRequest, in plainArgs) (*mcp.CallToolResult, plainResult, error) {
		return nil, plainResult{in.RepoID, fullItems}, nil
	})
	return s
}

func kitSearch(tb testing.TB) *mcp.Server {
	tb.Helper()
	type kitResult struct {
		RepoID string       `json:"repo_id" schema:"kind=id"`
		Items  []searchItem `json:"items"`
	}
	type kitArgs struct {
		RepoID string   `json:"repo_id" jsonschema:"repo" schema:"kind=id"`
		Limit  int      `json:"limit,omitempty" jsonschema:"limit" schema:"minimum=1"`
		Tags   []string `json:"tags,omitempty" jsonschema:"tags"`
	}
	probe := tool[kitArgs, kitResult]()
	probe.Name = "search"
	probe.Run = func(_ context.Context, in kitArgs) (kitResult, error) { return kitResult{in.RepoID, fullItems}, nil }
	return newServer(tb, nil, probe.Install)
}

var fullItems = func() []searchItem {
	items := make([]searchItem, 20)
	for i := range items {
		items[i] = searchItem{Name: "a name of some length", Lines: []int64{1, 2, 3}, Peers: []string{"alpha", "beta"}}
	}
	return items
}()

const searchCall = `{"name":"search","arguments":{"repo_id":"alpha","limit":5,"tags":["a","b"]}}`

// A typed tool of mcpkit checks more than one of the SDK, and costs no more.
func TestCallAllocations(t *testing.T) {
	measure := func(s *mcp.Server) float64 {
		p := dial(t, s, stateless)
		return testing.AllocsPerRun(200, func() { p.send(t, "tools/call", searchCall) })
	}
	plain, kit := measure(plainSearch()), measure(kitSearch(t))
	if kit > plain {
		t.Errorf("a call allocates %.0f times, with the SDK alone %.0f times", kit, plain)
	}
	t.Logf("allocations a call: %.0f, with the SDK alone %.0f", kit, plain)
}

func BenchmarkCall(b *testing.B) {
	run := func(b *testing.B, s *mcp.Server) {
		b.Helper()
		p := dial(b, s, stateless)
		b.ReportAllocs()
		for b.Loop() {
			if r := p.send(b, "tools/call", searchCall); r.Error != nil {
				b.Fatal(string(r.Error))
			}
		}
	}
	b.Run("sdk", func(b *testing.B) { run(b, plainSearch()) })
	b.Run("mcpkit", func(b *testing.B) { run(b, kitSearch(b)) })
}

// A server whose arguments are mostly wrong does no more work than one whose arguments are right.
func BenchmarkRefused(b *testing.B) {
	p := dial(b, kitSearch(b), stateless)
	b.ReportAllocs()
	for b.Loop() {
		r := p.send(b, "tools/call", `{"name":"search","arguments":{"repo_id":"../alpha","limit":-5,"tag":["a","b"]}}`)
		if !json.Valid(r.Result) {
			b.Fatal(string(r.Error))
		}
	}
}
