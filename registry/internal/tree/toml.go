package tree

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// readTOML reads one document. The library says what the values are and whether the text is well formed,
// but it has no positions for keys and no limits, so the text is scanned first: see tomlScanner.
func readTOML(text string, h Handler) bool {
	s := scanTOML(text, h.Stream)
	for _, f := range s.faults {
		h.Fault(f)
	}
	if len(s.faults) > 0 {
		return false // the library overlooks some repeated keys, and stops at the first of others
	}
	decoded, err := decodeTOML(text)
	if err != nil {
		h.Fault(tomlFault(err))
		return false
	}
	r := tomlReader{h: h}
	for _, v := range s.root.items {
		if !r.member(v, decoded[v.key]) {
			return false
		}
	}
	return true
}

// decodeTOML decodes into plain maps: the library matches the fields of a struct regardless of case.
func decodeTOML(text string) (decoded map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the TOML reader gave up: %.100v", r)
		}
	}()
	_, err = toml.Decode(text, &decoded)
	return decoded, err
}

func tomlFault(err error) Fault {
	f := Fault{Item: -1, Code: yamldoc.Syntax, Msg: oneLine(err.Error())}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		f.Mark, f.Msg = Mark(pe.Position.Start), oneLine(pe.Message)
	}
	return f
}

// oneLine shortens a message that repeats some of the text.
func oneLine(s string) string {
	return wording.Clip(strings.Join(strings.Fields(s), " "), 200)
}

// tomlReader joins the values of the library with the places that the scanner found.
type tomlReader struct {
	h     Handler
	nodes int
}

func (r *tomlReader) member(v *tomlValue, decoded any) bool {
	if !r.h.streams(v.key) || v.kind != List {
		n, ok := r.item(v, decoded)
		return ok && r.h.Member(&n)
	}
	list := tomlList(decoded)
	if len(list) != len(v.items) {
		return r.differ(v)
	}
	if !r.h.Member(&Node{Kind: List, Key: v.key, KeyMark: v.keyMark, Mark: v.mark}) {
		return false
	}
	for i, item := range v.items {
		n, ok := r.item(item, list[i])
		if !ok || !r.h.Item(i, &n) {
			return false
		}
	}
	return true
}

func (r *tomlReader) item(v *tomlValue, decoded any) (Node, bool) {
	r.nodes = 0
	var n Node
	ok := r.convert(v, decoded, &n)
	return n, ok
}

func (r *tomlReader) convert(v *tomlValue, decoded any, n *Node) bool {
	if r.nodes++; r.nodes > MaxNodes {
		field, item := v.field(r.h.Stream)
		r.h.Fault(Fault{
			Mark: v.mark, Field: field, Item: item, Code: yamldoc.TooManyNodes,
			Msg: fmt.Sprintf("more than %d values below one entry", MaxNodes),
		})
		return false
	}
	*n = Node{Key: v.key, KeyMark: v.keyMark, Mark: v.mark, Text: v.text}
	switch d := decoded.(type) {
	case map[string]any:
		n.Kind = Map
		return v.kind == Map && len(d) == len(v.items) && r.below(v, n, func(i int) any { return d[v.items[i].key] }) || r.differ(v)
	case []any, []map[string]any:
		list := tomlList(d)
		n.Kind = List
		return v.kind == List && len(list) == len(v.items) && r.below(v, n, func(i int) any { return list[i] }) || r.differ(v)
	}
	if v.kind != String {
		return r.differ(v)
	}
	switch d := decoded.(type) {
	case string:
		n.Kind, n.Text = String, d
	case bool:
		n.Kind = Bool
	case time.Time:
		n.Kind = Time
	default:
		n.Kind = Number
	}
	return true
}

func (r *tomlReader) below(v *tomlValue, n *Node, decoded func(i int) any) bool {
	n.Items = make([]Node, len(v.items))
	for i, child := range v.items {
		if !r.convert(child, decoded(i), &n.Items[i]) {
			return false
		}
	}
	return true
}

// differ ends reading where scanner and library do not agree. No text is known for which they do not.
func (r *tomlReader) differ(v *tomlValue) bool {
	field, item := v.field(r.h.Stream)
	r.h.Fault(Fault{Mark: v.mark, Field: field, Item: item, Code: yamldoc.Syntax, Msg: "this value cannot be located; write it plainly"})
	return false
}

func tomlList(decoded any) []any {
	switch d := decoded.(type) {
	case []any:
		return d
	case []map[string]any:
		out := make([]any, len(d))
		for i, m := range d {
			out[i] = m
		}
		return out
	}
	return nil
}
