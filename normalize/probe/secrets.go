package probe

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/argpair"
	"github.com/mcpcontract/mcpcontract/normalize"
)

const (
	// maxNesting is how deep a text in a text is looked at.
	maxNesting = 4
	// minMixed is the length from which a mixture of letters and digits counts
	// as a secret, minRun that of one whose kinds hardly take turns.
	minMixed, minRun = 10, 16
	// minPiece is the length from which a part of a secret is one itself.
	minPiece = 6
)

var (
	secretName = regexp.MustCompile(`(?i)(?:token|secret|password|passwd|passphrase|passcode|pass|pwd|key|auth|authorization|credential|cred|cookie|bearer|jwt|pat|sig|signature|dsn` +
		`|(?:^|[-_. ])(?:pw|pin|sid|session))s?(?:[-_. ]?(?:value|val|[0-9]+))*$`)
	secretShape = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|ntn|xox[a-z]|npm|AKIA|eyJ)[-_A-Za-z0-9][-_.A-Za-z0-9]{11,}|[-_A-Za-z0-9]{32,}`)
	addresses   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`)
	schemes     = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[^\s"',;]{4,}|\b(?:digest|token|api-?key)\s+[^\s"',;0-9]*[0-9][^\s"',;]*`)
	// pairs are NAME=value and NAME: value, the value up to a quote where it
	// begins with one, else up to what may end it.
	pairs = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_. -]*?)["']?\s*[=:]\s*("[^"]*"|'[^']*'|\{[^{}]*\}|[^\s"',;&{}]+)`)
	// logins are the user and the password before a host, also where no scheme is.
	logins = regexp.MustCompile(`[^\s:/@"']+:([^\s@"']+)@`)
	words  = regexp.MustCompile(`(?i)^(?:true|false|yes|no|on|off|none|null|default|auto|enabled|disabled|debug|trace|verbose|info|notice|warning|error|critical|fatal|silent|` +
		`production|development|staging|testing|localhost|[a-z]{1,7}|[0-9]{1,7}|[0-9]{1,4}(?:[-.:][0-9]{1,5}){1,4})$`)
)

// secretsOf gives the values of a launch, of the variables forwarded to it and
// of the caller: in all what must not turn up in an error, in marked what is a
// secret by its name or shape.
func secretsOf(l normalize.Launch, forwarded []normalize.Pair, hide []string) (all, marked []string) {
	for _, p := range slices.Concat(l.Env, forwarded) {
		if named(p.Name, p.Value) || looksSecret(p.Value) {
			marked = append(append(marked, p.Value), pieces(p.Value)...)
		} else if !common(p.Value) {
			all = append(all, p.Value)
		}
		marked = append(marked, parts(p.Value, 0)...)
	}
	for _, p := range l.Headers {
		if named(p.Name, p.Value) || !common(p.Value) {
			marked = append(marked, headerSecrets(p.Value)...)
		}
		marked = append(marked, parts(p.Value, 0)...)
	}
	marked = append(marked, argSecrets(l.Args)...)
	for _, arg := range l.Args {
		marked = append(marked, parts(arg, 0)...)
	}
	marked = append(marked, urlSecrets(l.URL)...)
	if l.OAuth != nil {
		marked = append(marked, l.OAuth.ClientSecret)
	}
	for _, v := range hide {
		marked = append(append(marked, v), parts(v, 0)...)
	}
	return append(all, marked...), marked
}

// named reports whether a name says that its value is a secret. A switch is
// none, and neither is a number of several, as that of MAX_TOKENS.
func named(name, value string) bool {
	if !secretName.MatchString(strings.TrimSpace(name)) {
		return false
	}
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "none", "null":
		return false
	}
	plural := strings.HasSuffix(strings.ToLower(name), "s")
	return !plural || strings.Trim(value, "0123456789") != ""
}

// common reports whether a value whose name says nothing is too short for a
// secret, or a word, number or address that turns up in any message.
func common(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < wholeWord {
		return true
	}
	mixed := value != strings.ToLower(value) && value[1:] != strings.ToLower(value[1:]) && value != strings.ToUpper(value)
	return !mixed && words.MatchString(value)
}

// looksSecret reports whether a value has the shape of a secret: letters and
// digits in which nothing can be read.
func looksSecret(value string) bool {
	if len(value) < minMixed || strings.ContainsFunc(value, func(r rune) bool {
		return r > unicode.MaxASCII || !isWord(r) && !strings.ContainsRune("+/=-.~", r)
	}) {
		return false
	}
	if at := secretShape.FindStringIndex(value); at != nil && at[0] == 0 {
		return true
	}
	has := func(kind func(rune) bool) bool { return strings.ContainsFunc(value, kind) }
	mixed := has(unicode.IsDigit) && has(unicode.IsUpper) && has(unicode.IsLower)
	return turns(value) >= 3 || mixed && len(value) >= minRun && !strings.ContainsAny(value, "./")
}

// turns counts where in the words of a text letters and digits take turns.
func turns(text string) int {
	n := 0
	before := ' '
	for _, r := range text {
		if isAlnum(r) && isAlnum(before) && unicode.IsDigit(r) != unicode.IsDigit(before) {
			n++
		}
		before = r
	}
	return n
}

func isAlnum(r rune) bool { return r != '_' && isWord(r) }

// parts gives what in a value is a secret by itself: what follows a scheme, the
// strings of JSON and the values of pairs with such a name or shape, options in a
// command line, and what an address holds.
func parts(text string, depth int) []string {
	if depth > maxNesting || len(text) < wholeWord {
		return nil
	}
	out := secretShape.FindAllString(text, -1)
	for _, credentials := range schemes.FindAllString(text, -1) {
		out = append(out, headerSecrets(credentials)...)
	}
	for _, address := range addresses.FindAllString(text, -1) {
		out = append(out, urlSecrets(address)...)
	}
	if strings.ContainsAny(text, " \t\n") {
		out = append(out, argSecrets(strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(text)))...)
	}
	if tree := findJSON(text); tree != nil {
		out = append(out, jsonParts("", tree, depth+1)...)
	}
	for _, m := range pairs.FindAllStringSubmatch(text, -1) {
		out = append(out, member(m[1], strings.Trim(m[2], `"'{}`), depth+1)...)
	}
	for _, m := range logins.FindAllStringSubmatch(text, -1) {
		if !common(m[1]) {
			out = append(out, m[1])
		}
	}
	for field := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(field, "="); ok {
			out = append(out, member(name, strings.TrimSpace(value), depth+1)...)
		}
	}
	return out
}

// maxStarts is how many places of a text may begin JSON.
const maxStarts = 8

// findJSON gives the first object or list that stands in a text, nil if none does.
func findJSON(text string) any {
	for range maxStarts {
		i := strings.IndexAny(text, "{[")
		if i < 0 {
			return nil
		}
		var tree any
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&tree) == nil {
			return tree
		}
		text = text[i+1:]
	}
	return nil
}

// jsonParts gives the secrets of a JSON value that stands under a name.
func jsonParts(name string, tree any, depth int) []string {
	var out []string
	switch v := tree.(type) {
	case string:
		return member(name, v, depth)
	case []any:
		for _, item := range v {
			out = append(out, jsonParts(name, item, depth)...)
		}
	case map[string]any:
		// Some lists have pairs of which the name is a value, too.
		for _, key := range []string{"name", "key", "header"} {
			name, isName := v[key].(string)
			if value, ok := v["value"].(string); ok && isName {
				out = append(out, member(name, value, depth)...)
			}
		}
		for key, item := range v {
			out = append(out, jsonParts(key, item, depth)...)
		}
	}
	return out
}

// pieces gives the parts of a value that is a secret by its name: it may be a list,
// or have a user beside the password.
func pieces(value string) []string {
	parts := strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:|@&={}\"'", r) })
	return slices.DeleteFunc(parts, func(part string) bool { return len(part) < minPiece || common(part) })
}

// member gives the secrets of a value that stands under a name.
func member(name, value string, depth int) []string {
	var out []string
	switch {
	case named(name, value):
		out = append(headerSecrets(value), pieces(value)...)
	case looksSecret(value):
		out = []string{value}
	}
	return append(out, parts(value, depth)...)
}

// headerSecrets gives a header's value, what follows its scheme, and the
// password of basic credentials.
func headerSecrets(value string) []string {
	out := []string{value}
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		return out
	}
	rest = strings.TrimSpace(rest)
	out = append(out, rest)
	if strings.EqualFold(scheme, "basic") {
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
			out = append(out, string(plain))
			if _, password, ok := strings.Cut(string(plain), ":"); ok {
				out = append(out, password)
			}
		}
	}
	return out
}

// argSecrets gives the arguments, or parts of them, that look like secrets: what
// follows an option or a name of one, and what has the shape of one.
func argSecrets(args []string) []string {
	var out []string
	after := false // the argument before is the option of a secret
	for _, arg := range args {
		name, value, sep := argpair.Cut(arg, secretName.MatchString)
		switch {
		case after && (!strings.HasPrefix(arg, "-") || dashed(arg)):
			out = append(out, arg)
		case sep != "" && named(name, value):
			out = append(out, headerSecrets(strings.TrimSpace(value))...)
		default:
			out = append(out, secretShape.FindAllString(arg, -1)...)
		}
		after = sep == "" && strings.HasPrefix(arg, "-") && secretName.MatchString(arg)
	}
	return out
}

// dashed reports whether what begins like an option rather is a secret that
// does: the random ones of some issuers may.
func dashed(arg string) bool {
	return len(arg) >= 2*wholeWord && strings.ContainsAny(arg, "0123456789") && !strings.ContainsAny(arg, "=. ") &&
		strings.ContainsFunc(arg, unicode.IsLetter)
}

// urlSecrets gives what may be secret in an address: user and password, the
// values of the query, the fragment, and random parts of the path. Those of the
// path and the query come as they are written; the redactor knows them decoded.
func urlSecrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		if address == "" {
			return nil
		}
		return []string{address}
	}
	var out []string
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if looksSecret(part) {
			out = append(out, part)
		} else {
			out = append(out, secretShape.FindAllString(part, -1)...)
		}
	}
	if password, ok := u.User.Password(); ok {
		out = append(out, password, u.User.String())
	} else if u.User != nil {
		out = append(out, u.User.Username())
	}
	// By hand: url.Values leaves out what is not well formed, and it is sent.
	out = append(out, querySecrets(u.RawQuery, "&")...)
	if strings.Contains(u.RawQuery, ";") {
		out = append(out, querySecrets(u.RawQuery, "&;")...)
	}
	return append(out, u.Fragment)
}

// querySecrets gives the parameters that may be secret, between separators.
func querySecrets(query, separators string) []string {
	var out []string
	for param := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		name, value, ok := strings.Cut(param, "=")
		switch {
		case !ok && looksSecret(name):
			out = append(out, name)
		case ok && (named(name, value) || !common(value)):
			out = append(out, value)
		}
	}
	return out
}
