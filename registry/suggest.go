package registry

import "strings"

// didYouMean gives the end of a message that names the most similar of some names, "" if none is similar.
func didYouMean(s string, names []string) string {
	best, least := "", max(1, len(s)/3)+1
	if len(s) > maxWord {
		return ""
	}
	plain := strings.ToLower(strings.ReplaceAll(s, "-", "_"))
	for _, name := range names {
		other := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
		if d := distance(plain, other); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + quote(best) + "?"
}

// distance counts the letters to insert, remove or replace to make b of a, a swap of neighbours counting as
// one change.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change = 1 + min(row[j], row[j+1], next[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				change = min(change, before[j-1]+1)
			}
			next[j+1] = change
		}
		before, row = row, next
	}
	return row[len(b)]
}
