package docgraph_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// benchmarkSize is the number of documents that the package is made for.
const benchmarkSize = 5000

// benchmarkSizes are numbers of documents to measure.
var benchmarkSizes = [...]int{1, 100, benchmarkSize}

func BenchmarkLoad(b *testing.B) {
	for _, n := range benchmarkSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := many(b, n)
			b.ReportAllocs()
			for b.Loop() {
				graph(b, open(b, dir, nil))
			}
		})
	}
}

func BenchmarkOneChanged(b *testing.B) {
	for _, n := range benchmarkSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := many(b, n)
			b.ReportAllocs()
			p := open(b, dir, nil)
			graph(b, p)
			name := filepath.Join(dir, "docs", "part00", "page0000.md")
			for i := 0; b.Loop(); i++ {
				if err := os.WriteFile(name, []byte(manyText(i % 100)[:200+i%50]), 0o600); err != nil {
					b.Fatal(err)
				}
				graph(b, p)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range benchmarkSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := many(b, n)
			b.ReportAllocs()
			g := graph(b, open(b, dir, nil))
			for b.Loop() {
				if _, _, err := g.Search("backup team", 0, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Queries differ in how many documents and words they meet.
func BenchmarkQueries(b *testing.B) {
	g := graph(b, open(b, many(b, benchmarkSize), nil))
	for _, query := range []string{"backup", "value77", "storage backup team", "p", "nowhere"} {
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := g.Search(query, 0, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	g := graph(b, open(b, many(b, benchmarkSize), nil))
	for b.Loop() {
		g.Validate()
	}
}

func BenchmarkContext(b *testing.B) {
	g := graph(b, open(b, many(b, 200), nil))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Context(docgraph.ContextRequest{ID: "page-0150"}); err != nil {
			b.Fatal(err)
		}
	}
}

// What a search allocates depends on the hits it returns and on how many scores
// there are, and hardly on the size of the project.
func TestSearchAllocs(t *testing.T) {
	g := graph(t, open(t, many(t, 500), nil))
	for _, tc := range []struct {
		query  string
		budget float64
	}{{"nowhere", 10}, {"storage backup", 350}} {
		got := testing.AllocsPerRun(10, func() {
			if _, _, err := g.Search(tc.query, 0, 20); err != nil {
				t.Fatal(err)
			}
		})
		if got > tc.budget {
			t.Errorf("Search(%q) allocates %.0f times, budget %.0f", tc.query, got, tc.budget)
		}
	}
}

// A page of a context read costs what is on it.
func TestContextAllocs(t *testing.T) {
	g := graph(t, open(t, many(t, 500), nil))
	got := testing.AllocsPerRun(10, func() {
		if _, err := g.Context(docgraph.ContextRequest{ID: "page-0400", MaxBytes: 4096}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 150 {
		t.Errorf("Context allocates %.0f times, budget 150", got)
	}
}

// To learn that nothing changed takes one look at each file and one at the names
// in each folder.
func TestUnchangedCost(t *testing.T) {
	const files, folders = 600, 6
	dir := many(t, files)
	ops := map[string]int{}
	p, err := docgraph.OpenTraced(dir, docgraph.Options{Now: later}, func(e rootfs.Event) { ops[e.Op]++ })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	graph(t, p)
	clear(ops)
	graph(t, p)
	want := map[string]int{"opendir": 1 + folders, "readdir": 1 + folders, "stat": files + folders}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// A project of the size that the package is made for loads as a whole, and one
// changed file of it is read alone.
func TestLoad5000(t *testing.T) {
	dir := many(t, benchmarkSize)
	var c counter
	p, err := docgraph.OpenTraced(dir, docgraph.Options{Now: later}, c.trace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if g := graph(t, p); len(g.Snapshot().Nodes) != benchmarkSize || len(c.take()) != benchmarkSize {
		t.Errorf("%d nodes", len(g.Snapshot().Nodes))
	}
	write(t, dir, map[string]string{"docs/part49/page4999.md": "# Changed\n"})
	g := graph(t, p)
	if reads := c.take(); len(reads) != 1 {
		t.Errorf("%d files read for one change", len(reads))
	}
	if _, total, err := g.Search("changed", 0, 1); err != nil || total != 1 {
		t.Errorf("%d hits for the change, %v", total, err)
	}
}
