package normalize

import (
	"strings"
)

// isPlaceholder tells whether a value, or a part of it, is one that its author
// wants replaced: YOUR_KEY, <token>, {{NAME}}, /path/to/x, xxxx, "...".
func isPlaceholder(s string, id Dialect) bool {
	return dots(s) || onlyFiller(s) || angled(s) || bracketed(s) || doubleBraced(s, id) || wordy(s) || samplePath(s)
}

// withoutRefs takes the references out of a value: what they stand for is not
// to be filled in by hand, even if they are named YOUR_TOKEN.
func withoutRefs(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		var r ref
		r.size = 1
		if s[i] == '$' {
			scanRef(s[i:], &r)
		}
		if r.kind != refVar && r.kind != refInput {
			b.WriteString(s[i : i+r.size])
		}
		i += r.size
	}
	return b.String()
}

// dots tells whether a value ends in an ellipsis.
func dots(s string) bool {
	return strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…")
}

// onlyFiller tells whether some part of a value, between signs, is nothing but
// x or asterisks: xxxx, sk-xxxxxxxx, ****.
func onlyFiller(s string) bool {
	if !strings.Contains(s, "xxx") && !strings.Contains(s, "XXX") && !strings.Contains(s, "***") {
		return false
	}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-_ .:/=@", r) }) {
		if len(part) >= 3 && (strings.Trim(part, "xX") == "" || strings.Trim(part, "*") == "") {
			return true
		}
	}
	return false
}

// angled tells whether a value holds <name>.
func angled(s string) bool {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return false
		}
		s = s[i+1:]
		end := strings.IndexAny(s, "<>")
		if end > 0 && s[end] == '>' && isNameStart(s[0]) && strings.IndexFunc(s[:end], oddInName) < 0 {
			return true
		}
	}
}

// oddInName tells whether a character does not belong into the name of a
// placeholder.
func oddInName(r rune) bool {
	return r != ' ' && r != '-' && r != '.' && r != '/' && r != ':' && r != '\'' && r != '|' && r < 0x80 &&
		!isNameStart(byte(r)) && (r < '0' || r > '9')
}

// bracketed tells whether a value is a request in brackets, such as
// [insert key].
func bracketed(s string) bool {
	if len(s) < 4 || s[0] != '[' || s[len(s)-1] != ']' || !isNameStart(s[1]) {
		return false
	}
	inner := s[1 : len(s)-1]
	if strings.IndexFunc(inner, oddInName) >= 0 {
		return false
	}
	for _, word := range []string{"insert", "your", "key", "token", "secret", "password", "here", "replace", "enter", "add"} {
		if strings.Contains(strings.ToLower(inner), word) {
			return true
		}
	}
	return false
}

// maxPlaceholder bounds the name inside a placeholder.
const maxPlaceholder = 80

// doubleBraced tells whether a value holds {{name}}. Some formats mean a
// reference by it.
func doubleBraced(s string, id Dialect) bool {
	if id == DockerCatalog || id == LibreChat {
		return false
	}
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			return false
		}
		dollar := i > 0 && s[i-1] == '$'
		s = s[i+2:]
		end := strings.Index(s[:min(len(s), maxPlaceholder)], "}}")
		if end > 0 && !dollar && strings.IndexFunc(s[:end], oddInName) < 0 {
			return true
		}
	}
}

// requests are what placeholders say, lower-cased. An underscore stands for any
// of the signs that part words.
var requests = []string{
	"your_", "replace_me", "replace_with", "replace_this", "changeme", "change_me", "insert_your", "insert_api",
	"insert_key", "insert_token", "put_your", "enter_your", "add_your", "paste_your", "_here", "fill_me",
	"to_be_replaced",
}

// wordy tells whether a value asks for one: YOUR_KEY, your-token, REPLACE_ME,
// key-goes-here.
func wordy(s string) bool {
	for i := range len(s) {
		switch s[i] | 0x20 {
		case 'y', 'r', 'c', 'i', 'p', 'e', 'a', 'f', 't', '-' | 0x20, '_' | 0x20, ' ':
		default:
			continue
		}
		if strings.HasPrefix(s[i:], "YOUR") && i+4 < len(s) && isWordByte(s[i+4]) && wordStart(s, i) {
			return true
		}
		for _, word := range requests {
			if hasRequest(s[i:], word) && (word[0] == '_' || wordStart(s, i)) && wordEnd(s, i+len(word), word) {
				return true
			}
		}
	}
	return false
}

// hasRequest tells whether s starts with a request.
func hasRequest(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] && (word[i] != '_' || c != '-' && c != ' ') {
			return false
		}
	}
	return true
}

func wordStart(s string, i int) bool { return i == 0 || !isWordByte(s[i-1]) || s[i-1] == '_' }

func wordEnd(s string, i int, word string) bool {
	return word[len(word)-1] == '_' && i < len(s) || i == len(s) || !isWordByte(s[i]) || s[i] == '_'
}

func isWordByte(c byte) bool { return isNameStart(c) || '0' <= c && c <= '9' }

// samplePath tells whether a value holds a path that no machine has.
func samplePath(s string) bool {
	if !strings.ContainsAny(s, `/\`) {
		return false
	}
	low := strings.ToLower(strings.ReplaceAll(s, `\`, "/"))
	return strings.Contains(low, "path/to/") || strings.HasSuffix(low, "path/to") ||
		strings.Contains(low, "/users/username/") || strings.Contains(low, "/home/username/") ||
		strings.Contains(low, "/users/yourname/") || strings.Contains(low, "/home/yourname/")
}
