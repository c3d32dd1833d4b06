package tree_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// value gives a node as encoding/json would decode it with UseNumber; other scalars give their text.
func value(n *tree.Node) any {
	switch n.Kind {
	case tree.Map:
		m := make(map[string]any, len(n.Items))
		for i := range n.Items {
			m[n.Items[i].Key] = value(&n.Items[i])
		}
		return m
	case tree.List:
		l := make([]any, len(n.Items))
		for i := range n.Items {
			l[i] = value(&n.Items[i])
		}
		return l
	case tree.Null:
		return nil
	case tree.Bool:
		return n.Text == "true"
	case tree.Number:
		return json.Number(n.Text)
	}
	return n.Text
}

// whole puts together what was handed out.
func whole(events []event, stream string) map[string]any {
	out := make(map[string]any)
	for _, e := range events {
		if e.item < 0 {
			out[e.node.Key] = value(&e.node)
			continue
		}
		list, _ := out[stream].([]any)
		out[stream] = append(list, value(&e.node))
	}
	return out
}

// FuzzJSON checks that a text that is read without a fault has the values that encoding/json gives, and that
// nothing is refused for its syntax that encoding/json takes.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"list": [{"a": 1.5e-3}, "x", null, true], "b": {"c": []}}`, `{"a":"\u00e9\ud83d\ude00\n"}`, "{\"a\":\t-0 }\n", `{"a": 01}`,
		`{"a": "\ud800"}`, `{"a": 1, "a": 2}`, `{"list": [], "list": [1]}`, `{"a": [1,]}`, `{} {}`, `{"a"}`, `[1]`, `{"a": nul}`, "{\"a\": \"\x01\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		events, faults, _, complete := read(text, tree.JSON, "list")
		if len(faults) > 0 {
			if json.Valid([]byte(text)) && strings.Contains(faults[0], " syntax ") && !strings.Contains(strings.ToLower(text), `\ud`) {
				t.Fatalf("valid text refused: %v", faults)
			}
			return
		}
		if !complete {
			t.Fatal("incomplete without a fault")
		}
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber()
		want := make(map[string]any)
		if err := dec.Decode(&want); err != nil || !json.Valid([]byte(text)) {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if diff := cmp.Diff(any(want), any(whole(events, "list"))); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// plain gives what the TOML library decodes in the form of value. Numbers are compared by kind only, as the
// tree keeps their source.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = plain(e)
		}
		return m
	case []map[string]any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plain(e)
		}
		return l
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plain(e)
		}
		return l
	case int64, float64:
		return "number"
	case time.Time:
		return "time"
	}
	return v
}

// kinds replaces numbers and times by the names that plain gives them.
func kinds(n *tree.Node) any {
	switch n.Kind {
	case tree.Map:
		m := make(map[string]any, len(n.Items))
		for i := range n.Items {
			m[n.Items[i].Key] = kinds(&n.Items[i])
		}
		return m
	case tree.List:
		l := make([]any, len(n.Items))
		for i := range n.Items {
			l[i] = kinds(&n.Items[i])
		}
		return l
	case tree.Number:
		return "number"
	case tree.Time:
		return "time"
	case tree.Bool:
		return n.Text == "true"
	}
	return n.Text
}

// FuzzTOML checks that scanner and library always agree: a text is refused if and only if the library refuses
// it or a limit is passed, its values are those of the library, and each scalar is found where it stands.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{
		"a = 1\n[b]\nc = \"x\"\n[[list]]\nd.e = 'y'\n[[list]]\n", "a = [1, # c\n 2,\n]\n", "a = \"\"\"x\\\n  y\"\"\"\"\n", "a = '''x'''''\n",
		"\"a\\u0062\" = {b = 1, c = [{d = 2}]}\n", "a.b = 1\na.c = 2\n[a.d]\n", "[a]\n[a.b]\n[a]\n", "a = 1\na = 2\n", "[[a]]\n[[a.b]]\n[a.b.c]\nx = 1\n",
		"a = 2020-01-02T03:04:05Z # t\n", "a = inf\nb = -0x1\n", "a = {\n}\n", "[a]\r\nb = true\r\n", " \t[ a . \"b\" ]\nc=1", "a = \"#\"\nb = [\"]\", '}']\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		events, faults, loc, complete := read(text, tree.TOML, "")
		var want map[string]any
		_, err := toml.Decode(text, &want)
		if !complete {
			// The library takes "a.b = 1" followed by "a = 2", which has a twice.
			overlooked := strings.Contains(faults[0], " duplicate_key ") && strings.Contains(text, ".")
			if err == nil && !overlooked && (strings.Contains(faults[0], " syntax ") || strings.Contains(faults[0], " duplicate_key ")) {
				t.Fatalf("valid text refused: %v", faults)
			}
			return
		}
		if err != nil || len(faults) > 0 {
			t.Fatalf("complete in spite of %v, %v", err, faults)
		}
		got := make(map[string]any)
		for _, e := range events {
			got[e.node.Key] = kinds(&e.node)
			checkPlaces(t, loc, strings.Split(text, "\n"), &e.node)
		}
		if diff := cmp.Diff(plain(want), any(got)); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// checkPlaces checks that the text of each scalar that is kept as it stands, stands at its place.
func checkPlaces(t *testing.T, loc *tree.Locator, lines []string, n *tree.Node) {
	t.Helper()
	for i := range n.Items {
		checkPlaces(t, loc, lines, &n.Items[i])
	}
	if n.Kind != tree.Number && n.Kind != tree.Bool && n.Kind != tree.Time {
		return
	}
	line, column := loc.Position(n.Mark)
	if at := string([]rune(lines[line-1])[column-1:]); !strings.HasPrefix(at, n.Text) {
		t.Fatalf("%q is said to be at %d:%d, where %q is", n.Text, line, column, at)
	}
}

// FuzzYAML checks that every text gives either all its values or a fault with a place.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: 1\nlist:\n- x\n- {y: [z]}\n", "a: &x 1\nb: *x\n", "<<: {[a]: b}\n", "? a\n: b\n", "a: 1\na: 2\n", "a: {b: 1, b: 2}\n--- c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		events, faults, loc, complete := read(text, tree.YAML, "list")
		if !complete && len(faults) == 0 {
			t.Fatal("incomplete without a fault")
		}
		for _, fault := range faults {
			if strings.HasPrefix(fault, "0:") || strings.Contains(fault, ":0 ") {
				t.Fatalf("no place: %s", fault)
			}
		}
		last := 0
		for _, e := range events {
			line, _ := loc.Position(e.node.Mark)
			if line < last {
				t.Fatalf("line %d after line %d", line, last)
			}
			last = line
		}
	})
}
