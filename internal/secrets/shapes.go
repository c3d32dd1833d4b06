package secrets

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sets of characters.
const (
	letters  = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
)

// issuers are secrets that say so themselves, wherever they stand in a text: keys
// with the prefixes of those who issue them, JSON web tokens.
const issuers = `\b(?:` +
	`(?:sk|pk|rk)[-_][A-Za-z0-9][A-Za-z0-9_-]{10,}` +
	`|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_-]{12,}` +
	`|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}` +
	`|(?:hf|ntn|gsk|whsec|shp(?:at|ss|ca|pa)|figd|do[opr]_v1|lin_api|jina|apify_api|lsv2_[a-z]{2}|dckr_pat)_[A-Za-z0-9_-]{16,}` +
	`|(?:tvly|pplx|nvapi)-[A-Za-z0-9_-]{16,}` +
	`|(?:pcsk|sb_secret)_[A-Za-z0-9_-]{20,}|(?:CFPAT|PMAK|NRAK|GOCSPX|pypi|sq0[a-z]{3})-[A-Za-z0-9_-]{20,}` +
	`|(?:e2b|phx|r8|re|sbp)_[A-Za-z0-9]{20,}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}|(?:fo1|fm2|tfp)_[A-Za-z0-9_-]{20,}` +
	`|secret_[A-Za-z0-9]{16,}|fc-[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{16,}` +
	`|AT[AC]TT3x[A-Za-z0-9_=-]{20,}|pat-[a-z]{2}[0-9]-[A-Za-z0-9-]{20,}|pat[A-Za-z0-9]{14}\.[A-Za-z0-9]{20,}` +
	`|(?:ya29|hv[bsr]|dp\.(?:st|pt|sa|ct))\.[A-Za-z0-9_.-]{16,}|SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` +
	`|AGE-SECRET-KEY-1[A-Z0-9]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}|[MNO][A-Za-z0-9]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}` +
	`|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)`

var (
	issued      = regexp.MustCompile(issuers)
	issuedWhole = regexp.MustCompile(`^(?:` + issuers + `)$`)
	// shortIssuers are prefixes that names begin with as well.
	shortIssuers = regexp.MustCompile(`^(?:(?:e2b|phx|r8|re|sbp|fo1|fm2|tfp|secret)_|(?:fc|xai)-)`)
	// keyBlocks are private keys.
	keyBlocks = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
)

// minIssued is the length of the shortest match of issued.
const minIssued = len("sk-") + 11

// mayHoldIssued reports whether a text has a run that is long enough for a match of
// issued, of the characters of one, and with what [isIssued] asks for. It spares
// most texts the expression.
func mayHoldIssued(text string) bool {
	if len(text) < minIssued {
		return false
	}
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r > unicode.MaxASCII || !isWord(r) && !strings.ContainsRune("-.=:", r)
	}) {
		if len(run) >= minIssued && looksIssued(run) {
			return true
		}
	}
	return false
}

// isIssued tells a match of issued from words with dashes, such as the name of a
// package, and from placeholders.
func isIssued(match string) bool {
	return !strings.Contains(match, "xxxx") && looksIssued(match) && !isOfWords(match)
}

// isOfWords reports whether a match of issued is a name of words that begins like
// a short prefix.
func isOfWords(match string) bool {
	prefix := shortIssuers.FindString(match)
	if prefix == "" {
		return false
	}
	for run := range strings.FieldsFuncSeq(match[len(prefix):], func(r rune) bool { return r == '-' || r == '_' }) {
		if isKeyRun(run) {
			return false
		}
	}
	return true
}

// isKeyRun is isRandomRun behind a prefix, where shorter runs and any hexadecimal ones count.
func isKeyRun(s string) bool {
	if len(s) < minPart || !isMixed(s) {
		return false
	}
	return strings.Trim(s, "abcdefABCDEF"+digits) == "" || turns(s) >= minTurns ||
		count(s, digits) >= 3 && count(s, letters) >= 3 && count(s, capitals) >= 3
}

// holdsIssued reports whether a part of an address or a path is such a secret, also
// one without digits.
func holdsIssued(part string) bool {
	match := issued.FindString(part)
	return match != "" && !isOfWords(match)
}

// looksIssued is isIssued but for placeholders. Of two texts the longer one looks
// issued if one that it holds does.
func looksIssued(s string) bool {
	if turns(s) >= mayTurns {
		return true
	}
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-_.:", r) }) {
		if len(run) >= minWeak && (isMixed(run) || run != strings.ToLower(run) && run != strings.ToUpper(run)) {
			return true
		}
	}
	return false
}

// mayIssuers are issuers with more prefixes, shorter, and long runs of any characters
// of keys.
const mayIssuers = `\b(?:sk|pk|rk|gh[pousr]|github_pat|glpat|ntn|xox[a-z]|npm|AKIA|ASIA|eyJ)[-_A-Za-z0-9][-_.A-Za-z0-9]{11,}|[-_A-Za-z0-9]{32,}`

var (
	mayIssued      = regexp.MustCompile(mayIssuers)
	mayIssuedFirst = regexp.MustCompile(`^(?:` + mayIssuers + `)`)
)

// Lengths from which a run of letters and digits can be told to be random, and how
// often the two have to take turns where it is short: in no word they do as often.
const (
	minRandom = 24
	minPart   = 16 // in a path, whose owner is let in
	minTurns  = 4
	// of letters of one case
	randomTurns = 6
	minMixed    = 10 // for May
	minRun      = 16
	mayTurns    = 3
)

// isShaped reports whether a whole value has the shape of a secret.
func isShaped(value string) bool {
	if strings.HasPrefix(value, "-----BEGIN") && keyBlocks.MatchString(value) {
		return true
	}
	return isRandom(value) || mayHoldIssued(value) && issuedWhole.MatchString(value) && isIssued(value)
}

// isRandom reports whether s is, or has between dashes, one long run of letters
// and digits in which nothing can be read: a secret of a kind that has no prefix,
// or one that is not known.
func isRandom(s string) bool {
	if len(s) < minRandom || strings.Trim(s, letters+capitals+digits+"+/=_-") != "" {
		return false
	}
	if isRandomRun(s) {
		return !isPath(s)
	}
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(run) < len(s) && !strings.Contains(run, "/") && isRandomRun(run) {
			return true
		}
	}
	return false
}

// isRandomRun is isRandom for one run. Hexadecimal texts of 40 and 64 digits are
// commits and digests.
func isRandomRun(s string) bool {
	if len(s) < minRandom {
		return false
	}
	digit := count(s, digits)
	if digit+count(s, "abcdefABCDEF") == len(s) {
		return len(s) >= 32 && len(s) != 40 && len(s) != 64 && digit > 0 && digit < len(s)
	}
	// Words in lower case joined by dashes, such as the name of a model, have few
	// digits and no capitals.
	return digit >= 3 && count(s, letters) >= 3 && count(s, capitals) >= 3 ||
		!strings.ContainsAny(s, "-_/") && turns(s) >= randomTurns
}

// count gives how many bytes of a text are of a set.
func count(text, set string) int {
	n := 0
	for i := range len(text) {
		if strings.IndexByte(set, text[i]) >= 0 {
			n++
		}
	}
	return n
}

// isPart reports whether a part of a path is a secret.
func isPart(s string) bool {
	if isShaped(s) {
		return true
	}
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
		case '0' <= c && c <= '9':
			return 1
		case isLower(c) || isUpper(c):
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

// mayShaped reports whether a whole value, or a part of a path, may have the shape
// of a secret.
func mayShaped(value string) bool {
	if isPart(value) {
		return true
	}
	if len(value) < minMixed || strings.ContainsFunc(value, func(r rune) bool {
		return r > unicode.MaxASCII || !isWord(r) && !strings.ContainsRune("+/=-.~", r)
	}) {
		return false
	}
	if mayIssuedFirst.MatchString(value) {
		return true
	}
	mixed := strings.ContainsAny(value, digits) && strings.ContainsAny(value, letters) && strings.ContainsAny(value, capitals)
	return turns(value) >= mayTurns || mixed && len(value) >= minRun && !strings.ContainsAny(value, "./") || isRuns(value)
}

// isRuns reports whether a value is, or has between dots, runs of letters and digits
// that no word reaches.
func isRuns(value string) bool {
	if strings.ContainsRune(value, '/') {
		return false
	}
	long := 0
	for part := range strings.SplitSeq(value, ".") {
		if len(part) >= 12 && strings.Trim(part, letters+capitals+digits) == "" {
			long++
			if isMixed(part) {
				return true
			}
		}
	}
	return long >= 2 && isMixed(value)
}

// isWord reports whether a character is one of a word.
func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isPath reports whether a value names a file rather than holds what the file
// does. Parts that look like secrets make it none.
func isPath(value string) bool {
	if len(value) > 1024 || strings.ContainsAny(value, "\n=+") {
		return false
	}
	slashed := strings.ReplaceAll(value, `\`, "/")
	rooted := fileStart.MatchString(slashed) && strings.Count(slashed, "/") > 1
	if !rooted && !fileEnd.MatchString(slashed) {
		return false
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if isPart(part) || holdsIssued(part) {
			return false
		}
	}
	return true
}

// isClearPath is isPath where a secret is more likely: random text may have slashes,
// too. The path has to begin like one of a system, or be made of names that read
// as words.
func isClearPath(value string) bool {
	if !isPath(value) {
		return false
	}
	slashed := strings.ReplaceAll(value, `\`, "/")
	if knownRoot.MatchString(slashed) {
		return true
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if !readable.MatchString(part) || unreadable.MatchString(part) {
			return false
		}
	}
	return true
}

var (
	knownRoot = regexp.MustCompile(`^(?:~/|\.{1,2}/|[A-Za-z]:/|/(?:etc|home|run|var|usr|opt|srv|tmp|root|mnt|app|data|secrets|Users|Volumes|private|workspaces?)/)`)
	// readable are words parted by dots, dashes and blanks, each of letters of one
	// case, or capitalised, or several such in a row, with digits at most at its end.
	readable = regexp.MustCompile(`^[._ -]*(?:(?:k8s|[0-9]{1,8}|(?:[\p{Ll}\p{Lo}]+|\p{Lu}+|\p{Lu}\p{Ll}*|\p{Lu}?\p{Ll}{2,}(?:\p{Lu}\p{Ll}{2,})+)[0-9]*)(?:[._ -]+|$))*$`)
	// unreadable are more consonants in a row than words have, and, of capitals amid
	// small letters, parts without a vowel.
	unreadable = regexp.MustCompile(`(?i:[bcdfghjklmnpqrstvwxz]{6})|[a-z][A-Z][bcdfghjklmnpqrstvwxz]+(?:[^a-z]|$)|[a-z][A-Z][bcdfghjklmnpqrstvwxz]{3}`)
	fileStart  = regexp.MustCompile(`^(?:~|\.{1,2}|[A-Za-z]:)?/`)
	fileEnd    = regexp.MustCompile(`^[A-Za-z0-9_. /:~-]+\.(?:json|pem|key|crt|cer|txt|p12|pfx|pub|ya?ml|toml|env|asc|gpg|jks|db|sqlite)$`)
)

// Common reports whether a value whose name says nothing is too short for a
// secret, or a word, number or address that turns up in any message.
func Common(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < minAlone {
		return true
	}
	mixed := value != strings.ToLower(value) && value[1:] != strings.ToLower(value[1:]) && value != strings.ToUpper(value)
	return !mixed && commonWords.MatchString(value)
}

// minAlone is the length below which a value is hidden only where it stands alone:
// a "1" would take every number apart.
const minAlone = 4

var commonWords = regexp.MustCompile(`(?i)^(?:true|false|yes|no|on|off|none|null|default|auto|enabled|disabled|debug|trace|verbose|info|notice|warning|error|critical|fatal|silent|` +
	`production|development|staging|testing|localhost|kerberos|negotiate|anonymous|required|optional|[a-z]{1,7}|[0-9]{1,7}|[0-9]{1,4}(?:[-.:][0-9]{1,5}){1,4})$`)

// StandsIn reports whether a value is a reference in some client's spelling, a
// command, or a request to put a value there, so that there is no secret in it.
func StandsIn(value string) bool {
	return strings.Contains(value, "${") || reference.MatchString(value) || request.MatchString(value)
}

var (
	reference = regexp.MustCompile(`^(?:\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\{(?:env|file):[^{}]*\}|\{\{[^{}]*\}\}|\$\(.*\)|` + "`.*`" + `|<[^<>]*>|\[[^\[\]]*\]|\*+)$`)
	request   = regexp.MustCompile(`(?i)\byour[-_ ]|(?:goes|key|token|secret|password)[-_ ]here$|change[-_]?me|replace[-_]?(?:me|with|this)|insert[-_ ](?:your|key|token|api)|placeholder|xxxx|\.\.\.$|…$`)
)
