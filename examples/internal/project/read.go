package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// reader fills a File and notes every fault on the way.
type reader struct {
	file     File
	faults   []fault
	path     []string           // of the field being read
	patterns []positioned       // of candidates, checked when all else is known
	outputs  []positionedOutput // likewise
	folders  []positioned       // docs, templates and roots that the file names, likewise
}

type fault struct {
	line, column int
	field, text  string
}

type positioned struct {
	field, text string
	node        *yamldoc.Node
}

type positionedOutput struct {
	out  changeset.Output
	node *yamldoc.Node
}

func (o positionedOutput) place() positioned { return positioned{"outputs", o.out.Path, o.node} }

// member is a field of a mapping and what reads it.
type member struct {
	name     string
	required bool
	read     func(*yamldoc.Node)
}

func (r *reader) fault(n *yamldoc.Node, format string, args ...any) {
	field := strings.Join(r.path, ".")
	if field == "" {
		field = "project file"
	}
	r.faults = append(r.faults, fault{n.Line, n.Column, field, fmt.Sprintf(format, args...)})
}

func (r *reader) read(n *yamldoc.Node) {
	r.mapping(n,
		member{"schema_version", true, r.version},
		member{"project", true, func(n *yamldoc.Node) {
			r.mapping(n,
				member{"id", true, r.word(&r.file.ID)},
				member{"title", false, r.line(&r.file.Title)})
		}},
		member{"docs", true, r.docs},
		member{"views", false, r.list(r.view)},
		member{"outputs", false, r.list(r.output)},
		member{"proposals", false, r.proposals},
		member{"candidates", false, func(n *yamldoc.Node) {
			r.mapping(n,
				member{"allow", false, r.list(r.pattern(&r.file.Allow))},
				member{"authorized", false, r.list(r.pattern(&r.file.Authorized))})
		}},
		member{"templates", false, r.named(&r.file.Templates)},
		member{"roots", false, func(n *yamldoc.Node) {
			r.mapping(n,
				member{"changesets", false, r.named(&r.file.Changesets)},
				member{"previews", false, r.named(&r.file.Previews)},
				member{"stage", false, r.named(&r.file.Stage)})
		}},
	)
	r.defaults(n)
	r.checkFolders()
	r.checkOutputs()
	r.checkPatterns()
}

// defaults fills in what the file leaves out.
func (r *reader) defaults(n *yamldoc.Node) {
	f := &r.file
	if f.Title == "" {
		f.Title = f.ID
	}
	if !has(n, "views") {
		f.Views = []changeset.View{
			{ID: "review", Title: "Review", Renderer: "review"},
			{ID: "outline", Title: "Outline", Renderer: "outline"},
		}
	}
	if !has(n, "proposals") {
		f.Proposals.Allow = operations()
	}
}

func has(n *yamldoc.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name && n.Content[i+1].Tag != "!!null" {
			return true
		}
	}
	return false
}

func operations() []changeset.Op {
	return []changeset.Op{changeset.Create, changeset.Update, changeset.Move, changeset.Delete}
}

// mapping reads the members of n. A null stands for a field that is left out.
func (r *reader) mapping(n *yamldoc.Node, members ...member) {
	if n.Kind != yamldoc.MappingNode {
		r.fault(n, "expected fields, found %s", kindOf(n))
		return
	}
	seen := map[string]bool{}
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.Index(names, key.Value)
		if at < 0 {
			hint := "; there are " + strings.Join(names, ", ")
			if near := wording.Nearest(key.Value, names); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			r.fault(key, "unknown field %s%s", wording.Quote(key.Value, 60), hint)
			continue
		}
		if value.Tag == "!!null" {
			continue
		}
		seen[key.Value] = true
		r.path = append(r.path, key.Value)
		members[at].read(value)
		r.path = r.path[:len(r.path)-1]
	}
	for _, m := range members {
		if m.required && !seen[m.name] {
			r.fault(n, "%s is missing", m.name)
		}
	}
}

func kindOf(n *yamldoc.Node) string {
	switch {
	case n.Kind == yamldoc.MappingNode:
		return "fields"
	case n.Kind == yamldoc.SequenceNode:
		return "a list"
	case n.Tag == "!!str":
		return "a text"
	}
	return "the value " + wording.Quote(n.Value, 40)
}

// list reads each item of a list.
func (r *reader) list(read func(*yamldoc.Node)) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		if n.Kind != yamldoc.SequenceNode {
			r.fault(n, "expected a list, found %s", kindOf(n))
			return
		}
		for _, item := range n.Content {
			read(item)
		}
	}
}

// text returns the text of n.
func (r *reader) text(n *yamldoc.Node) (string, bool) {
	if n.Kind != yamldoc.ScalarNode || n.Tag != "!!str" {
		r.fault(n, "expected a text, found %s; put it in quotes", kindOf(n))
		return "", false
	}
	if n.Value == "" || len(n.Value) > rootfs.MaxPath || strings.ContainsAny(n.Value, "\r\n\t") {
		r.fault(n, "expected one line of 1 to %d bytes", rootfs.MaxPath)
		return "", false
	}
	return n.Value, true
}

func (r *reader) line(to *string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		text, ok := r.text(n)
		if ok && len(text) > maxTitle {
			r.fault(n, "%d bytes, the limit is %d", len(text), maxTitle)
			return
		}
		*to = text
	}
}

const (
	maxTitle = 200
	maxWord  = 64
)

// word reads an id: lower-case letters and digits, with single hyphens inside.
func (r *reader) word(to *string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		text, ok := r.text(n)
		if !ok {
			return
		}
		if !isWord(text) {
			r.fault(n, "%s is no id; use at most %d lower-case letters, digits and single hyphens", wording.Quote(text, 80), maxWord)
			return
		}
		*to = text
	}
}

func isWord(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(s) <= maxWord
}

func (r *reader) version(n *yamldoc.Node) {
	if n.Value != "1.0" || n.Tag != "!!str" {
		r.fault(n, `this release reads version "1.0", in quotes`)
	}
}

// folder reads a path in the project.
func (r *reader) folder(to *string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		text, ok := r.text(n)
		if !ok {
			return
		}
		if err := checkPath(strings.TrimSuffix(text, "/")); err != nil {
			r.fault(n, "%v", err)
			return
		}
		*to = strings.TrimSuffix(text, "/")
	}
}

// named is folder, and remembers where the folder is named.
func (r *reader) named(to *string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		before := len(r.faults)
		r.folder(to)(n)
		if len(r.faults) == before {
			r.folders = append(r.folders, positioned{strings.Join(r.path, "."), *to, n})
		}
	}
}

// docs may be the folder of the project itself.
func (r *reader) docs(n *yamldoc.Node) {
	if n.Kind == yamldoc.ScalarNode && strings.TrimSuffix(n.Value, "/") == "." {
		r.file.Docs = "."
		return
	}
	r.named(&r.file.Docs)(n)
}

func (r *reader) view(n *yamldoc.Node) {
	var v changeset.View
	r.mapping(n,
		member{"id", true, r.word(&v.ID)},
		member{"title", false, r.line(&v.Title)},
		member{"renderer", true, r.line(&v.Renderer)})
	switch {
	case v.Renderer != "" && v.Renderer != "review" && v.Renderer != "outline":
		r.fault(n, "no renderer %s; there are review and outline", wording.Quote(v.Renderer, 60))
	case slices.ContainsFunc(r.file.Views, func(other changeset.View) bool { return other.ID == v.ID && v.ID != "" }):
		r.fault(n, "the view %q is declared twice", v.ID)
	}
	if v.Title == "" {
		v.Title = v.ID
	}
	r.file.Views = append(r.file.Views, v)
}

func (r *reader) output(n *yamldoc.Node) {
	var out changeset.Output
	r.mapping(n,
		member{"view", true, r.word(&out.View)},
		member{"path", true, r.folder(&out.Path)})
	r.file.Outputs = append(r.file.Outputs, out)
	r.outputs = append(r.outputs, positionedOutput{out, n})
}

func (r *reader) proposals(n *yamldoc.Node) {
	p := &r.file.Proposals
	r.mapping(n,
		member{"allow", false, r.list(func(n *yamldoc.Node) {
			text, ok := r.text(n)
			if ok && !slices.Contains(operations(), changeset.Op(text)) {
				r.fault(n, "no operation %s; there are create, update, move and delete", wording.Quote(text, 60))
				return
			}
			p.Allow = append(p.Allow, changeset.Op(text))
		})},
		member{"kinds", false, r.list(func(n *yamldoc.Node) {
			var kind string
			r.line(&kind)(n)
			p.Kinds = append(p.Kinds, kind)
		})},
		member{"paths", false, r.list(r.anyPattern(&p.Paths))})
	if !has(n, "allow") {
		p.Allow = operations()
	}
}

// anyPattern reads a pattern of paths.
func (r *reader) anyPattern(to *[]string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		text, ok := r.text(n)
		if !ok {
			return
		}
		if err := pattern.Check(text); err != nil {
			r.fault(n, "%s is no pattern: %v", wording.Quote(text, 80), err)
			return
		}
		*to = append(*to, text)
	}
}

// pattern reads a pattern of paths that candidates may be promoted to.
func (r *reader) pattern(to *[]string) func(*yamldoc.Node) {
	return func(n *yamldoc.Node) {
		before := len(*to)
		r.anyPattern(to)(n)
		for _, text := range (*to)[before:] {
			r.patterns = append(r.patterns, positioned{strings.Join(r.path, "."), text, n})
		}
	}
}
