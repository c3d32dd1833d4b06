package normalize

import "strings"

// inputPrefix stands before the id of a prompt.
const inputPrefix = "input:"

// Names that the surroundings of a launch answer, never the environment.
const (
	ctxSeparator         = "/"
	ctxPathSeparator     = "pathSeparator"
	ctxWorkspace         = "workspaceFolder"
	ctxWorkspaceBasename = "workspaceFolderBasename"
	ctxHome              = "userHome"
)

// Bounds of the expander. They are generous for anything a person writes and
// small enough that the worst text costs about a millisecond.
const (
	maxRefName   = 256      // bytes in a variable name or input id
	maxRefDepth  = 16       // references, or parentheses of a command, inside one another
	maxRefInput  = 64 << 10 // bytes of one field before expansion
	maxRefOutput = 1 << 20  // bytes of one field after expansion
	maxRefs      = 1000     // references in one entry
)

// refKind says what a piece of text that starts with a dollar sign is.
type refKind uint8

const (
	refText        refKind = iota // nothing special
	refVar                        // ${NAME}, ${NAME:-default}, ${env:NAME}, ${/}
	refInput                      // ${input:id}
	refPercent                    // %NAME%
	refBare                       // $NAME
	refCommand                    // $(...), ${cmd:...}, ${command:...}
	refFile                       // ${file:path}
	refPlaceholder                // $<NAME>, ${<NAME>}
	refUnsupported                // another shell form or another kind
	refMalformed                  // no valid name, or no closing brace
)

// ref is one such piece.
type ref struct {
	kind   refKind
	size   int    // bytes it takes up
	name   string // what variables are asked for, or the path of a file
	def    string // the default, meaningful if hasDef
	hasDef bool
	native bool // already spelled canonically
}

// replaceable reports whether r is a reference that may have a value.
func (r *ref) replaceable() bool {
	return r.kind == refVar || r.kind == refInput || r.kind == refPercent
}

// inputID gives the id of a prompt, without the filter that a catalog wrote
// after it.
func (r *ref) inputID() string {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.name, inputPrefix), "|")
	return id
}

// String gives the canonical spelling.
func (r *ref) String() string {
	if r.hasDef {
		return "${" + r.name + ":-" + r.def + "}"
	}
	return "${" + r.name + "}"
}

// code gives the note that a piece deserves whatever the variables are.
func (r *ref) code() Code {
	switch r.kind {
	case refCommand:
		return SubstitutionRefused
	case refPlaceholder:
		return Placeholder
	case refUnsupported:
		return Unsupported
	case refMalformed:
		return MalformedRef
	}
	return ""
}

// scanRef reads the piece at the start of s, which begins with a dollar sign.
// A piece that cannot be read takes up just the bytes that cannot be part of
// anything else, so that what follows is still seen.
func scanRef(s string) (ref, error) {
	if len(s) < 2 {
		return ref{size: len(s)}, nil
	}
	switch c := s[1]; {
	case c == '{':
		return scanBraces(s)
	case c == '(':
		n, err := closing(s[2:], '(', ')')
		if err != nil || n < 0 {
			return ref{size: 2}, err
		}
		return ref{kind: refCommand, size: n + 3}, nil
	case c == '<':
		if n := strings.IndexByte(s, '>'); n > 2 && isPlainName(s[2:n]) {
			return ref{kind: refPlaceholder, size: n + 1}, nil
		}
	case isNameStart(c):
		n := nameLen(s[1:])
		return ref{kind: refBare, size: n + 1, name: s[1 : n+1]}, nil
	}
	return ref{size: 1}, nil
}

// scanBraces reads a piece that begins with "${".
func scanBraces(s string) (ref, error) {
	n := nameLen(s[2:])
	if end := 2 + n; 0 < n && n <= maxRefName && end < len(s) && s[end] == '}' {
		return ref{kind: refVar, size: end + 1, name: s[2:end], native: true}, nil
	}
	n, err := closing(s[2:], '{', '}')
	if err != nil {
		return ref{}, err
	}
	if n < 0 {
		return ref{kind: refMalformed, size: 2}, nil
	}
	r := classify(s[2 : 2+n])
	r.size = n + 3
	return r, nil
}

// classify says what the text between the braces of a reference means.
func classify(body string) ref {
	n := nameLen(body)
	if n == 0 {
		return classifyNameless(body)
	}
	name, rest := body[:n], body[n:]
	switch {
	case n > maxRefName:
		return ref{kind: refMalformed}
	case strings.HasPrefix(rest, ":-"):
		return ref{kind: refVar, name: name, def: rest[2:], hasDef: true, native: true}
	case rest[0] == ':':
		return classifyKind(body, rest[1:])
	case strings.IndexByte("-?+=%#/^,@![*~", rest[0]) >= 0:
		return ref{kind: refUnsupported}
	}
	return ref{kind: refMalformed}
}

// classifyNameless does so where no name stands at the start.
func classifyNameless(body string) ref {
	switch {
	case body == "/":
		return ref{kind: refVar, name: ctxSeparator, native: true}
	case len(body) > 2 && body[0] == '<' && body[len(body)-1] == '>' && isPlainName(body[1:len(body)-1]):
		return ref{kind: refPlaceholder}
	case len(body) > 1 && (body[0] == '#' || body[0] == '!') && isNameStart(body[1]):
		return ref{kind: refUnsupported}
	}
	return ref{kind: refMalformed}
}

// classifyKind does so for body, which is a kind, a colon and rest.
func classifyKind(body, rest string) ref {
	switch body[:len(body)-len(rest)-1] {
	case "env":
		inner := strings.TrimLeft(rest, " \t")
		n := nameLen(inner)
		name, tail := inner[:n], strings.TrimLeft(inner[n:], " \t")
		switch {
		case n == 0 || n > maxRefName:
			return ref{kind: refMalformed}
		case tail == "":
			return ref{kind: refVar, name: name}
		case strings.HasPrefix(tail, ":-"):
			return ref{kind: refVar, name: name, def: tail[2:], hasDef: true}
		}
		return ref{kind: refUnsupported}
	case "input":
		if rest == "" || len(rest) > maxRefName || strings.ContainsAny(rest, "{}$\r\n\x00") {
			return ref{kind: refMalformed}
		}
		return ref{kind: refInput, name: body, native: true}
	case "cmd", "command":
		return ref{kind: refCommand}
	case "file":
		return ref{kind: refFile, name: strings.TrimSpace(rest)}
	}
	return ref{kind: refUnsupported}
}

// closing returns where the bracket that is open at the start of s closes, or
// -1 if it never does. References count towards the depth, so do parentheses
// of a command; bare braces (a default may be JSON) do not. The bound is what
// makes the whole expansion linear: at most maxRefDepth brackets can be open
// at any byte, so no byte is looked at more often than that.
func closing(s string, open, shut byte) (int, error) {
	var levels [maxRefDepth]int // bracket levels at which the nested references began
	refs, level := 0, 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case open:
			if open == '(' || i > 0 && s[i-1] == '$' {
				if refs == maxRefDepth-1 {
					return -1, limitError(TooDeep, "", "references are nested more than 16 deep")
				}
				levels[refs] = level
				refs++
			}
			level++
		case shut:
			level--
			if level == 0 {
				return i, nil
			}
			if refs > 0 && levels[refs-1] == level {
				refs--
			}
		}
	}
	return -1, nil
}

// scanPercent reads %NAME% at the start of s. Two hexadecimal digits are an
// octet of an encoded address and no name.
func scanPercent(s string) ref {
	n := nameLen(s[1:])
	if n == 0 || n > maxRefName || n+1 >= len(s) || s[n+1] != '%' || n == 2 && isHex(s[1]) && isHex(s[2]) {
		return ref{size: 1}
	}
	return ref{kind: refPercent, size: n + 2, name: s[1 : n+1], native: true}
}

// scanBraceFile reads {file:path} at the start of s.
func scanBraceFile(s string) (ref, error) {
	rest, ok := strings.CutPrefix(s, "{file:")
	if !ok {
		return ref{size: 1}, nil
	}
	n, err := closing(rest, '{', '}')
	if err != nil || n < 0 {
		return ref{size: 1}, err
	}
	return ref{kind: refFile, size: n + len("{file:}"), name: strings.TrimSpace(rest[:n])}, nil
}

// looksLikeRef reports whether a value holds what would be a reference in the
// text of a paste.
func looksLikeRef(value string) bool {
	for {
		i := strings.Index(value, "${")
		if i < 0 {
			return false
		}
		value = value[i+2:]
		if n := nameLen(value); n > 0 && n < len(value) && (value[n] == '}' || value[n] == ':') {
			return true
		}
	}
}

// isUpper reports whether a name is in upper case.
func isUpper(name string) bool {
	letters := false
	for i := 0; i < len(name); i++ {
		if 'a' <= name[i] && name[i] <= 'z' {
			return false
		}
		letters = letters || 'A' <= name[i] && name[i] <= 'Z'
	}
	return letters
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isNameStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// nameLen returns how many bytes at the start of s are a variable name.
func nameLen(s string) int {
	if s == "" || !isNameStart(s[0]) {
		return 0
	}
	n := 1
	for n < len(s) && (isNameStart(s[n]) || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	return n
}

// isPlainName reports whether s reads like the inside of <A placeholder>.
func isPlainName(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isNameStart(c), '0' <= c && c <= '9', c == '-', c == '.', c == ' ':
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxRefName
}
