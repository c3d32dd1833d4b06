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
	refTooDeep                    // nested beyond the bound
)

// ref is one such piece.
type ref struct {
	kind   refKind
	hasDef bool
	native bool   // already spelled canonically
	plain  bool   // the default holds nothing special
	size   int    // bytes it takes up
	name   string // what variables are asked for, or the path of a file
	def    string // the default, meaningful if hasDef
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

// scanRef reads the piece at the start of s, which begins with a dollar sign,
// into r. A piece that cannot be read takes up just the bytes that cannot be
// part of anything else, so that what follows is still seen.
func scanRef(s string, r *ref) {
	*r = ref{size: 1}
	if len(s) < 2 {
		return
	}
	switch c := s[1]; {
	case c == '{':
		scanBraces(s, r)
	case c == '(':
		r.enclose(refCommand, 2, closing(s[2:], '(', ')'))
	case c == '<':
		name := s[2:min(len(s), maxRefName+3)]
		if n := strings.IndexByte(name, '>'); n > 0 && isPlainName(name[:n]) {
			r.kind, r.size = refPlaceholder, n+3
		}
	case isNameStart(c):
		n := nameLen(s[1:])
		r.kind, r.size, r.name = refBare, n+1, s[1:n+1]
	}
}

// enclose makes r a piece of the given kind whose first bytes open a bracket,
// with n from closing. One that never closes is but its opening.
func (r *ref) enclose(kind refKind, opening, n int) bool {
	r.size = opening
	switch n {
	case tooDeep:
		r.kind = refTooDeep
		return false
	case neverClosed:
		return false
	}
	r.kind, r.size = kind, opening+n+1
	return true
}

// scanBraces reads a piece that begins with "${".
func scanBraces(s string, r *ref) {
	n := nameLen(s[2:])
	end := 2 + n // of the name
	if named := 0 < n && n <= maxRefName && end < len(s); named && s[end] == '}' {
		r.kind, r.size, r.name, r.native = refVar, end+1, s[2:end], true
		return
	} else if named && strings.HasPrefix(s[end:], ":-") {
		end += 2
	}
	shut, plain := closingPlain(s[end:], '{', '}')
	switch {
	case !r.enclose(refMalformed, end, shut):
		r.size = 2
		if r.kind != refTooDeep {
			r.kind = refMalformed
		}
	case end > 2+n: // the usual form, so the short way
		r.kind, r.name, r.native = refVar, s[2:2+n], true
		r.def, r.hasDef, r.plain = s[end:end+shut], true, plain
	default:
		r.plain = plain
		r.classify(s[2:end+shut], n)
	}
}

// classify says what the text between the braces of a reference means, which
// starts with a name of n bytes.
func (r *ref) classify(body string, n int) {
	switch {
	case n == 0:
		r.classifyNameless(body)
	case n > maxRefName:
	case body[n] == ':':
		r.classifyKind(body, n)
	case strings.IndexByte("-?+=%#/^,@![*~", body[n]) >= 0:
		r.kind = refUnsupported
	}
}

// classifyNameless does so where no name stands at the start.
func (r *ref) classifyNameless(body string) {
	switch {
	case body == ctxSeparator:
		r.kind, r.name, r.native = refVar, body, true
	case len(body) > 2 && body[0] == '<' && body[len(body)-1] == '>' && isPlainName(body[1:len(body)-1]):
		r.kind = refPlaceholder
	case len(body) > 1 && (body[0] == '#' || body[0] == '!') && isNameStart(body[1]):
		r.kind = refUnsupported
	}
}

// classifyKind does so where a kind of n bytes and a colon stand there.
func (r *ref) classifyKind(body string, n int) {
	rest := body[n+1:]
	switch body[:n] {
	case "env":
		r.classifyEnv(rest)
	case "input":
		if rest != "" && rest[0] != '|' && len(rest) <= maxRefName && !strings.ContainsAny(rest, "{}$\r\n\x00") {
			r.kind, r.name, r.native = refInput, body, true
		}
	case "cmd", "command":
		r.kind = refCommand
	case "file":
		if path := strings.TrimSpace(rest); path != "" {
			r.kind, r.name = refFile, path
		}
	default:
		r.kind = refUnsupported
	}
}

// classifyEnv does so for what follows "env:", in which blanks around the name
// mean nothing.
func (r *ref) classifyEnv(s string) {
	s = strings.TrimLeft(s, " \t")
	n := nameLen(s)
	tail := strings.TrimLeft(s[n:], " \t")
	switch {
	case n == 0 || n > maxRefName:
	case tail == "":
		r.kind, r.name = refVar, s[:n]
	case strings.HasPrefix(tail, ":-"):
		r.kind, r.name, r.def, r.hasDef = refVar, s[:n], tail[2:], true
	default:
		r.kind = refUnsupported
	}
}

// What closing answers where there is no place.
const (
	neverClosed = -1
	tooDeep     = -2
)

// closing returns where the bracket that is open at the start of s closes.
// References count towards the depth, so do parentheses of a command; bare
// braces (a default may be JSON) do not. The bound is what makes the whole
// expansion linear: at most maxRefDepth brackets can be open at any byte, so no
// byte is looked at more often than that.
func closing(s string, open, shut byte) int {
	n, _ := closingPlain(s, open, shut)
	return n
}

// closingPlain is closing that also reports whether nothing before the place is
// special.
func closingPlain(s string, open, shut byte) (int, bool) {
	plain := true
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case shut:
			return i, plain
		case open:
			return closingNested(s, i, open, shut), false
		case '$', '`', '%':
			plain = false
		}
	}
	return neverClosed, false
}

// closingNested is closing where the first bracket, at i, is an open one.
func closingNested(s string, i int, open, shut byte) int {
	var outer [maxRefDepth]int // floors of the references around the innermost one
	refs, level, floor := 0, 1, 0
	for ; i < len(s); i++ {
		switch s[i] {
		case shut:
			if level--; level > floor {
				continue
			}
			if refs == 0 {
				return i
			}
			refs--
			floor = outer[refs%maxRefDepth]
		case open:
			if open == '(' || i > 0 && s[i-1] == '$' {
				if refs == maxRefDepth-1 {
					return tooDeep
				}
				outer[refs] = floor
				refs++
				floor = level
			}
			level++
		}
	}
	return neverClosed
}

// scanPercent reads %NAME% at the start of s. Two hexadecimal digits are an
// octet of an encoded address and no name.
func scanPercent(s string, r *ref) {
	*r = ref{size: 1}
	n := nameLen(s[1:])
	if n == 0 || n > maxRefName || n+1 >= len(s) || s[n+1] != '%' || n == 2 && isHex(s[1]) && isHex(s[2]) {
		return
	}
	r.kind, r.size, r.name, r.native = refPercent, n+2, s[1:n+1], true
}

// scanBraceFile reads {file:path} at the start of s.
func scanBraceFile(s string, r *ref) {
	*r = ref{size: 1}
	if rest, ok := strings.CutPrefix(s, "{file:"); ok {
		end := closing(rest, '{', '}')
		if r.enclose(refFile, len("{file:"), end) {
			r.name = strings.TrimSpace(rest[:end])
		}
	}
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

// special reports whether s holds a byte that can begin a piece.
func special(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '$', '`', '%', '{':
			return true
		}
	}
	return false
}

// opensRef reports whether a piece can begin with a dollar sign and c.
func opensRef(c byte) bool {
	return isNameStart(c) || c == '{' || c == '(' || c == '<'
}

func isNameStart(c byte) bool { return c|0x20-'a' < 26 || c == '_' }

// nameLen returns how many bytes at the start of s are a variable name.
func nameLen(s string) int {
	for i := range len(s) {
		if c := s[i]; !isNameStart(c) && (i == 0 || c-'0' > 9) {
			return i
		}
	}
	return len(s)
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
