package tree

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// readJSON reads RFC 8259 text. It is a decoder of its own because encoding/json gives no positions, lets
// the last of repeated keys win and matches keys regardless of case.
func readJSON(text string, h Handler) bool {
	d := jsonDecoder{text: text, h: h, path: NewPath(h.Stream)}
	ok := d.document()
	if d.fault != nil {
		h.Fault(*d.fault)
	}
	return ok && d.fault == nil
}

type jsonDecoder struct {
	text  string
	pos   int
	h     Handler
	path  Path
	nodes int    // of the current item
	stack []Node // values whose list or mapping is not complete yet
	arena []Node // memory for the items of complete lists and mappings, reused for each item
	fault *Fault // what ended reading
}

func (d *jsonDecoder) document() bool {
	d.space()
	switch {
	case d.pos == len(d.text):
		return d.fail(d.pos, yamldoc.Empty, "the document is empty")
	case d.text[d.pos] != '{':
		return d.fail(d.pos, WrongType, "the document must be an object")
	}
	if !d.root() {
		return false
	}
	if d.space(); d.pos < len(d.text) {
		return d.fail(d.pos, yamldoc.SecondDocument, "text after the end of the document; remove it")
	}
	return true
}

// root reads the outermost object.
func (d *jsonDecoder) root() bool {
	seen := make(map[string]bool)
	return d.members(func(key Node) bool {
		if len(seen) == MaxKeys {
			return d.fail(int(key.KeyMark), yamldoc.TooManyKeys, "more than %d keys in one object; write a list", MaxKeys)
		}
		repeated := seen[key.Key]
		if seen[key.Key] = true; repeated {
			d.repeated(key)
		}
		if d.text[d.pos] == '[' && d.h.streams(key.Key) && !repeated {
			return d.h.Member(&Node{Kind: List, Key: key.Key, KeyMark: key.KeyMark, Mark: Mark(d.pos)}) && d.items(func(i int) bool {
				n, ok := d.item(Node{})
				return ok && d.h.Item(i, &n)
			})
		}
		n, ok := d.item(key)
		return ok && (repeated || d.h.Member(&n))
	})
}

// item reads a value that is handed out, using the memory of the one before it.
func (d *jsonDecoder) item(n Node) (Node, bool) {
	d.nodes, d.stack, d.arena = 0, d.stack[:0], d.arena[:0]
	ok := d.value(&n)
	return n, ok
}

// value reads any value into n.
func (d *jsonDecoder) value(n *Node) bool {
	n.Mark = Mark(d.pos)
	if d.nodes++; d.nodes > MaxNodes {
		return d.fail(d.pos, yamldoc.TooManyNodes, "more than %d values below one entry", MaxNodes)
	}
	switch c := d.text[d.pos]; c {
	case '{':
		n.Kind = Map
		return d.object(n)
	case '[':
		n.Kind = List
		return d.list(n)
	case '"':
		n.Kind = String
		text, ok := d.quoted()
		n.Text = text
		return ok
	default:
		return d.word(n)
	}
}

func (d *jsonDecoder) object(n *Node) bool {
	base := len(d.stack)
	var seen map[string]bool
	ok := d.members(func(key Node) bool {
		have := d.stack[base:]
		if len(have) == MaxKeys {
			return d.fail(int(key.KeyMark), yamldoc.TooManyKeys, "more than %d keys in one object; write a list", MaxKeys)
		}
		repeated := d.isRepeated(key.Key, have, &seen)
		if repeated {
			d.repeated(key)
		}
		ok := d.value(&key)
		if ok && !repeated {
			d.stack = append(d.stack, key)
		}
		return ok
	})
	n.Items = d.unstack(base)
	return ok
}

// isRepeated looks a key up among those before it: one by one in a small object, in a set in a large one.
func (d *jsonDecoder) isRepeated(key string, have []Node, seen *map[string]bool) bool {
	const small = 24
	if len(have) < small {
		for i := range have {
			if have[i].Key == key {
				return true
			}
		}
		return false
	}
	if *seen == nil {
		*seen = make(map[string]bool)
		for i := range have {
			(*seen)[have[i].Key] = true
		}
	}
	repeated := (*seen)[key]
	(*seen)[key] = true
	return repeated
}

func (d *jsonDecoder) list(n *Node) bool {
	base := len(d.stack)
	ok := d.items(func(i int) bool {
		if i == MaxItems {
			return d.fail(d.pos, TooManyItems, "more than %d items in one list", MaxItems)
		}
		var item Node
		ok := d.value(&item)
		d.stack = append(d.stack, item)
		return ok
	})
	n.Items = d.unstack(base)
	return ok
}

// unstack moves the values above base into memory of their own.
func (d *jsonDecoder) unstack(base int) []Node {
	from := len(d.arena)
	d.arena = append(d.arena, d.stack[base:]...)
	d.stack = d.stack[:base]
	return d.arena[from:len(d.arena):len(d.arena)]
}

// members reads an object and calls read at the start of each value, with the key.
func (d *jsonDecoder) members(read func(key Node) bool) bool {
	return d.enclosed('}', "key", func(int) bool {
		key := Node{KeyMark: Mark(d.pos)}
		if d.text[d.pos] != '"' {
			return d.fail(d.pos, yamldoc.Syntax, "expected a key in double quotes")
		}
		var ok bool
		if key.Key, ok = d.quoted(); !ok {
			return false
		}
		if d.space(); d.peek() != ':' {
			return d.fail(d.pos, yamldoc.Syntax, "expected a colon after the key")
		}
		d.pos++
		if d.space(); d.pos == len(d.text) {
			return d.fail(d.pos, yamldoc.Syntax, "the text ends where a value is expected")
		}
		d.path.Push(key.Key)
		ok = read(key)
		d.path.Pop()
		return ok
	})
}

// items reads a list and calls read at the start of each item.
func (d *jsonDecoder) items(read func(i int) bool) bool {
	return d.enclosed(']', "value", func(i int) bool {
		d.path.PushItem(i)
		ok := read(i)
		d.path.Pop()
		return ok
	})
}

// enclosed reads what stands between brackets, separated by commas.
func (d *jsonDecoder) enclosed(end byte, what string, read func(i int) bool) bool {
	if len(d.path.steps) >= MaxDepth {
		return d.fail(d.pos, yamldoc.TooDeep, "nested deeper than %d levels", MaxDepth)
	}
	open := d.pos
	d.pos++
	for i := 0; ; i++ {
		d.space()
		switch c := d.peek(); {
		case d.pos == len(d.text):
			return d.fail(open, yamldoc.Syntax, "the text ends before this %q is closed", d.text[open])
		case c == end && i == 0:
			d.pos++
			return true
		case c == end || c == ',':
			return d.fail(d.pos, yamldoc.Syntax, "expected a %s; remove the comma", what)
		}
		if !read(i) {
			return false
		}
		d.space()
		switch c := d.peek(); {
		case c == end:
			d.pos++
			return true
		case c == ',':
			d.pos++
		case d.pos == len(d.text):
			return d.fail(open, yamldoc.Syntax, "the text ends before this %q is closed", d.text[open])
		default:
			return d.fail(d.pos, yamldoc.Syntax, "expected a comma or %q", end)
		}
	}
}

// quoted reads a string.
func (d *jsonDecoder) quoted() (string, bool) {
	start := d.pos
	escaped := false
	i := start + 1
	for ; i < len(d.text) && d.text[i] != '"'; i++ {
		switch c := d.text[i]; {
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", d.fail(i, yamldoc.Syntax, "a line break or tab inside a string; write \\n or \\t")
		}
		if i-start > MaxText {
			return "", d.fail(start, TextTooLong, "a text of more than %d bytes", MaxText)
		}
	}
	if i >= len(d.text) {
		return "", d.fail(start, yamldoc.Syntax, "the text ends before this string is closed")
	}
	d.pos = i + 1
	if !escaped {
		return d.text[start+1 : i], true
	}
	return d.unescape(start, d.text[start:d.pos])
}

func (d *jsonDecoder) unescape(start int, literal string) (string, bool) {
	var out string
	if err := json.Unmarshal([]byte(literal), &out); err != nil {
		return "", d.fail(start, yamldoc.Syntax, "a bad escape in a string")
	}
	// The standard decoder puts U+FFFD in the place of half a surrogate pair.
	const replacement = "\uFFFD"
	if strings.Count(out, replacement) > strings.Count(literal, replacement)+strings.Count(strings.ToLower(literal), `\ufffd`) {
		return "", d.fail(start, yamldoc.Syntax, "half of a surrogate pair in a string")
	}
	if err := yamldoc.CheckText([]byte(strings.NewReplacer("\n", "", "\t", "").Replace(out))); err != nil {
		return "", d.fail(start, yamldoc.ControlCharacter, "an escaped control character in a string; remove it")
	}
	return out, true
}

// word reads null, true, false or a number.
func (d *jsonDecoder) word(n *Node) bool {
	start := d.pos
	for d.pos < len(d.text) && strings.IndexByte(" \t\r\n,:[]{}\"", d.text[d.pos]) < 0 {
		if d.pos++; d.pos-start > MaxText {
			return d.fail(start, TextTooLong, "a text of more than %d bytes", MaxText)
		}
	}
	n.Text = d.text[start:d.pos]
	switch {
	case n.Text == "null":
		n.Kind = Null
	case n.Text == "true" || n.Text == "false":
		n.Kind = Bool
	case n.Text != "" && json.Valid([]byte(n.Text)):
		n.Kind = Number
	default:
		return d.fail(start, yamldoc.Syntax, "expected a value; texts need double quotes")
	}
	return true
}

func (d *jsonDecoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// peek gives the next byte, 0 at the end.
func (d *jsonDecoder) peek() byte {
	if d.pos == len(d.text) {
		return 0
	}
	return d.text[d.pos]
}

// fail notes what ends reading, and returns false.
func (d *jsonDecoder) fail(offset int, code Code, format string, args ...any) bool {
	if d.fault == nil {
		field, item := d.path.Field()
		d.fault = &Fault{Mark: Mark(offset), Field: field, Item: item, Code: code, Msg: fmt.Sprintf(format, args...)}
	}
	return false
}

// repeated reports a key that its object has already; reading goes on.
func (d *jsonDecoder) repeated(key Node) {
	field, item := d.path.Field()
	d.h.Fault(Fault{
		Mark: key.KeyMark, Field: field, Item: item, Code: yamldoc.DuplicateKey,
		Msg: fmt.Sprintf("key %s was given before in the same object; remove one", Quote(key.Key)),
	})
}
