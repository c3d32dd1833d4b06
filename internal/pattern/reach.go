package pattern

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// What "?", a class and "*" stand for, among the letters of a pattern's part.
const (
	oneRune rune = -1 - iota
	anyRunes
)

// mostBases is how many bases one character has at most: the ligature of f, f
// and i, and a Hangul syllable, have three. A combining mark has none.
const mostBases = 3

// reachesPart reports whether a part of a pattern could match a name that folds
// to what part folds to. Folding turns one character into several and several
// into one, so what "?" stands for cannot be counted in folded text. It is
// counted in bases, into which a text can be cut anywhere.
func reachesPart(pattern, part string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return rootfs.FoldKey(pattern) == rootfs.FoldKey(part)
	}
	return reachesBases(compile(pattern), bases(part))
}

// bases returns the folded characters of a text without combining marks, whose
// order depends on what stands around them. Two names that fold to the same have
// the same bases, and the bases of two texts joined are those of each.
func bases(text string) []rune {
	return slices.DeleteFunc([]rune(norm.NFD.String(rootfs.FoldKey(text))), func(r rune) bool {
		return norm.NFD.PropertiesString(string(r)).CCC() != 0
	})
}

// compile returns the bases of a part's letters, with oneRune and anyRunes
// between them. A class counts as any character.
func compile(pattern string) []rune {
	var out []rune
	for pattern != "" {
		at := strings.IndexAny(pattern, `*?[\`)
		if at < 0 {
			return append(out, bases(pattern)...)
		}
		out = append(out, bases(pattern[:at])...)
		rest := pattern[at+1:]
		switch pattern[at] {
		case '*':
			out = append(out, anyRunes)
		case '?':
			out = append(out, oneRune)
		case '[':
			out = append(out, oneRune)
			rest = afterClass(rest)
		case '\\':
			// The next character stands for itself.
			letter := []rune(rest)[:min(1, len(rest))]
			out = append(out, bases(string(letter))...)
			rest = rest[len(string(letter)):]
		}
		pattern = rest
	}
	return out
}

// afterClass returns what follows the "]" that ends a class.
func afterClass(text string) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return text[i+1:]
		}
	}
	return ""
}

// reachesBases reports whether want is among what a compiled part stands for.
func reachesBases(compiled, want []rune) bool {
	at := make([]bool, len(want)+1) // how much of want can be passed so far
	at[0] = true
	for _, c := range compiled {
		next := make([]bool, len(at))
		for i, ok := range at {
			if !ok {
				continue
			}
			from, to := i+1, i+1
			switch c {
			case oneRune:
				from, to = i, i+mostBases
			case anyRunes:
				from, to = i, len(want)
			default:
				if i == len(want) || want[i] != c {
					continue
				}
			}
			for j := from; j <= min(to, len(want)); j++ {
				next[j] = true
			}
		}
		at = next
	}
	return at[len(want)]
}
