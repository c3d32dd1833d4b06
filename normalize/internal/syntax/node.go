// Package syntax turns every text form that a client configuration is pasted
// in into one ordered tree.
//
// JSON with all its relatives, TOML and YAML give the same [Node]s: keys in
// their order, duplicate keys kept, numbers as their text, and for each value
// the place it came from. What a reader had to mend is told as a set of
// [Repairs]. Nothing is interpreted here; which objects are servers is the
// business of package normalize.
//
// # Limits
//
// A tree is at most [MaxDepth] deep and has at most [MaxNodes] values. Beyond
// that, and for text that cannot be read, the error is an [*Error] with the
// offset of the place.
package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a tree. They are far beyond any real configuration.
const (
	MaxDepth     = 64     // levels of arrays and objects
	MaxNodes     = 50_000 // values
	MaxDocuments = 2000   // documents of one text
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// A Node is one value.
type Node struct {
	Kind Kind
	// JS is set on a Bool that was written !0 or !1.
	JS bool
	// Text is a String's content, a Number's text, or a Bool as it was written
	// where the format allows more than "true" and "false".
	Text string
	// Offset is the byte in the source at which the value starts.
	Offset int
	// Items are the values of an Array.
	Items []*Node
	// Members are the members of an Object, in order; names may repeat.
	Members []Member
}

// A Member is one name and value of an Object.
type Member struct {
	Name   string
	Offset int // byte at which the name starts
	Value  *Node
}

// Get returns the value of the last member of that name, since that is the one
// that clients keep, or nil. A nil Node has no members.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// IsObject reports whether n is an object; nil is none.
func (n *Node) IsObject() bool { return n != nil && n.Kind == Object }

// True reports whether n is a boolean that is true.
func (n *Node) True() bool { return n != nil && n.Kind == Bool && strings.EqualFold(n.Text, "true") }

// False reports whether n is a boolean that is false.
func (n *Node) False() bool { return n != nil && n.Kind == Bool && !n.True() }

// Scalar reports whether n is a boolean, a number or a string.
func (n *Node) Scalar() bool {
	return n != nil && (n.Kind == Bool || n.Kind == Number || n.Kind == String)
}

// AppendJSON appends n as compact JSON. Numbers keep their text; one that JSON
// has no spelling for, such as .inf, becomes a string. Of members with the same
// name only the last is written.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(b, n.True())
	case Number:
		if !isJSONNumber(n.Text) {
			return AppendQuoted(b, n.Text)
		}
		return append(b, n.Text...)
	case String:
		return AppendQuoted(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	case Object:
		return n.appendMembers(b)
	}
	return append(b, "null"...)
}

func (n *Node) appendMembers(b []byte) []byte {
	last := make(map[string]int, len(n.Members))
	for i, m := range n.Members {
		last[m.Name] = i
	}
	b = append(b, '{')
	first := true
	for i, m := range n.Members {
		if last[m.Name] != i {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(AppendQuoted(b, m.Name), ':')
		b = m.Value.AppendJSON(b)
	}
	return append(b, '}')
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a JSON string. Only what JSON demands is escaped,
// so that the text stays what a person wrote.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// Repairs is the set of things that had to be mended or skipped.
type Repairs uint16

// The repairs.
const (
	Comments       Repairs = 1 << iota // comments
	TrailingCommas                     // commas with nothing after them
	MissingCommas                      // members or items side by side
	SmartQuotes                        // typographic quotes as delimiters
	OddSpaces                          // no-break and other spaces between tokens
	Fullwidth                          // full-width punctuation between tokens
	ZeroWidth                          // invisible characters between tokens
	JSON5                              // spellings of JSON5, JavaScript or Python
	BracesAdded                        // the outer braces
	Balance                            // closing brackets missing or too many
	Ellipsis                           // a bare "..." for "more here"
	Backslashes                        // single backslashes of a Windows path
	Quoted                             // JSON text inside a JSON string
)

// An Error is a place that cannot be read.
type Error struct {
	Offset int    // byte in the source
	Msg    string // what is wrong
	Hint   string // what to do, or empty
	Limit  bool   // a bound of this package was reached

	yaml bool // the text is no JSON but may be YAML
}

// Error gives the message and the offset.
func (e *Error) Error() string {
	s := "byte " + strconv.Itoa(e.Offset) + ": " + e.Msg
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Position converts a byte offset to a line and a column in characters, both
// from 1.
func Position(src string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(src))
	line, start := 1, 0
	for i := range offset {
		if src[i] == '\n' {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCountInString(src[start:offset]) + 1
}
