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

// linksOnly takes the links of the present line and skips everything else.
func (s *splitter) linksOnly() {
	if !s.links() {
		s.pos += lineLen(s.c.text[s.pos:])
	}
}
