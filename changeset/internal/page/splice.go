package page

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// A mapping is front matter in which each key begins a line.
type mapping struct {
	text []byte
	root *yamldoc.Node // nil if there is no key
	eol  string
}

// set returns the text with one key set. It relies on the caller to read the
// result: a text it misjudges becomes one that says something else.
func (m *mapping) set(s setting) []byte {
	i, from, to := m.find(s.key)
	if i < 0 { // at the end, so that nobody's order and comments are torn apart
		line := s.key + ": " + s.flow(false) + m.eol
		return append(bytes.Clone(m.text), m.indent()+line...)
	}
	value := m.root.Content[i+1]
	entry := m.text[from:to]
	// The keys that can be set have no colon, so the first one ends the key.
	start := bytes.IndexByte(entry, ':') + 1
	if s.list != nil && len(*s.list) > 0 && value.Kind == yamldoc.SequenceNode && len(value.Content) > 0 && value.Line > m.root.Content[i].Line {
		if out := m.setLines(value, *s.list, to); out != nil {
			return out
		}
	}
	// Who quoted a text had a reason, and a shorter diff is easier to review.
	end := start + valueEnd(entry[start:], value, m.root.Content[0].Column-1)
	quoted := value.Kind == yamldoc.ScalarNode && strings.ContainsAny(string(bytes.TrimLeft(entry[start:], " ")[:1]), `"'`)
	out := bytes.Clone(m.text[:from+start])
	out = append(out, ' ')
	out = append(out, s.flow(quoted)...)
	return append(out, m.text[from+end:]...)
}

// find returns the index of a key in the mapping, or -1, and where its entry
// starts and ends: at the next key, or at the end.
func (m *mapping) find(key string) (i, from, to int) {
	if m.root == nil {
		return -1, 0, 0
	}
	lines := yamlLines(m.text)
	for i := 0; i+1 < len(m.root.Content); i += 2 {
		if m.root.Content[i].Value != key {
			continue
		}
		to = len(m.text)
		if i+2 < len(m.root.Content) {
			to = lines[m.root.Content[i+2].Line-1]
		}
		return i, lines[m.root.Content[i].Line-1], to
	}
	return -1, 0, 0
}

// indent returns the white space before the keys.
func (m *mapping) indent() string {
	if m.root == nil {
		return ""
	}
	return strings.Repeat(" ", m.root.Content[0].Column-1)
}

// setLines replaces the items of a list that has them on lines of their own.
// The lines of an item that stays are kept, with the comments on and below
// them. It returns nil if the lines of an item cannot be told.
func (m *mapping) setLines(value *yamldoc.Node, items []string, to int) []byte {
	starts := m.dashes(value, to)
	if len(starts) != len(value.Content) {
		return nil
	}
	first := starts[0]
	last := first + contentEnd(m.text[first:to], m.root.Content[0].Column-1)
	starts = append(starts, last)
	kept := make(map[string][]byte, len(value.Content))
	for i, item := range value.Content {
		if text := oneLine(item.Value); kept[text] == nil && item.Kind == yamldoc.ScalarNode && item.Tag != "!!null" {
			kept[text] = m.text[starts[i]:starts[i+1]]
		}
	}
	lead := strings.Repeat(" ", value.Column-1) + "- "
	out := bytes.Clone(m.text[:first])
	for _, item := range items {
		if line := kept[item]; line != nil {
			out = append(out, line...)
		} else {
			out = append(out, lead+scalar(item, false)+m.eol...)
		}
	}
	return append(out, m.text[last:]...)
}

// dashes returns where the lines start that begin an item of a list: what an
// item says may only stand on a later one.
func (m *mapping) dashes(value *yamldoc.Node, to int) []int {
	var starts []int
	for _, at := range yamlLines(m.text)[value.Line-1:] {
		if at >= to {
			break
		}
		line := m.text[at:to]
		line = line[:nextBreak(line)]
		rest := bytes.TrimLeft(line, " ")
		if len(line)-len(rest) == value.Column-1 && (bytes.HasPrefix(rest, []byte("- ")) || bytes.HasPrefix(rest, []byte("-\t")) || string(rest) == "-") {
			starts = append(starts, at)
		}
	}
	return starts
}

// flow writes the value on one line.
func (s *setting) flow(quoted bool) string {
	if s.list == nil {
		return scalar(s.text, quoted)
	}
	items := make([]string, len(*s.list))
	for i, item := range *s.list {
		items[i] = scalar(item, false)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// valueEnd returns how much of an entry after its colon is the value. What
// follows may be a comment and blank lines. indent is that of the key.
func valueEnd(text []byte, value *yamldoc.Node, indent int) int {
	line := text[:nextBreak(text)]
	lead := len(line) - len(bytes.TrimLeft(line, " \t"))
	if lead < len(line) && (line[lead] == '"' || line[lead] == '\'' || line[lead] == '[' || line[lead] == '{') {
		return flowEnd(text, lead)
	}
	block := lead < len(line) && (line[lead] == '|' || line[lead] == '>')
	if value.Kind == yamldoc.ScalarNode && !block {
		indent = math.MaxInt // a comment ends the text, and is no part of it
	}
	rest := contentEnd(text, indent)
	if value.Kind == yamldoc.ScalarNode && !block && rest <= len(line)+2 {
		return plainEnd(line)
	}
	// Several lines: all of them, without the last break.
	return len(bytes.TrimRight(text[:rest], "\r\n"))
}

// nextBreak returns where the first line of text ends.
func nextBreak(text []byte) int {
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

// plainEnd returns where the value on a line ends and a comment may begin.
func plainEnd(line []byte) int {
	end := len(line)
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			end = i
			break
		}
	}
	return len(bytes.TrimRight(line[:end], " \t"))
}

// contentEnd returns the end of the last line of text that is neither blank nor
// a comment indented by at most indent columns.
func contentEnd(text []byte, indent int) int {
	end := 0
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		word := bytes.TrimSpace(line)
		if at == 0 || len(word) > 0 && (word[0] != '#' || indentOf(line) > indent) {
			end = next
		}
		at = next
	}
	return end
}

// flowEnd returns the end of the quoted text, list or mapping at pos.
func flowEnd(text []byte, pos int) int {
	depth := 0
	for i := pos; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '"' || c == '\'') && (i == pos || bytes.IndexByte([]byte(" \t\r\n[{,:"), text[i-1]) >= 0):
			i = quoteEnd(text, i) - 1
		case c == '#' && i > 0 && bytes.IndexByte([]byte(" \t\r\n"), text[i-1]) >= 0:
			i += nextBreak(text[i:])
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		if depth == 0 {
			return min(i+1, len(text))
		}
	}
	return len(text)
}

// quoteEnd returns the end of the quoted text at pos.
func quoteEnd(text []byte, pos int) int {
	quote := text[pos]
	for i := pos + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// yamlLines returns where the lines of a YAML text start. YAML 1.1 knows more
// line breaks than Markdown.
func yamlLines(text []byte) []int {
	starts := []int{0}
	for i, r := range string(text) {
		switch r {
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
			starts = append(starts, i+1)
		case '\n':
			starts = append(starts, i+1)
		case '\u0085':
			starts = append(starts, i+2)
		case '\u2028', '\u2029':
			starts = append(starts, i+3)
		}
	}
	return starts
}

// scalar writes a text as a YAML scalar on one line: plain if that cannot be
// mistaken for anything else, else in double quotes.
func scalar(text string, quoted bool) string {
	if !quoted && isPlain(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case isJoiner(r): // as it is: escapes would leave a word nobody can read
			b.WriteRune(r)
		case !unicode.IsPrint(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain reports whether text is safe without quotes anywhere in a mapping: it
// starts with a letter, goes on with harmless characters, and is no word that
// YAML 1.1 reads as a truth value or null.
func isPlain(text string) bool {
	for i, r := range text {
		if unicode.IsLetter(r) && r < 0x10000 || i > 0 && strings.ContainsRune(" 0123456789_-./()+", r) {
			continue
		}
		return false
	}
	switch strings.ToLower(text) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return text[len(text)-1] != ' '
}
