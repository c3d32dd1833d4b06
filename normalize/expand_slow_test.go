package normalize_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// slow is the expander written for the eye: every rule is one pattern tried at
// one position, and nothing is remembered. It is what the real one is held
// against.
type slow struct {
	vars  map[string]string
	notes map[string]bool
	refs  int
	err   normalize.Code
}

const slowName = `([A-Za-z_][A-Za-z0-9_]*)`

var (
	slowBackquote   = regexp.MustCompile("(?s)^`[^`]*`")
	slowPlaceholder = regexp.MustCompile(`^\$<[A-Za-z0-9_. -]+>`)
	slowPlain       = regexp.MustCompile(`^\$\{` + slowName + `\}`)
	slowBare        = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)`)
	slowLead        = regexp.MustCompile(`^(?:env:[ \t]*)?([A-Za-z0-9_]*)`)
	slowVar         = regexp.MustCompile(`(?s)^` + slowName + `(?::-(.*))?$`)
	slowEnv         = regexp.MustCompile(`(?s)^env:[ \t]*` + slowName + `[ \t]*(?::-(.*))?$`)
	slowEnvOther    = regexp.MustCompile(`(?s)^env:[ \t]*` + slowName + `[^A-Za-z0-9_]`)
	slowInput       = regexp.MustCompile(`^(input:[^{}$\r\n\x00|][^{}$\r\n\x00]*)$`)
	slowHeld        = regexp.MustCompile(`^<[A-Za-z0-9_. -]+>$`)
	slowCommand     = regexp.MustCompile(`^(cmd|command):`)
	slowFile        = regexp.MustCompile(`(?s)^file:(.*)$`)
	slowKind        = regexp.MustCompile(`^` + slowName + `:`)
	slowShell       = regexp.MustCompile(`^` + slowName + `[-?+=%#/^,@!\[*~]|^[#!][A-Za-z_]`)
)

func slowExpand(s string, vars map[string]string) (string, []string, normalize.Code) {
	if len(s) > 64<<10 {
		return s, nil, normalize.TooLarge
	}
	e := slow{vars: vars, notes: map[string]bool{}}
	out := e.run(s)
	if e.err != "" {
		return s, nil, e.err
	}
	var notes []string
	for n := range e.notes {
		notes = append(notes, n)
	}
	slices.Sort(notes)
	return out, notes, ""
}

func (e *slow) run(s string) string {
	var out strings.Builder
	for i := 0; i < len(s) && e.err == ""; {
		text, size := e.piece(s[i:], s[:i])
		out.WriteString(text)
		i += size
	}
	return out.String()
}

// piece gives what the start of s becomes and how many bytes that takes up.
func (e *slow) piece(s, before string) (string, int) {
	literal := func(n int, note string) (string, int) {
		if note != "" {
			e.notes[note] = true
		}
		return s[:n], n
	}
	if m := slowBackquote.FindString(s); m != "" {
		return literal(len(m), "command_substitution_refused")
	}
	if m := slowPlaceholder.FindString(s); m != "" && len(m) <= 256+len("$<>") {
		return literal(len(m), "placeholder")
	}
	if m := slowBare.FindStringSubmatch(s); m != nil {
		_, set := e.vars[m[1]]
		upper := m[1] == strings.ToUpper(m[1]) && m[1] != strings.ToLower(m[1])
		escaped := strings.HasSuffix(before, "$") || strings.HasSuffix(before, `\`)
		if (upper || set) && !escaped {
			return literal(len(m[0]), "bare_var_left")
		}
		return literal(len(m[0]), "")
	}
	if strings.HasPrefix(s, "$(") {
		if n := e.match(s[2:], "(", "("); n >= 0 {
			return literal(n+3, "command_substitution_refused")
		}
		return literal(2, "")
	}
	if !strings.HasPrefix(s, "${") {
		return literal(1, "")
	}
	var n int
	if m := slowPlain.FindString(s); m != "" {
		n = len(m) - 3
	} else {
		n = e.match(s[2:], "{", "${")
	}
	if n < 0 {
		return literal(2, "malformed_ref")
	}
	out, note := e.braces(s[:n+3], s[2:n+2], strings.HasSuffix(before, "$"))
	if note != "" {
		e.notes[note] = true
	}
	return out, n + 3
}

// braces gives what the whole text of a braced piece becomes.
func (e *slow) braces(whole, body string, dollar bool) (out, note string) {
	if n := len(slowLead.FindStringSubmatch(body)[1]); n > 256 {
		return whole, "malformed_ref"
	}
	if m := slowVar.FindStringSubmatch(body); m != nil {
		return e.value(whole, m[1], m[2], strings.Contains(body, ":-"), dollar), ""
	}
	if m := slowEnv.FindStringSubmatch(body); m != nil {
		return e.value("${"+m[1]+"}", m[1], m[2], strings.Contains(body, ":-"), dollar), ""
	}
	if m := slowInput.FindStringSubmatch(body); m != nil && len(body) <= 256+len("input:") {
		return e.value(whole, m[1], "", false, dollar), ""
	}
	if body == "/" {
		return e.value(whole, "/", "", false, dollar), ""
	}
	kind := slowKind.FindStringSubmatch(body)
	switch {
	case slowHeld.MatchString(body) && len(body) <= 256+len("<>"):
		return whole, "placeholder"
	case slowCommand.MatchString(body):
		return whole, "command_substitution_refused"
	case slowFile.MatchString(body) && strings.TrimSpace(body[5:]) != "":
		return whole, "file_ref:" + strings.TrimSpace(body[5:])
	case kind != nil && (kind[1] == "input" || kind[1] == "file"), kind != nil && kind[1] == "env" && !slowEnvOther.MatchString(body):
		return whole, "malformed_ref"
	case kind != nil, slowShell.MatchString(body):
		return whole, "unsupported_expansion"
	}
	return whole, "malformed_ref"
}

func (e *slow) value(literal, name, def string, hasDef, dollar bool) string {
	if dollar {
		e.notes["dollar_before_ref"] = true
	}
	if e.refs++; e.refs > 1000 {
		e.err = normalize.TooMany
		return ""
	}
	value, set := e.vars[name]
	switch {
	case set && (value != "" || !hasDef):
		return value
	case hasDef:
		return e.run(def)
	}
	if id, ok := strings.CutPrefix(name, "input:"); ok {
		id, _, _ = strings.Cut(id, "|")
		e.notes["needs_input:"+id] = true
	} else {
		e.notes["unresolved:"+name] = true
	}
	return literal
}

// match finds the bracket that closes the one before s. Those that opened with
// the counted spelling may be at most 16 deep.
func (e *slow) match(s, open, counted string) int {
	shut := map[string]byte{"{": '}', "(": ')'}[open]
	stack, deep := []bool{true}, 1
	for i := range len(s) {
		switch s[i] {
		case open[0]:
			stack = append(stack, strings.HasSuffix(s[:i+1], counted))
			if stack[len(stack)-1] {
				deep++
			}
			if deep > 16 {
				e.err = normalize.TooDeep
				return -1
			}
		case shut:
			if stack[len(stack)-1] {
				deep--
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return i
			}
		}
	}
	return -1
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{
		"${A}", "${U:-${B}}x", "$${A}$A$$A", "${env: A :-${input:k}}", "$(a $(b) ${A})`c`", "${A%x}${a.b}${}", "x${A ${B}",
		"${U:-{\"k\":1}}", "${/}$<A>${<A>}", "${file:/x}${command:y}", strings.Repeat("${U:-", 17) + strings.Repeat("}", 17),
		strings.Repeat("${A}", 1001), "\xff${A}\x00", "${input:p|f}${input:}",
	} {
		f.Add(s)
	}
	vars := map[string]string{"A": "va", "B": "${A}$A`x`", "E": "", "lower": "low", "input:k": "answer"}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4<<10 {
			return // the slow one is slow
		}
		got, notes, err := normalize.Expand(s, mapVars(vars))
		want, wantNotes, wantErr := slowExpand(s, vars)
		if normalize.CodeOf(err) != wantErr {
			t.Fatalf("Expand(%q): error %v, want code %q", s, err, wantErr)
		}
		if got != want {
			t.Fatalf("Expand(%q) = %q, want %q", s, got, want)
		}
		if err != nil {
			return
		}
		gotNotes := short(notes)
		slices.Sort(gotNotes)
		if diff := cmp.Diff(wantNotes, gotNotes); diff != "" {
			t.Fatalf("notes of Expand(%q) (-want +got):\n%s", s, diff)
		}
	})
}
