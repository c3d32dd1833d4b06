package secrets

import (
	"slices"
	"strings"
)

// A kind says how much a name tells about its value.
type kind int

const (
	none     kind = iota // nothing
	faint                // perhaps a secret, for May only
	asking               // a question about one
	vague                // a secret, if the value looks like one
	weak                 // a secret, or one of other things
	strong               // a secret
	password             // a secret that people choose: it may be a number, or anything
)

// Ends of the last word of a name.
var (
	passwordEnds = []string{"password", "passwd", "passphrase", "passcode", "secret", "mnemonic"}
	strongEnds   = []string{"token", "authorization", "credential", "bearer", "cookie", "jwt"}
	weakWords    = []string{"auth", "sig", "signature", "hmac", "pwd", "pass", "pas", "pat", "pw", "pin", "session", "sid", "cred", "otp", "totp"}
	passWords    = []string{"pass", "pas", "pwd", "pw"}
	vagueWords   = []string{"oauth", "salt"}
	faintEnds    = []string{"pass", "pwd", "auth", "pat", "sig", "signature", "dsn", "cred", "seed"}
)

// phrasesOf are the words before phrase, in the same word or before it, that make it
// one to be kept.
var phrasesOf = []string{"pass", "seed", "recovery", "mnemonic"}

// Words before key, in the same word or before it.
var (
	strongKeys = []string{
		"api", "app", "application", "access", "secret", "private", "priv", "encryption", "encrypt", "signing", "master", "auth", "account",
		"admin", "client", "consumer", "deploy", "license", "service", "shared", "storage", "subscription", "webhook", "integration", "personal",
	}
	harmlessKeys = []string{
		"public", "pub", "sort", "order", "primary", "foreign", "partition", "cache", "object", "row", "col", "column", "issue",
		"hot", "short", "shortcut", "lookup", "index", "field", "json", "dict", "routing", "tab", "arrow", "enter", "escape", "meta",
		"idempotency", "translation", "locale", "unique", "composite", "range", "shard", "dedupe",
	}
	chanceKeys = []string{"monkey", "donkey", "turkey", "hockey", "jockey", "whiskey", "turnkey", "mickey", "lackey", "smokey"}
)

// Words that stand around what matters in a name.
var (
	askers  = []string{"no", "use", "enable", "disable", "skip", "allow", "without", "ignore", "has", "is", "show", "hide", "require", "requires", "max", "min", "num", "count"}
	details = []string{ // base64 and b64 without their number
		"value", "val", "base", "b", "hex", "pem", "json", "raw", "text", "string", "str", "plain", "plaintext", "data", "enc",
		"prod", "production", "dev", "test", "live", "stage", "staging", "sandbox", "local", "primary", "secondary", "main", "backup", "old",
		"new", "current", "default", "ro", "rw",
	}
)

// kindOf reads a name from its end.
func kindOf(name string) kind {
	rest, word, detailed := lastOf(name)
	k := kindOfWord(rest, word)
	if k > faint && slices.Contains(askers, firstWord(name)) && rest != "" {
		return asking
	}
	if (k == weak || k == vague) && detailed { // KEY_TEXT, AUTH_DEFAULT
		return faint
	}
	return k
}

// kindOfWord is kindOf for the word that matters, and what stands before it.
func kindOfWord(rest, word string) kind {
	switch {
	case endsIn(word, passwordEnds):
		return password
	case endsIn(word, strongEnds):
		return strong
	case strings.HasSuffix(word, "key"):
		return kindOfKey(rest, word)
	case rest != "" && slices.Contains(passWords, word) && !strings.EqualFold(rest, "by"):
		return password // of something; alone they are also other things
	case slices.Contains(weakWords, word):
		return weak
	case slices.Contains(vagueWords, word):
		return vague
	case strings.HasSuffix(word, "phrase"):
		return kindOfPhrase(rest, word)
	case len(word) > len("pwd") && strings.HasSuffix(word, "pwd") && word != "oldpwd":
		return password
	case endsIn(word, faintEnds):
		return faint
	}
	return none
}

// kindOfPhrase is kindOf for a word that ends in phrase.
func kindOfPhrase(rest, word string) kind {
	if slices.Contains(phrasesOf, wordBefore(rest, word, "phrase")) {
		return weak
	}
	return faint
}

// kindOfKey is kindOf for a word that ends in key.
func kindOfKey(rest, word string) kind {
	before := wordBefore(rest, word, "key")
	switch {
	case slices.Contains(chanceKeys, word):
		return none
	case slices.Contains(harmlessKeys, before):
		return faint
	case endsIn(before, strongKeys):
		return strong
	}
	return weak
}

// wordBefore is what stands before the end of a word, in it or as a word of its own.
func wordBefore(rest, word, end string) string {
	before := strings.TrimSuffix(word, end)
	if before == "" {
		_, before = cutLast(rest)
	}
	return before
}

// lastOf gives the last word of a name that matters, in lower case and without a
// plural s, and what stands before it. It says whether a word was skipped that gives
// details.
func lastOf(name string) (rest, word string, detailed bool) {
	rest = name
	for {
		rest, word = cutLast(rest)
		if trimmed := strings.TrimSuffix(word, "value"); trimmed != "" {
			word = trimmed
		}
		if !slices.Contains(details, word) {
			break
		}
		detailed = true
	}
	if len(word) > len("as") && !strings.HasSuffix(word, "ss") && word != "pas" {
		word = strings.TrimSuffix(word, "s")
	}
	return rest, word, detailed
}

// isPlural reports whether a name speaks of several.
func isPlural(name string) bool {
	_, word := cutLast(name)
	return strings.HasSuffix(word, "s")
}

// cutLast cuts the last word off a name, without the digits at its end. Words are
// parted by signs, and by capitals in a name that also has small letters.
func cutLast(name string) (rest, word string) {
	name = strings.TrimRight(name, separators+digits)
	at := len(name)
	for at > 0 && strings.IndexByte(separators, name[at-1]) < 0 {
		at--
		if at > 0 && isUpper(name[at]) && (isLower(name[at-1]) || at+1 < len(name) && isUpper(name[at-1]) && isLower(name[at+1])) {
			break
		}
	}
	return strings.TrimRight(name[:at], separators+digits), strings.ToLower(name[at:])
}

// firstWord is the first word of a name, in lower case.
func firstWord(name string) string {
	name = strings.TrimLeft(name, separators)
	at := strings.IndexAny(name, separators)
	if at < 0 {
		at = len(name)
	}
	for i := 1; i < at; i++ {
		if isUpper(name[i]) && isLower(name[i-1]) {
			at = i
		}
	}
	return strings.ToLower(name[:at])
}

// separators part the words of a name. The first ones also part an option from a
// pair that it holds.
const separators = "=:_-. /\t[]"

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func endsIn(word string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(word, end) })
}
