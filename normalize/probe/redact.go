package probe

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/normalize"
)

const (
	// hidden stands in the place of a secret.
	hidden = "***"
	// wholeWord is the length below which a value is hidden only where it
	// stands alone: a "1" would take every number apart.
	wholeWord = 4
	// longest bounds what is searched for as one piece. Of a longer value each
	// piece of this length is hidden.
	longest = 16 << 10
)

var (
	secretName  = regexp.MustCompile(`(?i)(token|secret|password|passwd|passphrase|pwd|key|auth|authorization|credentials?|cookie|bearer|jwt|pat|sig|signature|dsn)$`)
	secretShape = regexp.MustCompile(`\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|npm|AKIA|eyJ)[-_A-Za-z0-9][-_.A-Za-z0-9]{11,}|[-_A-Za-z0-9]{32,}`)
	addresses   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`)
)

// A redactor hides what must not be shown. It is immutable.
type redactor struct {
	values []string // longest first
	max    int      // length of the longest
}

// newRedactor hides values and their encodings.
func newRedactor(values []string) *redactor {
	var all []string
	for _, v := range values {
		for len(v) > longest {
			all = append(all, v[:longest])
			v = v[longest:]
		}
		all = append(all, variants(v)...)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	all = slices.DeleteFunc(slices.Compact(all), func(v string) bool { return strings.TrimSpace(v) == "" })
	r := &redactor{values: all}
	if len(all) > 0 {
		r.max = len(all[0])
	}
	return r
}

// variants gives the forms in which a value commonly turns up in a log: itself,
// its lines, as an address or a quoted string writes it, in hexadecimal, and in
// base64 at each of the three places that it can have in a longer text.
func variants(v string) []string {
	out := []string{v}
	if trimmed := strings.TrimSpace(v); trimmed != v {
		out = append(out, trimmed)
	}
	for line := range strings.Lines(v) {
		if line = strings.TrimSpace(line); len(line) >= 2*wholeWord {
			out = append(out, line)
		}
	}
	if len(v) < wholeWord {
		return out
	}
	quoted := strconv.Quote(v)
	out = append(out, url.QueryEscape(v), url.PathEscape(v), quoted[1:len(quoted)-1], hex.EncodeToString([]byte(v)))
	for offset := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(append(make([]byte, offset), v...))
			// The first and last characters depend on what stands beside v.
			text = text[(offset*8+5)/6:]
			if rest := (offset + len(v)) % 3; rest != 0 {
				text = text[:len(text)-1]
			}
			if len(text) >= 2*wholeWord {
				out = append(out, text)
			}
		}
	}
	return out
}

// secretsOf gives the values of a launch and of the variables forwarded to it:
// in all what must not turn up in an error, in marked what is a secret by its
// name or shape.
func secretsOf(l normalize.Launch, forwarded []normalize.Pair) (all, marked []string) {
	for _, p := range slices.Concat(l.Env, forwarded) {
		all = append(all, p.Value)
		if secretName.MatchString(p.Name) || secretShape.MatchString(p.Value) {
			marked = append(marked, p.Value)
		}
	}
	for _, p := range l.Headers {
		marked = append(marked, headerSecrets(p.Value)...)
	}
	marked = append(marked, argSecrets(l.Args)...)
	marked = append(marked, urlSecrets(l.URL)...)
	if l.OAuth != nil {
		marked = append(marked, l.OAuth.ClientSecret)
	}
	for _, v := range slices.Concat(all, l.Args) {
		for _, address := range addresses.FindAllString(v, -1) {
			marked = append(marked, urlSecrets(address)...)
		}
	}
	return append(all, marked...), marked
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
		name, value, sep := cutPair(arg)
		switch {
		case after && !strings.HasPrefix(arg, "-"):
			out = append(out, arg)
		case sep != "" && secretName.MatchString(name):
			out = append(out, headerSecrets(strings.TrimSpace(value))...)
		default:
			out = append(out, secretShape.FindAllString(arg, -1)...)
		}
		after = sep == "" && strings.HasPrefix(arg, "-") && secretName.MatchString(arg)
	}
	return out
}

// cutPair cuts NAME=value, Name: value and --option=value. The name of an
// option that holds such a pair is a part of the name.
func cutPair(arg string) (name, value, sep string) {
	i := strings.IndexAny(arg, "=:")
	if i < 0 || strings.HasPrefix(arg[i:], "://") {
		return arg, "", ""
	}
	if inner, rest, innerSep := cutPair(arg[i+1:]); innerSep != "" && !secretName.MatchString(arg[:i]) {
		return arg[:i+1] + inner, rest, innerSep
	}
	return arg[:i], arg[i+1:], arg[i : i+1]
}

// urlSecrets gives what may be secret in an address: user and password, the
// values of the query, the fragment, and long parts of the path.
func urlSecrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		if address == "" {
			return nil
		}
		return []string{address}
	}
	out := secretShape.FindAllString(u.Path, -1)
	if password, ok := u.User.Password(); ok {
		out = append(out, password, u.User.String())
	} else if u.User != nil {
		out = append(out, u.User.Username())
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if len(v) >= 2*wholeWord || secretName.MatchString(name) {
				out = append(out, v)
			}
		}
	}
	return append(out, u.Fragment)
}

// span is a part of a text.
type span struct{ from, to int }

// text gives s without secrets and control characters. A text that was cut at
// its front may begin with the rest of a secret, so as much as that is hidden.
func (r *redactor) text(s string, cut bool) string {
	spans := r.find(s)
	if cut && r.max > 1 {
		spans = append(spans, span{0, min(len(s), r.max-1)})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].from, spans[i].to
		for i++; i < len(spans) && spans[i].from <= to; i++ {
			to = max(to, spans[i].to)
		}
		b.WriteString(clean(s[at:from]))
		b.WriteString(hidden)
		at = to
	}
	b.WriteString(clean(s[at:]))
	return b.String()
}

// find gives where values stand in s, and where its end may be the beginning of
// one.
func (r *redactor) find(s string) []span {
	var spans []span
	for _, v := range r.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(v)
			if len(v) >= wholeWord || standsAlone(s, from, to) {
				spans = append(spans, span{from, to})
			}
			at = from + 1
		}
		for n := min(len(v)-1, len(s)); n >= 2*wholeWord; n-- {
			if strings.HasSuffix(s, v[:n]) {
				spans = append(spans, span{len(s) - n, len(s)})
				break
			}
		}
	}
	return spans
}

// standsAlone reports whether s[from:to] is not a part of a longer word.
func standsAlone(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !isWord(before) && !isWord(after)
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// clean takes out what could act on a terminal or is no text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// firstBytes gives at most n bytes of the front of s, whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// lastBytes gives at most n bytes of the end of s, whole characters.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return "..." + s[i:]
}
