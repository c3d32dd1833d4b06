package splice_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry/internal/splice"
)

func TestSet(t *testing.T) {
	cases := []struct{ name, text, field, value, want string }{
		{"plain", "l:\n- a: x # why\n  b: y\n", "a", `"z"`, "l:\n- a: z # why\n  b: y\n"},
		{"quoted, after wide letters", "l:\n- {ключ: 'ü', a: \"x\"} # ж\n", "a", `"é"`, "l:\n- {ключ: 'ü', a: \"é\"} # ж\n"},
		{"a text that looks like another type", "l:\n- a: x\n", "a", `"true"`, "l:\n- a: \"true\"\n"},
		{"boolean", "l:\n- a: false # no\n", "a", `true`, "l:\n- a: true # no\n"},
		{"same", "l:\n- a: 'x'\n", "a", `"x"`, "l:\n- a: 'x'\n"},
		{"new", "l:\n  - b: x\n\n  # next\n", "a", `{"k":["v"]}`, "l:\n  - b: x\n    a:\n      k:\n        - v\n\n  # next\n"},
		{"block text", "l:\n- a: |\n    x\n    y\n  b: 1\n", "a", `"z"`, "l:\n- a: z\n  b: 1\n"},
		{"empty", "l:\n- a:\n  b: 1\n", "a", `"z"`, "l:\n- a: z\n  b: 1\n"},
		{"another kind", "l:\n- b: 1\n  a: x # why\n", "a", `["y"]`, "l:\n- b: 1\n  a:\n    - y\n  # why\n"},
		{"last without line break", "l:\n- b: 1\n  a: x", "a", `["y"]`, "l:\n- b: 1\n  a:\n    - y"},
		{"gone", "l:\n- b: 1\n  a: # one\n    - x # '#' two\n    # three\n    - \"y # no\"\n  c: 2\n", "a", "", "l:\n- b: 1\n  # one\n  # '#' two\n  # three\n  c: 2\n"},
		{"gone behind the dash", "l:\n- a: x # why\n  b: 1\n", "a", "", "l:\n-\n  # why\n  b: 1\n"},
		{"gone, was not there", "l:\n- b: 1\n", "a", "", "l:\n- b: 1\n"},
		{"list item gone", "l:\n- a:\n  - x # 1\n  - y # 2\n  - z\n", "a", `["x","z"]`, "l:\n- a:\n  - x # 1\n  # 2\n  - z\n"},
		{"list items new", "l:\n- a:\n  # top\n  - y\n", "a", `["x","y","z"]`, "l:\n- a:\n  # top\n  - x\n  - y\n  - z\n"},
		{"mapping", "l:\n- a:\n    k: 1 # k\n    m: 2\n  b: 1\n", "a", `{"k":"3","n":"4"}`, "l:\n- a:\n    k: \"3\" # k\n    n: \"4\"\n  b: 1\n"},
		{"list of mappings", "l:\n- a:\n  - k: 1\n", "a", `[{"k":"2"}]`, "l:\n- a:\n    - k: \"2\"\n"},
		{"in brackets", "l:\n- a: [x, y] # why\n", "a", `["z"]`, "l:\n- a: [\"z\"] # why\n"},
		{"dash on a line of its own", "l:\n  -\n    # c\n    a: x\n  - a: y\n", "a", `"z"`, "l:\n  -\n    # c\n    a: z\n  - a: y\n"},
		{"end of document", "l:\n- a: x\n...\n", "b", `"z"`, "l:\n- a: x\n  b: z\n...\n"},
		{"JSON", "{\"l\": [\n {\"a\":\"x\",\"b\":\"\\u00e9\"}]}", "a", `"z"`, "{\"l\": [\n {\"a\":\"z\",\"b\":\"\\u00e9\"}]}"},
		{"JSON new", "{\"l\": [{\"b\":1}]}", "a", `{"k":["v"]}`, "{\"l\": [{\"b\":1,\"a\":{\"k\":[\"v\"]}}]}"},
		{"JSON gone", "{\"l\": [{ \"a\": 1, \"b\": 2 }]}", "a", "", "{\"l\": [{ \"b\": 2 }]}"},
		{"JSON of many lines", "{\"l\": [{\n  \"b\": 1,\n  \"c\": {\n    \"k\": 1\n  }\n}]}", "a", `"x"`, "{\"l\": [{\n  \"b\": 1,\n  \"c\": {\n    \"k\": 1\n  },\n  \"a\": \"x\"\n}]}"},
		{"JSON nested", "{\"l\": [{\"a\": {\"k\": \"1\", \"m\": \"2\"}}]}", "a", `{"m":"3"}`, "{\"l\": [{\"a\": {\"m\": \"3\"}}]}"},
		{"refused: a comment between brackets", "l:\n- a: [x, # why\n   y]\n", "a", `["z"]`, "error"},
		{"refused: a comment before a member", "l:\n- {b: 1,\n   # why\n   a: 1}\n", "a", "", "error"},
		{"refused: unusual line breaks", "l:\n- a: x\u2028\n", "a", `"z"`, "error"},
		{"refused: no list", "m:\n- a: x\n", "a", `"z"`, "error"},
		{"refused: no mapping", "l:\n- x\n", "a", `"z"`, "error"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.text
			doc, err := splice.Open([]byte(tc.text), "l", strings.HasPrefix(tc.text, "{\"l"))
			if err == nil {
				m := splice.Member{Name: tc.field}
				if tc.value != "" {
					m.Value = []byte(tc.value)
				}
				err = doc.Set(0, m)
				got = string(doc.Bytes())
			}
			if err != nil {
				got = "error"
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestInsert(t *testing.T) {
	cases := []struct {
		name, text string
		after      int
		want       string
	}{
		{"behind", "l:\n  - a: 1 # x\n  # y\n  - a: 2\n", 0, "l:\n  - a: 1 # x\n  - b: c\n  # y\n  - a: 2\n"},
		{"first", "l: # x\n# y\n- a: 1\n", -1, "l: # x\n# y\n- b: c\n- a: 1\n"},
		{"empty", "l: [] # x\nm: 1\n", -1, "l: # x\n  - b: c\nm: 1\n"},
		{"brackets", "l: [{a: 1}, {a: 2}]\n", 0, "l: [{a: 1},{\"b\":\"c\"}, {a: 2}]\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			doc, err := splice.Open([]byte(tc.text), "l", false)
			if err != nil {
				t.Fatal(err)
			}
			if err := doc.Insert(tc.after, []byte(`{"b":"c"}`)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(doc.Bytes())); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}
