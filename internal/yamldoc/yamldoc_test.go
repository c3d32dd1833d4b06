package yamldoc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// flat writes a tree as nested text, so that a test can state a whole tree on one line.
func flat(n *yamldoc.Node) string {
	var parts []string
	switch n.Kind {
	case yamldoc.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			parts = append(parts, flat(n.Content[i])+": "+flat(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yamldoc.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, flat(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yamldoc.AliasNode:
		return "*" + n.Value
	}
	return n.Value
}

// faults writes the faults of an error as "line:column code".
func faults(err error) []string {
	var out []string
	for _, f := range yamldoc.Faults(err) {
		out = append(out, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Code))
	}
	return out
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"scalar", "a", "a"},
		{"source text is kept", "a: 0x10\nb: 1_000\nc: 1.10\nd: yes\ne: 007\nf: ~\n", "{a: 0x10, b: 1_000, c: 1.10, d: yes, e: 007, f: ~}"},
		{"flow", "{a: [1, 2], b: {c: d}}", "{a: [1, 2], b: {c: d}}"},
		{"block scalar", "a: |\n  x\n  y\n", "{a: x\ny\n}"},
		{"document marker", "---\na: 1\n...\n", "{a: 1}"},
		{"quoted merge key is a key", `"<<": 1`, "{<<: 1}"},
		{"carriage returns", "a: 1\r\nb: 2\r\n", "{a: 1, b: 2}"},
		{"line break of Unicode", "a: \"x\u0085y\"\n", "{a: x y}"},
		{"not ASCII", "путь: 文档/起点.md", "{путь: 文档/起点.md}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := yamldoc.Parse([]byte(tt.in), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, flat(n)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParsePositionsCountCharacters(t *testing.T) {
	n, err := yamldoc.Parse([]byte("文: x\nb:\n  - 起 \n  - {é: y}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	y := n.Content[3].Content[1].Content[1]
	if y.Value != "y" || y.Line != 4 || y.Column != 9 {
		t.Errorf("got %q at %d:%d, want y at 4:9", y.Value, y.Line, y.Column)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", []string{"1:1 empty"}},
		{"comment only", "# nothing\n", []string{"1:1 empty"}},
		{"byte order mark", "\xef\xbb\xbfa: 1", []string{"1:1 byte_order_mark"}},
		{"UTF-16", "\xff\xfea\x00", []string{"1:1 byte_order_mark"}},
		{"NUL", "a: 1\nb: x\x00y\n", []string{"2:5 control_character"}},
		{"C1 control", "a: \u0090\n", []string{"1:4 control_character"}},
		{"no character", "a: \ufffe\n", []string{"1:4 control_character"}},
		{"byte order mark inside", "a: \ufeff\n", []string{"1:4 control_character"}},
		{"last C1 control", "a: \u009f\n", []string{"1:4 control_character"}},
		{"not UTF-8", "a: 1\nбв: \xff\n", []string{"2:5 invalid_utf8"}},
		{"colon on the first line", "a: b: c", []string{"1:5 syntax"}},
		{"colon on a later line", "x: 1\na: b: c", []string{"2:5 syntax"}},
		{"unclosed list", "x: 1\na: [1,\nb: 2\n", []string{"3:1 syntax"}},
		{"unclosed quote", "x: 1\ny: \"abc\nz: 1\n", []string{"2:4 syntax"}},
		{"tab", "x:\n\ty: 1", []string{"2:1 syntax"}},
		{"bad escape", "x: 1\ny: \"\\q\"\n", []string{"2:5 syntax"}},
		{"a character of several bytes", "x: 1\ny: \"z\" é\n", []string{"2:8 syntax"}},
		{"indentation", "x: 1\n  y: 2\n", []string{"2:4 syntax"}},
		{"reserved character", "a: 1\nb: @x", []string{"2:4 syntax"}},
		{"unknown alias", "a: 1\nb: *bc", []string{"2:6 syntax"}},
		{"second document", "a: 1\n---\nb: 2\n", []string{"3:1 second_document"}},
		{"broken second document", "a: 1\n---\nb: c: d\n", []string{"3:5 syntax"}},
		{"anchor and alias", "a: &x 1\nb: *x\n", []string{"1:4 alias", "2:4 alias"}},
		{"merge key", "b:\n  <<: {a: 1}\n", []string{"2:3 merge"}},
		{"local tag", "a: !!python/name:os.system x\nb: !env Y\n", []string{"1:4 unknown_tag", "2:4 unknown_tag"}},
		{"binary tag", "a: !!binary aGk=\n", []string{"1:4 unknown_tag"}},
		{"list as key", "? [a]\n: 1\n", []string{"1:3 key_not_scalar"}},
		{"null as key", "~: 1\n", []string{"1:1 key_not_scalar"}},
		{"repeated keys", "a: 1\nb: {c: 1, c: 2}\na: 3\n", []string{"2:11 duplicate_key", "3:1 duplicate_key"}},
		{"list and empty text as keys", "? [a]\n: 1\n\"\": 2\n", []string{"1:3 key_not_scalar"}},
		{"repeated among many keys", manyKeys(30) + "k00: 1\nk29: 1\nk30: 1\nk30: 2\n", []string{"31:1 duplicate_key", "32:1 duplicate_key", "34:1 duplicate_key"}},
		{"list and empty text among many keys", "? [a]\n: 1\n" + manyKeys(30) + "\"\": 2\n", []string{"1:3 key_not_scalar"}},
		{"several rules and a second document", "a: &x 1\na: 2\n---\nb\n", []string{"1:4 alias", "2:1 duplicate_key", "4:1 second_document"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := yamldoc.Parse([]byte(tt.in), nil)
			if diff := cmp.Diff(tt.want, faults(err)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%v", diff, err)
			}
		})
	}
}

// manyKeys writes n keys that differ, one on a line.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%02d: 1\n", i)
	}
	return b.String()
}

// A repeated key names the line that has it first, also where it is repeated again and among many.
func TestRepeatedKeysNameTheFirst(t *testing.T) {
	_, err := yamldoc.Parse([]byte("a: 1\na: 2\n"+manyKeys(30)+"a: 3\n"), nil)
	for _, f := range yamldoc.Faults(err) {
		if want := `key "a" was given on line 1 already; remove one`; f.Msg != want {
			t.Errorf("line %d: %q, want %q", f.Line, f.Msg, want)
		}
	}
	if got := faults(err); len(got) != 2 {
		t.Errorf("got %v, want two faults", got)
	}
}

// A text with very many faults has them reported up to a number.
func TestFaultsAreBounded(t *testing.T) {
	_, err := yamldoc.Parse([]byte(strings.Repeat("a: 1\n", 3000)), nil)
	if got := len(yamldoc.Faults(err)); got != 1000 {
		t.Errorf("%d faults, want 1000", got)
	}
}

// What is as large as the limits allow is read, by either way of checking them.
func TestLimitsAllow(t *testing.T) {
	deep := strings.Repeat("[", 32) + "x" + strings.Repeat("]", 32)
	long := "a: " + deep + "\n"
	for i := len(long); i < 64<<10; i = len(long) {
		long += strings.Repeat("#", 99) + "\n"
	}
	for name, c := range map[string]struct {
		in   string
		opts yamldoc.Options
	}{
		"bytes":             {"a: 1", yamldoc.Options{MaxBytes: 4}},
		"depth":             {deep, yamldoc.Options{}},
		"depth of scalars":  {"a: {b: c}", yamldoc.Options{MaxDepth: 2}},
		"depth by aliases":  {"a: &a [x]\nb: [*a]", yamldoc.Options{MaxDepth: 3, Lenient: true}},
		"depth of an alias": {"a: &a x\nb: [*a]", yamldoc.Options{MaxDepth: 2, Lenient: true}},
		"nodes":             {"[a, b, c, d]", yamldoc.Options{MaxNodes: 5}},
		"nodes by aliases":  {"[&a [x], *a]", yamldoc.Options{MaxNodes: 5, Lenient: true}},
		"keys":              {"{a: 1, b: 2}", yamldoc.Options{MaxKeys: 2}},
		"keys by merging":   {"{<<: {a: 1}, b: 2}", yamldoc.Options{MaxKeys: 2, Lenient: true}},
		"a long text":       {long, yamldoc.Options{MaxDepth: 33, MaxKeys: 100, MaxNodes: 6_000}},
	} {
		if _, err := yamldoc.Parse([]byte(c.in), &c.opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A large text that breaks a limit at its beginning is refused for the cost of the beginning: three times the text costs no
// more.
func TestRefusalIsCheap(t *testing.T) {
	for name, c := range map[string]struct{ open, each, end string }{
		"block":           {"", "key%06d: 1\n", ""},
		"flow":            {"{", "key%06d: 1,", "}"},
		"quoted brackets": {"{", "\"k]%06d\": '}',", "}"},
	} {
		var allocs [2]float64
		for i, n := range []int{100_000, 300_000} {
			var b strings.Builder
			b.WriteString(c.open)
			for key := range n {
				fmt.Fprintf(&b, c.each, key)
			}
			b.WriteString(c.end)
			text := []byte(b.String())
			allocs[i] = testing.AllocsPerRun(1, func() {
				_, err := yamldoc.Parse(text, &yamldoc.Options{MaxBytes: 1 << 30, MaxNodes: 1 << 30})
				if got := faults(err); len(got) != 1 || !strings.HasSuffix(got[0], " too_many_keys") {
					t.Errorf("%s: %v", name, got)
				}
			})
		}
		if allocs[1] > 1.5*allocs[0] {
			t.Errorf("%s: %.0f allocations for a text, %.0f for three times the text", name, allocs[0], allocs[1])
		}
	}
}

func TestParseGivesTheTreeBesideBrokenRules(t *testing.T) {
	n, err := yamldoc.Parse([]byte("a: &x 1\nb: *x\n"), nil)
	if err == nil || n == nil {
		t.Fatalf("got tree %v, error %v; want both", n, err)
	}
	if got, want := flat(n), "{a: 1, b: *x}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLimits(t *testing.T) {
	keys := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	merges := "a: &a {x: 1}\n"
	for c := 'b'; c <= 'i'; c++ {
		p := string(c - 1)
		laughs += fmt.Sprintf("%c: &%c [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", c, c, p, p, p, p, p, p, p, p, p)
		merges += fmt.Sprintf("%c: &%c {<<: [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]}\n", c, c, p, p, p, p, p, p, p, p)
	}
	lenient := &yamldoc.Options{Lenient: true}
	tests := []struct {
		name, in string
		opts     *yamldoc.Options
		want     string
	}{
		{"size", strings.Repeat("#", 8<<20+1), nil, "1:1 too_large"},
		{"size option", "a: 1", &yamldoc.Options{MaxBytes: 3}, "1:1 too_large"},
		{"10,000 brackets", strings.Repeat("[", 10000), nil, "1:1 syntax"},
		{"9,000 closed brackets", strings.Repeat("[", 9000) + strings.Repeat("]", 9000), nil, "1:33 too_deep"},
		{"a million brackets", strings.Repeat("[", 1000001), nil, "1:1 too_many_nodes"},
		{"dashes", strings.Repeat("- ", 5000) + "a", nil, "1:65 too_deep"},
		{"50,000 keys", keys(50000, "key%d: 1\n"), nil, "4097:1 too_many_keys"},
		{"50,000 keys below a list", "a:\n- " + keys(50000, "key%d: 1\n  "), nil, "4098:3 too_many_keys"},
		{"50,000 flow keys", "{" + keys(50000, "k%05d: 1,") + "}", nil, "1:40962 too_many_keys"},
		{"dense text", "[" + strings.Repeat("a,", 1_000_001) + "]", nil, "1:1 too_many_nodes"},
		{"nodes", "[a, b, c, d]", &yamldoc.Options{MaxNodes: 4}, "1:11 too_many_nodes"},
		{"nodes on one line", "- a: {x}\n- b: y", &yamldoc.Options{MaxNodes: 4}, "1:7 too_many_nodes"},
		{"depth option", "a: [1]", &yamldoc.Options{MaxDepth: 1}, "1:4 too_deep"},
		{"nodes by aliases", "[&a [x], *a]", &yamldoc.Options{Lenient: true, MaxNodes: 4}, "1:10 too_many_nodes"},
		{"alias bomb", laughs, lenient, "7:11 too_many_nodes"},
		{"merge bomb", merges, lenient, "7:4 too_many_nodes"},
		{"alias of itself", "a: &a [*a]", lenient, "1:8 alias"},
		{"deep by aliases", "a: &a [x]\nb: [[*a]]", &yamldoc.Options{Lenient: true, MaxDepth: 3}, "1:4 too_deep"},
		{"keys by merging", "a: &a {x: 1, y: 1}\nb: {<<: *a, z: 1}", &yamldoc.Options{Lenient: true, MaxKeys: 2}, "2:4 too_many_keys"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := yamldoc.Parse([]byte(tt.in), tt.opts)
			t.Logf("%v", time.Since(start))
			if got := faults(err); len(got) != 1 || got[0] != tt.want {
				t.Errorf("got %v, want %s (%v)", got, tt.want, err)
			}
		})
	}
}

// The library's words for a character that begins nothing do not say what to do.
func TestBadStartSaysWhatToDo(t *testing.T) {
	for in, want := range map[string]string{
		"x:\n\ty: 1":   "line 2, column 1: a tab stands where YAML wants spaces; indent with spaces",
		"owner: @me":   "line 1, column 8: a plain value cannot start with '@'; put the value in quotes",
		"owner: `me`":  "line 1, column 8: a plain value cannot start with '`'; put the value in quotes",
		"a: 1\nb: %me": "line 2, column 4: a plain value cannot start with '%'; put the value in quotes",
	} {
		_, err := yamldoc.Parse([]byte(in), nil)
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %q", in, err, want)
		}
	}
}

// No fault that people make is told in the words of the library, which do not say what to do.
func TestAdvice(t *testing.T) {
	for in, want := range map[string]string{
		"a: b: c":             "put the value in quotes",
		"a: b\n  c: d":        "correct the indentation",
		"a: 1\nb\nc: d":       "a key without a colon",
		"a: 1\n- b":           "align keys",
		"- a\nb: c":           "start it with a hyphen",
		"a: - b":              "on a line of its own",
		"a: [1, 2":            "end it with ]",
		"a: {b: c":            "end it with }",
		"a: }":                "a value was expected",
		"a: \"x":              "end it with the quotation mark",
		"a: 'x":               "end it with the quotation mark",
		"a: \"x\n---\nb\"":    "before the line of hyphens",
		"a: \"C:\\Work\"":     "write it twice",
		"a: \"\\xgg\"":        "hexadecimal digits",
		"a: *":                "needs a name",
		"a: & b":              "needs a name",
		"a: !<x":              "put a text that starts with ! in quotes",
		"a: !b!c":             "put a text that starts with ! in quotes",
		"a: |x\n b":           "begin it there",
		"a: |0\n b":           "1 to 9",
		"a: !<tag:x,%zz> y":   "",
		"%YAML 9.9\n--- a: 1": "",
	} {
		_, err := yamldoc.Parse([]byte(in), nil)
		if err == nil {
			t.Errorf("%q is read without a fault", in)
			continue
		}
		if want != "" && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "found ") || strings.Contains(err.Error(), "expected ',")) {
			t.Errorf("%q: got %q, want %q in it", in, err, want)
		}
	}
}
