package secrets

import (
	"slices"
	"strings"
)

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

// sweep hides pieces wherever they stand in a text, short ones where they stand
// alone.
func sweep(text string, pieces []string) string {
	slices.Sort(pieces)
	pieces = slices.Compact(pieces)
	if len(pieces) > maxPieces {
		return Hidden
	}
	var spans []Span
	for _, piece := range pieces {
		spans = appendSpans(spans, text, piece)
	}
	return Hide(text, spans)
}

// appendSpans adds the places where a piece stands in a text.
func appendSpans(spans []Span, text, piece string) []Span {
	for at := 0; ; {
		i := strings.Index(text[at:], piece)
		if i < 0 || piece == "" {
			return spans
		}
		found := Span{at + i, at + i + len(piece)}
		if len(piece) >= minAlone || found.Alone(text) {
			spans = append(spans, found)
		}
		at = found.From + 1
	}
}
