package syntax

import (
	"strings"
)

// linkPrefixes start the addresses that clients install servers from.
var linkPrefixes = [...]string{
	"cursor://", "vscode:mcp/", "vscode-insiders:mcp/", "vsweb+mcp:/", "lmstudio://", "goose://",
	"windsurf://", "kiro://", "warp://", "raycast://", "https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect",
	"https://kiro.dev/launch/mcp", "https://lmstudio.ai/install-mcp", "https://cursor.com/",
	"https://www.cursor.com/",
}

const (
	// maxLink bounds a link in bytes. What is longer is no link.
	maxLink = 64 << 10
	// maxLinkJSON bounds the tries to read JSON that stands in a link of one line
	// without being encoded and that leads to no link: each may look at the rest
	// of the line.
	maxLinkJSON = 32
)

// A finder finds a mark in a line, again and again from places that only move
// forward, and looks at each byte once however often it is asked.
type finder struct {
	mark string // empty for what no link holds
	next int    // the last answer; -1 before the first
}

// at gives the first place at or behind from, or the length of the line.
func (f *finder) at(line string, from int) int {
	if f.next >= from {
		return f.next
	}
	i := 0
	if f.mark == "" {
		i = strings.IndexAny(line[from:], " \t\r\n\"'<>)]")
	} else {
		i = strings.Index(line[from:], f.mark)
	}
	if f.next = len(line); i >= 0 {
		f.next = from + i
	}
	return f.next
}

// A linkLine finds the links of one line, from left to right.
type linkLine struct {
	line    string
	base    int // where it starts in the chunk
	starts  [len(linkPrefixes)]finder
	end     finder
	query   finder
	json    finder // JSON that is not encoded
	install finder // what tells a link of cursor.com from its other pages
	label   finder
	tries   int // of JSON that led to no link
}

func newLinkLine(line string, base int) *linkLine {
	l := &linkLine{
		line: line, base: base,
		end:   finder{"", -1},
		query: finder{"?", -1}, json: finder{"?{", -1}, install: finder{"install-mcp?", -1}, label: finder{"</a>", -1},
	}
	for i, prefix := range linkPrefixes {
		l.starts[i] = finder{prefix, -1}
	}
	return l
}

// mayHoldLinks tells lines that hold the start of a link from the many that do
// not.
func mayHoldLinks(line string) bool {
	return strings.Contains(line, ":/") || strings.Contains(line, ":mcp/")
}

// next returns the first link at or behind at, or 0, 0.
func (l *linkLine) next(at int) (start, end int) {
	for {
		start = len(l.line)
		which := 0
		for i := range l.starts {
			if p := l.starts[i].at(l.line, at); p < start {
				start, which = p, i
			}
		}
		if start == len(l.line) {
			return 0, 0
		}
		if end = l.linkEnd(start, which); end > 0 {
			return start, end
		}
		at = start + 1
	}
}

// linkEnd is where the link ends that starts at start with the prefix of that
// number, or 0 where that is no link that carries a server. One that carries
// JSON which is not encoded ends with it.
func (l *linkLine) linkEnd(start, which int) int {
	end := l.end.at(l.line, start)
	query := &l.query
	if strings.Contains(linkPrefixes[which], "cursor.com") {
		query = &l.install
	}
	if query.at(l.line, start) >= end {
		return 0
	}
	if open := l.json.at(l.line, start); open < end && l.tries < maxLinkJSON {
		if _, size, _, err := JSON(l.line[open+1:]); err == nil {
			end = open + 1 + size
		} else {
			l.tries++
		}
	}
	if end-start > maxLink {
		return 0
	}
	return end
}

// links takes the links of the present line.
func (s *splitter) links() bool {
	end := s.pos + lineLen(s.c.text[s.pos:])
	// A line of many pieces comes here for each; it is gone over once.
	if l := s.line; l == nil || l.base > s.pos || l.base+len(l.line) != end {
		if end == s.plain {
			return false
		}
		if !mayHoldLinks(s.c.text[s.pos:end]) {
			s.plain = end
			return false
		}
		s.line = newLinkLine(s.c.text[s.pos:end], s.pos)
	}
	line, base := s.line.line, s.line.base
	at, found := s.pos-base, false
	for !s.out.TooMany {
		start, stop := s.line.next(at)
		if stop == 0 {
			break
		}
		found = true
		s.prose = s.prose || hasText(before(line[at:start]))
		s.add(Document{Form: LinkForm, Text: line[start:stop]}, "", base+start)
		at = stop
		if label := s.line.label.at(line, at); label < len(line) { // the label of the link
			at = label + len("</a>")
		}
	}
	if !found {
		return false
	}
	s.commands++
	s.prose = s.prose || hasText(strings.TrimLeft(line[at:], `)]"'>`))
	s.pos = end
	return true
}

// before is what stands before a link without the Markdown or HTML that makes
// it one.
func before(s string) string {
	if label, ok := strings.CutSuffix(s, "]("); ok {
		return label[:labelStart(label)]
	}
	if i := strings.LastIndexByte(s, '<'); i >= 0 {
		return s[:i]
	}
	return s
}

// labelStart is where the bracket opens that the end of s closes, or the length
// of s where there is none.
func labelStart(s string) int {
	depth := 1
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// hasText tells whether s holds a letter.
func hasText(s string) bool {
	for i := range len(s) {
		if isLetter(s[i]) || s[i] >= 0x80 {
			return true
		}
	}
	return false
}
