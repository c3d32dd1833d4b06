package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// Figures of the real server over stdio, with a client of protocol 2026-07-28, on
// projects of 1, 100 and 5,000 documents of about 2 KB:
//
//	go test -run '^$' -bench . ./examples/documents
//
// No test depends on how long anything takes.

func eachSize(b *testing.B, bench func(b *testing.B, f folder)) {
	b.Helper()
	for _, n := range []int{1, 100, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { bench(b, manyDocuments(b, n)) })
	}
}

// manyDocuments is a project of n documents, each of which links to others and
// depends on one.
func manyDocuments(tb testing.TB, n int) folder {
	tb.Helper()
	f := folder(tb.TempDir())
	f.write(tb, "mcpdocs.yaml", "schema_version: \"1.0\"\nproject: {id: many}\ndocs: docs\noutputs: [{view: outline, path: site/outline.html}]\n")
	for i := range n {
		f.write(tb, documentPath(i), documentText(i))
	}
	return f
}

func documentPath(i int) string { return fmt.Sprintf("docs/part%02d/node%04d.md", i%50, i) }

func documentText(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nid: node%04d\nkind: guide\ntitle: Document %d of the handbook\nstatus: draft\ndepends_on: [node%04d]\ntags: [t%d]\n---\n", i, i, i/2, i%7)
	fmt.Fprintf(&b, "# Document %d\n\nSee [[node%04d]] and [[node%04d]].\n", i, i/3, i/5)
	for s := range 6 {
		fmt.Fprintf(&b, "\n## Section %d\n\n%s The word value%d is only here.\n", s,
			strings.Repeat("Backups are written to the store each night by the team on call. ", 4), i)
	}
	return b.String()
}

// BenchmarkStart is the time from the start of the process to its first reply,
// and to the first reply about the project, with the memory it then has.
func BenchmarkStart(b *testing.B) {
	eachSize(b, func(b *testing.B, f folder) {
		b.Helper()
		var loaded time.Duration
		memory := 0
		for b.Loop() {
			start := time.Now()
			s := f.serve(b, perRequest)
			b.StopTimer()
			s.good(b, "project_info", nil)
			loaded += time.Since(start)
			memory += residentKiB(b, s.Cmd.Process.Pid)
			s.stop(b)
			b.StartTimer()
		}
		b.ReportMetric(float64(loaded.Milliseconds())/float64(b.N), "ms-to-project_info")
		b.ReportMetric(float64(memory)/1024/float64(b.N), "MiB")
	})
}

func benchmarkCalls(b *testing.B, id peer.Identity, tool string, arguments args) {
	b.Helper()
	eachSize(b, func(b *testing.B, f folder) {
		b.Helper()
		s := f.serve(b, id, "--proposal-writer", "agent")
		s.good(b, tool, arguments)
		for b.Loop() {
			s.good(b, tool, arguments)
		}
		b.ReportMetric(float64(residentKiB(b, s.Cmd.Process.Pid))/1024, "MiB")
		s.stop(b)
	})
}

func BenchmarkProjectStatus(b *testing.B) { benchmarkCalls(b, perRequest, "project_status", nil) }

func BenchmarkSearch(b *testing.B) {
	benchmarkCalls(b, perRequest, "search", args{"query": "backups night team"})
}

func BenchmarkSearchRare(b *testing.B) {
	benchmarkCalls(b, perRequest, "search", args{"query": "value0"})
}

func BenchmarkGetContext(b *testing.B) {
	benchmarkCalls(b, perRequest, "get_context", args{"id": "node0000"})
}

// BenchmarkOneChanged is a reply after one document changed.
func BenchmarkOneChanged(b *testing.B) {
	eachSize(b, func(b *testing.B, f folder) {
		b.Helper()
		s := f.serve(b, perRequest)
		s.good(b, "project_info", nil)
		for n := 0; b.Loop(); n++ {
			f.write(b, documentPath(0), documentText(0)+fmt.Sprintf("\nChange %d.\n", n))
			s.good(b, "get_node", args{"id": "node0000"})
		}
		s.stop(b)
	})
}
