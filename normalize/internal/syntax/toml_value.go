package syntax

import (
	"strings"
)

func (p *tomlParser) value(depth int) *Node {
	if depth > MaxDepth {
		panic(&Error{Offset: p.pos, Msg: "nested too deep", Limit: true})
	}
	start := p.pos
	rest := p.src[p.pos:]
	switch {
	case strings.HasPrefix(rest, "["):
		return p.array(depth)
	case strings.HasPrefix(rest, "{"):
		return p.inline(depth)
	case strings.HasPrefix(rest, `"""`):
		return p.text(start, p.multiline())
	case strings.HasPrefix(rest, "'''"):
		return p.text(start, p.multilineLiteral())
	case strings.HasPrefix(rest, `"`):
		return p.text(start, p.plain('"'))
	case strings.HasPrefix(rest, "'"):
		return p.text(start, p.literal())
	}
	return p.bare()
}

func (p *tomlParser) text(start int, s string) *Node {
	n := p.node(String, start)
	n.Text = s
	return n
}

func (p *tomlParser) array(depth int) *Node {
	n := p.node(Array, p.pos)
	p.pos++
	for {
		p.blankLines()
		if p.at(']') {
			p.pos++
			return n
		}
		n.Items = append(n.Items, p.value(depth+1))
		p.blankLines()
		if !p.at(']') {
			p.expect(',', "a comma or ] is missing in a list", "")
		}
	}
}

func (p *tomlParser) inline(depth int) *Node {
	n := p.node(Object, p.pos)
	p.pos++
	for {
		p.blankLines()
		if p.at('}') {
			p.pos++
			return n
		}
		p.pair(n, depth+1)
		p.blankLines()
		if !p.at('}') {
			p.expect(',', "a comma or } is missing in an inline table", "")
		}
	}
}

// literal reads a string between apostrophes, which has no escapes.
func (p *tomlParser) literal() string {
	start := p.pos + 1
	end := strings.IndexByte(p.src[start:], '\'')
	if end < 0 || end > lineLen(p.src[start:]) {
		p.fail("a string is not closed", "put an apostrophe at its end")
	}
	p.pos = start + end + 1
	return p.src[start : start+end]
}

// closeMultiline finds the end of a string of several lines that starts at
// start: three quotes q, and up to two more that belong to the string.
func (p *tomlParser) closeMultiline(start int, q byte, escapes bool) int {
	for i := start; i < len(p.src); i++ {
		switch {
		case escapes && p.src[i] == '\\':
			i++
		case strings.HasPrefix(p.src[i:], strings.Repeat(string(q), 3)):
			for n := 0; n < 2 && i+3 < len(p.src) && p.src[i+3] == q; n++ {
				i++
			}
			p.pos = i + 3
			return i
		}
	}
	p.fail("a string of several lines is not closed", "end it with three quotation marks")
	return 0
}

// firstLine skips the line end right after the opening quotes.
func (p *tomlParser) firstLine(start int) int {
	rest := p.src[start:]
	switch {
	case strings.HasPrefix(rest, "\r\n"):
		return start + 2
	case strings.HasPrefix(rest, "\n"):
		return start + 1
	}
	return start
}

func (p *tomlParser) multilineLiteral() string {
	start := p.firstLine(p.pos + 3)
	return p.src[start:p.closeMultiline(start, '\'', false)]
}

// multiline reads a """ string: a backslash at the end of a line takes away
// the line end and the blanks that follow.
func (p *tomlParser) multiline() string {
	start := p.firstLine(p.pos + 3)
	raw := p.src[start:p.closeMultiline(start, '"', true)]
	var b strings.Builder
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			break
		}
		b.WriteString(raw[:i])
		raw = raw[i:]
		if tail := strings.TrimLeft(raw[1:], " \t\r"); strings.HasPrefix(tail, "\n") {
			raw = strings.TrimLeft(tail, " \t\r\n")
			continue
		}
		text, size := p.tomlEscape(raw, start)
		b.WriteString(text)
		raw = raw[size:]
	}
	b.WriteString(raw)
	return b.String()
}

func (p *tomlParser) tomlEscape(s string, offset int) (string, int) {
	text, size := p.escape(nil, s)
	if s[1] == 'U' {
		if r, ok := hex(s, 2, 8); ok {
			return string(r), 10
		}
	}
	if size == 0 {
		panic(&Error{Offset: offset, Msg: "a unicode escape needs four or eight hexadecimal digits"})
	}
	return string(text), size
}

// bare reads a boolean, a number or a date. A date stays text.
func (p *tomlParser) bare() *Node {
	start := p.pos
	end := start
	for end < len(p.src) && strings.IndexByte(",]}#\n\r", p.src[end]) < 0 {
		end++
	}
	word := strings.TrimRight(p.src[start:end], " \t")
	n := p.node(Number, start)
	n.Text = word
	p.pos = start + len(word)
	if word == "true" || word == "false" {
		n.Kind = Bool
		return n
	}
	if isJSONNumber(word) || isDate(word) {
		return n
	}
	num, ok := decimal(word)
	if !ok {
		p.pos = start
		p.fail("a value is not quoted", "put texts in quotation marks")
	}
	n.Text = num
	return n
}

// isDate tells whether s looks like a date or a time.
func isDate(s string) bool {
	n := digits(s)
	return len(s) >= 5 && n >= 2 && n < len(s) && (s[n] == '-' || s[n] == ':') &&
		strings.Trim(s, "0123456789-:.+TZtz ") == ""
}
