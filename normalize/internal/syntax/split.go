package syntax

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf8"
)

// Form is the form of a [Document].
type Form uint8

// The forms.
const (
	JSONForm    Form = iota // JSON or a relative
	TOMLForm                // TOML
	YAMLForm                // YAML
	CommandForm             // a command line
	LinkForm                // an address that a client installs servers from
	WordForm                // one word alone, such as an address or a package
)

// A Document is one piece of a paste that may declare servers.
type Document struct {
	Form  Form
	Root  *Node  // of JSON, TOML and YAML
	Words []Word // of a command line
	Text  string // of a link or a word
	Block int    // number of the fence it stands in, from 1; 0 for none

	lines *lineIndex // of the text that holds the document
	base  int        // byte in that text at which the document's own starts
}

// Position converts an offset of a node or word to a line and column of the
// paste, both from 1 and the column in characters. It is not safe for
// concurrent use.
func (d *Document) Position(offset int) (line, column int) { return d.lines.position(d.base + offset) }

// A lineIndex knows where the lines of a text start, once somebody asks.
type lineIndex struct {
	src       string
	line, col int // where src starts in the paste, from 1
	starts    []int
	// last is the place that was asked for last: places are mostly asked for in
	// their order, and a line may be the whole of a long text.
	last struct{ line, offset, column int }
}

func (l *lineIndex) position(offset int) (line, column int) {
	if l.starts == nil {
		l.starts = lineOffsets(l.src).starts
	}
	offset = min(max(offset, 0), len(l.src))
	i := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset })
	line, column = i, 1
	from := l.starts[i-1]
	if l.last.line == line && l.last.offset <= offset {
		from, column = l.last.offset, l.last.column
	}
	column += utf8.RuneCountInString(l.src[from:offset])
	l.last.line, l.last.offset, l.last.column = line, offset, column
	if line == 1 {
		column += l.col - 1
	}
	return line + l.line - 1, column
}

// A Text is what [Split] found in a paste.
type Text struct {
	Docs   []Document
	Fixed  Repairs
	Fences int  // Markdown fences
	Prose  bool // text that belongs to no document, outside of fences
	// ShellComment is set when comments stood between command lines.
	ShellComment bool
	// Documents is the number of JSON, TOML and YAML documents where several
	// stood side by side, else 0.
	Documents int
	// TooMany is set when there were more than MaxDocuments.
	TooMany bool
	// Faults are the pieces that look like a configuration and cannot be read.
	Faults []Fault
}

// A Fault is an [Error] with its place in the paste.
type Fault struct {
	Line, Column int
	Block        int
	Err          *Error
}

// Split finds the documents of a text. Markdown fences are read one by one; in
// other text JSON, TOML and YAML documents, command lines and links are found
// between lines of prose.
func Split(text string) Text {
	var s splitter
	text = s.visible(text)
	chunks := fences(text)
	for i := range chunks {
		s.out.Fences = max(s.out.Fences, chunks[i].block)
	}
	for i := range chunks {
		s.chunk(&chunks[i])
	}
	if s.out.Fences > 0 && len(s.out.Docs) == 0 && len(s.out.Faults) == 0 {
		s.out.Fences = 0
		s.chunk(&chunk{text: text, line: 1}) // not really Markdown
	}
	return s.out
}

// visible takes out the characters that nobody sees and nobody means, which
// copying from a page brings along. Joiners stay: some scripts need them.
func (s *splitter) visible(text string) string {
	if !strings.Contains(text, "\u200b") && !strings.Contains(text, "\u2060") && !strings.Contains(text, "\ufeff") {
		return text
	}
	s.out.Fixed |= ZeroWidth
	return strings.Map(func(r rune) rune {
		if r == 0x200b || r == 0x2060 || r == 0xfeff {
			return -1
		}
		return r
	}, text)
}

// chunk is a run of lines of the paste: the inside of a fence, or what stands
// outside.
type chunk struct {
	text  string
	line  int // first line, from 1
	block int // number of the fence, 0 outside
	lang  string
}

type splitter struct {
	out Text
	// state of the present chunk
	c        *chunk
	lines    *lineIndex
	pos      int
	line     *linkLine // of the last line in which links were looked for
	plain    int       // the end of the last line without any
	trees    int       // JSON, TOML and YAML documents
	commands int
	comments bool // lines that start with #
	prose    bool
	failures int
	marked   bool // yamlKey and brace are known
	yamlKey  int  // where the last line with a key of servers in YAML starts, or -1
	brace    int  // where the last line that starts an object starts, or -1
	broken   bool // an object could not be read, so its parts are not tried
}

// maxFailures bounds the tries to read a document in one chunk, each of which
// may look at all of it.
const maxFailures = 32

func (s *splitter) chunk(c *chunk) {
	*s = splitter{out: s.out, c: c, lines: &lineIndex{src: c.text, line: c.line, col: 1}}
	outside := c.block == 0 && s.out.Fences > 0
	for s.skipBlank(); s.pos < len(c.text) && !s.out.TooMany; s.skipBlank() {
		if outside {
			s.linksOnly()
			continue
		}
		s.piece()
	}
	if s.trees > 1 {
		s.out.Documents += s.trees
	}
	if !outside {
		s.tell()
	}
}

// tell adds to the result what was in the chunk beside documents.
func (s *splitter) tell() {
	s.out.ShellComment = s.out.ShellComment || s.comments && s.commands > 0
	s.prose = s.prose || s.comments && s.commands == 0
	if s.c.block == 0 && s.trees+s.commands == 0 && s.loneWord() {
		return
	}
	s.out.Prose = s.out.Prose || s.prose && s.c.block == 0
}

// skipBlank moves to the next line or character that says something.
func (s *splitter) skipBlank() {
	for s.pos < len(s.c.text) {
		switch s.c.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
			continue
		}
		kind, size := Blank(s.c.text[s.pos:])
		if kind == 0 {
			return
		}
		s.out.Fixed |= kind
		s.pos += size
	}
}

// piece reads what starts at the present place.
func (s *splitter) piece() {
	rest := s.c.text[s.pos:]
	switch {
	case rest[0] == '#':
		s.comments = true
		s.pos += lineLen(rest)
		return
	case tomlStart(rest):
		if s.toml() {
			return
		}
	case s.objectStarts(rest):
		if s.json(s.pos) {
			return
		}
	case !s.broken && startsFragment(rest):
		if s.fragment() {
			return
		}
	}
	if s.command() || s.links() || !s.broken && (s.yaml() || s.jsonInLine()) {
		return
	}
	s.prose = true
	s.pos += lineLen(rest)
}

// objectStarts reports whether an object is to be read here: of one that is broken
// the parts are not tried.
func (s *splitter) objectStarts(rest string) bool {
	return startsJSON(rest) && (!s.broken || indentation(s.c.text, s.pos) == 0)
}

// add appends a document that starts at start in the chunk. Mended is the text
// that its offsets refer to where that is not the chunk's.
func (s *splitter) add(d Document, mended string, start int) {
	if len(s.out.Docs) == MaxDocuments {
		s.out.TooMany = true
		return
	}
	d.Block = s.c.block
	d.lines, d.base = s.index(mended, start)
	s.out.Docs = append(s.out.Docs, d)
}

// index gives the line index for src, which starts at start in the chunk, and
// the offset of src in the index's text. An empty src stands for text that is
// the chunk's own.
func (s *splitter) index(src string, start int) (*lineIndex, int) {
	if src == "" {
		return s.lines, start
	}
	l := &lineIndex{src: src}
	l.line, l.col = s.lines.position(start)
	return l, 0
}

// fault notes text that could not be read.
func (s *splitter) fault(err error, start int) {
	s.failures++
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Msg: err.Error()}
	}
	if e.Limit {
		s.failures = maxFailures
	}
	l, base := s.index("", start)
	f := Fault{Block: s.c.block, Err: e}
	f.Line, f.Column = l.position(base + e.Offset)
	s.out.Faults = append(s.out.Faults, f)
}

// loneWord takes a chunk that is one word for an address or a name.
func (s *splitter) loneWord() bool {
	word := strings.TrimSpace(s.c.text)
	if word == "" || strings.ContainsAny(word, " \t\n\"'<>{}[]()`") || len(s.out.Faults) > 0 {
		return false
	}
	start := strings.Index(s.c.text, word)
	s.add(Document{Form: WordForm, Text: word}, "", start)
	return true
}

// fences cuts Markdown into the insides of its fences and the rest.
func fences(text string) []chunk {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return []chunk{{text: text, line: 1}}
	}
	var out []chunk
	c := chunk{line: 1}
	start, mark, indent, n := 0, "", 0, 0
	line := 1
	for pos := 0; pos < len(text); line++ {
		end := pos + lineLen(text[pos:])
		next := min(end+1, len(text))
		m, lang, in := fence(text[pos:end])
		switch {
		case mark == "" && m != "":
			c.text = text[start:pos]
			out = append(out, c)
			n++
			mark, indent = m, in
			c, start = chunk{line: line + 1, block: n, lang: lang}, next
		case mark != "" && strings.HasPrefix(m, mark) && lang == "":
			c.text = dedent(text[start:pos], indent)
			out = append(out, c)
			mark = ""
			c, start = chunk{line: line + 1}, next
		}
		pos = next
	}
	if start < len(text) {
		c.text = text[start:]
		out = append(out, c)
	}
	return out
}

// fence tells whether a line opens or closes a fence: its mark, the language
// after it and its indentation.
func fence(line string) (mark, lang string, indent int) {
	body := strings.TrimLeft(line, " \t>")
	indent = len(line) - len(body)
	for _, c := range []string{"`", "~"} {
		if strings.HasPrefix(body, strings.Repeat(c, 3)) {
			lang = strings.TrimLeft(body, c)
			if strings.Contains(lang, c) {
				return "", "", 0 // inline code
			}
			return body[:len(body)-len(lang)], strings.TrimSpace(lang), indent
		}
	}
	return "", "", 0
}

// dedent takes the indentation of the fence from each line, since YAML minds.
func dedent(text string, indent int) string {
	if indent == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		n := 0
		for n < indent && n < len(line) && (line[n] == ' ' || line[n] == '\t' || line[n] == '>') {
			n++
		}
		b.WriteString(line[n:])
	}
	return b.String()
}
