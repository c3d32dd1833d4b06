package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// tomlScanner walks a TOML text and notes where each key and value is. It applies the limits, and reports
// repeated keys with their places. It does not judge: where it does not understand the text it stops, since
// the library will then refuse the text too.
type tomlScanner struct {
	text     string
	pos      int
	stream   string
	root     *tomlValue
	table    *tomlValue // the table that the last header named
	nodes    int
	faults   []Fault
	exceeded bool // a limit, also that of faults
}

// tomlValue is one place. Its kind is Map, List, or String for every scalar.
type tomlValue struct {
	parent  *tomlValue
	key     string
	index   int // in a list, -1 in a table
	kind    Kind
	keyMark Mark
	mark    Mark
	text    string // source of a scalar
	items   []*tomlValue
	keys    map[string]*tomlValue
	headers bool // a list made by [[headers]]
	defined bool // a table with a [header] of its own
}

func scanTOML(text, stream string) *tomlScanner {
	s := &tomlScanner{text: text, stream: stream, root: &tomlValue{kind: Map}}
	s.table = s.root
	for s.blank(true); s.pos < len(s.text); s.blank(true) {
		if !s.line() {
			break
		}
		s.blank(false)
		if s.pos < len(s.text) && s.text[s.pos] != '\n' && s.text[s.pos] != '\r' && s.text[s.pos] != '#' {
			break
		}
	}
	return s
}

// line reads a header, or a key with its value.
func (s *tomlScanner) line() bool {
	if s.text[s.pos] == '[' {
		return s.header()
	}
	return s.pair(s.table, 1)
}

func (s *tomlScanner) header() bool {
	start := s.pos
	list := strings.HasPrefix(s.text[s.pos:], "[[")
	end := "]"
	if list {
		end = "]]"
	}
	s.pos += len(end)
	s.blank(false)
	parts, ok := s.dotted()
	if !ok || !strings.HasPrefix(s.text[s.pos:], end) {
		return false
	}
	s.pos += len(end)
	at := s.root
	for _, p := range parts[:len(parts)-1] {
		if at = s.descend(at, p); at == nil {
			return false
		}
	}
	last := parts[len(parts)-1]
	if list {
		s.table = s.appendTable(at, last, Mark(start))
	} else {
		if s.table = s.descend(at, last); s.table != nil && s.table.defined {
			s.repeated(at, last)
		} else if s.table != nil {
			s.table.defined = s.table.parent == at
		}
	}
	return s.table != nil && !s.exceeded
}

// tomlKey is one part of a dotted key.
type tomlKey struct {
	text string
	mark Mark
}

// descend gives the table at a key, making it if there is none. A list made by headers stands for its last
// table. It is nil where the key holds something else.
func (s *tomlScanner) descend(at *tomlValue, k tomlKey) *tomlValue {
	v := at.keys[k.text]
	switch {
	case v == nil:
		return s.add(at, k, Map, k.mark)
	case v.kind == List && v.headers:
		return v.items[len(v.items)-1]
	case v.kind == Map:
		return v
	}
	return nil
}

func (s *tomlScanner) appendTable(at *tomlValue, k tomlKey, mark Mark) *tomlValue {
	list := at.keys[k.text]
	if list == nil {
		if list = s.add(at, k, List, mark); list == nil {
			return nil
		}
		list.headers = true
	}
	if !list.headers {
		return nil
	}
	return s.element(list, Map, mark)
}

// add puts a new value into a table.
func (s *tomlScanner) add(at *tomlValue, k tomlKey, kind Kind, mark Mark) *tomlValue {
	v := &tomlValue{parent: at, key: k.text, index: -1, kind: kind, keyMark: k.mark, mark: mark}
	if len(at.items) == MaxKeys {
		s.exceed(v, yamldoc.TooManyKeys, "more than %d keys in one table; write a list", MaxKeys)
		return nil
	}
	if !s.count(v) {
		return nil
	}
	if at.keys == nil {
		at.keys = make(map[string]*tomlValue)
	}
	at.keys[k.text] = v
	at.items = append(at.items, v)
	return v
}

// element puts a new value into a list.
func (s *tomlScanner) element(list *tomlValue, kind Kind, mark Mark) *tomlValue {
	v := &tomlValue{parent: list, index: len(list.items), kind: kind, keyMark: mark, mark: mark}
	if len(list.items) == MaxItems && (list.parent != s.root || list.key != s.stream) {
		s.exceed(v, TooManyItems, "more than %d items in one list", MaxItems)
		return nil
	}
	if !s.count(v) {
		return nil
	}
	list.items = append(list.items, v)
	return v
}

func (s *tomlScanner) count(v *tomlValue) bool {
	if s.nodes++; s.nodes > yamldoc.DefaultMaxNodes {
		s.exceed(v, yamldoc.TooManyNodes, "more than %d values", yamldoc.DefaultMaxNodes)
		return false
	}
	return true
}

func (s *tomlScanner) exceed(v *tomlValue, code Code, format string, limit int) {
	field, item := v.field(s.stream)
	s.exceeded = true
	s.faults = append(s.faults, Fault{Mark: v.keyMark, Field: field, Item: item, Code: code, Msg: fmt.Sprintf(format, limit)})
}

// pair reads a key with its value into a table.
func (s *tomlScanner) pair(at *tomlValue, depth int) bool {
	parts, ok := s.dotted()
	if !ok || s.peek() != '=' {
		return false
	}
	s.pos++
	s.blank(false)
	for _, p := range parts[:len(parts)-1] {
		if at = s.descend(at, p); at == nil {
			return false
		}
	}
	last := parts[len(parts)-1]
	if at.keys[last.text] != nil {
		s.repeated(at, last)
		return !s.exceeded && s.value(&tomlValue{parent: at, key: last.text, index: -1, keyMark: last.mark}, depth+len(parts))
	}
	v := s.add(at, last, String, Mark(s.pos))
	return v != nil && s.value(v, depth+len(parts)-1)
}

func (s *tomlScanner) repeated(at *tomlValue, k tomlKey) {
	if len(s.faults) == maxTOMLFaults {
		s.exceeded = true
		return
	}
	field, item := (&tomlValue{parent: at, key: k.text, index: -1}).field(s.stream)
	s.faults = append(s.faults, Fault{
		Mark: k.mark, Field: field, Item: item, Code: yamldoc.DuplicateKey,
		Msg: fmt.Sprintf("key %s was given before in the same table; remove one", Quote(k.text)),
	})
}

// maxTOMLFaults is how many repeated keys are reported.
const maxTOMLFaults = 1000

// value reads the value at the current place into v.
func (s *tomlScanner) value(v *tomlValue, depth int) bool {
	v.mark = Mark(s.pos)
	if depth > MaxDepth {
		s.exceed(v, yamldoc.TooDeep, "nested deeper than %d levels", MaxDepth)
		return false
	}
	switch s.peek() {
	case '[':
		v.kind = List
		return s.enclosed(']', func() bool {
			item := s.element(v, String, Mark(s.pos))
			return item != nil && s.value(item, depth+1)
		})
	case '{':
		v.kind = Map
		return s.enclosed('}', func() bool { return s.pair(v, depth+1) })
	case '"', '\'':
		v.kind = String
		return s.quoted(v)
	}
	v.kind = String
	start := s.pos
	for s.pos < len(s.text) && strings.IndexByte(",]}#\r\n", s.text[s.pos]) < 0 {
		s.pos++
	}
	v.text = strings.TrimRight(s.text[start:s.pos], " \t")
	return v.text != ""
}

// enclosed reads what stands between brackets, separated by commas.
func (s *tomlScanner) enclosed(end byte, read func() bool) bool {
	s.pos++
	for s.blank(true); s.pos < len(s.text); s.blank(true) {
		if s.text[s.pos] == end {
			s.pos++
			return true
		}
		if !read() {
			return false
		}
		s.blank(true)
		switch s.peek() {
		case ',':
			s.pos++
		case end:
		default:
			return false
		}
	}
	return false
}

// quoted passes a string of any of the four forms.
func (s *tomlScanner) quoted(v *tomlValue) bool {
	start, quote := s.pos, s.text[s.pos:s.pos+1]
	closing := quote
	if strings.HasPrefix(s.text[s.pos:], strings.Repeat(quote, 3)) {
		closing = strings.Repeat(quote, 3)
	}
	s.pos += len(closing)
	for s.pos < len(s.text) && !strings.HasPrefix(s.text[s.pos:], closing) {
		if len(closing) == 1 && s.text[s.pos] == '\n' {
			return false
		}
		if quote == `"` && s.text[s.pos] == '\\' {
			s.pos++
		}
		if s.pos++; s.pos-start > MaxText {
			s.exceed(v, TextTooLong, "a text of more than %d bytes", MaxText)
			return false
		}
	}
	s.pos += len(closing)
	// A long form may end in up to two quotes that belong to the text.
	for n := 0; len(closing) == 3 && n < 2 && strings.HasPrefix(s.text[min(s.pos, len(s.text)):], quote); n++ {
		s.pos++
	}
	return s.pos <= len(s.text)
}

// dotted reads a key of one or more parts and the blanks behind it.
func (s *tomlScanner) dotted() ([]tomlKey, bool) {
	var parts []tomlKey
	for {
		k, ok := s.key()
		if !ok {
			return nil, false
		}
		parts = append(parts, k)
		if len(parts) > MaxDepth {
			s.exceed(&tomlValue{parent: s.root, key: parts[0].text, index: -1, keyMark: parts[0].mark}, yamldoc.TooDeep,
				"nested deeper than %d levels", MaxDepth)
			return nil, false
		}
		if s.blank(false); s.peek() != '.' {
			return parts, true
		}
		s.pos++
		s.blank(false)
	}
}

func (s *tomlScanner) key() (tomlKey, bool) {
	start := s.pos
	k := tomlKey{mark: Mark(start)}
	if c := s.peek(); c == '"' || c == '\'' {
		if !s.quoted(&tomlValue{parent: s.table, index: -1, keyMark: k.mark}) {
			return k, false
		}
		literal := s.text[start:s.pos]
		if k.text = literal[1 : len(literal)-1]; c == '"' && strings.Contains(literal, `\`) {
			decoded, err := decodeTOML("key = " + literal)
			if err != nil {
				return k, false
			}
			k.text, _ = decoded["key"].(string)
		}
		return k, true
	}
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n.=[]{}\"'#,", s.text[s.pos]) < 0 {
		s.pos++
	}
	k.text = s.text[start:s.pos]
	return k, k.text != ""
}

// blank passes blanks, and with lines also line breaks and comments.
func (s *tomlScanner) blank(lines bool) {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t':
			s.pos++
		case lines && (c == '\n' || c == '\r'):
			s.pos++
		case lines && c == '#':
			if n := strings.IndexByte(s.text[s.pos:], '\n'); n >= 0 {
				s.pos += n
			} else {
				s.pos = len(s.text)
			}
		default:
			return
		}
	}
}

// peek gives the next byte, 0 at the end.
func (s *tomlScanner) peek() byte {
	if s.pos >= len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// field writes the path of a value, and gives the index of the streamed item it is in.
func (v *tomlValue) field(stream string) (field string, item int) {
	p := NewPath(stream)
	for ; v.parent != nil; v = v.parent {
		p.steps = append(p.steps, step{v.key, v.index})
	}
	slices.Reverse(p.steps)
	return p.Field()
}
