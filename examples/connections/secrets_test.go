package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

func TestExcerpt(t *testing.T) {
	tests := []struct {
		name, line string
		column     int
		shown      string
		caret      int
	}{
		{"a secret without quotes", `{"env": {API_KEY: hunter2hunter2 "B": 1}}`, 34, `{"env": {API_KEY: ************** "*": *}}`, 33},
		{"a secret in quotes", `  "TOKEN": "hunter2: x",`, 3, `  "TOKEN": "**********`, 2},
		{"a secret in a list", `["--key", "hunter2": "x", b: c]`, 20, `["*****", "*******": "*", *: *]`, 19},
		{"a line of base64", "aGVsbG8=", 1, "*******=", 0},
		{"an assignment", "export API_KEY=hunter2", 8, "****** API_KEY=*******", 7},
		{"a quote that nothing ends", `a: "hunter2, b: c`, 4, `a: "*************`, 3},
		{"control characters", "a:\x1b[2Jx\u202e", 5, `*:\x1b[***\u202e`, 7},
		{"a long line", strings.Repeat("x", 200), 100, strings.Repeat("*", 80), 60},
		{"beyond the end", "a", 9, "*", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shown, caret := excerpt(tt.line, tt.column)
			if shown != tt.shown || caret != tt.caret {
				t.Errorf("got  %q, %d\nwant %q, %d", shown, caret, tt.shown, tt.caret)
			}
		})
	}
}

// capture runs a command on a text and gives what it prints.
func capture(t *testing.T, text string, command func(args []string, s streams) error, args ...string) (out, msgs string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pasted.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	err := command(append(args, file), streams{out: &o, err: &e})
	if err != nil {
		e.WriteString(err.Error())
	}
	return o.String(), e.String()
}

// TestSecretsStayHidden checks that a secret of the paste is in nothing that a
// command prints for people.
func TestSecretsStayHidden(t *testing.T) {
	normalize := func(args []string, s streams) error { return normalizeCommand(context.Background(), args, s) }
	for name, text := range map[string]string{
		"no quotes":    `{"mcpServers": {"a": {"command": "c", "env": {API_KEY: hunter2hunter2 hunter2; }}}}`,
		"a lost comma": `{"mcpServers": {"a": {"command": "c", "env": {"A": "x" "hunter2" }}}}`,
		"TOML":         "[mcp_servers.a]\ncommand = \"c\"\nkey = hunter2\n",
		"YAML":         "mcpServers:\n  a:\n    command: c\n    env: {A: hunter2, B: *hunter2}\n",
		"control":      "{\"a\": \x1b[2Jhunter2 (}",
	} {
		out, msgs := capture(t, text, normalize)
		if out != "" || !strings.Contains(msgs, "^") || strings.Contains(msgs, "hunter2") || strings.Contains(msgs, "\x1b") {
			t.Errorf("%s: %s%s", name, out, msgs)
		}
	}
	text := `{"mcpServers": {"a": {"command": "c", "args": ["--token", "hunter2"]}, "b": {"url": "https://u:hunter2@x.example.com/mcp"}}}`
	if out, _ := capture(t, text, normalize, "-format", "table"); strings.Contains(out, "hunter2") || !strings.Contains(out, secrets.Hidden) {
		t.Errorf("table:\n%s", out)
	}
	if out, _ := capture(t, text, normalize, "-format", "table", "-expand"); strings.Count(out, "hunter2") != 2 {
		t.Errorf("expanded table:\n%s", out)
	}
}

// TestTableHides checks the places of secrets in a table, and that the warnings name
// those that have one.
func TestTableHides(t *testing.T) {
	normalize := func(args []string, s streams) error { return normalizeCommand(context.Background(), args, s) }
	tests := []struct{ name, server, warning string }{
		{"a URL's password", `{"url": "https://app:plumjam7@h.example.com/mcp"}`, "secret_in_url:userinfo"},
		{"a URL's password with an at", `{"url": "https://app:plumjam7@x@h.example.com/mcp"}`, "secret_in_url:userinfo"},
		{"a URL's user", `{"url": "https://ghp_plumjam7a1b2c3d4e5f6@h.example.com/mcp"}`, secrets.Hidden},
		{"a URL's parameter", `{"url": "https://h.example.com/mcp?api_key=plumjam7"}`, "secret_in_url:api_key"},
		{"an option", `{"command": "c", "args": ["--token", "plumjam7"]}`, secrets.Hidden},
		{"an option with its value", `{"command": "c", "args": ["--api-key=ghp_plumjam7a1b2c3d4e5f6"]}`, secrets.Hidden},
		{"a database", `{"command": "c", "args": ["postgres://app:plumjam7@h.example.com/db"]}`, secrets.Hidden},
		{"a header", `{"command": "c", "args": ["--header", "Authorization: Bearer plumjam7"]}`, secrets.Hidden},
		{"a variable in a script", `{"command": "sh", "args": ["-c", "API_KEY=plumjam7 exec c"]}`, secrets.Hidden},
		{"a command with a blank", `{"command": "./my tool --password plumjam7"}`, "command_has_space"},
		{"a variable", `{"command": "c", "env": {"FOO": "ghp_plumjam7a1b2c3d4e5f6"}}`, "stdio"},
		{"a database in a variable", `{"command": "c", "env": {"DB": "postgres://app:plumjam7@h.example.com/db"}}`, "stdio"},
		{"a header of a request", `{"url": "https://h.example.com/mcp", "headers": {"X": "ghp_plumjam7a1b2c3d4e5f6"}}`, "type_inferred:http"},
		{"an address to look up", `{"uses": "https://app:plumjam7@h.example.com/x"}`, "needs_lookup:***@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, msgs := capture(t, `{"mcpServers": {"a": `+tt.server+`}}`, normalize, "-format", "table", "-os", "linux")
			if strings.Contains(out+msgs, "plumjam7") || !strings.Contains(out, tt.warning) {
				t.Errorf("printed, for %s:\n%s%s", tt.warning, out, msgs)
			}
			if _, msgs = capture(t, `{"mcpServers": {"a": `+tt.server+`}}`, normalize); strings.Contains(msgs, "plumjam7") {
				t.Errorf("said beside the records:\n%s", msgs)
			}
		})
	}
}

func TestExportTellsServerNotes(t *testing.T) {
	text := `{"mcpServers": {"a": {"command": "c", "headers": {"A": "b"}, "env": {"API_KEY": "hunter2hunter2"}}, "b": {"url": "https://u:p@x.example.com/mcp"}}}`
	_, msgs := capture(t, text, exportCommand, "-to", "claude-desktop")
	for _, want := range []string{"headers_on_stdio_dropped", "secret_inline:env.API_KEY", "secret_in_url:userinfo", "secret_in_args:b"} {
		if !strings.Contains(msgs, want) {
			t.Errorf("no %s in:\n%s", want, msgs)
		}
	}
}

func TestNormalizeTellsNoWindowsLaunch(t *testing.T) {
	out, _ := capture(t, `{"mcpServers": {"a": {"command": "npx", "args": ["a\nb"]}}}`, func(args []string, s streams) error {
		return normalizeCommand(context.Background(), args, s)
	})
	if !strings.Contains(out, `"not_expressible:launch_windows.args[0]"`) {
		t.Error(out)
	}
}
