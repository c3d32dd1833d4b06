package connections

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/result"
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

// Record names in a profile.
const (
	serverPrefix  = "server/"
	receiptPrefix = "receipt/"
)

// maxName bounds the name of a connection, so that it fits into the name of a
// record however it is escaped.
const maxName = 80

// recordName is where the vault keeps a connection. Names of records have no
// spaces.
func recordName(server string) string {
	return serverPrefix + strings.NewReplacer("%", "%25", " ", "%20").Replace(server)
}

// checkName refuses names that a person could not type or tell apart.
func checkName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, odd) {
		return &result.Error{
			Code:    CodeNameInvalid,
			Message: fmt.Sprintf("%s cannot be the name of a connection: give a name of 1 to %d bytes of visible characters", wording.Quote(name, 60), maxName),
		}
	}
	return nil
}
