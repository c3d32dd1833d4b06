package normalize

import (
	"strings"
)

// spelling brings the references of one value into the canonical spelling and
// notes those that are left as text.
type spelling struct {
	e       *draft
	field   fieldPath
	off     int
	use     use
	foreign bool // the client would have sent a reference as text

	out  strings.Builder
	from int // what comes before is written
}

// canonical gives the value with canonical references, which is s itself where
// nothing changes.
func (c *spelling) canonical(s string) string {
	if !strings.ContainsAny(s, "$`{") {
		return s
	}
	c.text(s, 0)
	if c.from == 0 {
		return s
	}
	c.out.WriteString(s[c.from:])
	return c.out.String()
}

// text goes over s, which is the whole value.
func (c *spelling) text(s string, i int) {
	for i < len(s) {
		switch s[i] {
		case '$':
			i = c.dollar(s, i)
		case '`':
			i = c.backtick(s, i)
		case '{':
			i = c.brace(s, i)
		default:
			i++
		}
	}
}

// replace writes text in place of s[i:j] and returns j.
func (c *spelling) replace(s string, i, j int, text string) int {
	if s[i:j] != text {
		c.out.WriteString(s[c.from:i])
		c.out.WriteString(text)
		c.from = j
	}
	return j
}

func (c *spelling) note(code Code) { c.e.note(code, c.field.String(), c.off) }

// dollar reads a run of dollar signs and what follows it.
func (c *spelling) dollar(s string, i int) int {
	run := i
	for i+1 < len(s) && s[i+1] == '$' {
		i++
	}
	doubled := i > run
	if end, text, ok := c.dialectRef(s, i); ok {
		return c.replace(s, i, end, text)
	}
	var r ref
	scanRef(s[i:], &r)
	end := i + r.size
	switch r.kind {
	case refVar, refInput:
		if doubled {
			c.note(DollarBeforeRef)
		}
		return c.replace(s, i, end, c.reference(&r))
	case refBare:
		return c.bare(s, i, end, &r, doubled || run > 0 && s[run-1] == '\\')
	case refFile:
		return c.file(s, i, end, r.name)
	default:
		if code := r.code(); code != "" {
			c.note(code)
		}
	}
	return end
}

// reference gives the canonical text of a reference and notes what it means
// for the client.
func (c *spelling) reference(r *ref) string {
	if c.e.d.sendsText || c.e.d.bracesForeign {
		c.foreign = true
	}
	if r.kind == refInput {
		c.e.useInput(r.inputID(), c.off)
		return "${" + r.name + "}"
	}
	if r.name == ctxPathSeparator {
		r.name = ctxSeparator
	}
	if r.hasDef && strings.ContainsAny(r.def, "$`") {
		inner := spelling{e: c.e, field: c.field, off: c.off, use: c.use}
		r.def = inner.canonical(r.def)
	}
	return r.String()
}

// bare reads $NAME, which is a reference to some clients.
func (c *spelling) bare(s string, i, end int, r *ref, escaped bool) int {
	if c.use == useScript || escaped {
		return end
	}
	scope := c.e.d.bare
	if scope == bareEverywhere || scope == bareHeaders && c.use == useHeader {
		return c.replace(s, i, end, "${"+r.name+"}")
	}
	if isUpper(r.name) {
		c.note(BareVarLeft)
	}
	return end
}

// dialectRef reads the references that only some formats have.
func (c *spelling) dialectRef(s string, i int) (end int, text string, ok bool) {
	rest := s[i:]
	switch c.e.d.id {
	case Continue:
		inner, ok := strings.CutPrefix(rest, "${{")
		n := strings.Index(inner, "}}")
		if !ok || n < 0 {
			return 0, "", false
		}
		kind, name, _ := strings.Cut(strings.TrimSpace(inner[:n]), ".")
		if nameLen(name) != len(name) || name == "" {
			return 0, "", false
		}
		end = i + len("${{") + n + len("}}")
		switch kind {
		case "secrets":
			return end, "${" + name + "}", true
		case "inputs":
			c.e.ownInput(Input{ID: name})
			return end, "${" + inputPrefix + name + "}", true
		}
	case MCPB:
		inner, ok := strings.CutPrefix(rest, "${user_config.")
		n := strings.IndexByte(inner, '}')
		if !ok || n <= 0 || strings.ContainsAny(inner[:n], "${") {
			return 0, "", false
		}
		c.e.useInput(inner[:n], c.off)
		return i + len("${user_config.") + n + 1, "${" + inputPrefix + inner[:n] + "}", true
	}
	return 0, "", false
}

// file reads a reference to the content of a file.
func (c *spelling) file(s string, i, end int, path string) int {
	if read := c.e.r.opts.ReadFile; read != nil {
		data, err := read(path)
		if text := strings.TrimRight(string(data), "\r\n"); err == nil && !strings.ContainsAny(text, "$") {
			return c.replace(s, i, end, text)
		}
	}
	c.e.note(FileRef, path, c.off)
	return end
}

// backtick reads a command in backticks, which is text and never run.
func (c *spelling) backtick(s string, i int) int {
	end := strings.IndexByte(s[i+1:], '`')
	if end < 0 {
		return i + 1
	}
	if end > 0 {
		c.note(SubstitutionRefused)
	}
	return i + end + 2
}

// braceRefs are the kinds of references that people write without the dollar
// sign.
var braceRefs = []string{"workspaceFolder", "workspaceFolderBasename", "userHome", "env:", "input:", "file:"}

// brace reads {kind:name} without a dollar sign: the spelling of some clients,
// a slip in others.
func (c *spelling) brace(s string, i int) int {
	inner := s[i+1:]
	n := strings.IndexAny(inner, "{}")
	if n <= 0 || inner[n] != '}' {
		return i + 1
	}
	inner = inner[:n]
	end := i + n + 2
	if c.e.d.refs == refCurly || c.e.d.id == Kilo { // Kilo's older form too
		if name, ok := strings.CutPrefix(inner, "env:"); ok {
			if name = strings.TrimSpace(name); name != "" && nameLen(name) == len(name) {
				return c.replace(s, i, end, "${"+name+"}")
			}
		}
		if path, ok := strings.CutPrefix(inner, "file:"); ok {
			return c.file(s, i, end, strings.TrimSpace(path))
		}
	}
	for _, kind := range braceRefs {
		if inner == kind || strings.HasSuffix(kind, ":") && strings.HasPrefix(inner, kind) && len(inner) > len(kind) {
			c.note(SuspiciousBraceRef)
			return end
		}
	}
	return i + 1
}
