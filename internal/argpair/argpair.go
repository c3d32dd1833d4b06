// Package argpair takes an argument of a command line apart that holds a name
// and a value.
//
//	name, value, sep := argpair.Cut("--token=abc", isSecretName)
package argpair

import "strings"

// Cut cuts NAME=value, Name: value and --option=value at the sign between, which
// it returns too; an argument without one is all name, and so is an address. An
// option may hold such a pair itself, as --header=Name:value does: its name is
// then a part of the name, unless the option's own is what the caller looks for.
// At most three pairs in each other are taken apart. It is safe for concurrent use.
func Cut(arg string, wanted func(name string) bool) (name, value, sep string) {
	return cut(arg, wanted, maxPairs)
}

// maxPairs is how many pairs in each other are taken apart.
const maxPairs = 3

func cut(arg string, wanted func(name string) bool, pairs int) (name, value, sep string) {
	i := strings.IndexAny(arg, "=:")
	if i < 0 || strings.HasPrefix(arg[i:], "://") {
		return arg, "", ""
	}
	if pairs > 1 && !wanted(arg[:i]) {
		if inner, rest, innerSep := cut(arg[i+1:], wanted, pairs-1); innerSep != "" {
			return arg[:i+1] + inner, rest, innerSep
		}
	}
	return arg[:i], arg[i+1:], arg[i : i+1]
}
