package yamldoc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

func TestLenient(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		faults   []string
	}{
		{"no document", "", nil, nil},
		{"byte order mark", "\xef\xbb\xbfa: 1", []string{"{a: 1}"}, nil},
		{"documents", "a: 1\n---\n[b]\n--- c\n", []string{"{a: 1}", "[b]", "c"}, nil},
		{"repeated keys stay in order", "a: 1\nb: 2\na: 3\n", []string{"{a: 1, b: 2, a: 3}"}, nil},
		{"alias", "a: &x [1, {b: 2}]\nc: *x\n", []string{"{a: [1, {b: 2}], c: [1, {b: 2}]}"}, nil},
		{"alias as key", "a: &x k\n*x : 1\n", []string{"{a: k, k: 1}"}, nil},
		{"stated key wins over merged", "m: &m {x: 1, y: 2}\nn: {x: 3, <<: *m}\n", []string{"{m: {x: 1, y: 2}, n: {x: 3, y: 2}}"}, nil},
		{"stated key wins when it comes later", "m: &m {x: 1, y: 2}\nn: {<<: *m, x: 3}\n", []string{"{m: {x: 1, y: 2}, n: {y: 2, x: 3}}"}, nil},
		{"earlier merge wins", "p: &p {x: 1}\nq: &q {x: 2, y: 2}\nn: {<<: [*p, *q]}\n", []string{"{p: {x: 1}, q: {x: 2, y: 2}, n: {x: 1, y: 2}}"}, nil},
		{"merge of a merge", "p: &p {x: 1}\nq: &q {<<: *p, y: 2}\nn: {<<: *q}\n", []string{"{p: {x: 1}, q: {x: 1, y: 2}, n: {x: 1, y: 2}}"}, nil},
		{"a list as a key hides no merged key", "m: &m {\"\": 1}\nn: {[a]: 2, <<: *m}\n", []string{"{m: {: 1}, n: {[a]: 2, : 1}}"}, nil},
		{"inline merge", "n: {<<: {x: 1}, y: 2}\n", []string{"{n: {x: 1, y: 2}}"}, nil},
		{"unknown tag", "a: !env HOME\n", []string{"{a: HOME}"}, nil},
		{"merge without a mapping", "n: {<<: 1}\n", nil, []string{"1:5 merge"}},
		{"merge of a list without mappings", "n: {<<: [1]}\n", nil, []string{"1:5 merge"}},
		{"alias of itself below a merge", "n: &n {<<: *n}\n", nil, []string{"1:12 alias"}},
		{"documents before a fault", "a: 1\n---\nb: c: d\n", []string{"{a: 1}"}, []string{"3:5 syntax"}},
		{"documents before a bad alias", "a: 1\n---\nb: &b [*b]\n", []string{"{a: 1}"}, []string{"3:8 alias"}},
		{"NUL", "a: \x00", nil, []string{"1:4 control_character"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, err := yamldoc.ParseAll([]byte(tt.in), nil)
			var got []string
			for _, d := range docs {
				got = append(got, flat(d))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.faults, faults(err)); diff != "" {
				t.Errorf("faults (-want +got)\n%s", diff)
			}
		})
	}
}

func TestLenientParseTakesOneDocument(t *testing.T) {
	_, err := yamldoc.Parse([]byte("a: 1\n---\nb: 2\n"), &yamldoc.Options{Lenient: true})
	if diff := cmp.Diff([]string{"3:1 second_document"}, faults(err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseAllLimitsTheWholeStream(t *testing.T) {
	for in, want := range map[string][]string{
		"[a]\n--- [b]\n--- [c]":  {"3:6 too_many_nodes"},
		"[a]\n--- [b]\n--- c":    nil,
		"[a, b]\n--- [c]\n--- d": {"3:5 too_many_nodes"},
		"c\n--- [&a [x], *a]":    {"2:14 too_many_nodes"},
	} {
		_, err := yamldoc.ParseAll([]byte(in), &yamldoc.Options{MaxNodes: 5})
		if diff := cmp.Diff(want, faults(err)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", in, diff)
		}
		for _, f := range yamldoc.Faults(err) {
			if f.Code == yamldoc.TooManyNodes && !strings.HasPrefix(f.Msg, "more than 5 values") {
				t.Errorf("%q: message %q does not name the limit", in, f.Msg)
			}
		}
	}
}

func TestCopiesAreIndependent(t *testing.T) {
	docs, err := yamldoc.ParseAll([]byte("a: &x {b: 1}\nc: *x\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	docs[0].Content[3].Content[1].Value = "changed"
	if got, want := flat(docs[0]), "{a: {b: 1}, c: {b: changed}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFaults(t *testing.T) {
	one := &yamldoc.Error{Line: 1, Column: 2, Code: yamldoc.Syntax, Msg: "bad"}
	two := &yamldoc.Error{Line: 3, Column: 4, Code: yamldoc.Alias, Msg: "worse"}
	err := fmt.Errorf("read: %w", errors.Join(one))
	if got := yamldoc.Faults(err); len(got) != 1 || got[0] != one {
		t.Errorf("wrapped: got %v", got)
	}
	if got := yamldoc.Faults(errors.Join(one, errors.Join(two))); len(got) != 2 || got[1] != two {
		t.Errorf("nested: got %v", got)
	}
	if got := yamldoc.Faults(errors.New("foreign")); got != nil {
		t.Errorf("foreign: got %v", got)
	}
	if got, want := two.Error(), "line 3, column 4: worse"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := two.ErrorCode(); got != "alias" {
		t.Errorf("code: got %q", got)
	}
}

func TestMarshal(t *testing.T) {
	type item struct {
		Name string   `yaml:"name"`
		Tags []string `yaml:"tags,omitempty"`
	}
	got, err := yamldoc.Marshal([]item{{"no", []string{"x"}}, {Name: "1.0"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "- name: \"no\"\n  tags:\n    - x\n- name: \"1.0\"\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

type refusing struct{}

func (refusing) MarshalYAML() (any, error) { return nil, errors.New("refused") }

func TestMarshalGivesTheCause(t *testing.T) {
	if _, err := yamldoc.Marshal(refusing{}); err == nil || err.Error() != "yamldoc: encode: refused" {
		t.Errorf("got %v", err)
	}
}

func ExampleParse() {
	root, err := yamldoc.Parse([]byte("name: svc\npaths:\n  - docs\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; i < len(root.Content); i += 2 {
		fmt.Println(root.Content[i].Line, root.Content[i].Value)
	}
	// Output:
	// 1 name
	// 2 paths
}

func ExampleFaults() {
	_, err := yamldoc.Parse([]byte("a: &x 1\nb: *x\nb: 2\n"), nil)
	for _, f := range yamldoc.Faults(err) {
		fmt.Println(f.Line, f.Column, f.Code)
	}
	// Output:
	// 1 4 alias
	// 2 4 alias
	// 3 1 duplicate_key
}

func ExampleParseAll() {
	docs, err := yamldoc.ParseAll([]byte("base: &b {port: 1}\nsvc: {<<: *b, name: x}\n---\nsecond\n"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	svc := docs[0].Content[3]
	fmt.Println(len(docs), svc.Content[0].Value, svc.Content[2].Value)
	// Output: 2 port name
}

func ExampleMarshal() {
	out, err := yamldoc.Marshal(struct {
		Repos []string `yaml:"repos"`
	}{[]string{"svc"}})
	fmt.Print(string(out), err, "\n")
	// Output:
	// repos:
	//   - svc
	// <nil>
}
