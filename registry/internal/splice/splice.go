// Package splice changes fields of the items of a list in a YAML or JSON text and leaves every other byte as
// it is, comments and layout included.
//
//	doc, err := splice.Open(text, "repos", false)
//	if err != nil {
//		return err
//	}
//	err = doc.Set(0, "owner", []byte(`"payments"`))
//	text = doc.Bytes()
//
// Values are given as JSON of texts, booleans, lists and mappings. What is written in block style stays in
// block style, where one value is one line; what is in braces or brackets stays in them. A comment behind a
// value that goes away becomes a line of its own. A form that cannot be changed without a loss is an error.
//
// The caller must have read the text before and found it good, and should read the result again: the package
// finds its way by positions, not by a parser of its own. A Doc must not be used at the same time.
package splice

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// Doc is a text with a list, and the changes made to it so far.
type Doc struct {
	text  string
	lines []int // where each line starts
	brk   string
	list  value
	edits []edit
}

// edit replaces a part of the text. Parts do not overlap.
type edit struct {
	start, end int
	text       string
}

// value is a value in the text.
type value struct {
	kind   yamldoc.Kind
	flow   bool // in braces or brackets, or a scalar in them
	opaque bool // a scalar that is replaced with its whole member only
	name   string
	text   string // of a scalar
	head   int    // where the member or the item starts: its key, its dash, or in a flow list the value
	start  int
	end    int
	stop   int // in block style, where the last line of the member or item ends, with its line break
	items  []value
}

// Open finds the list that is the member of that name at the top of a text.
func Open(text []byte, name string, isJSON bool) (*Doc, error) {
	d := &Doc{text: string(text), brk: "\n"}
	if strings.Contains(d.text, "\r\n") {
		d.brk = "\r\n"
	}
	if strings.ContainsAny(strings.ReplaceAll(d.text, "\r\n", ""), "\r\u0085\u2028\u2029") {
		return nil, errors.New("the text has line breaks of an unusual kind")
	}
	d.lines = []int{0}
	for i := range len(d.text) {
		if d.text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	root, err := d.root(text, isJSON)
	if err != nil {
		return nil, err
	}
	for _, m := range root.items {
		if m.name == name && m.kind == yamldoc.SequenceNode {
			d.list = m
			return d, nil
		}
	}
	return nil, fmt.Errorf("there is no list %s", name)
}

func (d *Doc) root(text []byte, isJSON bool) (value, error) {
	if isJSON {
		return d.flow(strings.IndexByte(d.text, '{'))
	}
	root, err := yamldoc.Parse(text, nil)
	if err != nil {
		return value{}, err
	}
	return d.value(root, len(d.lines)+1)
}

// Len gives the number of items.
func (d *Doc) Len() int { return len(d.list.items) }

// Member is a field and its new value as JSON, nil if the field is to go.
type Member struct {
	Name  string
	Value []byte
}

// Set changes fields of an item. It must not be called twice for an item.
func (d *Doc) Set(item int, members ...Member) error {
	changes := make([]change, len(members))
	for i, m := range members {
		changes[i].name = m.Name
		if m.Value == nil {
			continue
		}
		n, err := yamldoc.Parse(m.Value, nil)
		if err != nil {
			return err
		}
		changes[i].to = n
	}
	v := &d.list.items[item]
	if !v.flow {
		return d.change(v, changes)
	}
	text, err := d.rebuild(v, changes)
	d.edits = append(d.edits, edit{v.start, v.end, text})
	return err
}

// Insert adds items behind the item of that index, -1 for the beginning. It must not be called twice for an index.
func (d *Doc) Insert(after int, items ...[]byte) error {
	nodes := make([]*yamldoc.Node, len(items))
	for i, item := range items {
		n, err := yamldoc.Parse(item, nil)
		if err != nil {
			return err
		}
		nodes[i] = n
	}
	if len(d.list.items) == 0 || d.list.flow {
		return d.insertFlow(after, nodes)
	}
	indent := d.column(d.list.items[0].head)
	at := d.list.items[max(after, 0)].stop
	if after < 0 {
		at = d.lineStart(d.list.items[0].head)
	}
	var b strings.Builder
	for _, n := range nodes {
		lines, err := d.render(n, indent+2)
		if err != nil {
			return err
		}
		b.WriteString(strings.Repeat(" ", indent) + "- " + lines)
	}
	d.addLines(at, b.String())
	return nil
}

// insertFlow adds items to a list in brackets, which becomes a block if it is empty and not in braces itself.
func (d *Doc) insertFlow(after int, nodes []*yamldoc.Node) error {
	list := d.list
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = flowText(n)
	}
	switch n := len(list.items); {
	case n == 0 && !d.inBraces():
		var b strings.Builder
		for _, n := range nodes {
			lines, err := d.render(n, 4)
			if err != nil {
				return err
			}
			b.WriteString("  - " + lines)
		}
		d.edits = append(d.edits, edit{len(strings.TrimRight(d.text[:list.start], " ")), list.end, ""})
		next := len(d.text)
		if end := strings.IndexByte(d.text[list.end:], '\n'); end >= 0 {
			next = list.end + end + 1
		}
		d.addLines(next, b.String())
	case n == 0:
		d.edits = append(d.edits, edit{list.start, list.end, "[" + d.brk + "    " + strings.Join(texts, ","+d.brk+"    ") + d.brk + "  ]"})
	default:
		gap := d.text[list.start+1 : list.items[0].head]
		if after < 0 {
			d.edits = append(d.edits, edit{list.items[0].head, list.items[0].head, strings.Join(texts, ","+gap) + "," + gap})
			return nil
		}
		at := list.items[after].end
		d.edits = append(d.edits, edit{at, at, "," + gap + strings.Join(texts, ","+gap)})
	}
	return nil
}

// inBraces reports whether the whole text is one mapping in braces.
func (d *Doc) inBraces() bool { return strings.HasPrefix(strings.TrimSpace(d.text), "{") }

// Bytes gives the text with all changes.
func (d *Doc) Bytes() []byte {
	slices.SortStableFunc(d.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	var b bytes.Buffer
	last := 0
	for _, e := range d.edits {
		b.WriteString(d.text[last:e.start])
		b.WriteString(e.text)
		last = e.end
	}
	b.WriteString(d.text[last:])
	return b.Bytes()
}

// addLines adds lines at the start of a line, or at the end of a text whose last line does not end.
func (d *Doc) addLines(at int, lines string) {
	if at > 0 && d.text[at-1] != '\n' {
		lines = d.brk + strings.TrimSuffix(lines, d.brk)
	}
	d.edits = append(d.edits, edit{at, at, lines})
}
