package probe

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

const (
	// wholeWord is the length below which a value is hidden only where it
	// stands alone: a "1" would take every number apart.
	wholeWord = 4
	// longest bounds what is searched for as one piece. Of a longer value each
	// piece of this length is hidden.
	longest = 16 << 10
	// spread is how many bytes the encodings make of one, at most.
	spread = len(`\u0026`)
	// maxValues is how many values are looked for. A launch that has more of them
	// is made to cost time, and nothing is shown of its texts.
	maxValues = 512
)

// A redactor hides what must not be shown. It is immutable.
type redactor struct {
	values []string // longest first
	max    int      // of what is hidden as one piece, however it is encoded
	all    bool     // hide everything
}

// newRedactor hides values and their encodings.
func newRedactor(values []string) *redactor {
	var all []string
	r := new(redactor)
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) > maxValues {
		return &redactor{all: true}
	}
	for _, v := range values {
		// Texts are cleaned before anything is looked for in them.
		v = clean(v)
		for len(v) > longest {
			all, r.max = append(all, v[:longest]), spread*longest
			v = v[longest:]
		}
		all = append(all, variants(v)...)
		r.max = max(r.max, spread*len(v))
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.values = slices.DeleteFunc(slices.Compact(all), func(v string) bool { return strings.TrimSpace(v) == "" })
	return r
}

// variants gives the forms in which a value commonly turns up in a log and that
// no codec turns back: itself, its lines, on one line, without the escapes that it
// has itself, in hexadecimal, and in base64 at each of the three places that it can
// have in a longer text.
func variants(v string) []string {
	out := []string{v}
	for _, read := range views(v) {
		text := strings.TrimSpace(clean(read.text))
		if len(text) < wholeWord {
			continue
		}
		out = append(out, text, oneLine(text))
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= 2*wholeWord {
				out = append(out, line)
			}
		}
	}
	if len(v) < wholeWord {
		return append(out, strings.TrimSpace(v))
	}
	lower := hex.EncodeToString([]byte(v))
	out = append(out, lower, strings.ToUpper(lower))
	for offset := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(append(make([]byte, offset), v...))
			// The first and last characters depend on what stands beside v.
			text = text[(offset*8+5)/6:]
			if rest := (offset + len(v)) % 3; rest != 0 {
				text = text[:len(text)-1]
			}
			if len(text) >= 2*wholeWord {
				out = append(out, text)
			}
		}
	}
	return out
}

// text gives s without control characters and secrets. A text that was cut at
// its front may begin with the rest of a secret, so as much as that is hidden.
func (r *redactor) text(s string, cut bool) string {
	// First, since what goes could stand between the parts of a secret.
	s = clean(s)
	if r.all && s != "" {
		return secrets.Hidden
	}
	var spans []secrets.Span
	for _, v := range views(s) {
		for _, found := range r.find(v.text) {
			spans = append(spans, v.origin(found))
		}
	}
	if cut && r.max > 1 {
		// A character that was cut in two takes more room than its rest did.
		spans = append(spans, secrets.Span{To: min(len(s), r.max+utf8.UTFMax)})
	}
	return strings.ToValidUTF8(secrets.Hide(s, spans), "\uFFFD")
}

// find gives where values stand in s, and where its end may be the beginning of
// one.
func (r *redactor) find(s string) []secrets.Span {
	var spans []secrets.Span
	for _, v := range r.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			found := secrets.Span{From: at + i, To: at + i + len(v)}
			if len(v) >= wholeWord || found.Alone(s) {
				spans = append(spans, found)
			}
			at = found.From + 1
		}
		for n := min(len(v)-1, len(s)); n >= 2*wholeWord; n-- {
			if strings.HasSuffix(s, v[:n]) {
				spans = append(spans, secrets.Span{From: len(s) - n, To: len(s)})
				break
			}
		}
	}
	return spans
}

// oneLine makes one space of all that stands between words.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clean takes out what could act on a terminal, is not seen or is no text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// lastBytes gives at most n bytes of the end of s, whole characters.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return "..." + s[i:]
}
