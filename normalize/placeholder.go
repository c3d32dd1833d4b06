package normalize

import (
	"strings"
)

// isPlaceholder tells whether a value, or a part of it, is one that its author
// wants replaced: YOUR_KEY, <token>, {{NAME}}, /path/to/x, xxxx, "...".
func isPlaceholder(s string, id Dialect) bool {
	return dots(s) || onlyFiller(s) || angled(s) || bracketed(s) || doubleBraced(s, id) || wordy(s) || samplePath(s)
}

// dots tells whether a value ends in an ellipsis.
func dots(s string) bool {
	return strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…")
}

// onlyFiller tells whether some part of a value, between signs, is nothing but
// x or asterisks: xxxx, sk-xxxxxxxx, ****.
func onlyFiller(s string) bool {
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
		end := strings.Index(s, "}}")
		if end > 0 && !dollar && strings.IndexFunc(s[:end], oddInName) < 0 {
			return true
		}
	}
}

// requests are what placeholders say, lower-cased and with "_" between words.
var requests = []string{
	"replace_me", "replace_with", "replace_this", "changeme", "change_me", "insert_your", "insert_api",
	"insert_key", "insert_token", "put_your", "enter_your",
	"add_your", "paste_your", "_here", "fill_me", "to_be_replaced",
}

// wordy tells whether a value asks for one: YOUR_KEY, your-token, REPLACE_ME,
// key-goes-here.
func wordy(s string) bool {
	if !strings.ContainsAny(s, "eEoO") || len(s) < 4 {
		return false
	}
	low := strings.ToLower(s)
	for from := 0; ; {
		i := strings.Index(low[from:], "your")
		if i < 0 {
			break
		}
		i += from
		from = i + len("your")
		if i > 0 && isWordByte(low[i-1]) && low[i-1] != '_' || from == len(low) {
			continue
		}
		if strings.IndexByte("_- ", low[from]) >= 0 || s[i:from] == "YOUR" && isWordByte(low[from]) {
			return true
		}
	}
	low = strings.NewReplacer("-", "_", " ", "_").Replace(low)
	for _, word := range requests {
		i := strings.Index(low, word)
		if i < 0 {
			continue
		}
		end := i + len(word)
		if (i == 0 || word[0] == '_' || !isWordByte(low[i-1]) || low[i-1] == '_') &&
			(end == len(low) || word[len(word)-1] == '_' || !isWordByte(low[end]) || low[end] == '_') {
			return true
		}
	}
	return false
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
