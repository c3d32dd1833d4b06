package pattern_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

func ExampleMatch() {
	allow := []string{"plans/**/*.md", "notes/*"}
	fmt.Println(pattern.Match(allow, "plans/2027/roads.md"), pattern.Match(allow, "notes/a/b"))
	// Output: true false
}

func ExampleReaches() {
	fmt.Println(pattern.Reaches("**/*.md", "docs"), pattern.Reaches("plans/**", "docs"))
	// Output: true false
}

func TestCheck(t *testing.T) {
	for in, ok := range map[string]bool{
		"docs/**": true, "**": true, "a/*.md": true, "[a-c]/?": true,
		"": false, "/a": false, "a/": false, "a//b": false, "./a": false, "a/..": false, "a/[": false,
		strings.Repeat("a", rootfs.MaxPath+1): false,
	} {
		if err := pattern.Check(in); (err == nil) != ok {
			t.Errorf("Check(%.40q) = %v, want accepted %v", in, err, ok)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"docs/a.md", "docs/a.md", true},
		{"docs/a.md", "docs/A.md", false},
		{"docs/*", "docs/a.md", true},
		{"docs/*", "docs/a/b.md", false},
		{"docs/**", "docs", true},
		{"docs/**", "docs/a/b.md", true},
		{"**/x/**/y", "x/y", true},
		{"**/x/**/y", "a/x/b/x/c/y", true},
		{"**/x/**/y", "a/x/b", false},
		{"**", "a/b/c", true},
		{"**/*.md", "a.md", true},
		{"a/**/b/**/c", "a/b/b/x", false},
		{"a/[", "a/[", false},
	}
	for _, test := range tests {
		if got := pattern.Match([]string{"never/there", test.pattern}, test.path); got != test.want {
			t.Errorf("Match(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
	if pattern.Match(nil, "a") {
		t.Error("no pattern matches something")
	}
}

func TestReaches(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"docs/**", "docs", true},
		{"docs/a.md", "docs", true},
		{"DOCS/a.md", "docs", true},
		{"d*/a.md", "docs", true},
		{"**/a.md", "docs", true},
		{"**", "docs/guide", true},
		{"*/*/a.md", "docs/guide", true},
		{"*/a.md", "docs/guide", false},
		{"*", "docs", true},
		{"plans/**", "docs", false},
		{"plans/**/docs/*", "docs", false},
		{"docs-old/**", "docs", false},
		{"docs", "docs/guide", false}, // a file in place of a folder
		{"site/*.html", "site/outline.html", true},
		{"site/index.html", "site/outline.html", false},
		{"[A-F]ocs/x", "docs", true},
		{`\Docs/x`, "docs", true},
		{"STRASSE/*", "straße", true},
		{"stra?e/**", "straße", true},
		{"stra?e/**", "strasse", true},
		{"stra??e/**", "straße", true},
		{"stra[s-z]e/**", "STRASSE", true},
		{"?x/*.md", "ﬁx", true},
		{"?x/*.md", "fix", true},
		{"?x/*.md", "İx", true},
		{"?x/*.md", "ŉx", true},
		{"?x/*.md", "long-x", false},
		{"caf??/*.md", "cafe\u0301", true},
		{"caf??/*.md", "café", true},
		{"caf?/*.md", "cafe\u0301", true},
		{"cafe*/*.md", "café", true},
		{"*\u0301/*.md", "café", true},
		{"e*\u0301\u0323/a", "\u1eb9\u0301", true}, // marks change places
		{"?/a", "\ud55c", true},
		{"???/a", "\ud55c", true}, // written as its three letters
		{"α?/a", "ᾳ", true},
		{"[a-c]og/*", "docs", false},
		{`\Dogs/x`, "docs", false},
		{`[\]]ocs/x`, "docs", true},
		{"do?s/x", "dogs", true},
		{"do?/x", "docs-old", false},
		{"a/[", "a/b", true}, // matches nothing, and is not worth a sure no
	}
	for _, test := range tests {
		if got := pattern.Reaches(test.pattern, test.path); got != test.want {
			t.Errorf("Reaches(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
}

// alike returns, by its fold key, the characters that fold to the same: of all
// blocks in which a character can be written in several ways, except that a few
// Hangul syllables stand for all.
func alike() map[string][]string {
	alike := make(map[string][]string)
	for _, block := range [][2]rune{{0, 0x3100}, {0xa640, 0xac80}, {0xf900, 0xffff}, {0x10400, 0x10600}, {0x10c80, 0x10d90}, {0x11000, 0x11a00}, {0x16e40, 0x16e80}, {0x1d100, 0x1d200}, {0x1e900, 0x1e944}} {
		for r := block[0]; r < block[1]; r++ {
			if text := string(r); rootfs.Check(text+"x") == nil {
				key := rootfs.FoldKey(text)
				alike[key] = append(alike[key], text)
			}
		}
	}
	return alike
}

// Each character that is written otherwise is still reached, by a pattern that
// counts it as it is written.
func TestReachesEveryCharacter(t *testing.T) {
	checked := 0
	for key, same := range alike() {
		spellings := append(same, key, norm.NFD.String(key))
		if len(same) == 1 && key == same[0] && key == norm.NFD.String(key) {
			continue
		}
		for _, written := range spellings {
			questions := strings.Repeat("?", utf8.RuneCountInString(written))
			first, size := utf8.DecodeRuneInString(written)
			for _, p := range []string{questions + "x", "[^x]*x", string(first) + "*", "*" + written[size:] + "x"} {
				if !pattern.Match([]string{p}, written+"x") {
					continue // a mark before x, say
				}
				for _, guarded := range spellings {
					checked++
					if rootfs.FoldKey(written+"x") == rootfs.FoldKey(guarded+"x") && !pattern.Reaches(p, guarded+"x") {
						t.Errorf("%+q matches %+q and is said not to reach %+q", p, written+"x", guarded+"x")
					}
				}
			}
		}
	}
	if checked < 10_000 {
		t.Errorf("only %d cases", checked)
	}
}

// respell writes a path in another way that folds to the same, as choices say.
func respell(p string, choices []byte, alike map[string][]string) string {
	letters := []rune(norm.NFD.String(rootfs.FoldKey(p)))
	var b strings.Builder
	for i := 0; i < len(letters); {
		choice := 0
		if len(choices) > 0 {
			choice, choices = int(choices[0]), choices[1:]
		}
		n := min(1+choice%4, len(letters)-i)
		same := alike[norm.NFC.String(string(letters[i:i+n]))]
		if len(same) == 0 {
			n = 1
			b.WriteRune(letters[i])
		} else {
			b.WriteString(same[choice/4%len(same)])
		}
		i += n
	}
	return b.String()
}

// generalize turns a path into a pattern that matches it, as choices say.
func generalize(p string, choices []byte) string {
	var b strings.Builder
	for _, r := range p {
		choice := byte(0)
		if len(choices) > 0 {
			choice, choices = choices[0], choices[1:]
		}
		switch {
		case r == '/' || strings.ContainsRune(`[]-^\`, r):
			b.WriteString(string(r))
		case choice%8 == 1:
			b.WriteByte('?')
		case choice%8 == 2:
			b.WriteByte('*')
		case choice%8 == 3:
			b.WriteString("[^/]")
		case choice%8 == 4:
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Whatever a pattern matches at or below a path, however that is spelled, Reaches
// has to have said so.
func FuzzReaches(f *testing.F) {
	f.Add("docs/**/*.md", "docs", "docs/a/b.md", []byte(nil), []byte(nil))
	f.Add("[D-d]ocs/?", "DOCS", "docs/x", []byte{0, 4}, []byte{1})
	f.Add("**/x", "a/b", "a/b/c/x", []byte(nil), []byte{2, 0, 1})
	f.Add("[^x]ocs", "docs", "docs", []byte(nil), []byte{3})
	f.Add("stra?e/a", "straße", "strasse/a", []byte{0, 0, 0, 0, 1}, []byte{0, 0, 0, 0, 1})
	f.Add("caf??", "cafe\u0301", "café", []byte{0, 0, 0, 1}, []byte{0, 0, 0, 1, 1})
	f.Add("?x", "fix", "ﬁx", []byte{1}, []byte{1})
	same := alike()
	f.Fuzz(func(t *testing.T, p, dir, file string, spelling, holes []byte) {
		if rootfs.Check(dir) != nil || rootfs.Check(file) != nil {
			t.Skip("not what a caller passes on")
		}
		again := respell(dir, spelling, same)
		for _, test := range []struct{ pattern, file string }{
			{p, file}, {p, again}, {generalize(again, holes), again}, {generalize(file, holes), file},
		} {
			folded, below := rootfs.FoldKey(test.file), rootfs.FoldKey(dir)
			if pattern.Check(test.pattern) != nil || rootfs.Check(test.file) != nil || folded != below && !strings.HasPrefix(folded, below+"/") {
				continue
			}
			if pattern.Match([]string{test.pattern}, test.file) && !pattern.Reaches(test.pattern, dir) {
				t.Fatalf("%+q matches %+q, which is at or below %+q, and is said not to reach it", test.pattern, test.file, dir)
			}
		}
	})
}
