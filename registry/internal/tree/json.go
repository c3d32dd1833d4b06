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
	return d.members(func(key string, mark Mark) bool {
		if len(seen) == MaxKeys {
			return d.fail(int(mark), yamldoc.TooManyKeys, "more than %d keys in one object; write a list", MaxKeys)
		}
		repeated := seen[key]
		if seen[key] = true; repeated {
			d.repeated(key, mark)
		}
		if d.text[d.pos] == '[' && d.h.streams(key) && !repeated {
			return d.h.Member(&Node{Kind: List, Key: key, KeyMark: mark, Mark: Mark(d.pos)}) && d.items(func(i int) bool {
				n, ok := d.item()
				return ok && d.h.Item(i, &n)
			})
		}
		n, ok := d.item()
		n.Key, n.KeyMark = key, mark
		return ok && (repeated || d.h.Member(&n))
	})
}

// item reads a value that is handed out, using the memory of the one before it.
func (d *jsonDecoder) item() (Node, bool) {
	d.nodes, d.stack, d.arena = 0, d.stack[:0], d.arena[:0]
	return d.value()
}

// value reads any value.
func (d *jsonDecoder) value() (Node, bool) {
	n := Node{Mark: Mark(d.pos)}
	if d.nodes++; d.nodes > MaxNodes {
		return n, d.fail(d.pos, yamldoc.TooManyNodes, "more than %d values below one entry", MaxNodes)
	}
	var ok bool
	switch c := d.text[d.pos]; c {
	case '{':
		n.Kind = Map
		n.Items, ok = d.object()
	case '[':
		n.Kind = List
		n.Items, ok = d.list()
	case '"':
		n.Kind = String
		n.Text, ok = d.quoted()
	default:
		n.Kind, n.Text, ok = d.word()
	}
	return n, ok
}

func (d *jsonDecoder) object() ([]Node, bool) {
	base := len(d.stack)
	var seen map[string]bool
	ok := d.members(func(key string, mark Mark) bool {
		have := d.stack[base:]
		if len(have) == MaxKeys {
			return d.fail(int(mark), yamldoc.TooManyKeys, "more than %d keys in one object; write a list", MaxKeys)
		}
		repeated := d.isRepeated(key, have, &seen)
		if repeated {
			d.repeated(key, mark)
		}
		n, ok := d.value()
		if n.Key, n.KeyMark = key, mark; ok && !repeated {
			d.stack = append(d.stack, n)
		}
		return ok
	})
	return d.unstack(base), ok
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

func (d *jsonDecoder) list() ([]Node, bool) {
	base := len(d.stack)
	ok := d.items(func(i int) bool {
		if i == MaxItems {
			return d.fail(d.pos, TooManyItems, "more than %d items in one list", MaxItems)
		}
		n, ok := d.value()
		d.stack = append(d.stack, n)
		return ok
	})
	return d.unstack(base), ok
}

// unstack moves the values above base into memory of their own.
func (d *jsonDecoder) unstack(base int) []Node {
	from := len(d.arena)
	d.arena = append(d.arena, d.stack[base:]...)
	d.stack = d.stack[:base]
	return d.arena[from:len(d.arena):len(d.arena)]
}

// members reads an object and calls read at the start of each value, with the key.
func (d *jsonDecoder) members(read func(key string, mark Mark) bool) bool {
	return d.enclosed('}', "key", func(int) bool {
		mark := Mark(d.pos)
		if d.text[d.pos] != '"' {
			return d.fail(d.pos, yamldoc.Syntax, "expected a key in double quotes")
		}
		key, ok := d.quoted()
		if !ok {
			return false
		}
		if d.space(); d.peek() != ':' {
			return d.fail(d.pos, yamldoc.Syntax, "expected a colon after the key")
		}
		d.pos++
		if d.space(); d.pos == len(d.text) {
			return d.fail(d.pos, yamldoc.Syntax, "the text ends where a value is expected")
		}
		d.path.Push(key)
		ok = read(key, mark)
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
func (d *jsonDecoder) word() (Kind, string, bool) {
	start := d.pos
	for d.pos < len(d.text) && strings.IndexByte(" \t\r\n,:[]{}\"", d.text[d.pos]) < 0 {
		if d.pos++; d.pos-start > MaxText {
			return Null, "", d.fail(start, TextTooLong, "a text of more than %d bytes", MaxText)
		}
	}
	switch text := d.text[start:d.pos]; {
	case text == "null":
		return Null, text, true
	case text == "true" || text == "false":
		return Bool, text, true
	case text != "" && json.Valid([]byte(text)):
		return Number, text, true
	}
	return Null, "", d.fail(start, yamldoc.Syntax, "expected a value; texts need double quotes")
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
func (d *jsonDecoder) repeated(key string, mark Mark) {
	field, item := d.path.Field()
	d.h.Fault(Fault{
		Mark: mark, Field: field, Item: item, Code: yamldoc.DuplicateKey,
		Msg: fmt.Sprintf("key %s was given before in the same object; remove one", Quote(key)),
	})
}
