package normalize_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/normalize"
)

func TestDialects(t *testing.T) {
	want := strings.Fields(`claude-code claude-desktop claude-settings cursor vscode vscode-settings visual-studio
		copilot-jetbrains copilot-cli copilot-agent codex gemini-cli gemini-extension qwen windsurf antigravity zed cline roo kilo
		continue goose opencode amazon-q kiro jetbrains lm-studio crush warp trae amp factory kimi qoder boltai mistral-vibe
		librechat openclaw hermes anythingllm augment codearts mcphub-nvim docker-catalog registry-server-json mcpb deeplink cli generic`)
	var got []string
	for _, id := range normalize.Dialects() {
		got = append(got, string(id))
		if _, err := normalize.Parse([]byte("{}"), &normalize.ParseOptions{Dialect: id}); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dialects (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name string
		text string
		opts *normalize.ParseOptions
		want normalize.Error
	}{
		{"too large", strings.Repeat(" ", 1<<20+1), nil, normalize.Error{Code: normalize.TooLarge}},
		{"too large for the caller", "{}{}", &normalize.ParseOptions{MaxBytes: 3}, normalize.Error{Code: normalize.TooLarge}},
		{"not UTF-8", "{\n\xff}", nil, normalize.Error{Code: normalize.Unreadable, Line: 2, Column: 1}},
		{"UTF-16 broken", "\xff\xfe{\x00\"\x00", nil, normalize.Error{Code: normalize.Unreadable, Line: 1, Column: 2}},
		{"too deep", strings.Repeat("[", 100), nil, normalize.Error{Code: normalize.TooDeep, Line: 1, Column: 66}},
		{"too many servers", `{"mcpServers":{` + strings.Repeat(`"a":{"command":"x"},`, 1001) + `}}`, nil, normalize.Error{Code: normalize.TooMany}},
		{"too many in a list", `{"mcpServers":[` + strings.Repeat(`{"command":"x"},`, 1001) + `]}`, nil, normalize.Error{Code: normalize.TooMany}},
		{"too many lines", strings.Repeat("npx -y x\n", 2500), nil, normalize.Error{Code: normalize.TooMany}},
		{"the piece that got furthest", "{a b}\n{\"mcpServers\": {\"a\": {\"command\": x y\"}}}", nil, normalize.Error{Code: normalize.Unreadable, Line: 2, Column: 34}},
		{"a broken block beside one without servers", "```\n{\"a\":1}\n```\n```\n{\"mcpServers\" {}}\n```\n", nil, normalize.Error{Code: normalize.Unreadable, Line: 5, Column: 15}},
		{"an unknown dialect", "{}", &normalize.ParseOptions{Dialect: "Cursor"}, normalize.Error{Code: normalize.UnknownDialect, Subject: "Cursor"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paste, err := normalize.Parse([]byte(tt.text), tt.opts)
			if paste != nil {
				t.Errorf("a paste beside the error: %+v", paste)
			}
			var got *normalize.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if got.Message == "" || got.ErrorCode() != string(got.Code) || len(got.Error()) > 1000 {
				t.Errorf("message %q, code %q", got.Error(), got.ErrorCode())
			}
			if tt.want.Line > 0 && errors.Unwrap(got) == nil {
				t.Error("the cause is lost")
			}
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreFields(normalize.Error{}, "Message", "Err")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorWithoutMessage(t *testing.T) {
	if got := (&normalize.Error{Code: normalize.EntryNull}).Error(); got != "entry_null" {
		t.Errorf("got %q", got)
	}
	if got := normalize.CodeOf(errors.New("x")); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestBounds checks that an entry and a paste beyond their bounds are told so,
// and take nobody along.
func TestBounds(t *testing.T) {
	wide := func(format string) string {
		var b strings.Builder
		for i := range 2001 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	text := `{"mcpServers":{"a":{"command":"x","env":{` + wide(`"k%d":"v",`) + `}},"b":{"command":"x","args":[` + wide(`"%d",`) + `]},"c":{"command":"x"}}}`
	paste, err := normalize.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []normalize.Code{normalize.TooMany, normalize.TooMany, ""} {
		var got normalize.Code
		if e := paste.Servers[i].Err; e != nil {
			got = e.Code
		}
		if got != want {
			t.Errorf("%s: code %q, want %q", paste.Servers[i].Name, got, want)
		}
	}

	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, `"k%d":1,"k%d":2,`, i, i)
	}
	paste, err = normalize.Parse([]byte(`{"mcpServers":{"a":{"command":"x"}},`+b.String()+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(paste.Notes); n != 1001 || !hasNote(paste.Notes, normalize.TooMany) {
		t.Errorf("%d notes", n)
	}
}

// TestHostile reads texts that are made to be slow or large. Each must come
// back, and take no more than a fixed multiple of its size in memory.
func TestHostile(t *testing.T) {
	const size = 1 << 18
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	arg := func(s string) string { return `{"mcpServers":{"a":{"command":"x","args":["` + repeat(s) + `"]}}}` }
	tests := map[string]string{
		"open braces": repeat("{"), "open brackets": repeat("["), "quotes": repeat(`"`), "objects in objects": repeat(`{"a":`),
		"objects": repeat(`{} `), "lines of braces": repeat("{\n"), "lines of brackets": repeat("[\n"), "fences": repeat("```\n"),
		"YAML keys": repeat("a:\n"), "YAML items": repeat("- a\n"), "YAML documents": repeat("---\n"), "a YAML list": "mcpServers:\n" + repeat("- a: b\n"),
		"TOML tables": repeat("[a]\n"), "TOML pairs": repeat("a = 1\n"), "a TOML key": repeat("a."),
		"open words": repeat("npx -y 'x\n"), "prompts": repeat("$ "), "assignments": repeat("A=b "), "links": repeat("cursor://a?config=e30\n"),
		"smart quotes": repeat("“"), "fragments": repeat("\"a\":1\n"), "open fragments": repeat("\"a\":{\n"),
		"sentences": repeat("hello {world} and\n"), "objects in lines": repeat("x { \"a\": 1\n"), "comments": repeat("// x\n"), "open comments": repeat("/*"),
		"NUL": repeat("\x00"), "UTF-16": "\xff\xfe" + repeat("{\x00"),
		"open references": arg("${"), "nested defaults": arg("${A:-"), "dollar signs": arg("$"), "backticks": arg("`"), "braces": arg("{a"),
		"angles": arg("<a"), "double braces": arg("{{a"), "parentheses": arg("$("), "words": arg("your"), "percent signs": arg("%a"),
		"aliases": "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d]\nmcpServers:\n  a: {command: x, args: *e}\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			paste, err := normalize.Parse([]byte(text), nil)
			runtime.ReadMemStats(&after)
			if (paste == nil) == (err == nil) {
				t.Errorf("paste %v, error %v", paste, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200*size {
				t.Errorf("%d bytes of memory for %d of text", used, len(text))
			}
		})
	}
}

// TestParseTime reads texts of the largest size that once took minutes. The bound
// is ten times what they need and far below what anything but linear work does.
func TestParseTime(t *testing.T) {
	repeat := func(s string) string { return strings.Repeat(s, normalize.DefaultMaxBytes/len(s)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < normalize.DefaultMaxBytes/2; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	same := strings.TrimSuffix(strings.Repeat(`{"name":"a","command":"x","env":{"A":"1","B":"2","C":"3","D":"4","E":"5","F":"6","G":"7"}},`, 999), ",")
	tests := map[string]string{
		"links of one client":    repeat("[![x](vscode:mcp/install?%7B%22name%22%3A%22notes%22%7D)]"),
		"links of another":       repeat("[![x](cursor://a?name=b&config=e30)]"),
		"starts of links":        repeat("cursor://"),
		"links that are pages":   repeat("https://cursor.com/"),
		"links with open JSON":   repeat(`vscode:mcp/install?{"a":`),
		"pages with JSON":        repeat(`https://cursor.com/?{"a":"b"} `),
		"open substitutions":     "npx -y " + repeat("$(")[:normalize.DefaultMaxBytes-8],
		"backticks":              "npx -y " + repeat("`")[:normalize.DefaultMaxBytes-8],
		"variables of a command": "claude mcp add x" + numbered(" -e A%d=b") + " -- npx y",
		"secrets of an address":  `{"mcpServers":{"a":{"url":"https://x/y?` + numbered("k%dkey=a&") + `"}}}`,
		"pieces of one line":     repeat(`A=b {"a":"b"} `),
		"quotes of one line":     repeat(`"x" {"a":1} `),
		"headers of a command":   "claude mcp add --transport http a http://x " + numbered("--header A%d:b "),
		"exported variables":     numbered("export A%d=b\n") + strings.Repeat("npx -y x\n", 900),
		"servers of one name":    `{"mcpServers":[` + same + `]}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			paste, err := normalize.Parse([]byte(text), nil)
			if (paste == nil) == (err == nil) {
				t.Errorf("paste %v, error %v", paste, err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%v for %d bytes", took, len(text))
			}
		})
	}
}

// TestLongLinks checks that one line of links gives them all, and that what is
// longer than a link can be is none.
func TestLongLinks(t *testing.T) {
	link := "[![x](vscode:mcp/install?%7B%22name%22%3A%22notes%22%2C%22command%22%3A%22x%22%7D)]"
	paste, err := normalize.Parse([]byte(strings.Repeat(link, 20)), nil)
	if err != nil || len(paste.Servers) != 20 {
		t.Fatalf("%v: %v", paste, err)
	}
	paste, err = normalize.Parse([]byte("vscode:mcp/install?%7B%22command%22%3A%22"+strings.Repeat("x", 64<<10)+"%22%7D"), nil)
	if err != nil || len(paste.Servers) != 0 {
		t.Errorf("%v: %v", paste, err)
	}
}

func TestParseNamesByFile(t *testing.T) {
	for name, want := range map[string]string{"": "server-1", "x/acme.mcp.json": "acme.mcp", ".json": "json", `C:\dir\a.yaml`: "a"} {
		paste, err := normalize.Parse([]byte(`{"url": "https://mcp/"}`), &normalize.ParseOptions{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if got := paste.Servers[0].Name; got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestParseReadFile(t *testing.T) {
	const text = `{"mcpServers": {
		"a": {"command": "acme", "envFile": ".env", "env": {"OWN": "1"}, "args": ["${file:token}", "${file:odd}", "${file:gone}"]},
		"b": {"command": "acme", "envFile": "gone"},
		"c": {"command": "acme", "envFile": "${userHome}/.env"}
	}}`
	files := map[string]string{
		".env":  "# x\nexport A=1\nB = 'two'\nOWN=2\nno pair\nC=\"\nD=${A}\n",
		"token": "secret\n", "odd": "${A}",
	}
	var asked []string
	paste, err := normalize.Parse([]byte(text), &normalize.ParseOptions{Dialect: normalize.Cursor, ReadFile: func(path string) ([]byte, error) {
		asked = append(asked, path)
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := paste.Servers[0]
	wantEnv := []normalize.Pair{{Name: "OWN", Value: "1"}, {Name: "A", Value: "1"}, {Name: "B", Value: "two"}, {Name: "C", Value: `"`}}
	if diff := cmp.Diff(wantEnv, a.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"secret", "${file:odd}", "${file:gone}"}, a.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(a.Notes, paste.Servers[1].Notes, paste.Servers[2].Notes); got != "[file_ref:odd file_ref:gone env_file_not_read] [env_file_not_read] [env_file_not_read]" {
		t.Errorf("notes %s", got)
	}
	if diff := cmp.Diff([]string{"token", "odd", "gone", ".env", "gone"}, asked); diff != "" {
		t.Errorf("files asked for (-want +got):\n%s", diff)
	}
}

// TestDropped checks that what is left out of a record is in a note, and that
// the note does not carry it into a store.
func TestDropped(t *testing.T) {
	paste, err := normalize.Parse([]byte(`{"mcpServers": {
		"a": {"type": "http", "url": "https://a.example.com/mcp", "command": "acme", "args": ["x"]},
		"b": {"command": "acme", "url": "https://b.example.com/mcp", "headers": {"X": "y"}, "args": [{"k": 1}]},
		"c": {"url": "https://c.example.com/mcp", "endpoint": "https://d.example.com/mcp", "type": "http", "transport": "sse", "timeout": "x"}
	}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range paste.Servers {
		for _, n := range s.Notes {
			if n.Dropped != "" {
				got[s.Name+" "+n.String()] = n.Dropped
			}
		}
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stored), "d.example.com") {
			t.Errorf("stored: %s", stored)
		}
	}
	want := map[string]string{
		"a ambiguous_transport:command_dropped": "acme x",
		"b ambiguous_transport:url_dropped":     "https://b.example.com/mcp",
		"b headers_on_stdio_dropped":            "X: y\n",
		"b arg_not_scalar_dropped:args[0]":      `{"k":1}`,
		"c url_conflict:endpoint":               "https://d.example.com/mcp",
		"c type_conflict:transport":             "sse",
		"c timeout_invalid:timeout":             "x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// TestNotePlaces checks that notes say where in the paste they are about.
func TestNotePlaces(t *testing.T) {
	paste, err := normalize.Parse([]byte("Text\n```json\n{\n  \"mcpServers\": {\n    \"ä\": { \"cmd\": \"acme\", \"env\": { \"A\": 1 } }\n  }\n}\n```\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range paste.Servers[0].Notes {
		got = append(got, fmt.Sprintf("%d:%d %s", n.Line, n.Column, n))
	}
	if diff := cmp.Diff([]string{"5:12 field_synonym:cmd", "5:41 env_coerced:A"}, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestMessages checks that every note of the archives of pastes says what it
// means.
func TestMessages(t *testing.T) {
	paste, err := normalize.Parse([]byte(`{"hooks": {}, "mcp": {"allowed": []}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := paste.Notes[0].Message; got != "the text declares no MCP server; it holds hooks, which are something else" {
		t.Errorf("message %q", got)
	}
	paste, err = normalize.Parse([]byte(`{"mcpServers": {"a": {"command": "npx", "args": ["@modelcontextprotocol/server-redis", "${X-y}"], "cmd": "b", "timeout": 5, "env": {"LD_PRELOAD": null, "A": 1}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range paste.Servers[0].Notes {
		if n.Message == "" || n.Message != strings.TrimSpace(n.Message) || strings.HasSuffix(n.Message, ".") {
			t.Errorf("%s: message %q", n, n.Message)
		}
	}
}

// A misspelt name is not read as the right one, but the message names it.
func TestNearMiss(t *testing.T) {
	const hint = "; did you mean %q where it says %q?"
	tests := []struct {
		name, in string
		want     string // the end of the message; "" for no hint
	}{
		{"wrapper", `{"mcpServer": {"a": {"comand": "npx"}}}`, fmt.Sprintf(hint, "mcpServers", "mcpServer")},
		{"snake wrapper", `{"mcp_server": {"a": {"cmmand": "npx"}}}`, fmt.Sprintf(hint, "mcp_servers", "mcp_server")},
		{"command", `{"mcpServers": {"a": {"comand": "npx", "args": []}}}`, fmt.Sprintf(hint, "command", "comand")},
		{"url", `{"mcpServers": {"a": {"ulr": "https://mcp.example.com"}}}`, fmt.Sprintf(hint, "url", "ulr")},
		{"nothing like it", `{"mcpServers": {"a": {"runtime": "node"}}}`, ""},
		{"hostile name is cut", `{"mcpServers": {"a": {"` + strings.Repeat("command", 5000) + `": 1}}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			paste, err := normalize.Parse([]byte(test.in), nil)
			if err != nil {
				t.Fatal(err)
			}
			var message string
			for _, n := range paste.Notes {
				if n.Code == normalize.NoMCPConfig {
					message = n.Message
				}
			}
			for _, s := range paste.Servers {
				if s.Err == nil {
					t.Fatalf("server %q was read as a good one", s.Name)
				}
				message = s.Err.Message
			}
			if !strings.HasSuffix(message, test.want) || strings.Contains(message, "did you mean") != (test.want != "") {
				t.Errorf("message %q, want the end %q", message, test.want)
			}
		})
	}
}

// A field that the record has no place for may be a plain one misspelt.
func TestMisspeltField(t *testing.T) {
	tests := []struct{ field, want string }{
		{"agrs", "args"},
		{"arg", "args"},
		{"header", "headers"},
		{"Typ", "type"},
		{"evn", "env"},
		{"timeouts", "timeout"},
		{"icon", ""},
		{"path", ""},
		{"id", ""},
		{"tags", ""},
		{strings.Repeat("header", 100), ""},
	}
	for _, test := range tests {
		paste, err := normalize.Parse([]byte(`{"mcpServers": {"a": {"url": "https://mcp.example.com", "`+test.field+`": {"A": "b"}}}}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		var message string
		for _, n := range paste.Servers[0].Notes {
			if n.Code == normalize.ExtraField && n.Subject == test.field {
				message = n.Message
			}
		}
		_, got, _ := strings.Cut(message, "; did you mean ")
		want := ""
		if test.want != "" {
			want = fmt.Sprintf("%q?", test.want)
		}
		if message == "" || got != want {
			t.Errorf("field %.20q: got the message %q, want the hint %q", test.field, message, want)
		}
	}
}

// Only JSON lets a key stand twice; files in other forms are refused whole.
func TestDuplicateKeyMessage(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"JSON", `{"mcpServers": {"a": {"command": "x", "command": "y"}, "a": {"command": "z"}}}`, "clients take the last one"},
		{"TOML", "[mcp_servers.a]\ncommand = 'x'\ncommand = 'y'\n[mcp_servers.a]\ncommand = 'z'\n", "TOML does not allow"},
		{"YAML", "mcpServers:\n  a:\n    command: x\n    command: y\n  a:\n    command: z\n", "YAML does not allow"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			paste, err := normalize.Parse([]byte(test.in), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(paste.Servers) != 2 {
				t.Fatalf("got %d servers, want both", len(paste.Servers))
			}
			found := 0
			for _, n := range append(paste.Notes, paste.Servers[0].Notes...) {
				if n.Code == normalize.DuplicateKey {
					if found++; !strings.Contains(n.Message, test.want) {
						t.Errorf("%v: got the message %q, want one with %q", n, n.Message, test.want)
					}
				}
				if n.Code == normalize.DuplicateKeptFirst && strings.Contains(n.Message, "clients keep") != (test.name == "JSON") {
					t.Errorf("%v: got the message %q", n, n.Message)
				}
			}
			if found != 2 {
				t.Errorf("got %d notes of duplicate keys, want 2", found)
			}
		})
	}
}
