package normalize

import (
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

// text spells the references of one field as the client does.
func (x *exporter) text(field, s string) string {
	x.field = field
	if !special(s) {
		return s
	}
	return x.rewrite(s)
}

// rewrite is text for a part of the field.
func (x *exporter) rewrite(s string) string {
	var b strings.Builder
	var r ref
	files := x.s.Dialect == OpenCode || x.s.Dialect == Kilo
	from := 0
	for i := 0; i < len(s); i += r.size {
		switch {
		case s[i] == '$':
			scanRef(s[i:], &r)
		case s[i] == '{' && files:
			scanBraceFile(s[i:], &r)
		default:
			r = ref{size: 1}
			if n := strings.IndexByte(s[i+1:], '`'); s[i] == '`' && n >= 0 {
				r = ref{kind: refCommand, size: n + 2}
			}
		}
		piece := s[i : i+r.size]
		out := piece
		switch r.kind {
		case refVar, refInput:
			out = x.ref(&r, s[:i], s[i+r.size:])
		case refFile:
			out = x.file(&r, piece)
		default:
			x.checkLiteral(&r, s[:i], s[i:])
		}
		if out != piece {
			b.WriteString(s[from:i])
			b.WriteString(out)
			from = i + r.size
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// checkLiteral notes literal text that the client would act on. Rest is the
// text from the piece r on.
func (x *exporter) checkLiteral(r *ref, before, rest string) {
	why := ""
	switch {
	case x.barePlace() && r.kind == refBare && !escaped(before):
		why = "the client would expand this text"
	case x.q.shell && (rest[0] == '$' || rest[0] == '`'):
		why = "the client gives this text to a shell"
	case x.d.refs == refCurly && (strings.HasPrefix(rest, "{env:") || strings.HasPrefix(rest, "{file:")),
		x.d.refs == refSecret && strings.HasPrefix(rest, "${{"):
		why = "the client would expand this text"
	}
	if why != "" {
		x.lose(x.field, why)
	}
}

// barePlace reports whether the client expands $NAME in the present field.
func (x *exporter) barePlace() bool {
	return x.d.bare == bareEverywhere || x.d.bare == bareHeaders && strings.HasPrefix(x.field, "headers.")
}

func escaped(before string) bool {
	return strings.HasSuffix(before, "$") || strings.HasSuffix(before, `\`)
}

// file spells a reference to the content of a file.
func (x *exporter) file(r *ref, piece string) string {
	if x.q.files != "" {
		return x.q.files + r.name + "}"
	}
	x.lose(x.field, "the client does not read values from files")
	return piece
}

// ref spells a reference that stands between before and after.
func (x *exporter) ref(r *ref, before, after string) string {
	switch {
	case x.own && slices.ContainsFunc(x.s.Env, func(p Pair) bool { return p.Name == r.name }):
		return r.String() // the bridge reads it
	case r.kind == refInput:
		return x.prompt(r)
	case isContext(r.name):
		if !x.d.workspace {
			x.lose(x.field, "the client does not know ${"+r.name+"}")
		}
		return r.String()
	}
	kind := fieldKind(x.field)
	if kind == "inputs" || x.q.refFields != nil && !slices.Contains(x.q.refFields, kind) {
		x.lose(x.field, "the client expands no reference here")
	}
	if escaped(before) && x.d.refs != refEnv && x.d.refs != refBraced {
		x.lose(x.field, "the client reads the sign before the reference as a part of it")
	}
	if x.d.name(roleEnvKeys) != "" && strings.HasPrefix(x.field, "headers.") {
		x.headerVars = addName(x.headerVars, r.name)
	}
	return x.variable(r, before, after)
}

// variable spells a reference to a variable.
func (x *exporter) variable(r *ref, before, after string) string {
	if x.d.refs == refLiteral || x.d.refs == refByName {
		x.lose(x.field, "the client sends the reference as text")
		return r.String()
	}
	if r.hasDef {
		if !x.d.noDefaults {
			return x.withDefault(r)
		}
		x.lose(x.field, "the client knows no default, so that of "+r.name+" is left out")
	}
	switch x.d.refs {
	case refEnv:
		if x.asks() && (x.secretVars[r.name] || isSecretName(r.name)) {
			x.ask(Input{ID: r.name, Kind: promptText, Secret: true})
			return "${" + inputPrefix + r.name + "}"
		}
		return "${env:" + r.name + "}"
	case refCurly:
		return "{env:" + r.name + "}"
	case refSecret:
		if x.field == "command" {
			return "${{secrets." + r.name + "}}" // a blank would make it a command line
		}
		return "${{ secrets." + r.name + " }}"
	case refDollar:
		if !escaped(before) && nameLen("a"+after) == 1 {
			return "$" + r.name
		}
	}
	return "${" + r.name + "}"
}

// isSecretName reports whether what stands under a name is a secret: by the words
// of the notes too, so that what is noted is asked for.
func isSecretName(name string) bool { return secrets.Noted(name) || secrets.Named(name) }

// secretVars gives the variables that are secrets by their place: the whole value,
// but for a scheme such as Bearer, of a variable or header with such a name.
func secretVars(servers []Server) map[string]bool {
	vars := make(map[string]bool)
	for i := range servers {
		for _, p := range slices.Concat(servers[i].Env, servers[i].Headers) {
			if !isSecretName(p.Name) {
				continue
			}
			_, credentials, _ := strings.Cut(p.Value, " ")
			for _, value := range []string{p.Value, strings.TrimLeft(credentials, " ")} {
				if r, whole := wholeVar(value); whole {
					vars[r.name] = true
				}
			}
		}
	}
	return vars
}

// withDefault spells a reference with a default.
func (x *exporter) withDefault(r *ref) string {
	if x.q.braceEnds && strings.ContainsAny(r.def, "{}") {
		x.lose(x.field, "the client ends a default at its first brace")
	}
	return "${" + r.name + ":-" + x.rewrite(r.def) + "}"
}

// prompt spells a reference to a value that a person is asked for.
func (x *exporter) prompt(r *ref) string {
	switch {
	case x.asks():
		return r.String()
	case x.d.refs == refSecret && nameLen(r.inputID()) == len(r.name)-len(inputPrefix):
		return "${{ inputs." + r.inputID() + " }}"
	}
	x.lose(x.field, "the client asks for no values, so "+r.inputID()+" has to be filled in")
	return r.String()
}

// Kinds of prompts of VS Code.
const (
	promptText = "promptString"
	promptPick = "pickString"
)

// asks reports whether the client asks for values that its file declares.
func (x *exporter) asks() bool { return x.q.prompts != "" }

// ask declares a prompt, once for each id.
func (x *exporter) ask(in Input) {
	for i := range x.prompts {
		if x.prompts[i].ID == in.ID {
			return
		}
	}
	x.prompts = append(x.prompts, in)
}

// declare writes the prompts of the present server.
func (x *exporter) declare() {
	for _, in := range x.s.Inputs {
		field := "inputs." + in.ID
		kind := promptText
		if len(in.Options) > 0 {
			kind = promptPick
		}
		switch {
		case !x.asks():
			x.lose(field, "the client declares no prompts")
			continue
		case kind != in.Kind, in.Multiple, len(in.Default) > 1:
			x.lose(field, "the client has no such kind of prompt, so a plain one is written")
		}
		if len(in.Default) > 0 {
			in.Default = []string{x.text(field, in.Default[0])}
		}
		x.ask(in)
	}
}

// isContext reports whether a name stands for the surroundings of a launch.
func isContext(name string) bool {
	switch name {
	case ctxSeparator, ctxPathSeparator, ctxWorkspace, ctxWorkspaceBasename, ctxHome:
		return true
	}
	return false
}

// fieldKind is the part of a field path that says what the field is.
func fieldKind(field string) string {
	if i := strings.IndexAny(field, ".["); i >= 0 {
		return field[:i]
	}
	return field
}
