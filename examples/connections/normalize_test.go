package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
)

// runNormalize runs the command on a text and gives what it writes.
func runNormalize(t *testing.T, text string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err = normalizeCommand(context.Background(), args, streams{strings.NewReader(text), &out, &errOut})
	return out.String(), errOut.String(), err
}

// write writes a file of the test and gives its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNormalizeCases runs the command on the cases of package normalize, with
// the flags that state their environment, and compares what it prints.
func TestNormalizeCases(t *testing.T) {
	wants, err := filepath.Glob("../../normalize/testdata/*/*.want")
	if err != nil || len(wants) < 90 {
		t.Fatalf("%d cases, %v", len(wants), err)
	}
	secrets := write(t, "secrets", "VAULT_KEY=vk-456\n")
	env := map[string]string{
		"linux":   write(t, "env", "HOME=/home/dev\nUSER=dev\nAPI_TOKEN=tok-123\nAPI_HOST=api.example.com\nREGION=eu-1\nEMPTY=\nCHAIN=${API_TOKEN}\nPW=p$REGION!x\n"),
		"windows": write(t, "envw", "USERPROFILE=C:\\Users\\dev\r\nAPPDATA=C:\\Users\\dev\\AppData\\Roaming\r\nUSER=dev\r\nAPI_TOKEN=tok-123\r\nREGION=eu-1\r\n"),
	}
	home := map[string]string{"linux": "/home/dev", "windows": `C:\Users\dev`}
	workspace := map[string]string{"linux": "/srv/ws", "windows": `C:\ws`}
	for _, path := range wants {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			goos := want["os"].(string)
			out, _, err := runNormalize(t, "", "-dialect", want["dialect"].(string), "-os", goos, "-env-file", env[goos], "-secrets-file", secrets,
				"-home", home[goos], "-workspace", workspace[goos], "-expand", strings.TrimSuffix(path, ".want"))
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			delete(want, "os")
			delete(want, "dialect")
			onlyGiven(want, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// onlyGiven sorts the notes of both, and takes out of got what cases give only
// where it is worth checking.
func onlyGiven(want, got map[string]any) {
	wants, gots := want["servers"].([]any), got["servers"].([]any)
	for i := range min(len(wants), len(gots)) {
		w, g := wants[i].(map[string]any), gots[i].(map[string]any)
		for _, key := range []string{"image", "launch_windows"} {
			if _, ok := w[key]; !ok {
				delete(g, key)
			}
		}
		sortTexts(w["warnings"])
		sortTexts(g["warnings"])
	}
	sortTexts(want["doc_warnings"])
	sortTexts(got["doc_warnings"])
}

func sortTexts(v any) {
	if list, ok := v.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
}

func TestNormalizeUnexpanded(t *testing.T) {
	const text = `{"mcpServers": {
  "a": { "command": "npx", "args": ["-y", "mcp-remote", "https://a.example.com/mcp", "--header", "X:${K}"], "env": { "K": "${env:TOKEN}" } },
  "b": { "url": "https://b.example.com/mcp", "oauth": false, "tools": [], "disabled": true, "timeoutMs": 1500 },
  "c": null
}}`
	out, _, err := runNormalize(t, text, "-os", "linux", "-dialect", "copilot-cli")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "doc_warnings": [],
  "servers": [
    {
      "name": "a",
      "transport": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "mcp-remote",
        "https://a.example.com/mcp",
        "--header",
        "X:${K}"
      ],
      "env": {
        "K": "${TOKEN}"
      },
      "equivalent": {
        "transport": "http",
        "url": "https://a.example.com/mcp",
        "headers": {
          "X": "${TOKEN}"
        }
      },
      "launch_windows": [
        "cmd",
        "/c",
        "npx",
        "-y",
        "mcp-remote",
        "https://a.example.com/mcp",
        "--header",
        "X:${K}"
      ],
      "warnings": [
        "remote_bridge_detected:mcp-remote"
      ]
    },
    {
      "name": "b",
      "transport": "http",
      "url": "https://b.example.com/mcp",
      "oauth": false,
      "enabled": false,
      "tools": {
        "allow": []
      },
      "timeouts_ms": {
        "call": 1500
      },
      "warnings": [
        "no_tools_enabled",
        "field_synonym:timeoutMs",
        "type_inferred:http"
      ]
    },
    {
      "name": "c",
      "error": "entry_null"
    }
  ]
}
`
	if diff := cmp.Diff(sortedLines(want), sortedLines(out)); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// sortedLines sorts the runs of notes, whose order says nothing.
func sortedLines(s string) []string {
	lines := strings.Split(strings.ReplaceAll(s, "\",\n", "\"\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestNormalizeProcessEnvironment(t *testing.T) {
	t.Setenv("ACME_REGION", "eu-7")
	out, _, err := runNormalize(t, `{"mcpServers": {"a": {"command": "acme", "args": ["${ACME_REGION}", "${HOME:-none}"]}}}`, "-expand", "-")
	if err != nil || !strings.Contains(out, `"eu-7"`) {
		t.Errorf("printed %s, %v", out, err)
	}
	out, _, err = runNormalize(t, `{"mcpServers": {"a": {"command": "acme", "args": ["${ACME_REGION}"]}}}`, "-expand", "-env-file", write(t, "env", "# none\n"))
	if err != nil || !strings.Contains(out, "unresolved:ACME_REGION") {
		t.Errorf("printed %s, %v", out, err)
	}
}

func TestNormalizeValueFault(t *testing.T) {
	env := write(t, "env", "BAD=a\x00b\n")
	out, _, err := runNormalize(t, `{"mcpServers": {"a": {"command": "acme", "args": ["${BAD}"]}, "b": {"command": "acme"}}}`, "-expand", "-env-file", env)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, `"error": "bad_value:args[0]"`) || !strings.Contains(out, `"name": "b"`) || strings.Contains(out, "a\\u0000b") {
		t.Errorf("printed %s", out)
	}
}

func TestNormalizeTable(t *testing.T) {
	const text = "{\n  \"mcpServers\": {\n    \"one\": { \"command\": \"npx -y\", \"args\": [\"a b\", \"it's\", \"\"] },\n    \"second\\u001b\": { \"url\": \"https://s.example.com/mcp\", \"disabled\": true },\n    \"x\": {},\n  }\n}\n"
	out, _, err := runNormalize(t, text, "-format", "table")
	if err != nil {
		t.Fatal(err)
	}
	want := `trailing_commas_removed: commas before a closing bracket were skipped; clients that want strict JSON refuse them

one      stdio  on     npx -y 'a b' 'it'\''s' ''
    3:25 command_split: the command is a whole line and was split into words
second�  http   off    https://s.example.com/mcp
    4:30 type_inferred:http: the entry does not say its transport; "http" was taken from the address
x        -      error  no_command_or_url: the entry says neither what to run nor where to connect
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	out, _, err = runNormalize(t, `{"name": "n", "packages": [{"registryType": "oci", "identifier": "x", "runtimeHint": "docker", "transport": {"type": "http", "url": "http://localhost:1/"}}]}`, "-format", "table")
	if err != nil || !strings.Contains(out, "docker run -i --rm x -> http://localhost:1/") {
		t.Errorf("printed %s, %v", out, err)
	}
}

// TestNormalizeFaults checks that both forms say why a server cannot run, and that
// this is not the end of the others.
func TestNormalizeFaults(t *testing.T) {
	const text = `{"mcpServers": {"m": {"comand": "npx"}, "u": {"uses": "acme/files"}, "b": {"command": "acme", "args": ["${BAD}"]}, "ok": {"command": "acme"}}}`
	env := write(t, "env", "BAD=a\x00b\n")
	sentences := []string{
		`the entry says neither what to run nor where to connect; did you mean "command" where it says "comand"?`,
		`"acme/files" only names a server; look it up to learn how it is run`,
		"NUL",
	}
	out, errOut, err := runNormalize(t, text, "-expand", "-env-file", env)
	if err != nil || strings.Contains(out, "names a server") {
		t.Errorf("printed %s, %v", out, err)
	}
	table, _, err := runNormalize(t, text, "-expand", "-env-file", env, "-format", "table")
	if err != nil || !strings.Contains(table, "ok  stdio  on     acme\n") {
		t.Errorf("printed %s, %v", table, err)
	}
	for _, want := range sentences {
		if !strings.Contains(errOut, want) {
			t.Errorf("no %q beside the records:\n%s", want, errOut)
		}
		if !strings.Contains(table, want) {
			t.Errorf("no %q in the table:\n%s", want, table)
		}
	}
}

// TestNormalizeNoServers holds the exit code of a text that was read and declares
// none.
func TestNormalizeNoServers(t *testing.T) {
	for _, format := range []string{"json", "table"} {
		out, errOut, err := runNormalize(t, `{"hooks": {}}`, "-format", format)
		if err != nil || !strings.Contains(out, "no_mcp_config") || !strings.Contains(out+errOut, "it holds hooks") {
			t.Errorf("%s: printed %s%s, %v", format, out, errOut, err)
		}
	}
	if _, errOut, _ := runNormalize(t, "", "-h"); !strings.Contains(errOut, "Ends with 0 whenever the configuration could be read") {
		t.Errorf("help: %s", errOut)
	}
}

func TestNormalizeUnreadable(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a caret", "{\n\t\"mcpServers\": {\n\t\t\"a\" {} }\n}\n", "stdin:3:7: a colon is missing after a name; write name: value pairs\n      \"*\" {} }\n          ^\n"},
		{"a long line", `{"mcpServers": {"a": {"command": "` + strings.Repeat("x", 100) + `", "args" []}}}`, "stdin:1:145: a colon is missing after a name; write name: value pairs\n    " + strings.Repeat("*", 50) + `", "****" []}}}` + "\n    " + strings.Repeat(" ", 60) + "^\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, errOut, err := runNormalize(t, tt.text)
			var exit cli.ExitError
			if !errors.As(err, &exit) || exit != 1 || out != "" {
				t.Errorf("printed %q, %v", out, err)
			}
			if diff := cmp.Diff(tt.want, errOut); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormalizeUsage(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"an unknown flag", []string{"-x"}, "exit code 2"},
		{"help", []string{"-h"}, flag.ErrHelp.Error()},
		{"an unknown format", []string{"-format", "xml"}, `-format: there is no "xml"; give json or table`},
		{"an unknown system", []string{"-os", "plan9"}, `-os: there is no "plan9"; give linux, windows or darwin`},
		{"an unknown dialect", []string{"-dialect", "emacs"}, `-dialect: "emacs" is no client to read from; give one of claude-code, `},
		{"a misspelt dialect", []string{"-dialect", "claude-deskto"}, "claude-desktop is one; give one of"},
		{"two files", []string{"a", "b"}, `unexpected argument "b"; give one file`},
		{"no such file", []string{"gone"}, "gone"},
		{"a flag after the file", []string{"gone", "-format", "xml"}, "-format: there is no"},
		{"a file like a flag", []string{"--", "-gone"}, "-gone"},
		{"no such variables", []string{"-env-file", "gone"}, "-env-file: "},
		{"no such secrets", []string{"-secrets-file", "gone"}, "-secrets-file: "},
		{"no variables", []string{"-env-file", write(t, "env", "A=1\n\n# B\n{\"K\": \"canary\"}\n")}, "line 4: it is not NAME=value"},
		{"no name", []string{"-secrets-file", write(t, "env", "=canary\n")}, "line 1: it is not NAME=value"},
		{"too large", []string{"-"}, "more than 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "{}"
			if tt.name == "too large" {
				text = strings.Repeat(" ", 1<<20+5)
			}
			_, errOut, err := runNormalize(t, text, tt.args...)
			if err == nil || !strings.Contains(err.Error()+errOut, tt.want) || strings.Contains(err.Error()+errOut, "canary") {
				t.Errorf("got %v, printed %q", err, errOut)
			}
		})
	}
}

func TestExport(t *testing.T) {
	var out, errOut bytes.Buffer
	text := `{"mcpServers": {"a": {"type": "sse", "url": "https://a.example.com/sse"}, "b": {"command": "acme", "env": {"T": "${T}"}}}}`
	if err := exportCommand([]string{"-to", "codex", "-"}, streams{strings.NewReader(text), &out, &errOut}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "[mcp_servers.a]") || !strings.Contains(errOut.String(), "bridge_written") {
		t.Errorf("printed\n%s\nnotes\n%s", out.String(), errOut.String())
	}
	tests := []struct {
		name, text string
		args       []string
		want       string
	}{
		{"no target", text, nil, "-to is required: it names the client to write for, such as -to codex; run with -h"},
		{"a target that is not known", text, []string{"-to", "nope"}, `-to: "nope" is no client to write for; give one of claude-code, `},
		{"a source that is not known", text, []string{"-to", "codex", "-dialect", "codexx"}, `-dialect: "codexx" is no client to read from; codex is one; `},
		{"a system that is not known", text, []string{"-", "-to", "codex", "-os", "plan9"}, `-os: there is no "plan9"`},
		{"two files", text, []string{"a", "-to", "codex", "b"}, `unexpected argument "b"`},
		{"no servers", `{"hooks": {"PreToolUse": []}}`, []string{"-to", "cursor"}, "no server to export"},
		{"a server that is off", `{"mcpServers": {"ws": {"command": "acme", "disabled": true}}}`, []string{"-to", "cursor"}, "cursor can hold none of the servers"},
		{"a server that is off, with its reason", `{"mcpServers": {"ws": {"command": "acme", "disabled": true}}}`, []string{"-to", "cursor"}, "not_expressible:ws:enabled: the client has no switch for a server that is off, so it was left out"},
		{"a server that cannot run", `{"mcpServers": {"m": {"comand": "acme"}}}`, []string{"-to", "codex"}, "skipped:m(no_command_or_url): the record cannot run"},
		{"a target that is not written", text, []string{"-to", "mcpb"}, `-to: "mcpb" is no client to write for`},
		{"broken", `{"a" 1}`, []string{"-to", "codex"}, "exit code 1"},
		{"an unknown flag", text, []string{"-x"}, "exit code 2"},
		{"help", text, []string{"-h"}, flag.ErrHelp.Error()},
		{"no such file", text, []string{"-to", "codex", "gone"}, "gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			err := exportCommand(tt.args, streams{strings.NewReader(tt.text), &out, &errOut})
			if err == nil || !strings.Contains(err.Error()+errOut.String(), tt.want) || out.Len() > 0 {
				t.Errorf("got %v, printed %q and %q", err, out.String(), errOut.String())
			}
		})
	}
}

func TestRun(t *testing.T) {
	path := write(t, "mcp.json", `{"mcpServers": {"a": {"command": "acme"}}}`)
	tests := []struct {
		name string
		args []string
		want string // in what is printed or in the error
	}{
		{"normalize", []string{"normalize", path}, `"command": "acme"`},
		{"export", []string{"export", "-to", "zed", path}, "context_servers"},
		{"a flag after the file", []string{"export", path, "-to", "zed"}, "context_servers"},
		{"a format after the file", []string{"normalize", path, "-format", "table"}, "a  stdio  on  acme"},
		{"help", []string{"-h"}, "connections normalize [flags] [FILE]"},
		{"help as a command", []string{"help"}, "-key-file"},
		{"an unknown command", []string{"destroy"}, `unknown command "destroy"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			got := ""
			if err := run(context.Background(), tt.args, streams{nil, &out, &errOut}); err != nil {
				got = err.Error()
			}
			if !strings.Contains(got+out.String()+errOut.String(), tt.want) {
				t.Errorf("error %q, printed %q and %q", got, out.String(), errOut.String())
			}
		})
	}
}
