package docgraph

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxWord is where a longer word is cut, in bytes.
const maxWord = 64

// Where a word occurs, as bits of term.where.
const (
	inBody uint8 = 1 << iota
	inHeading
	inTag
	inTitle
	inID
)

// A term is a word of a document.
type term struct {
	word  string
	where uint8
	count uint8 // at most 255
}

// fold returns a text in the form in which texts are compared: without case,
// accents and compatibility variants.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = cases.Fold().String(norm.NFKD.String(s))
	return strings.Map(func(r rune) rune {
		if r >= 0x300 && unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// plain returns the words of a text, folded, with a space between them.
func plain(s string) string {
	var b strings.Builder
	eachWord(fold(s), func(word string, _ int) bool {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		return true
	})
	return b.String()
}

// isASCII reports whether s has ASCII characters only.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachWord calls fn for each word of a folded text and where it starts, until
// fn returns false. A character of a script that does not separate words is a
// word of its own.
func eachWord(text string, fn func(word string, at int) bool) {
	start := -1
	for i, r := range text {
		alone := r >= 0x0e00 && isUnspaced(r)
		if isWordRune(r) && !alone {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && !fn(cutWord(text[start:i]), start) {
			return
		}
		start = -1
		if alone && !fn(text[i:i+utf8.RuneLen(r)], i) {
			return
		}
	}
	if start >= 0 {
		fn(cutWord(text[start:]), start)
	}
}

// isWordRune reports whether r is part of a word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// isUnspaced reports whether r belongs to a script that writes words without
// spaces between them.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// cutWord shortens a long word.
func cutWord(word string) string {
	if len(word) <= maxWord {
		return word
	}
	end := maxWord
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// A termBuilder makes the terms of documents, one after the other.
type termBuilder struct {
	at   map[string]int // index in list
	list []term
}

// newTermBuilder returns a termBuilder.
func newTermBuilder() *termBuilder {
	return &termBuilder{at: make(map[string]int)}
}

// terms returns the words of a document, sorted. They share one string.
func (b *termBuilder) terms(d *doc) []term {
	clear(b.at)
	b.list = b.list[:0]
	b.add(d.id, inID)
	b.add(d.title, inTitle)
	for _, tag := range d.page.Tags {
		b.add(fold(tag), inTag)
	}
	for _, s := range d.page.Sections {
		b.add(fold(s.Title), inHeading)
	}
	b.add(fold(string(bytes.ToValidUTF8(d.page.Body, []byte("\ufffd")))), inBody)
	slices.SortFunc(b.list, func(x, y term) int { return strings.Compare(x.word, y.word) })
	return b.compact()
}

// add adds the words of a folded text.
func (b *termBuilder) add(text string, where uint8) {
	eachWord(text, func(word string, _ int) bool {
		i, ok := b.at[word]
		if !ok {
			i = len(b.list)
			b.at[word] = i
			b.list = append(b.list, term{word: word})
		}
		t := &b.list[i]
		t.where |= where
		if t.count < math.MaxUint8 {
			t.count++
		}
		return true
	})
}

// compact copies the terms, so that they keep no text alive.
func (b *termBuilder) compact() []term {
	var words strings.Builder
	for _, t := range b.list {
		words.WriteString(t.word)
	}
	all, pos := words.String(), 0
	list := slices.Clone(b.list)
	for i := range list {
		end := pos + len(list[i].word)
		list[i].word, pos = all[pos:end], end
	}
	return list
}
