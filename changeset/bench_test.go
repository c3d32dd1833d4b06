package changeset_test

import (
	"fmt"
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
)

// large makes a project of many nodes, each with a link, and a changeset.
func large(b *testing.B, nodes int) (*changeset.Store, *changeset.Writer, string) {
	b.Helper()
	p := &project{dir: b.TempDir()}
	for i := range nodes {
		p.write(b, fmt.Sprintf("docs/%d/%d.md", i%50, i), fmt.Sprintf("---\nid: node-%d\nkind: guide\ntitle: Node %d\n---\nSee [[node-%d]].\n", i, i, (i+1)%nodes))
	}
	src, err := docgraph.Open(p.dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	s, err := changeset.Open(p.dir, src, options())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	w, err := s.Bind("ada", everything())
	if err != nil {
		b.Fatal(err)
	}
	id := begin(b, w)
	if _, err := propose(b, w, id, "delete node-7"); err != nil {
		b.Fatal(err)
	}
	return s, w, id
}

// BenchmarkCensus measures what the size of a project costs: a proposal that is
// refused, which compares one path with all, and a validation.
func BenchmarkCensus(b *testing.B) {
	for _, nodes := range []int{100, 5000} {
		s, w, id := large(b, nodes)
		b.Run(fmt.Sprintf("propose/%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := propose(b, w, id, "move node-1 2/2.md"); changeset.CodeOf(err) != changeset.CodePathTaken {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("validate/%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v, err := s.Validate(b.Context(), id); err != nil || len(v.Problems) != 1 {
					b.Fatal(v, err)
				}
			}
		})
	}
}
