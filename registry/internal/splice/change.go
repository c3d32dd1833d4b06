package splice

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// change is what a member of a mapping becomes; nil if it goes.
type change struct {
	name string
	to   *yamldoc.Node
}

// change changes members of a mapping in block style.
func (d *Doc) change(v *value, changes []change) error {
	if v.kind != yamldoc.MappingNode || len(v.items) == 0 {
		return errors.New("an item has no fields")
	}
	indent := d.column(v.items[0].head)
	var added strings.Builder
	for _, c := range changes {
		m := v.member(c.name)
		switch {
		case m == nil && c.to == nil:
		case m == nil:
			lines, err := d.render(pair(c.name, c.to), indent)
			if err != nil {
				return err
			}
			added.WriteString(strings.Repeat(" ", indent) + lines)
		case c.to == nil:
			d.remove(m)
		default:
			if err := d.update(m, c.to); err != nil {
				return err
			}
		}
	}
	if added.Len() > 0 {
		d.addLines(v.items[len(v.items)-1].stop, added.String())
	}
	return nil
}

// update changes a member of a mapping in block style.
func (d *Doc) update(m *value, to *yamldoc.Node) error {
	switch {
	case m.equals(to):
	case m.flow:
		text, err := d.rewrite(m, to)
		d.edits = append(d.edits, edit{m.start, m.end, text})
		return err
	case m.kind != to.Kind || m.opaque:
		return d.replace(m, to)
	case m.kind == yamldoc.ScalarNode:
		return d.setScalar(m, to)
	case m.kind == yamldoc.MappingNode && len(m.items) > 0 && len(to.Content) > 0:
		return d.change(m, differences(m, to))
	case m.isPlainList() && isPlainList(to):
		return d.updateList(m, to)
	default:
		return d.replace(m, to)
	}
	return nil
}

// replace writes a member anew, and keeps the comments it had.
func (d *Doc) replace(m *value, to *yamldoc.Node) error {
	indent := d.column(m.head)
	lines, err := d.render(pair(m.name, to), indent)
	if err != nil {
		return err
	}
	lines += d.remarks(m.head, m.stop, indent)
	if !strings.HasSuffix(d.text[:m.stop], "\n") {
		lines = strings.TrimSuffix(lines, d.brk)
	}
	d.edits = append(d.edits, edit{m.head, m.stop, lines})
	return nil
}

// setScalar replaces a scalar where it stands, so that a comment behind it stays.
func (d *Doc) setScalar(m *value, to *yamldoc.Node) error {
	text, err := d.render(to, 0)
	if err != nil {
		return err
	}
	d.edits = append(d.edits, edit{m.start, m.end, strings.TrimSuffix(text, d.brk)})
	return nil
}

// remove takes the lines of a member or an item away, and keeps its comments.
func (d *Doc) remove(m *value) {
	start, stop := d.lineStart(m.head), m.stop
	if before := d.text[start:m.head]; strings.TrimSpace(before) != "" {
		// The first member of an item stands behind the dash.
		start += len(strings.TrimRight(before, " "))
		stop = len(strings.TrimRight(d.text[:stop], "\r\n"))
		remarks := strings.TrimSuffix(d.remarks(m.head, m.stop, d.column(m.head)), d.brk)
		if remarks != "" {
			remarks = d.brk + remarks
		}
		d.edits = append(d.edits, edit{start, stop, remarks})
		return
	}
	d.edits = append(d.edits, edit{start, stop, d.remarks(m.head, stop, d.column(m.head))})
}

// remarks gives the comments in a part of the text as lines.
func (d *Doc) remarks(start, stop, indent int) string {
	var b strings.Builder
	for line := range strings.Lines(d.text[start:stop]) {
		if at := commentAt(line); at >= 0 {
			b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(line[at:], "\r\n") + d.brk)
		}
	}
	return b.String()
}

// commentAt finds the comment on a line, -1 if there is none.
func commentAt(line string) int {
	var mark byte
	for i := 0; i < len(line); i++ {
		c, fresh := line[i], i == 0 || strings.IndexByte(" \t[{,:-", line[i-1]) >= 0
		switch {
		case mark == '"' && c == '\\':
			i++
		case mark != 0 && c == mark:
			mark = 0
		case mark != 0:
		case fresh && (c == '"' || c == '\''):
			mark = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
	}
	return -1
}

// updateList changes a list of scalars in block style. Items that stay keep their lines, in the order they have.
func (d *Doc) updateList(m *value, to *yamldoc.Node) error {
	old, want := 0, 0
	step := func(oldEnd, wantEnd int) error {
		err := d.updateItems(m, old, oldEnd, to.Content[want:wantEnd])
		old, want = oldEnd+1, wantEnd+1
		return err
	}
	for i := range m.items {
		for j := want; j < len(to.Content); j++ {
			if !m.items[i].equals(to.Content[j]) {
				continue
			}
			if err := step(i, j); err != nil {
				return err
			}
			break
		}
	}
	return step(len(m.items), len(to.Content))
}

// updateItems makes the items from one index to another into others.
func (d *Doc) updateItems(m *value, from, end int, want []*yamldoc.Node) error {
	at := d.lineStart(m.items[0].head)
	if from > 0 {
		at = m.items[from-1].stop
	}
	for i := from; i < end; i++ {
		item := &m.items[i]
		if len(want) == 0 {
			d.remove(item)
			continue
		}
		if err := d.setScalar(item, want[0]); err != nil {
			return err
		}
		at, want = item.stop, want[1:]
	}
	indent := d.column(m.items[0].head)
	for _, n := range want {
		text, err := d.render(n, 0)
		if err != nil {
			return err
		}
		d.addLines(at, strings.Repeat(" ", indent)+"- "+text)
	}
	return nil
}

// rewrite gives the text of a value in flow style when it has become another.
func (d *Doc) rewrite(v *value, to *yamldoc.Node) (string, error) {
	switch {
	case v.equals(to):
		return d.text[v.start:v.end], nil
	case v.kind == yamldoc.MappingNode && to.Kind == yamldoc.MappingNode:
		return d.rebuild(v, differences(v, to))
	case v.kind != yamldoc.ScalarNode && strings.Contains(d.text[v.start:v.end], "#"):
		return "", errFlow // it may hold comments
	}
	return flowText(to), nil
}

// rebuild gives the text of a mapping in flow style with changed members.
func (d *Doc) rebuild(v *value, changes []change) (string, error) {
	to := make(map[string]*change, len(changes))
	for i := range changes {
		to[changes[i].name] = &changes[i]
	}
	var parts, gaps []string
	last := v.start + 1
	for i := range v.items {
		m := &v.items[i]
		gap := d.text[last:m.head]
		last = m.end
		c, changed := to[m.name]
		if changed && c.to == nil {
			if strings.Contains(gap, "#") {
				return "", errFlow
			}
			continue
		}
		text := d.text[m.head:m.end]
		if changed {
			now, err := d.rewrite(m, c.to)
			if err != nil {
				return "", err
			}
			text = d.text[m.head:m.start] + now
		}
		parts, gaps = append(parts, text), append(gaps, strings.TrimLeft(gap, ","))
	}
	gap, colon := d.manner(v, gaps)
	for _, c := range changes {
		if c.to != nil && v.member(c.name) == nil {
			parts, gaps = append(parts, quoteText(c.name)+colon+flowText(c.to)), append(gaps, gap)
		}
	}
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i > 0:
			b.WriteString("," + gaps[i])
		case len(v.items) > 0:
			b.WriteString(strings.TrimLeft(d.text[v.start+1:v.items[0].head], ","))
		}
		b.WriteString(part)
	}
	return "{" + b.String() + d.text[last:v.end], nil
}

// manner gives how members of a mapping in flow style are set apart.
func (d *Doc) manner(v *value, gaps []string) (gap, colon string) {
	gap, colon = " ", ": "
	if d.inBraces() && len(v.items) > 0 && !strings.Contains(d.text[v.items[0].head:v.items[0].start], " ") {
		gap, colon = "", ":"
	}
	if n := len(gaps); n > 1 {
		gap = gaps[n-1]
	}
	return gap, colon
}

// differences gives the changes that make a mapping equal to another.
func differences(v *value, to *yamldoc.Node) []change {
	var out []change
	kept := make(map[string]bool)
	for i := 0; i+1 < len(to.Content); i += 2 {
		kept[to.Content[i].Value] = true
		out = append(out, change{to.Content[i].Value, to.Content[i+1]})
	}
	for _, m := range v.items {
		if !kept[m.name] {
			out = append(out, change{m.name, nil})
		}
	}
	return out
}

func (v *value) member(name string) *value {
	for i := range v.items {
		if v.items[i].name == name {
			return &v.items[i]
		}
	}
	return nil
}

// equals reports whether a value in the text is the same as another. The order of members does not count.
func (v *value) equals(n *yamldoc.Node) bool {
	if v.kind != n.Kind {
		return false
	}
	switch v.kind {
	case yamldoc.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if m := v.member(n.Content[i].Value); m == nil || !m.equals(n.Content[i+1]) {
				return false
			}
		}
		return len(v.items) == len(n.Content)/2
	case yamldoc.SequenceNode:
		for i := range v.items {
			if i >= len(n.Content) || !v.items[i].equals(n.Content[i]) {
				return false
			}
		}
		return len(v.items) == len(n.Content)
	}
	return v.text == n.Value
}

func (v *value) isPlainList() bool {
	for _, item := range v.items {
		if item.kind != yamldoc.ScalarNode || item.opaque {
			return false
		}
	}
	return v.kind == yamldoc.SequenceNode && len(v.items) > 0
}

func isPlainList(n *yamldoc.Node) bool {
	for _, item := range n.Content {
		if item.Kind != yamldoc.ScalarNode {
			return false
		}
	}
	return n.Kind == yamldoc.SequenceNode && len(n.Content) > 0
}

func pair(name string, n *yamldoc.Node) *yamldoc.Node {
	key := &yamldoc.Node{Kind: yamldoc.ScalarNode, Tag: "!!str", Value: name}
	return &yamldoc.Node{Kind: yamldoc.MappingNode, Content: []*yamldoc.Node{key, n}}
}

// render writes a node in block style; all lines but the first are indented.
func (d *Doc) render(n *yamldoc.Node, indent int) (string, error) {
	plain(n)
	data, err := yamldoc.Marshal(n)
	if err != nil {
		return "", err
	}
	text := strings.TrimSuffix(string(data), "\n")
	text = strings.ReplaceAll(text, "\n", d.brk+strings.Repeat(" ", indent))
	return text + d.brk, nil
}

// plain takes the style away that a node has from JSON.
func plain(n *yamldoc.Node) {
	n.Style = 0
	for _, below := range n.Content {
		plain(below)
	}
}

// flowText writes a node as JSON, which is YAML too.
func flowText(n *yamldoc.Node) string {
	var parts []string
	switch n.Kind {
	case yamldoc.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, quoteText(n.Content[i].Value)+":"+flowText(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case yamldoc.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, flowText(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if n.Tag == "!!str" {
		return quoteText(n.Value)
	}
	return n.Value
}

func quoteText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a text cannot fail to encode
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
