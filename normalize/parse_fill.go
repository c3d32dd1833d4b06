package normalize

import (
	"slices"
	"strconv"
	"strings"
)

func argField(i int) string { return "args[" + strconv.Itoa(i) + "]" }

// A fieldPath names a field of a record. Most are never asked for their text.
type fieldPath struct {
	field string // "command", "args", "env", ...
	name  string // of a pair
	index int    // of an argument
}

// String gives the path as notes have it.
func (f fieldPath) String() string {
	switch {
	case f.field == "args":
		return argField(f.index)
	case f.name != "":
		return f.field + "." + f.name
	}
	return f.field
}

// trimEdges cuts blanks at the ends of values that never have them, and notes
// those of other values.
func (e *draft) trimEdges() {
	e.trim(fieldPath{field: "url"}, &e.url)
	e.trim(fieldPath{field: "cwd"}, &e.cwd)
	for i := range e.headers {
		e.trim(fieldPath{field: "headers", name: e.headers[i].name}, &e.headers[i].val)
	}
	for _, v := range e.env {
		if strings.TrimSpace(v.text) != v.text {
			e.note(EdgeSpace, "env."+v.name, v.off)
		}
	}
	for i, v := range e.args {
		if strings.TrimSpace(v.text) != v.text && !strings.Contains(v.text, "\n") {
			e.note(EdgeSpace, argField(i), v.off)
		}
	}
}

func (e *draft) trim(f fieldPath, v *val) {
	if t := strings.TrimSpace(v.text); t != v.text {
		e.note(EdgeSpaceTrimmed, f.String(), v.off)
		v.text = t
	}
}

// fill puts the values into the record, with their references in the one
// spelling, and checks each of them.
func (e *draft) fill() {
	e.s.Command = e.value(fieldPath{field: "command"}, e.command, useCommand)
	e.fillArgs()
	e.s.Env = e.fillPairs("env", e.env, useEnv)
	e.s.Headers = e.fillPairs("headers", e.headers, useHeader)
	e.s.URL = e.value(fieldPath{field: "url"}, e.url, useURL)
	e.s.Cwd = e.value(fieldPath{field: "cwd"}, e.cwd, useOther)
	e.fillEnvFile()
	e.fillOAuth()
	e.fillInputs()
}

func (e *draft) fillArgs() {
	if len(e.args) == 0 {
		return
	}
	script := shellScript(e.command.text, e.args)
	e.s.Args = make([]string, len(e.args))
	for i, arg := range e.args {
		f := fieldPath{field: "args", index: i}
		use := useArg
		if i == script {
			use = useScript
			e.note(ShellString, f.String(), arg.off)
		}
		if arg.coerced {
			e.note(ArgCoerced, f.String(), arg.off)
		}
		e.s.Args[i] = e.value(f, arg, use)
	}
}

func (e *draft) fillPairs(field string, list []named, u use) []Pair {
	if len(list) == 0 {
		return nil
	}
	out := make([]Pair, len(list))
	for i, v := range list {
		f := fieldPath{field: field, name: v.name}
		out[i] = Pair{v.name, e.value(f, v.val, u)}
		if strings.Contains(v.name, "${") {
			e.note(RefInKey, f.String(), v.off)
		}
		e.checkSecret(f, v.name, v.val)
	}
	return out
}

// use says what a value is for.
type use uint8

const (
	useOther use = iota
	useCommand
	useArg
	useScript // a script of a shell among the arguments
	useEnv
	useHeader
	useURL
)

// value brings the references of one value into the one spelling and notes
// what is odd about it.
func (e *draft) value(f fieldPath, v val, u use) string {
	if v.text == "" {
		return ""
	}
	text := v.text
	if strings.ContainsAny(text, "$`{") {
		s := spelling{e: e, field: f, off: v.off, use: u}
		text = s.canonical(text)
		if s.foreign && !v.own && !e.posix {
			e.s.unsent = append(e.s.unsent, f.String())
		}
	}
	if u != useScript && isPlaceholder(withoutRefs(v.text), e.d.id) {
		e.note(Placeholder, f.String(), v.off)
	}
	if u == useArg && isQuotedJSON(text) {
		e.note(DoubleQuotedJSON, f.String(), v.off)
	}
	if (u == useArg || u == useCommand) && hasDriveControl(text) {
		e.note(ControlCharacter, f.String(), v.off)
	}
	return text
}

// isQuotedJSON tells whether a value is JSON text in quotes of its own.
func isQuotedJSON(s string) bool {
	return len(s) > 4 && s[0] == '"' && s[len(s)-1] == '"' && s[1] == '{' && s[len(s)-2] == '}'
}

// hasDriveControl tells whether a Windows path holds a control character, which
// a single backslash in JSON leaves behind.
func hasDriveControl(s string) bool {
	return len(s) > 2 && s[1] == ':' && isNameStart(s[0]) && strings.ContainsAny(s, "\t\n\f\b\r")
}

func (e *draft) fillEnvFile() {
	e.s.EnvFile = e.value(fieldPath{field: "env_file"}, e.envFile, useOther)
	if e.s.EnvFile == "" {
		return
	}
	if read := e.r.opts.ReadFile; read != nil && !strings.Contains(e.s.EnvFile, "${") {
		if data, err := read(e.s.EnvFile); err == nil && e.addEnvFile(string(data)) {
			return
		}
	}
	e.note(EnvFileNotRead, "", e.envFile.off)
}

// addEnvFile adds the variables of a file that the caller let us read. Those
// of the entry itself win. A value that looks like a reference cannot stand in
// a record as the literal text it is, so it is left out; then the answer is
// false.
func (e *draft) addEnvFile(text string) bool {
	all := true
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		switch {
		case slices.ContainsFunc(e.s.Env, func(p Pair) bool { return p.Name == name }):
		case strings.Contains(value, "${"):
			all = false
		default:
			e.s.Env = append(e.s.Env, Pair{name, value})
		}
	}
	return all
}

func (e *draft) fillOAuth() {
	if e.s.OAuth == nil {
		return
	}
	o := e.s.OAuth
	secret := val{text: o.ClientSecret, off: e.off}
	o.ClientID = e.value(fieldPath{field: "oauth", name: "client_id"}, val{text: o.ClientID, off: e.off}, useOther)
	o.ClientSecret = e.value(fieldPath{field: "oauth", name: "client_secret"}, secret, useOther)
	e.checkSecret(fieldPath{field: "oauth", name: "client_secret"}, "secret", secret)
	for i, scope := range o.Scopes {
		o.Scopes[i] = e.value(fieldPath{field: "oauth", name: "scopes"}, val{text: scope, off: e.off}, useOther)
	}
}
