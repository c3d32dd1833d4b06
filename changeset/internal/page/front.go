package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// byteOrderMark may begin a file and is no part of its text.
const byteOrderMark = "\ufeff"

// The keys of the front matter that have a meaning.
const (
	keyID        = "id"
	keyKind      = "kind"
	keyTitle     = "title"
	keyStatus    = "status"
	keyDependsOn = "depends_on"
	keyTags      = "tags"
)

// A source says where the parts of a file are.
type source struct {
	fenced     bool   // the first line is a fence and there is a second
	start, end int    // the YAML text between them, if fenced
	body       int    // where the body starts
	eol        string // the line end of the file
	fault      string // why the front matter is not to be read, if it is not
}

// split finds the front matter.
func split(raw []byte) source {
	s := source{eol: lineEnd(raw)}
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		s.body = len(byteOrderMark)
	}
	line, next := lineAt(raw, s.body)
	if !isFence(line) {
		return s
	}
	s.start = next
	for at := next; at < len(raw); {
		line, next = lineAt(raw, at)
		if isFence(line) {
			s.fenced, s.end, s.body = true, at, next
			if at-s.start > MaxFront {
				s.fault = fmt.Sprintf("the front matter has more than %d bytes", MaxFront)
			}
			return s
		}
		at = next
	}
	s.start = 0
	s.fault = `the first line is "---" and no other line closes the front matter`
	return s
}

// isFence reports whether a line delimits front matter.
func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t")) == 0
}

// lineAt returns the line that starts at pos, without its end, and where the
// next one starts. Lines end with LF, CRLF or CR.
func lineAt(raw []byte, pos int) (line []byte, next int) {
	i := bytes.IndexAny(raw[pos:], "\r\n")
	if i < 0 {
		return raw[pos:], len(raw)
	}
	next = pos + i + 1
	if raw[next-1] == '\r' && next < len(raw) && raw[next] == '\n' {
		next++
	}
	return raw[pos : pos+i], next
}

// lineEnd returns the line end that the first line of raw has.
func lineEnd(raw []byte) string {
	line, next := lineAt(raw, 0)
	if next == len(line) {
		return "\n"
	}
	return string(raw[len(line):next])
}

// parseFront reads the text between the fences. The mapping is nil if there is
// none, which is no error for an empty text.
func parseFront(text []byte) (*yamldoc.Node, error) {
	root, err := yamldoc.Parse(text, nil)
	if faults := yamldoc.Faults(err); len(faults) == 1 && faults[0].Code == yamldoc.Empty {
		return nil, nil
	}
	if root != nil && root.Kind == yamldoc.ScalarNode && root.Tag == "!!null" {
		return nil, err
	}
	if root != nil && root.Kind != yamldoc.MappingNode {
		return nil, &yamldoc.Error{Line: root.Line, Column: root.Column, Msg: `not a mapping; write lines of the form "key: value"`}
	}
	return root, err
}

// readFront sets the fields that the front matter has.
func (p *Page) readFront(text []byte) {
	root, err := parseFront(text)
	for _, f := range faultsOf(err) {
		p.addProblem(CodeFront, f.Line+1, "front matter: "+f.Msg)
	}
	if root == nil {
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i].Value, root.Content[i+1]
		if !seen[key] { // a repeated key is a fault already
			seen[key] = true
			p.readField(key, value)
		}
	}
}

// Fronted reports whether a text that is to be a body begins with front matter:
// with a mapping between two fences, or with lines that set a field where that
// is no YAML. Two rules around a paragraph are none.
func Fronted(body []byte) bool {
	src := split(body)
	if !src.fenced {
		return false
	}
	front := body[src.start:src.end]
	if root, _ := parseFront(front); root != nil {
		return true
	}
	for at := 0; at < len(front); {
		line, next := lineAt(front, at)
		if key, _, ok := bytes.Cut(line, []byte(":")); ok && isField(string(bytes.TrimSpace(key))) {
			return true
		}
		at = next
	}
	return false
}

// isField reports whether a key of front matter has a meaning.
func isField(key string) bool {
	return slices.Contains([]string{keyID, keyKind, keyTitle, keyStatus, keyDependsOn, keyTags}, key)
}

// faultsOf gives the faults of any error of parseFront.
func faultsOf(err error) []*yamldoc.Error {
	if err == nil {
		return nil
	}
	if faults := yamldoc.Faults(err); len(faults) > 0 {
		return faults
	}
	return []*yamldoc.Error{{Line: 1, Msg: err.Error()}}
}

// readField sets the field of one key.
func (p *Page) readField(key string, value *yamldoc.Node) {
	switch key {
	case keyID:
		id := p.text(key, value)
		if id == "" {
			return
		}
		if why := CheckID(id); why != "" {
			p.addProblem(CodeField, value.Line+1, why+"; the path is used in its place")
			return
		}
		p.ID = id
	case keyKind:
		if kind := p.text(key, value); kind != "" {
			p.Kind = kind
		}
	case keyTitle:
		p.Title = p.text(key, value)
	case keyStatus:
		p.Status = p.text(key, value)
	case keyDependsOn:
		p.DependsOn = p.list(key, value)
	case keyTags:
		p.Tags = p.list(key, value)
	}
}

// text reads a value that is one line of text. A number or a date is taken as
// it is written, since who writes "title: 404" means the text.
func (p *Page) text(key string, value *yamldoc.Node) string {
	if value.Kind != yamldoc.ScalarNode {
		p.addProblem(CodeField, value.Line+1, key+" is not a text; it is left out")
		return ""
	}
	if value.Tag == "!!null" {
		return ""
	}
	if value.Tag != "!!str" {
		p.addProblem(CodeField, value.Line+1, key+" is not a text; put it in quotes")
	}
	return oneLine(value.Value)
}

// list reads a value that is a list of texts. One text is a list of one.
func (p *Page) list(key string, value *yamldoc.Node) []string {
	items := value.Content
	if value.Kind == yamldoc.ScalarNode {
		if value.Tag == "!!null" {
			return nil
		}
		p.addProblem(CodeField, value.Line+1, key+" is not a list; it is read as a list of one")
		items = []*yamldoc.Node{value}
	} else if value.Kind != yamldoc.SequenceNode {
		p.addProblem(CodeField, value.Line+1, key+" is not a list; it is left out")
		return nil
	}
	var list []string
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		if text := p.item(key, item, value.Kind); text != "" && !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list
}

// item reads one item of a list.
func (p *Page) item(key string, item *yamldoc.Node, in yamldoc.Kind) string {
	if in == yamldoc.ScalarNode { // the fault has been told
		return oneLine(item.Value)
	}
	return p.text("an item of "+key, item)
}

// oneLine trims a text and turns line breaks and control characters into
// spaces.
func oneLine(s string) string {
	if strings.IndexFunc(s, isBreak) >= 0 {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return isBreak(r) || r == ' ' }), " ")
	}
	return strings.TrimSpace(s)
}

// isBreak reports whether a character cannot stand in a line of text.
func isBreak(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// checkLine says why a text is not one line of plain text, or "".
func checkLine(s string) string {
	if !utf8.ValidString(s) {
		return "the text is not UTF-8"
	}
	if strings.IndexFunc(s, func(r rune) bool { return isBreak(r) || unicode.Is(unicode.Cf, r) && !isJoiner(r) }) >= 0 {
		return "the text has a control, format or line break character"
	}
	if StrayJoiner(s) {
		return "the text has a joiner that is not between visible characters"
	}
	return ""
}

// isJoiner reports whether r is the zero width joiner or non-joiner, which emoji,
// Persian and the languages of India are written with.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// StrayJoiner reports whether a text has a zero width joiner or non-joiner that is
// not between two visible characters, where it does nothing but hide.
func StrayJoiner(s string) bool {
	before := false // a visible character, and marks on it
	wanted := false // the joiner before is not followed by anything yet
	for _, r := range s {
		switch {
		case isJoiner(r):
			if !before {
				return true
			}
			before, wanted = false, true
		case unicode.Is(unicode.M, r) && !wanted: // also the selector of an emoji
		default:
			before = unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
			if wanted && !before {
				return true
			}
			wanted = false
		}
	}
	return wanted
}

// fieldTexts returns the fields that are one text, by key.
func (f *Fields) texts() []textField {
	return []textField{{keyID, f.ID}, {keyKind, f.Kind}, {keyTitle, f.Title}, {keyStatus, f.Status}}
}

// lists returns the fields that are lists, by key.
func (f *Fields) lists() []listField {
	return []listField{{keyDependsOn, f.DependsOn}, {keyTags, f.Tags}}
}

// A textField is a field and its key.
type textField struct {
	key   string
	value *string
}

// A listField is a field and its key.
type listField struct {
	key   string
	value *[]string
}

// get returns the value that a page has for a key of one text.
func (p *Page) get(key string) string {
	switch key {
	case keyID:
		return p.ID
	case keyKind:
		return p.Kind
	case keyTitle:
		return p.Title
	}
	return p.Status
}

// getList returns the value that a page has for a key of a list.
func (p *Page) getList(key string) []string {
	if key == keyTags {
		return p.Tags
	}
	return p.DependsOn
}

// check says why fields cannot be those of a page, or returns "" twice.
func (f *Fields) check() (key, why string) {
	for _, t := range f.texts() {
		if t.value == nil {
			continue
		}
		if why := checkField(t.key, *t.value); why != "" {
			return t.key, why
		}
	}
	for _, l := range f.lists() {
		if l.value == nil {
			continue
		}
		for i, item := range *l.value {
			if why := checkField("", item); why != "" {
				return l.key, why
			}
			if slices.Contains((*l.value)[:i], item) {
				return l.key, "an item is there twice"
			}
		}
	}
	return "", ""
}

// checkField says why a text cannot be the value of a field, or "".
func checkField(key, value string) string {
	switch {
	case key == keyID:
		return CheckID(value)
	case value == "" && key != keyStatus:
		return "the text is empty"
	case strings.TrimSpace(value) != value:
		return "the text has a space at its ends"
	case len(value) > MaxID:
		return "the text has more than 1024 bytes"
	}
	return checkLine(value)
}
