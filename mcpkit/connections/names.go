package connections

import (
	"regexp"
	"strings"
	"unicode"
)

// What tells a secret by the name it goes under, without an s at the end. A name
// of the first kind always holds one; names of the second kind, and those that end
// in key, are used for other things as well, so that only a value of some length
// counts.
var (
	strongNames = []string{
		"token", "secret", "password", "passwd", "passphrase", "authorization", "cookie", "credential", "apikey",
		"privatekey", "secretkey", "accesskey", "bearer", "jwt",
	}
	weakNames = []string{"auth", "sig", "signature", "pwd", "pas", "pat", "pw", "pin", "session", "sid"}
)

// minWeak is the length from which a value under a weak name counts.
const minWeak = 8

// parted takes out of a name what may follow the word that matters, and makes one
// separator of all: TOKEN_2, apiKeys, "X-Api-Key-Value".
func parted(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == ' ' {
			return '_'
		}
		return unicode.ToLower(r)
	}, name)
	name = strings.TrimRight(name, digits+"_")
	return strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(name, "value"), "s"), "_")
}

// namesSecret reports whether a value that stands under this name is a secret.
func namesSecret(name, value string) bool {
	if trivial(value) {
		return false
	}
	name = parted(name)
	joined := strings.ReplaceAll(name, "_", "")
	for _, end := range strongNames {
		if strings.HasSuffix(joined, end) {
			return true
		}
	}
	if len(value) < minWeak {
		return false
	}
	for _, end := range weakNames {
		if name == end || strings.HasSuffix(name, "_"+end) {
			return true
		}
	}
	return strings.HasSuffix(joined, "key")
}

// trivial reports whether a value is a switch or a small number, such as that of
// MAX_TOKENS.
func trivial(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "none", "null":
		return true
	}
	return len(value) < minWeak && strings.Trim(value, digits) == ""
}

// shapes are secrets that say so themselves: keys with the prefixes of those who
// issue them, JSON web tokens, private keys.
var shapes = regexp.MustCompile(`\b(?:` +
	`(?:sk|pk|rk)[-_][A-Za-z0-9][A-Za-z0-9_-]{10,}` +
	`|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{12,}` +
	`|xox[a-z]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}` +
	`|(?:hf|ntn|secret|gsk|whsec|shpat|figd|dop_v1|lin_api|tvly|pplx)[-_][A-Za-z0-9_-]{16,}` +
	`|ya29\.[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
	`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)

// minRandom is the length from which a run of letters and digits can be told to
// be random.
const minRandom = 24

// random reports whether s is one long run of letters and digits in which
// nothing can be read: a secret of a kind that has no prefix. Hexadecimal texts
// of 40 and 64 digits are commits and digests.
func random(s string) bool {
	if len(s) < minRandom || strings.Trim(s, letters+capitals+digits+"+/=_-") != "" {
		return false
	}
	count := func(set string) int {
		n := 0
		for i := range len(s) {
			if strings.IndexByte(set, s[i]) >= 0 {
				n++
			}
		}
		return n
	}
	digit := count(digits)
	if digit+count("abcdefABCDEF") == len(s) {
		return len(s) >= 32 && len(s) != 40 && len(s) != 64 && digit > 0 && digit < len(s)
	}
	// Words in lower case joined by dashes, such as the name of a model, have few
	// digits and no capitals.
	return digit >= 3 && count(letters) >= 3 && count(capitals) >= 3
}

// In a path also shorter runs count, in which letters and digits take turns as in
// no word: who has such an address is let in.
const (
	minPart  = 16
	minTurns = 4
)

// randomPart reports whether a part of a path is such a run.
func randomPart(s string) bool {
	if len(s) < minPart || strings.Trim(s, letters+capitals+digits+"=_-~") != "" {
		return false
	}
	if strings.Trim(s, "abcdef"+digits) == "" && (len(s) == 40 || len(s) == 64) {
		return false // a commit, a digest
	}
	return turns(s) >= minTurns
}

// turns counts where in the words of a text letters and digits take turns.
func turns(text string) int {
	kind := func(c byte) int {
		switch {
		case strings.IndexByte(digits, c) >= 0:
			return 1
		case strings.IndexByte(letters+capitals, c) >= 0:
			return 2
		}
		return 0
	}
	n := 0
	for i := 1; i < len(text); i++ {
		if kind(text[i-1])*kind(text[i]) == 2 {
			n++
		}
	}
	return n
}

// Sets of characters.
const (
	letters  = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
)

// standsIn reports whether a value is a reference in some client's spelling, a
// command, or a request to put a value there, so that there is no secret in it.
func standsIn(value string) bool {
	return strings.Contains(value, "${") || reference.MatchString(value) || request.MatchString(value)
}

var (
	reference = regexp.MustCompile(`^(?:\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\{(?:env|file):[^{}]*\}|\{\{[^{}]*\}\}|\$\(.*\)|` + "`.*`" + `|<[^<>]*>|\[[^\[\]]*\]|\*+)$`)
	request   = regexp.MustCompile(`(?i)\byour[-_ ]|(?:goes|key|token|secret|password)[-_ ]here$|change[-_]?me|replace[-_]?(?:me|with|this)|insert[-_ ](?:your|key|token|api)|placeholder|xxxx|\.\.\.$|…$`)
)

// identifier makes the name of a variable of any text, "" if nothing of it can be
// used.
func identifier(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(unicode.ToUpper(r))
		default:
			gap = true
		}
		if b.Len() >= maxIdentifier {
			break
		}
	}
	name := b.String()
	if name != "" && name[0] <= '9' {
		name = "N" + name
	}
	return name
}

// maxIdentifier bounds the part of a name that comes from elsewhere.
const maxIdentifier = 48

// variable is a name that every system takes for a variable.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
