package review

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// hidden reports whether a reader would not see the character r at s[i], or would
// see other text than what stands there because of it: control, format and
// private characters, those without an assignment, line separators, blanks that
// look like a space and are none, and what shows nothing.
func hidden(s string, i int, r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r == '\ufe0e' || r == '\ufe0f':
		return !presents(s[:i], s[i+len("\ufe0f"):])
	case strings.ContainsRune(quiet, r):
		return true
	case !unicode.IsGraphic(r):
		return true
	case r == '\u2800' || r == '\U0001d159': // a Braille cell without dots, a note without a head
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// quiet are characters that Markdown may take for a part of its syntax: blanks
// other than the space, but not the wide one that begins paragraphs of Chinese
// and Japanese, and what stands for an object that is not there.
const quiet = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\ufffc"

// selectors choose between the text and the emoji form of what is before them.
const selectors = "\ufe0e\ufe0f"

// presents reports whether a selector between these texts changes how something
// is seen: a symbol, or a keycap. Elsewhere it shows nothing.
func presents(before, after string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	if r < 0x80 {
		return strings.ContainsRune("0123456789#*", r) && strings.HasPrefix(after, "\u20e3")
	}
	return unicode.Is(unicode.S, r) && r != utf8.RuneError
}

// escape returns the visible form of a hidden character or, for an invalid
// byte, of that byte.
func escape(r rune, size int, first byte) string {
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("[0x%02X]", first)
	}
	return fmt.Sprintf("[U+%04X]", r)
}

// visible returns s with hidden characters and invalid bytes written out, except
// the characters of keep.
func visible(s, keep string) string {
	var b strings.Builder
	plain := 0 // s[plain:i] needs nothing
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if (hidden(s, i, r) || r == utf8.RuneError && size == 1) && !strings.ContainsRune(keep, r) {
			b.WriteString(s[plain:i])
			b.WriteString(escape(r, size, s[i]))
			plain = i + size
		}
		i += size
	}
	if plain == 0 {
		return s
	}
	return b.String() + s[plain:]
}

// A seg is a piece of a line: text of one look.
type seg struct {
	Text   string
	Mark   bool // differs from the other version of the line
	Escape bool // a hidden character, written out
	Cut    bool // not text of the line, but says what was left out of it
}

// Limits of one line, in bytes: above longLine what did not change is
// shortened, and what did too.
const (
	longLine  = 4 << 10
	keepPlain = 300
	keepMark  = 2 << 10
)

// segments cuts a line at the marked spans and at hidden characters.
func segments(line string, spans []textdiff.Span) []seg {
	var segs []seg
	long := len(line) > longLine
	at := 0
	for _, span := range spans {
		segs = appendPiece(segs, line[at:span.Start], false, long)
		segs = appendPiece(segs, line[span.Start:span.End], true, long)
		at = span.End
		if len(segs) > 2*longLine/16 {
			return append(segs, cut(len(line)-at))
		}
	}
	return appendPiece(segs, line[at:], false, long)
}

// appendPiece adds text of one look, shortened in the middle if the line is long.
func appendPiece(segs []seg, s string, mark, long bool) []seg {
	keep := keepPlain
	if mark {
		keep = keepMark
	}
	if !long || len(s) <= 2*keep {
		return appendText(segs, s, mark)
	}
	head, tail := keep, len(s)-keep
	for head > 0 && !utf8.RuneStart(s[head]) && head > keep-utf8.UTFMax {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) && tail < len(s)-keep+utf8.UTFMax {
		tail++
	}
	segs = appendText(segs, s[:head], mark)
	segs = append(segs, cut(tail-head))
	return appendText(segs, s[tail:], mark)
}

func cut(n int) seg { return seg{Text: fmt.Sprintf("(%s bytes not shown)", count(n)), Cut: true} }

func appendText(segs []seg, s string, mark bool) []seg {
	plain := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r != '\t' && hidden(s, i, r) || r == utf8.RuneError && size == 1 {
			if plain < i {
				segs = append(segs, seg{Text: s[plain:i], Mark: mark})
			}
			segs = append(segs, seg{Text: escape(r, size, s[i]), Mark: mark, Escape: true})
			plain = i + size
		}
		i += size
	}
	if plain < len(s) {
		segs = append(segs, seg{Text: s[plain:], Mark: mark})
	}
	return segs
}

// count writes a number with thousands apart.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
