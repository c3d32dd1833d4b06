package yamldoc

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

const (
	utf8Mark = "\xef\xbb\xbf"

	// A probe parses an eighth of a text, within these bounds.
	minProbe = 32 << 10
	maxProbe = 128 << 10
)

// CheckText refuses text that no format of ours may hold: a byte order mark, bytes that are not UTF-8, and
// control characters other than tab and line breaks. The error is an [*Error].
func CheckText(src []byte) error {
	for _, mark := range []string{utf8Mark, "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(src, []byte(mark)) {
			return &Error{
				Line: 1, Column: 1, Code: ByteOrderMark,
				Msg: "the text starts with a byte order mark; save it as UTF-8 without one",
			}
		}
	}
	return checkCharacters(src)
}

func checkCharacters(src []byte) error {
	for i := 0; i < len(src); {
		c := src[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return at(src, i, InvalidUTF8, fmt.Sprintf("byte 0x%02x is not UTF-8; save the text as UTF-8", c))
		}
		if isControl(r) {
			return at(src, i, ControlCharacter, fmt.Sprintf("control character U+%04X is not allowed; remove it", r))
		}
		i += size
	}
	return nil
}

func isControl(r rune) bool {
	switch r {
	case 0x85: // a line break of Unicode
		return false
	case 0xfeff, 0xfffe, 0xffff: // byte order marks and what no text holds
		return true
	}
	return r < ' ' || r >= 0x7f && r < 0xa0
}

// at makes an error for the character at a byte offset.
func at(src []byte, offset int, code Code, msg string) *Error {
	line := 1 + bytes.Count(src[:offset], []byte("\n"))
	start := 1 + bytes.LastIndexByte(src[:offset], '\n')
	return &Error{Line: line, Column: 1 + utf8.RuneCount(src[start:offset]), Code: code, Msg: msg}
}

// admit applies what can be told without parsing, and gives the text to parse.
func admit(src []byte, o *Options) ([]byte, error) {
	if int64(len(src)) > o.MaxBytes {
		return nil, &Error{
			Line: 1, Column: 1, Code: TooLarge,
			Msg: fmt.Sprintf("the text has %d bytes, more than the limit of %d", len(src), o.MaxBytes),
		}
	}
	if o.Lenient {
		src = bytes.TrimPrefix(src, []byte(utf8Mark))
	}
	if err := CheckText(src); err != nil {
		return nil, err
	}
	// Each node but a few per line needs one of these characters before it. The library needs some 250
	// bytes and a microsecond for a node, so a text made of nothing else has to be stopped here.
	marks := countAny(src, "\n", ",", "[", "{")
	if marks > o.MaxNodes {
		return nil, &Error{
			Line: 1, Column: 1, Code: TooManyNodes,
			Msg: fmt.Sprintf("the text has room for %d values, more than the limit of %d", marks, o.MaxNodes),
		}
	}
	return src, probe(src, o)
}

func countAny(src []byte, what ...string) int {
	n := 0
	for _, w := range what {
		n += bytes.Count(src, []byte(w))
	}
	return n
}

// probe parses the beginning of a text that may hold too many keys there, and applies the limits to it.
// Whatever breaks a limit in the beginning breaks it in the whole text too, at the same place, and is refused
// without the cost of parsing the rest. A text that cannot be cut so that its beginning is a document is left
// to the full parse.
func probe(src []byte, o *Options) error {
	head := src[:min(len(src), max(minProbe, min(maxProbe, len(src)/8)))]
	if len(head) == len(src) || countAny(head, "\n", ",") <= o.MaxKeys {
		return nil
	}
	for _, cut := range [][]byte{cutAfterLine(head), cutAfterComma(head)} {
		if doc, err := decode(yaml.NewDecoder(bytes.NewReader(cut))); err == nil && len(doc.Content) > 0 {
			if err := bound(doc.Content[0], o, o.MaxNodes); err != nil {
				return err
			}
		}
	}
	return nil
}

func cutAfterLine(head []byte) []byte { return head[:bytes.LastIndexByte(head, '\n')+1] }

// cutAfterComma cuts flow style at a comma and closes what is open there.
func cutAfterComma(head []byte) []byte {
	head = head[:bytes.LastIndexByte(head, ',')+1]
	var open []byte
	for i := 0; i < len(head); i++ {
		switch c := head[i]; c {
		case '[', '{':
			open = append(open, c+2) // the closing bracket in ASCII
		case ']', '}':
			open = open[:max(len(open)-1, 0)]
		case '"', '\'':
			if n := bytes.IndexByte(head[i+1:], c); n >= 0 {
				i += n + 1
			}
		}
	}
	out := bytes.Clone(head)
	for _, c := range slices.Backward(open) {
		out = append(out, c)
	}
	return out
}
