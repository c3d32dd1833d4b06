package tree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// flat writes a node as text: key@line:column=value.
func flat(loc *tree.Locator, n *tree.Node) string {
	var b strings.Builder
	if n.Key != "" {
		line, column := loc.Position(n.KeyMark)
		fmt.Fprintf(&b, "%s@%d:%d=", n.Key, line, column)
	}
	line, column := loc.Position(n.Mark)
	switch n.Kind {
	case tree.Map, tree.List:
		parts := make([]string, len(n.Items))
		for i := range n.Items {
			parts[i] = flat(loc, &n.Items[i])
		}
		open, end := "{", "}"
		if n.Kind == tree.List {
			open, end = "[", "]"
		}
		fmt.Fprintf(&b, "%s%s%s", open, strings.Join(parts, " "), end)
	case tree.String:
		fmt.Fprintf(&b, "%q", n.Text)
	default:
		b.WriteString(n.Text)
	}
	fmt.Fprintf(&b, "@%d:%d", line, column)
	return b.String()
}

// event is a copy of what a handler was given.
type event struct {
	item int // -1 for a member
	node tree.Node
}

func clone(n tree.Node) tree.Node {
	items := make([]tree.Node, len(n.Items))
	for i := range n.Items {
		items[i] = clone(n.Items[i])
	}
	n.Items = items
	return n
}

// read reads a text and gives what was handed out, the faults, and whether the end was reached.
func read(text string, format tree.Format, stream string) (events []event, faults []string, loc *tree.Locator, complete bool) {
	var found []tree.Fault
	loc, complete = tree.Read([]byte(text), format, tree.Handler{
		Stream: stream,
		Member: func(n *tree.Node) bool { events = append(events, event{-1, clone(*n)}); return true },
		Item:   func(i int, n *tree.Node) bool { events = append(events, event{i, clone(*n)}); return true },
		Fault:  func(f tree.Fault) { found = append(found, f) },
	})
	for _, f := range found {
		line, column := loc.Position(f.Mark)
		faults = append(faults, fmt.Sprintf("%d:%d %s %s %d", line, column, f.Code, f.Field, f.Item))
	}
	return events, faults, loc, complete
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, text string
		format     tree.Format
		want       []string
	}{
		{"YAML", "a: 1\nlist:\n- {x: yes, y: ~}\n- [é, 2020-01-02]\n文: {k: \"v\"}\n", tree.YAML, []string{
			"-1 a@1:1=1@1:4",
			"-1 list@2:1=[]@3:1",
			`0 {x@3:4="yes"@3:7 y@3:12=~@3:15}@3:3`,
			`1 ["é"@4:4 2020-01-02@4:7]@4:3`,
			`-1 文@5:1={k@5:5="v"@5:8}@5:4`,
		}},
		{"JSON", "{\"a\": 1.50e3,\n \"list\": [{\"x\": true, \"y\": null},\n  [\"é\", false]], \"文\": {\"k\": \"v\\n\"}}", tree.JSON, []string{
			"-1 a@1:2=1.50e3@1:7",
			"-1 list@2:2=[]@2:10",
			"0 {x@2:12=true@2:17 y@2:23=null@2:28}@2:11",
			`1 ["é"@3:4 false@3:9]@3:3`,
			`-1 文@3:18={k@3:24="v\n"@3:29}@3:23`,
		}},
		{"TOML", "a = 0x10\n[[list]]\nx = true # c\ny = 1979-05-27\n[[list]]\nz.z = [\"é\", 'b',\n 2]\n[\"文\"]\nk = \"v\"\n", tree.TOML, []string{
			"-1 a@1:1=0x10@1:5",
			"-1 list@2:3=[]@2:1",
			"0 {x@3:1=true@3:5 y@4:1=1979-05-27@4:5}@2:1",
			`1 {z@6:1={z@6:3=["é"@6:8 "b"@6:13 2@7:2]@6:7}@6:1}@5:1`,
			`-1 文@8:2={k@9:1="v"@9:5}@8:2`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, faults, loc, complete := read(tt.text, tt.format, "list")
			if !complete || len(faults) > 0 {
				t.Fatalf("complete %v, faults %v", complete, faults)
			}
			var got []string
			for _, e := range events {
				got = append(got, fmt.Sprintf("%d %s", e.item, flat(loc, &e.node)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestReadStops checks that a handler can end reading at a member or an item.
func TestReadStops(t *testing.T) {
	for format, text := range map[tree.Format]string{
		tree.YAML: "a: 1\nlist: [1, 2, 3]\nb: 2\n",
		tree.JSON: `{"a": 1, "list": [1, 2, 3], "b": 2}`,
		tree.TOML: "a = 1\nlist = [1, 2, 3]\nb = 2\n",
	} {
		for _, stop := range []string{"a", "list", "item"} {
			var seen []string
			_, complete := tree.Read([]byte(text), format, tree.Handler{
				Stream: "list",
				Member: func(n *tree.Node) bool { seen = append(seen, n.Key); return n.Key != stop },
				Item:   func(i int, n *tree.Node) bool { seen = append(seen, n.Text); return stop != "item" || i < 1 },
				Fault:  func(f tree.Fault) { t.Errorf("%s: %v", format, f) },
			})
			want := map[string]string{"a": "a", "list": "a list", "item": "a list 1 2"}[stop]
			if got := strings.Join(seen, " "); got != want || complete {
				t.Errorf("%s, stop at %s: got %q, complete %v, want %q", format, stop, got, complete, want)
			}
		}
	}
}

func TestReadWithoutStream(t *testing.T) {
	events, faults, _, complete := read(`{"": [1]}`, tree.JSON, "")
	if !complete || len(faults) > 0 || len(events) != 1 || len(events[0].node.Items) != 1 {
		t.Errorf("got %v, %v, %v", events, faults, complete)
	}
}

// TestFaults checks the place, the field and the item of faults.
func TestFaults(t *testing.T) {
	long := strings.Repeat("x", tree.MaxText+1)
	tests := []struct {
		name, text string
		format     tree.Format
		want       []string
		complete   bool
	}{
		{"YAML repeated", "a: 1\nlist:\n- {x: {y: 1, y: 2}}\na: 2\n", tree.YAML, []string{"3:14 duplicate_key list[0].x.y 0", "4:1 duplicate_key a -1"}, true},
		{"YAML key that is no word", "? [a]\n: 1\n[b]: 2\n", tree.YAML, []string{"1:3 key_not_scalar  -1", "3:1 key_not_scalar  -1"}, true},
		{"YAML many repeated", "a: {" + strings.Repeat("k: 1, ", 60) + "}", tree.YAML, nil, true},
		{"YAML long text", "a: [" + long + "]", tree.YAML, []string{"1:5 text_too_long a[0] -1"}, false},
		{"YAML root", "[a]", tree.YAML, []string{"1:1 wrong_type  -1"}, false},
		{"JSON repeated", `{"list": [{"x": {"y": 1, "y": 2}}], "list": 1}`, tree.JSON, []string{"1:26 duplicate_key list[0].x.y 0", "1:37 duplicate_key list -1"}, true},
		{"JSON long text", `{"a": ["` + long + `"]}`, tree.JSON, []string{"1:8 text_too_long a[0] -1"}, false},
		{"JSON long number", `{"a": ` + strings.Repeat("1", tree.MaxText+2) + `}`, tree.JSON, []string{"1:7 text_too_long a -1"}, false},
		{"JSON long key", `{"` + long + `": 1}`, tree.JSON, []string{"1:2 text_too_long  -1"}, false},
		{"JSON ends in a string", `{"a": "x`, tree.JSON, []string{"1:7 syntax a -1"}, false},
		{"JSON ends after a key", `{"a"`, tree.JSON, []string{"1:5 syntax  -1"}, false},
		{"JSON ends after a colon", `{"a": `, tree.JSON, []string{"1:7 syntax  -1"}, false},
		{"JSON ends in a list", `{"a": [1`, tree.JSON, []string{"1:7 syntax a -1"}, false},
		{"JSON ends after a comma", `{"a": [1,`, tree.JSON, []string{"1:7 syntax a -1"}, false},
		{"JSON without a comma", `{"a": [1 2]}`, tree.JSON, []string{"1:10 syntax a -1"}, false},
		{"JSON two commas", `{"a": [1,,2]}`, tree.JSON, []string{"1:10 syntax a -1"}, false},
		{"TOML repeated", "[[list]]\nx = {y = 1, y = 2}\n[t]\n[t]\n[t.u]\n", tree.TOML, []string{"2:13 duplicate_key list[0].x.y 0", "4:2 duplicate_key t -1"}, false},
		{"TOML long text", "a = [\"" + long + "\"]", tree.TOML, []string{"1:6 text_too_long a[0] -1"}, false},
		{"TOML long key", "'" + long + "' = 1", tree.TOML, []string{"1:1 text_too_long \"\" -1"}, false},
		{"TOML value and table", "a = 1\n[a.b]\n", tree.TOML, []string{"2:2 syntax  -1"}, false},
		{"TOML value and list", "a = 1\n[[a]]\n", tree.TOML, []string{"2:3 syntax  -1"}, false},
		{"TOML plain list and headers", "a = [{}]\n[[a]]\n", tree.TOML, []string{"2:3 syntax  -1"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, _, complete := read(tt.text, tt.format, "list")
			if tt.want == nil {
				if len(got) != 59 {
					t.Errorf("got %d faults, want 59", len(got))
				}
			} else if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if complete != tt.complete {
				t.Errorf("complete: got %v", complete)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ in, want string }{
		{"docs", "docs"},
		{"start-here", "start-here"},
		{"docs/a.md", "docs/a.md"},
		{"", `""`},
		{"a b", `"a b"`},
		{".x", `".x"`},
		{"é", `"é"`},
		{strings.Repeat("é", 40), `"` + strings.Repeat("é", 30) + `..."`},
	}
	for _, tt := range tests {
		if got := tree.Quote(tt.in); got != tt.want {
			t.Errorf("Quote(%q): got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestLocatorGoesBack(t *testing.T) {
	events, _, loc, _ := read("{\"a\": 1,\n\"é\": 2, \"b\": 3}", tree.JSON, "")
	for _, i := range []int{2, 0, 1, 2, 1} {
		line, column := loc.Position(events[i].node.Mark)
		want := [][2]int{{1, 7}, {2, 6}, {2, 14}}[i]
		if got := [2]int{line, column}; got != want {
			t.Errorf("value %d: got %v, want %v", i, got, want)
		}
	}
}
