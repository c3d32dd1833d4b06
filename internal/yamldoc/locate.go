package yamldoc

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A fault is located to the character in a text of at most locateBytes with at most locateMarks characters
// that open a level, since the library takes a millisecond for a few hundred levels.
const (
	locateBytes = 64 << 10
	locateMarks = 2000
)

var lineText = regexp.MustCompile(`^line (\d+): `)

// locate turns an error of the library into one with a position. The library gives no columns, no line for
// faults on the first line, and for some faults a line that is one too small. So the place is found by
// cutting the text: the fault is at the last character of the shortest beginning of the text that already
// has the same error. Long texts get the line that the library reports.
func locate(src []byte, cause error) *Error {
	text := cause.Error()
	if len(src) <= locateBytes && countAny(src, "[", "{", "- ", "? ") <= locateMarks {
		n := sort.Search(len(src), func(n int) bool { return failsAlike(src[:n], text) })
		for n > 1 && n <= len(src) && (src[n-1] == '\n' || src[n-1]&0xc0 == 0x80) {
			n-- // name the character that was cut, not its last byte or the line break behind it
		}
		fault := at(src, max(n-1, 0), Syntax, message(text))
		if strings.Contains(text, badStart) {
			fault.Msg = startMessage(src[max(n-1, 0):])
		}
		return fault
	}
	line := 1
	text = strings.TrimPrefix(text, "yaml: ")
	if m := lineText.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return &Error{Line: line, Column: indent(src, line) + 1, Code: Syntax, Msg: message(text)}
}

func message(text string) string {
	return wording.Clip(advice(lineText.ReplaceAllString(strings.TrimPrefix(text, "yaml: "), "")), maxMessage)
}

// badStart is how the library says that a character begins neither a value nor a mark of YAML.
const badStart = "found character that cannot start any token"

// startMessage says what to do about the character that rest starts with.
func startMessage(rest []byte) string {
	if len(rest) == 0 {
		return badStart
	}
	if rest[0] == '\t' {
		return "a tab stands where YAML wants spaces; indent with spaces"
	}
	return fmt.Sprintf("a plain value cannot start with %q; put the value in quotes", rest[0])
}

// maxMessage is the longest message, as some repeat a name from the text.
const maxMessage = 200

// failsAlike reports whether a beginning of the text, read to its end, has an error of the given text.
func failsAlike(src []byte, text string) bool {
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		if _, err := decode(dec); err != nil {
			return err.Error() == text
		}
	}
}

// indent counts the blanks at the start of a line.
func indent(src []byte, line int) int {
	for ; line > 1; line-- {
		_, src, _ = bytes.Cut(src, []byte("\n"))
	}
	return len(src) - len(bytes.TrimLeft(src, " \t"))
}
