package secrets

import (
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/argpair"
)

// minAfterColon is the length from which what follows a colon is a value: the tag
// of a container image is shorter.
const minAfterColon = 8

// InArgs calls found for each secret among the arguments of a command line, in
// their order and by the rule of [Is]: what follows an option or a name of one, and
// what [Replace] finds in each. i is the argument's index.
func InArgs(args []string, found func(i int, value string)) {
	option := "" // the one before, if a value may follow it
	for i, arg := range args {
		tell := func(_, value string) string {
			found(i, value)
			return value
		}
		name, value, sep := pairOf(arg)
		switch {
		case option != "" && (!strings.HasPrefix(arg, "-") || IsDashed(arg)) && Is(option, arg):
			ReplaceValue(option, arg, tell)
		case sep != "":
			ReplaceValue(name, strings.TrimSpace(value), tell)
		case strings.Contains(arg, "/"): // no random text, but a path or an address
			Replace(arg, tell)
		default:
			ReplaceValue("", arg, tell)
		}
		option = ""
		if sep == "" && strings.HasPrefix(arg, "-") {
			option = arg
		}
	}
}

// pairOf takes an argument apart that is a name and a value. Neither the tag of a
// container image nor a sentence is one.
func pairOf(arg string) (name, value, sep string) {
	name, value, sep = argpair.Cut(arg, func(name string) bool { return kindOf(name) > faint })
	if strings.ContainsAny(name, " \t\n") || sep == ":" && (len(value) < minAfterColon || strings.ContainsAny(name, `/@\`)) {
		return arg, "", ""
	}
	return name, value, sep
}
