package syntax

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const bom = "\ufeff"

// Decode turns bytes into text: UTF-8, or UTF-16 with a byte order mark, as
// PowerShell writes it. It reports whether there was such a mark. Line ends
// stay as they are.
func Decode(b []byte) (text string, marked bool, err error) {
	if len(b) >= 2 && (b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF) {
		return decodeUTF16(b[2:], b[0] == 0xFE), true, nil
	}
	text = string(b)
	if !utf8.ValidString(text) {
		valid := strings.ToValidUTF8(text, "\x00")
		at := 0
		for at < len(valid) && text[at] == valid[at] {
			at++
		}
		return "", false, &Error{Offset: at, Msg: "the text is not UTF-8", Hint: "save it as UTF-8 and paste it again"}
	}
	text, marked = strings.CutPrefix(text, bom)
	return text, marked, nil
}

func decodeUTF16(b []byte, bigEndian bool) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		lo, hi := uint16(b[2*i]), uint16(b[2*i+1])
		if bigEndian {
			lo, hi = hi, lo
		}
		units[i] = lo | hi<<8
	}
	return string(utf16.Decode(units))
}
