package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/internal/argpair"
)

const (
	// maxNesting is how deep a text in a text is looked at.
	maxNesting = 4
	// minPiece is the length from which a part of a secret is one itself.
	minPiece = 6
	// maxStarts is how many places of a text may begin JSON.
	maxStarts = 8
)

var (
	schemes = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[^\s"',;]{4,}|\b(?:digest|token|api-?key)\s+[^\s"',;0-9]*[0-9][^\s"',;]*`)
	// pairs are NAME=value and NAME: value, the value up to a quote where it
	// begins with one, else up to what may end it.
	pairs = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_. -]*?)["']?\s*[=:]\s*("[^"]*"|'[^']*'|\{[^{}]*\}|(?:\$\{[^{}]*\}|[^\s"',;&{}])+)`)
	// logins are the user and the password before a host, also where no scheme is.
	logins = regexp.MustCompile(`[^\s:/@"']+:((?:/[^\s/@"']|[^\s/@"'])[^\s@"']*)@`)
	// settings of a database are parted by semicolons, and their values may have
	// blanks; their names too, where there are several.
	settingName  = regexp.MustCompile(`^[\w.-]+$`)
	settingWords = regexp.MustCompile(`^[\w .-]+$`)
	// spared are references, and what stands in the place of a secret already.
	spared = regexp.MustCompile(`^(?:(?i:bearer|basic|token)\s+)?(?:\$\{[^{}]*\}|\*\*\*)+$`)
)

// Pieces gives what in the value that stands under a name may be a secret: the
// value itself, and the parts of it that somebody may tell alone: what follows a
// scheme, the strings of JSON, the values of pairs, options of a command line, and
// what an address holds. It gives what [ReplaceValue] replaces, and more. The name may be
// empty; pieces may come twice.
func Pieces(name, value string) []string {
	var f finder
	f.member(name, value, 0)
	return f.found()
}

// A finder collects pieces.
type finder struct {
	out  []string
	seen map[string]bool // texts that were looked at
}

// found gives the pieces but for those that are nothing to hide.
func (f *finder) found() []string { return slices.DeleteFunc(f.out, isSpared) }

func (f *finder) add(pieces ...string) { f.out = append(f.out, pieces...) }

// isSpared reports whether a piece is nothing to hide.
func isSpared(piece string) bool { return piece == "" || spared.MatchString(piece) }

// parts adds what in a value is a secret by itself.
func (f *finder) parts(text string, depth int) {
	if depth > maxNesting || len(text) < minAlone || f.seen[text] {
		return
	}
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	f.seen[text] = true
	f.add(mayIssued.FindAllString(text, -1)...)
	if prefix := scheme.FindString(text); isCredentials(prefix, text[len(prefix):]) {
		f.add(text[len(prefix):])
	}
	Replace(text, func(_, value string) string {
		f.add(value)
		return "${}" // which is not looked at again
	})
	for _, credentials := range schemes.FindAllString(text, -1) {
		f.add(headerPieces(credentials)...)
	}
	for _, address := range addresses.FindAllString(text, -1) {
		f.address(address)
	}
	if strings.ContainsAny(text, " \t\n") {
		f.args(strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(text)))
	}
	if tree := findJSON(text); tree != nil {
		f.json("", tree, depth+1)
	}
	f.pairs(text, depth)
	for _, m := range logins.FindAllStringSubmatch(text, -1) {
		if !Common(m[1]) {
			f.add(m[1])
		}
	}
}

// pairs adds the secrets of pairs of a name and a value.
func (f *finder) pairs(text string, depth int) {
	for _, m := range pairs.FindAllStringSubmatch(text, -1) {
		if !isScheme(m[2]) && !isSpared(m[2]) {
			f.member(m[1], unwrap(m[2]), depth+1)
		}
	}
	fieldName := settingName
	if strings.Contains(text, ";") {
		fieldName = settingWords
	}
	for field := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(field, "="); ok && fieldName.MatchString(name) {
			f.member(name, strings.TrimSpace(value), depth+1)
		}
	}
}

// unwrap takes the quotes or braces off a value.
func unwrap(value string) string {
	if last := len(value) - 1; last > 0 && (value[0] == '"' || value[0] == '\'' || value[0] == '{') {
		return value[1:last]
	}
	return value
}

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

// json adds the secrets of a JSON value that stands under a name.
func (f *finder) json(name string, tree any, depth int) {
	switch v := tree.(type) {
	case string:
		f.member(name, v, depth)
	case []any:
		for _, item := range v {
			f.json(name, item, depth)
		}
	case map[string]any:
		// Some lists have pairs of which the name is a value, too.
		for _, key := range []string{"name", "key", "header"} {
			name, isName := v[key].(string)
			if value, ok := v["value"].(string); ok && isName {
				f.member(name, value, depth)
			}
		}
		for key, item := range v {
			f.json(key, item, depth)
		}
	}
}

// member adds the secrets of a value that stands under a name. One that is a
// secret may be a list, or have a user beside the password.
func (f *finder) member(name, value string, depth int) {
	switch {
	case mayNamed(name, value):
		f.add(headerPieces(value)...)
		f.add(value[len(scheme.FindString(value)):])
		for piece := range strings.FieldsFuncSeq(value, isPieceEnd) {
			if len(piece) >= minPiece && !Common(piece) {
				f.add(piece)
			}
		}
	case mayShaped(value):
		f.add(value)
	}
	f.parts(value, depth)
}

// isPieceEnd reports whether a character parts the pieces of a secret.
func isPieceEnd(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:|@&={}\"'", r) }

// headerPieces gives the value of a header that may be a secret, what follows its
// scheme, and the password of basic credentials.
func headerPieces(value string) []string {
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

// ArgPieces gives the arguments of a command line, or parts of them, that may be
// secrets: what follows an option or a name of one, and what [Pieces] finds in
// each.
func ArgPieces(args []string) []string {
	var f finder
	f.args(args)
	for _, arg := range args {
		f.parts(arg, 0)
	}
	return f.found()
}

// args is ArgPieces without what stands inside an argument.
func (f *finder) args(args []string) {
	after := "" // the option before, if it is one of a secret
	for _, arg := range args {
		name, value, sep := argpair.Cut(arg, mayName)
		switch {
		case after != "" && IsOperand(arg) && mayNamed(after, arg):
			f.add(arg)
		case sep != "" && mayNamed(name, value):
			f.add(headerPieces(strings.TrimSpace(value))...)
		case strings.Trim(value, "=") == "" && mayShaped(arg):
			f.add(arg)
		default:
			f.add(mayIssued.FindAllString(arg, -1)...)
		}
		after = ""
		if sep == "" && strings.HasPrefix(arg, "-") && mayName(arg) {
			after = arg
		}
	}
}

// mayName reports whether a name alone may be that of a secret.
func mayName(name string) bool { return kindOf(name) != none }

// IsOperand reports whether an argument may be the value of the option before it:
// it is no option itself, though it may begin like one if it is random, since no
// option of a program has digits among letters of both cases, or such a length and
// a single dash. An empty one has no value to tell.
func IsOperand(arg string) bool {
	value := strings.TrimLeft(arg, "-")
	if value == arg {
		return arg != ""
	}
	if len(value) < minWeak || !strings.ContainsAny(value, digits) || strings.ContainsAny(value, "=. ") {
		return false
	}
	mixed := strings.ContainsAny(value, letters) && strings.ContainsAny(value, capitals)
	return mixed || turns(value) >= minTurns || !strings.HasPrefix(arg, "--") && strings.ContainsAny(value, letters+capitals)
}

// address adds what may be secret in an address: user and password, the values of
// the query, the fragment, and random parts of the path, as they are written.
func (f *finder) address(text string) {
	a := cutAddress(text)
	for part := range strings.SplitSeq(a.path, "/") {
		if mayShaped(part) {
			f.add(part)
		} else {
			f.add(mayIssued.FindAllString(part, -1)...)
		}
	}
	if i := strings.LastIndexByte(a.authority, '@'); i >= 0 {
		_, password, _ := strings.Cut(a.authority[:i], ":")
		for _, piece := range []string{a.authority[:i], password} {
			f.add(piece)
			if plain, err := url.PathUnescape(piece); err == nil {
				f.add(plain)
			}
		}
	}
	query := strings.TrimPrefix(a.query, "?")
	f.query(query, "&")
	if strings.Contains(query, ";") {
		f.query(query, "&;")
	}
	fragment := strings.TrimPrefix(a.fragment, "#")
	f.query(fragment, "&")
	if !Common(fragment) {
		f.add(fragment)
	}
}

// query adds the parameters that may be secret, between separators.
func (f *finder) query(query, separators string) {
	for param := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		name, value, ok := strings.Cut(param, "=")
		switch {
		case !ok && mayShaped(name):
			f.add(name)
		case ok && (mayNamed(name, value) || !Common(value) || isParameter(name, value)):
			f.add(value)
		}
	}
}
