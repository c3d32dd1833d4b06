package syntax_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

func TestTOML(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "# only this\n", `{}`},
		{"pairs", "a = 1\nb.c = 'x' # y\n\"d e\" = \"z\\n\\u00e9\"\n", `{"a":1,"b":{"c":"x"},"d e":"z\né"}`},
		{"numbers keep their text", "a = 1.50\nb = 1e3\nc = -7\n", `{"a":1.50,"b":1e3,"c":-7}`},
		{"number forms become decimal", "a = +1\nb = 0x10\nc = 1_000\nd = 0b11\ne = inf\nf = -nan\n", `{"a":1,"b":16,"c":1000,"d":3,"e":"inf","f":"-nan"}`},
		{"dates stay text", "a = 2026-01-02T03:04:05Z\nb = 07:30:00\nc = 2026-01-02 03:04:05\n", `{"a":"2026-01-02T03:04:05Z","b":"07:30:00","c":"2026-01-02 03:04:05"}`},
		{"tables", "[a.b]\nx = true\n[a]\ny = false\n[a.'c d']\n", `{"a":{"b":{"x":true},"y":false,"c d":{}}}`},
		{"arrays of tables", "[[a]]\nx = 1\n[[a]]\n[a.b]\ny = 2\n", `{"a":[{"x":1},{"b":{"y":2}}]}`},
		{"lists over lines", "a = [\n 1, # x\n 'y',\n]\n", `{"a":[1,"y"]}`},
		{"inline tables", "a = { b = 1, 'c' = { d.e = [] } }\n", `{"a":{"b":1,"c":{"d":{"e":[]}}}}`},
		{"inline tables over lines", "a = {\n b = 1,\n}\n", `{"a":{"b":1}}`},
		{"strings of several lines", "a = \"\"\"\nx \\\n   y\\tz\"\"\"\"\nb = '''\r\nq\\n'''\nc = \"\"\"\\U0001F600\"\"\"\n", `{"a":"x y\tz\"","b":"q\\n","c":"😀"}`},
		{"a table twice", "[a]\nx = 1\n[a]\nx = 2\n", `{"a":{"x":2}}`},
		{"a path without doubled backslashes", "a = \"C:\\Users\\x\"\n", `{"a":"C:\\Users\\x"}`},
		{"a key twice", "a = 1\na = 2\n", `{"a":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, fixed, err := syntax.TOML(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if fixed&^syntax.Backslashes != 0 {
				t.Errorf("repairs %b", fixed)
			}
			if got := string(n.AppendJSON(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTOMLFaults(t *testing.T) {
	tests := []struct {
		name, in string
		offset   int
		msg      string
	}{
		{"no equals sign", "a 1\n", 2, `equals sign is missing after a key`},
		{"no key", "= 1\n", 0, "a key should stand here"},
		{"no value", "a =\n", 3, "is not quoted"},
		{"an open table", "[a\n", 2, "name is not closed"},
		{"an open array of tables", "[[a]\n", 4, "end it with ]]"},
		{"an open list", "a = [1\nb = 2\n", 7, "comma or ]"},
		{"an open inline table", "a = { b = 1\nc", 12, "comma or }"},
		{"an open string", "a = \"x\n", 4, "not closed"},
		{"an open literal", "a = 'x\nb = 'y'\n", 4, "not closed"},
		{"an open string of lines", "a = \"\"\"x", 4, "several lines"},
		{"a short escape of lines", "a = \"\"\"\\u12\"\"\"", 7, "hexadecimal"},
		{"words", "a = some words\n", 4, `a value is not quoted`},
		{"two pairs on a line", "a = 1 b = 2\n", 4, "not quoted"},
		{"text after a string", "a = 'x' y\n", 8, "text after the value"},
		{"too deep", "a = " + strings.Repeat("[", 99), 4 + 64, "nested too deep"},
		{"a long key", strings.Repeat("a.", 99) + "b = 1", 126, "too many parts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := syntax.TOML(tt.in)
			var e *syntax.Error
			if !errors.As(err, &e) || e.Offset != tt.offset || !strings.Contains(e.Error(), tt.msg) {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// FuzzTOML compares with a second reader: what that one accepts is read here
// too and has the same value. Number text is compared as a number.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{
		"a = 1\n[b.c]\nd = \"x\\t\"\n", "[[a]]\nx = 0x1F\n[[a]]\n", "a = { b = [1, 2.5, true], 'c' = '''x''' }\n",
		"a = \"\"\"\n\\\n  x\"\"\"\n", "d = 2026-01-02T03:04:05Z\n", "a.b.c = inf\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, _, err := syntax.TOML(s)
		var want map[string]any
		if _, oracle := toml.Decode(s, &want); oracle != nil || strings.Contains(s, "\ufffd") {
			return
		}
		var e *syntax.Error
		if errors.As(err, &e) && e.Limit {
			return
		}
		if err != nil {
			t.Fatalf("%q is TOML: %v", s, err)
		}
		var got any
		if err := json.Unmarshal(n.AppendJSON(nil), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(leveled(want), leveled(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	})
}

// leveled turns values of both readers into one form. Dates and what has no
// JSON number are left out: the one reader gives times, the other text.
func leveled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = leveled(x)
		}
		return out
	case []map[string]any:
		out := []any{}
		for _, x := range v {
			out = append(out, leveled(x))
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, leveled(x))
		}
		return out
	case int64:
		return fmt.Sprintf("%.9e", float64(v))
	case float64:
		if s := fmt.Sprint(v); strings.ContainsAny(s, "IN") {
			return "text"
		}
		return fmt.Sprintf("%.9e", v+0) // no negative zero
	case time.Time:
		return "text"
	case string:
		if s := strings.TrimLeft(v, "+-"); s == "inf" || s == "nan" || isDate(v) {
			return "text"
		}
	}
	return v
}

func isDate(s string) bool {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly, time.TimeOnly, "15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		for _, text := range []string{s, strings.ToUpper(s), strings.Replace(strings.ToUpper(s), " ", "T", 1)} {
			if _, err := time.Parse(layout, text); err == nil {
				return true
			}
		}
	}
	return false
}
