// Package pattern matches relative slash paths with patterns such as
// "docs/**/*.md", part by part.
//
// A part has the form of [path.Match]; the part "**" stands for any number of
// parts, also none. Matching is exact in the letters: a caller whose file
// system folds case folds before. [Reaches] does so itself, as it guards.
//
// Functions are pure and safe for concurrent use.
package pattern

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// any number of parts
const anyParts = "**"

// Check reports why a pattern cannot match any path: it is longer than a path
// may be, a part is empty, "." or "..", or a part breaks the rules of
// [path.Match].
func Check(pattern string) error {
	if len(pattern) > rootfs.MaxPath {
		return fmt.Errorf("more than %d bytes", rootfs.MaxPath)
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("a part is empty, %q or %q", ".", "..")
		}
		if _, err := path.Match(part, ""); err != nil {
			return err
		}
	}
	return nil
}

// Match reports whether any of the patterns matches p as a whole. A pattern
// that [Check] refuses matches nothing.
func Match(patterns []string, p string) bool {
	parts := strings.Split(p, "/")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return match(strings.Split(pattern, "/"), parts)
	})
}

// match takes time in proportion to the product of the numbers of parts: only
// the last "**" needs to be tried again.
func match(pattern, parts []string) bool {
	pi, si := 0, 0
	star, next := -1, 0 // the last "**", and what it stands for so far ends there
	for si < len(parts) {
		switch {
		case pi < len(pattern) && pattern[pi] == anyParts:
			star, next = pi, si
			pi++
		case pi < len(pattern) && matchPart(pattern[pi], parts[si]):
			pi++
			si++
		case star >= 0:
			next++
			pi, si = star+1, next
		default:
			return false
		}
	}
	for pi < len(pattern) && pattern[pi] == anyParts {
		pi++
	}
	return pi == len(pattern)
}

func matchPart(pattern, part string) bool {
	ok, err := path.Match(pattern, part)
	return ok && err == nil
}

// Reaches reports whether the pattern could match p or a path below p, in any
// spelling that a file system which folds case and Unicode forms takes for the
// same. When it says no, that is sure. A part of the pattern that has "*", "?"
// or a class may be said to match what it does not: accents do not count in it,
// and neither does what a class holds.
func Reaches(pattern, p string) bool {
	parts := strings.Split(pattern, "/")
	// at[i] says that the first i parts of the pattern can match what of p was
	// passed so far.
	at := make([]bool, len(parts)+1)
	at[0] = true
	skip(at, parts)
	for want := range strings.SplitSeq(p, "/") {
		next := make([]bool, len(at))
		for i := range parts {
			switch {
			case !at[i]:
			case parts[i] == anyParts:
				next[i] = true
			case reachesPart(parts[i], want):
				next[i+1] = true
			}
		}
		skip(next, parts)
		at = next
	}
	return slices.Contains(at, true)
}

// skip lets each "**" that is reached stand for nothing.
func skip(at []bool, parts []string) {
	for i, part := range parts {
		at[i+1] = at[i+1] || at[i] && part == anyParts
	}
}
