package normalize

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// pairs expands the values of a list of pairs, never the names.
func (f *fields) pairs(field string, pairs []Pair) []Pair {
	if len(pairs) == 0 {
		return nil
	}
	out := make([]Pair, len(pairs))
	for i, p := range pairs {
		out[i] = Pair{Name: p.Name, Value: f.text(field+"."+p.Name, p.Value)}
	}
	return out
}

// env expands the entry's own environment and remembers it for the arguments.
func (f *fields) env() []Pair {
	if len(f.s.Env) == 0 {
		return nil
	}
	out := make([]Pair, len(f.s.Env))
	known := make(map[string]entryVar, len(out))
	for i, p := range f.s.Env {
		out[i] = Pair{Name: p.Name, Value: f.loose("env."+p.Name, p.Value)}
		known[p.Name] = entryVar{value: out[i].Value, resolved: !f.x.left}
	}
	f.scope.entryEnv = known
	return out
}

// envFrom checks that the names to forward are set.
func (f *fields) envFrom() []string {
	for _, name := range f.s.EnvFrom {
		r := ref{kind: refVar, name: name}
		f.x.field = "env_from"
		if !f.x.isSet(f.vars, &r) && !f.x.has(RefDenied, name) {
			f.x.note(EnvFromUnset, name)
		}
	}
	return append([]string(nil), f.s.EnvFrom...)
}

// args expands the arguments. One that is nothing but a prompt with several
// answers becomes one argument for each.
func (f *fields) args() []string {
	var out []string
	for i, arg := range f.s.Args {
		f.scope.arg = i
		field := "args[" + strconv.Itoa(i) + "]"
		if in := f.s.multiple(arg); in != nil {
			out = append(out, f.answers(field, arg, in)...)
		} else {
			out = append(out, f.loose(field, arg))
		}
	}
	f.scope.arg = -1
	return out
}

// multiple gives the prompt that an argument consists of, if that prompt may
// have several answers.
func (s *Server) multiple(arg string) *Input {
	if !strings.HasPrefix(arg, "${"+inputPrefix) {
		return nil
	}
	var r ref
	if scanRef(arg, &r); r.kind != refInput || r.size != len(arg) {
		return nil
	}
	if in := s.input(r.inputID()); in != nil && in.Multiple {
		return in
	}
	return nil
}

// input gives the declaration of a prompt, or nil.
func (s *Server) input(id string) *Input {
	for i := range s.Inputs {
		if s.Inputs[i].ID == id {
			return &s.Inputs[i]
		}
	}
	return nil
}

// answers gives the arguments that a prompt with several answers becomes: the
// lines of the answer, else the defaults, else the reference.
func (f *fields) answers(field, arg string, in *Input) []string {
	if !f.begin(field) {
		return nil
	}
	r := ref{kind: refInput, name: inputPrefix + in.ID, native: true}
	value, v, err := f.x.resolve(f.vars, &r)
	switch {
	case err != nil:
		f.err = err
		return nil
	case v == takeValue:
		return strings.Split(value, "\n")
	case v == keepText:
		return []string{arg}
	case in.Default == nil:
		f.x.unresolved(&r)
		return []string{arg}
	}
	f.x.note(InputDefaultUsed, in.ID)
	out := make([]string, len(in.Default))
	for i, d := range in.Default {
		out[i] = f.text(field, d)
	}
	return out
}

func (f *fields) oauth() *OAuth {
	from := f.s.OAuth
	if from == nil {
		return nil
	}
	to := &OAuth{
		Off:          from.Off,
		ClientID:     f.text("oauth.client_id", from.ClientID),
		ClientSecret: f.text("oauth.client_secret", from.ClientSecret),
	}
	for _, scope := range from.Scopes {
		to.Scopes = append(to.Scopes, f.text("oauth.scopes", scope))
	}
	return to
}

// notePlatform notes what the target makes of the expanded record.
func (f *fields) notePlatform(l *Launch) {
	if f.opts.goos() == "windows" && needsCmd(l.Command) {
		for i, arg := range l.Args {
			if strings.ContainsAny(arg, " \t") {
				f.x.note(SpaceInArgUnderCmd, "args["+strconv.Itoa(i)+"]")
			}
		}
	}
	if f.s.Image == "" {
		return
	}
	_, forwarded := dockerRun(f.s.Command, f.s.Args)
	for _, name := range forwarded {
		r := ref{kind: refBare, name: name}
		if _, own := f.scope.entryEnv[name]; !own && !f.x.isSet(f.vars, &r) {
			f.x.note(DockerEnvNoValue, name)
		}
	}
}

// checkText refuses what no process, or no address or header, can take. It
// names the field and the variable and never the value.
func checkText(field, name, s string, line bool) error {
	var what string
	switch {
	case strings.IndexByte(s, 0) >= 0:
		what = "holds a NUL byte"
	case !utf8.ValidString(s):
		what = "is not valid UTF-8"
	case line && strings.ContainsAny(s, "\r\n"):
		what = "holds a line break"
	default:
		return nil
	}
	subject := "the text"
	if name != "" {
		subject = "the value of " + strconv.Quote(clip(name))
	}
	return &Error{Code: BadValue, Subject: field, Message: subject + " " + what}
}
