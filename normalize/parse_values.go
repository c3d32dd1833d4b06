package normalize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// takeCommand reads the program and its arguments.
func (e *entry) takeCommand() {
	h := e.first(roleCommand)
	if h != nil {
		e.took(h)
		switch h.node.Kind {
		case syntax.Array:
			if !e.d.argv {
				e.note(CommandArray, "", h.off)
			}
			e.takeArgv(h.node)
		case syntax.Object:
			e.note(CommandObject, "", h.off)
			e.takeCommandObject(h.node)
		default:
			e.command = scalar(h.node)
		}
		e.keepOthers(h)
	}
	if a := e.first(roleArgs); a != nil {
		e.took(a)
		e.takeArgs(a.node)
		e.keepOthers(a)
	}
}

// keepOthers keeps further fields of the same role that say something else.
func (e *entry) keepOthers(h *hit) {
	for i := range e.hits {
		o := &e.hits[i]
		if o.role == h.role && o.node != h.node && o.node.Kind != syntax.Null && textOf(o.node) != textOf(h.node) {
			e.keep(*o)
		}
	}
}

func scalar(n *syntax.Node) val {
	return val{text: n.Text, off: n.Offset, coerced: n.Kind != syntax.String}
}

// takeArgv reads a list of program and arguments.
func (e *entry) takeArgv(n *syntax.Node) {
	if len(n.Items) > 0 && n.Items[0].Scalar() {
		e.command = scalar(n.Items[0])
		e.takeItems(n.Items[1:], 1)
	}
}

// takeCommandObject reads {path, args, env} in place of the command.
func (e *entry) takeCommandObject(n *syntax.Node) {
	for _, m := range n.Members {
		switch role := synonymRole(m.Name); {
		case m.Name == "path" || role == roleCommand:
			if m.Value.Scalar() {
				e.command = scalar(m.Value)
			}
		case role == roleArgs:
			e.takeArgs(m.Value)
		case role == roleEnv:
			e.hits = append(e.hits, hit{role: roleEnv, name: "command." + m.Name, node: m.Value, off: m.Offset})
		default:
			e.keep(hit{name: "command." + m.Name, node: m.Value, off: m.Offset})
		}
	}
}

// takeArgs reads the arguments: a list, or one text.
func (e *entry) takeArgs(n *syntax.Node) {
	switch n.Kind {
	case syntax.Array:
		e.takeItems(n.Items, 0)
	case syntax.String:
		if words := splitWords(n.Text); len(words) > 0 {
			e.note(ArgsStringSplit, "", n.Offset)
			for _, w := range words {
				e.args = append(e.args, val{text: w, off: n.Offset})
			}
		}
	case syntax.Bool, syntax.Number:
		e.args = append(e.args, scalar(n))
	case syntax.Object:
		e.dropped(ArgNotScalarDropped, "args", n)
	}
}

// takeItems reads list items as arguments. First is how many items of the list
// came before, since a dropped one is counted as in the paste.
func (e *entry) takeItems(items []*syntax.Node, first int) {
	if e.args == nil {
		e.args = make([]val, 0, len(items))
	}
	for i, item := range items {
		if item.Scalar() {
			e.args = append(e.args, scalar(item))
			continue
		}
		field := argField(i)
		if first > 0 {
			field = "command[" + strconv.Itoa(i+first) + "]"
		}
		switch item.Kind {
		case syntax.Null:
			e.note(NullArgDropped, field, item.Offset)
		default:
			e.dropped(ArgNotScalarDropped, field, item)
		}
	}
}

// takeEnv reads the variables.
func (e *entry) takeEnv() {
	for i := 0; i < len(e.hits); i++ {
		h := e.hits[i]
		switch h.role {
		case roleEnv:
			e.took(&h)
			e.takeEnvNode(&h)
		case roleEnvFrom:
			e.takeNames(h.node)
		}
	}
	for i := range e.hits {
		if h := &e.hits[i]; h.role == roleEnvKeys {
			e.takeEnvKeys(h.node)
		}
	}
}

func (e *entry) takeEnvNode(h *hit) {
	switch h.node.Kind {
	case syntax.Object:
		for i, m := range h.node.Members {
			if lastIndex(h.node, m.Name) != i {
				e.note(DuplicateKey, h.name+"."+m.Name, m.Offset)
				continue
			}
			e.takeVariable(m.Name, m.Value)
		}
	case syntax.Array:
		e.note(EnvArray, "", h.off)
		for _, item := range h.node.Items {
			e.takeEnvItem(item)
		}
	case syntax.String:
		e.note(EnvArray, "", h.off)
		for _, word := range splitWords(h.node.Text) {
			e.takePair(word, h.node)
		}
	case syntax.Null:
	default:
		e.keep(*h)
	}
}

// takeVariable reads one variable of a map.
func (e *entry) takeVariable(name string, n *syntax.Node) {
	switch n.Kind {
	case syntax.Null:
		if e.d.nullUnsets {
			e.s.EnvUnset = append(e.s.EnvUnset, name)
		} else {
			e.note(NullEnvDropped, name, n.Offset)
		}
		return
	case syntax.Bool, syntax.Number:
		e.note(EnvCoerced, name, n.Offset)
	case syntax.Array, syntax.Object:
		e.note(EnvNotScalar, name, n.Offset)
	}
	e.setEnv(name, val{text: textOf(n), off: n.Offset})
}

// takeEnvItem reads one variable of a list: "NAME=value", {name, value}, or a
// name alone, which is forwarded.
func (e *entry) takeEnvItem(n *syntax.Node) {
	switch n.Kind {
	case syntax.String:
		e.takePair(n.Text, n)
	case syntax.Object:
		name, value := n.Get("name"), n.Get("value")
		if name == nil {
			name = n.Get("key")
		}
		switch {
		case name != nil && name.Kind == syntax.String && value != nil:
			e.takeVariable(name.Text, value)
		case name == nil && len(n.Members) == 1:
			e.takeVariable(n.Members[0].Name, n.Members[0].Value)
		default:
			e.dropped(ArgNotScalarDropped, "env", n)
		}
	default:
		e.dropped(ArgNotScalarDropped, "env", n)
	}
}

func (e *entry) takePair(text string, n *syntax.Node) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		e.s.EnvFrom = append(e.s.EnvFrom, name)
		return
	}
	e.setEnv(strings.TrimSpace(name), val{text: value, off: n.Offset})
}

// takeNames reads the names of variables to forward, each a text or an object
// with a name.
func (e *entry) takeNames(n *syntax.Node) {
	for _, item := range n.Items {
		if name := item.Get("name"); name != nil {
			item = name
		}
		if item.Kind == syntax.String && item.Text != "" {
			e.s.EnvFrom = append(e.s.EnvFrom, item.Text)
		}
	}
}

// takeEnvKeys reads names of secrets: each becomes a variable with a reference
// to the secret of the same name.
func (e *entry) takeEnvKeys(n *syntax.Node) {
	for _, item := range n.Items {
		if item.Kind != syntax.String || nameLen(item.Text) != len(item.Text) || item.Text == "" {
			continue
		}
		e.setEnv(item.Text, val{text: "${" + item.Text + "}", off: item.Offset, own: true})
	}
}

// takeHeaders reads the headers from all the fields that give some.
func (e *entry) takeHeaders() {
	for i := range e.hits {
		h := &e.hits[i]
		switch h.role {
		case roleHeaders:
			e.took(h)
			e.takeHeaderNode(h)
		case roleHeaderVars:
			for _, m := range h.node.Members {
				e.setHeader(m.Name, val{text: "${" + m.Value.Text + "}", off: m.Offset, own: true})
			}
		case roleBearerVar:
			if h.node.Text != "" {
				e.setHeader("Authorization", val{text: "Bearer ${" + h.node.Text + "}", off: h.off, own: true})
			}
		case roleBearer:
			if h.node.Scalar() && h.node.Text != "" {
				e.took(h)
				e.setHeader("Authorization", val{text: "Bearer " + h.node.Text, off: h.node.Offset})
			}
		}
	}
}

// dropHeaderKeys takes out variables that only name the secret in a header: the
// client has one list of secrets for both.
func (e *entry) dropHeaderKeys() {
	e.envAt = places{}
	e.env = slices.DeleteFunc(e.env, func(v named) bool {
		return v.own && slices.ContainsFunc(e.headers, func(h named) bool { return strings.Contains(h.text, v.text) })
	})
}

func (e *entry) takeHeaderNode(h *hit) {
	switch h.node.Kind {
	case syntax.Object:
		for i, m := range h.node.Members {
			switch {
			case lastIndex(h.node, m.Name) != i:
				e.note(DuplicateKey, h.name+"."+m.Name, m.Offset)
			case m.Value.Kind == syntax.Null:
				e.note(NullArgDropped, "headers."+m.Name, m.Offset)
			default:
				if m.Value.Kind != syntax.String {
					e.note(ArgCoerced, "headers."+m.Name, m.Offset)
				}
				e.setHeader(m.Name, val{text: textOf(m.Value), off: m.Value.Offset})
			}
		}
	case syntax.Array:
		for _, item := range h.node.Items {
			e.takeHeaderItem(item)
		}
	case syntax.String:
		e.takeHeaderLine(h.node.Text, h.node.Offset)
	}
}

func (e *entry) takeHeaderItem(n *syntax.Node) {
	name, value := n.Get("name"), n.Get("value")
	switch {
	case n.Kind == syntax.String:
		e.takeHeaderLine(n.Text, n.Offset)
	case name != nil && value != nil:
		e.setHeader(name.Text, val{text: textOf(value), off: value.Offset})
	default:
		e.dropped(ArgNotScalarDropped, "headers", n)
	}
}

// takeHeaderLine reads "Name: value", also with an equals sign.
func (e *draft) takeHeaderLine(line string, off int) {
	i := strings.IndexAny(line, ":=")
	if i <= 0 {
		return
	}
	e.setHeader(strings.TrimSpace(line[:i]), val{text: strings.TrimSpace(line[i+1:]), off: off})
}

// takePaths reads the working folder and the file of variables.
func (e *entry) takePaths() {
	if h := e.first(roleCwd); h != nil && h.node.Kind == syntax.String && h.node.Text != "" {
		e.took(h)
		e.cwd = scalar(h.node)
	}
	if h := e.first(roleEnvFile); h != nil && h.node.Kind == syntax.String && h.node.Text != "" {
		e.envFile = scalar(h.node)
	}
}
