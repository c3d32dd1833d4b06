package syntax

import (
	"strings"
)

// TOML reads a whole TOML text. Tables and keys that are defined twice are
// kept as members of the same name, where TOML itself forbids them.
func TOML(src string) (root *Node, fixed Repairs, err error) {
	p := tomlParser{jsonParser: jsonParser{src: src}}
	defer p.rescue(&err)
	root = p.node(Object, 0)
	table := root
	p.stated = map[*Node]bool{root: true}
	for {
		p.blankLines()
		if p.pos == len(src) {
			return root, p.fixed &^ JSON5, nil // TOML has such spellings itself
		}
		if src[p.pos] == '[' {
			table = p.header(root)
		} else {
			p.pair(table, 1)
		}
		p.endOfLine()
	}
}

// tomlParser shares nodes, strings' escapes and faults with the JSON parser.
type tomlParser struct {
	jsonParser
	stated map[*Node]bool // tables with a header of their own
}

// blankLines skips blanks, line ends and comments.
func (p *tomlParser) blankLines() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		case '#':
			p.pos += lineLen(p.src[p.pos:])
		default:
			return
		}
	}
}

func (p *tomlParser) blanks() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

func lineLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func (p *tomlParser) endOfLine() {
	p.blanks()
	rest := p.src[p.pos:]
	if rest == "" || rest[0] == '\n' || rest[0] == '#' || strings.HasPrefix(rest, "\r\n") {
		return
	}
	p.fail("text after the value", "in TOML each key stands on a line of its own")
}

// at tells whether c is the next byte.
func (p *tomlParser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

func (p *tomlParser) expect(c byte, msg, hint string) {
	if !p.at(c) {
		p.fail(msg, hint)
	}
	p.pos++
}

// header reads [a.b] or [[a.b]] and returns the table it opens.
func (p *tomlParser) header(root *Node) *Node {
	start := p.pos
	p.pos++
	array := p.at('[')
	if array {
		p.pos++
	}
	path := p.path()
	p.expect(']', "a table's name is not closed", "end it with ]")
	if array {
		p.expect(']', "a table's name is not closed", "end it with ]]")
	}
	parent := p.descend(root, path[:len(path)-1])
	last := path[len(path)-1]
	table := p.node(Object, start)
	p.stated[table] = true
	old := parent.Get(last.Name)
	switch {
	case array && old != nil && old.Kind == Array:
		old.Items = append(old.Items, table)
	case array:
		list := p.node(Array, start)
		list.Items = append(list.Items, table)
		parent.Members = append(parent.Members, Member{last.Name, last.Offset, list})
	case old.IsObject() && !p.stated[old]:
		p.stated[old] = true // [a.b] came before its parent [a]
		return old
	default:
		parent.Members = append(parent.Members, Member{last.Name, last.Offset, table})
	}
	return table
}

// path reads a dotted key. The values of its members are nil.
func (p *tomlParser) path() []Member {
	var path []Member
	for {
		p.blanks()
		start := p.pos
		path = append(path, Member{Name: p.key(), Offset: start})
		p.blanks()
		if !p.at('.') {
			break
		}
		if p.pos++; len(path) == MaxDepth {
			panic(&Error{Offset: start, Msg: "a key has too many parts", Limit: true})
		}
	}
	return path
}

func (p *tomlParser) key() string {
	if p.at('"') {
		return p.plain('"')
	}
	if p.at('\'') {
		return p.literal()
	}
	start := p.pos
	for p.pos < len(p.src) && isBareKey(p.src[p.pos]) {
		p.pos++
	}
	if p.pos == start {
		p.fail("a key should stand here", "keys with other characters than letters, digits, - and _ need quotation marks")
	}
	return p.src[start:p.pos]
}

func isBareKey(c byte) bool { return isNameByte(c) && c != '$' && c != '.' && c != '/' && c != '@' }

// descend finds or makes the tables along path.
func (p *tomlParser) descend(n *Node, path []Member) *Node {
	for _, step := range path {
		next := n.Get(step.Name)
		if next != nil && next.Kind == Array && len(next.Items) > 0 {
			next = next.Items[len(next.Items)-1]
		}
		if !next.IsObject() {
			next = p.node(Object, step.Offset)
			n.Members = append(n.Members, Member{step.Name, step.Offset, next})
		}
		n = next
	}
	return n
}

// pair reads key = value into table.
func (p *tomlParser) pair(table *Node, depth int) {
	path := p.path()
	p.expect('=', "an equals sign is missing after a key", "write key = value")
	p.blanks()
	into := p.descend(table, path[:len(path)-1])
	last := path[len(path)-1]
	last.Value = p.value(depth)
	into.Members = append(into.Members, last)
}
