package syntax_test

import (
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// TestSplitYAMLSigns checks that what stands for something else in YAML is
// resolved or refused, and never taken for its own text.
func TestSplitYAMLSigns(t *testing.T) {
	many := "x: &x [" + strings.Repeat("1,", 999) + "1]\ny: &y [" + strings.Repeat("*x,", 100) + "*x]\n" + "mcpServers: {a: {command: c, args: *y}}\n"
	tests := []struct {
		name, in string
		want     string // the documents as JSON, or
		fault    int    // the line of the fault
	}{
		{"an unknown alias in a flow", "mcpServers: {a: {command: x, args: *nope}}\n", "", 1},
		{"an unknown alias in braces", "{a: {command: &c x, args: [*c]}, b: {command: *d}}", "", 1},
		{"an unknown alias further down", "name: x\nmcpServers: {a: {command: x,\n  args: [*nope]}}\n", "", 3},
		{"an unknown alias in a block", "mcpServers:\n  a: {command: x}\n  b:\n    command: *nope\n", "", 4},
		{"an unknown alias as a name", "{mcpServers: {*a : {command: x}}}", "", 1},
		{"an unknown merge key", "{mcpServers: {a: {<<: *base}}}", "", 1},
		{"a lone star", "{a: {command: x, autoApprove: [*]}}", "", 1},
		{"over the limit of aliases", many, "", 2},
		{"an alias", "{a: {command: &c x, args: [*c]}}", `{"a":{"command":"x","args":["x"]}}`, 0},
		{"a tag", "{a: {command: !!str 5}}", `{"a":{"command":"5"}}`, 0},
		{"a fragment with a merge key", "a: {<<: &b {command: x}}, ", "", 1},
		{"quoted", `{a: {command: "*x", args: ['&y', "!z"]}}`, `{"a":{"command":"*x","args":["&y","!z"]}}`, 0},
		{"booleans of JavaScript", "{a: {command: 'x', disabled: !0}}", `{"a":{"command":"x","disabled":true}}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := syntax.Split(tt.in)
			var docs []string
			for _, d := range got.Docs {
				docs = append(docs, string(d.Root.AppendJSON(nil)))
			}
			if text := strings.Join(docs, " "); text != tt.want {
				t.Errorf("got %.200s, want %s", text, tt.want)
			}
			line := 0
			if len(got.Faults) > 0 {
				line = got.Faults[len(got.Faults)-1].Line
			}
			if line != tt.fault {
				t.Errorf("the fault is at line %d, want %d: %+v", line, tt.fault, got.Faults)
			}
		})
	}
}

// TestSplitLabels checks links with brackets before them that nothing opens.
func TestSplitLabels(t *testing.T) {
	tests := []struct {
		in    string
		links int
		prose bool
	}{
		{"](cursor://?", 1, false},
		{"Cursor](cursor://x?name=a)\n", 1, true},
		{"[a](cursor://x?y)](cursor://x?y)", 2, false},
		{"](vscode:mcp/install?x", 1, false},
		{"[![Add](https://x.example.com/a.svg)](cursor://x?y)", 1, false},
		{"See [docs] and [Add](cursor://x?y)", 1, true},
	}
	for _, tt := range tests {
		got := syntax.Split(tt.in)
		links := 0
		for _, d := range got.Docs {
			if d.Form == syntax.LinkForm {
				links++
			}
		}
		if links != tt.links || got.Prose != tt.prose {
			t.Errorf("%q: %d links, prose %v; want %d, %v", tt.in, links, got.Prose, tt.links, tt.prose)
		}
	}
}
