package syntax_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

func TestJSON(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		want  string
		fixed syntax.Repairs
	}{
		{"strict", `{"a":[1,-2.50,1e3,true,false,null,"x"],"b":{}}`, `{"a":[1,-2.50,1e3,true,false,null,"x"],"b":{}}`, 0},
		{"escapes", `["\"\\\/\b\f\n\r\té😀"]`, `["\"\\/\u0008\u000c\n\r\té😀"]`, 0},
		{"a lone surrogate", `["\ud83dx"]`, "[\"\ufffdx\"]", 0},
		{"the last of two keys", `{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`, 0},
		{"comments", "// x\n{ /* y */ \"a\": 1 # z\n}", `{"a":1}`, syntax.Comments},
		{"slashes in a string", `{"a":"http://x//y"}`, `{"a":"http://x//y"}`, 0},
		{"trailing commas", `{"a":[1,2,],}`, `{"a":[1,2]}`, syntax.TrailingCommas},
		{"doubled commas", `[1,,2]`, `[1,2]`, syntax.TrailingCommas},
		{"missing commas", "{\"a\": 1\n \"b\": [\"x\" \"y\"]}", `{"a":1,"b":["x","y"]}`, syntax.MissingCommas},
		{"single quotes", `{'a': 'it\'s', "b": "don't"}`, `{"a":"it's","b":"don't"}`, syntax.JSON5},
		{"backticks over lines", "{a: `x\ny`}", `{"a":"x\ny"}`, syntax.JSON5},
		{"bare names", `{a: 1, $b-c: 2, 3: 4, @x/y.z: 5}`, `{"a":1,"$b-c":2,"3":4,"@x/y.z":5}`, syntax.JSON5},
		{"numbers of JSON5", `[+1, 0x10, .5, 5., 0o17, 0b11, 1_000]`, `[1,16,0.5,5,15,3,1000]`, syntax.JSON5},
		{"numbers without JSON", `[Infinity, -Infinity, NaN]`, `["Infinity","-Infinity","NaN"]`, syntax.JSON5},
		{"a number too long for another base", `[0x` + strings.Repeat("f", 300) + `]`, `["0x` + strings.Repeat("f", 300) + `"]`, syntax.JSON5},
		{"Python", `{'a': None, 'b': True, 'c': False}`, `{"a":null,"b":true,"c":false}`, syntax.JSON5},
		{"JavaScript", `{a: !0, b: !1, c: undefined, d: process.env.TOKEN}`, `{"a":true,"b":false,"c":null,"d":"${TOKEN}"}`, syntax.JSON5},
		{"escapes of JSON5", `["\x41\v\0\'\
z"]`, `["A\u000b\u0000'z"]`, syntax.JSON5},
		{"a continued line of Windows", "['a\\\r\nb', 'c\\\rd']", `["ab","cd"]`, syntax.JSON5},
		{"an unknown escape", `["a\dz"]`, `["a\\dz"]`, syntax.JSON5},
		{"a path without doubled backslashes", `["C:\Users\dev\new", "%A%\x\d", "C:\\a\\\"b\"\q"]`, `["C:\\Users\\dev\\new","%A%\\x\\d","C:\\a\\\"b\"\\q"]`, syntax.Backslashes},
		{"a path with doubled backslashes", `["C:\\new\\x"]`, `["C:\\new\\x"]`, 0},
		{"unquoted values", "{\"a\": <your key>, \"b\": https://x.example.com/a // c\n}", `{"a":"<your key>","b":"https://x.example.com/a"}`, syntax.JSON5 | syntax.Comments},
		{"smart quotes", `{“a”: “x "y" z”, „b‟: ‘it’s’}`, `{"a":"x \"y\" z","b":"it’s"}`, syntax.SmartQuotes},
		{"a smart quote closed by a plain one", `[“a"]`, `["a"]`, syntax.SmartQuotes},
		{"an escape in smart quotes", `[“a\”b”]`, `["a\\”b"]`, syntax.SmartQuotes | syntax.JSON5},
		{"full-width punctuation", `｛"a"：［1，2、3，＂b＂］｝`, `{"a":[1,2,3,"b"]}`, syntax.Fullwidth},
		{"a full-width comma after a smart quote", `[“a”，1]`, `["a",1]`, syntax.SmartQuotes | syntax.Fullwidth},
		{"special blanks", "\u00a0{\u3000\"a\":\v1\u2003}", `{"a":1}`, syntax.OddSpaces},
		{"invisible characters", "\u200b{\ufeff\"a\"\u2060:1}", `{"a":1}`, syntax.ZeroWidth},
		{"blanks in a string stay", "[\"\u00a0\u200b\"]", "[\"\u00a0\u200b\"]", 0},
		{"dots for more", `{"a": [1, ..., 2, …], ...., "b": 3, ...}`, `{"a":[1,2],"b":3}`, syntax.Ellipsis},
		{"brackets missing at the end", `{"a":[{"b":1`, `{"a":[{"b":1}]}`, syntax.Balance},
		{"a bracket of the other kind", `{"a":["x"}`, `{"a":["x"]}`, syntax.Balance},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, size, fixed, err := syntax.JSON(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(n.AppendJSON(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if fixed != tt.fixed {
				t.Errorf("repairs %b, want %b", fixed, tt.fixed)
			}
			if size != len(tt.in) && strings.TrimSpace(tt.in[size:]) != "" {
				t.Errorf("took %d of %d bytes", size, len(tt.in))
			}
		})
	}
}

func TestJSONFaults(t *testing.T) {
	tests := []struct {
		name, in string
		offset   int
		msg      string
		limit    bool
	}{
		{"nothing", "  ", 2, "the text ends", false},
		{"no colon", `{"a" 1}`, 5, `colon is missing after a name`, false},
		{"no name", `{"a":1,=}`, 7, "a name in quotes", false},
		{"no value", `{"a":}`, 5, "a value should stand here", false},
		{"an open string", "{\n\"a\": \"x\n}", 7, "not closed before the end of its line", false},
		{"an open string at the end", `["x`, 1, "a string is not closed", false},
		{"an open smart string", "[“x\n]", 1, "a string is not closed", false},
		{"an open comment", `[/* x`, 1, "comment is not closed", false},
		{"a short unicode escape", `["\u12"]`, 2, "four hexadecimal digits", false},
		{"no comma", `[1 2]`, 1, "", false},
		{"values glued together", `["a""b"]`, 4, "a comma or a closing bracket", false},
		{"code as a value", `{"a": f(x)}`, 6, "not quoted", false},
		{"too deep", strings.Repeat("[", 99), 65, "nested too deep", true},
		{"too many", "[" + strings.Repeat("1,", 60_000) + "]", 1 + 2*(syntax.MaxNodes-1), "too many values", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := syntax.JSON(tt.in)
			if tt.msg == "" { // two words on one line are one bare word
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var e *syntax.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Offset != tt.offset || e.Limit != tt.limit || !strings.Contains(e.Msg, tt.msg) {
				t.Errorf("got %+v", e)
			}
			if !strings.Contains(e.Error(), e.Msg) {
				t.Errorf("Error is %q", e.Error())
			}
		})
	}
}

func TestMembers(t *testing.T) {
	tests := []struct {
		name, in, want string
		fixed          syntax.Repairs
	}{
		{"members", `"a": 1, "b": {"c": 2},`, `{"a":1,"b":{"c":2}}`, syntax.BracesAdded | syntax.TrailingCommas},
		{"with the brackets that end the file", "\"a\": {\"b\": 1}\n }\n}", `{"a":{"b":1}}`, syntax.BracesAdded | syntax.Balance},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, fixed, err := syntax.Members(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(n.AppendJSON(nil)); got != tt.want || fixed != tt.fixed {
				t.Errorf("got %s, repairs %b", got, fixed)
			}
		})
	}
	if _, _, err := syntax.Members(`"a": 1} x`); err == nil {
		t.Error("text after the last bracket was accepted")
	}
}

func TestNode(t *testing.T) {
	n, _, _, err := syntax.JSON(`{"a":1,"a":true,"b":[false]}`)
	if err != nil {
		t.Fatal(err)
	}
	if a := n.Get("a"); !a.True() || a.False() || !a.Scalar() || a.Offset != 11 {
		t.Errorf("a is %+v", a)
	}
	if b := n.Get("b").Items[0]; !b.False() {
		t.Errorf("b[0] is %+v", b)
	}
	var none *syntax.Node
	if none.Get("x") != nil || none.IsObject() || none.Scalar() || none.True() || none.False() || !n.IsObject() {
		t.Error("a nil node is not nothing")
	}
}

// FuzzJSON checks that all JSON is read without a repair and means what
// encoding/json says it means, and that no text makes the reader panic.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,"x\u00e9\n"],"b":null,"a":true}`, `[]`, `{'a': +1, b: [.5,],}`, `{“a”：1}`, `["C:\Users\x"]`, `{"a": ...`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, size, fixed, err := syntax.JSON(s)
		if size < 0 || size > len(s) {
			t.Fatalf("took %d of %d bytes", size, len(s))
		}
		if !json.Valid([]byte(s)) || strings.Contains(s, "\ufffd") {
			return
		}
		var e *syntax.Error
		if errors.As(err, &e) && e.Limit {
			return
		}
		if err != nil || fixed != 0 && fixed&^syntax.Backslashes != 0 {
			t.Fatalf("JSON needed repairs %b: %v", fixed, err)
		}
		if diff := cmp.Diff(decode(t, []byte(s)), decode(t, n.AppendJSON(nil))); diff != "" {
			t.Errorf("the value changed (-want +got):\n%s", diff)
		}
	})
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}
