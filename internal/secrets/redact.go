package secrets

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hidden stands in the place of a secret.
const Hidden = "***"

const (
	// maxPieces is how many secrets are looked for in a text.
	maxPieces = 512
	// maxPasses is how often a text is gone through, since what is left of it
	// may look like a secret again.
	maxPasses = 4
)

// Redact returns a text with [Hidden] in the place of what may be secrets, wherever
// in it they stand: what [Pieces] gives. References stay. To redact a text again
// changes nothing.
func Redact(text string) string {
	for range maxPasses {
		next := sweep(text, Pieces("", text))
		if next == text {
			return text
		}
		text = next
	}
	return Hidden
}

// RedactArgs is [Redact] for the arguments of a command line: it also hides what
// follows the option of a secret. The given slice stays as it is.
func RedactArgs(args []string) []string {
	out := slices.Clone(args)
	for range maxPasses {
		found := ArgPieces(out)
		changed := false
		for i, arg := range out {
			out[i] = sweep(arg, found)
			changed = changed || out[i] != arg
		}
		if !changed {
			return out
		}
	}
	for i := range out {
		out[i] = Hidden
	}
	return out
}

// A span is a part of a text.
type span struct{ from, to int }

// sweep hides pieces wherever they stand in a text, short ones where they stand
// alone.
func sweep(text string, pieces []string) string {
	slices.Sort(pieces)
	pieces = slices.Compact(pieces)
	if len(pieces) > maxPieces {
		return Hidden
	}
	var spans []span
	for _, piece := range pieces {
		spans = appendSpans(spans, text, piece)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].from, spans[i].to
		for i++; i < len(spans) && spans[i].from <= to; i++ {
			to = max(to, spans[i].to)
		}
		b.WriteString(text[at:from])
		b.WriteString(Hidden)
		at = to
	}
	b.WriteString(text[at:])
	return b.String()
}

// appendSpans adds the places where a piece stands in a text.
func appendSpans(spans []span, text, piece string) []span {
	for at := 0; ; {
		i := strings.Index(text[at:], piece)
		if i < 0 || piece == "" {
			return spans
		}
		from, to := at+i, at+i+len(piece)
		if len(piece) >= minAlone || standsAlone(text, from, to) {
			spans = append(spans, span{from, to})
		}
		at = from + 1
	}
}

// standsAlone reports whether text[from:to] is not a part of a longer word.
func standsAlone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !isWord(before) && !isWord(after)
}
