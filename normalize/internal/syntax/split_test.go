package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// summary writes a document on one line: form, block, place and content.
func summary(d *syntax.Document) string {
	offset := 0
	content := d.Text
	switch d.Form {
	case syntax.CommandForm:
		var words []string
		for _, w := range d.Words {
			words = append(words, w.Text)
		}
		content, offset = strings.Join(words, "|"), d.Words[0].Offset
	case syntax.JSONForm, syntax.TOMLForm, syntax.YAMLForm:
		content, offset = string(d.Root.AppendJSON(nil)), d.Root.Offset
	}
	line, column := d.Position(offset)
	form := []string{"json", "toml", "yaml", "command", "link", "word"}[d.Form]
	return fmt.Sprintf("%s %d %d:%d %s", form, d.Block, line, column, content)
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		text     syntax.Text // without Docs and Faults
		faults   []string
	}{
		{"JSON alone", ` {"a":1} `, []string{`json 0 1:2 {"a":1}`}, syntax.Text{}, nil},
		{"two documents", "{\"a\":1}\n\n{\"b\":2}", []string{`json 0 1:1 {"a":1}`, `json 0 3:1 {"b":2}`}, syntax.Text{Documents: 2}, nil},
		{"a bracket too many", `{"a":1}}`, []string{`json 0 1:1 {"a":1}`}, syntax.Text{Fixed: syntax.Balance}, nil},
		{
			"prose around", "Put this in:\n  {\"a\":1}\nand restart.",
			[]string{`json 0 2:3 {"a":1}`},
			syntax.Text{Prose: true},
			nil,
		},
		{"an assignment", `const x = {"a":1};`, []string{`json 0 1:11 {"a":1}`}, syntax.Text{Prose: true}, nil},
		{"braces in a sentence", "use {name} or {this is it}\n", nil, syntax.Text{Prose: true}, nil},
		{"a fragment", `"a": {"b":1},`, []string{`json 0 1:1 {"a":{"b":1}}`}, syntax.Text{Fixed: syntax.BracesAdded | syntax.TrailingCommas}, nil},
		{"a fragment from the middle", "}, \"a\": {\"b\":1}", []string{`json 0 1:4 {"a":{"b":1}}`}, syntax.Text{Fixed: syntax.BracesAdded | syntax.Balance}, nil},
		{"a fragment with a bare name", "mcpServers: {\n  a: {b: 'it\\'s'} }", []string{`json 0 1:1 {"mcpServers":{"a":{"b":"it's"}}}`}, syntax.Text{Fixed: syntax.BracesAdded | syntax.JSON5}, nil},
		{"a fragment before prose", "\"a\": {\"b\":1}\nThat is all.", []string{`json 0 1:1 {"a":{"b":1}}`}, syntax.Text{Fixed: syntax.BracesAdded, Prose: true}, nil},
		{"quotes half smart", "{\"a”: \"b\"}", []string{`json 0 1:1 {"a":"b"}`}, syntax.Text{Fixed: syntax.SmartQuotes}, nil},
		{"a fragment with quotes half smart", "\"a”: \"b\", “c\": 1", []string{`json 0 1:1 {"a":"b","c":1}`}, syntax.Text{Fixed: syntax.BracesAdded | syntax.SmartQuotes}, nil},
		{
			"TOML with comments and prose", "# Settings\n[a]\nb = 1\n\nNow restart it.\n",
			[]string{`toml 0 2:1 {"a":{"b":1}}`},
			syntax.Text{Prose: true},
			nil,
		},
		{"TOML without a table", "command = \"npx\"\nargs = [\"x\"]\n", []string{`toml 0 1:1 {"command":"npx","args":["x"]}`}, syntax.Text{}, nil},
		{"TOML with smart quotes", "[a]\nb = “x”\n", []string{`toml 0 1:1 {"a":{"b":"x"}}`}, syntax.Text{Fixed: syntax.SmartQuotes}, nil},
		{
			"YAML with prose", "Add this:\n\nmcpServers:\n  - name: a\n    command: b\n\nThen restart it.\n",
			[]string{`yaml 0 3:1 {"mcpServers":[{"name":"a","command":"b"}]}`},
			syntax.Text{Prose: true},
			nil,
		},
		{"YAML documents", "---\ncommand: a\n---\ncommand: b\n", []string{`yaml 0 2:1 {"command":"a"}`, `yaml 0 4:1 {"command":"b"}`}, syntax.Text{Documents: 2}, nil},
		{"YAML with smart quotes", "command: a\nargs: [“x”, z]\n", []string{`yaml 0 1:1 {"command":"a","args":["x","z"]}`}, syntax.Text{Fixed: syntax.SmartQuotes}, nil},
		{
			"commands", "# first\n$ claude mcp add a -- b\nPS C:\\x> npx -y 'c d' # e\nme@host:~/x$ uvx z\nNode is needed\nnpx is a tool\n",
			[]string{"command 0 2:3 claude|mcp|add|a|--|b", "command 0 3:10 npx|-y|c d", "command 0 4:14 uvx|z"},
			syntax.Text{Prose: true, ShellComment: true},
			nil,
		},
		{
			"a quote that is never closed", "npx -y 'a\nnpx -y b\n",
			[]string{"command 0 1:1 npx|-y|a", "command 0 2:1 npx|-y|b"},
			syntax.Text{},
			nil,
		},
		{
			"all programs", strings.Join([]string{
				"A=1 docker run x", "docker pull x", "uv run x.py", "uv sync", "npm exec x", "npm install x", "pnpm dlx x", "node x.js",
				"node needs this", "python -m x", "python3 ./x.py", "cmd /c npx x", "cd x && npx y", "cd x", "export A=1", "export all",
				"$env:A = 'x'", "code --add-mcp '{}'", "code .", "wsl.exe npx x", "/usr/bin/npx x", "npx.cmd x", "A=1 B=2",
			}, "\n"),
			[]string{
				"command 0 1:1 A=1|docker|run|x", "command 0 3:1 uv|run|x.py", "command 0 5:1 npm|exec|x", "command 0 7:1 pnpm|dlx|x",
				"command 0 8:1 node|x.js", "command 0 10:1 python|-m|x", "command 0 11:1 python3|./x.py", "command 0 12:1 cmd|/c|npx|x",
				"command 0 13:1 cd|x|&&|npx|y", "command 0 15:1 export|A=1", "command 0 17:1 ${A}|=|x", "command 0 18:1 code|--add-mcp|{}",
				"command 0 20:1 wsl.exe|npx|x", "command 0 21:1 /usr/bin/npx|x", "command 0 22:1 npx.cmd|x",
			},
			syntax.Text{Prose: true},
			nil,
		},
		{
			"links", "See [![x](https://cursor.com/b.svg)](cursor://a?name=b&config=e30) and more\n<a href=\"vscode:mcp/install?%7B%7D\">Add it</a>\nvscode:mcp/install?{\"a b\": 1}\nhttps://cursor.com/docs\n",
			[]string{"link 0 1:38 cursor://a?name=b&config=e30", "link 0 2:10 vscode:mcp/install?%7B%7D", `link 0 3:1 vscode:mcp/install?{"a b": 1}`},
			syntax.Text{Prose: true},
			nil,
		},
		{
			"Markdown", "# Title\n```json\n{\"a\":1}\n```\ntext {\"x\":1} [l](goose://x?y=z)\n1. item\n   ~~~yaml\n   command: a\n   ~~~\n`````\n```\n{\"b\":2}\n",
			[]string{`json 1 3:1 {"a":1}`, "link 0 5:18 goose://x?y=z", `yaml 2 8:1 {"command":"a"}`, `json 3 12:1 {"b":2}`},
			syntax.Text{Fences: 3},
			nil,
		},
		{"a fence that is none", "{\"a\": \"```json\"}", []string{"json 0 1:1 {\"a\":\"```json\"}"}, syntax.Text{}, nil},
		{"a word", " https://x.example.com/mcp\n", []string{"word 0 1:2 https://x.example.com/mcp"}, syntax.Text{}, nil},
		{"broken JSON", "{\n  \"a\" 1,\n  \"b\": {\"c\": 1}\n}", nil, syntax.Text{Prose: true}, []string{`2:7 a colon is missing after a name`}},
		{"a broken list", "[{\"a\" 1}]", nil, syntax.Text{Prose: true}, []string{`1:7 a colon is missing after a name`}},
		{"TOML header cut short", "[mcp_servers.a\ncommand = \"x\"\n", nil, syntax.Text{Prose: true}, []string{`1:15 a table's name is not closed`}},
		{"TOML array header cut short", "[[a\n\nb = 1\n", nil, syntax.Text{Prose: true}, []string{`1:4 a table's name is not closed`}},
		{"prose like a TOML header cut short", "[note\nThis is a = sign.\n", nil, syntax.Text{Prose: true}, nil},
		{"broken TOML", "[a]\nb = x\nc = 1\n", nil, syntax.Text{Prose: true}, []string{`2:5 a value is not quoted`}},
		{"broken YAML", "mcpServers:\n  a: [b\nc: d\n", nil, syntax.Text{Prose: true}, []string{"2:7 "}},
		{"a broken fence", "```\n{\"a\"\n```\n```\n{\"b\":1}\n```\n", []string{`json 2 5:1 {"b":1}`}, syntax.Text{Fences: 2}, []string{"3:1 a colon is missing"}},
		{"invisible", "\u200b\u00a0{\"a\u200b\":\"\u2060x\ufeff\u200d\"}", []string{"json 0 1:2 {\"a\":\"x\u200d\"}"}, syntax.Text{Fixed: syntax.ZeroWidth | syntax.OddSpaces}, nil},
		{"nothing", "", nil, syntax.Text{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := syntax.Split(tt.in)
			var docs []string
			for i := range got.Docs {
				docs = append(docs, summary(&got.Docs[i]))
			}
			if diff := cmp.Diff(tt.want, docs); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			if len(tt.faults) != len(got.Faults) {
				t.Errorf("%d faults, want %d", len(got.Faults), len(tt.faults))
			}
			for i, f := range got.Faults {
				if s := fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Err.Msg); i < len(tt.faults) && !strings.HasPrefix(s, tt.faults[i]) {
					t.Errorf("fault %q, want %q", s, tt.faults[i])
				}
			}
			got.Docs, got.Faults = nil, nil
			if diff := cmp.Diff(tt.text, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitTooMany(t *testing.T) {
	if got := syntax.Split(strings.Repeat("{}\n", syntax.MaxDocuments+1)); !got.TooMany || len(got.Docs) != syntax.MaxDocuments {
		t.Errorf("TooMany %v with %d documents", got.TooMany, len(got.Docs))
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, in, want string
		marked         bool
	}{
		{"UTF-8", "ä", "ä", false},
		{"a mark", "\ufeffä", "ä", true},
		{"UTF-16, little end first", "\xff\xfea\x00\xe4\x00", "aä", true},
		{"UTF-16, big end first", "\xfe\xff\x00a\x00\xe4", "aä", true},
		{"half a unit", "\xff\xfea\x00b", "a", true},
		{"nothing", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, marked, err := syntax.Decode([]byte(tt.in))
			if err != nil || got != tt.want || marked != tt.marked {
				t.Errorf("got %q, %v, %v", got, marked, err)
			}
		})
	}
	_, _, err := syntax.Decode([]byte("ab\xffc"))
	if e, ok := errors.AsType[*syntax.Error](err); !ok || e.Offset != 2 {
		t.Errorf("got %v", err)
	}
}

// FuzzSplit checks that all of a text is gone over and that every place is
// inside of it.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"```json\n{\"a\":1}\n```", "[a]\nb = 1\n", "mcpServers:\n- command: x\n", "npx -y x\n", "\"a\": {", "cursor://x?config=e30", "{“a”:1} {}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := syntax.Split(s)
		lines := strings.Count(s, "\n") + 1
		for i := range got.Docs {
			d := &got.Docs[i]
			if line, column := d.Position(0); line < 1 || line > lines || column < 1 {
				t.Errorf("document at %d:%d of %d lines", line, column, lines)
			}
		}
		for _, fault := range got.Faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Err.Msg == "" {
				t.Errorf("fault %+v of %d lines", fault, lines)
			}
		}
	})
}
