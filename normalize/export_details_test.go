package normalize_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/normalize"
)

func TestExportDetails(t *testing.T) {
	stdio := func(s normalize.Server) normalize.Server {
		s.Name, s.Transport = "n", normalize.Stdio
		if s.Command == "" {
			s.Command = "c"
		}
		return s
	}
	http := func(s normalize.Server) normalize.Server {
		s.Name, s.Transport = "n", normalize.HTTP
		if s.URL == "" {
			s.URL = "https://u"
		}
		return s
	}
	tests := []struct {
		name  string
		to    normalize.Dialect
		in    normalize.Server
		opts  *normalize.ExportOptions
		has   []string // what the result holds
		hasNo []string
		notes []string
	}{
		{
			name: "batch file on windows", to: normalize.ClaudeCode, in: stdio(normalize.Server{Command: "npx", Args: []string{"-y", "a b", "x&y"}}),
			opts: &normalize.ExportOptions{GOOS: "windows"}, has: []string{`"command": "cmd"`, `"args": ["/c", "npx", "-y", "a b", "x^^^&y"]`},
			notes: []string{"not_expressible:n:args[1]"},
		},
		{
			name: "program on windows", to: normalize.OpenCode, in: stdio(normalize.Server{Command: "uvx", Args: []string{"a b"}}),
			opts: &normalize.ExportOptions{GOOS: "windows"}, has: []string{`"command": ["uvx", "a b"]`},
		},
		{
			name: "approvals left out", to: normalize.Cline, in: stdio(normalize.Server{AutoApprove: []string{"*"}}),
			hasNo: []string{"autoApprove"}, notes: []string{"auto_approve_left_out:n"},
		},
		{
			name: "approvals in a list", to: normalize.Roo, in: stdio(normalize.Server{AutoApprove: []string{"a"}}),
			opts: &normalize.ExportOptions{AutoApprove: true}, has: []string{`"alwaysAllow": ["a"]`},
		},
		{
			name: "approvals of all as trust", to: normalize.GeminiCLI, in: stdio(normalize.Server{AutoApprove: []string{"*"}}),
			opts: &normalize.ExportOptions{AutoApprove: true}, has: []string{`"trust": true`},
		},
		{
			name: "approvals of some without a place", to: normalize.GeminiCLI, in: stdio(normalize.Server{AutoApprove: []string{"a"}}),
			opts: &normalize.ExportOptions{AutoApprove: true}, hasNo: []string{"trust"}, notes: []string{"not_expressible:n:tools.auto_approve"},
		},
		{
			name: "approvals of all as a mode", to: normalize.Codex, in: stdio(normalize.Server{AutoApprove: []string{"*"}}),
			opts: &normalize.ExportOptions{AutoApprove: true}, has: []string{`default_tools_approval_mode = "approve"`},
		},
		{
			name: "approvals as tables", to: normalize.Codex, in: stdio(normalize.Server{AutoApprove: []string{"a b"}}),
			opts: &normalize.ExportOptions{AutoApprove: true}, has: []string{"[mcp_servers.n.tools.\"a b\"]\napproval_mode = \"approve\"\n"},
		},
		{
			name: "removed variables", to: normalize.VSCode, in: stdio(normalize.Server{EnvUnset: []string{"GONE"}}), has: []string{`"GONE": null`},
		},
		{
			name: "removed variables elsewhere", to: normalize.Zed, in: stdio(normalize.Server{EnvUnset: []string{"GONE"}}),
			has: []string{`"args": []`}, hasNo: []string{"GONE"}, notes: []string{"not_expressible:n:env_unset"},
		},
		{
			name: "an empty list of tools", to: normalize.CopilotCLI, in: stdio(normalize.Server{AllowTools: []string{}}), has: []string{`"tools": []`},
		},
		{
			name: "all tools", to: normalize.Codex, in: stdio(normalize.Server{AllowTools: []string{"*"}}), hasNo: []string{"enabled_tools"},
		},
		{
			name: "extra fields at home", to: normalize.Cursor, in: http(normalize.Server{Dialect: normalize.Cursor, Extra: []byte(`{"a":{"b":1.50},"url":"no"}`)}),
			has: []string{`"a": {`, `"b": 1.50`}, hasNo: []string{`"no"`},
		},
		{
			name: "extra fields abroad", to: normalize.Cline, in: http(normalize.Server{Dialect: normalize.Cursor, Extra: []byte(`{"a":1,"b":2}`)}),
			notes: []string{"not_expressible:n:extra.a", "not_expressible:n:extra.b"},
		},
		{
			name: "extra fields merge", to: normalize.Continue,
			in:  http(normalize.Server{Dialect: normalize.Continue, Headers: pairs("A", "b"), Extra: []byte(`{"requestOptions":{"verifySsl":false}}`)}),
			has: []string{"    requestOptions:\n      headers:\n        A: b\n      verifySsl: false\n"},
		},
		{
			name: "broken extra fields", to: normalize.Cursor, in: http(normalize.Server{Dialect: normalize.Cursor, Extra: []byte(`[`)}),
			notes: []string{"not_expressible:n:extra"},
		},
		{
			name: "times rounded up", to: normalize.Goose, in: stdio(normalize.Server{CallTimeout: 1500 * time.Millisecond}),
			has: []string{"timeout: 2\n"}, notes: []string{"not_expressible:n:timeouts.call"},
		},
		{
			name: "times out of range", to: normalize.Roo, in: stdio(normalize.Server{CallTimeout: 2 * time.Hour}),
			has: []string{`"timeout": 3600`}, notes: []string{"not_expressible:n:timeouts.call"},
		},
		{
			name: "times ignored", to: normalize.ClaudeCode, in: stdio(normalize.Server{CallTimeout: 5 * time.Millisecond, StartTimeout: 1}),
			has: []string{`"timeout": 5`}, notes: []string{"not_expressible:n:timeouts.startup", "not_expressible:n:timeouts.call"},
		},
		{
			name: "signing in switched off", to: normalize.OpenCode, in: http(normalize.Server{OAuth: &normalize.OAuth{Off: true}}), has: []string{`"oauth": false`},
		},
		{
			name: "signing in switched off with more", to: normalize.OpenCode, in: http(normalize.Server{OAuth: &normalize.OAuth{Off: true, ClientID: "c"}}),
			has: []string{`"oauth": false`}, notes: []string{"not_expressible:n:oauth"},
		},
		{
			name: "signing in switched off beside more", to: normalize.GeminiCLI, in: http(normalize.Server{OAuth: &normalize.OAuth{Off: true, ClientID: "c"}}),
			has: []string{`"enabled": false`, `"clientId": "c"`},
		},
		{
			name: "signing in switched off nowhere", to: normalize.Cursor, in: http(normalize.Server{OAuth: &normalize.OAuth{Off: true}}),
			notes: []string{"not_expressible:n:oauth"},
		},
		{
			name: "signing in with defaults", to: normalize.Crush, in: http(normalize.Server{OAuth: &normalize.OAuth{}}), has: []string{`"oauth": true`},
		},
		{
			name: "signing in with defaults as an object", to: normalize.Cursor, in: http(normalize.Server{OAuth: &normalize.OAuth{}}), has: []string{`"auth": {}`},
		},
		{
			name: "signing in without a place", to: normalize.Zed, in: http(normalize.Server{OAuth: &normalize.OAuth{}}), notes: []string{"not_expressible:n:oauth"},
		},
		{
			name: "scopes as one text", to: normalize.ClaudeCode, in: http(normalize.Server{OAuth: &normalize.OAuth{Scopes: []string{"a", "b"}}}),
			has: []string{`"scopes": "a b"`},
		},
		{
			name: "parts of signing in without a place", to: normalize.CopilotCLI, in: http(normalize.Server{OAuth: &normalize.OAuth{ClientID: "c", ClientSecret: "${S}"}}),
			has: []string{`"oauthClientId": "c"`}, notes: []string{"not_expressible:n:oauth.client_secret"},
		},
		{
			name: "a program that serves http", to: normalize.Cursor, in: http(normalize.Server{Command: "c", Args: []string{"a"}, Cwd: "/", EnvFile: "f", Env: pairs("A", "b")}),
			hasNo: []string{`"command"`, `"env"`},
			notes: []string{"not_expressible:n:command", "not_expressible:n:args", "not_expressible:n:cwd", "not_expressible:n:env_file", "not_expressible:n:env"},
		},
		{
			name: "variables by name", to: normalize.Codex,
			in: http(normalize.Server{Headers: pairs("authorization", "Bearer ${T}", "A", "${V}", "B", "${V:-d}", "C", "x ${V}", "D", "Bearer ${V}", "E", "${userHome}")}),
			has: []string{
				`bearer_token_env_var = "T"`, "[mcp_servers.n.env_http_headers]\nA = \"V\"\n", `B = "${V:-d}"`, `C = "x ${V}"`, `D = "Bearer ${V}"`,
			},
			notes: []string{"not_expressible:n:headers.B", "not_expressible:n:headers.C", "not_expressible:n:headers.D", "not_expressible:n:headers.E"},
		},
		{
			name: "spellings of a shell", to: normalize.Crush, in: stdio(normalize.Server{Args: []string{"${A}", "${A}b", "${A}-", "${A:-${B}}", "$${A}", "5$", "`x`"}}),
			has:   []string{`"args": ["$A", "${A}b", "$A-", "${A:-$B}", "$${A}", "5$", "` + "`x`" + `"]`},
			notes: []string{"not_expressible:n:args[4]", "not_expressible:n:args[5]", "not_expressible:n:args[6]"},
		},
		{
			name: "text that the target would expand", to: normalize.GeminiCLI, in: stdio(normalize.Server{Args: []string{"$A", "$$A", `\$A`, "$9"}}),
			notes: []string{"not_expressible:n:args[0]"},
		},
		{
			name: "braces that the target would expand", to: normalize.OpenCode, in: stdio(normalize.Server{Args: []string{"{env:A}", "{file:x}", "{x}", "$${A}"}}),
			has:   []string{`"{env:A}", "{file:x}", "{x}", "${env:A}"`},
			notes: []string{"not_expressible:n:args[0]", "not_expressible:n:args[1]", "not_expressible:n:args[3]"},
		},
		{
			name: "values from files", to: normalize.OpenCode, in: stdio(normalize.Server{Dialect: normalize.Windsurf, Args: []string{"${file:/x}"}}), has: []string{`"{file:/x}"`},
		},
		{
			name: "values from files back", to: normalize.Windsurf, in: stdio(normalize.Server{Dialect: normalize.OpenCode, Args: []string{"{file:/x}"}}), has: []string{`"${file:/x}"`},
		},
		{
			name: "values from files nowhere", to: normalize.Cursor, in: stdio(normalize.Server{Dialect: normalize.OpenCode, Args: []string{"{file:/x}"}}),
			has: []string{`"{file:/x}"`}, notes: []string{"not_expressible:n:args[0]"},
		},
		{
			name: "what stays text", to: normalize.OpenCode, in: stdio(normalize.Server{Args: []string{"$(x ${A})", "`x ${A}`", "${A%x}", "${A"}}),
			has: []string{"\"$(x ${A})\", \"`x ${A}`\", \"${A%x}\", \"${A\""},
		},
		{
			name: "defaults", to: normalize.ClaudeCode, in: stdio(normalize.Server{Args: []string{"${A:-x}", "${A:-${B}}"}}),
			notes: []string{"not_expressible:n:args[1]"},
		},
		{
			name: "no defaults", to: normalize.Cursor, in: stdio(normalize.Server{Args: []string{"${A:-x}"}}),
			has: []string{`"${env:A}"`}, notes: []string{"not_expressible:n:args[0]"},
		},
		{
			name: "fields without references", to: normalize.AmazonQ, in: stdio(normalize.Server{Args: []string{"${A}"}, Env: pairs("A", "${B}")}),
			has: []string{`"A": "${env:B}"`}, notes: []string{"not_expressible:n:args[0]"},
		},
		{
			name: "secrets become prompts", to: normalize.VSCode,
			in:  http(normalize.Server{Headers: pairs("A", "Bearer ${API_TOKEN}", "B", "${API_TOKEN}${REGION}")}),
			has: []string{`"Bearer ${input:API_TOKEN}"`, `"${input:API_TOKEN}${env:REGION}"`, `"password": true`}, notes: []string{"inputs:API_TOKEN(secret)"},
		},
		{
			name: "secrets by any name become prompts", to: normalize.VSCode,
			in:    stdio(normalize.Server{Env: pairs("A", "${DB_PASS}", "B", "${SESSION}", "C", "${REGION}", "D", "${USE_TOKEN}", "E", "${SORT_KEY_NAME}")}),
			has:   []string{`"A": "${input:DB_PASS}"`, `"B": "${input:SESSION}"`, `"C": "${env:REGION}"`, `"D": "${input:USE_TOKEN}"`, `"E": "${env:SORT_KEY_NAME}"`},
			notes: []string{"inputs:DB_PASS(secret),SESSION(secret),USE_TOKEN(secret)"},
		},
		{
			name: "secrets by their place become prompts wherever they stand", to: normalize.VSCodeSettings,
			in: http(normalize.Server{URL: "https://x.example.com/${ACME}", Headers: pairs(
				"A", "${ACME}", "Authorization", "Bearer ${ACME}", "Cookie", "theme=${THEME}", "X-Key", "${HUB:-x}", "X-Token", "${workspaceFolder}")}),
			has: []string{
				`example.com/${input:ACME}"`, `"A": "${input:ACME}"`, `"Bearer ${input:ACME}"`, `"theme=${env:THEME}"`, `"X-Key": "${input:HUB}"`, `"${workspaceFolder}"`,
			},
			notes: []string{"not_expressible:n:headers.X-Key", "inputs:ACME(secret),HUB(secret)"},
		},
		{
			name: "two blanks after the scheme", to: normalize.VSCode, in: http(normalize.Server{Headers: pairs("Authorization", "Bearer  ${ACME}")}),
			has: []string{`"Bearer  ${input:ACME}"`}, notes: []string{"inputs:ACME(secret)"},
		},
		{
			name: "no prompts where the client has none", to: normalize.Cursor, in: http(normalize.Server{Headers: pairs("Authorization", "Bearer ${ACME}")}),
			has: []string{`"Bearer ${env:ACME}"`},
		},
		{
			name: "prompts of all kinds", to: normalize.VSCodeSettings,
			in: stdio(normalize.Server{Args: []string{"${input:a}"}, Inputs: []normalize.Input{
				{ID: "a", Kind: "pickString", Options: []string{"x", "y"}, Default: []string{"x"}},
				{ID: "b", Kind: "command"},
				{ID: "c", Kind: "promptString", Default: []string{"${A}"}},
			}}),
			has:   []string{`"options": ["x", "y"]`, `"default": "x"`, `"default": "${env:A}"`},
			notes: []string{"not_expressible:n:inputs.b", "not_expressible:n:inputs.c", "inputs:a,b(command),c"},
		},
		{
			name: "prompts of another client", to: normalize.Continue, in: stdio(normalize.Server{Args: []string{"${input:a}"}, Inputs: []normalize.Input{{ID: "a"}}}),
			has: []string{`"${{ inputs.a }}"`}, notes: []string{"not_expressible:n:inputs.a"},
		},
		{
			name: "prompts whose id another client does not take", to: normalize.Continue, in: stdio(normalize.Server{Args: []string{"${input:a-b}", "${input:p|f}"}}),
			has: []string{`"${input:a-b}"`, `"${input:p|f}"`}, notes: []string{"not_expressible:n:args[0]", "not_expressible:n:args[1]"},
		},
		{
			name: "keys of headers", to: normalize.Goose, in: http(normalize.Server{Headers: pairs("A", "${T}", "B", "${T}")}),
			has: []string{"env_keys:\n      - T\n"},
		},
		{
			name: "a bridge that stands already", to: normalize.Cursor,
			in: stdio(normalize.Server{
				Command: "npx", Args: []string{"mcp-remote", "https://${H}", "--header", "A:${OWN}", "--header", "B:${OTHER}"},
				Env: pairs("OWN", "Bearer ${T}"),
			}),
			has: []string{`"https://${env:H}", "--header", "A:${OWN}", "--header", "B:${env:OTHER}"`, `"OWN": "Bearer ${env:T}"`},
		},
		{
			name: "a name that the client does not take", to: normalize.Codex, in: normalize.Server{Name: "io.acme/x y!", Transport: normalize.Stdio, Command: "c"},
			has: []string{"[mcp_servers.io-acme-x-y]"}, notes: []string{"name_changed:io-acme-x-y"},
		},
		{
			name: "no name", to: normalize.Cursor, in: normalize.Server{Transport: normalize.Stdio, Command: "c"},
			has: []string{`"server": {`}, notes: []string{"name_changed:server"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, notes, err := normalize.Export(tt.to, []normalize.Server{tt.in}, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range tt.has {
				if !bytes.Contains(out, []byte(s)) {
					t.Errorf("the result has no %s", s)
				}
			}
			for _, s := range tt.hasNo {
				if bytes.Contains(out, []byte(s)) {
					t.Errorf("the result has %s", s)
				}
			}
			if diff := cmp.Diff(tt.notes, short(notes)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if t.Failed() {
				t.Logf("result:\n%s", out)
			}
		})
	}
}
