package normalize_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// TestCmdLine checks what cmd is given: every character that it acts on is
// inside quotes, escaped for both readings, or refused.
func TestCmdLine(t *testing.T) {
	tests := []struct {
		name    string
		command string
		args    []string
		want    string // the line, its words joined by |
		refused string // the field
	}{
		{"a reference of Windows", "npx", []string{"%PATH%"}, "cmd|/c|npx|%PATH%", ""},
		{"a part of a variable", "npx", []string{"%PATH:~0,1%"}, "cmd|/c|npx|^^^%PATH:~0,1^^^%", ""},
		{"an encoded address", "npx", []string{"https://x.example.com/a%20b%20c"}, "cmd|/c|npx|https://x.example.com/a^^^%20b^^^%20c", ""},
		{"a variable over two arguments", "npx", []string{"%PATH:a=", "b%"}, "cmd|/c|npx|^^^%PATH:a=|b^^^%", ""},
		{"a variable among blanks", "npx", []string{"a %PATH:~0,1%"}, "", "args[0]"},
		{"one percent sign", "npx", []string{"a 100%"}, "cmd|/c|npx|a 100%", ""},
		{"an open quote before quotes", "npx", []string{`a"`, "b & calc"}, "", "args[0]"},
		{"an open quote after signs", "npx", []string{"a&b", `c"`}, "", "args[1]"},
		{"an open quote alone", "npx", []string{`a"b`, "c d"}, `cmd|/c|npx|a"b|c d`, ""},
		{"balanced quotes before signs", "npx", []string{`{"a":1}`, "b & c"}, `cmd|/c|npx|{"a":1}|b & c`, ""},
		{"a program with signs", `C:\a&b\x.cmd`, nil, `cmd|/c|C:\a^&b\x.cmd`, ""},
		{"a program with a quote", `C:\a"&b\x.cmd`, nil, "", "command"},
		{"a program with a variable and a blank", `C:\my %A:~0%\x.cmd`, nil, "", "command"},
		{"signs behind call", `C:\my tools\x.cmd`, []string{"a b", "c&d"}, "", "args[1]"},
		{"a NUL byte", "npx", []string{"a\x00b"}, "", "args[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := normalize.Launch{Command: tt.command, Args: tt.args}.Argv("windows")
			if line := strings.Join(got, "|"); line != tt.want {
				t.Errorf("got  %s\nwant %s", line, tt.want)
			}
			field := ""
			if e, ok := errors.AsType[*normalize.Error](err); ok && e.Code == normalize.BadValue {
				field = e.Subject
			}
			if field != tt.refused {
				t.Errorf("error %v, want one about %q", err, tt.refused)
			}
		})
	}
}

// TestExportForCmd checks that what a file starts through cmd is escaped as in a
// launch, or is left out with the argument's name, and that it reads back.
func TestExportForCmd(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		want  []string // the arguments in the file, nil for no server
		notes []string
	}{
		{"signs", []string{"pkg&calc.exe", "<x>|^"}, []string{"/c", "npx", "pkg^^^&calc.exe", "^^^<x^^^>^^^|^^^^"}, nil},
		{"a caret of a version", []string{"pkg@^1.0"}, []string{"/c", "npx", "pkg@^^^^1.0"}, nil},
		{"a variable of cmd", []string{"%PATH%"}, []string{"/c", "npx", "%PATH%"}, []string{"not_expressible:a:args[0]"}},
		{"a reference", []string{"--x=${X}"}, []string{"/c", "npx", "--x=${env:X}"}, []string{"not_expressible:a:args[0]"}},
		{"a line break", []string{"x", "a\nb"}, nil, []string{"not_expressible:a:args[1]"}},
		{"quotes and signs", []string{`"a&b"`}, nil, []string{"not_expressible:a:args[0]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []normalize.Server{{Name: "a", Transport: normalize.Stdio, Command: "npx", Args: tt.args}}
			out, notes, err := normalize.Export(normalize.Cursor, in, &normalize.ExportOptions{GOOS: "windows"})
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, n := range notes {
				codes = append(codes, n.String())
			}
			if diff := cmp.Diff(tt.notes, codes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			var file struct {
				Servers map[string]struct{ Args []string } `json:"mcpServers"`
			}
			if err := json.Unmarshal(out, &file); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, file.Servers["a"].Args); diff != "" {
				t.Errorf("args (-want +got):\n%s", diff)
			}
			back, err := normalize.Parse(out, &normalize.ParseOptions{Dialect: normalize.Cursor, GOOS: "windows"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != nil && (len(back.Servers) != 1 || !slices.Equal(back.Servers[0].Args, tt.args)) {
				t.Errorf("it reads back as %+v", back.Servers)
			}
		})
	}
}
