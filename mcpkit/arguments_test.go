package mcpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

type allArgs struct {
	ID     string                `json:"id" jsonschema:"id" schema:"kind=id"`
	Count  int                   `json:"count,omitempty" jsonschema:"count" schema:"minimum=-5 maximum=5"`
	Ratio  *float64              `json:"ratio,omitempty" jsonschema:"ratio" schema:"maximum=1"`
	Flag   bool                  `json:"flag,omitempty" jsonschema:"flag"`
	Name   string                `json:"name,omitempty" jsonschema:"name" schema:"minLength=2 maxLength=4"`
	State  string                `json:"state,omitempty" jsonschema:"state" schema:"enum=on|off"`
	List   []inner               `json:"list,omitempty" jsonschema:"list" schema:"minItems=1 maxItems=2"`
	Map    map[string]int        `json:"map,omitempty" jsonschema:"map"`
	Free   any                   `json:"free,omitempty" jsonschema:"free"`
	Label  label                 `json:"label,omitempty" jsonschema:"label"`
	Byte   uint8                 `json:"byte,omitempty" jsonschema:"byte"`
	Blob   []byte                `json:"blob,omitempty" jsonschema:"blob"`
	Nested map[string][][]string `json:"nested,omitempty" jsonschema:"nested"`
}

type inner struct {
	X int `json:"x" jsonschema:"x"`
}

// label refuses texts by itself, one of them with a code.
type label string

func (l *label) UnmarshalText(text []byte) error {
	switch string(text) {
	case "coded":
		return &brokenError{"label"}
	case "plain":
		return errors.New("hunter2")
	}
	*l = label(text)
	return nil
}

func (l label) MarshalText() ([]byte, error) { return []byte(l), nil }

type echoed struct {
	Args allArgs `json:"args"`
}

func echoTool() mcpkit.Feature {
	return mcpkit.Tool[allArgs, echoed]{
		Name: "echo", Description: "Echo.", Effect: mcpkit.ReadOnly,
		Run: func(_ context.Context, in allArgs) (echoed, error) { return echoed{in}, nil },
	}.Install
}

// notUnicode is what is wrong with text that decoding would silently change.
const notUnicode = "a text in them is not Unicode: bytes that are not UTF-8, or half of a surrogate pair"

func TestArgumentsAccepted(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"minimal", `{"id":"a"}`, `{"id":"a"}`},
		{
			"everything", `{"id":"a.b","count":-5,"ratio":0.25,"flag":true,"name":"héé","state":"on","list":[{"x":9007199254740993}],"map":{"a b":1},"free":{"z":[1,null]},"label":"l","byte":255,"blob":"AA==","nested":{"k":[["v"]]}}`,
			`{"id":"a.b","count":-5,"ratio":0.25,"flag":true,"name":"héé","state":"on","list":[{"x":9007199254740993}],"map":{"a b":1},"free":{"z":[1,null]},"label":"l","byte":255,"blob":"AA==","nested":{"k":[["v"]]}}`,
		},
		{
			"integers with fraction or exponent", ` {"id":"a", "count" : 2.0 , "list":[{"x":1e2},{"x":9007199254740993}],"map":{"k":-3.0}} `,
			`{"id":"a","count":2,"list":[{"x":100},{"x":9007199254740993}],"map":{"k":-3}}`,
		},
		{"numbers beside them", `{"id":"a","count":2.0,"ratio":0.25}`, `{"id":"a","count":2,"ratio":0.25}`},
		{"free keeps its numbers", `{"id":"a","free":2.0}`, `{"id":"a","free":2}`},
	}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, nil, echoTool()), e)
			for _, test := range tests {
				if diff := cmp.Diff(`{"args":`+test.want+`}`, p.callTool(t, "echo", test.args)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.name, diff)
				}
			}
		})
	}
}

func TestArgumentsRefused(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	tests := []struct{ name, args, want string }{
		{"missing", `{}`, `"id" is required`},
		{"missing, null", `null`, `"id" is required`},
		{"wrong case is another name", `{"ID":"a"}`, `"id" is required; "ID" is unexpected (allowed: id, count, ratio, flag, name, state, list, map, free, label, byte, blob, nested)`},
		{"null is no value", `{"id":null}`, `"id": want string, got null (leave it out)`},
		{"number for text", `{"id":5}`, `"id": want string, got integer`},
		{"pattern", `{"id":"../x"}`, `"id": want text that matches ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`},
		{"pattern with line end", `{"id":"x\n"}`, `"id": want text that matches ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`},
		{"minimum", `{"id":"a","count":-6}`, `"count": want at least -5`},
		{"maximum", `{"id":"a","count":6}`, `"count": want at most 5`},
		{"fraction for integer", `{"id":"a","count":1.5}`, `"count": want integer, got number`},
		{"minLength", `{"id":"a","name":"ä"}`, `"name": want at least 2 characters, got 1`},
		{"maxLength", `{"id":"a","name":"` + long + `"}`, `"name": want at most 4 characters, got 5000`},
		{"enum", `{"id":"a","state":"hunter2"}`, `"state": want one of on, off`},
		{"minItems", `{"id":"a","list":[]}`, `"list": want at least 1 items, got 0`},
		{"maxItems", `{"id":"a","list":[{"x":1},{"x":2},{"x":3}]}`, `"list": want at most 2 items, got 3`},
		{"inside a list", `{"id":"a","list":[{"x":1},{"x":"2","y":1}]}`, `"list[1].x": want integer, got string; "list[1].y" is unexpected (allowed: x)`},
		{"inside a map", `{"id":"a","map":{"k":{}}}`, `"map.k": want integer, got object`},
		{"object as text", `{"id":"a","map":" {\"k\":1}"}`, `"map": want object, got string (send the value itself, not its JSON as a string)`},
		{"list as text", `{"id":"a","list":"[]"}`, `"list": want array, got string (send the value itself, not its JSON as a string)`},
		{"uint8", `{"id":"a","byte":256}`, `"byte": want at most 255`},
		{"beyond int64", `{"id":"a","map":{"k":1e30}}`, `"map" does not fit: want int`},
		{"beyond float64", `{"id":"a","ratio":1e999}`, `"ratio" is not JSON, or a number out of range`},
		{"bad base64", `{"id":"a","blob":"?"}`, `a value has the wrong form`},
		{"own error", `{"id":"a","label":"plain"}`, `a value has the wrong form`},
		{"twice", `{"id":"a","count":1,"id":"b"}`, `"id" is given twice`},
		{"not UTF-8", "{\"id\":\"a\xff\",\"count\":1}", notUnicode},
		{"not UTF-8 in free", "{\"id\":\"a\",\"free\":{\"k\":\"\xc0\xaf\"}}", notUnicode},
		{"half a pair", `{"id":"a","free":{"k":"\ud83d"}}`, notUnicode},
		{"the other half", `{"id":"a","free":{"\uDE00":1}}`, notUnicode},
		{"twice inside", `{"id":"a","list":[{"x":1},{"x":1,"x":2}]}`, `"list[1].x" is given twice`},
		{"twice in free", `{"id":"a","free":{"k":1,"k":2}}`, `"free.k" is given twice`},
		{"deep", `{"id":"a","free":` + strings.Repeat(`[`, 65) + strings.Repeat(`]`, 65) + `}`, `nested deeper than 64 levels`},
		{"long names", `{"id":"a","` + long + `":{}}`, `"` + strings.Repeat("ä", 30) + `..." is unexpected (allowed: id, count, ratio, flag, name, state, list, map, free, label, byte, blob, nested)`},
		{"long names, other width", `{"id":"a","x` + long + `":{}}`, `"x` + strings.Repeat("ä", 29) + `..." is unexpected (allowed: id, count, ratio, flag, name, state, list, map, free, label, byte, blob, nested)`},
		{"limits that are just met", `{"id":5,"count":5,"ratio":1,"name":"ab","list":[{"x":1},{"x":2}]}`, `"id": want string, got integer`},
		{"other limits that are just met", `{"id":5,"count":-5,"name":"abcd","list":[{"x":1}]}`, `"id": want string, got integer`},
		{"no object", `[1]`, `the top level: want object, got array`},
		{"their JSON as text", `"{\"id\":\"a\"}"`, `the top level: want object, got string (send the value itself, not its JSON as a string)`},
		{
			"many faults", `{"id":1,"count":9,"ratio":2,"flag":3,"name":4,"state":5,"list":6}`,
			`"count": want at most 5; "flag": want boolean, got integer; "id": want string, got integer; "list": want array, got integer; "name": want string, got integer; and 2 more`,
		},
	}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			p := dial(t, newServer(t, nil, echoTool()), e)
			for _, test := range tests {
				code, message := p.callError(t, "echo", test.args)
				if diff := cmp.Diff("invalid arguments: "+test.want, message); code != "invalid_arguments" || diff != "" {
					t.Errorf("%s: code %q (-want +got):\n%s", test.name, code, diff)
				}
			}
			if code, message := p.callError(t, "echo", `{"id":"a","label":"coded"}`); code != "file_broken" || message != "the file label is broken" {
				t.Errorf("an error with a code of its own: got %q, %q", code, message)
			}
		})
	}
}

// A request with thousands of bad values gets a short answer, and none of them comes back.
func TestArgumentsRefusedBriefly(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":"a","list":[`)
	for i := range 3000 {
		fmt.Fprintf(&b, `{"x":"hunter%d","secret%d":1},`, i, i)
	}
	b.WriteString(`{}]}`)
	p := dial(t, newServer(t, nil, echoTool()), stateless)
	code, message := p.callError(t, "echo", b.String())
	if code != "invalid_arguments" || len(message) > 1000 || strings.Contains(message, "hunter") {
		t.Errorf("got %q, %d bytes: %s", code, len(message), message)
	}
}

// What a hook adds to a schema is enforced too, and named as far as there are words for it.
func TestArgumentsOfHook(t *testing.T) {
	probe := tool[struct {
		A string `json:"a,omitempty" jsonschema:"a"`
		B string `json:"b,omitempty" jsonschema:"b"`
		C string `json:"c,omitempty" jsonschema:"c"`
	}, nothing]()
	probe.Schema = func(in, _ *jsonschema.Schema) {
		in.OneOf = []*jsonschema.Schema{{Required: []string{"a"}}, {Required: []string{"b"}}}
		in.Properties["c"].Const = jsonschema.Ptr[any]("c")
	}
	p := dial(t, newServer(t, nil, probe.Install), stateless)
	if got := p.callTool(t, "probe", `{"a":"x","c":"c"}`); got != `{}` {
		t.Errorf("one arm: got %s", got)
	}
	for args, want := range map[string]string{
		`{}`:                `invalid arguments: they do not match the input schema of the tool`,
		`{"a":"x","b":"y"}`: `invalid arguments: they do not match the input schema of the tool`,
		`{"a":"x","c":"d"}`: `invalid arguments: "c": want c`,
	} {
		if code, message := p.callError(t, "probe", args); code != "invalid_arguments" || message != want {
			t.Errorf("%s: got %q, %q, want %q", args, code, message, want)
		}
	}
}

// Lists in a message are bounded, whoever wrote them.
func TestArgumentsMessageBounded(t *testing.T) {
	probe := tool[Base, nothing]()
	probe.Schema = func(in, _ *jsonschema.Schema) {
		for i := range 99 {
			in.Properties["id"].Enum = append(in.Properties["id"].Enum, fmt.Sprint("value", i))
			in.Properties[fmt.Sprintf("name%02d", i)] = &jsonschema.Schema{Type: "string"}
		}
		in.Properties["free"] = &jsonschema.Schema{}
	}
	p := dial(t, newServer(t, nil, probe.Install), stateless)
	_, message := p.callError(t, "probe", `{"id":"value","nam":1,"free":{"a":{"b":{"c":{"d":{"e":{"f":{"g":1,"g":2}}}}}}}}`)
	if want := `invalid arguments: "free.a.b.c.d.e..." is given twice`; message != want {
		t.Errorf("got %q, want %q", message, want)
	}
	_, message = p.callError(t, "probe", `{"id":"value","nam":1}`)
	if !strings.Contains(message, "value29, ...; ") || !strings.HasSuffix(message, "name26, name27, ...)") || strings.Contains(message, "value30") {
		t.Errorf("got %q", message)
	}
}

// FuzzArguments sends any bytes as arguments. Whatever the handler gets matches the schema, as the result shows that
// carries it back; whatever is refused is refused as invalid_arguments, in few words.
func FuzzArguments(f *testing.F) {
	for _, example := range []string{
		`{"id":"a"}`, `{"id":"a","count":2.0,"list":[{"x":1e2}]}`, `{"id":"a","free":{"k":1,"k":2}}`, `{"id":"a","label":"coded"}`,
		`{"id":"a","map":{"":-0.0}}`, `[1]`, `null`, `{"ID":"a","id":"b"}`, `{"id":"a","blob":"AA"}`, `{"id":"a","nested":{"k":null}}`,
	} {
		f.Add(example)
	}
	p := dial(f, newServer(f, nil, echoTool()), stateless)
	f.Fuzz(func(t *testing.T, args string) {
		if !json.Valid([]byte(args)) || strings.ContainsAny(args, "\r\n") {
			t.Skip("the transport refuses what is not one line of JSON")
		}
		got := p.callTool(t, "echo", args)
		var accepted struct{ Args json.RawMessage }
		if err := json.Unmarshal([]byte(got), &accepted); err != nil {
			t.Fatalf("reply is not JSON: %s", got)
		}
		if accepted.Args != nil {
			if again := p.callTool(t, "echo", string(accepted.Args)); again != got {
				t.Errorf("echo of the echo differs:\n%s\n%s", got, again)
			}
			return
		}
		code, message := p.callError(t, "echo", args)
		if code != "invalid_arguments" && code != "file_broken" || len(message) > 4000 {
			t.Errorf("refused with %q, %d bytes: %s", code, len(message), message)
		}
	})
}
