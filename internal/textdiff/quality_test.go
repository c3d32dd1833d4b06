package textdiff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// A load is a pair of large texts and the fewest lines that have to change; 0
// leaves them to the textbook table, which is too slow for the longest texts.
type load struct {
	name       string
	old, after string
	needed     int
}

// loads are the kinds of texts on which diffs get long or slow.
func loads() []load {
	numbered := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d of a text that goes on\n", from+i)
		}
		return b.String()
	}
	few := func(seed uint64, n, kinds int) string {
		return strings.Join(letters(rand.New(rand.NewPCG(seed, 1)), n, kinds), "")
	}
	scattered, scatteredEdits := edited(numbered(0, 20_000), 200)
	prose := blanks(numbered(0, 20_000))
	rewritten, rewrittenEdits := edited(prose, 2_000)
	onceBefore, onceAfter := "once\ntwice\n"+few(7, 3_000, 3), few(8, 3_000, 3)+"once\ntwice\n"
	half, other := numbered(0, 10_000), numbered(10_000, 10_000)
	return []load{
		{"200 edits in 20,000 lines", numbered(0, 20_000), scattered, scatteredEdits},
		{"unrelated", numbered(0, 5_000), numbered(5_000, 5_000), 10_000},
		{"three kinds of lines", few(1, 5_000, 3), few(2, 5_000, 3), 0},
		{"few lines occur once", onceBefore, onceAfter, 0},
		{"2,000 edits in prose", prose, rewritten, rewrittenEdits},
		{"blocks swapped", half + other, other + half, 20_000},
		{"reversed", numbered(0, 2_000), backwards(numbered(0, 2_000)), 3_998},
		{"two kinds of lines, long", few(3, 60_000, 2), few(4, 60_000, 2), 22_582},
		{"one kind of line", few(5, 30_000, 1), few(6, 20_000, 1), 10_000},
	}
}

// fewest returns how many lines have to change, by the textbook table.
func fewest(old, after string) int {
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(after, "\n")
	return len(a) + len(b) - 2*common(a, b)
}

// blanks returns text with every third line empty and every fifth a rule.
func blanks(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := range lines {
		if i%3 == 0 {
			lines[i] = "\n"
		} else if i%5 == 0 {
			lines[i] = "---\n"
		}
	}
	return strings.Join(lines, "")
}

// edited returns text with n edits far apart, and how many lines they change.
func edited(text string, n int) (string, int) {
	rng := rand.New(rand.NewPCG(3, 4))
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	changed := 0
	for i := range n {
		at := i*len(lines)/n + rng.IntN(len(lines)/n/2)
		switch rng.IntN(3) {
		case 0:
			lines[at] = fmt.Sprintf("edit %d\n", i)
			changed += 2
		case 1:
			lines[at] = ""
			changed++
		default:
			lines[at] += lines[at]
			changed++
		}
	}
	return strings.Join(lines, "") + "\n", changed
}

func backwards(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return strings.Join(lines, "")
}

// TestLoads holds each load to 1.05 times the edits that are needed, or to 1.1
// times where the search gives up, and to a count of steps that has no clock in
// it.
func TestLoads(t *testing.T) {
	const giveUp, most = 1 << 25, 1 << 26
	for _, c := range loads() {
		t.Run(c.name, func(t *testing.T) {
			old, after := []byte(c.old), []byte(c.after)
			edits, steps := textdiff.LinesSteps(old, after)
			checkEdits(t, textdiff.Split(old), textdiff.Split(after), edits)
			added, removed := textdiff.Stat(edits)
			if c.needed == 0 {
				c.needed = fewest(c.old, c.after)
			}
			t.Logf("%d lines changed, %d needed, %d steps", added+removed, c.needed, steps)
			slack := 1.05
			if steps > giveUp {
				slack = 1.1
			}
			if float64(added+removed) > slack*float64(c.needed) {
				t.Errorf("%d lines changed, %d are enough", added+removed, c.needed)
			}
			if steps > most {
				t.Errorf("%d steps, more than %d", steps, most)
			}
		})
	}
}

// TestAllocations holds the two usual sizes to the memory they need: the number
// of allocations does not grow with the lines.
func TestAllocations(t *testing.T) {
	all := loads()[0]
	short := strings.Join(strings.SplitAfter(all.old, "\n")[:1000], "")
	changed, _ := edited(strings.TrimSuffix(short, "\n"), 10)
	for _, c := range []struct {
		name       string
		old, after string
		budget     float64
	}{
		{"1,000 lines, 10 edits", short, changed, 26},
		{"20,000 lines, 200 edits", all.old, all.after, 36},
	} {
		old, after := []byte(c.old), []byte(c.after)
		got := testing.AllocsPerRun(5, func() { textdiff.Unified("a", "b", old, after, 3) })
		t.Logf("%s: %v allocations", c.name, got)
		if got > c.budget {
			t.Errorf("%s: %v allocations, budget %v", c.name, got, c.budget)
		}
	}
}

// TestDeterministic runs the same texts in several goroutines: hash seeds differ
// between calls and must not show.
func TestDeterministic(t *testing.T) {
	swapped := loads()[5]
	old, after := []byte(swapped.old), []byte(swapped.after)
	want := textdiff.Unified("a", "b", old, after, 3)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if got := textdiff.Unified("a", "b", old, after, 3); !bytes.Equal(got, want) {
				t.Error("the same texts gave another diff")
			}
		})
	}
}
