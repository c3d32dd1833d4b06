package probe

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

// A view is a text with what one or two codecs made of it undone, so that a
// secret is found in it however it was written.
type view struct {
	text string
	// from and to tell for each byte of the text where what it was made of
	// begins and ends. Nil for the text itself.
	from, to []int
}

// origin gives the part of the original that a part of the view was made of.
func (v *view) origin(s secrets.Span) secrets.Span {
	if v.from == nil {
		return s
	}
	return secrets.Span{From: v.from[s.From], To: v.to[s.To-1]}
}

// A codec reads the escape that s begins with, if it begins with one, and gives
// what it stands for and its length.
type codec func(s string) (text string, n int)

// views gives a text and what it reads as with escapes undone, twice where one
// encoding went into another.
func views(s string) []view {
	codecs := []struct {
		signs string // one of which stands in any escape
		read  codec
	}{{"%", percent}, {"%+", form}, {`\`, backslash}, {"&", entity}}
	all := []view{{text: s}}
	begin := 0
	for range 2 {
		end := len(all)
		for _, v := range all[begin:end] {
			for _, c := range codecs {
				if !strings.ContainsAny(v.text, c.signs) {
					continue
				}
				if read := v.undo(c.read); !slices.ContainsFunc(all, func(v view) bool { return v.text == read.text }) {
					all = append(all, read)
				}
			}
		}
		begin = end
	}
	return all
}

// undo makes the view that one more codec gives.
func (v *view) undo(read codec) view {
	out := view{from: make([]int, 0, len(v.text)), to: make([]int, 0, len(v.text))}
	var b strings.Builder
	for i := 0; i < len(v.text); {
		text, n := read(v.text[i:])
		if n == 0 {
			text, n = v.text[i:i+1], 1
		}
		from := v.origin(secrets.Span{From: i, To: i + n})
		for range len(text) {
			out.from, out.to = append(out.from, from.From), append(out.to, from.To)
		}
		b.WriteString(text)
		i += n
	}
	out.text = b.String()
	return out
}

// percent reads the escapes of addresses.
func percent(s string) (text string, n int) {
	if len(s) < 3 || s[0] != '%' {
		return "", 0
	}
	value, err := strconv.ParseUint(s[1:3], 16, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(value)}), 3
}

// form reads those of queries, too.
func form(s string) (text string, n int) {
	if s[0] == '+' {
		return " ", 1
	}
	return percent(s)
}

// backslash reads the escapes of strings in JSON and in programs.
func backslash(s string) (text string, n int) {
	if len(s) < 2 || s[0] != '\\' {
		return "", 0
	}
	switch c := s[1]; c {
	case 'n', 't', 'r', 'b', 'f', 'v', 'a':
		return map[byte]string{'n': "\n", 't': "\t"}[c], 2 // the others are not in a clean text
	case 'x':
		return number(s, 2, 2)
	case 'u':
		return surrogates(s)
	case 'U':
		return number(s, 2, 8)
	case '\\', '"', '\'', '/', '`', '$', '&', '<', '>', '=', '+':
		return s[1:2], 2
	}
	return "", 0
}

// number reads a character by its hexadecimal number, which is digits long.
func number(s string, from, digits int) (text string, n int) {
	if len(s) < from+digits {
		return "", 0
	}
	value, err := strconv.ParseUint(s[from:from+digits], 16, 32)
	if err != nil {
		return "", 0
	}
	return clean(string(rune(value))), from + digits
}

// surrogates reads \uXXXX, two of them where they stand for one character.
func surrogates(s string) (text string, n int) {
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		high, err := strconv.ParseUint(s[2:6], 16, 16)
		low, err2 := strconv.ParseUint(s[8:12], 16, 16)
		if r := utf16.DecodeRune(rune(high), rune(low)); err == nil && err2 == nil && r != utf8.RuneError {
			return string(r), 12
		}
	}
	return number(s, 2, 4)
}

// maxEntity is the length of the longest entity that is read.
const maxEntity = 12

// entity reads those of HTML.
func entity(s string) (text string, n int) {
	if s[0] != '&' {
		return "", 0
	}
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 0 {
		return "", 0
	}
	if text := html.UnescapeString(s[:end+1]); text != s[:end+1] {
		return text, end + 1
	}
	return "", 0
}
