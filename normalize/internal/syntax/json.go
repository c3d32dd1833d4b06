package syntax

import (
	"strings"
)

// JSON reads one value at the start of src, which may have blanks and comments
// around it, and returns how many bytes it took. It accepts JSON, comments,
// trailing commas, JSON5 and Python literals, and mends what people break:
// typographic quotes, special spaces, missing brackets at the end.
func JSON(src string) (n *Node, size int, fixed Repairs, err error) {
	p := jsonParser{src: src}
	defer p.rescue(&err)
	p.space()
	n = p.value(0)
	return n, p.pos, p.fixed, nil
}

// Members reads a fragment: the members of an object whose outer braces were
// not copied. It takes all of src.
func Members(src string) (n *Node, fixed Repairs, err error) {
	p := jsonParser{src: src, fixed: BracesAdded}
	defer p.rescue(&err)
	n = p.node(Object, 0)
	p.members(n, 1)
	for p.pos < len(src) && (p.peek() == '}' || p.peek() == ']') {
		p.fixed |= Balance
		p.pos++
		p.space()
	}
	if p.pos < len(src) {
		p.fail("text after the last member", "")
	}
	return n, p.fixed, nil
}

// jsonParser is a recursive descent over src. Faults travel as a panic with an
// *Error, which never leaves the package.
type jsonParser struct {
	src   string
	pos   int
	fixed Repairs
	nodes int
	slab  []Node
}

func (p *jsonParser) rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		panic(r)
	}
}

func (p *jsonParser) fail(msg, hint string) {
	panic(&Error{Offset: p.pos, Msg: msg, Hint: hint})
}

// node returns a new node that starts at offset. Nodes come from slabs, since
// a file has a few hundred small ones.
func (p *jsonParser) node(k Kind, offset int) *Node {
	if p.nodes++; p.nodes > MaxNodes {
		panic(&Error{Offset: offset, Msg: "too many values", Hint: "paste only the part that declares servers", Limit: true})
	}
	if len(p.slab) == 0 {
		p.slab = make([]Node, 32)
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.Kind, n.Offset = k, offset
	return n
}

// peek gives the next byte with full-width punctuation read as plain, or 0 at
// the end.
func (p *jsonParser) peek() byte {
	if p.pos == len(p.src) {
		return 0
	}
	if c := p.src[p.pos]; c < 0x80 {
		return c
	}
	c, _ := fullwidth(p.src[p.pos:])
	return c
}

// take consumes the punctuation that peek showed.
func (p *jsonParser) take() {
	if p.src[p.pos] < 0x80 {
		p.pos++
		return
	}
	_, size := fullwidth(p.src[p.pos:])
	p.fixed |= Fullwidth
	p.pos += size
}

func (p *jsonParser) value(depth int) *Node {
	if depth > MaxDepth {
		panic(&Error{Offset: p.pos, Msg: "nested too deep", Hint: "no client reads more than a few levels", Limit: true})
	}
	start := p.pos
	switch c := p.peek(); {
	case c == '{':
		p.take()
		n := p.node(Object, start)
		p.members(n, depth+1)
		p.closing('}')
		return n
	case c == '[':
		p.take()
		n := p.node(Array, start)
		p.items(n, depth+1)
		p.closing(']')
		return n
	case p.pos == len(p.src):
		p.fail("the text ends where a value should stand", "is the end of the paste missing?")
	}
	if text, ok := p.quoted(); ok {
		n := p.node(String, start)
		n.Text = text
		return n
	}
	return p.word()
}

// closing consumes the bracket that ends an object or array. At the end of the
// text, or before a bracket that ends something further out, it is taken as
// forgotten.
func (p *jsonParser) closing(c byte) {
	if p.peek() == c {
		p.take()
		return
	}
	p.fixed |= Balance
}

// members reads up to the bracket that ends the object, without it.
func (p *jsonParser) members(n *Node, depth int) {
	for {
		p.space()
		p.ellipsis()
		if c := p.peek(); c == '}' || c == ']' || p.pos == len(p.src) {
			return
		}
		start := p.pos
		name := p.name()
		p.space()
		if p.peek() != ':' {
			p.fail("a colon is missing after a name", "write name: value pairs")
		}
		p.take()
		p.space()
		if n.Members == nil {
			n.Members = make([]Member, 0, 4)
		}
		n.Members = append(n.Members, Member{Name: name, Offset: start, Value: p.value(depth)})
		p.separator()
	}
}

func (p *jsonParser) items(n *Node, depth int) {
	for {
		p.space()
		p.ellipsis()
		if c := p.peek(); c == '}' || c == ']' || p.pos == len(p.src) {
			return
		}
		if n.Items == nil {
			n.Items = make([]*Node, 0, 4)
		}
		n.Items = append(n.Items, p.value(depth))
		p.separator()
	}
}

// separator consumes the commas after a member or item.
func (p *jsonParser) separator() {
	before := p.pos
	p.space()
	commas := 0
	for p.peek() == ',' {
		p.take()
		p.space()
		commas++
	}
	end := p.peek() == '}' || p.peek() == ']' || p.pos == len(p.src)
	switch {
	case commas > 1 || commas == 1 && end:
		p.fixed |= TrailingCommas
	case commas == 0 && !end && !p.atEllipsis():
		p.missingComma(before)
	}
}

// missingComma accepts two values side by side only when a blank parts them
// and the next one is plainly a value: in a sentence they hardly ever are.
func (p *jsonParser) missingComma(before int) {
	c := p.peek()
	if _, _, smart := smartQuote(p.src[p.pos:]); before == p.pos || c != '"' && c != '{' && c != '[' && c != '\'' && !smart {
		p.fail("a comma or a closing bracket is missing", "look at the end of the value before")
	}
	p.fixed |= MissingCommas
}

func (p *jsonParser) atEllipsis() bool {
	rest := p.src[p.pos:]
	return strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…")
}

// ellipsis skips "..." between members or items, as in listings that leave
// something out.
func (p *jsonParser) ellipsis() {
	for p.atEllipsis() {
		p.fixed |= Ellipsis
		p.pos += 3 // both spellings have three bytes
		for p.pos < len(p.src) && p.src[p.pos] == '.' {
			p.pos++
		}
		p.space()
		if p.peek() == ',' {
			p.take()
			p.space()
		}
	}
}

// name reads a member's name: a string, or a bare word.
func (p *jsonParser) name() string {
	if text, ok := p.quoted(); ok {
		return text
	}
	start := p.pos
	for p.pos < len(p.src) && isNameByte(p.src[p.pos]) {
		p.pos++
	}
	if p.pos == start {
		if yamlSign(p.src[start:]) {
			p.failYAML(start)
		}
		p.fail("a name in quotes should stand here", "")
	}
	p.fixed |= JSON5
	return p.src[start:p.pos]
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c == '-' || c == '.' || c == '/' || c == '@' ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
