package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// maxWord is the longest name, owner, class and the like, in bytes.
const maxWord = 200

// text reads a scalar that must be text.
func (r *reader) text(n *tree.Node) (string, bool) {
	switch n.Kind {
	case tree.String:
		return n.Text, true
	case tree.Number, tree.Bool, tree.Time:
		r.reject(n.Mark, WrongType, "%s is read as %s; put it in quotes", quote(n.Text), n.Kind)
	default:
		r.reject(n.Mark, WrongType, "expected text, found %s", n.Kind)
	}
	return "", false
}

// name reads a short text on one line that is not empty.
func (r *reader) name(n *tree.Node) (string, bool) {
	s, ok := r.optional(n)
	if ok && s == "" {
		r.reject(n.Mark, InvalidValue, "the text is empty")
		return "", false
	}
	return s, ok
}

// optional reads a short text on one line, which may be empty.
func (r *reader) optional(n *tree.Node) (string, bool) {
	s, ok := r.text(n)
	switch {
	case !ok:
		return "", false
	case len(s) > maxWord || strings.ContainsAny(s, "\n\r\t"):
		r.reject(n.Mark, InvalidValue, "%s must be one line of at most %d bytes", quote(s), maxWord)
		return "", false
	case s != strings.TrimSpace(s):
		r.reject(n.Mark, InvalidValue, "%s starts or ends with a blank; remove it", quote(s))
		return "", false
	}
	return r.keep(s), true
}

// choice reads one of a few words.
func choice[T ~string](r *reader, n *tree.Node, allowed ...T) (T, bool) {
	s, ok := r.text(n)
	if !ok {
		return "", false
	}
	for _, a := range allowed {
		if s == string(a) {
			return a, true
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	r.reject(n.Mark, InvalidValue, "%s is none of %s%s", quote(s), strings.Join(names, ", "), didYouMean(s, names))
	return "", false
}

func (r *reader) boolean(n *tree.Node) bool {
	if n.Kind != tree.Bool {
		r.reject(n.Mark, WrongType, "expected true or false, found %s", describe(n))
	}
	return n.Kind == tree.Bool && strings.EqualFold(n.Text, "true")
}

// describe names what a node holds, with the text of a scalar.
func describe(n *tree.Node) string {
	if n.Kind == tree.String || n.Kind == tree.Number {
		return quote(n.Text)
	}
	return n.Kind.String()
}

// list gives the items of a list. A manifest may have a single item without the list around it.
func (r *reader) list(n *tree.Node) []tree.Node {
	switch {
	case n.Kind == tree.List:
		return n.Items
	case r.manifest && n.Kind == tree.String:
		return []tree.Node{*n}
	}
	r.reject(n.Mark, WrongType, "expected a list, found %s", describe(n))
	return nil
}

// words reads a list with read, leaving out what read refuses and what was there before. Equal lists share
// their memory.
func (r *reader) words(items []tree.Node, read func(n *tree.Node) (string, bool)) []string {
	words := r.scratch[:0]
	for i := range items {
		r.path.PushItem(i)
		s, ok := read(&items[i])
		if ok && slices.Contains(words, s) {
			r.report(items[i].Mark, InvalidValue, Warn, "%s is in the list already", quote(s))
		} else if ok {
			words = append(words, s)
		}
		r.path.Pop()
	}
	r.scratch = words
	return r.share(words)
}

// share gives a list that is equal to words, the same for equal lists; nil if it is empty.
func (r *reader) share(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	key := r.listKey[:0]
	for _, w := range words {
		key = append(append(key, w...), 0)
	}
	r.listKey = key
	if have, ok := r.lists[string(key)]; ok {
		return have
	}
	list := slices.Clone(words)
	if len(r.lists) < maxKept {
		r.lists[string(key)] = list
	}
	return list
}

// members gives the members of a mapping.
func (r *reader) members(n *tree.Node) []tree.Node {
	if n.Kind != tree.Map {
		r.reject(n.Mark, WrongType, "expected a mapping, found %s", describe(n))
		return nil
	}
	return n.Items
}

// key checks the key of a mapping whose keys are names.
func (r *reader) key(n *tree.Node) bool {
	if n.Key == "" || len(n.Key) > maxWord || strings.ContainsAny(n.Key, "\n\r\t") {
		r.reject(n.KeyMark, InvalidValue, "%s is no name: one line of 1 to %d bytes", quote(n.Key), maxWord)
		return false
	}
	return true
}

// mapping reads a mapping of names to values of one kind; nil if it is empty.
func mapping[V any](r *reader, n *tree.Node, read func(n *tree.Node) (V, bool)) map[string]V {
	items := r.members(n)
	if len(items) == 0 {
		return nil
	}
	out := make(map[string]V, len(items))
	for i := range items {
		m := &items[i]
		if m.Kind == tree.Null {
			continue // written down as absent
		}
		r.path.Push(m.Key)
		if r.key(m) {
			if v, ok := read(m); ok {
				out[r.keep(m.Key)] = v
			}
		}
		r.path.Pop()
	}
	return out
}

// roots reads a mapping of types to one folder or a list of them.
func (r *reader) roots(n *tree.Node) []ResourceRoot {
	items := r.members(n)
	if len(items) == 0 {
		return nil
	}
	out := make([]ResourceRoot, 0, len(items))
	for i := range items {
		m := &items[i]
		if m.Kind == tree.Null {
			continue // written down as absent
		}
		r.path.Push(m.Key)
		if r.key(m) {
			if paths := r.rootPaths(m); len(paths) > 0 {
				out = append(out, ResourceRoot{Type: r.keep(m.Key), Paths: paths})
			}
		}
		r.path.Pop()
	}
	slices.SortFunc(out, func(a, b ResourceRoot) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

func (r *reader) rootPaths(n *tree.Node) []string {
	if n.Kind == tree.List {
		return r.words(n.Items, r.folder)
	}
	if p, ok := r.folder(n); ok {
		return []string{p}
	}
	return nil
}

// extension gives an x- field as JSON.
func (r *reader) extension(n *tree.Node) json.RawMessage {
	var buf bytes.Buffer
	writeJSON(&buf, n)
	return buf.Bytes()
}

func writeJSON(buf *bytes.Buffer, n *tree.Node) {
	switch n.Kind {
	case tree.Null:
		buf.WriteString("null")
	case tree.Bool:
		buf.WriteString(strings.ToLower(n.Text))
	case tree.Number:
		if json.Valid([]byte(n.Text)) {
			buf.WriteString(n.Text)
			return
		}
		writeText(buf, n.Text) // a form that only YAML or TOML has, such as 0x10 or .inf
	case tree.List:
		buf.WriteByte('[')
		for i := range n.Items {
			comma(buf, i)
			writeJSON(buf, &n.Items[i])
		}
		buf.WriteByte(']')
	case tree.Map:
		buf.WriteByte('{')
		for i := range n.Items {
			comma(buf, i)
			writeText(buf, n.Items[i].Key)
			buf.WriteByte(':')
			writeJSON(buf, &n.Items[i])
		}
		buf.WriteByte('}')
	default:
		writeText(buf, n.Text)
	}
}

func comma(buf *bytes.Buffer, i int) {
	if i > 0 {
		buf.WriteByte(',')
	}
}

func writeText(buf *bytes.Buffer, s string) {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err == nil { // a string cannot fail to encode
		buf.Truncate(buf.Len() - 1) // the line break that Encode adds
	}
}
