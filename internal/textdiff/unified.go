package textdiff

import (
	"fmt"
	"strconv"
	"strings"
)

const noNewline = "\\ No newline at end of file\n"

// Unified returns the edits from before to after as a unified diff with context equal
// lines around each, negative meaning none, as patch(1) and git apply read it.
// Equal texts give nil. A name that holds control characters, quotes or
// backslashes is quoted as git does.
func Unified(oldName, newName string, before, after []byte, context int) []byte {
	a, b := lines(before), lines(after)
	edits, _ := lineEdits(a, b)
	if len(edits) == 0 {
		return nil
	}
	context = max(context, 0)
	out := make([]byte, 0, len(oldName)+len(newName)+sizeOf(edits, a, b, context))
	out = appendName(out, "--- ", oldName)
	out = appendName(out, "+++ ", newName)
	for _, group := range Group(edits, context) {
		out = appendHunk(out, a, b, group, context)
	}
	return out
}

// sizeOf returns about how long the diff becomes, so that it is built in place.
func sizeOf(edits []Edit, a, b text, context int) int {
	size := 256
	for _, e := range edits {
		from, to := max(e.OldStart-context, 0), min(e.OldEnd+context, a.len())
		size += a.offs[to] - a.offs[from] + b.offs[e.NewEnd] - b.offs[e.NewStart]
		size += to - from + e.NewEnd - e.NewStart + len("@@ -10000,10 +10000,10 @@\n")
	}
	return size
}

func appendName(out []byte, prefix, name string) []byte {
	out = append(append(out, prefix...), quoted(name)...)
	if out[len(out)-1] != '"' && strings.Contains(name, " ") {
		out = append(out, '\t') // ends the name for patch(1), which may see a date after a blank
	}
	return append(out, '\n')
}

// quoted returns a name as git writes it.
func quoted(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	out := []byte{'"'}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ' || c == 0x7f:
			out = fmt.Appendf(out, "\\%03o", c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

func appendHunk(out []byte, a, b text, group []Edit, context int) []byte {
	first, last := group[0], group[len(group)-1]
	before := min(context, first.OldStart)
	after := min(context, a.len()-last.OldEnd)
	out = append(out, "@@ -"...)
	out = appendRange(out, first.OldStart-before, last.OldEnd+after)
	out = append(out, " +"...)
	out = appendRange(out, first.NewStart-before, last.NewEnd+after)
	out = append(out, " @@\n"...)
	at := first.OldStart - before
	for _, e := range group {
		out = appendLines(out, ' ', a, at, e.OldStart)
		out = appendLines(out, '-', a, e.OldStart, e.OldEnd)
		out = appendLines(out, '+', b, e.NewStart, e.NewEnd)
		at = e.OldEnd
	}
	return appendLines(out, ' ', a, at, last.OldEnd+after)
}

// appendRange writes the first line and the count, which is left out when it is
// one. An empty range names the line before it.
func appendRange(out []byte, from, to int) []byte {
	n := to - from
	if n > 0 {
		from++
	}
	out = strconv.AppendInt(out, int64(from), 10)
	if n != 1 {
		out = strconv.AppendInt(append(out, ','), int64(n), 10)
	}
	return out
}

func appendLines(out []byte, sign byte, t text, from, to int) []byte {
	for i := from; i < to; i++ {
		line := t.token(i)
		out = append(append(out, sign), line...)
		if line[len(line)-1] != '\n' {
			out = append(append(out, '\n'), noNewline...)
		}
	}
	return out
}
