package lookup

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/internal/risk"
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
	if server.Dialect != normalize.RegistryServer { // whose addresses are published
		server.URL = c.shapes("url", server.URL)
	}
	server.URL = c.address("url", server.URL)
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
	option := "" // the one before, where it is that of a secret
	for i := max(first, 0); i < len(c.server.Args); i++ {
		arg, subject := c.server.Args[i], "args["+strconv.Itoa(i)+"]"
		next := ""
		switch name, value, sep := cutPair(arg); {
		case schemeName.MatchString(arg): // of a header that was split into words
			next = cmp.Or(option, "token")
		case option != "" && !strings.HasPrefix(arg, "-") && (!weakWord.MatchString(option) || isShape(arg)):
			c.server.Args[i] = c.secret(subject, option, arg)
		case sep != "" && secretWord.MatchString(name):
			c.server.Args[i] = name + sep + c.secret(subject, name, value)
			if value == "" {
				next = name
			}
		case strings.HasPrefix(arg, "-") && sep == "" && secretWord.MatchString(arg):
			next = arg
		default:
			c.server.Args[i] = c.address(subject, c.shapes(subject, arg))
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

// shapes takes pieces out of a text that have the shape of a secret, and defaults
// of references that have.
func (c *cleaner) shapes(subject, text string) string {
	out := defaults.ReplaceAllStringFunc(text, func(ref string) string {
		name, value, _ := strings.Cut(ref[2:len(ref)-1], ":-")
		if !isSecret(name, value) {
			return ref
		}
		c.lifted(subject)
		return c.open(name)
	})
	out = settings.ReplaceAllStringFunc(out, func(pair string) string {
		name, value, _ := strings.Cut(pair, "=")
		if onlyReferences.MatchString(value) {
			return pair
		}
		c.lifted(subject)
		return name + "=" + c.open(strings.ToUpper(refName(name)))
	})
	return secretShape.ReplaceAllStringFunc(out, func(piece string) string {
		if !isShape(piece) {
			return piece
		}
		c.lifted(subject)
		return c.open("SECRET")
	})
}

// address takes secrets out of every address in a text: the user, and parameters
// of such a name or shape.
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
			if value == "" || onlyReferences.MatchString(value) || !isSecret(name, value) {
				return p
			}
			c.lifted(subject)
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

var (
	// onlyReferences tells a value that holds nothing of its own but the scheme of a
	// header: references without defaults.
	onlyReferences = regexp.MustCompile(`^(?:[Bb]earer |[Bb]asic |[Tt]oken )?(?:\$\{(?:input:)?[^{}:]+\})+$`)
	defaults       = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*:-[^{}]*\}`)
	// settings are pairs in a longer text, such as the settings of a database.
	settings       = regexp.MustCompile(`(?i)\b[a-z0-9_-]*(?:token|secret|password|passwd|pwd|key)=[^;&\s"'#]+`)
	plainReference = regexp.MustCompile(`\$\{(?:input:)?[^{}:]+\}`)
	schemeName     = regexp.MustCompile(`^(?i:bearer|basic)$`)
	schemeWord     = regexp.MustCompile(`^[A-Za-z]{1,16}$`)
	addresses      = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	parameters     = regexp.MustCompile(`[?&#][^=&#?\s]+=[^&#\s]*`)
	secretWord     = regexp.MustCompile(`(?i)(?:token|secret|password|passwd|passphrase|pwd|key|auth|authorization|credentials?|cookie|bearer|jwt|pat|signature|dsn)$`)
	weakWord       = regexp.MustCompile(`(?i)(?:auth|pat|^-+no-.*)$`) // also ends options that take no secret
	secretShape    = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[a-z]|npm|AKIA|eyJ)[-_A-Za-z0-9][-_.A-Za-z0-9]{11,}|[-_A-Za-z0-9]{32,}`)
)

// isShape tells whether a piece that is long enough can be a secret: words have no
// digits, and numbers nothing else.
func isShape(piece string) bool {
	return strings.ContainsAny(piece, "0123456789") && strings.ContainsFunc(piece, func(r rune) bool { return r < '0' || r > '9' })
}

// isSecret tells whether a value is a secret, by its name or its shape.
func isSecret(name, value string) bool {
	if risk.SecretParameter(name) || secretWord.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(secretShape.FindAllString(value, -1), isShape) || addresses.MatchString(value) && strings.Contains(value, "@")
}

// cutPair cuts NAME=value, Name: value and --option=value. The name of an option
// that holds such a pair is a part of the name.
func cutPair(arg string) (name, value, sep string) {
	i := strings.IndexAny(arg, "=:")
	if i <= 0 || strings.HasPrefix(arg[i:], "://") || !pairName.MatchString(arg[:i]) {
		return arg, "", ""
	}
	if j := strings.IndexAny(arg[i+1:], "=:"); j > 0 && !secretWord.MatchString(arg[:i]) && pairName.MatchString(arg[i+1:i+1+j]) {
		if inner := i + 1 + j; !strings.HasPrefix(arg[inner:], "://") {
			return arg[:inner], arg[inner+1:], arg[inner : inner+1]
		}
	}
	return arg[:i], arg[i+1:], arg[i : i+1]
}

var pairName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// lastName is the name at the end of an option that may hold a pair.
func lastName(option string) string { return option[strings.LastIndexAny(option, "=:")+1:] }

// refName makes the name of a reference of the name of an option, a header or a
// variable.
func refName(name string) string {
	if envName.MatchString(name) {
		return name
	}
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, strings.Trim(name, "-"))
	out = cmp.Or(out[:min(len(out), maxRefName)], "SECRET")
	if out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	return out
}

// maxRefName bounds the names that are made here.
const maxRefName = 64

// machineEnv are variables beside those of package risk that say where programs
// fetch from, what they trust, or which service they talk to.
var machineEnv = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "VERIFY_SSL", "SSL_VERIFY", "GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR",
	"GOPROXY", "GONOSUMDB", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE", "GOENV", "GOTOOLCHAIN", "DENO_CERT", "DENO_DIR", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "EDITOR", "VISUAL", "PAGER",
}

// machinePrefixes begin the names of variables that configure launchers.
var machinePrefixes = []string{"NPM_CONFIG_", "PNPM_CONFIG_", "YARN_", "BUN_CONFIG_", "COREPACK_", "PIP_", "UV_", "PIPX_", "DOCKER_", "CONTAINER_", "GIT_CONFIG", "DOTNET_", "NUGET_"}

// isDangerous tells whether a variable changes what is loaded, run or reached.
func isDangerous(name string) bool {
	upper := strings.ToUpper(name)
	return risk.DangerousEnv(name) || slices.Contains(machineEnv, upper) ||
		slices.ContainsFunc(machinePrefixes, func(p string) bool { return strings.HasPrefix(upper, p) })
}

// masked takes secrets out of a text of the caller, such as a description, before
// others see it.
func masked(text string) string {
	c := cleaner{server: &normalize.Server{Args: strings.Fields(text)}}
	c.args()
	return strings.Join(c.server.Args, " ")
}

// minPathSecret is the length from which a part of a path can be a secret.
const minPathSecret = 12

// maskedPath hides the parts of an address's path that look like a secret.
func maskedPath(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		named := len(part) < 2*minPathSecret && strings.Contains(part, ".") // a file, or a version
		if i > 0 && len(part) >= minPathSecret && isShape(part) && !named && !strings.ContainsAny(part, "${}") {
			parts[i] = "***"
		}
	}
	return scheme + "://" + strings.Join(parts, "/")
}
