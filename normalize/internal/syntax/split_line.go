package syntax

import (
	"errors"
	"slices"
	"strings"
)

// yamlKeys are the names that a YAML text with servers has at the start of a
// line.
var yamlKeys = []string{
	"mcpServers", "mcp_servers", "extensions", "servers", "registry", "context_servers", "mcp",
	"command", "cmd", "url", "uri", "image", "startCommand",
}

// yamlMarks finds in s the last line that gives one of yamlKeys a value, and
// the last one that starts an object as JSON does: the offsets at which they
// start, or -1.
func yamlMarks(s string) (key, brace int) {
	key, brace = -1, -1
	at := 0
	for line := range strings.Lines(s) {
		body := strings.TrimLeft(line, " \t-")
		if strings.HasPrefix(body, "{") {
			brace = at
		} else if name, _, ok := strings.Cut(body, ":"); ok && isYAMLKey(strings.Trim(name, "\"' ")) {
			key = at
		}
		at += len(line)
	}
	return key, brace
}

func isYAMLKey(name string) bool { return slices.Contains(yamlKeys, name) }

// yamlLike tells whether a text has a line that gives one of yamlKeys a value,
// and none that starts an object.
func yamlLike(s string) bool {
	key, brace := yamlMarks(s)
	return key >= 0 && brace < 0
}

// yamlAhead tells the same for what follows the present line of the chunk.
func (s *splitter) yamlAhead(start int) bool {
	if !s.marked {
		s.yamlKey, s.brace = yamlMarks(s.c.text)
		s.marked = true
	}
	return s.yamlKey >= start && s.brace < start
}

// yamlStart tells whether a line may start a YAML document. Words and a colon
// are the end of a sentence, unless lines that belong to them follow.
func yamlStart(s string) bool {
	line := strings.TrimRight(s[:lineLen(s)], " \t\r")
	if line == "---" || strings.HasPrefix(line, "%YAML") {
		return true
	}
	name, after, ok := strings.Cut(strings.TrimPrefix(line, "- "), ":")
	if !ok || after != "" && after[0] != ' ' || strings.TrimSpace(name) == "" || strings.ContainsAny(name, "{}[]<>!*`") {
		return false
	}
	if !strings.Contains(name, " ") {
		return true
	}
	next := strings.TrimLeft(s[lineLen(s):], "\r\n")
	return after == "" && next != "" && (next[0] == ' ' || next[0] == '\t')
}

func (s *splitter) yaml() bool {
	start := s.pos - indentation(s.c.text, s.pos)
	src, mended := s.c.text[start:], ""
	if s.failures >= maxFailures || !yamlStart(s.c.text[s.pos:]) || !s.yamlAhead(start) {
		return false
	}
	docs, fixed, err := YAML(src)
	if err != nil {
		if plain, changed := PlainQuotes(src); changed {
			if docs2, _, err2 := YAML(plain); err2 == nil {
				docs, fixed, err, mended = docs2, SmartQuotes, nil, plain
			}
		}
	}
	end := len(s.c.text)
	if err != nil {
		if cut := beforeProse(src, err); cut > 0 && !isLimit(err) {
			if docs2, fixed2, err2 := YAML(src[:cut]); err2 == nil {
				docs, fixed, err, end = docs2, fixed2, nil, start+cut
			}
		}
	}
	if err != nil {
		s.failures++
		line := s.c.text[s.pos : s.pos+lineLen(s.c.text[s.pos:])]
		if isLimit(err) || yamlLike(line) && !strings.Contains(line, "{") { // no sentence, no fragment
			s.fault(err, start)
			s.broken = true
		}
		return false
	}
	s.takeYAML(docs, fixed, mended, start, end)
	return true
}

// takeYAML adds the documents of a YAML text that spans start to end.
func (s *splitter) takeYAML(docs []*Node, fixed Repairs, mended string, start, end int) {
	s.pos, s.comments = end, false // those before belong to it
	s.out.Fixed |= fixed
	for _, n := range docs {
		if n.Kind == Object || n.Kind == Array {
			s.tree(Document{Form: YAMLForm, Root: n}, mended, start)
		}
	}
}

// flowYAML reads the rest of the chunk, which has signs of YAML where JSON has
// none. What YAML cannot read either is broken: taken for JSON, an alias would
// become text.
func (s *splitter) flowYAML(start int) bool {
	docs, fixed, err := YAML(s.c.text[start:])
	if err != nil {
		s.unreadObject(err, start)
		return false
	}
	s.takeYAML(docs, fixed, "", start, len(s.c.text))
	return true
}

// maybeYAML tells a fault of JSON that a text in YAML has.
func maybeYAML(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.yaml
}

func isLimit(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Limit
}

// beforeProse is the length of what comes before a line that is no YAML, at
// which err arose; 0 where the line was meant as YAML.
func beforeProse(src string, err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	at := min(e.Offset, len(src))
	cut := strings.LastIndexByte(src[:at], '\n') + 1
	if i := strings.LastIndex(src[:at], "\n\n"); i >= 0 && i+2 >= cut-lineLen(src[i+2:])-1 {
		cut = i + 2 // the fault is told at the end of a paragraph's first line
	}
	line := src[cut : cut+lineLen(src[cut:])]
	if !yamlLike(src[:cut]) || line == "" || strings.IndexByte(" \t-#", line[0]) >= 0 || yamlStart(src[cut:]) {
		return 0
	}
	return cut
}

// indentation is the number of blanks before pos on its line.
func indentation(text string, pos int) int {
	n := 0
	for n < pos && (text[pos-n-1] == ' ' || text[pos-n-1] == '\t') {
		n++
	}
	return n
}

// linkPrefixes start the addresses that clients install servers from.
var linkPrefixes = []string{
	"cursor://", "vscode:mcp/", "vscode-insiders:mcp/", "vsweb+mcp:/", "lmstudio://", "goose://",
	"windsurf://", "kiro://", "warp://", "raycast://", "https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect",
	"https://kiro.dev/launch/mcp", "https://lmstudio.ai/install-mcp", "https://cursor.com/",
	"https://www.cursor.com/",
}

// findLink returns the first link in a line, or 0, 0.
func findLink(line string) (start, end int) {
	start = -1
	for _, prefix := range linkPrefixes {
		for from := 0; ; {
			i := strings.Index(line[from:], prefix)
			if i < 0 {
				break
			}
			i += from
			from = i + len(prefix)
			link := line[i : i+linkLen(line[i:])]
			if isInstallLink(prefix, link) && (start < 0 || i < start) {
				start, end = i, i+len(link)
			}
		}
	}
	return max(start, 0), end
}

// isInstallLink tells links that carry a server from other pages.
func isInstallLink(prefix, link string) bool {
	if strings.Contains(prefix, "cursor.com") {
		return strings.Contains(link, "install-mcp?")
	}
	return strings.Contains(link, "?")
}

// linkLen is the length of the link at the start of s. One that carries JSON
// which is not encoded ends with it.
func linkLen(s string) int {
	n := strings.IndexAny(s, " \t\r\n\"'<>)]")
	if n < 0 {
		n = len(s)
	}
	if i := strings.Index(s, "?{"); i >= 0 && i < n {
		if _, size, _, err := JSON(s[i+1:]); err == nil {
			return i + 1 + size
		}
	}
	return n
}

// links takes the links of the present line.
func (s *splitter) links() bool {
	rest := s.c.text[s.pos:]
	line := rest[:lineLen(rest)]
	at, found := 0, false
	for {
		start, end := findLink(line[at:])
		if end == 0 {
			break
		}
		s.prose = s.prose || hasText(before(line[at:at+start]))
		s.add(Document{Form: LinkForm, Text: line[at+start : at+end]}, "", s.pos+at+start)
		found = true
		at += end
		if i := strings.Index(line[at:], "</a>"); i >= 0 { // the label of the link
			at += i + len("</a>")
		}
	}
	if found {
		s.commands++
		s.prose = s.prose || hasText(strings.TrimLeft(line[at:], `)]"'>`))
		s.pos += len(line)
	}
	return found
}

// linksOnly takes the links of the present line and skips everything else.
func (s *splitter) linksOnly() {
	if !s.links() {
		s.pos += lineLen(s.c.text[s.pos:])
	}
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
