package normalize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// mapVars makes Vars of a map, with the origin "map".
func mapVars(m map[string]string) normalize.Vars {
	return func(name string) (string, string, bool) {
		v, ok := m[name]
		return v, "map", ok
	}
}

// short gives the short forms of notes.
func short(notes []normalize.Note) []string {
	var s []string
	for _, n := range notes {
		s = append(s, n.String())
	}
	return s
}

// TestExpandTable is the truth table of the expander: what each spelling
// becomes, and what is said about it.
func TestExpandTable(t *testing.T) {
	vars := mapVars(map[string]string{
		"A": "va", "B": "vb", "E": "", "lower": "low", "_x9": "under", "REF": "${A}", "DOLLAR": "p$A!x",
		"a.b": "dot", "a-b": "dash", "1": "one", "é": "accent", " A ": "blank", "input:k-1.x": "answer", "env:A": "wrong",
	})
	tests := []struct {
		in, want string
		notes    []string
	}{
		{"", "", nil},
		{"plain", "plain", nil},
		{"${A}", "va", nil},
		{"x${A}y${B}z", "xvayvbz", nil},
		{"${lower}${_x9}", "lowunder", nil},
		{"${U}", "${U}", []string{"unresolved:U"}},
		{"${U}${U}", "${U}${U}", []string{"unresolved:U"}},
		{"${E}", "", nil},
		{"a${E}b", "ab", nil},
		{"${E:-d}", "d", nil},
		{"${A:-d}", "va", nil},
		{"${U:-d}", "d", nil},
		{"[${U:-}]", "[]", nil},
		{"${E-d}", "${E-d}", []string{"unsupported_expansion"}},
		{"${U-d}", "${U-d}", []string{"unsupported_expansion"}},
		{"${U:-${B}}", "vb", nil},
		{"${A:-${B}}z", "vaz", nil},
		{"${U:-${V}}", "${V}", []string{"unresolved:V"}},
		{"${U:-${V:-${E:-deep}}}", "deep", nil},
		{"${U:-a${B}c${V}}", "avbc${V}", []string{"unresolved:V"}},
		{`${A:-{"k":1}}`, "va", nil},
		{`${U:-{"k":{"l":1}}}`, `{"k":{"l":1}}`, nil},
		{"${U:-{}", "${U:-{}", []string{"malformed_ref"}},
		{"${A:-}}", "va}", nil},
		{`${U:-"d"}`, `"d"`, nil},
		{"${U:-$B}", "$B", []string{"bare_var_left"}},
		{"${U:-a\nb}", "a\nb", nil},
		{"$$A", "$$A", nil},
		{`\$A`, `\$A`, nil},
		{"pa$$w0rd$", "pa$$w0rd$", nil},
		{"$", "$", nil},
		{"$${A}", "$va", []string{"dollar_before_ref"}},
		{"$${U}", "$${U}", []string{"dollar_before_ref", "unresolved:U"}},
		{`\${A}`, `\va`, nil},
		{`c:\\x`, `c:\\x`, nil},
		{"x${A", "x${A", []string{"malformed_ref"}},
		{"x${U ${A}", "x${U va", []string{"malformed_ref"}},
		{"x${U:-${A}", "x${U:-va", []string{"malformed_ref"}},
		{"${", "${", []string{"malformed_ref"}},
		{"${}", "${}", []string{"malformed_ref"}},
		{"${ A }", "${ A }", []string{"malformed_ref"}},
		{"${A }", "${A }", []string{"malformed_ref"}},
		{"${a.b}", "${a.b}", []string{"malformed_ref"}},
		{"${a-b}", "${a-b}", []string{"unsupported_expansion"}},
		{"${1}", "${1}", []string{"malformed_ref"}},
		{"${é}", "${é}", []string{"malformed_ref"}},
		{"${Aé}", "${Aé}", []string{"malformed_ref"}},
		{"${:-d}", "${:-d}", []string{"malformed_ref"}},
		{"${{ secrets.A }}", "${{ secrets.A }}", []string{"malformed_ref"}},
		{"${" + strings.Repeat("N", 257) + "}", "${" + strings.Repeat("N", 257) + "}", []string{"malformed_ref"}},
		{"$A", "$A", []string{"bare_var_left"}},
		{"$UNSET9", "$UNSET9", []string{"bare_var_left"}},
		{"$lower", "$lower", []string{"bare_var_left"}},
		{"$other $9 $_", "$other $9 $_", nil},
		{"$(x)", "$(x)", []string{"command_substitution_refused"}},
		{"$((1+1))", "$((1+1))", []string{"command_substitution_refused"}},
		{"$(x ${A} $(y) ${A})${B}", "$(x ${A} $(y) ${A})vb", []string{"command_substitution_refused"}},
		{"$(x ${A}", "$(x va", nil},
		{"`x ${A}`${B}", "`x ${A}`vb", []string{"command_substitution_refused"}},
		{"`x ${A}", "`x va", nil},
		{"${A%a}", "${A%a}", []string{"unsupported_expansion"}},
		{"${A%${B}}", "${A%${B}}", []string{"unsupported_expansion"}},
		{"${A:1}", "${A:1}", []string{"unsupported_expansion"}},
		{"${A:?m}", "${A:?m}", []string{"unsupported_expansion"}},
		{"${#A}", "${#A}", []string{"unsupported_expansion"}},
		{"${!A}", "${!A}", []string{"unsupported_expansion"}},
		{"${#}", "${#}", []string{"malformed_ref"}},
		{"${config:x}", "${config:x}", []string{"unsupported_expansion"}},
		{"${workspaceFolder:api}", "${workspaceFolder:api}", []string{"unsupported_expansion"}},
		{"${env:A}", "va", nil},
		{"${env: A }", "va", nil},
		{"${env:U}", "${U}", []string{"unresolved:U"}},
		{"${env:U:-${env:V}}", "${V}", []string{"unresolved:V"}},
		{"${env:E:-d}", "d", nil},
		{"${env:}", "${env:}", []string{"malformed_ref"}},
		{"${env:A-d}", "${env:A-d}", []string{"unsupported_expansion"}},
		{"${input:k-1.x}", "answer", nil},
		{"${input:other}", "${input:other}", []string{"needs_input:other"}},
		{"${input:p|volume}", "${input:p|volume}", []string{"needs_input:p"}},
		{"${input:}", "${input:}", []string{"malformed_ref"}},
		{"${command:a.b}", "${command:a.b}", []string{"command_substitution_refused"}},
		{"${cmd: echo ${A}}", "${cmd: echo ${A}}", []string{"command_substitution_refused"}},
		{"${file:/run/${A}}${B}", "${file:/run/${A}}vb", []string{"file_ref:/run/${A}"}},
		{"${REF}", "${A}", nil},
		{"${DOLLAR}", "p$A!x", nil},
		{"$<A>", "$<A>", []string{"placeholder"}},
		{"${<A>}", "${<A>}", []string{"placeholder"}},
		{"a$<b", "a$<b", nil},
		{"\xff${A}\xfe", "\xffva\xfe", nil},
		{"a\x00${A}", "a\x00va", nil},
		{"${A}\r\n${B}", "va\r\nvb", nil},
		{"{env:A} {{A}} %A% ~/x", "{env:A} {{A}} %A% ~/x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, notes, err := normalize.Expand(tt.in, nil, vars)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.notes, short(notes)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestExpandOrder checks who answers when several know a name, and that an
// empty value is no answer where there is a default.
func TestExpandOrder(t *testing.T) {
	env := mapVars(map[string]string{"BOTH": "env", "BLANK": "", "ONLY": ""})
	vault := mapVars(map[string]string{"BOTH": "vault", "BLANK": "vault", "LATE": "vault"})
	tests := []struct{ in, want string }{
		{"${BOTH}", "env"},
		{"${LATE}", "vault"},
		{"[${BLANK}]", "[]"},
		{"${BLANK:-d}", "vault"},
		{"${ONLY:-d}", "d"},
	}
	for _, tt := range tests {
		if got, _, err := normalize.Expand(tt.in, env, vault); err != nil || got != tt.want {
			t.Errorf("Expand(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func nested(open string, n int, shut string) string {
	return strings.Repeat(open, n) + "x" + strings.Repeat(shut, n)
}

func TestExpandLimits(t *testing.T) {
	long := strings.Repeat("v", 1<<20)
	vars := mapVars(map[string]string{"A": "va", "LONG": long})
	tests := []struct {
		name, in string
		want     normalize.Code
	}{
		{"largest text", strings.Repeat("x", 64<<10-4) + "${A}", ""},
		{"text too large", strings.Repeat("x", 64<<10) + "$", normalize.TooLarge},
		{"text without a reference too large", strings.Repeat("x", 64<<10+1), normalize.TooLarge},
		{"largest result", "${LONG}", ""},
		{"result too large", "x${LONG}", normalize.TooLarge},
		{"result too large at its end", "${LONG}x", normalize.TooLarge},
		{"result too large inside a default", "x${U:-${LONG}}", normalize.TooLarge},
		{"deepest", nested("${U:-", 16, "}"), ""},
		{"too deep", nested("${U:-", 17, "}"), normalize.TooDeep},
		{"too deep in a default not taken", nested("${A:-", 17, "}"), normalize.TooDeep},
		{"deep bare braces", "${U:-" + nested("{", 500, "}") + "}", ""},
		{"deepest command", "$(" + nested("(", 15, ")") + ")", ""},
		{"command too deep", "$(" + nested("(", 16, ")") + ")", normalize.TooDeep},
		{"side by side is not deep", strings.Repeat("${U:-${A}}", 400), ""},
		{"most references", strings.Repeat("${A}", 1000), ""},
		{"too many references", strings.Repeat("${A}", 1001), normalize.TooMany},
		{"longest name", "${" + strings.Repeat("N", 256) + "}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := normalize.Expand(tt.in, vars)
			if code := normalize.CodeOf(err); code != tt.want {
				t.Fatalf("error %v, want code %q", err, tt.want)
			}
			if err != nil && got != tt.in {
				t.Errorf("a failed expansion changed the text")
			}
		})
	}
}

// TestExpandHostile bounds the work done for the worst texts: how often the
// variables are asked, and what is allocated. Time follows from the two, since
// no byte is read more often than references are deep.
func TestExpandHostile(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (64<<10)/len(s)) }
	tests := []struct {
		name, in string
		asked    int // most questions
		allocs   float64
	}{
		{"nested", nested("${U:-", 10000, "}"), 0, 3},
		{"never closed", strings.Repeat("${U:-", 10000), 0, 3},
		{"side by side", fill("${U:-x}"), 1001, 20},
		{"dollars", fill("$"), 0, 0},
		{"open braces", fill("${"), 0, 4},
		{"empty braces", fill("${}"), 0, 4},
		{"open commands", fill("$("), 0, 4},
		{"backquotes", fill("`"), 0, 4},
		{"bare names", fill("$a"), 1000, 4},
		{"upper-case names", fill("$A"), 0, 4},
		{"bare braces", fill("${U:-{"), 0, 4},
		{"unknown forms", fill("${U%x}"), 0, 4},
		{"one long name", "${" + strings.Repeat("N", 64<<10-2), 0, 4},
		{"many names", manyNames(), 1001, 1200},
		{"padded nesting", strings.Repeat("${U:-", 16) + strings.Repeat(" ", 60<<10) + strings.Repeat("}", 16), 17, 20},
		{"padded and open", strings.Repeat("${U:-", 15) + strings.Repeat("${x} ", 12<<10), 1001, 20},
		{"values that look like references", "${LOOKS}", 1, 4},
	}
	looks := strings.Repeat("${", 1<<18)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			vars := func(name string) (string, string, bool) {
				asked++
				return looks, "", name == "LOOKS"
			}
			normalize.Expand(tt.in, vars)
			if asked > tt.asked {
				t.Errorf("asked for %d variables, want at most %d", asked, tt.asked)
			}
			got := testing.AllocsPerRun(5, func() { normalize.Expand(tt.in, vars) })
			if got > tt.allocs {
				t.Errorf("%v allocations, want at most %v", got, tt.allocs)
			}
		})
	}
}

func manyNames() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "${N%d}", i)
	}
	return b.String()
}

func TestExpandAllocs(t *testing.T) {
	vars := mapVars(map[string]string{"A": "value-of-a"})
	tests := []struct {
		name, in string
		want     float64
	}{
		{"no variable", "https://api.example.com/mcp?x=1&y=100%20z", 0},
		{"dollars only", "pa$$w0rd$ and 5$", 0},
		{"one variable", "Bearer ${A}", 1},
		{"ten defaults", strings.Repeat("${U:-default} ", 10), 1},
		{"nested defaults", strings.Repeat("${U:-${U:-${A}}} ", 8), 1},
	}
	for _, tt := range tests {
		got := testing.AllocsPerRun(100, func() { normalize.Expand(tt.in, vars) })
		if got > tt.want {
			t.Errorf("%s: %v allocations, want at most %v", tt.name, got, tt.want)
		}
	}
}
