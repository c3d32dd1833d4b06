package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/aymanbagabas/go-udiff/myers"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// A differ makes a diff, and counts its changed lines.
type differ struct {
	name    string
	run     func(before, after string) string
	changed func(out string) int
}

func differs() []differ {
	return []differ{
		{"udiff.Unified", func(a, b string) string { return udiff.Unified("a", "b", a, b) }, signed},
		{"ours", func(a, b string) string {
			return string(textdiff.Unified("a", "b", []byte(a), []byte(b), 3))
		}, signed},
		{"udiff.myers", func(a, b string) string {
			out, err := udiff.ToUnified("a", "b", a, myers.ComputeEdits(a, b), 3)
			if err != nil {
				panic(err)
			}
			return out
		}, signed},
		{"go-internal", func(a, b string) string { return string(diff.Diff("a", []byte(a), "b", []byte(b))) }, signed},
		{"sergi", sergiLines, func(out string) int { return strings.Count(out, "\n") }},
	}
}

// signed counts the lines of a unified diff that have a sign.
func signed(out string) int {
	n := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			n++
		}
	}
	return max(n-2, 0) // the names
}

// sergiLines returns the changed lines only; the library has no patch format for
// lines.
func sergiLines(before, after string) string {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // else the result depends on the clock
	a, b, lines := d.DiffLinesToChars(before, after)
	var out strings.Builder
	for _, part := range d.DiffCharsToLines(d.DiffMain(a, b, false), lines) {
		if part.Type != diffmatchpatch.DiffEqual {
			out.WriteString(part.Text)
		}
	}
	return out.String()
}

type diffLoad struct {
	name, before, after string
	leave               string // a peer that needs too much memory
}

func diffLoads() []diffLoad {
	numbered := func(from, n int) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d of a text that goes on for a while\n", from+i)
		}
		return lines
	}
	few := func(part uint64) string {
		rng := rand.New(rand.NewPCG(part, 7))
		var b strings.Builder
		for range 5_000 {
			fmt.Fprintf(&b, "one of three %d\n", rng.IntN(3))
		}
		return b.String()
	}
	join := func(lines []string) string { return strings.Join(lines, "") }
	half, other := join(numbered(0, 10_000)), join(numbered(10_000, 10_000))
	return []diffLoad{
		{"a-1k-10-edits", join(numbered(0, 1_000)), join(editLines(numbered(0, 1_000), 10)), ""},
		{"b-20k-200-edits", join(numbered(0, 20_000)), join(editLines(numbered(0, 20_000), 200)), ""},
		{"c-unrelated-5k", join(numbered(0, 5_000)), join(numbered(5_000, 5_000)), ""},
		{"d1-three-kinds-5k", few(1), few(2), ""},
		{"d2-block-swap-10k", half + other, other + half, "udiff.myers"},
	}
}

func editLines(lines []string, n int) []string {
	rng := rand.New(rand.NewPCG(11, 13))
	for i := range n {
		at := i*len(lines)/n + rng.IntN(len(lines)/n/2)
		switch rng.IntN(3) {
		case 0:
			lines[at] = fmt.Sprintf("edit %d\n", i)
		case 1:
			lines[at] = ""
		default:
			lines[at] += fmt.Sprintf("added %d\n", i)
		}
	}
	return lines
}

// BenchmarkDiffRatio reports, for every load and differ, time and allocations as
// multiples of udiff.Unified and the number of changed lines. The differs take
// turns, and the fastest round of each counts. One iteration is enough:
//
//	go test -run '^$' -bench DiffRatio -benchtime 1x
func BenchmarkDiffRatio(b *testing.B) {
	for _, load := range diffLoads() {
		best, allocs, changed := map[string]time.Duration{}, map[string]uint64{}, map[string]int{}
		for range 3 {
			for _, d := range differs() {
				if d.name == load.leave || len(changed) > 0 && best[d.name] > time.Second {
					continue
				}
				took, count, out := measureDiff(d, load)
				if old, ok := best[d.name]; !ok || took < old {
					best[d.name] = took
				}
				allocs[d.name], changed[d.name] = count, d.changed(out)
			}
		}
		for _, d := range differs() {
			if d.name == load.leave {
				continue
			}
			b.Run(load.name+"/"+d.name, func(b *testing.B) {
				for b.Loop() { // measured above, in turns
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(best[d.name])/float64(best["udiff.Unified"]), "x-time")
				b.ReportMetric(float64(allocs[d.name])/float64(allocs["udiff.Unified"]), "x-allocs")
				b.ReportMetric(float64(best[d.name].Microseconds())/1000, "best-ms")
				b.ReportMetric(float64(changed[d.name]), "changed")
			})
		}
	}
}

func measureDiff(d differ, load diffLoad) (time.Duration, uint64, string) {
	runs := 1
	if len(load.before) < 100_000 {
		runs = 20
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	var out string
	for range runs {
		out = d.run(load.before, load.after)
	}
	took := time.Since(start) / time.Duration(runs)
	runtime.ReadMemStats(&after)
	return took, (after.Mallocs - before.Mallocs) / uint64(runs), out
}

// TestDiffLoads checks that the loads are what they are meant to be, before
// anybody compares times: our diff leads to the other text.
func TestDiffLoads(t *testing.T) {
	for _, load := range diffLoads() {
		patch := textdiff.Unified("a", "b", []byte(load.before), []byte(load.after), 3)
		got, err := textdiff.Apply([]byte(load.before), patch)
		if err != nil || !bytes.Equal(got, []byte(load.after)) {
			t.Errorf("%s: the diff does not lead to the other text: %v", load.name, err)
		}
	}
}
