package docgraph_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// table is documents in a database: its ids and references are not in the text.
type table struct {
	revision string
	nodes    []changeset.Node
	texts    map[string]string // by path
	reads    []string
	err      error
}

func (t *table) Snapshot(context.Context) (*changeset.Snapshot, error) {
	return &changeset.Snapshot{Project: "base", Revision: t.revision, Nodes: t.nodes}, t.err
}

func (t *table) Read(_ context.Context, path string) ([]byte, error) {
	t.reads = append(t.reads, path)
	return []byte(t.texts[path]), nil
}

func (t *table) put(id, path, text string, deps ...string) {
	t.texts[path] = text
	n := changeset.Node{ID: id, Kind: "row", Title: "Title of " + id, Path: path, DependsOn: deps, Hash: canon.Sum([]byte(text)), Size: int64(len(text))}
	for i := range t.nodes {
		if t.nodes[i].Path == path {
			t.nodes[i] = n
			return
		}
	}
	t.nodes = append(t.nodes, n)
}

func newTable() *table {
	t := &table{revision: "r1", texts: map[string]string{}}
	t.put("10", "ten.md", "# Ten\n\nharbour walls\n", "20")
	t.put("20", "twenty.md", "---\nid: other\nkind: guide\n---\n# Twenty\n\ntides\n")
	return t
}

func ExampleNewMirror() {
	mirror, err := docgraph.NewMirror(newTable(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, err := mirror.Graph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, total, err := graph.Search("tides", 0, 10)
	fmt.Println(hits[0].Node.ID, total, err)
	// Output: 20 1 <nil>
}

func TestMirror(t *testing.T) {
	src := newTable()
	m, err := docgraph.NewMirror(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := m.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := first.Snapshot(); s.Revision != "r1" || s.Project != "base" || len(s.Problems) != 0 {
		t.Errorf("snapshot %+v", s)
	}
	back, err := first.Backlinks("20")
	if err != nil || len(back) != 1 || back[0].ID != "10" {
		t.Errorf("backlinks %v, %v", back, err)
	}
	if n, ok := first.Node("20"); !ok || n.Kind != "row" || n.Title != "Title of 20" {
		t.Errorf("node %+v, want what the source says and not its front matter", n)
	}
	if body, err := first.Body("20"); err != nil || string(body) != "# Twenty\n\ntides\n" {
		t.Errorf("body %q, %v", body, err)
	}
	if _, err := first.Body("other"); docgraph.CodeOf(err) != docgraph.CodeNode {
		t.Errorf("body of nothing: %v", err)
	}

	if again, err := m.Graph(t.Context()); err != nil || again != first {
		t.Errorf("the same revision gave another graph, %v", err)
	}
	src.reads = nil
	src.revision = "r2"
	src.put("10", "ten.md", "# Ten\n\nharbour lights\n", "20", "30")
	second, err := m.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ten.md"}, src.reads); diff != "" {
		t.Errorf("read again (-want +got)\n%s", diff)
	}
	if p := second.Validate(); len(p) != 1 || p[0].Code != "dangling_reference" {
		t.Errorf("problems %v, want the dependency on 30", p)
	}
	if _, total, _ := first.Search("walls", 0, 1); total != 1 {
		t.Error("the graph before changed")
	}
	// A field that changes without the text is seen too.
	src.revision = "r3"
	src.nodes[0].Title = "Renamed"
	third, err := m.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := third.Node("10"); n.Title != "Renamed" {
		t.Errorf("title %q", n.Title)
	}
}

// A mirror of a project is the project.
func TestMirrorOfProject(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"docs/a.md": "---\nid: a\ndepends_on: [b, gone]\n---\n# A\n\n[[b]], [[b#lost]] and [[nowhere]]\n",
		"docs/b.md": "# B\n",
	})
	p := open(t, dir, nil)
	m, err := docgraph.NewMirror(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Snapshot()); diff != "" {
		t.Errorf("snapshot (-project +mirror)\n%s", diff)
	}
}

// A text is asked for the sections of what the source says it links to, and of
// nothing else.
func TestMirrorSectionLinks(t *testing.T) {
	src := newTable()
	src.put("30", "thirty.md", "[[10#ten]] [[10#eleven]] [[20#lost]]\n")
	src.nodes[2].Links = []string{"10"}
	m, err := docgraph.NewMirror(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []changeset.Problem{{
		Code: "dangling_section", Severity: "warning", ID: "30", Path: "thirty.md",
		Message: `it links to the section "eleven" of "10", which has none of that name`,
	}}
	if diff := cmp.Diff(want, g.Validate()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestMirrorErrors(t *testing.T) {
	if _, err := docgraph.NewMirror(nil, nil); docgraph.CodeOf(err) != docgraph.CodeOptions {
		t.Errorf("no source: %v", err)
	}
	if _, err := docgraph.NewMirror(newTable(), &docgraph.Options{MaxFiles: -1}); docgraph.CodeOf(err) != docgraph.CodeOptions {
		t.Errorf("a negative limit: %v", err)
	}
	broken := errors.New("the database is away")
	tests := []struct {
		name  string
		opts  *docgraph.Options
		spoil func(*table)
		code  docgraph.Code
		cause error
	}{
		{"source", nil, func(src *table) { src.err = broken }, "", broken},
		{"another text", nil, func(src *table) { src.texts["ten.md"] = "x" }, docgraph.CodeChanged, nil},
		{"two nodes of one id", nil, func(src *table) { src.nodes[1].ID = "10" }, docgraph.CodeDocs, nil},
		{"many nodes", &docgraph.Options{MaxFiles: 1}, nil, docgraph.CodeTooMany, nil},
		{"a large text", &docgraph.Options{MaxFileBytes: 10}, nil, docgraph.CodeTooLarge, nil},
		{"much text", &docgraph.Options{MaxBytes: 30}, nil, docgraph.CodeTooLarge, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := newTable()
			m, err := docgraph.NewMirror(src, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if test.spoil != nil {
				test.spoil(src)
			}
			_, err = m.Graph(t.Context())
			if err == nil || docgraph.CodeOf(err) != test.code || test.cause != nil && !errors.Is(err, test.cause) {
				t.Errorf("error %v, want code %q and cause %v", err, test.code, test.cause)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := docgraph.NewMirror(&table{err: context.Canceled}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Graph(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
