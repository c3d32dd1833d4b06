package connections

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// sealed is a secret that stood in a paste, and the name it is kept under.
type sealed struct{ name, value string }

// A lifter takes the secrets out of one record, and puts references in their
// place.
type lifter struct {
	server string
	free   freeRule
	series map[string]*series // by base name
	names  map[string]string  // by value
	taken  map[string]bool    // the same names
	found  []sealed
	// open are the fields that hold a value to be filled in, scripts those that
	// hold a script.
	open, scripts map[string]bool

	most  int          // how many secrets there may be
	alive func() error // why to go no further, if so
	err   error        // why it went no further
}

// lift returns the record with references in place of the secrets that stand in
// it in clear, and what they stand for. The package documentation says what
// counts as a secret. The given record stays as it is. The code is
// [CodeTooManySecrets] if there are more than a record may have, which is told
// before anything is done about the rest.
func lift(ctx context.Context, s *normalize.Server, free freeRule) (normalize.Server, []sealed, error) {
	l := newLifter(ctx, s.Name, free)
	for _, n := range s.Notes {
		switch n.Code {
		case normalize.Placeholder:
			l.open[n.Subject] = true
		case normalize.ShellString:
			l.scripts[n.Subject] = true
		}
	}
	out := l.record(s)
	if l.stopped() {
		return normalize.Server{}, nil, l.err
	}
	l.sweep(&out)
	return out, l.found, nil
}

// newLifter makes a lifter for a server of that name.
func newLifter(ctx context.Context, server string, free freeRule) *lifter {
	return &lifter{
		server: server, free: free, series: make(map[string]*series), names: make(map[string]string), taken: make(map[string]bool),
		open: make(map[string]bool), scripts: make(map[string]bool), most: maxSecrets, alive: ctx.Err,
	}
}

// stopped reports whether the record will not be used, so that there is no more to
// do about it.
func (l *lifter) stopped() bool {
	if l.err == nil {
		l.err = l.alive()
	}
	return l.err != nil
}

// record lifts field by field.
func (l *lifter) record(s *normalize.Server) normalize.Server {
	out := *s
	out.Env = l.pairs("env.", s.Env)
	out.Headers = l.pairs("headers.", s.Headers)
	out.Command = l.text("command", s.Command)
	out.Args = l.args(s.Args)
	out.Cwd = l.text("cwd", s.Cwd)
	out.EnvFile = l.text("env_file", s.EnvFile)
	out.URL = l.text("url", s.URL)
	out.OAuth = l.oauth(s.OAuth)
	out.Inputs = l.inputs(s.Inputs)
	out.Extra = rewriteStrings(s.Extra, func(key, value string) string { return l.value(key, value) })
	if s.Equivalent != nil {
		direct := l.record(s.Equivalent)
		out.Equivalent = &direct
	}
	return out
}

// seal returns the reference that takes the place of a secret. hint says where it
// stood, and is the name itself where that is a variable.
func (l *lifter) seal(hint, value string) string {
	if name, ok := l.names[value]; ok {
		return "${" + name + "}"
	}
	if l.stopped() {
		return value
	}
	if len(l.found) == l.most {
		l.err = tooManySecrets()
		return value
	}
	name, err := l.pick(hint, value)
	if err != nil {
		l.err = err
		return value
	}
	l.names[value] = name
	l.taken[name] = true
	l.found = append(l.found, sealed{name, value})
	return "${" + name + "}"
}

// pairs lifts variables and headers, each under its own name. One that is still to
// be filled in is no secret yet, though it may hold one beside.
func (l *lifter) pairs(kind string, list []normalize.Pair) []normalize.Pair {
	out := slices.Clone(list)
	for i, p := range out {
		if l.open[kind+p.Name] {
			out[i].Value = l.text(kind+p.Name, p.Value)
		} else {
			out[i].Value = l.value(kind+p.Name, p.Value)
		}
	}
	return out
}

// value lifts a value that has a name of its own. The name is what follows the
// first dot of the hint, or all of it.
func (l *lifter) value(hint, value string) string {
	if l.stopped() {
		return value
	}
	_, name, dotted := strings.Cut(hint, ".")
	if !dotted {
		name, hint = hint, "field."+hint
	}
	return secrets.ReplaceValue(name, value, l.replacer(hint))
}

// text lifts what can be told from the text itself.
func (l *lifter) text(hint, text string) string {
	if l.stopped() {
		return text
	}
	return secrets.Replace(text, l.replacer(hint))
}

// replacer seals what stands in a field: under the name that it has there, else
// under that of the field.
func (l *lifter) replacer(hint string) secrets.Replacer {
	return func(name, value string) string {
		if name == "" {
			return l.seal(hint, value)
		}
		return l.seal("text."+name, value)
	}
}

// args lifts what follows an option that names a secret, in the same argument or
// the next one, and what any argument holds.
func (l *lifter) args(list []string) []string {
	out := slices.Clone(list)
	option := "" // the argument before, if a value may follow it
	for i, arg := range out {
		field := "args[" + strconv.Itoa(i) + "]"
		name, value, sep := splitPair(arg)
		switch {
		case l.open[field], l.scripts[field]:
			out[i] = l.text("arg.", arg)
		case option != "" && secrets.IsOperand(arg) && secrets.Is(option, arg):
			out[i] = l.value("arg."+option, arg)
		case sep != "":
			out[i] = arg[:len(arg)-len(value)] + l.value("arg."+name, value)
		case strings.Contains(arg, "/"):
			out[i] = l.text("arg.", arg)
		default:
			out[i] = l.value("arg.", arg)
		}
		option = ""
		if sep == "" && strings.HasPrefix(arg, "-") {
			option = strings.TrimLeft(arg, "-")
		}
	}
	return out
}

// pairStart is an option or a name with what separates it from its value.
var pairStart = regexp.MustCompile(`^-{0,2}([A-Za-z_][A-Za-z0-9_.-]*)\s*[=:]\s*`)

// minAfterColon is the length from which what follows a colon is a value: the tag
// of a container image is shorter.
const minAfterColon = 8

// splitPair takes NAME=value, Name: value and --option=value apart, also where an
// option holds such a pair: --header=Name: value. An address is none, and neither
// is the tag of a container image.
func splitPair(arg string) (name, value, sep string) {
	m := pairStart.FindStringSubmatch(arg)
	if m == nil {
		return "", "", ""
	}
	name, value = m[1], arg[len(m[0]):]
	if strings.HasSuffix(m[0], ":") && (len(value) < minAfterColon || strings.HasPrefix(value, "//")) {
		return "", "", ""
	}
	if !secrets.Is(name, value) {
		if inner, rest, innerSep := splitPair(value); innerSep != "" {
			return inner, rest, innerSep
		}
	}
	return name, value, "="
}

// oauth lifts the secret of a client. Its id is public.
func (l *lifter) oauth(o *normalize.OAuth) *normalize.OAuth {
	if o == nil {
		return nil
	}
	out := *o
	out.ClientID = l.text("oauth.client_id", o.ClientID)
	out.ClientSecret = l.value("oauth.client_secret", o.ClientSecret)
	return &out
}

// inputs lifts the defaults of questions; those of secrets as a whole.
func (l *lifter) inputs(list []normalize.Input) []normalize.Input {
	out := slices.Clone(list)
	for i := range out {
		in := &out[i]
		in.Default = slices.Clone(in.Default)
		for j, value := range in.Default {
			hint := "input." + in.ID
			if in.Secret && value != "" && !secrets.StandsIn(value) {
				in.Default[j] = l.seal(hint, value)
			} else {
				in.Default[j] = l.value(hint, value)
			}
		}
	}
	return out
}

// sweep replaces the secrets that were found in one field wherever else they
// stand.
func (l *lifter) sweep(s *normalize.Server) { eachText(s, l.clean) }

// Lengths from which a secret is looked for everywhere else: one that may be a
// word, such as the password "postgres", only if it is long.
const (
	minSweep     = 6
	minSweepWord = 16
)

// swept reports whether a secret is replaced also where it was not found.
func swept(value string) bool {
	return len(value) >= minSweepWord || len(value) >= minSweep && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") != ""
}

// clean replaces found secrets in a text.
func (l *lifter) clean(text string) string {
	for _, found := range l.found {
		if swept(found.value) && strings.Contains(text, found.value) {
			text = strings.ReplaceAll(text, found.value, "${"+found.name+"}")
		}
	}
	return text
}
