package page

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// Fields are the parts of a page to set; what is nil stays as it is. Texts are
// one line of at most MaxID bytes without format characters, but for joiners
// between visible ones, and only Status may be empty; an id is what [CheckID]
// accepts. Lists hold such texts, none twice, and may be empty.
type Fields struct {
	ID, Kind, Title, Status *string
	DependsOn, Tags         *[]string
	// Body replaces what follows the front matter, byte for byte.
	Body *[]byte
}

// An Error says why a page was not edited. The code is CodeField, CodeUTF8 or
// CodeEdit.
type Error struct {
	// Code says why.
	Code string
	// Path is the file.
	Path string
	// Field is the key of the field at fault, if there is one.
	Field string
	// Message says what is wrong and what to do.
	Message string
}

// Error returns path, field and message.
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%.200q: %s", e.Path, e.Message)
	}
	return fmt.Sprintf("%.200q: %s: %s", e.Path, e.Field, e.Message)
}

// ErrorCode returns the code.
func (e *Error) ErrorCode() string { return e.Code }

// Edit returns the file raw with fields set. A field that has its value already
// costs no byte; one that the front matter lacks is added at its end, and a file
// without front matter gets one. Values are written on one line, except that a
// list with an item on each line stays one. The result shares no memory with
// raw. It is an [*Error] to set a field of front matter that cannot be read or
// cannot be changed alone.
func Edit(path string, raw []byte, fields Fields) ([]byte, error) {
	if key, why := fields.check(); why != "" {
		return nil, &Error{Code: CodeField, Path: path, Field: key, Message: why}
	}
	e := editor{path: path, raw: raw, src: split(raw), old: Parse(path, raw), fields: fields}
	return e.run(false)
}

// New returns a file with the fields, each in its front matter, and the body.
func New(path string, fields Fields) ([]byte, error) {
	if key, why := fields.check(); why != "" {
		return nil, &Error{Code: CodeField, Path: path, Field: key, Message: why}
	}
	e := editor{path: path, src: source{eol: "\n"}, old: Parse(path, nil), fields: fields}
	return e.run(true)
}

// An editor makes one new file from an old one.
type editor struct {
	path   string
	raw    []byte
	src    source
	old    Page
	root   *yamldoc.Node // the old front matter, nil if there is none
	fields Fields
}

// A setting is a key and the value to write, of which one is set.
type setting struct {
	key  string
	text string
	list *[]string
}

// run makes the file. It writes fields that have their values already if all
// is set.
func (e *editor) run(all bool) ([]byte, error) {
	front := e.raw[e.src.start:e.src.end]
	if e.src.fenced && e.src.fault == "" {
		e.root, _ = parseFront(front) // its faults are problems of e.old
	}
	settings := e.settings(all)
	if len(settings) > 0 {
		if err := e.checkOld(); err != nil {
			return nil, err
		}
		text, err := e.setAll(front, settings)
		if err != nil {
			return nil, err
		}
		front = text
	}
	out := e.assemble(front, e.src.fenced || len(settings) > 0)
	if why := e.verify(out); why != "" && !e.src.fenced && len(settings) == 0 {
		// The new body begins with what would be read as front matter.
		out = e.assemble(nil, true)
	}
	if why := e.verify(out); why != "" {
		return nil, e.refuse(why + "; edit the file by hand")
	}
	return out, nil
}

// refuse makes an error with CodeEdit.
func (e *editor) refuse(message string) error {
	return &Error{Code: CodeEdit, Path: e.path, Message: message}
}

// checkOld refuses a file whose front matter cannot be told from the rest.
func (e *editor) checkOld() error {
	for _, p := range e.old.Problems {
		switch {
		case p.Code == CodeFront:
			return e.refuse(fmt.Sprintf("line %d: %s; mend the front matter first", p.Line, p.Message))
		case p.Code == CodeUTF8 && e.fields.Body == nil:
			return &Error{Code: CodeUTF8, Path: e.path, Message: "the file is not UTF-8; convert it first"}
		}
	}
	return nil
}

// settings lists the fields to write, in the order of a new file.
func (e *editor) settings(all bool) []setting {
	var list []setting
	for _, t := range e.fields.texts() {
		if t.value == nil {
			continue
		}
		// A title taken from a body that is to be replaced may not be in the new one.
		lost := t.key == keyTitle && (e.fields.Body != nil || e.fields.ID != nil) && e.entry(keyTitle) == nil
		if *t.value != e.old.get(t.key) || lost || all && *t.value != "" {
			list = append(list, setting{key: t.key, text: *t.value})
		}
	}
	for _, l := range e.fields.lists() {
		if l.value != nil && (!slices.Equal(*l.value, e.old.getList(l.key)) || all && len(*l.value) > 0) {
			list = append(list, setting{key: l.key, list: l.value})
		}
	}
	return list
}

// entry returns the value of a key in the old front matter, or nil.
func (e *editor) entry(key string) *yamldoc.Node {
	return valueOf(e.root, key)
}

// valueOf returns the value of a key of front matter, or nil.
func valueOf(root *yamldoc.Node, key string) *yamldoc.Node {
	if root == nil {
		return nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			return root.Content[i+1]
		}
	}
	return nil
}

// setAll returns the front matter with the settings.
func (e *editor) setAll(front []byte, settings []setting) ([]byte, error) {
	front, err := e.asLines(front)
	if err != nil {
		return nil, err
	}
	for _, set := range settings {
		// Each change moves what follows, so positions are read anew.
		root, err := parseFront(front)
		if err != nil {
			return nil, e.refuse("the front matter cannot be changed in place; edit the file by hand")
		}
		m := mapping{text: front, root: root, eol: e.src.eol}
		front = m.set(set)
	}
	if !hasItems(front, settings) {
		return nil, e.refuse("a list cannot be changed in place; edit the file by hand")
	}
	return front, nil
}

// hasItems reports whether each list of the settings is there as a list of as
// many items: those that say nothing are not read, and would not be missed.
func hasItems(front []byte, settings []setting) bool {
	root, err := parseFront(front)
	if err != nil {
		return false
	}
	for _, set := range settings {
		value := valueOf(root, set.key)
		if set.list != nil && (value == nil || value.Kind != yamldoc.SequenceNode || len(value.Content) != len(*set.list)) {
			return false
		}
	}
	return true
}

// asLines returns front matter in which each key begins a line: it rewrites
// "{id: a, title: b}", where nothing can be added at the end.
func (e *editor) asLines(front []byte) ([]byte, error) {
	if e.root == nil || bytes.IndexByte(front, '{') < 0 {
		return front, nil
	}
	lines := yamlLines(front)
	if !bytes.HasPrefix(bytes.TrimLeft(front[lines[e.root.Line-1]:], " "), []byte{'{'}) {
		return front, nil
	}
	block := *e.root
	block.Style = 0
	text, err := yamldoc.Marshal(&block)
	if err != nil {
		return nil, e.refuse("the front matter cannot be rewritten as lines; edit the file by hand")
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte(e.src.eol)), nil
}

// assemble puts the file together.
func (e *editor) assemble(front []byte, fenced bool) []byte {
	body := e.old.Body
	if e.fields.Body != nil {
		body = *e.fields.Body
	}
	if e.src.fault != "" && !e.src.fenced {
		fenced = false // an unclosed fence belongs to the body
	}
	var b bytes.Buffer
	switch {
	case e.src.fenced:
		b.Write(e.raw[:e.src.start])
		b.Write(front)
		b.Write(e.raw[e.src.end:e.src.body])
		if last := e.raw[e.src.body-1]; len(body) > 0 && last != '\n' && last != '\r' {
			b.WriteString(e.src.eol)
		}
	case fenced:
		b.Write(e.raw[:e.src.body])
		b.WriteString("---" + e.src.eol)
		b.Write(front)
		b.WriteString("---" + e.src.eol)
	default:
		b.Write(e.raw[:e.src.body])
	}
	b.Write(body)
	return b.Bytes()
}

// verify says in what the new file is not the old one with the fields, or "".
func (e *editor) verify(out []byte) string {
	p := Parse(e.path, out)
	body, derived := e.old.Body, e.entry(keyTitle) == nil && (e.fields.Body != nil || e.fields.ID != nil)
	if e.fields.Body != nil {
		body = *e.fields.Body
	}
	if !bytes.Equal(p.Body, body) {
		return "the body would not be read as it was written"
	}
	for _, t := range e.fields.texts() {
		want := e.old.get(t.key)
		if t.value != nil {
			want = *t.value
		} else if t.key == keyTitle && derived {
			continue
		}
		if p.get(t.key) != want {
			return t.key + " would not be read as it was written"
		}
	}
	for _, l := range e.fields.lists() {
		want := e.old.getList(l.key)
		if l.value != nil {
			want = *l.value
		}
		if !slices.Equal(p.getList(l.key), want) {
			return l.key + " would not be read as it was written"
		}
	}
	return e.verifyRest(out)
}

// verifyRest says whether the keys of the front matter that have no meaning
// here would change.
func (e *editor) verifyRest(out []byte) string {
	src := split(out)
	if !src.fenced || e.root == nil {
		return ""
	}
	root, err := parseFront(out[src.start:src.end])
	if err != nil && !slices.ContainsFunc(e.old.Problems, func(p Problem) bool { return p.Code == CodeFront }) {
		return "the front matter would not be readable"
	}
	// A splice in the wrong place would show here: as a key that is gone, new,
	// or has another value.
	if !slices.EqualFunc(unknown(e.root), unknown(root), sameNode) {
		return "another key would change"
	}
	return ""
}

// unknown returns keys and values without a meaning here, in order.
func unknown(root *yamldoc.Node) []*yamldoc.Node {
	var list []*yamldoc.Node
	if root == nil {
		return nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !isField(root.Content[i].Value) {
			list = append(list, root.Content[i], root.Content[i+1])
		}
	}
	return list
}

// sameNode reports whether two trees have the same content.
func sameNode(a, b *yamldoc.Node) bool {
	return a.Kind == b.Kind && a.Tag == b.Tag && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, sameNode)
}
