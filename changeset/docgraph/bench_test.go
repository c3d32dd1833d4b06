package docgraph_test

import (
	"os"
	"path/filepath"
	"testing"
)

// benchmarkSize is the number of documents that the package is made for.
const benchmarkSize = 5000

func BenchmarkLoad5000(b *testing.B) {
	dir := many(b, benchmarkSize)
	for b.Loop() {
		graph(b, open(b, dir, nil))
	}
}

func BenchmarkUnchanged5000(b *testing.B) {
	p := open(b, many(b, benchmarkSize), nil)
	first := graph(b, p)
	for b.Loop() {
		if graph(b, p) != first {
			b.Fatal("another graph")
		}
	}
}

func BenchmarkOneChanged5000(b *testing.B) {
	dir := many(b, benchmarkSize)
	p := open(b, dir, nil)
	graph(b, p)
	name := filepath.Join(dir, "docs", "part07", "page0700.md")
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(name, []byte(manyText(i % 100)[:200+i%50]), 0o600); err != nil {
			b.Fatal(err)
		}
		graph(b, p)
	}
}

func BenchmarkSearch5000(b *testing.B) {
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

func BenchmarkValidate5000(b *testing.B) {
	g := graph(b, open(b, many(b, benchmarkSize), nil))
	for b.Loop() {
		g.Validate()
	}
}
