package textdiff_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// FuzzDiff checks that every diff leads from the old text to the new one, that
// its edits stand in order, apart and around equal lines, and that the diff back
// changes as many lines.
func FuzzDiff(f *testing.F) {
	for _, c := range edges() {
		f.Add([]byte(c[0]), []byte(c[1]), 3)
	}
	f.Fuzz(func(t *testing.T, old, after []byte, context int) {
		context %= 8
		patch := textdiff.Unified("a/\x00 name", "b", old, after, context)
		if got, err := textdiff.Apply(old, patch); err != nil || !bytes.Equal(got, after) {
			t.Fatalf("Apply = %q, %v\n%s", got, err, patch)
		}
		git := textdiff.Git("a b", "b", old, after, context)
		if got, err := textdiff.Apply(old, git); err != nil || !bytes.Equal(got, after) {
			t.Fatalf("Apply = %q, %v\n%s", got, err, git)
		}
		edits := textdiff.Lines(old, after)
		checkEdits(t, textdiff.Split(old), textdiff.Split(after), edits)
		added, removed := textdiff.Stat(edits)
		if a, r := textdiff.Stat(textdiff.Lines(after, old)); a+r != added+removed {
			t.Errorf("%d+%d lines one way, %d+%d the other", added, removed, a, r)
		}
	})
}

func checkEdits(t *testing.T, a, b [][]byte, edits []textdiff.Edit) {
	t.Helper()
	i, j := 0, 0
	for n, e := range append(edits, textdiff.Edit{OldStart: len(a), OldEnd: len(a), NewStart: len(b), NewEnd: len(b)}) {
		if e.OldStart-i != e.NewStart-j || e.OldStart < i || n > 0 && n < len(edits) && e.OldStart == i {
			t.Fatalf("edit %d of %v is out of order", n, edits)
		}
		for ; i < e.OldStart; i, j = i+1, j+1 {
			if !bytes.Equal(a[i], b[j]) {
				t.Fatalf("lines %d and %d are not equal, yet not in %v", i, j, edits)
			}
		}
		if n < len(edits) && e.OldStart == e.OldEnd && e.NewStart == e.NewEnd {
			t.Fatalf("edit %d of %v is empty", n, edits)
		}
		i, j = e.OldEnd, e.NewEnd
	}
}

// FuzzApply checks that a patch from anywhere is refused or gives a text, and
// that an accepted one is what the diff of its two texts would do.
func FuzzApply(f *testing.F) {
	for _, c := range edges() {
		f.Add([]byte(c[0]), textdiff.Unified("a", "b", []byte(c[0]), []byte(c[1]), 1))
	}
	f.Add([]byte("one\ntwo\n"), []byte("--- a\n+++ b\n@@ -1,2 +1 @@\n-one\n two\n"))
	f.Fuzz(func(t *testing.T, old, patch []byte) {
		got, err := textdiff.Apply(old, patch)
		if err != nil {
			return
		}
		if len(got) > len(old)+len(patch) {
			t.Fatalf("%d bytes from %d and a patch of %d", len(got), len(old), len(patch))
		}
		again, err := textdiff.Apply(old, textdiff.Unified("a", "b", old, got, 0))
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Apply = %q, %v; want %q", again, err, got)
		}
	})
}

// FuzzWords checks that what is outside the spans is equal, and that spans stand
// in order, apart, and cut no character.
func FuzzWords(f *testing.F) {
	f.Add("the red fox", "the blue fox")
	f.Add("caf\u00e9 \xff", "caf\u00e8 \xfe")
	f.Add("e\u0301\u200d x", "e x")
	f.Fuzz(func(t *testing.T, old, after string) {
		a, b := textdiff.Words(old, after)
		if left, right := outside(t, old, a), outside(t, after, b); left != right {
			t.Fatalf("outside the spans: %q and %q", left, right)
		}
	})
}

func outside(t *testing.T, s string, spans []textdiff.Span) string {
	t.Helper()
	rest, at := "", 0
	for n, span := range spans {
		if span.Start < at || n > 0 && span.Start == at || span.Start >= span.End || span.End > len(s) {
			t.Fatalf("span %d of %v is out of order in %q", n, spans, s)
		}
		for _, cut := range []int{span.Start, span.End} {
			if utf8.ValidString(s) && cut < len(s) && !utf8.RuneStart(s[cut]) {
				t.Fatalf("a span of %v cuts a character of %q", spans, s)
			}
		}
		rest += s[at:span.Start]
		at = span.End
	}
	return rest + s[at:]
}
