package page

import (
	"bytes"
	"strings"
)

// inHTML reads a line of an HTML block.
func (s *scanner) inHTML(line []byte, start int) {
	if s.html == blankLine {
		if len(bytes.TrimSpace(line)) == 0 {
			s.endParagraph(start)
			s.html, s.prevBlank = "", true
			return
		}
		// Some readers see Markdown in such a block, and not all that looks
		// like a tag begins one.
		text := bytes.TrimLeft(line, " ")
		if level, _ := atx(text); level > 0 || underline(text) > 0 || isFenceStart(text) {
			s.ambiguous = true
		}
		return
	}
	if containsFold(line, s.html) {
		s.html, s.prevBlank = "", true
	}
}

// openHTML begins an HTML block, unless it ends on its line.
func (s *scanner) openHTML(text []byte, start int) bool {
	if text[0] != '<' {
		return false
	}
	for _, b := range htmlBlocks() {
		if !hasTag(text, b.start) {
			continue
		}
		s.endParagraph(start)
		if !containsFold(text[2:], b.end) {
			s.html = b.end
		}
		return true
	}
	name := tagName(text[1:])
	if name == "" || !isBlockTag(name) && (s.para >= 0 || !isLoneTag(text, name)) {
		return false // text with a tag in it
	}
	s.endParagraph(start)
	s.html, s.para = blankLine, start // its links count
	return true
}

// hasTag reports whether text begins with start, and a name in it ends there.
func hasTag(text []byte, start string) bool {
	n := len(start)
	if len(text) < n || !strings.EqualFold(string(text[:n]), start) {
		return false
	}
	return !isLetter(start[n-1]) || len(text) == n || !isLetter(text[n]) && text[n] != '-'
}

// tagName returns the name in a text that follows "<" and goes on like a tag,
// in lower case, and "" for any other text.
func tagName(text []byte) string {
	text = bytes.TrimPrefix(text, []byte{'/'})
	n := 0
	for n < len(text) && (isLetter(text[n]) || n > 0 && (text[n] == '-' || text[n] >= '0' && text[n] <= '9')) {
		n++
	}
	if n < len(text) && strings.IndexByte(" \t/>", text[n]) < 0 {
		return ""
	}
	return strings.ToLower(string(text[:n]))
}

// isBlockTag reports whether a tag ends a paragraph before it, as CommonMark
// lists them.
func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
		"footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
		"iframe", "legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup",
		"option", "p", "param", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
		"title", "tr", "track", "ul":
		return true
	}
	return false
}

// isLoneTag reports whether a line that begins with a tag of that name has
// nothing else. The names of blocks that a text ends do not count.
func isLoneTag(text []byte, name string) bool {
	switch name {
	case "pre", "script", "style", "textarea":
		return false
	}
	return bytes.HasSuffix(bytes.TrimRight(text, " \t"), []byte{'>'}) && bytes.Count(text, []byte{'<'}) == 1
}

// htmlBlocks lists the blocks that a text ends and an empty line does not.
func htmlBlocks() [7]struct{ start, end string } {
	return [...]struct{ start, end string }{
		{"<!--", "-->"},
		{"<![cdata[", "]]>"},
		{"<?", "?>"},
		{"<script", "</script>"},
		{"<style", "</style>"},
		{"<pre", "</pre>"},
		{"<textarea", "</textarea>"},
	}
}

// containsFold reports whether line has end, which is in lower case ASCII.
func containsFold(line []byte, end string) bool {
	return bytes.Contains(bytes.ToLower(line), []byte(end))
}
