package page

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// findLinks collects the targets of [[...]] in one paragraph.
func (s *scanner) findLinks(text []byte) {
	if !bytes.Contains(text, []byte("[[")) {
		return
	}
	alone := make(map[int]bool) // lengths of backtick runs that nothing closes any more
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			i = skipCode(text, i, alone)
		case bytes.HasPrefix(text[i:], []byte("<!--")):
			i = skipComment(text, i)
		case bytes.HasPrefix(text[i:], []byte("[[")):
			i = s.link(text, i)
		default:
			i++
		}
	}
}

// link reads the link at i and returns where to go on.
func (s *scanner) link(text []byte, i int) int {
	from := i + 2
	n := bytes.IndexAny(text[from:min(len(text), from+2*MaxID)], "[]\n")
	if n < 0 || !bytes.HasPrefix(text[from+n:], []byte("]]")) {
		return i + 1
	}
	end := from + n + 2
	if end < len(text) && (text[end] == '(' || text[end] == '[' || text[end] == ':') {
		return end // a link of plain Markdown whose text is in brackets
	}
	target, _, _ := strings.Cut(string(text[from:end-2]), "|")
	target, section, _ := strings.Cut(target, "#")
	target, section = strings.TrimSpace(target), strings.TrimSpace(section)
	if target != "" && len(target) <= MaxID && utf8.ValidString(target) {
		s.addLink(target, section)
	}
	return end
}

// addLink notes a link, unless the page has it already.
func (s *scanner) addLink(target, section string) {
	if !s.seen[target] {
		s.seen[target] = true
		s.links = append(s.links, target)
	}
	both := target + "#" + section // no target has a "#"
	if section != "" && utf8.ValidString(section) && !s.seen[both] {
		s.seen[both] = true
		s.sectionLinks = append(s.sectionLinks, SectionLink{target, section})
	}
}

// skipCode returns the end of the code span at i, or of its backticks if
// nothing closes it. It notes in alone that a length was looked for in vain, so
// that this happens once.
func skipCode(text []byte, i int, alone map[int]bool) int {
	n := run(text[i:], '`')
	i += n
	if alone[n] {
		return i
	}
	for j := i; j < len(text); {
		m := run(text[j:], '`')
		if m == n {
			return j + m
		}
		j += max(m, 1)
	}
	alone[n] = true
	return i
}

// skipComment returns the end of the HTML comment at i.
func skipComment(text []byte, i int) int {
	if n := bytes.Index(text[i:], []byte("-->")); n >= 0 {
		return i + n + 3
	}
	return len(text)
}
