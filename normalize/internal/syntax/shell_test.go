package syntax_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

func TestCommand(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string // operators in brackets
	}{
		{"words", "npx  -y\tx", []string{"npx", "-y", "x"}},
		{"quotes", `a 'b c' "d e" f'g'"h" ""`, []string{"a", "b c", "d e", "fgh", ""}},
		{"escapes", `a\ b "c\"d\\e\$f\x" \'`, []string{"a b", `c"d\e$f\x`, "'"}},
		{"variables", `$A "${B} $C" '$D' $1 $ \$E x$F`, []string{"${A}", "${B} ${C}", "$D", "$1", "$", "$E", "x${F}"}},
		{"variables of PowerShell", `$env:A "$env:B"`, []string{"${A}", "${B}"}},
		{"substitutions", "a $(b c $(d)) `e f` \"$(g h)\" $(i", []string{"a", "$(b c $(d))", "`e f`", "$(g h)", "$(i"}},
		{"references", "a ${B:-c d} \"${E:-f g}\" ${H:-${I} {j k}} ${l", []string{"a", "${B:-c d}", "${E:-f g}", "${H:-${I} {j k}}", "${l"}},
		{"operators", "a && b || c ; d | e & f", []string{"a", "[&&]", "b", "[||]", "c", "[;]", "d", "[|]", "e", "[&]", "f"}},
		{"no operators", "https://x/?a=1&b=2 a|b c;d", []string{"https://x/?a=1&b=2", "a|b", "c;d"}},
		{"a comment", "a b#c # d", []string{"a", "b#c"}},
		{"continued lines", "a \\\n  b `\n c ^\r\nd", []string{"a", "b", "c", "d"}},
		{"a continued string", "\"a\\\nb\"", []string{"ab"}},
		{"a string over lines", "a 'b\nc' d\ne", []string{"a", "b\nc", "d"}},
		{"paths of Windows", `C:\tools\x.exe \\server\share "C:\Program Files\x"`, []string{`C:\tools\x.exe`, `\\server\share`, `C:\Program Files\x`}},
		{"backticks before quotes", "\"{`\"a`\":1}\"", []string{"{`\"a`\":1}"}},
		{"special blanks", "a\u00a0b\u200bc", []string{"a", "bc"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := syntax.Command(tt.in)
			var got []string
			for _, w := range line.Words {
				if w.Op {
					w.Text = "[" + w.Text + "]"
				}
				got = append(got, w.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
			if line.Comment != (tt.name == "a comment") || line.Unclosed {
				t.Errorf("got %+v", line)
			}
		})
	}
}

func TestCommandUnclosed(t *testing.T) {
	for _, in := range []string{"a 'b\nc", `a "b`} {
		if line := syntax.Command(in); !line.Unclosed || line.Size != len(in) {
			t.Errorf("%q: %+v", in, line)
		}
	}
}

func TestFields(t *testing.T) {
	got := syntax.Fields("npx -y \"a b\" $X '$Y' # ; c\nd `e f` \\$G $(h i) ${j:-k l} ${m n")
	want := []string{"npx", "-y", "a b", "$X", "$Y", "#", ";", "c", "d", "`e f`", "$G", "$(h i)", "${j:-k l}", "${m", "n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// FuzzCommand checks that a line always moves on, that words stand in order
// and inside of it, and that words without signs come out as they are.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{`a 'b' "c\"" $D`, "x `y z` $(w", "a \\\nb", `C:\x && y`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := syntax.Command(s)
		if s != "" && line.Size == 0 || line.Size > len(s) {
			t.Fatalf("size %d of %d", line.Size, len(s))
		}
		last := -1
		for _, w := range line.Words {
			if w.Offset <= last || w.Offset >= line.Size {
				t.Fatalf("%q at %d after %d", w.Text, w.Offset, last)
			}
			last = w.Offset
		}
		if strings.IndexFunc(s, func(r rune) bool { return r != ' ' && (r < 'a' || r > 'z') }) < 0 {
			if diff := cmp.Diff(strings.Fields(s), syntax.Fields(s)); diff != "" && s != "" && strings.TrimSpace(s) != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		}
	})
}
