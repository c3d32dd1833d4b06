package syntax

import (
	"strings"
)

// A Word is one word of a command line with its quotes resolved. Where a POSIX
// shell would expand $NAME, or PowerShell $env:NAME, it holds ${NAME}.
type Word struct {
	Text   string
	Offset int  // byte in the source
	Op     bool // an operator between commands, such as && or ;
}

// A Line is one command line, over as many lines of text as its quotes and
// continuation marks span.
type Line struct {
	Words    []Word
	Size     int  // bytes of the source, with the line end
	Comment  bool // a comment stood at the end
	Unclosed bool // a quote was still open at the end
}

// Command reads the command line at the start of src.
func Command(src string) Line {
	p := shellParser{src: src}
	for p.next() {
	}
	p.end()
	return Line{Words: p.words, Size: p.pos, Comment: p.comment, Unclosed: p.unclosed}
}

// Fields splits src as a shell would, over all its lines, but expands nothing
// and knows neither comments nor operators.
func Fields(src string) []string {
	p := shellParser{src: src, literal: true}
	var out []string
	for p.pos < len(src) {
		for p.next() {
		}
		p.end()
	}
	for _, w := range p.words {
		out = append(out, w.Text)
	}
	return out
}

type shellParser struct {
	literal  bool // quotes and backslashes only
	src      string
	pos      int
	words    []Word
	word     []byte
	start    int
	inWord   bool
	comment  bool
	unclosed bool
	// parens are the closing brackets of the opening ones before parensLine, the
	// end of the line that was looked at last.
	parens     map[int]int
	parensLine int
}

// end finishes the present word.
func (p *shellParser) end() {
	if p.inWord {
		p.words = append(p.words, Word{Text: string(p.word), Offset: p.start})
	}
	p.word, p.inWord = p.word[:0], false
}

func (p *shellParser) add(s string) {
	if !p.inWord {
		p.inWord, p.start = true, p.pos
	}
	p.word = append(p.word, s...)
}

// next reads one piece. It reports false at the end of the line.
func (p *shellParser) next() bool {
	rest := p.src[p.pos:]
	if rest == "" {
		return false
	}
	if n := continuation(rest); n > 0 {
		p.end()
		p.pos += n
		return true
	}
	switch c := rest[0]; c {
	case '\n':
		p.pos++
		return false
	case ' ', '\t', '\r':
		p.end()
		p.pos++
	case '#':
		if p.inWord || p.literal {
			p.add("#")
			p.pos++
			break
		}
		p.comment = true
		p.pos += lineLen(rest)
	case '\'':
		p.single(rest)
	case '"':
		p.double()
	case '\\':
		p.backslash(rest)
	case '$':
		p.dollar(rest)
	case '`':
		p.substitution(rest, backticksLen(rest))
	default:
		p.other(rest)
	}
	return true
}

// substitution takes n bytes as they are: a command in backticks or $(...), or a
// reference ${...}, whose blanks part no words. With n of 0 the first byte stands for itself.
func (p *shellParser) substitution(rest string, n int) {
	n = max(n, 1)
	p.add(rest[:n])
	p.pos += n
}

// backticksLen is the length of the command in backticks at the start of s,
// which ends on the same line; 0 for none.
func backticksLen(s string) int {
	end := strings.IndexByte(s[1:], '`')
	if end < 0 || strings.Contains(s[1:1+end], "\n") {
		return 0
	}
	return end + 2
}

// substitutionLen is the length of $(...) or ${...} at the present place, which
// ends on the same line; 0 for none. The brackets of a line are matched once, however
// many of them are never closed.
func (p *shellParser) substitutionLen() int {
	if p.pos >= p.parensLine {
		p.matchParens()
	}
	if end, ok := p.parens[p.pos+1]; ok {
		return end + 1 - p.pos
	}
	return 0
}

// matchParens pairs the brackets from the present place to the end of its line,
// round ones and curly ones apart.
func (p *shellParser) matchParens() {
	p.parens, p.parensLine = make(map[int]int), p.pos+lineLen(p.src[p.pos:])
	var round, curly []int
	for i := p.pos; i < p.parensLine; i++ {
		open := &round
		switch p.src[i] {
		case '{', '}':
			open = &curly
		}
		switch p.src[i] {
		case '(', '{':
			*open = append(*open, i)
		case ')', '}':
			if n := len(*open) - 1; n >= 0 {
				p.parens[(*open)[n]] = i
				*open = (*open)[:n]
			}
		}
	}
}

// continuation is the length of a mark at the start of s that joins the next
// line to this one: a backslash, PowerShell's backtick or cmd's caret.
func continuation(s string) int {
	if strings.IndexByte("\\`^", s[0]) < 0 {
		return 0
	}
	i := 1
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	if i < len(s) && s[i] == '\n' {
		return i + 1
	}
	return 0
}

func (p *shellParser) other(rest string) {
	if kind, size := Blank(rest); kind != 0 {
		if kind == OddSpaces {
			p.end()
		}
		p.pos += size
		return
	}
	if op := operator(rest, !p.inWord); op > 0 && !p.literal {
		p.end()
		p.words = append(p.words, Word{Text: rest[:op], Offset: p.pos, Op: true})
		p.pos += op
		return
	}
	p.add(rest[:1])
	p.pos++
}

// operator is the length of an operator at the start of s. A single & or | is
// one only between blanks, since addresses hold them unquoted.
func operator(s string, between bool) int {
	switch {
	case strings.HasPrefix(s, "&&") || strings.HasPrefix(s, "||"):
		return 2
	case s[0] == ';' && (len(s) == 1 || strings.IndexByte(" \t\r\n", s[1]) >= 0):
		return 1
	case (s[0] == '|' || s[0] == '&') && between && (len(s) == 1 || strings.IndexByte(" \t\r\n", s[1]) >= 0):
		return 1
	}
	return 0
}

func (p *shellParser) single(rest string) {
	end := strings.IndexByte(rest[1:], '\'')
	if end < 0 {
		p.unclosed = true
		p.add(rest[1:])
		p.pos = len(p.src)
		return
	}
	p.add(rest[1 : 1+end])
	p.pos += end + 2
}

// double reads what stands between double quotes. A backtick before a quote is
// PowerShell's escape; both stay for the reader of the text.
func (p *shellParser) double() {
	p.add("")
	p.pos++
	for p.pos < len(p.src) {
		rest := p.src[p.pos:]
		switch {
		case rest[0] == '"':
			p.pos++
			return
		case strings.HasPrefix(rest, "`\""):
			p.add(rest[:2])
			p.pos += 2
		case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("\"\\$`", rest[1]) >= 0:
			p.add(rest[1:2])
			p.pos += 2
		case strings.HasPrefix(rest, "\\\n"):
			p.pos += 2
		case rest[0] == '$':
			p.dollar(rest)
		default:
			p.add(rest[:1])
			p.pos++
		}
	}
	p.unclosed = true
}

// backslash reads one outside quotes. Before a letter or digit it is taken as
// part of a Windows path: nobody escapes those.
func (p *shellParser) backslash(rest string) {
	if len(rest) < 2 || isNameByte(rest[1]) && rest[1] != '$' || strings.HasPrefix(rest, `\\`) && len(rest) > 2 && isNameByte(rest[2]) && !p.inWord {
		p.add(`\`)
		p.pos++
		if strings.HasPrefix(rest, `\\`) { // \\server\share
			p.add(`\`)
			p.pos++
		}
		return
	}
	p.add(rest[1:2])
	p.pos += 2
}

// dollar reads a dollar sign that the shell would look at.
func (p *shellParser) dollar(rest string) {
	if strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "${") {
		p.substitution(rest, p.substitutionLen())
		return
	}
	if p.literal {
		p.add("$")
		p.pos++
		return
	}
	name, size := rest[1:], 1
	if tail, ok := strings.CutPrefix(name, "env:"); ok {
		name, size = tail, 5
	}
	n := 0
	for n < len(name) && isNameByte(name[n]) && strings.IndexByte("$-./@", name[n]) < 0 {
		n++
	}
	if n == 0 || digits(name) > 0 {
		p.add("$")
		p.pos++
		return
	}
	p.add("${" + name[:n] + "}")
	p.pos += size + n
}
