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
	ticks := countTicks(text)
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			i = skipCode(text, i, ticks)
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
	target, _, _ = strings.Cut(target, "#")
	target = strings.TrimSpace(target)
	if target != "" && len(target) <= MaxID && utf8.ValidString(target) && !s.seen[target] {
		s.seen[target] = true
		s.links = append(s.links, target)
	}
	return end
}

// countTicks counts the runs of backticks in text by their length, so that a
// run without a partner is known without a search.
func countTicks(text []byte) map[int]int {
	counts := make(map[int]int)
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			n := run(text[i:], '`')
			counts[n]++
			i += n
		}
	}
	return counts
}

// skipCode returns the end of the code span at i, or of its backticks if
// nothing closes it. It takes the runs it passes out of counts.
func skipCode(text []byte, i int, counts map[int]int) int {
	n := run(text[i:], '`')
	counts[n]--
	i += n
	if counts[n] <= 0 {
		return i
	}
	for i < len(text) {
		if text[i] != '`' {
			i++
			continue
		}
		m := run(text[i:], '`')
		counts[m]--
		i += m
		if m == n {
			break
		}
	}
	return i
}

// skipComment returns the end of the HTML comment at i.
func skipComment(text []byte, i int) int {
	if n := bytes.Index(text[i:], []byte("-->")); n >= 0 {
		return i + n + 3
	}
	return len(text)
}
