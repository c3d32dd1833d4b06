package syntax

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// YAML reads all documents of a YAML text. Plain scalars are typed by the core
// schema of YAML 1.2, so that yes, off and dates are strings; numbers keep
// their text. Aliases and merge keys are resolved. Typographic quotes around a
// scalar are cut.
func YAML(src string) (docs []*Node, fixed Repairs, err error) {
	l := lineOffsets(src)
	lines := &l
	parsed, err := yamldoc.ParseAll([]byte(src), &yamldoc.Options{
		MaxBytes: int64(len(src)) + 1, MaxDepth: MaxDepth, MaxNodes: MaxNodes, Lenient: true,
	})
	if err != nil {
		var e *yamldoc.Error
		if !errors.As(err, &e) {
			return nil, 0, err
		}
		msg := e.Msg
		if strings.HasPrefix(msg, "unknown anchor") { // its name may be a value that somebody forgot to quote
			msg = "an alias names no anchor"
		}
		return nil, 0, &Error{
			Offset: lines.offset(e.Line, e.Column), Msg: msg,
			Limit: e.Code == yamldoc.TooDeep || e.Code == yamldoc.TooManyNodes || e.Code == yamldoc.TooManyKeys,
		}
	}
	for _, n := range parsed {
		docs = append(docs, lines.node(n))
	}
	return docs, lines.fixed, nil
}

// yamlLines knows where the lines of a text start.
type yamlLines struct {
	src    string
	starts []int
	fixed  Repairs
}

func lineOffsets(src string) yamlLines {
	l := yamlLines{src: src, starts: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// offset converts a line and a column in characters.
func (l *yamlLines) offset(line, column int) int {
	if line < 1 || line > len(l.starts) {
		return len(l.src)
	}
	start := l.starts[line-1]
	for i := range l.src[start:] {
		if column--; column <= 0 {
			return start + i
		}
	}
	return len(l.src)
}

func (l *yamlLines) node(y *yamldoc.Node) *Node {
	n := &Node{Offset: l.offset(y.Line, y.Column)}
	switch y.Kind {
	case yamldoc.SequenceNode:
		n.Kind = Array
		for _, item := range y.Content {
			n.Items = append(n.Items, l.node(item))
		}
	case yamldoc.MappingNode:
		n.Kind = Object
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			n.Members = append(n.Members, Member{key.Value, l.offset(key.Line, key.Column), l.node(y.Content[i+1])})
		}
	default:
		n.Text = l.unquote(y.Value)
		n.Kind = scalarKind(y)
	}
	return n
}

// unquote cuts typographic quotes that stand around a scalar.
func (l *yamlLines) unquote(s string) string {
	if s == "" || s[0] < 0x80 {
		return s
	}
	size, double, ok := smartQuote(s)
	if !ok || len(s) <= size {
		return s
	}
	_, last := utf8.DecodeLastRuneInString(s)
	if _, same, ok := smartQuote(s[len(s)-last:]); !ok || same != double {
		return s
	}
	l.fixed |= SmartQuotes
	return s[size : len(s)-last]
}

// scalarKind types a scalar by the core schema. A quoted one has the tag of a
// string whatever it holds.
func scalarKind(y *yamldoc.Node) Kind {
	if y.Tag == "!!str" {
		return String
	}
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	if coreNumber(y.Value) {
		return Number
	}
	return String
}

// coreNumber tells whether s is an integer or a float of the core schema.
func coreNumber(s string) bool {
	if rest, ok := strings.CutPrefix(s, "0x"); ok {
		return rest != "" && strings.Trim(rest, "0123456789abcdefABCDEF") == ""
	}
	if rest, ok := strings.CutPrefix(s, "0o"); ok {
		return rest != "" && strings.Trim(rest, "01234567") == ""
	}
	s = withoutSign(s)
	switch s {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return true
	}
	mantissa, exponent := cutExponent(s)
	if exponent != "" {
		if exponent = withoutSign(exponent[1:]); !allDigits(exponent) || exponent == "" {
			return false
		}
	}
	before, after, point := strings.Cut(mantissa, ".")
	return allDigits(before) && allDigits(after) && (before != "" || point && after != "")
}

func withoutSign(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func allDigits(s string) bool { return digits(s) == len(s) }
