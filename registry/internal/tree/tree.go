// Package tree reads YAML, JSON and TOML into one positioned form, item by item, so that one set of rules
// can be applied to all three and a large file never has to be held as a whole tree.
//
// # Concurrency
//
// Read may be called at the same time; the calls share nothing. A [Locator] is not safe for concurrent use.
package tree

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// Kind says what a [Node] holds.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	Time // a TOML or YAML date or time
	List
	Map
)

// String names a kind as a person would.
func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a date", "a list", "a mapping"}[k]
}

// Mark is a place in the text; [Locator] turns it into line and column.
type Mark int64

// lineMark packs a line and a column; marks from zero up are byte offsets.
func lineMark(line, column int) Mark { return -(Mark(line)<<32 | Mark(column)) }

// Node is one value. A node and everything below it is valid only until the [Handler] function it was given
// to returns; texts may be kept, but hold the whole file in memory unless they are cloned.
type Node struct {
	Kind    Kind
	Key     string // of a member of a mapping
	Text    string // of a scalar: the decoded text, or the source of a number, bool or date
	Items   []Node // elements of a list, or members of a mapping in order, without repeated keys
	KeyMark Mark
	Mark    Mark
}

// Code tells faults apart. The codes of package yamldoc are used too.
type Code = yamldoc.Code

// Codes of faults beyond those of package yamldoc.
const (
	WrongType    Code = "wrong_type"     // the document is not a mapping
	TooManyItems Code = "too_many_items" // a list with more than MaxItems
	TextTooLong  Code = "text_too_long"  // a scalar of more than MaxText bytes
)

// Limits that hold for each format.
const (
	MaxDepth = 32       // nesting below the root
	MaxKeys  = 4096     // of one mapping
	MaxItems = 10_000   // of one list, except the streamed one
	MaxText  = 64 << 10 // bytes of one scalar
	MaxNodes = 50_000   // of one item, or of one member of the root that is not streamed
)

// Fault is something wrong with the text itself.
type Fault struct {
	Mark  Mark
	Field string // path of the field, "" where there is none
	Item  int    // index of the streamed item it is in, -1 outside
	Code  Code
	Msg   string
}

// Handler receives a document. All functions are required.
type Handler struct {
	Stream string                    // the member of the root whose items are given one by one, "" for none
	Member func(n *Node) bool        // each member; the streamed list comes first without its items; false ends reading
	Item   func(i int, n *Node) bool // each streamed item; false ends reading
	Fault  func(f Fault)
}

func (h *Handler) streams(key string) bool { return h.Stream != "" && key == h.Stream }

// Format names a text format.
type Format string

// The formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
	TOML Format = "toml"
)

// Read reads a document whose root is a mapping, and gives the locator for its marks. It reports whether the
// text was read to its end; if not, the last fault says why.
func Read(data []byte, format Format, h Handler) (*Locator, bool) {
	if err := yamldoc.CheckText(data); err != nil {
		loc := new(Locator)
		return loc, !textFaults(err, h)
	}
	switch format {
	case JSON:
		text := string(data)
		return &Locator{text: text}, readJSON(text, h)
	case TOML:
		text := string(data)
		return &Locator{text: text}, readTOML(text, h)
	}
	return new(Locator), readYAML(data, h)
}

// textFaults hands on the faults of package yamldoc and reports whether there were any.
func textFaults(err error, h Handler) bool {
	faults := yamldoc.Faults(err)
	for _, f := range faults {
		h.Fault(Fault{Mark: lineMark(f.Line, f.Column), Item: -1, Code: f.Code, Msg: f.Msg})
	}
	return len(faults) > 0
}

// Locator turns marks into positions. It is quickest when marks come in the order of the text.
type Locator struct {
	text         string
	at           int // an offset, and its position
	line, column int // both from 0
}

// Position gives the line and the column of a mark, both from 1, the column in characters.
func (l *Locator) Position(m Mark) (line, column int) {
	if m < 0 {
		return int(-m >> 32), int(-m & 0xffffffff)
	}
	offset := min(int(m), len(l.text))
	if offset < l.at {
		l.at, l.line, l.column = 0, 0, 0
	}
	between := l.text[l.at:offset]
	if n := strings.Count(between, "\n"); n > 0 {
		l.line += n
		l.column = 0
		between = between[strings.LastIndexByte(between, '\n')+1:]
	}
	l.column += utf8.RuneCountInString(between)
	l.at = offset
	return l.line + 1, l.column + 1
}

// Path is the way from the root to a value, kept while reading so that a fault can name its field.
type Path struct {
	stream string
	steps  []step
}

type step struct {
	key   string
	index int // of an item of a list, -1 for a member of a mapping
}

// NewPath gives the path of the root of a document in which the items of one member are streamed.
func NewPath(stream string) Path { return Path{stream: stream} }

// Push enters a member of a mapping.
func (p *Path) Push(key string) { p.steps = append(p.steps, step{key, -1}) }

// PushItem enters an item of a list.
func (p *Path) PushItem(index int) { p.steps = append(p.steps, step{"", index}) }

// Pop leaves what was entered last.
func (p *Path) Pop() { p.steps = p.steps[:len(p.steps)-1] }

// Field writes the path, as in repos[3].views.start-here, and gives the index of the streamed item, -1
// outside.
func (p *Path) Field() (field string, item int) {
	var b strings.Builder
	for i, s := range p.steps {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i == 0:
			b.WriteString(Quote(s.key))
		default:
			b.WriteString("." + Quote(s.key))
		}
	}
	if len(p.steps) > 1 && p.steps[0].key == p.stream && p.steps[1].index >= 0 {
		return b.String(), p.steps[1].index
	}
	return b.String(), -1
}

// Quote gives a key as it stands in a field path: plain words as they are, anything else quoted and short.
func Quote(key string) string {
	const most = 60
	plain := key != "" && len(key) <= most
	for i := 0; i < len(key) && plain; i++ {
		c := key[i]
		plain = c == '_' || c == '-' || c == '/' || c == '.' && i > 0 ||
			'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	if plain {
		return key
	}
	return wording.Quote(key, most)
}
