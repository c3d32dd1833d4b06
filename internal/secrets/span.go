package secrets

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hidden stands in the place of a secret.
const Hidden = "***"

// A Span is the part of a text from the byte From to before the byte To.
type Span struct{ From, To int }

// Hide returns a text with one [Hidden] in the place of all spans that overlap or
// touch. The spans may come in any order; they are sorted in place.
func Hide(text string, spans []Span) string {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].From, spans[i].To
		for i++; i < len(spans) && spans[i].From <= to; i++ {
			to = max(to, spans[i].To)
		}
		b.WriteString(text[at:from])
		b.WriteString(Hidden)
		at = to
	}
	b.WriteString(text[at:])
	return b.String()
}

// Alone reports whether a span of a text is not a part of a longer word.
func (s Span) Alone(text string) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:s.From])
	after, _ := utf8.DecodeRuneInString(text[s.To:])
	return !isWord(before) && !isWord(after)
}
