package stage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/mcpcontract/mcpcontract/stage"
)

// bulk is a candidate of many files of one size.
func bulk(b *testing.B, count, size int) (*project, string) {
	b.Helper()
	p := newProject(b, allowDocs(), nil)
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("docs/%02d/%04d.bin", i%20, i))
	}
	prepared, err := p.area.Prepare(b.Context(), "bulk", names)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.NewChaCha8([32]byte{})
	for _, name := range names {
		data := make([]byte, size)
		r.Read(data)
		p.write(b, prepared.Dir+"/"+name, string(data))
	}
	return p, p.path(prepared.Dir)
}

// BenchmarkInspect compares Inspect with dirhash.HashDir on the same files, in
// turns, and reports the ratio of the fastest rounds.
func BenchmarkInspect(b *testing.B) {
	for _, of := range []struct {
		name        string
		count, size int
	}{{"2000x4KiB", 2000, 4 << 10}, {"200x1MiB", 200, 1 << 20}} {
		b.Run(of.name, func(b *testing.B) {
			p, dir := bulk(b, of.count, of.size)
			ours, theirs := time.Hour, time.Hour
			b.SetBytes(int64(of.count * of.size))
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				if _, err := p.area.Inspect(b.Context(), "bulk"); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if _, err := dirhash.HashDir(dir, "", dirhash.Hash1); err != nil {
					b.Fatal(err)
				}
				ours, theirs = min(ours, middle.Sub(start)), min(theirs, time.Since(middle))
			}
			b.ReportMetric(float64(ours)/float64(theirs), "ours/dirhash")
			b.ReportMetric(float64(ours)/1e6, "ours-ms")
		})
	}
}

// BenchmarkPromote promotes one file.
func BenchmarkPromote(b *testing.B) {
	p := newProject(b, allowDocs(), map[string]string{"docs/a.md": "old"})
	p.prepare(b, "one", map[string]string{"docs/a.md": "new"})
	var plan stage.Plan
	for b.Loop() {
		plan = p.plan(b, "one", nil, nil)
		if _, err := p.area.Promote(b.Context(), plan); err != nil {
			b.Fatal(err)
		}
	}
}
