package review

import "bytes"

// Limits of the search for similar lines.
const (
	maxCells   = 10_000 // pairs of lines to compare; beyond, lines match by their place
	similarity = 40     // percent of their words that two lines share to be versions of one
)

// A lineMatch says that line i of what goes and line j of what comes are versions of one
// line.
type lineMatch struct{ i, j int }

// match returns which lines of b are versions of which of a, in order: of all
// ways to match them in order, the one whose lines have most in common. A single
// line always matches a single line.
func match(a, b [][]byte) []lineMatch {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	if len(a) == 1 && len(b) == 1 {
		return []lineMatch{{0, 0}}
	}
	if len(a)*len(b) > maxCells {
		return matchByPlace(a, b)
	}
	likes := make([]int, len(a)*len(b))
	for i := range a {
		words := countWords(a[i])
		for j := range b {
			likes[i*len(b)+j] = alike(words, len(a[i]), b[j])
		}
	}
	return best(likes, len(a), len(b))
}

func matchByPlace(a, b [][]byte) []lineMatch {
	var out []lineMatch
	for i := range min(len(a), len(b)) {
		if alike(countWords(a[i]), len(a[i]), b[i]) > 0 {
			out = append(out, lineMatch{i, i})
		}
	}
	return out
}

// best finds the matching of the greatest sum, by the usual table from the end.
func best(likes []int, n, m int) []lineMatch {
	sums := make([]int, (n+1)*(m+1))
	at := func(i, j int) *int { return &sums[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			if like := likes[i*m+j]; like > 0 {
				*at(i, j) = max(*at(i, j), like+*at(i+1, j+1))
			}
		}
	}
	var out []lineMatch
	for i, j := 0, 0; i < n && j < m; {
		switch like := likes[i*m+j]; {
		case like > 0 && *at(i, j) == like+*at(i+1, j+1):
			out = append(out, lineMatch{i, j})
			i, j = i+1, j+1
		case *at(i, j) == *at(i+1, j):
			i++
		default:
			j++
		}
	}
	return out
}

func countWords(line []byte) map[string]int {
	words := map[string]int{}
	for word := range bytes.FieldsSeq(line) {
		words[string(word)]++
	}
	return words
}

// alike returns how much, in percent, the words of a line have in common with
// another of size bytes, and 0 if that is too little.
func alike(words map[string]int, size int, line []byte) int {
	common, used := 0, map[string]int{}
	for word := range bytes.FieldsSeq(line) {
		if used[string(word)] < words[string(word)] {
			used[string(word)]++
			common += len(word) + 1
		}
	}
	percent := 200 * common / max(size+len(line), 1)
	if percent < similarity {
		return 0
	}
	return percent
}
