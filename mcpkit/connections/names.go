package connections

import (
	"regexp"
	"strings"
	"unicode"
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
