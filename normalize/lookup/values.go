package lookup

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// noValues puts references in place of the values that a stranger's text should
// not give: every variable, secrets in clear and values still to be filled in, and
// drops what would choose a folder, a file or other programs of the machine. What
// an entry of the registry says beside a name becomes the default, where it is no
// secret. It gives the names that stand in place of values.
func noValues(server *normalize.Server) (opened []string) {
	c := cleaner{server: server}
	server.Notes = slices.DeleteFunc(slices.Clone(server.Notes), func(n normalize.Note) bool {
		return n.Code == normalize.DuplicateName || n.Code == normalize.DuplicateSame // of a text that stays behind
	})
	for i := range server.Notes {
		server.Notes[i].Dropped = ""
	}
	c.places()
	if server.Image != "" {
		c.container()
	}
	c.env()
	c.headers()
	c.args()
	server.URL = c.shapes("url", c.address("url", server.URL))
	c.others()
	if server.Equivalent != nil {
		inner := *server.Equivalent
		for _, name := range noValues(&inner) {
			c.open(name)
		}
		inner.Notes = nil // those are the outer record's
		server.Equivalent = &inner
	}
	return c.opened
}

// A cleaner takes values out of one record.
type cleaner struct {
	server *normalize.Server
	opened []string
}

// open writes a name down that stands in place of a value, and gives the reference
// to it.
func (c *cleaner) open(name string) string {
	c.opened = appendNew(c.opened, name)
	return "${" + name + "}"
}

// note tells a person what was done to a field.
func (c *cleaner) note(code normalize.Code, subject, message string) {
	same := func(n normalize.Note) bool { return n.Code == code && n.Subject == subject }
	if !slices.ContainsFunc(c.server.Notes, same) && len(c.server.Notes) < maxNoted {
		c.server.Notes = append(c.server.Notes, normalize.Note{Code: code, Subject: subject, Message: message})
	}
}

// maxNoted bounds the notes of a record up to which further ones are added.
const maxNoted = 200

// lifted says that a secret is gone.
func (c *cleaner) lifted(subject string) {
	c.note(normalize.SecretInline, subject, "a secret stood here in clear; a reference is in its place")
}

// noted are the fields whose values are secrets in clear or have to be filled in.
func (c *cleaner) noted() map[string]bool {
	out := make(map[string]bool)
	for _, n := range c.server.Notes {
		if n.Code == normalize.SecretInline || n.Code == normalize.Placeholder {
			out[n.Subject] = true
		}
	}
	return out
}

// dropNotes drops the notes on values that are secrets in clear or have to be
// filled in.
func (c *cleaner) dropNotes(prefix string) {
	c.server.Notes = slices.DeleteFunc(c.server.Notes, func(n normalize.Note) bool {
		return strings.HasPrefix(n.Subject, prefix) && (n.Code == normalize.SecretInline || n.Code == normalize.Placeholder)
	})
}

// places drops the folder and the file of variables: they are of the machine of
// whoever runs the record, and no stranger's to choose.
func (c *cleaner) places() {
	if c.server.Cwd != "" {
		c.note(normalize.BadValue, "cwd", "the working folder was dropped: a source may not choose one")
	}
	if c.server.EnvFile != "" {
		c.note(normalize.BadValue, "env_file", "the file of variables was dropped: a source may not choose one")
	}
	c.server.Cwd, c.server.EnvFile, c.server.Extra = "", "", nil
}

// env makes every variable a reference.
func (c *cleaner) env() {
	noted := c.noted()
	c.dropNotes("env.")
	env := make([]normalize.Pair, 0, len(c.server.Env))
	for _, v := range c.server.Env {
		switch {
		case isDangerous(v.Name):
			c.drop(v.Name)
			continue
		case onlyReferences.MatchString(v.Value):
		case c.server.Dialect == normalize.RegistryServer && !noted["env."+v.Name]:
			v.Value = c.publishedValue(v)
		default:
			v.Value = c.open(refName(v.Name))
		}
		env = append(env, v)
	}
	c.server.Env = env
	if len(env) == 0 {
		c.server.Env = nil
	}
	forwarded := slices.Clone(c.server.EnvFrom)
	c.server.EnvFrom = slices.DeleteFunc(forwarded, func(name string) bool {
		if isDangerous(name) {
			c.drop(name)
		}
		return isDangerous(name)
	})
}

// publishedValue is the value of a variable of the registry, whose entries say
// which are fixed and which are asked for.
func (c *cleaner) publishedValue(v normalize.Pair) string {
	literal := plainReference.ReplaceAllString(v.Value, "")
	switch {
	case v.Value == "":
		return "${" + refName(v.Name) + "}"
	case isSecret(v.Name, v.Value):
		return c.open(refName(v.Name))
	case strings.ContainsAny(literal, "${}"): // which no default can hold
		return c.open(refName(v.Name))
	case literal != v.Value:
		return v.Value
	}
	return "${" + refName(v.Name) + ":-" + v.Value + "}"
}

// drop notes a variable that is left out.
func (c *cleaner) drop(name string) {
	c.server.Notes = slices.DeleteFunc(c.server.Notes, func(n normalize.Note) bool {
		return n.Code == normalize.DangerousEnv && n.Subject == name
	})
	c.note(normalize.DangerousEnv, name, name+" changes what programs load, run or reach; it was dropped")
}

// container moves the variables of a container, where the normalizer does not look
// for them, to the record's.
func (c *cleaner) container() {
	line := readImageLine(c.server.Args)
	have := make(map[string]bool, len(c.server.Env))
	for _, v := range c.server.Env {
		have[v.Name] = true
	}
	args := make([]string, 0, len(c.server.Args))
	from := 0
	for _, v := range line.vars {
		first := v.index - v.width + 1
		args = append(args, c.server.Args[from:first]...)
		from = v.index + 1
		if isDangerous(v.name) {
			c.drop(v.name)
			continue
		}
		words := slices.Clone(c.server.Args[first:from])
		words[v.width-1] = strings.TrimSuffix(words[v.width-1], "="+v.value)
		args = append(args, words...)
		if v.given && !have[v.name] {
			have[v.name] = true
			c.server.Env = append(c.server.Env, normalize.Pair{Name: v.name, Value: v.value})
		}
	}
	c.server.Args = append(args, c.server.Args[from:]...)
	c.dropNotes("args[")
}

// headers makes those values references that are secrets or have to be filled in.
func (c *cleaner) headers() {
	noted := c.noted()
	c.dropNotes("headers.")
	c.server.Headers = slices.Clone(c.server.Headers)
	for i := range c.server.Headers {
		v := &c.server.Headers[i]
		if !noted["headers."+v.Name] && (onlyReferences.MatchString(v.Value) || !isSecret(v.Name, v.Value)) {
			continue
		}
		scheme, _, ok := strings.Cut(v.Value, " ") // such as "Bearer"
		v.Value = c.open(strings.ToUpper(refName(v.Name)))
		if ok && schemeWord.MatchString(scheme) {
			v.Value = scheme + " " + v.Value
		}
	}
}

// args takes secrets out of what a program is given.
func (c *cleaner) args() {
	first := len(c.server.Args) - len(tailOf(c.server))
	c.server.Args = slices.Clone(c.server.Args)
	option := "" // the one before, if a value may follow it
	for i := max(first, 0); i < len(c.server.Args); i++ {
		arg, subject := c.server.Args[i], "args["+strconv.Itoa(i)+"]"
		next := ""
		switch name, value, sep := cutPair(arg); {
		case schemeName.MatchString(arg): // of a header that was split into words
			next = cmp.Or(option, "token")
		case option != "" && secrets.IsOperand(arg) && isFilled(option, arg):
			c.server.Args[i] = c.secret(subject, option, arg)
		case sep != "" && isFilled(name, value):
			c.server.Args[i] = name + sep + c.secret(subject, name, value)
		case sep != "" && value == "": // of a pair that was split into words
			next = name
		case sep == "" && strings.HasPrefix(arg, "-"):
			next = arg
		default:
			c.server.Args[i] = c.shapes(subject, c.address(subject, arg))
		}
		option = next
	}
}

// secret gives a reference in place of an argument that is a secret. What is a
// reference already stays, and so does the scheme of a header.
func (c *cleaner) secret(subject, option, value string) string {
	space := value[:len(value)-len(strings.TrimLeft(value, " "))]
	value = value[len(space):]
	if value == "" || onlyReferences.MatchString(value) {
		return space + value
	}
	scheme, _, ok := strings.Cut(value, " ")
	ref := c.open(strings.ToUpper(refName(lastName(option))))
	c.lifted(subject)
	if ok && schemeWord.MatchString(scheme) {
		return space + scheme + " " + ref
	}
	return space + ref
}

// shapes takes secrets out of a text, and out of the defaults of references.
func (c *cleaner) shapes(subject, text string) string {
	out := defaults.ReplaceAllStringFunc(text, func(ref string) string {
		name, value, _ := strings.Cut(ref[2:len(ref)-1], ":-")
		if !isSecret(name, value) {
			return ref
		}
		c.lifted(subject)
		return c.open(name)
	})
	published := subject == "url" && c.server.Dialect == normalize.RegistryServer
	return secrets.ReplaceValue("", out, func(name, value string) string {
		if name == "path" { // of an address: PATH is another thing
			name = ""
		}
		if published && name == "" { // and only looks like one
			return value
		}
		c.lifted(subject)
		return c.open(strings.ToUpper(refName(name)))
	})
}

// address takes the user out of every address in a text, and what stands in the
// place of a secret that has to be filled in.
func (c *cleaner) address(subject, text string) string {
	return addresses.ReplaceAllStringFunc(text, func(address string) string {
		scheme, rest, _ := strings.Cut(address, "://")
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 && !onlyReferences.MatchString(rest[:at]) {
			rest = rest[at+1:]
			c.lifted(subject)
		}
		return scheme + "://" + parameters.ReplaceAllStringFunc(rest, func(p string) string {
			name, value, _ := strings.Cut(p[1:], "=")
			if !secrets.NotedParameter(name) || !secrets.StandsIn(value) || onlyReferences.MatchString(value) {
				return p
			}
			return p[:1] + name + "=" + c.open(strings.ToUpper(refName(name)))
		})
	})
}

// others takes secrets out of the fields that few records have.
func (c *cleaner) others() {
	if o := c.server.OAuth; o != nil && o.ClientSecret != "" && !onlyReferences.MatchString(o.ClientSecret) {
		inner := *o
		inner.ClientSecret = c.open("OAUTH_CLIENT_SECRET")
		c.server.OAuth = &inner
	}
	c.server.Inputs = slices.Clone(c.server.Inputs)
	for i := range c.server.Inputs {
		in := &c.server.Inputs[i]
		if in.Secret || slices.ContainsFunc(in.Default, func(v string) bool { return isSecret(in.ID, v) }) {
			in.Default = nil
		}
	}
}

// tailOf is what the program of a record itself gets.
func tailOf(s *normalize.Server) []string {
	if s.Image != "" {
		return imageTarget(s).tail
	}
	l, ok := launchers[s.Command]
	if !ok {
		return s.Args
	}
	args, ok := l.afterSub(s.Args)
	if !ok {
		return s.Args
	}
	return l.split(args, true).tail
}
