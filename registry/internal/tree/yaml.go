package tree

import (
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// readYAML reads one strict document.
func readYAML(data []byte, h Handler) bool {
	opts := &yamldoc.Options{MaxBytes: int64(len(data)) + 1, MaxDepth: MaxDepth, MaxKeys: MaxKeys}
	root, err := yamldoc.Parse(data, opts)
	y := yamlReader{h: h, path: NewPath(h.Stream)}
	for _, f := range yamldoc.Faults(err) {
		y.repeats = y.repeats || f.Code == yamldoc.DuplicateKey
		field, item := y.fieldAt(root, f.Line, f.Column)
		h.Fault(Fault{Mark: lineMark(f.Line, f.Column), Field: field, Item: item, Code: f.Code, Msg: f.Msg})
	}
	if root == nil {
		return false
	}
	if root.Kind != yamldoc.MappingNode {
		y.fail(root, WrongType, "the document must be a mapping")
		return false
	}
	return y.root(root)
}

type yamlReader struct {
	h       Handler
	path    Path
	repeats bool   // the text has repeated keys
	nodes   int    // of the current item
	arena   []Node // memory for the items of lists and mappings, reused for each item
}

func (y *yamlReader) root(root *yamldoc.Node) bool {
	keys := keySet{on: y.repeats}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if !keys.add(key) {
			continue
		}
		y.path.Push(key.Value)
		ok := y.member(key, value)
		y.path.Pop()
		if !ok {
			return false
		}
	}
	return true
}

func (y *yamlReader) member(key, value *yamldoc.Node) bool {
	if !y.h.streams(key.Value) || value.Kind != yamldoc.SequenceNode {
		n, ok := y.item(value)
		n.Key, n.KeyMark = key.Value, mark(key)
		return ok && y.h.Member(&n)
	}
	if !y.h.Member(&Node{Kind: List, Key: key.Value, KeyMark: mark(key), Mark: mark(value)}) {
		return false
	}
	for i, item := range value.Content {
		y.path.PushItem(i)
		n, ok := y.item(item)
		y.path.Pop()
		if !ok || !y.h.Item(i, &n) {
			return false
		}
		value.Content[i] = nil // a large file is a large tree: let go of what was read
	}
	return true
}

func (y *yamlReader) item(from *yamldoc.Node) (Node, bool) {
	y.nodes, y.arena = 0, y.arena[:0]
	var n Node
	ok := y.convert(from, &n)
	return n, ok
}

// convert copies a value; the tree was bounded by yamldoc except for what is particular to this package.
func (y *yamlReader) convert(from *yamldoc.Node, n *Node) bool {
	n.Mark = mark(from)
	if y.nodes++; y.nodes > MaxNodes {
		return y.fail(from, yamldoc.TooManyNodes, "more than %d values below one entry", MaxNodes)
	}
	switch from.Kind {
	case yamldoc.MappingNode:
		n.Kind = Map
		return y.mapping(from, n)
	case yamldoc.SequenceNode:
		n.Kind = List
		return y.list(from, n)
	case yamldoc.AliasNode:
		return true // reported by yamldoc; the field is left out
	}
	if len(from.Value) > MaxText {
		return y.fail(from, TextTooLong, "a text of more than %d bytes", MaxText)
	}
	n.Text, n.Kind = from.Value, scalarKind(from.ShortTag())
	return true
}

func scalarKind(tag string) Kind {
	switch tag {
	case "!!null":
		return Null
	case "!!bool":
		return Bool
	case "!!int", "!!float":
		return Number
	case "!!timestamp":
		return Time
	}
	return String
}

func (y *yamlReader) list(from *yamldoc.Node, n *Node) bool {
	if len(from.Content) > MaxItems {
		return y.fail(from.Content[MaxItems], TooManyItems, "more than %d items in one list", MaxItems)
	}
	n.Items = y.alloc(len(from.Content))
	for i, child := range from.Content {
		y.path.PushItem(i)
		ok := y.convert(child, &n.Items[i])
		y.path.Pop()
		if !ok {
			return false
		}
	}
	return true
}

func (y *yamlReader) mapping(from *yamldoc.Node, n *Node) bool {
	n.Items = y.alloc(len(from.Content) / 2)
	keys := keySet{on: y.repeats}
	used := 0
	for i := 0; i+1 < len(from.Content); i += 2 {
		key := from.Content[i]
		if !keys.add(key) {
			continue
		}
		m := &n.Items[used]
		m.Key, m.KeyMark = key.Value, mark(key)
		y.path.Push(key.Value)
		ok := y.convert(from.Content[i+1], m)
		y.path.Pop()
		if !ok {
			return false
		}
		used++
	}
	n.Items = n.Items[:used]
	return true
}

// alloc gives n zero nodes, from the memory of the last item where it suffices.
func (y *yamlReader) alloc(n int) []Node {
	from := len(y.arena)
	if from+n > cap(y.arena) {
		y.arena = make([]Node, 0, max(2*cap(y.arena), n, 64))
		from = 0
	}
	y.arena = y.arena[:from+n]
	out := y.arena[from : from+n : from+n]
	clear(out)
	return out
}

func (y *yamlReader) fail(at *yamldoc.Node, code Code, format string, args ...any) bool {
	field, item := y.path.Field()
	y.h.Fault(Fault{Mark: mark(at), Field: field, Item: item, Code: code, Msg: fmt.Sprintf(format, args...)})
	return false
}

// fieldAt finds the field at a position, for faults that come without one.
func (y *yamlReader) fieldAt(root *yamldoc.Node, line, column int) (field string, item int) {
	p := NewPath(y.path.stream)
	if root == nil || !descend(root, line, column, &p) {
		return "", -1
	}
	return p.Field()
}

// descend extends p to the node at a position and reports whether there is one.
func descend(n *yamldoc.Node, line, column int, p *Path) bool {
	if n.Line == line && n.Column == column {
		return true
	}
	for i, child := range n.Content {
		switch {
		case n.Kind != yamldoc.MappingNode:
			p.PushItem(i)
		case i%2 == 0 && child.Line == line && child.Column == column:
			if child.Kind == yamldoc.ScalarNode {
				p.Push(child.Value)
			}
			return true
		case i%2 == 0:
			continue
		default:
			p.Push(n.Content[i-1].Value)
		}
		if descend(child, line, column, p) {
			return true
		}
		p.Pop()
	}
	return false
}

// keySet leaves out keys that yamldoc has reported. It costs nothing for a text without repeated keys.
type keySet struct {
	on   bool
	seen map[string]bool
}

// add reports whether a key is to be used.
func (s *keySet) add(key *yamldoc.Node) bool {
	if key.Kind != yamldoc.ScalarNode || key.Tag == "!!merge" || key.Tag == "!!null" {
		return false
	}
	if !s.on {
		return true
	}
	if s.seen[key.Value] {
		return false
	}
	if s.seen == nil {
		s.seen = make(map[string]bool)
	}
	s.seen[key.Value] = true
	return true
}

func mark(n *yamldoc.Node) Mark { return lineMark(max(n.Line, 1), max(n.Column, 1)) }
