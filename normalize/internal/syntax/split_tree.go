package syntax

import (
	"errors"
	"strings"
)

// startsJSON tells whether s starts like an object, a list or a comment before
// one.
func startsJSON(s string) bool {
	if c, _ := fullwidth(s); c == '{' || c == '[' {
		return true
	}
	return s[0] == '{' || s[0] == '[' || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*")
}

// startsFragment tells whether s starts with a quoted name and a colon, or
// with the brackets that ended what was not copied.
func startsFragment(s string) bool {
	if strings.IndexByte("}],", s[0]) >= 0 {
		return true
	}
	_, _, smart := smartQuote(s)
	if s[0] != '"' && s[0] != '\'' && !smart {
		return false
	}
	s = s[:min(len(s), maxStart)]
	line, _ := PlainQuotes(s[:lineLen(s)])
	p := jsonParser{src: line}
	return quiet(func() {
		p.quoted()
		p.space()
		if p.peek() != ':' && p.pos < len(p.src) {
			p.fail("no name", "")
		}
	})
}

// quiet runs f and reports whether it did without a fault.
func quiet(f func()) bool {
	var err error
	p := jsonParser{}
	func() {
		defer p.rescue(&err)
		f()
	}()
	return err == nil
}

// json reads a JSON value at start.
func (s *splitter) json(start int) bool {
	if s.failures >= maxFailures {
		return false
	}
	src, mended := s.c.text[start:], ""
	n, size, fixed, err := JSON(src)
	if err != nil {
		if plain, changed := PlainQuotes(src); changed {
			if n2, size2, fixed2, err2 := JSON(plain); err2 == nil {
				n, fixed, err = n2, fixed2|SmartQuotes, nil
				size = lenBefore(src, plain, size2)
				mended = plain
			}
		}
	}
	if err != nil && maybeYAML(err) && meantAsJSON(src) {
		return s.flowYAML(start)
	}
	if err != nil {
		s.failures++
		if meantAsJSON(src) {
			s.unreadObject(err, start)
		}
		return false
	}
	if n.Kind != Object && n.Kind != Array {
		return false
	}
	s.pos = start + size
	s.out.Fixed |= fixed | s.closers()
	s.tree(Document{Form: JSONForm, Root: n}, mended, start)
	return true
}

// unreadObject notes an object that cannot be read. Its parts are not tried,
// unless it stands in a sentence.
func (s *splitter) unreadObject(err error, start int) {
	s.fault(err, start)
	s.broken = s.broken || indentation(s.c.text, start) == 0 || start == s.pos
}

// meantAsJSON tells an object, or a list that starts like one of JSON, from a
// link of Markdown or a table of TOML.
func meantAsJSON(s string) bool {
	if c, _ := fullwidth(s); s[0] == '{' || c == '{' {
		return true
	}
	inner := strings.TrimLeft(s[1:], " \t\r\n")
	return s[0] == '[' && inner != "" && strings.IndexByte("{\"[", inner[0]) >= 0
}

// lenBefore converts a length in plain, which is src with some characters
// replaced by shorter ones, back to one in src.
func lenBefore(src, plain string, n int) int {
	runes := 0
	for range plain[:n] {
		runes++
	}
	for i := range src {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(src)
}

// closers skips what may follow a value by mistake: brackets too many, and the
// end of a statement.
func (s *splitter) closers() (fixed Repairs) {
	for s.pos < len(s.c.text) {
		switch s.c.text[s.pos] {
		case '}', ']':
			fixed |= Balance
		case ' ', '\t', '\r', '\n', ';', ',':
		case ')':
		default:
			return fixed
		}
		s.pos++
	}
	return fixed
}

func (s *splitter) tree(d Document, mended string, start int) {
	s.trees++
	s.add(d, mended, start)
}

// fragment reads members without the braces around them, up to the last
// bracket, quote or comma of the chunk that leaves something to read.
func (s *splitter) fragment() bool {
	lead := len(s.c.text[s.pos:]) - len(strings.TrimLeft(s.c.text[s.pos:], "}], \t\r\n"))
	start := s.pos + lead
	src, mended := s.c.text[start:], ""
	if src == "" || s.failures >= maxFailures {
		return false
	}
	if s.quotedJSON(src, start) {
		return true
	}
	n, fixed, err := Members(src)
	if err != nil {
		if plain, changed := PlainQuotes(src); changed {
			if n2, fixed2, err2 := Members(plain); err2 == nil {
				n, fixed, err, mended = n2, fixed2|SmartQuotes, nil, plain
			}
		}
	}
	end := len(s.c.text)
	if err != nil {
		if cut := strings.LastIndexAny(src, "}]\""); cut >= 0 && strings.Contains(src[cut:], "\n") {
			if n2, fixed2, err2 := Members(src[:cut+1]); err2 == nil {
				n, fixed, err, end = n2, fixed2, nil, start+cut+1
			}
		}
	}
	if err != nil && maybeYAML(err) {
		return s.flowYAML(start)
	}
	if err != nil {
		s.fault(err, start)
		return false
	}
	if lead > 0 {
		fixed |= Balance
	}
	s.pos = end
	s.out.Fixed |= fixed
	s.tree(Document{Form: JSONForm, Root: n}, mended, start)
	return true
}

// quotedJSON reads JSON text that stands in a JSON string.
func (s *splitter) quotedJSON(src string, start int) bool {
	text, size, _, err := JSON(src)
	if err != nil || text.Kind != String || !startsJSON(text.Text+" ") {
		return false
	}
	n, _, fixed, err := JSON(text.Text)
	if err != nil || n.Kind != Object && n.Kind != Array {
		return false
	}
	s.pos = start + size
	s.out.Fixed |= fixed | Quoted
	s.tree(Document{Form: JSONForm, Root: n}, text.Text, start)
	return true
}

// jsonInLine looks for an object that starts within the present line, as after
// an assignment.
func (s *splitter) jsonInLine() bool {
	rest := s.c.text[s.pos:]
	line := rest[:lineLen(rest)]
	i := strings.IndexByte(line, '{')
	if i < 0 || s.failures >= maxFailures {
		return false
	}
	if name := strings.TrimSpace(line[:i]); strings.HasSuffix(name, ":") && !strings.ContainsAny(name, " \t") {
		return s.fragment() // name: {
	}
	faults, failures := len(s.out.Faults), s.failures
	if s.json(s.pos + i) {
		s.prose = true
		return true
	}
	if i+1 < len(line) && strings.TrimSpace(line[i+1:]) != "" {
		s.out.Faults, s.failures = s.out.Faults[:faults], failures+1 // braces in a sentence
	}
	return false
}

// tomlStart tells whether s starts with a table header or a key that is given
// a value.
func tomlStart(s string) bool {
	line := strings.TrimSpace(s[:lineLen(s)])
	if strings.HasPrefix(line, "[") {
		if !strings.Contains(line, "]") {
			return tomlCutHeader(line, s[lineLen(s):])
		}
		return tomlHeader(line) && tomlFollows(s[lineLen(s):], line)
	}
	if !strings.Contains(line, "=") {
		return false
	}
	p := tomlParser{jsonParser: jsonParser{src: line}}
	return quiet(func() {
		p.path()
		p.expect('=', "", "")
		p.blanks()
		if p.pos == len(line) || strings.IndexByte(`"'[{0123456789tf-+`, line[p.pos]) < 0 || !strings.Contains(line, " =") && line[p.pos] != '"' && line[p.pos] != '[' {
			p.fail("no value", "")
		}
	}) && !commandStart(s)
}

func tomlHeader(line string) bool {
	p := tomlParser{jsonParser: jsonParser{src: line}}
	return quiet(func() {
		p.pos = 1
		array := p.at('[')
		if array {
			p.pos++
		}
		p.path()
		p.expect(']', "", "")
		if array {
			p.expect(']', "", "")
		}
		p.endOfLine()
	})
}

// tomlCutHeader tells whether line is a table header without its closing
// bracket: with one it would be a header, and a key with a value comes next.
// Taken for prose, it would leave its values to no table or a wrong one.
func tomlCutHeader(line, rest string) bool {
	closing := "]"
	if strings.HasPrefix(line, "[[") {
		closing = "]]"
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && rest[0] != '[' && tomlHeader(line+closing) && tomlStart(rest)
}

// tomlFollows tells whether what comes after the header line fits: a key, or
// another header, or for a bare name the end.
func tomlFollows(rest, header string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	for strings.HasPrefix(rest, "#") {
		rest = strings.TrimLeft(rest[lineLen(rest):], " \t\r\n")
	}
	if rest == "" {
		return header[1] != '"' && header[1] != '\''
	}
	return rest[0] == '[' || strings.Contains(rest[:lineLen(rest)], "=")
}

func (s *splitter) toml() bool {
	if s.failures >= maxFailures || s.broken {
		return false
	}
	start := s.pos
	src, mended := s.c.text[start:], ""
	n, fixed, err := TOML(src)
	if err != nil {
		if plain, changed := PlainQuotes(src); changed {
			if n2, fixed2, err2 := TOML(plain); err2 == nil {
				n, fixed, err, mended = n2, fixed2|SmartQuotes, nil, plain
			}
		}
	}
	end := len(s.c.text)
	var e *Error
	if err != nil && errors.As(err, &e) {
		// prose may follow: take what comes before the line of the fault
		cut := strings.LastIndexByte(src[:min(e.Offset, len(src))], '\n') + 1
		if n2, fixed2, err2 := TOML(src[:cut]); err2 == nil && cut > 0 && !tomlish(src[cut:]) {
			n, fixed, err, end = n2, fixed2, nil, start+cut
		}
	}
	if err != nil && s.assigned() {
		return true
	}
	if err != nil {
		s.fault(err, start)
		s.broken = true
		return false
	}
	s.pos, s.comments = end, false // those before belong to it
	s.out.Fixed |= fixed
	s.tree(Document{Form: TOMLForm, Root: n}, mended, start)
	return true
}

// assigned reads an object that a line of JavaScript or Python assigns to a
// name. Such a line looks like one of TOML until the first colon.
func (s *splitter) assigned() bool {
	rest := s.c.text[s.pos:]
	i := strings.IndexByte(rest[:lineLen(rest)], '{')
	if i < 0 || !strings.HasSuffix(strings.TrimRight(rest[:i], " \t"), "=") {
		return false
	}
	faults, failures, broken := len(s.out.Faults), s.failures, s.broken
	if s.json(s.pos + i) {
		s.prose = true
		return true
	}
	s.out.Faults, s.failures, s.broken = s.out.Faults[:faults], failures, broken // it was meant as TOML
	return false
}

// tomlish tells whether a line was meant as TOML.
func tomlish(s string) bool {
	line := strings.TrimSpace(s[:lineLen(s)])
	return strings.Contains(line, " = ") || strings.HasPrefix(line, "[")
}
