package yamldoc

import "strings"

// advice says in plain words what the library means by its text, and what to do about it. Texts that it does not
// know stay as they are: most are about directives and tags, which nobody writes by accident.
func advice(text string) string {
	for _, a := range advices() {
		if strings.Contains(text, a.library) {
			return a.plain
		}
	}
	return text
}

type sentence struct{ library, plain string }

func advices() []sentence {
	return []sentence{
		{"mapping values are not allowed", "a second colon with a blank after it stands in one value, or the line is indented more than the one it belongs to; put the value in quotes or correct the indentation"},
		{"could not find expected ':'", "a line has a key without a colon; write key: value, or indent it if it belongs to the text before"},
		{"did not find expected key", "this fits neither the mapping before it nor the one around it; align keys of one mapping in one column"},
		{"did not find expected '-' indicator", "an item of the list was expected; start it with a hyphen in the column of the others"},
		{"block sequence entries are not allowed", "a list cannot start here; put its first hyphen on a line of its own"},
		{"did not find expected ',' or ']'", "a list is not closed, or lacks a comma between items; end it with ]"},
		{"did not find expected ',' or '}'", "a mapping in braces is not closed, or lacks a comma between members; end it with }"},
		{"did not find expected node content", "a value was expected, or the bracket that closes the list or mapping; write it, and put a text that begins with , ] or } in quotes"},
		{"found unexpected end of stream", "a quoted text is not closed; end it with the quotation mark that it starts with"},
		{"found unexpected document indicator", "a quoted text is not closed before the line of hyphens or dots; end it with its quotation mark"},
		{"found unknown escape character", "a backslash in double quotes starts an escape, and this is none; write it twice, or use single quotes"},
		{"did not find expected hexdecimal number", "\\x, \\u and \\U need 2, 4 and 8 hexadecimal digits; write the backslash twice if it is meant as one"},
		{"did not find expected alphabetic or numeric character", "a value that starts with & or * needs a name after it; put a text in quotes"},
		{"did not find expected whitespace or line break", "the word after ! is no tag; put a text that starts with ! in quotes"},
		{"did not find the expected '>'", "the tag is not closed; put a text that starts with ! in quotes"},
		{"did not find expected tag URI", "the word after ! is no tag; put a text that starts with ! in quotes"},
		{"found undefined tag handle", "the tag is not known; put a text that starts with ! in quotes"},
		{"did not find expected comment or line break", "the text of a | or > block starts on the next line; begin it there, or put the value in quotes"},
		{"found an indentation indicator equal to 0", "a block of text is indented by 1 to 9; leave the number out"},
	}
}
