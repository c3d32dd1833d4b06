package normalize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// TestParseBadValues checks values that cannot be run or sent: a variable or
// header is dropped with a note, any other field makes the record one that
// cannot run, and the records beside it stay.
func TestParseBadValues(t *testing.T) {
	tests := []struct{ name, entry, want string }{
		{"NUL in the command", `{"command": "a\u0000b"}`, `a: error bad_value:command ["a\x00b"]`},
		{"NUL in an argument", `{"command": "c", "args": ["x", "\u0000"]}`, `a: error bad_value:args[1] ["c" "x" "\x00"]`},
		{"NUL in the folder", `{"command": "c", "cwd": "/a\u0000"}`, "a: error bad_value:cwd [\"c\"] cwd=/a\x00"},
		{"NUL in a variable", `{"command": "c", "env": {"A": "\u0000", "B": "1"}}`, `a: stdio ["c"] env.B="1" {bad_value:env.A}`},
		{"names of variables", `{"command": "c", "env": {"": "1", "A=B": "2", "C": "3"}}`, `a: stdio ["c"] env.C="3" {bad_value:env bad_value:env.A=B}`},
		{"a line break in a variable", `{"command": "c", "env": {"A": "1\n2"}}`, `a: stdio ["c"] env.A="1\n2"`},
		{"a line break in an address", `{"type": "http", "url": "https://x.example.com/\r\nA: b"}`, "a: error bad_value:url https://x.example.com/\r\nA: b"},
		{"a line break in a header", `{"type": "http", "url": "https://x.example.com/", "headers": {"A": "b\r\nC: d", "E": "f"}}`, `a: http https://x.example.com/ headers.E="f" {bad_value:headers.A}`},
		{"names of headers", `{"type": "http", "url": "https://x.example.com/", "headers": {"A\nB": "1", "C D": "2", "": "3", "E:": "4", "F": "5"}}`, "a: http https://x.example.com/ headers.F=\"5\" {bad_value:headers.A\nB bad_value:headers.C D bad_value:headers bad_value:headers.E:}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"mcpServers": {"a": ` + tt.entry + `, "b": {"command": "d"}}}`
			paste, err := normalize.Parse([]byte(text), nil)
			if err != nil || len(paste.Servers) != 2 || paste.Servers[1].Err != nil {
				t.Fatalf("%+v, %v", paste, err)
			}
			if diff := cmp.Diff(tt.want+"\n", serverText(paste.Servers[0])); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// TestExportBadValues checks that nothing is written that cannot be sent.
func TestExportBadValues(t *testing.T) {
	servers := []normalize.Server{
		{Name: "a", Transport: normalize.Stdio, Command: "c\x00"},
		{Name: "b", Transport: normalize.Stdio, Command: "c", Env: pairs("A=", "1", "B", "\x00")},
		{Name: "c", Transport: normalize.HTTP, URL: "https://x.example.com/mcp", Headers: pairs("A", "b\nc", "D E", "f")},
	}
	for _, id := range []normalize.Dialect{normalize.Cursor, normalize.Goose, normalize.ClaudeDesktop} {
		out, notes, err := normalize.Export(id, servers, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"u0000", "A=", `b\nc`, "D E"} {
			if strings.Contains(string(out), part) {
				t.Errorf("%s: %q was written:\n%s", id, part, out)
			}
		}
		var codes []string
		for _, n := range notes {
			codes = append(codes, n.String())
		}
		for _, want := range []string{"skipped:a(bad_value)", "not_expressible:b:env.A=", "not_expressible:b:env.B", "not_expressible:c:headers.A", "not_expressible:c:headers.D E"} {
			if !strings.Contains(strings.Join(codes, "\n"), want) {
				t.Errorf("%s: no note %s in %q", id, want, codes)
			}
		}
	}
}

// TestExportSecretInArgs checks the note on an address with a secret that moves
// to the command line of a bridge.
func TestExportSecretInArgs(t *testing.T) {
	for address, want := range map[string]bool{
		"https://u:p@x.example.com/mcp":           true,
		"https://x.example.com/mcp?api_key=k":     true,
		"https://x.example.com/mcp?token=${TOK}":  true,
		"https://x.example.com/mcp?team=a#token=": false,
		"https://x.example.com/mcp?at=a:b@c":      false,
	} {
		s := normalize.Server{Name: "a", Transport: normalize.HTTP, URL: address}
		_, notes, err := normalize.Export(normalize.ClaudeDesktop, []normalize.Server{s}, nil)
		if err != nil || !hasNote(notes, normalize.BridgeWritten) {
			t.Fatalf("%+v, %v", notes, err)
		}
		if hasNote(notes, normalize.SecretInArgs) != want {
			t.Errorf("%s: notes %+v, want %v", address, notes, want)
		}
	}
}

// TestGooseHeaderKeys checks that a secret of a header reads back as that alone.
func TestGooseHeaderKeys(t *testing.T) {
	in := normalize.Server{Name: "a", Transport: normalize.HTTP, URL: "https://x.example.com/mcp", Headers: pairs("X", "${A}")}
	out, _, err := normalize.Export(normalize.Goose, []normalize.Server{in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	paste, err := normalize.Parse(out, &normalize.ParseOptions{Dialect: normalize.Goose})
	if err != nil || len(paste.Servers) != 1 {
		t.Fatalf("%+v, %v", paste, err)
	}
	if s := paste.Servers[0]; len(s.Env) != 0 || !cmp.Equal(s.Headers, in.Headers) {
		t.Errorf("env %v, headers %v", s.Env, s.Headers)
	}
}

func TestNoteNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"```json\n{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}\n```\n":                                                          "the text is Markdown with 1 block of code",
		"```\n{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}\n```\n\n```\n{\"mcpServers\": {\"b\": {\"command\": \"c\"}}}\n```\n": "the text is Markdown with 2 blocks of code",
	} {
		paste, err := normalize.Parse([]byte(text), nil)
		if err != nil || len(paste.Notes) == 0 || paste.Notes[0].Message != want {
			t.Errorf("%+v, %v; want %q", paste, err, want)
		}
	}
}

// TestManyPairs checks that of many pairs, too, each name is taken once.
func TestManyPairs(t *testing.T) {
	var env, headers strings.Builder
	for i := range 50 {
		fmt.Fprintf(&env, "-e A%d=a ", i)
		fmt.Fprintf(&headers, `"H-%d": "a", `, i)
	}
	paste, err := normalize.Parse([]byte("claude mcp add x "+env.String()+"-e A7=b -e A49=c -- npx y"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := paste.Servers[0].Env
	if len(got) != 50 || got[7].Value != "b" || got[49].Value != "c" {
		t.Errorf("variables %v", got)
	}
	paste, err = normalize.Parse([]byte(`{"mcpServers": {"a": {"url": "https://x.example/mcp", "headers": {`+headers.String()+`"h-7": "b", "h-49": "c"}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got = paste.Servers[0].Headers
	if len(got) != 50 || got[7].Value != "b" || got[49].Value != "c" {
		t.Errorf("headers %v", got)
	}
}

// TestRegistryBase checks that a package of a registry which the usual program
// would not ask is none that can be run: the name may be a stranger's there.
func TestRegistryBase(t *testing.T) {
	const index = "pypi" + ".org"
	tests := []struct {
		name, fields string
		runs         bool
	}{
		{"none", `"registryType":"npm","identifier":"notes"`, true},
		{"an own one", `"registryType":"npm","identifier":"notes","registryBaseUrl":"https://packages.acme.example"`, false},
		{"the older spelling", `"registry_type":"npm","identifier":"notes","registry_base_url":"https://packages.acme.example"`, false},
		{"a name that begins like it", `"registryType":"pypi","identifier":"notes","registryBaseUrl":"https://` + index + `.acme.example"`, false},
		{"without encryption", `"registryType":"pypi","identifier":"notes","registryBaseUrl":"http://` + index + `"`, false},
		{"the usual one", `"registryType":"pypi","identifier":"notes","registryBaseUrl":"https://` + index + `"`, true},
		{"another type's", `"registryType":"npm","identifier":"notes","registryBaseUrl":"https://` + index + `"`, false},
		{"an image with its host", `"registryType":"oci","identifier":"images.example/acme/notes:1","registryBaseUrl":"https://images.example"`, true},
		{"an image without its host", `"registryType":"oci","identifier":"acme/notes:1","registryBaseUrl":"https://images.example"`, false},
		{"no address", `"registryType":"npm","identifier":"notes","registryBaseUrl":"%"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paste, err := normalize.Parse([]byte(`{"name":"io.github.acme/notes","packages":[{`+tt.fields+`}]}`), nil)
			if err != nil || len(paste.Servers) != 1 {
				t.Fatalf("%v: %v", paste, err)
			}
			if got := paste.Servers[0].Err; (got == nil) != tt.runs || got != nil && got.Code != normalize.NotRunnable {
				t.Errorf("error %v, want one: %v", got, !tt.runs)
			}
		})
	}
}
