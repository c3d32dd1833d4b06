package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string in any kind of quotes.
func (p *jsonParser) quoted() (string, bool) {
	if p.pos == len(p.src) {
		return "", false
	}
	switch c := p.src[p.pos]; {
	case c == '"':
		return p.plain('"'), true
	case c == '\'' || c == '`':
		p.fixed |= JSON5
		return p.plain(c), true
	case c < 0x80:
		return "", false
	}
	size, double, ok := smartQuote(p.src[p.pos:])
	if !ok {
		return "", false
	}
	p.fixed |= quoteRepair(p.src[p.pos:])
	return p.smart(size, double), true
}

// plain reads a string between two quotes q.
func (p *jsonParser) plain(q byte) string {
	open := p.pos
	rest := p.src[open+1:]
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == q:
			p.pos += i + 2
			return p.unescape(rest[:i], open+1)
		case c == '\\':
			if i++; strings.HasPrefix(rest[i:], "\r\n") {
				i++
			}
		case c == '\n' && q != '`':
			p.pos = open
			p.fail("a string is not closed before the end of its line", "put a quotation mark at its end")
		}
	}
	p.fail("a string is not closed", "put a quotation mark at its end")
	return ""
}

// smart reads a string that starts with a typographic quote of size bytes. It
// ends at the first quote of the same kind, typographic or plain, after which
// the text goes on as it does after a string.
func (p *jsonParser) smart(size int, double bool) string {
	open := p.pos
	start := open + size
	for i := start; i < len(p.src) && p.src[i] != '\n'; {
		n, d, ok := smartQuote(p.src[i:])
		if c := p.src[i]; c == '"' || c == '\'' {
			n, d, ok = 1, c == '"', true
		}
		if ok && d == double && endsString(p.src[i+n:]) {
			p.pos = i + n
			return p.unescape(p.src[start:i], start)
		}
		if p.src[i] == '\\' && i+1 < len(p.src) {
			i++
		}
		_, w := utf8.DecodeRuneInString(p.src[i:])
		i += w
	}
	p.fail("a string is not closed", "put a quotation mark at its end")
	return ""
}

func endsString(rest string) bool {
	for len(rest) > 0 {
		if kind, size := Blank(rest); kind != 0 {
			rest = rest[size:]
			continue
		}
		if rest[0] != ' ' && rest[0] != '\t' && rest[0] != '\r' {
			break
		}
		rest = rest[1:]
	}
	if rest == "" || strings.IndexByte(",:}]\n/#", rest[0]) >= 0 {
		return true
	}
	_, size := fullwidth(rest)
	return size > 0
}

// unescape resolves the escapes of a string's raw text, which starts at offset.
func (p *jsonParser) unescape(raw string, offset int) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	if windowsPath(raw) {
		p.fixed |= Backslashes
		return singleBackslashes(raw)
	}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			b = append(b, raw[i])
			i++
			continue
		}
		var size int
		b, size = p.escape(b, raw[i:])
		if size == 0 {
			panic(&Error{Offset: offset + i, Msg: "a unicode escape needs four hexadecimal digits", Hint: "write \\\\u for a backslash and a u"})
		}
		i += size
	}
	return string(b)
}

// escape resolves the escape at the start of s and says how long it is; 0 for
// one that cannot be read.
func (p *jsonParser) escape(b []byte, s string) ([]byte, int) {
	if s[1] == 'u' {
		return unicodeEscape(b, s)
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return append(b, "\"\\/\b\f\n\r\t"[i]), 2
	}
	p.fixed |= JSON5
	switch c := s[1]; c {
	case '\'', '`':
		return append(b, c), 2
	case '\n':
		return b, 2
	case '\r':
		if strings.HasPrefix(s[2:], "\n") {
			return b, 3
		}
		return b, 2
	case 'v':
		return append(b, '\v'), 2
	case '0':
		return append(b, 0), 2
	case 'x':
		if r, ok := hex(s, 2, 2); ok {
			return utf8.AppendRune(b, r), 4
		}
	}
	return append(b, '\\'), 1 // keep the backslash: it was meant as one
}

func unicodeEscape(b []byte, s string) ([]byte, int) {
	r, ok := hex(s, 2, 4)
	if !ok {
		return b, 0
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(s[6:], `\u`) {
		if low, ok := hex(s, 8, 4); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(b, pair), 12
			}
		}
	}
	return utf8.AppendRune(b, r), 6 // a lone surrogate becomes U+FFFD
}

// hex reads n hexadecimal digits of s from i on.
func hex(s string, i, n int) (rune, bool) {
	if len(s) < i+n {
		return 0, false
	}
	v, err := strconv.ParseUint(s[i:i+n], 16, 32)
	return rune(v), err == nil && s[i] != '+' && s[i] != '-'
}

// windowsPath tells whether raw is a path whose backslashes were not doubled:
// it starts with a drive or the folder %NAME%, and holds at least one escape
// that JSON does not know.
func windowsPath(raw string) bool {
	drive := len(raw) > 2 && raw[1] == ':' && raw[2] == '\\' && isLetter(raw[0])
	if !drive && raw[0] != '%' {
		return false
	}
	bad := false
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if _, ok := hex(raw, i+1, 4); raw[i] == 'u' && ok {
			continue
		}
		if raw[i] == 'u' || strings.IndexByte(`"\/bfnrtu`, raw[i]) < 0 {
			bad = true
		}
	}
	return bad
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// singleBackslashes keeps each backslash, taking a doubled one as one.
func singleBackslashes(raw string) string {
	return strings.ReplaceAll(strings.ReplaceAll(raw, `\\`, `\`), `\"`, `"`)
}
