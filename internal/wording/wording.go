// Package wording holds what the messages of all packages have in common: how
// much of an input they repeat, and which name a misspelt one was meant to be.
//
//	fmt.Sprintf("unknown field %s", wording.Quote(name, 60))
//
// Functions are pure and safe for concurrent use.
package wording

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mark stands where a text was cut.
const Mark = "..."

// Head returns s, or as much of its front as fits limit bytes without splitting a
// character, so up to three bytes less.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Clip is [Head] with a [Mark] where s was cut. The mark is not counted.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Head(s, limit) + Mark
}

// Quote returns s as a Go string literal on one line, cut like [Clip] before
// it is quoted: what a message may repeat of a hostile input.
func Quote(s string, limit int) string { return fmt.Sprintf("%q", Clip(s, limit)) }

// QuoteAll joins the first most of list, each quoted and cut at limit bytes,
// and says how many more there are.
func QuoteAll(list []string, most, limit int) string {
	var quoted []string
	for _, s := range list[:min(len(list), most)] {
		quoted = append(quoted, Quote(s, limit))
	}
	if n := len(list) - most; n > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(quoted, ", ")
}

// Fault joins the parts of an error's message that are not empty: the operation
// with the names of what it happened to, quoted and cut, then what is wrong, the
// details, and the cause.
func Fault(op string, names []string, what, detail string, cause error) string {
	head := []string{op}
	for _, name := range names {
		if name != "" {
			head = append(head, Quote(name, 160))
		}
	}
	parts := []string{strings.TrimSpace(strings.Join(head, " ")), what, detail}
	if cause != nil {
		parts = append(parts, cause.Error())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Distance counts the bytes to insert, remove or replace to make b of a, where
// a swap of neighbours is one change (the optimal string alignment distance).
// It answers limit+1 as soon as the distance is known to be over limit, so that
// unlike texts cost little.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		best := next[0]
		for j := range len(b) {
			next[j+1] = step(a, b, i, j, before, row, next)
			best = min(best, next[j+1])
		}
		// A swap reaches back two rows, but costs no less than the cell between.
		if best > limit {
			return limit + 1
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], limit+1)
}

// step fills one cell of the table: the least cost to come from a[:i+1] to
// b[:j+1].
func step(a, b string, i, j int, before, row, next []int) int {
	if a[i] == b[j] {
		return row[j]
	}
	cost := 1 + min(row[j], row[j+1], next[j])
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		cost = min(cost, before[j-1]+1)
	}
	return cost
}

// Nearest returns the name most like s, "" when none is: letter case and the
// difference between - and _ do not count, and up to a third of s may differ.
// Texts over 64 bytes are like nothing.
func Nearest(s string, names []string) string {
	const longest = 64
	if len(s) > longest {
		return ""
	}
	best, limit := "", max(1, len(s)/3)
	want := plain(s)
	for _, name := range names {
		if d := Distance(want, plain(name), limit); d <= limit {
			best, limit = name, d-1
		}
	}
	return best
}

func plain(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }
