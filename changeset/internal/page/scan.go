package page

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A scanner finds the headings and links of a Markdown text, line by line. It
// knows the block structure of CommonMark as far as that decides whether a line
// is a heading, and owns up where more would be needed.
type scanner struct {
	raw          []byte
	pos          int // the next line
	sections     []Section
	links        []string
	sectionLinks []SectionLink
	ambiguous    bool
	fenced       bool

	names map[string]int
	seen  map[string]bool // links, and section links with their "#"

	fence     fence
	html      string // what ends the HTML block, blankLine for an empty line, "" outside
	para      int    // where the paragraph starts, -1 outside
	last      int    // where its last line starts
	inList    bool
	item      int // the column where the text of the outermost item starts, in a list
	prevBlank bool
}

// A fence is an open block of fenced code.
type fence struct {
	char   byte // 0 if there is none
	length int
	indent int
}

// blankLine as scanner.html stands for an HTML block that an empty line ends.
const blankLine = "\n"

// run reads the text to its end.
func (s *scanner) run() {
	s.names, s.seen = make(map[string]int), make(map[string]bool)
	s.para, s.prevBlank = -1, true
	for s.pos < len(s.raw) {
		start := s.pos
		var line []byte
		line, s.pos = lineAt(s.raw, start)
		s.line(line, start)
	}
	s.endParagraph(len(s.raw))
	if s.fence.char != 0 || s.html != "" && s.html != blankLine {
		s.ambiguous = true
	}
	s.tile()
}

// line reads one line.
func (s *scanner) line(line []byte, start int) {
	if s.fence.char != 0 {
		s.inFence(line)
		return
	}
	if s.html != "" {
		s.inHTML(line, start)
		return
	}
	text := bytes.TrimLeft(line, " \t")
	if len(bytes.TrimRight(text, " \t\r")) == 0 {
		s.endParagraph(start)
		s.prevBlank = true
		return
	}
	s.block(line, text, start)
	s.prevBlank = false
}

// block reads a line that has text, outside fences and HTML.
func (s *scanner) block(line, text []byte, start int) {
	indent := indentOf(line)
	if indent >= 4 && !s.inList {
		return // indented code, or one more line of the paragraph
	}
	// Fences come first: whatever else a line may be, it is not that inside
	// one, and a fence may be deep in a list.
	if s.openFence(text, indent) {
		s.endParagraph(start)
		return
	}
	if indent < 4 {
		if s.heading(text, start, indent) || s.openHTML(text, start) {
			return
		}
		if s.rule(text, indent, start) {
			return
		}
		if n := listMarker(text); n > 0 {
			s.endParagraph(start)
			s.openItem(text, n, indent)
		} else if text[0] == '>' && !s.inQuote(start) {
			s.endParagraph(start)
		} else if indent == 0 && s.prevBlank {
			// Without the empty line it would go on with the last item.
			s.inList = false
		}
	}
	if s.para < 0 {
		s.para = start
	}
	s.last = start
}

// openItem begins a list item, whose marker has n bytes.
func (s *scanner) openItem(text []byte, n, indent int) {
	if s.inList && indent >= s.item {
		return // within the item
	}
	// The text of an item starts after its marker and up to four spaces; more
	// of them are indented code in the item.
	spaces := len(text) - n - len(bytes.TrimLeft(text[n:], " "))
	if spaces < 1 || spaces > 4 {
		spaces = 1
	}
	s.inList, s.item = true, indent+n+spaces
}

// inQuote reports whether the paragraph before end began in a quote.
func (s *scanner) inQuote(end int) bool {
	return s.para >= 0 && s.para < end && bytes.TrimLeft(s.raw[s.para:end], " ")[0] == '>'
}

// rule reads a line that may be a thematic break of several signs.
func (s *scanner) rule(text []byte, indent, start int) bool {
	sign := text[0]
	if strings.IndexByte("*-_", sign) < 0 {
		return false
	}
	n := 0
	for _, c := range text {
		if c == sign {
			n++
		} else if c != ' ' && c != '\t' {
			return false
		}
	}
	if n < 3 {
		return false
	}
	s.endParagraph(start)
	s.inList = s.inList && indent > 1
	return true
}

// heading reads a line that may be a heading or underline one.
func (s *scanner) heading(text []byte, start, indent int) bool {
	if level, title := atx(text); level > 0 {
		if s.inList && indent > 1 {
			s.ambiguous = true // it depends on the marker whether it is in the item
			return false
		}
		s.endParagraph(start)
		s.inList = false
		s.addSection(level, title, start)
		s.findLinks(title)
		return true
	}
	if level := underline(text); level > 0 {
		return s.underlined(text, level, indent, start)
	}
	return false
}

// underlined reads a line that may underline a heading, be a rule, or neither.
func (s *scanner) underlined(text []byte, level, indent, start int) bool {
	if s.para < 0 {
		return level == 2 // a rule, or text
	}
	if quote := s.inQuote(start); quote || s.inList {
		// Not underlined, unless the line above has left the quote or item.
		above := s.raw[s.last:start]
		s.ambiguous = s.ambiguous || above[0] != '>' && (quote && !s.inList || indentOf(above) < s.item && listMarker(bytes.TrimLeft(above, " ")) == 0)
		if level == 2 {
			s.endParagraph(start)
			s.inList = s.inList && (indent > 1 || run(text, '-') < 3)
		}
		return true
	}
	from := s.para
	title := bytes.TrimSpace(s.raw[from:start])
	// The target of a link cannot be underlined, but only if it is one.
	s.ambiguous = s.ambiguous || title[0] == '[' && bytes.Contains(title, []byte("]:"))
	s.endParagraph(start)
	s.addSection(level, title, from)
	return true
}

// addSection begins a section.
func (s *scanner) addSection(level int, title []byte, start int) {
	if len(s.sections) == MaxSections {
		s.ambiguous = true
		return
	}
	t := wording.Head(oneLine(strings.ToValidUTF8(string(title), "\ufffd")), MaxID)
	s.sections = append(s.sections, Section{Name: s.name(t), Title: t, Level: level, Start: start})
}

// name makes a name that the page does not have yet.
func (s *scanner) name(title string) string {
	base := Anchor(title)
	name := base
	for s.names[name] > 0 {
		s.names[base]++
		name = base + "-" + strconv.Itoa(s.names[base]-1)
	}
	s.names[name]++
	return name
}

// tile gives the sections their ends and what precedes them a section.
func (s *scanner) tile() {
	if len(s.raw) == 0 {
		return
	}
	if len(s.sections) == 0 || s.sections[0].Start > len(byteOrderMark) ||
		s.sections[0].Start > 0 && !bytes.HasPrefix(s.raw, []byte(byteOrderMark)) {
		s.sections = append([]Section{{}}, s.sections...)
	}
	s.sections[0].Start = 0
	end := len(s.raw)
	for i := len(s.sections) - 1; i >= 0; i-- {
		s.sections[i].End = end
		end = s.sections[i].Start
	}
}

// inFence reads a line of fenced code.
func (s *scanner) inFence(line []byte) {
	text := bytes.TrimLeft(line, " \t")
	indent := indentOf(line)
	n := run(text, s.fence.char)
	most := 4     // more would be indented code, if this were no fence
	if s.inList { // columns count from where the text of the item is
		most += s.fence.indent
	}
	if n >= s.fence.length && indent < most && len(bytes.TrimSpace(text[n:])) == 0 {
		s.ambiguous = s.ambiguous || s.inList && indent < s.fence.indent
		s.fence = fence{}
		s.prevBlank = false
		return
	}
	// A line further left than the fence may end the list that the fence is
	// in, and the fence with it.
	level, _ := atx(text)
	s.fenced = s.fenced || level > 0
	if indent < s.fence.indent && len(text) > 0 && (s.inList || level > 0) {
		s.ambiguous = true
	}
}

// openFence begins fenced code, also behind the marker of a list.
func (s *scanner) openFence(text []byte, indent int) bool {
	rest, column := text, indent
	for n := listMarker(rest); n > 0; n = listMarker(rest) {
		next := bytes.TrimLeft(rest[n:], " \t")
		column += len(rest) - len(next)
		rest = next
	}
	if !isFenceStart(rest) {
		return false
	}
	if n := listMarker(text); n > 0 {
		s.openItem(text, n, indent)
	} else if indent < s.item {
		s.inList = false
	}
	text, indent = rest, column
	s.fence = fence{char: text[0], length: run(text, text[0]), indent: indent}
	return true
}

// isFenceStart reports whether text begins fenced code.
func isFenceStart(text []byte) bool {
	if len(text) < 3 || text[0] != '`' && text[0] != '~' {
		return false
	}
	n := run(text, text[0])
	return n >= 3 && (text[0] == '~' || bytes.IndexByte(text[n:], '`') < 0)
}

// endParagraph ends the paragraph before end and collects its links.
func (s *scanner) endParagraph(end int) {
	if s.para >= 0 {
		s.findLinks(s.raw[s.para:end])
		s.para = -1
	}
}

// atx returns level and title of a line "## title", or 0.
func atx(text []byte) (level int, title []byte) {
	n := run(text, '#')
	if n == 0 || n > 6 || len(text) > n && text[n] != ' ' && text[n] != '\t' && text[n] != '\r' {
		return 0, nil
	}
	title = bytes.TrimSpace(text[n:])
	if t := bytes.TrimRight(title, "#"); len(t) == 0 || t[len(t)-1] == ' ' || t[len(t)-1] == '\t' {
		title = bytes.TrimSpace(t)
	}
	return n, title
}

// underline returns the level of the heading that a line underlines, or 0.
func underline(text []byte) int {
	text = bytes.TrimRight(text, " \t\r")
	switch {
	case len(text) > 0 && run(text, '=') == len(text):
		return 1
	case len(text) > 0 && run(text, '-') == len(text):
		return 2
	}
	return 0
}

// listMarker returns the length of the marker that begins a list item, or 0.
func listMarker(text []byte) int {
	n := 0
	for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n >= len(text) {
		return 0
	}
	if n > 0 && text[n] != '.' && text[n] != ')' || n == 0 && strings.IndexByte("-*+", text[n]) < 0 {
		return 0
	}
	if n+1 < len(text) && text[n+1] != ' ' && text[n+1] != '\t' {
		return 0
	}
	return n + 1
}

// run counts how often c begins text.
func run(text []byte, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// indentOf counts the columns before the text of a line.
func indentOf(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Anchor turns the title of a heading into the base of a Section.Name, as code
// hosts do for the anchors of headings: it is in lower case, with "-" for each
// space and without most signs. What is a base stays as it is.
func Anchor(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
	if name == "" {
		return "section"
	}
	return wording.Head(name, 200)
}
