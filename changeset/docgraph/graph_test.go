package docgraph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// house is a small project with a chain, a diamond, a cycle and loose ends.
func house(t *testing.T) *docgraph.Graph {
	t.Helper()
	return load(t, map[string]string{
		"roof.md":   node("roof", "walls, beams"),
		"walls.md":  node("walls", "ground"),
		"beams.md":  node("beams", "ground, steel"),
		"ground.md": node("ground", ""),
		"steel.md":  node("steel", "nowhere"),
		"tour.md":   node("tour", "", "roof", "roof|the roof", "tour"),
		"hen.md":    node("hen", "egg", "ground"),
		"egg.md":    node("egg", "hen"),
		"self.md":   node("self", "self", "lost"),
	})
}

func TestBacklinks(t *testing.T) {
	g := house(t)
	for id, want := range map[string]string{
		"ground": "beams hen walls", "roof": "tour", "tour": "tour", "hen": "egg", "self": "self", "walls": "roof",
	} {
		nodes, err := g.Backlinks(id)
		if err != nil || ids(nodes) != want {
			t.Errorf("Backlinks(%s) = %q, %v; want %q", id, ids(nodes), err, want)
		}
	}
	_, err := g.Backlinks("nowhere")
	wantCode(t, err, docgraph.CodeNode)
}

// A node that is linked to by what depends on it has that backlink once.
func TestBacklinksOnce(t *testing.T) {
	g := load(t, map[string]string{"a.md": node("a", ""), "b.md": node("b", "a", "a"), "c.md": node("c", "b, a", "b", "a")})
	nodes, err := g.Backlinks("a")
	if err != nil || ids(nodes) != "b c" {
		t.Errorf("Backlinks = %q, %v", ids(nodes), err)
	}
}

func TestDependencies(t *testing.T) {
	g := house(t)
	tests := []struct {
		id, want string
		problems []string
	}{
		{"roof", "ground walls steel beams", []string{"E dangling_reference steel.md"}},
		{"ground", "", nil},
		{"tour", "", nil},
		{"hen", "egg", []string{"E dependency_cycle egg.md"}},
		{"self", "", []string{"E dependency_cycle self.md"}},
	}
	for _, tc := range tests {
		nodes, problems, err := g.Dependencies(tc.id)
		if err != nil || ids(nodes) != tc.want {
			t.Errorf("Dependencies(%s) = %q, %v; want %q", tc.id, ids(nodes), err, tc.want)
		}
		if diff := cmp.Diff(tc.problems, codes(problems)); diff != "" {
			t.Errorf("Dependencies(%s) problems (-want +got):\n%s", tc.id, diff)
		}
	}
	_, _, err := g.Dependencies("nowhere")
	wantCode(t, err, docgraph.CodeNode)
}

func TestImpact(t *testing.T) {
	g := house(t)
	for id, want := range map[string][]string{
		"ground": {"beams: ground beams", "hen: ground hen", "walls: ground walls", "egg: ground hen egg", "roof: ground beams roof", "tour: ground beams roof tour"},
		"tour":   nil,
		"hen":    {"egg: hen egg"},
		"self":   nil,
	} {
		effects, err := g.Impact(id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range effects {
			got = append(got, e.Node.ID+": "+strings.Join(e.Via(), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Impact(%s) (-want +got):\n%s", id, diff)
		}
	}
	_, err := g.Impact("nowhere")
	wantCode(t, err, docgraph.CodeNode)
}

func TestFilter(t *testing.T) {
	front := func(kind, status, tags string) string {
		return fmt.Sprintf("---\nkind: %s\nstatus: %s\ntags: [%s]\n---\n", kind, status, tags)
	}
	g := load(t, map[string]string{
		"a.md": front("guide", "draft", "x, y"), "b.md": front("guide", "final", "y"), "c.md": front("spec", "draft", "x"), "d.md": "plain",
	})
	tests := []struct {
		filter docgraph.Filter
		want   string
	}{
		{docgraph.Filter{}, "a b c d"},
		{docgraph.Filter{Kind: "guide"}, "a b"},
		{docgraph.Filter{Status: "draft"}, "a c"},
		{docgraph.Filter{Tag: "y"}, "a b"},
		{docgraph.Filter{Kind: "guide", Status: "draft", Tag: "x"}, "a"},
		{docgraph.Filter{Kind: "page"}, "d"},
		{docgraph.Filter{Kind: "Guide"}, ""},
	}
	for _, tc := range tests {
		if got := ids(g.Filter(tc.filter)); got != tc.want {
			t.Errorf("Filter(%+v) = %q, want %q", tc.filter, got, tc.want)
		}
	}
}

func TestNodeAndText(t *testing.T) {
	g := load(t, map[string]string{"a.md": "---\nid: x\n---\ntext\n"})
	n, ok := g.Node("x")
	if !ok || n.Path != "a.md" {
		t.Errorf("Node = %+v, %v", n, ok)
	}
	if _, ok := g.Node("a"); ok {
		t.Error("the path of a file with an id is an id too")
	}
	text, err := g.Text("x")
	if err != nil || string(text) != "---\nid: x\n---\ntext\n" {
		t.Errorf("Text = %q, %v", text, err)
	}
	text[0] = 'X'
	if text, _ = g.Text("x"); text[0] != '-' {
		t.Error("what Text returned is that of the graph")
	}
	_, err = g.Text("a")
	wantCode(t, err, docgraph.CodeNode)
	if want := `text "a": no node has that id; search for it`; err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
}

func TestValidate(t *testing.T) {
	want := []string{
		"E dependency_cycle egg.md",
		"E dependency_cycle self.md",
		"E dangling_reference steel.md",
		"dangling_reference self.md",
	}
	got := codes(house(t).Validate())
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestValidateMessages(t *testing.T) {
	g := load(t, map[string]string{
		"a.md": "---\nid: a\ntitle: [x]\n---\n[[b]] and [[z]]\n",
		"b.md": node("b", "c"), "c.md": node("c", "d, x"), "d.md": node("d", "b"),
		"Größe.md": "# A", "grösse.md": "# B",
	})
	want := []changeset.Problem{
		{Code: "field_invalid", Severity: "warning", ID: "a", Path: "a.md", Message: "line 3: title is not a text; it is left out"},
		{Code: "dangling_reference", Severity: "warning", ID: "a", Path: "a.md", Message: `it links to "z", which is no node`},
		{Code: "dependency_cycle", Severity: "error", ID: "b", Path: "b.md", Message: `3 nodes depend on each other: "b", "c", "d"`},
		{Code: "dangling_reference", Severity: "error", ID: "c", Path: "c.md", Message: `it depends on "x", which is no node`},
		{Code: "path_collision", Severity: "warning", ID: "grösse", Path: "grösse.md", Message: `the path is "Größe.md" on systems that do not tell case or composition apart`},
	}
	got := g.Validate()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	got[0].Code = "changed"
	if g.Validate()[0].Code == "changed" {
		t.Error("what Validate returned is that of the graph")
	}
}

// A link to a section is one to the node, and says which section is not there.
func TestSectionLinks(t *testing.T) {
	g := load(t, map[string]string{
		"a.md": "# A\n[[b#every-night]] [[b#Every night|words]] [[b#Setup]] [[b#setup-1]] [[a#a]] [[b]]\n",
		"b.md": "text\n# Every night!\n## Setup\n## Setup\n```sh\n# in code\n```\n",
		"c.md": "[[b#setup-2]] [[b#in code]] [[b#*]] [[c#own]] [[lost#x]] [[d#anything]]\n",
		"d.md": "```\nnever closed\n",
	})
	if nodes, err := g.Backlinks("b"); err != nil || ids(nodes) != "a c" {
		t.Errorf("Backlinks = %q, %v", ids(nodes), err)
	}
	if effects, err := g.Impact("b"); err != nil || len(effects) != 2 {
		t.Errorf("Impact = %v, %v", effects, err)
	}
	missing := func(section, id string) changeset.Problem {
		return changeset.Problem{
			Code: "dangling_section", Severity: "warning", ID: "c", Path: "c.md",
			Message: fmt.Sprintf("it links to the section %q of %q, which has none of that name", section, id),
		}
	}
	want := []changeset.Problem{
		{Code: "dangling_reference", Severity: "warning", ID: "c", Path: "c.md", Message: `it links to "lost", which is no node`},
		missing("setup-2", "b"), missing("in code", "b"), missing("*", "b"), missing("own", "c"),
	}
	if diff := cmp.Diff(want, g.Validate()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Problems are bounded, and what is left out is counted.
func TestValidateIsBounded(t *testing.T) {
	files := make(map[string]string)
	for i := range 110 {
		var b strings.Builder
		for j := range 150 {
			fmt.Fprintf(&b, "[[lost-%d-%d]]\n[[f001#lost-%d]]\n", i, j, j)
		}
		files[fmt.Sprintf("f%03d.md", i)] = b.String()
	}
	problems := load(t, files).Validate()
	last := problems[len(problems)-1]
	if len(problems) != 10_001 || last.Code != "too_many_problems" || last.Message != "12000 problems more are not listed" {
		t.Errorf("%d problems, the last is %+v", len(problems), last)
	}
	count := make(map[string]int)
	for _, p := range problems {
		if p.Path == "f000.md" {
			count[p.Code]++
		}
	}
	if diff := cmp.Diff(map[string]int{"dangling_reference": 100, "dangling_section": 100}, count); diff != "" {
		t.Errorf("problems of one file (-want +got):\n%s", diff)
	}
}

// A long chain is followed to its end, and its middle is not copied for each
// node of it.
func TestLongChain(t *testing.T) {
	const n = 1000
	files := map[string]string{"n0000.md": node("n0000", "")}
	for i := 1; i < n; i++ {
		id := fmt.Sprintf("n%04d", i)
		files[id+".md"] = node(id, fmt.Sprintf("n%04d", i-1))
	}
	g := load(t, files)
	nodes, problems, err := g.Dependencies("n0999")
	if err != nil || len(problems) > 0 || len(nodes) != n-1 || nodes[0].ID != "n0000" {
		t.Errorf("%d dependencies, %v, %v", len(nodes), problems, err)
	}
	effects, err := g.Impact("n0000")
	if err != nil || len(effects) != n-1 || len(effects[n-2].Via()) != n {
		t.Errorf("%d effects, %v", len(effects), err)
	}
	if len(g.Validate()) != 0 {
		t.Errorf("problems: %v", codes(g.Validate()))
	}
}
