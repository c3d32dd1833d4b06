package connections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// shown is what a proposal says.
type shown struct {
	Name, Transport, URL             string
	Argv, EnvNames, Refs, Unresolved []string
}

// TestPastes prepares registrations of what people paste, in the forms of several
// clients. All secrets are named canary.
func TestPastes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, choose string
		want               shown
		notes              []string // codes that have to be among the notes
	}{
		{
			name: "Claude Desktop",
			text: `{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@acme/files", "/srv"], "env": {"FILES_TOKEN": "canary-1"}}}}`,
			want: shown{
				Name: "files", Transport: "stdio", Argv: []string{"npx", "-y", "@acme/files", "/srv"},
				EnvNames: []string{"FILES_TOKEN"}, Refs: []string{"FILES_TOKEN"},
			},
			notes: []string{"sealed:FILES_TOKEN"},
		},
		{
			name: "VS Code with inputs",
			text: `{"inputs": [{"type": "promptString", "id": "tok", "password": true}, {"type": "promptString", "id": "dir", "default": "/srv"}],
				"servers": {"files": {"type": "stdio", "command": "acme", "args": ["${input:dir}"], "env": {"T": "${input:tok}", "U": "${env:REGION}"}}}}`,
			want: shown{
				Name: "files", Transport: "stdio", Argv: []string{"acme", "${input:dir}"}, EnvNames: []string{"T", "U"},
				Refs: []string{"REGION", "input:dir", "input:tok"}, Unresolved: []string{"input:tok"},
			},
			notes: []string{"needs_input:tok", "input_default_used:dir", "captured:REGION"},
		},
		{
			name: "Codex",
			text: "[mcp_servers.search]\ncommand = \"uvx\"\nargs = [\"acme-search\", \"--api-key\", \"canary-1\"]\nenv_vars = [\"REGION\", \"NOWHERE\"]\nstartup_timeout_sec = 5\n",
			want: shown{
				Name: "search", Transport: "stdio", Argv: []string{"uvx", "acme-search", "--api-key", "${SEARCH_API_KEY}"},
				EnvNames: []string{"NOWHERE", "REGION"}, Refs: []string{"NOWHERE", "REGION", "SEARCH_API_KEY"}, Unresolved: []string{"NOWHERE"},
			},
			notes: []string{"env_from_unset:NOWHERE", "captured:REGION"},
		},
		{
			name: "Codex over HTTP",
			text: "[mcp_servers.web]\nurl = \"https://web.example.com/mcp\"\nbearer_token_env_var = \"WEB_TOKEN\"\n",
			want: shown{Name: "web", Transport: "http", URL: "https://web.example.com/mcp", Refs: []string{"WEB_TOKEN"}, Unresolved: []string{"WEB_TOKEN"}},
		},
		{
			name: "a Windows wrapper",
			text: `{"mcpServers": {"win": {"command": "C:\\Windows\\System32\\cmd.exe", "args": ["/d", "/c", "npx", "-y", "@acme/win"]}}}`,
			want: shown{Name: "win", Transport: "stdio", Argv: []string{"npx", "-y", "@acme/win"}}, notes: []string{"cmd_wrapper_removed"},
		},
		{
			name:  "a remote server with a secret",
			text:  `{"mcpServers": {"hub": {"url": "https://hub.example.com/sse", "headers": {"Authorization": "Bearer canary-1", "X-Region": "${REGION}"}}}}`,
			want:  shown{Name: "hub", Transport: "sse", URL: "https://hub.example.com/sse", Refs: []string{"HUB_AUTHORIZATION", "REGION"}},
			notes: []string{"type_inferred:sse", "sealed:HUB_AUTHORIZATION"},
		},
		{
			name: "one of several", choose: "b",
			text: `{"mcpServers": {"a": {"command": "a", "env": {"TOKEN": "canary-1"}}, "b": {"command": "b"}}}`,
			want: shown{Name: "b", Transport: "stdio", Argv: []string{"b"}},
		},
		{
			name: "another name for a single one", choose: "My files",
			text: `{"command": "npx", "args": ["-y", "@acme/files"]}`,
			want: shown{Name: "My files", Transport: "stdio", Argv: []string{"npx", "-y", "@acme/files"}},
		},
		{
			name:  "a README with the same server twice",
			text:  "Use it:\n```json\n{\"mcpServers\": {\"a\": {\"command\": \"acme\"}}}\n```\nor in Cursor\n```json\n{\"mcpServers\": {\"a\": {\"command\": \"acme\"}}}\n```\n",
			want:  shown{Name: "a", Transport: "stdio", Argv: []string{"acme"}},
			notes: nil,
		},
		{
			name: "a command line",
			text: `claude mcp add --env API_TOKEN=canary-1 acme -- npx -y @acme/mcp`,
			want: shown{Name: "acme", Transport: "stdio", Argv: []string{"npx", "-y", "@acme/mcp"}, EnvNames: []string{"API_TOKEN"}, Refs: []string{"API_TOKEN"}},
		},
		{
			name: "one of several ways to run it", choose: "io.example.acme/x#remote-1",
			text: `{"name": "io.example.acme/x", "version": "1.0.0", "packages": [{"registryType": "npm", "identifier": "@acme/x", "version": "1.0.0", "transport": {"type": "stdio"}}],
				"remotes": [{"type": "streamable-http", "url": "https://x.example.com/mcp"}]}`,
			want: shown{Name: "io.example.acme/x#remote-1", Transport: "http", URL: "https://x.example.com/mcp"},
		},
		{
			name: "switched off, over a bridge",
			text: `{"mcpServers": {"b": {"command": "npx", "args": ["mcp-remote", "https://x.example.com/mcp", "--header", "Authorization:${AUTH}"], "env": {"AUTH": "Bearer canary-1"}, "disabled": true}}}`,
			want: shown{
				Name: "b", Transport: "stdio", Argv: []string{"npx", "mcp-remote", "https://x.example.com/mcp", "--header", "Authorization:${AUTH}"},
				EnvNames: []string{"AUTH"}, Refs: []string{"B_AUTH"},
			},
			notes: []string{"remote_bridge_detected:mcp-remote"},
		},
	}
	d := newDesk(t)
	d.env["REGION"] = "eu-canary-env"
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			request := m{"text": tt.text}
			if tt.choose != "" {
				request["name"] = tt.choose
			}
			r, raw := call(t, p, "register_server", prepare(request))
			without(t, raw, "canary")
			got := shown{r.Proposal.Name, r.Proposal.Transport, r.Proposal.URL, r.Proposal.Argv, r.Proposal.EnvNames, r.Proposal.Refs, r.Proposal.Unresolved}
			for _, list := range []*[]string{&tt.want.EnvNames, &tt.want.Refs, &tt.want.Unresolved} {
				if *list == nil {
					*list = []string{}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("proposal (-want +got):\n%s\n%s", diff, raw)
			}
			for _, code := range tt.notes {
				if !slices.ContainsFunc(r.Proposal.Notes, func(n string) bool { return n == code || strings.HasPrefix(n, code+": ") }) {
					t.Errorf("no note %s in %q", code, r.Proposal.Notes)
				}
			}
		})
	}
	d.absent(t, "canary")
}

// TestRefusedPastes has texts and requests of which nothing can be made.
func TestRefusedPastes(t *testing.T) {
	t.Parallel()
	const two = `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "args": ["--token", "canary-1"]}}}`
	tests := []struct {
		name    string
		request m
		code    string
		want    string // in the reply
	}{
		{"no server", m{"text": `{"hooks": {"x": []}}`}, connections.CodeNoServers, "declares no MCP server"},
		{"nothing at all", m{"text": " "}, connections.CodeNoServers, "paste"},
		{"several", m{"text": two}, connections.CodeNameRequired, `"names":["a","b"]`},
		{"none of several", m{"text": two, "name": "c"}, connections.CodeNameRequired, `none of them is \"c\"`},
		{
			"several ways to run one",
			m{"name": "io.example.acme/x", "text": `{"name": "io.example.acme/x", "version": "1.0.0",
				"packages": [{"registryType": "npm", "identifier": "@acme/x", "version": "1.0.0", "transport": {"type": "stdio"}}],
				"remotes": [{"type": "streamable-http", "url": "https://x.example.com/mcp"}]}`},
			connections.CodeNameRequired, `several of them are \"io.example.acme/x\", so give the whole name: \"io.example.acme/x#npm\"`,
		},
		{"only the address of a repository", m{"text": "https://github.com/acme/files-mcp"}, "needs_lookup", `"reference":"https://github.com/acme/files-mcp"`},
		{"an installer of Smithery", m{"text": "npx -y @smithery/cli@latest install @acme/files --client claude --key canary-1"}, "needs_lookup", `"reference":"@acme/files"`},
		{"an entry that says nothing", m{"text": `{"mcpServers": {"a": {"env": {"TOKEN": "canary-1"}}}}`}, "no_command_or_url", "neither"},
		{"no JSON", m{"text": `{"mcpServers": {"a": {"command": "x", "env": {"TOKEN": "x" "canary-1" }}}}`}, "unreadable", "line 1, column"},
		{"no JSON and no quotes", m{"text": `{"mcpServers": {"a": {"command": "c", "env": {API_KEY: canary-1 canary-1; }}}}`}, "unreadable", "line 1, column"},
		{"no YAML", m{"text": "mcpServers:\n  a:\n    command: c\n    env: {A: canary-1, B: *canary-1}\n"}, "unreadable", ""},
		{"a word that is none", m{"text": "{\"a\": \x1b[2Jcanary-1 (}"}, "unreadable", ""},
		{"no TOML", m{"text": "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nTOKEN = canary-1\n"}, "unreadable", ""},
		{"a name that nobody could type", m{"text": `{"mcpServers": {"a\u202eb": {"command": "x"}}}`}, connections.CodeNameInvalid, "visible characters"},
		{"text and reference", m{"text": two, "reference": "x"}, "invalid_arguments", "either text or reference"},
		{"neither", m{"name": "x"}, "invalid_arguments", "either text or reference"},
		{"too much", m{"text": strings.Repeat("canary ", 10_000)}, connections.CodeTooLarge, "61440"},
		{"a field that does not exist", m{"text": two, "approve": true}, "invalid_arguments", "approve"},
	}
	d := newDesk(t)
	p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "zed")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, err := d.vault.Generation()
			if err != nil {
				t.Fatal(err)
			}
			r, raw := call(t, p, "register_server", prepare(tt.request))
			without(t, raw, "canary")
			if r.Error.Code != tt.code || !strings.Contains(raw, tt.want) {
				t.Errorf("got %s, want %s and %s", raw, tt.code, tt.want)
			}
			after, err := d.vault.Generation()
			if err != nil || after > before+1 { // the key of the ids may have been made
				t.Errorf("the vault was saved: generation %d, then %d, %v", before, after, err)
			}
		})
	}
	d.absent(t, "canary")
}

// However a request is broken, its text gets nowhere.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	const config = `{\"command\":\"x\",\"args\":[\"--token\",\"canary-1\"]}`
	d := newDesk(t)
	for _, era := range wiretest.Eras() {
		p := wiretest.Dial(t, d.server(t), era, "codex")
		for _, args := range []string{
			`{"request":{"op":"prepare","text":"` + config + `","text":"` + config + `"}}`,
			`{"request":{"op":"prepare","op":"apply","text":"` + config + `"}}`,
			`{"request":{"op":"apply","proposalToken":"x1","text":"` + config + `"}}`,
			`{"request":{"op":"prepare","Text":"` + config + `"}}`,
			`{"request":{"op":"prepare","text":["` + config + `"]}}`,
			`{"request":{"op":"prepare","text":null,"name":"canary-1"}}`,
			`{"request":[{"op":"prepare","text":"` + config + `"}]}`,
			`{"request":"{\"op\":\"prepare\",\"text\":\"canary-1\"}"}`,
			`{"op":"prepare","text":"` + config + `"}`,
			`{"request":{"op":"prepare","text":"` + config + `"},"request":{"op":"prepare","text":"canary-1"}}`,
			`{"request":{"op":"prepare","text":"` + config + `"},"text":"canary-1"}`,
		} {
			raw := p.Call(t, "register_server", args).JSON()
			without(t, raw, "canary-1")
			if !strings.Contains(raw, `"code":"invalid_arguments"`) {
				t.Errorf("%s: %s", args, raw)
			}
		}
	}
	d.absent(t, "canary-1")
}
