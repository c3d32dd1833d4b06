package normalize_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

func TestLaunchArgv(t *testing.T) {
	tests := []struct {
		name    string
		command string
		args    []string
		goos    string
		want    []string
		code    normalize.Code
	}{
		{"elsewhere", "npx", []string{"a&b"}, "linux", []string{"npx", "a&b"}, ""},
		{"no command", "", []string{"a"}, "windows", nil, ""},
		{"launcher", "npx", []string{"-y", "x"}, "windows", []string{"cmd", "/c", "npx", "-y", "x"}, ""},
		{"launchers in any case", "PNPM", nil, "windows", []string{"cmd", "/c", "PNPM"}, ""},
		{"yarn", "yarn", nil, "windows", []string{"cmd", "/c", "yarn"}, ""},
		{"launcher in a folder", `C:\node\npx`, nil, "windows", []string{"cmd", "/c", `C:\node\npx`}, ""},
		{"batch file", `C:\tools\x.CMD`, []string{"a b"}, "windows", []string{"cmd", "/c", `C:\tools\x.CMD`, "a b"}, ""},
		{"batch file, other suffix", "x.bat", nil, "windows", []string{"cmd", "/c", "x.bat"}, ""},
		{"path with a blank", `C:\my tools\x.cmd`, []string{"a"}, "windows", []string{"cmd", "/c", `C:\my tools\x.cmd`, "a"}, ""},
		{"path and argument with a blank", `C:\my tools\x.cmd`, []string{"a b"}, "windows", []string{"cmd", "/c", "call", `C:\my tools\x.cmd`, "a b"}, ""},
		{"path with a blank and a parenthesis", `C:\Program Files (x86)\x.cmd`, nil, "windows", []string{"cmd", "/c", "call", `C:\Program Files (x86)\x.cmd`}, ""},
		{"uvx", "uvx", []string{"a"}, "windows", []string{"uvx", "a"}, ""},
		{"program", `C:\Program Files\python.exe`, []string{"a|b"}, "windows", []string{`C:\Program Files\python.exe`, "a|b"}, ""},
		{"npx.exe is a program", "npx.exe", nil, "windows", []string{"npx.exe"}, ""},
		{"no second wrapper", "cmd", []string{"/c", "npx"}, "windows", []string{"cmd", "/c", "npx"}, ""},
		{"script of powershell", `C:\x\Run.PS1`, []string{"a"}, "windows", []string{"powershell", "-File", `C:\x\Run.PS1`, "a"}, ""},
		{"signs of cmd", "npx", []string{"a&b", "(c)", "<d>|^", "100%"}, "windows", []string{"cmd", "/c", "npx", "a^^^&b", "^^^(c^^^)", "^^^<d^^^>^^^|^^^^", "100%"}, ""},
		{"signs of cmd in quotes", "npx", []string{"a & b"}, "windows", []string{"cmd", "/c", "npx", "a & b"}, ""},
		{"an empty argument", "npx", []string{""}, "windows", []string{"cmd", "/c", "npx", ""}, ""},
		{"quotes", "npx", []string{`{"a":1}`}, "windows", []string{"cmd", "/c", "npx", `{"a":1}`}, ""},
		{"quotes and signs of cmd", "npx", []string{"x", `"a&b"`}, "windows", nil, normalize.BadValue},
		{"line break", "npx", []string{"a\nb"}, "windows", nil, normalize.BadValue},
		{"line break without cmd", "uvx", []string{"a\nb"}, "windows", []string{"uvx", "a\nb"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := normalize.Launch{Command: tt.command, Args: tt.args}
			args := slices.Clone(tt.args)
			got, err := l.Argv(tt.goos)
			if normalize.CodeOf(err) != tt.code {
				t.Fatalf("error %v, want code %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if err != nil && strings.Contains(err.Error(), "a&b") {
				t.Errorf("the message holds the argument: %v", err)
			}
			if !slices.Equal(args, l.Args) {
				t.Errorf("the launch was changed: %q", l.Args)
			}
		})
	}
}

func TestLaunchEnviron(t *testing.T) {
	l := normalize.Launch{
		Env: pairs("Own", "1"), EnvUnset: []string{"gone", "never"}, EnvFrom: []string{"HAVE", "LACK", "LACK", "NOBODY", "gone"},
	}
	vars := func(name string) (string, string, bool) { return "v", "", name != "NOBODY" }
	base := []string{"OWN=x", "Gone=x", "gone=y", "HAVE=h", "odd", `=C:=C:\dir`}
	tests := map[string][]string{
		"linux":   {"OWN=x", "Gone=x", "HAVE=h", "odd", `=C:=C:\dir`, "LACK=v", "Own=1"},
		"windows": {"HAVE=h", "odd", `=C:=C:\dir`, "LACK=v", "Own=1"},
	}
	for goos, want := range tests {
		if diff := cmp.Diff(want, l.Environ(goos, base, nil, vars)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", goos, diff)
		}
	}
}

func TestEnvVars(t *testing.T) {
	environ := []string{"A=1", "a=2", "EMPTY=", "odd", "EQ=a=b", "A=3"}
	tests := []struct {
		goos, name, value string
		ok                bool
	}{
		{"linux", "A", "3", true},
		{"linux", "a", "2", true},
		{"linux", "EMPTY", "", true},
		{"linux", "odd", "", false},
		{"linux", "EQ", "a=b", true},
		{"linux", "empty", "", false},
		{"windows", "empty", "", true},
		{"windows", "eQ", "a=b", true},
	}
	for _, tt := range tests {
		value, _, ok := normalize.EnvVars(tt.goos, environ)(tt.name)
		if value != tt.value || ok != tt.ok {
			t.Errorf("%s %s: %q, %v; want %q, %v", tt.goos, tt.name, value, ok, tt.value, tt.ok)
		}
	}
}
