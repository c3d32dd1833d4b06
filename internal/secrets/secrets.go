// Package secrets tells what is a secret by the name it stands under or by its
// shape. It is the one opinion on that: what one part of the library seals
// another hides.
//
//	secrets.Is("API_KEY", "abc")                   // true
//	secrets.Redact("login with --token abc failed") // login with --token *** failed
//
// # Two levels
//
// What to do when in doubt depends on the harm. A message without a harmless word
// is still a message, but a pasted setting without its value does not work, so
// there are two levels, and each thing that the first one takes the second one
// takes as well.
//
// [Is] is for what is done to a configuration: its value is sealed, replaced by a
// reference, or refused. [Named] is as much of it as can be said before there is a
// value, [Replace] and [ReplaceValue] find such values in texts.
//
// [May] is for what is shown to people: errors, reports, tables, what is told to
// others. [Pieces] and [ArgPieces] find such values in anything, [Redact] and
// [RedactArgs] hide them.
//
// # Names
//
// A name is read from its end, without regard to case and to what parts its words
// (API_KEY, x-api-key, apiKey). Numbers, a plural s, and words that only say more
// about a value (API_KEY_2, TOKEN_VALUE, PRIVATE_KEY_BASE64, SECRET_PROD) are
// skipped. So KEYBOARD, AUTHOR, PASSTHROUGH and SSH_KEY_PATH are no such names.
//
//   - Token, secret, password, passphrase, authorization, credential, cookie,
//     bearer and the like, and keys of an API, of access, for signing and such,
//     always hold a secret. Values that say otherwise are switches, and, except
//     of passwords, numbers of less than 8 digits (MAX_TOKENS), and paths that
//     begin as those of a system do or have names of words only.
//   - Any other key, auth, signature, session, pin and the like hold one if the
//     value has 8 bytes and is no common word and no path. Words that end in key
//     by chance (MONKEY) and keys of tables and the public (SORT_KEY) are none.
//     A salt and oauth take digits beside, too, and a phrase is one only behind
//     pass, seed, recovery or mnemonic.
//   - Names that ask rather than hold (USE_TOKEN, --no-auth) count only with a
//     value of letters and digits of that length.
//
// For [May] the length, paths and numbers do not matter, and names that merely
// end in such a word count too.
//
// # Shapes
//
// By its shape a value is a secret if it has the prefix of a well-known service's
// keys (and, where that is as short as a word, such as re_, a random run behind it),
// is a JSON web token or a private key, or if it is a long mixture of
// letters and digits in which nothing can be read. Commits, digests, dates and
// names of models are none; in the path of an address shorter ones count. For
// [May] shorter mixtures count everywhere.
//
// References such as ${NAME}, and values that are still to be filled in, are never
// secrets for the first level; the second one looks at texts in which nothing
// is left to be filled in, and spares only references and its own mark.
//
// # Notes
//
// [Noted] and [NotedParameter] spell out the words by which package normalize notes
// a value in any case, beside what the first level finds. They replace nothing: a
// note may stand at a value that is left alone.
//
// # Concurrency, errors and limits
//
// All functions are pure and safe for concurrent use, and take any text. The time
// is linear in the length of the text, times the number of secrets in it, of which
// at most 512 are looked for: a text with more is hidden as a whole.
package secrets

import "strings"

// Is reports whether the value that stands under a name is a secret for certain
// enough to be replaced or refused. The name may be empty, and so is what begins a
// header's value, such as Bearer, to be cut off before: [ReplaceValue] does.
func Is(name, value string) bool {
	return !strings.Contains(value, "${") && (isNamed(name, value) || isShaped(value)) && !StandsIn(value)
}

// May reports whether the value that stands under a name may be a secret, so that
// it has to be hidden. The name may be empty.
func May(name, value string) bool { return mayNamed(name, value) || mayShaped(value) }

// Named reports whether a name alone is that of a secret, whatever the value: one of
// those that always hold one, or do if the value is no common word.
func Named(name string) bool { return kindOf(name) > asking }

// isNamed is Is as far as the name goes.
func isNamed(name, value string) bool {
	k := kindOf(name)
	if k <= faint || isSwitch(value) || value == "0" || value == "1" {
		return false
	}
	switch k {
	case password:
		return true
	case strong:
		return !isCount(value) && !isClearPath(value)
	case weak:
		return isWeak(value)
	case vague:
		return isWeak(value) && isMixed(value)
	case asking:
		return len(value) >= minWeak && isMixed(value)
	default:
		return false
	}
}

// isWeak reports whether a value under a weak name is a secret.
func isWeak(value string) bool {
	return len(value) >= minWeak && !commonWords.MatchString(value) && !isPath(value)
}

// mayNamed is May as far as the name goes.
func mayNamed(name, value string) bool {
	if isSwitch(value) {
		return false
	}
	switch k := kindOf(name); k {
	case none:
		return false
	case password:
		return true
	case asking:
		return !isCount(value)
	default:
		return !isPlural(name) || !isCount(value)
	}
}

// minWeak is the length from which a value under a weak name counts.
const minWeak = 8

// isSwitch reports whether a value turns something on or off.
func isSwitch(value string) bool {
	if len(value) > len("false") {
		return false
	}
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "none", "null":
		return true
	}
	return false
}

// isCount reports whether a value is a number as limits have, such as that of
// MAX_TOKENS.
func isCount(value string) bool { return len(value) < minWeak && strings.Trim(value, digits) == "" }

// isMixed reports whether a value has digits and something beside.
func isMixed(value string) bool {
	return strings.ContainsAny(value, digits) && strings.Trim(value, digits) != ""
}

// Noted reports whether a name ends in one of the words token, secret, password,
// passwd and key, in any case, or is that of a header of credentials. Unlike [Is]
// it knows no exceptions, so that a reader of a note can check it by eye.
func Noted(name string) bool {
	for _, whole := range []string{"authorization", "proxy-authorization", "cookie"} {
		if strings.EqualFold(name, whole) {
			return true
		}
	}
	for _, end := range []string{"token", "secret", "password", "passwd", "key"} {
		if len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end) {
			return true
		}
	}
	return false
}

// NotedParameter reports whether a parameter of an address is the place of a
// secret: such a name, or one by which credentials go in addresses.
func NotedParameter(name string) bool {
	if Noted(name) {
		return true
	}
	switch strings.ToLower(name) {
	case "auth", "sig", "signature", "pwd", "pw", "credential", "credentials", "bearer", "jwt", "pat":
		return true
	}
	return false
}
