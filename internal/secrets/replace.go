package secrets

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Replacer gives what takes the place of a secret. The name is that of the pair,
// option or parameter that the secret stood under, "password" or "path" for parts
// of an address, and empty for what was told by its shape.
type Replacer func(name, value string) string

// What a longer text may hold: addresses, and pairs of a name and a value, with
// the value in quotes or without.
var (
	addresses   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
	quotedPairs = regexp.MustCompile(`(["'])([A-Za-z_][A-Za-z0-9_. -]*)(["']\s*[:=]\s*["'])((?:[^"'\\]|\\.)*)`)
	barePairs   = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)(\s*=\s*["']?|:\s+["']?)((?i:bearer |basic |token )?)([^\s"'&,;{}$]+)`)
	// scheme is what stands before the credentials in a header.
	scheme = regexp.MustCompile(`(?i)^\s*(?:bearer|basic|token|apikey|api-key|key|digest)\s+`)
)

// ReplaceValue replaces the value that stands under a name if it is a secret, all
// of it but a scheme such as Bearer, else the secrets in it, as [Replace] does. For
// the whole value it calls with without a name, since the caller knows that.
func ReplaceValue(name, value string, with Replacer) string {
	if strings.Contains(value, "${") { // it stands in for what is told elsewhere
		return Replace(value, with)
	}
	prefix := ""
	if strings.ContainsAny(value, " \t\n\r\f") {
		prefix = scheme.FindString(value)
	}
	rest := value[len(prefix):]
	switch named := isNamed(name, rest) || isCredentials(prefix, rest); {
	case !named && !isShaped(value), StandsIn(value), StandsIn(rest):
		return Replace(value, with)
	case named:
		return prefix + with("", rest)
	}
	return with("", value)
}

// isCredentials reports whether what follows a scheme is what it takes, and not
// the rest of a sentence that begins with such a word: "Key metrics", "basic rules".
func isCredentials(prefix, rest string) bool {
	if prefix == "" || strings.ContainsAny(rest, " \t\r\n\f") {
		return false
	}
	word := strings.ToLower(strings.TrimSpace(prefix))
	if word == "basic" && isLogin(rest) {
		return true
	}
	switch {
	case len(rest) < minWeak:
		return false
	case isMixed(rest), strings.HasSuffix(rest, "="):
		return true
	case word == "basic", word == "key":
		return false
	}
	return !afterScheme.MatchString(rest)
}

// afterScheme are words that stand after that of a scheme where it is spoken of.
var afterScheme = regexp.MustCompile(`(?i)^(?:authenticat(?:ion|ed|or)|authori[sz](?:ation|ed)|required|optional|disabled|enabled)[.,;:!?]?$`)

// isLogin reports whether a text is a user and a password as the scheme Basic has
// them, in any spelling of base64.
func isLogin(text string) bool {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	plain, err := base64.RawStdEncoding.DecodeString(text)
	return err == nil && utf8.Valid(plain) && strings.Contains(string(plain), ":") &&
		!strings.ContainsFunc(string(plain), func(r rune) bool { return !unicode.IsPrint(r) })
}

// isScheme reports whether a value is nothing but a scheme, before a reference.
func isScheme(value string) bool { return scheme.MatchString(value + " ") }

// Replace replaces the secrets in a text: of the addresses the password, the user
// if it looks like one, the parameters, and such parts of the path; the values of
// pairs; private keys; and what has the prefix of a well-known service.
func Replace(text string, with Replacer) string {
	// Most texts can have nothing of this, which a look at their signs tells in a
	// fraction of the time.
	if strings.Contains(text, "-----BEGIN") { // first, since what a key holds may look like other things
		text = replaceAll(keyBlocks, text, func(s string) string { return with("", s) })
	}
	if strings.Contains(text, "://") {
		text = replaceAll(addresses, text, func(a string) string { return replaceAddress(a, with) })
	}
	if strings.ContainsAny(text, "=:") {
		text = replacePairs(text, with)
	}
	if !mayHoldIssued(text) {
		return text
	}
	return replaceAll(issued, text, func(s string) string {
		if !isIssued(s) {
			return s
		}
		return with("", s)
	})
}

// replacePairs replaces the values of pairs.
func replacePairs(text string, with Replacer) string {
	if strings.ContainsAny(text, `"'`) {
		text = replaceGroups(quotedPairs, text, func(m []string) string {
			prefix := scheme.FindString(m[4])
			rest := m[4][len(prefix):]
			if StandsIn(m[4]) || !isNamed(m[2], rest) {
				return m[0]
			}
			return m[1] + m[2] + m[3] + prefix + with(m[2], rest)
		})
	}
	if !strings.ContainsAny(text, "= \t\n\r\f") { // a colon counts before a blank
		return text
	}
	return replaceGroups(barePairs, text, func(m []string) string {
		if StandsIn(m[4]) || isScheme(m[4]) || !isNamed(m[1], m[4]) {
			return m[0]
		}
		return m[1] + m[2] + m[3] + with(m[1], m[4])
	})
}

// replaceAll replaces each match. Most texts have none, and are not copied.
func replaceAll(re *regexp.Regexp, text string, with func(match string) string) string {
	if !re.MatchString(text) {
		return text
	}
	return re.ReplaceAllStringFunc(text, with)
}

// replaceGroups replaces each match by what with makes of its groups.
func replaceGroups(re *regexp.Regexp, text string, with func(groups []string) string) string {
	return replaceAll(re, text, func(match string) string { return with(re.FindStringSubmatch(match)) })
}

// An address is cut by hand and not parsed, since it may hold references, and what
// is not well formed is sent all the same.
type address struct {
	start, authority, path, query, fragment string // path, query and fragment begin with their sign
}

func cutAddress(text string) address {
	at := strings.Index(text, "://") + len("://")
	a := address{start: text[:at]}
	rest := text[at:]
	cut := func(signs string) (tail string) {
		if i := strings.IndexAny(rest, signs); i >= 0 {
			rest, tail = rest[:i], rest[i:]
		}
		return tail
	}
	a.fragment = cut("#")
	a.query = cut("?")
	a.path = cut("/")
	a.authority = rest
	return a
}

// replaceAddress is Replace for an address.
func replaceAddress(text string, with Replacer) string {
	a := cutAddress(text)
	parameter := func(p string) string { return replaceParameter(p, with) }
	return a.start + replaceAuthority(a.authority, with) +
		replaceParts(a.path, "/", func(part string) string {
			if isPart(part) {
				return with("path", part)
			}
			return part
		}) + replaceParts(a.query, "&", parameter) + replaceParts(a.fragment, "&", parameter)
}

// replaceParts replaces the parts of a text that begins with a sign.
func replaceParts(text, sep string, each func(string) string) string {
	if text == "" {
		return ""
	}
	parts := strings.Split(text[1:], sep)
	for i, part := range parts {
		parts[i] = each(part)
	}
	return text[:1] + strings.Join(parts, sep)
}

// replaceAuthority replaces what stands before the host: a password always, a user
// alone only if it looks like a token.
func replaceAuthority(authority string, with Replacer) string {
	i := strings.LastIndexByte(authority, '@')
	if i < 0 || StandsIn(authority[:i]) {
		return authority
	}
	user, pass, both := strings.Cut(authority[:i], ":")
	switch {
	case both && pass != "":
		return user + ":" + with("password", pass) + authority[i:]
	case isRandom(user) || holdsIssued(user):
		return with("", user) + authority[i:]
	}
	return authority
}

// replaceParameter replaces the value of one parameter.
func replaceParameter(param string, with Replacer) string {
	name, value, ok := strings.Cut(param, "=")
	if !ok || !isParameter(name, value) {
		return param
	}
	return name + "=" + with(name, value)
}

// isParameter is Is for a parameter of an address. There a name such as key or
// code holds a secret, however short: what stands there for anything else has another name.
func isParameter(name, value string) bool {
	switch strings.ToLower(name) {
	case "key", "auth", "sig", "signature", "pwd", "pw", "pat", "code":
		return !StandsIn(value) && !isSwitch(value) && !isCount(value)
	}
	return Is(name, value)
}
