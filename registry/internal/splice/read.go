package splice

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// maxDepth bounds recursion. The caller's reader is stricter.
const maxDepth = 100

// value finds a node in the text. Nothing of it is on the line limit or later.
func (d *Doc) value(n *yamldoc.Node, limit int) (value, error) {
	start := d.offset(n.Line, n.Column)
	v := value{kind: n.Kind, text: n.Value, start: start, end: start}
	switch {
	case n.Kind == yamldoc.ScalarNode:
		d.scalar(n, &v)
		return v, nil
	case strings.HasPrefix(d.text[start:], "{"), strings.HasPrefix(d.text[start:], "["):
		return d.flow(start)
	case n.Kind == yamldoc.MappingNode:
		return d.mapping(n, v, limit)
	}
	return d.sequence(n, v, limit)
}

func (d *Doc) scalar(n *yamldoc.Node, v *value) {
	rest := d.text[v.start:]
	v.opaque = true
	switch {
	case rest == "":
	case rest[0] == '"', rest[0] == '\'':
		end, err := d.quoted(v.start)
		v.end, v.opaque = end, err != nil
	case n.Style == 0 && n.Value != "" && strings.HasPrefix(rest, n.Value):
		v.end, v.opaque = v.start+len(n.Value), false
	}
}

func (d *Doc) mapping(n *yamldoc.Node, v value, limit int) (value, error) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, until := n.Content[i], limit
		if i+2 < len(n.Content) {
			until = n.Content[i+2].Line
		}
		m, err := d.value(n.Content[i+1], until)
		if err != nil {
			return v, err
		}
		m.name, m.head, m.stop = key.Value, d.offset(key.Line, key.Column), d.stop(key.Line, until)
		v.items = append(v.items, m)
		v.end = m.stop
	}
	return v, nil
}

func (d *Doc) sequence(n *yamldoc.Node, v value, limit int) (value, error) {
	dashes := make([]int, len(n.Content))
	for i, item := range n.Content {
		line := item.Line
		for line > n.Line && !d.isDash(line, n.Column) {
			line--
		}
		dashes[i] = line
	}
	for i, item := range n.Content {
		until := limit
		if i+1 < len(dashes) {
			until = dashes[i+1]
		}
		m, err := d.value(item, until)
		if err != nil {
			return v, err
		}
		m.head, m.stop = d.offset(dashes[i], n.Column), d.stop(dashes[i], until)
		v.items = append(v.items, m)
		v.end = m.stop
	}
	return v, nil
}

func (d *Doc) isDash(line, column int) bool {
	at := d.offset(line, column)
	return at < len(d.text) && d.text[at] == '-' && strings.TrimSpace(d.text[d.lineStart(at):at]) == ""
}

// stop gives the end of the last line with content between two lines, the first of which has some.
func (d *Doc) stop(from, limit int) int {
	last := min(limit, len(d.lines)+1) - 1
	for last > from && isIdle(d.line(last)) {
		last--
	}
	if last >= len(d.lines) {
		return len(d.text)
	}
	return d.lines[last]
}

// isIdle reports whether a line holds no value.
func isIdle(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || text[0] == '#' || strings.HasPrefix(line, "...")
}

func (d *Doc) line(n int) string {
	if n < len(d.lines) {
		return d.text[d.lines[n-1]:d.lines[n]]
	}
	return d.text[d.lines[n-1]:]
}

// offset gives the byte at a line and a column that counts characters.
func (d *Doc) offset(line, column int) int {
	at := d.lines[min(max(line, 1), len(d.lines))-1]
	for ; column > 1 && at < len(d.text); column-- {
		_, size := utf8.DecodeRuneInString(d.text[at:])
		at += size
	}
	return at
}

func (d *Doc) lineStart(at int) int { return strings.LastIndexByte(d.text[:at], '\n') + 1 }

// column gives how many characters stand before a byte on its line.
func (d *Doc) column(at int) int { return utf8.RuneCountInString(d.text[d.lineStart(at):at]) }

var errFlow = errors.New("a value in braces or brackets has a form that cannot be changed in place")

// flow reads a value in JSON or in YAML's flow style.
func (d *Doc) flow(at int) (value, error) {
	if at < 0 {
		return value{}, errFlow
	}
	s := flowScanner{doc: d, pos: at}
	v := s.value(0)
	if s.failed {
		return v, fmt.Errorf("line %d: %w", strings.Count(d.text[:at], "\n")+1, errFlow)
	}
	return v, nil
}

type flowScanner struct {
	doc    *Doc
	pos    int
	failed bool
}

func (s *flowScanner) value(depth int) value {
	v := value{flow: true, head: s.pos, start: s.pos}
	open := s.peek()
	if s.failed = s.failed || depth > maxDepth; s.failed {
		return v
	}
	switch open {
	case '{', '[':
		v.kind = yamldoc.SequenceNode
		if open == '{' {
			v.kind = yamldoc.MappingNode
		}
		s.pos++
		s.items(&v, open+2, depth) // the closing bracket comes two after the opening one
	default:
		v.kind, v.text = yamldoc.ScalarNode, s.scalar()
	}
	v.end = s.pos
	return v
}

func (s *flowScanner) items(v *value, closing byte, depth int) {
	for s.skip(); s.peek() != closing; s.skip() {
		head, name := s.pos, ""
		if closing == '}' {
			name = s.scalar()
			s.skip()
			s.expect(':')
			s.skip()
		}
		item := s.value(depth + 1)
		item.head, item.name = head, name
		v.items = append(v.items, item)
		if s.skip(); s.peek() != closing {
			s.expect(',')
		}
		if s.failed {
			return
		}
	}
	s.pos++
}

func (s *flowScanner) peek() byte {
	if s.pos < len(s.doc.text) {
		return s.doc.text[s.pos]
	}
	s.failed = true
	return 0
}

func (s *flowScanner) expect(c byte) {
	if s.peek() != c {
		s.failed = true
		return
	}
	s.pos++
}

// skip passes over blanks and comments.
func (s *flowScanner) skip() {
	for text := s.doc.text; s.pos < len(text); s.pos++ {
		switch text[s.pos] {
		case ' ', '\t', '\n', '\r':
		case '#':
			end := strings.IndexByte(text[s.pos:], '\n')
			if end < 0 {
				s.failed = true
				return
			}
			s.pos += end
		default:
			return
		}
	}
}

func (s *flowScanner) scalar() string {
	text, start := s.doc.text, s.pos
	if c := s.peek(); c == '"' || c == '\'' {
		end, err := s.doc.quoted(start)
		if err != nil {
			s.failed = true
			return ""
		}
		s.pos = end
		return s.unquote(text[start:end])
	}
	for s.pos < len(text) && !endsPlain(text[s.pos:]) {
		s.pos++
	}
	plain := strings.TrimRight(text[start:s.pos], " \t")
	s.pos = start + len(plain)
	s.failed = s.failed || plain == ""
	return plain
}

// endsPlain reports whether a text without quotes ends here.
func endsPlain(rest string) bool {
	switch rest[0] {
	case ',', '[', ']', '{', '}', '\n', '\r':
		return true
	case ':':
		return len(rest) == 1 || strings.ContainsRune(" \t\r\n,[]{}", rune(rest[1]))
	case ' ', '\t':
		return len(rest) > 1 && rest[1] == '#'
	}
	return false
}

func (s *flowScanner) unquote(raw string) string {
	if raw[0] == '\'' {
		return strings.ReplaceAll(raw[1:len(raw)-1], "''", "'")
	}
	var out string
	if json.Unmarshal([]byte(raw), &out) != nil {
		s.failed = true
	}
	return out
}

// quoted gives the end of a text in quotes.
func (d *Doc) quoted(start int) (int, error) {
	mark := d.text[start]
	for i := start + 1; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '\\' && mark == '"':
			i++
		case c == mark && mark == '\'' && i+1 < len(d.text) && d.text[i+1] == mark:
			i++
		case c == mark:
			return i + 1, nil
		}
	}
	return start, errFlow
}
