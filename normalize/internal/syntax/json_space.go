package syntax

import (
	"strings"
	"unicode/utf8"
)

// space skips blanks, comments and characters that look like blanks or like
// nothing.
func (p *jsonParser) space() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			p.pos++
		case c == '/' || c == '#':
			if !p.comment() {
				return
			}
		case c == '\v' || c == '\f':
			p.fixed |= OddSpaces
			p.pos++
		case c < 0x80:
			return
		default:
			kind, size := Blank(p.src[p.pos:])
			if kind == 0 {
				return
			}
			p.fixed |= kind
			p.pos += size
		}
	}
}

// comment skips one comment.
func (p *jsonParser) comment() bool {
	rest := p.src[p.pos:]
	switch {
	case strings.HasPrefix(rest, "//") || rest[0] == '#':
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		p.pos += end
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			p.fail("a comment is not closed", "end it with */")
		}
		p.pos += 2 + end + 2
	default:
		return false
	}
	p.fixed |= Comments
	return true
}

// Blank tells whether s starts with a character that stands for a blank
// ([OddSpaces]) or for nothing ([ZeroWidth]), and how many bytes it has.
func Blank(s string) (kind Repairs, size int) {
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0x200E, 0x200F:
		return ZeroWidth, size
	case 0x0085, 0x00A0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
		return OddSpaces, size
	}
	if 0x2000 <= r && r <= 0x200A {
		return OddSpaces, size
	}
	return 0, 0
}

// fullwidth reads a full-width form of ASCII punctuation, as an input method
// for Chinese or Japanese types it.
func fullwidth(s string) (c byte, size int) {
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case 0x3001: // ideographic comma
		return ',', size
	case 0xFF0C, 0xFF1A, 0xFF3B, 0xFF3D, 0xFF5B, 0xFF5D:
		return byte(r - 0xFF01 + '!'), size
	}
	return 0, 0
}

// smartQuote tells whether s starts with a typographic quote, how many bytes
// it has, and whether it is a double one.
func smartQuote(s string) (size int, double, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case '“', '”', '„', '‟', '«', '»', '〝', '〞', '＂':
		return size, true, true
	case '‘', '’', '‚', '‛', '‹', '›', '＇', '´':
		return size, false, true
	}
	return 0, false, false
}

// quoteRepair tells what kind of repair the quote at the start of s needs.
func quoteRepair(s string) Repairs {
	if strings.HasPrefix(s, "＂") || strings.HasPrefix(s, "＇") {
		return Fullwidth
	}
	return SmartQuotes
}

// PlainQuotes replaces every typographic quote of s by its plain form and
// reports whether there was one.
func PlainQuotes(s string) (string, bool) {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); {
		if s[i] < 0x80 {
			i++
			continue
		}
		size, double, ok := smartQuote(s[i:])
		if !ok {
			_, size = utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		b.WriteString(s[from:i])
		if double {
			b.WriteByte('"')
		} else {
			b.WriteByte('\'')
		}
		i += size
		from = i
	}
	if from == 0 {
		return s, false
	}
	b.WriteString(s[from:])
	return b.String(), true
}
