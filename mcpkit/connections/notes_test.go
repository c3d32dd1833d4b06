package connections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// warnings are the notes about secrets in clear, without their sentences.
func warnings(notes []string) []string {
	list := []string{}
	for _, n := range notes {
		if n, _, _ = strings.Cut(n, ": "); strings.HasPrefix(n, "secret_in") {
			list = append(list, n)
		}
	}
	return list
}

// What is to be sealed is no secret in clear any more, wherever it stood: a person
// is not told both. What stays in clear is still told.
func TestSealedIsNotInClear(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, entry string
		text        []string // what normalize_config warns of: the text has it in clear
		left        []string // what a registration still does
	}{
		{"variable", `{"command": "x", "env": {"API_KEY": "canary-1"}}`, []string{"secret_inline:env.API_KEY"}, nil},
		{"header", `{"url": "https://x.example.com/mcp", "headers": {"Authorization": "Bearer canary-1"}}`, []string{"secret_inline:headers.Authorization"}, nil},
		{"argument", `{"command": "x", "args": ["--token", "canary-1"]}`, nil, nil},
		{"user", `{"url": "https://me:canary-1@x.example.com/mcp"}`, []string{"secret_in_url:userinfo"}, nil},
		{"parameter", `{"url": "https://x.example.com/@a/mcp?b=1&api_key=canary-1#c"}`, []string{"secret_in_url:api_key"}, nil},
		{"OAuth", `{"url": "https://x.example.com/mcp", "oauth": {"clientId": "a", "clientSecret": "canary-1"}}`, []string{"secret_inline:oauth.client_secret"}, nil},
		{"path", `{"url": "https://x.example.com/s/canaryq8Zr3Lw9Tn5Vb2Xk7Jd4/mcp"}`, nil, nil},
		{
			"bridge", `{"command": "npx", "args": ["mcp-remote", "https://x.example.com/mcp?api_key=canary-1", "--header", "X-Token: canary-2"]}`,
			nil,
			nil,
		},
		{
			"what stays", `{"command": "x", "env": {"SORT_KEY": "created_at", "API_KEY": "canary-1"}}`,
			[]string{"secret_inline:env.SORT_KEY", "secret_inline:env.API_KEY"},
			[]string{"secret_inline:env.SORT_KEY"},
		},
	}
	d := newDesk(t)
	d.fake("a")
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"mcpServers": {"` + tt.name + `": ` + tt.entry + `}}`
			n, raw := call(t, p, "normalize_config", m{"text": text})
			if got := warnings(n.Servers[0].Warnings); !slices.Equal(got, tt.text) {
				t.Errorf("the text (-want +got):\n%s\n%s", cmp.Diff(tt.text, got), raw)
			}
			r, raw := call(t, p, "register_server", prepare(m{"text": text}))
			if got := warnings(r.Proposal.Notes); !slices.Equal(got, tt.left) || !strings.Contains(raw, `"sealed:`) {
				t.Errorf("the proposal (-want +got):\n%s\n%s", cmp.Diff(tt.left, got), raw)
			}
			done, raw := call(t, p, "register_server", apply(r.ProposalToken))
			if got := strings.Count(raw, "secret_in"); done.CommandStatus != "applied" || got != len(tt.left) {
				t.Errorf("applied with %d warnings: %s", got, raw)
			}
			without(t, raw, "canary")
		})
	}
}
