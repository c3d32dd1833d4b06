package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of an excerpt, in characters before and after the column.
const (
	excerptBefore = 60
	excerptAfter  = 20
)

// excerpt shows a line around a column, counted from 1, and says how many
// characters of it stand before the column. Names and punctuation stay, all
// values become asterisks, and control characters are escaped.
func excerpt(line string, column int) (shown string, caret int) {
	runes := []rune(line)
	maskValues(runes)
	column = min(max(column-1, 0), len(runes))
	from, to := max(0, column-excerptBefore), min(len(runes), column+excerptAfter)
	before := visible(runes[from:column])
	return before + visible(runes[column:to]), len([]rune(before))
}

// visible escapes what would change a terminal. A tab is one blank.
func visible(runes []rune) string {
	var b strings.Builder
	for _, r := range runes {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maskValues puts asterisks in the place of all words that are no names. A name
// stands at the start of the line, or after a brace or a comma outside of lists,
// and a colon or an equals sign follows.
func maskValues(line []rune) {
	var open []rune
	names := true
	for i := 0; i < len(line); {
		switch r := line[i]; r {
		case '{', '[':
			open = append(open, r)
			names = r == '{'
		case '}', ']':
			open = open[:max(0, len(open)-1)]
			names = false
		case ',':
			names = len(open) == 0 || open[len(open)-1] == '{'
		case ':', '=', '-', ' ', '\t':
		default:
			end := i + wordLen(line[i:])
			if names && isName(string(line[i:end]), string(line[end:])) {
				names = false
			} else {
				maskWord(line[i:end])
			}
			i = end
			continue
		}
		i++
	}
}

// wordLen is the length of the word at the start of line: to the quote that
// ends it, or up to what ends a word without quotes.
func wordLen(line []rune) int {
	quote := line[0]
	if quote != '"' && quote != '\'' && quote != '`' {
		if i := strings.IndexAny(string(line), "{}[],:= \t"); i >= 0 {
			return len([]rune(string(line)[:i]))
		}
		return len(line)
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(line)
}

var (
	nameWord = regexp.MustCompile("^([\"'`]?)[A-Za-z_$][A-Za-z0-9_.$-]{0,39}([\"'`]?)$")
	nameSign = regexp.MustCompile("^[ \t]*(:([ \t\"'`{[]|$)|=[ \t]*[^= \t])")
)

func isName(word, rest string) bool { return nameWord.MatchString(word) && nameSign.MatchString(rest) }

// maskWord leaves quotes, and what visible escapes.
func maskWord(word []rune) {
	for i, r := range word {
		if unicode.IsPrint(r) && !strings.ContainsRune("\"'`", r) {
			word[i] = '*'
		}
	}
}
