package result_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
)

// TestCutSaysWhatIsCounted is for texts without paths, of which a bare count
// would say nothing.
func TestCutSaysWhatIsCounted(t *testing.T) {
	const kept = "this process keeps the whole text for 30 minutes, read it with diagnostic_read"
	type output struct {
		Items []int    `json:"items"`
		Paths []string `json:"paths"`
		Text  string   `json:"text"`
	}
	tests := []struct {
		name  string
		out   output
		count int
		paths []string
		notes []string // in the brackets behind the message, without the tool
	}{
		{"a list", output{Items: make([]int, 1001)}, 1001, []string{}, []string{"the longest list in it has 1001 items"}},
		{"paths", output{Items: make([]int, 1001), Paths: []string{"a.md", "b.md"}}, 2, []string{"a.md", "b.md"}, nil},
		{"neither", output{Text: strings.Repeat("a", 2000)}, 0, []string{}, nil},
	}
	for _, whole := range []bool{true, false} {
		s := mcp.NewServer(&mcp.Implementation{Name: "lists", Version: "1"}, nil)
		opts := &result.Options{MaxResult: 1100}
		if whole {
			result.Install(s, opts)
		} else {
			s.AddReceivingMiddleware(result.Middleware(opts))
		}
		for i, tt := range tests {
			tool(s, fmt.Sprint("tool", i), func(none) (*mcp.CallToolResult, output, error) { return nil, tt.out, nil })
		}
		w := pipe(t, s)
		for i, tt := range tests {
			reply, _ := callTool(t, w, perRequest("codex", "1.0.0"), fmt.Sprint("tool", i), `{}`)
			got := failureOf(t, reply).Error
			notes := tt.notes
			if whole {
				notes = append(slices.Clip(notes), kept)
			}
			_, note, _ := strings.Cut(got.Message, ": ask for less")
			want := ""
			if notes != nil {
				want = " [cut: " + strings.Join(notes, "; ") + "]"
			}
			if diff := cmp.Diff(want, note); diff != "" {
				t.Errorf("%s, kept %v: note (-want +got):\n%s", tt.name, whole, diff)
			}
			if diff := cmp.Diff(tt.paths, got.Details.Paths); diff != "" || got.Details.Count != tt.count {
				t.Errorf("%s: count %d, want %d, paths (-want +got):\n%s", tt.name, got.Details.Count, tt.count, diff)
			}
		}
	}
}

// TestDiagnosticDescription holds what clients learn of a reply that most of
// them show no schema for.
func TestDiagnosticDescription(t *testing.T) {
	c := inProcess(t, fixture(serverConfig{}))
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name != "diagnostic_read" {
			continue
		}
		for _, field := range []string{"content", "offset", "totalBytes", "nextOffset"} {
			if !strings.Contains(tool.Description, field) {
				t.Errorf("the description does not name %s: %s", field, tool.Description)
			}
		}
		return
	}
	t.Error("there is no such tool")
}
