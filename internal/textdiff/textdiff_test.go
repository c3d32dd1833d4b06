package textdiff_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// edges are pairs of texts that trip diff formats.
func edges() map[string][2]string {
	return map[string][2]string{
		"both empty":              {"", ""},
		"from nothing":            {"", "one\ntwo\n"},
		"to nothing":              {"one\ntwo\n", ""},
		"from nothing, no end":    {"", "one"},
		"to nothing, no end":      {"one", ""},
		"only a newline comes":    {"", "\n"},
		"newline at end comes":    {"one\ntwo", "one\ntwo\n"},
		"newline at end goes":     {"one\ntwo\n", "one\ntwo"},
		"no end on both":          {"one\ntwo", "one\n2"},
		"no end, same last":       {"one\ntwo", "1\ntwo"},
		"no end, lines added":     {"one", "one\ntwo"},
		"CRLF to LF":              {"one\r\ntwo\r\n", "one\ntwo\n"},
		"CRLF inside":             {"one\r\ntwo\r\n", "one\r\nnew\r\ntwo\r\n"},
		"lone CR":                 {"one\rtwo\rthree\n", "one\r2\rthree\n"},
		"CR at the end":           {"one\r", "one\r\r"},
		"signature lines":         {"-- \nname\n", "-- \nother\n"},
		"dashes":                  {"-- a/file\n++ b/file\n", "++ b/file\n"},
		"looks like a hunk":       {"@@ -1 +1 @@\nx\n", "@@ -1,2 +1,2 @@\nx\n"},
		"looks like no newline":   {"\\ No newline at end of file\n", "\\ No newline at end of file"},
		"NUL":                     {"a\x00b\nc\n", "a\x00\x00b\nc\n"},
		"invalid UTF-8":           {"\xff\xfe\nsame\n", "\xff\xff\nsame\n"},
		"line separators":         {"a\u2028b\u2029c\n", "a\u2028B\u2029c\n"},
		"vertical tab, NEL":       {"a\vb\u0085c\n", "a\vb\u0085d\n"},
		"blank lines":             {"\n\n\n", "\n\n\n\n\n"},
		"repeated":                {"a\nb\na\nb\na\n", "b\na\nb\na\nb\n"},
		"moved block":             {"a\nb\nc\nd\n", "c\nd\na\nb\n"},
		"tabs and trailing space": {"\ta \nb\n", "\ta\nb \n"},
	}
}

// TestEdges re-applies each diff with our own applier and, where there is one,
// with patch(1) at no fuzz.
func TestEdges(t *testing.T) {
	for name, c := range edges() {
		t.Run(name, func(t *testing.T) {
			for _, context := range []int{0, 1, 3} {
				old, after := []byte(c[0]), []byte(c[1])
				patch := textdiff.Unified("a/file", "b/file", old, after, context)
				if got := (patch == nil); got != (c[0] == c[1]) {
					t.Errorf("context %d: patch is nil = %v", context, got)
				}
				got, err := textdiff.Apply(old, patch)
				if err != nil || !bytes.Equal(got, after) {
					t.Errorf("context %d: Apply = %q, %v; want %q\n%s", context, got, err, after, patch)
				}
			}
		})
	}
}

func TestPatchAgrees(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("patch(1) is not installed: the diffs cannot be given to it")
	}
	for name, c := range edges() {
		if c[0] == c[1] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, context := range []int{0, 3} {
				patch := textdiff.Unified("a/file", "b/file", []byte(c[0]), []byte(c[1]), context)
				if got, err := runPatch(t, c[0], patch); err != nil || got != c[1] {
					t.Errorf("context %d: patch made %q, %v; want %q\n%s", context, got, err, c[1], patch)
				}
			}
		})
	}
}

// runPatch returns what patch(1) makes of old. A file that it removed, since
// nothing is left in it, counts as empty.
func runPatch(t *testing.T, old string, patch []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("patch", "--binary", "-F0", "-s", "-f", "-p1", "file")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	got, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(got), err
}

func TestUnified(t *testing.T) {
	old := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten"
	after := "one\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
	want := `--- a/x
+++ b/x
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -9,2 +9,2 @@
 nine
-ten
\ No newline at end of file
+ten
`
	got := string(textdiff.Unified("a/x", "b/x", []byte(old), []byte(after), 1))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":       {"a/x.md", "a/x.md"},
		"space":       {"a/my plan.md", "a/my plan.md\t"},
		"line break":  {"a\n+++ b", `"a\012+++ b"`},
		"quote":       {`a"b\c`, `"a\"b\\c"`},
		"other bytes": {"\u00e9\x7f", "\"\u00e9\\177\""},
	} {
		t.Run(name, func(t *testing.T) {
			patch := textdiff.Unified(c.in, "b", nil, []byte("x\n"), 3)
			first, _, _ := strings.Cut(string(patch), "\n")
			if want := "--- " + c.want; first != want {
				t.Errorf("first line %q, want %q", first, want)
			}
			if got, err := textdiff.Apply(nil, patch); err != nil || string(got) != "x\n" {
				t.Errorf("Apply = %q, %v", got, err)
			}
		})
	}
}

func TestLines(t *testing.T) {
	type edits = []textdiff.Edit
	for name, c := range map[string]struct {
		old, after string
		want       edits
	}{
		"equal":                 {"a\nb\n", "a\nb\n", nil},
		"replaced":              {"a\nb\nc\n", "a\nB\nc\n", edits{{1, 2, 1, 2}}},
		"added":                 {"a\nc\n", "a\nb\nc\n", edits{{1, 1, 1, 2}}},
		"removed":               {"a\nb\nc\n", "a\nc\n", edits{{1, 2, 1, 1}}},
		"two apart":             {"a\nb\nc\n", "A\nb\nC\n", edits{{0, 1, 0, 1}, {2, 3, 2, 3}}},
		"nothing shared":        {"a\nb\n", "c\nd\ne\n", edits{{0, 2, 0, 3}}},
		"as late as can be":     {"p\n" + "p\n", strings.Repeat("p\n", 3), edits{{2, 2, 2, 3}}},
		"paragraph from start":  {"# A\n\ntext\n\n# C\n", "# A\n\ntext\n\n# B\n\ntext\n\n# C\n", edits{{4, 4, 4, 8}}},
		"paragraph goes":        {"# A\n\nx\n\n# B\n\nx\n\n# C\n", "# A\n\nx\n\n# C\n", edits{{4, 8, 4, 4}}},
		"first paragraph comes": {"p\n\nq\n", strings.Repeat("p\n\n", 2) + "q\n", edits{{2, 2, 2, 4}}},
		"paragraph from above":  {"h\n\nx\ny\nz\n", "h\n\n" + strings.Repeat("x\ny\n", 2) + "z\n", edits{{2, 2, 2, 4}}},
		"kept apart":            {"a\nx\nb\n", "A\n" + strings.Repeat("x\n", 2) + "B\n", edits{{0, 1, 0, 1}, {2, 3, 2, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, textdiff.Lines([]byte(c.old), []byte(c.after))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestStatAndGroup(t *testing.T) {
	edits := []textdiff.Edit{{0, 1, 0, 2}, {7, 9, 8, 8}, {16, 16, 15, 20}}
	if added, removed := textdiff.Stat(edits); added != 7 || removed != 3 {
		t.Errorf("Stat = %d added, %d removed; want 7, 3", added, removed)
	}
	want := [][]textdiff.Edit{edits[:2], edits[2:]}
	if d := cmp.Diff(want, textdiff.Group(edits, 3)); d != "" {
		t.Errorf("Group, 6 lines between are one hunk (-want +got):\n%s", d)
	}
	if got := len(textdiff.Group(edits, 2)); got != 3 {
		t.Errorf("Group at less context made %d groups, want 3", got)
	}
	if got := textdiff.Group(nil, 3); got != nil {
		t.Errorf("Group of nothing = %v", got)
	}
}

func TestSplit(t *testing.T) {
	got := textdiff.Split([]byte("a\r\n\rb\u2028\n\nend"))
	want := [][]byte{[]byte("a\r\n"), []byte("\rb\u2028\n"), []byte("\n"), []byte("end")}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestApplyRefuses(t *testing.T) {
	const old = "one\ntwo\nthree\n"
	const head = "--- a\n+++ b\n"
	for name, c := range map[string]struct{ patch, want string }{
		"no old name":       {"+++ b\n", `patch line 1: there is no "--- " here`},
		"no new name":       {"--- a\n@@ -1 +1 @@\n", `patch line 2: there is no "+++ " here`},
		"no hunk":           {head, "patch line 3: there is no hunk"},
		"no header":         {head + "one\n", "patch line 3: this is no hunk header"},
		"header cut":        {head + "@@ -1 +1 @@", "patch line 3: this is no hunk header"},
		"header signs":      {head + "@@ +1 -1 @@\n", "patch line 3: the ranges of the hunk cannot be read"},
		"header number":     {head + "@@ -1,x +1 @@\n", "patch line 3: the ranges of the hunk cannot be read"},
		"header overflow":   {head + "@@ -1,99999999999 +1 @@\n", "patch line 3: the ranges of the hunk cannot be read"},
		"line nought":       {head + "@@ -0 +0 @@\n", "patch line 3: the ranges of the hunk cannot be read"},
		"context differs":   {head + "@@ -1,2 +1,2 @@\n one\n-2\n+x\n", "patch line 5: old line 2 is not what the patch says"},
		"line end differs":  {head + "@@ -3 +3 @@\n-three\n\\ No newline at end of file\n+x\n", "patch line 4: old line 3 is not what the patch says"},
		"wrong place":       {head + "@@ -1 +1 @@\n-two\n+2\n", "patch line 4: old line 1 is not what the patch says"},
		"new place":         {head + "@@ -2 +3 @@\n-two\n+2\n", "patch line 3: the hunk goes to new line 3, but 1 lines are written"},
		"behind the end":    {head + "@@ -5 +5 @@\n-x\n+y\n", "patch line 3: old line 5 is out of place: 0 of 3 are behind"},
		"runs over the end": {head + "@@ -3,2 +3,2 @@\n-three\n-four\n+3\n+4\n", "patch line 5: old line 4 is not what the patch says"},
		"going back":        {head + "@@ -2 +2 @@\n-two\n+2\n@@ -1 +3 @@\n-one\n+1\n", "patch line 6: old line 1 is out of place: 2 of 3 are behind"},
		"cut short":         {head + "@@ -2 +2 @@\n-two\n", "patch line 5: the patch ends inside a hunk"},
		"cut inside a line": {head + "@@ -2 +2 @@\n-two\n+2", "patch line 5: the patch ends inside a hunk"},
		"too many after":    {head + "@@ -2 +2 @@\n+a\n+b\n-two\n", "patch line 5: the hunk has more lines than it says"},
		"too many old":      {head + "@@ -2 +2 @@\n-two\n-three\n+2\n", "patch line 5: old line 3 is not what the patch says"},
		"unknown sign":      {head + "@@ -2 +2 @@\n*two\n", "patch line 4: a line of a hunk begins with '*'"},
		"text behind":       {head + "@@ -2 +2 @@\n-two\n+2\nmore\n", "patch line 6: this is no hunk header"},
		"no end inside":     {head + "@@ -2 +2 @@\n-two\n+2\n\\ No newline at end of file\n", "patch line 7: a line follows one without a newline"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := textdiff.Apply([]byte(old), []byte(c.patch))
			if err == nil {
				t.Fatalf("Apply = %q, want an error", got)
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Errorf("error (-want +got):\n%s", d)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for name, c := range map[string]struct{ old, after, wantOld, wantNew string }{
		"equal":               {"same", "same", "same", "same"},
		"one word":            {"the red fox ran", "the blue fox ran", "the [red] fox ran", "the [blue] fox ran"},
		"several":             {"alpha beta gamma delta", "alpha BETA gamma DELTA", "alpha [beta] gamma [delta]", "alpha [BETA] gamma [DELTA]"},
		"neighbours join":     {"one two three four five", "one 2 3 four five", "one [two three] four five", "one [2 3] four five"},
		"added":               {"call me later", "call me back later", "call me later", "call me [back ]later"},
		"punctuation":         {"f(a, b);", "f(a; b);", "f(a[,] b);", "f(a[;] b);"},
		"whole letters":       {"caf\u00e9 au lait noir", "caf\u00e8 au lait noir", "[caf\u00e9] au lait noir", "[caf\u00e8] au lait noir"},
		"accents stay":        {"x e\u0301 long text", "x e\u0300 long text", "x [e\u0301] long text", "x [e\u0300] long text"},
		"no blanks":           {"\u6771\u4eac\u90fd\u5e81", "\u6771\u4eac\u5e02\u5e81", "\u6771\u4eac[\u90fd]\u5e81", "\u6771\u4eac[\u5e02]\u5e81"},
		"invalid":             {"same \xff same", "same \xfe same", "same [\xff] same", "same [\xfe] same"},
		"blanks only":         {"a  b c", "a b c", "a[  ]b c", "a[ ]b c"},
		"little in common":    {"apples and pears today", "no thing is left here and", "[apples and pears today]", "[no thing is left here and]"},
		"from nothing":        {"", "word", "", "[word]"},
		"emoji stay together": {"hi \U0001F469\u200d\U0001F680 there", "hi \U0001F469 there", "hi [\U0001F469\u200d\U0001F680] there", "hi [\U0001F469] there"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := textdiff.Words(c.old, c.after)
			if got := bracket(c.old, a); got != c.wantOld {
				t.Errorf("old is %q, want %q", got, c.wantOld)
			}
			if got := bracket(c.after, b); got != c.wantNew {
				t.Errorf("new is %q, want %q", got, c.wantNew)
			}
		})
	}
}

func bracket(s string, spans []textdiff.Span) string {
	var b strings.Builder
	at := 0
	for _, span := range spans {
		b.WriteString(s[at:span.Start] + "[" + s[span.Start:span.End] + "]")
		at = span.End
	}
	return b.String() + s[at:]
}

// TestShortest compares the number of edits with the fewest possible, found by
// the textbook table, on small random texts of few kinds of lines.
func TestShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := letters(rng, rng.IntN(25), 1+rng.IntN(5)), letters(rng, rng.IntN(25), 1+rng.IntN(5))
		old, after := strings.Join(a, ""), strings.Join(b, "")
		edits := textdiff.Lines([]byte(old), []byte(after))
		checkEdits(t, textdiff.Split([]byte(old)), textdiff.Split([]byte(after)), edits)
		added, removed := textdiff.Stat(edits)
		if want := len(a) + len(b) - 2*common(a, b); added+removed != want {
			t.Fatalf("%q to %q: %d lines changed, %d are enough", old, after, added+removed, want)
		}
	}
}

// letters returns n lines, the first kind of which is blank.
func letters(rng *rand.Rand, n, kinds int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "\n"
		if kind := rng.IntN(kinds); kind > 0 {
			out[i] = string(rune('a'+kind)) + "\n"
		}
	}
	return out
}

// common returns the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			here := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(here, row[j])
			}
			diagonal = here
		}
	}
	return row[len(b)]
}
