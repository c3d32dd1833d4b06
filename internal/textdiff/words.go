package textdiff

import (
	"unicode"
	"unicode/utf8"
)

// Words returns what differs between two versions of a line, as spans of each:
// whole words, runs of blanks and single other characters, never half a
// character. Changes with only blanks between them are one span. Lines that have
// less than a quarter in common are marked whole, since marks on most of the
// words hide more than they show. Equal lines give no spans.
func Words(before, after string) (beforeSpans, afterSpans []Span) {
	a, b := words([]byte(before)), words([]byte(after))
	edits, _ := diff(a, b)
	edits = joinBlank(edits, a)
	same := printed(a, 0, a.len())
	for _, e := range edits {
		same -= printed(a, e.OldStart, e.OldEnd)
	}
	if len(edits) > 0 && 4*same < max(printed(a, 0, a.len()), printed(b, 0, b.len())) {
		edits = []Edit{{0, a.len(), 0, b.len()}}
	}
	for _, e := range edits {
		beforeSpans = appendSpan(beforeSpans, a, e.OldStart, e.OldEnd)
		afterSpans = appendSpan(afterSpans, b, e.NewStart, e.NewEnd)
	}
	return beforeSpans, afterSpans
}

func appendSpan(spans []Span, t text, from, to int) []Span {
	if from == to {
		return spans
	}
	return append(spans, Span{t.offs[from], t.offs[to]})
}

// joinBlank joins edits with only blanks of a between them, in place.
func joinBlank(edits []Edit, a text) []Edit {
	out := edits[:0]
	for _, e := range edits {
		if n := len(out); n > 0 && printed(a, out[n-1].OldEnd, e.OldStart) == 0 {
			out[n-1].OldEnd, out[n-1].NewEnd = e.OldEnd, e.NewEnd
			continue
		}
		out = append(out, e)
	}
	return out
}

// printed returns how many bytes of tokens[from:to] are not blank.
func printed(t text, from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		if token := t.token(i); !blank(token) {
			n += len(token)
		}
	}
	return n
}

// words cuts a line into tokens.
func words(data []byte) text {
	offs := []int{0}
	before := other
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		class := classOf(r)
		if at > 0 && (class == other || class != before && class != joined) {
			offs = append(offs, at)
		}
		if class != joined {
			before = class
		}
		at += size
	}
	if len(data) > 0 {
		offs = append(offs, len(data))
	}
	return text{data, offs}
}

// A class says which characters stand together in a token.
type class int

const (
	other  class = iota // stands alone
	letter              // with letters and digits
	space               // with blanks
	joined              // with whatever is before
)

func classOf(r rune) class {
	switch {
	case r == '_' || unicode.IsDigit(r):
		return letter
	case unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.M, r) || r == '\u200d': // an accent, or what ties emoji together
		return joined
	case !unicode.IsLetter(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar): // written without blanks between words
		return other
	default:
		return letter
	}
}
