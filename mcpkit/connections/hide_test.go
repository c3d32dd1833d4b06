package connections_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// TestFailuresHideSecrets has servers that tell what they got when they fail.
func TestFailuresHideSecrets(t *testing.T) {
	t.Parallel()
	const secret = "vaultonly-Zq81xLmP"
	tests := []struct {
		name, value string // of NOTES_SECRET
		vault, host string // value of TOK
	}{
		{"whole", secret, "", ""},
		{"with a scheme", "Bearer " + secret, "", ""},
		{"in JSON", `{"Authorization":"Bearer ` + secret + `"}`, "", ""},
		{"from the vault", "${TOK}", secret, ""},
		{"from the vault, with a scheme", "Bearer ${TOK}", secret, ""},
		{"from the vault, in JSON", `{"Authorization":"Bearer ${TOK}"}`, secret, ""},
		{"with its scheme in the vault", "${TOK}", "Bearer " + secret, ""},
		{"JSON in the vault", "${TOK}", `{"Authorization":"Bearer ` + secret + `"}`, ""},
		{"from the environment", "Bearer ${TOK}", "", secret},
	}
	for _, era := range wiretest.Eras() {
		for _, test := range tests {
			t.Run(string(era)+" "+test.name, func(t *testing.T) {
				d := newDesk(t)
				if test.vault != "" {
					d.set(t, "TOK", test.vault)
				}
				if test.host != "" {
					d.env["TOK"] = test.host
				}
				p := wiretest.Dial(t, d.server(t), era, "codex")
				r, raw := call(t, p, "register_server", prepare(m{"text": self(t, "tells", m{"NOTES_SECRET": test.value})}))
				without(t, raw, secret)
				failed, raw := call(t, p, "register_server", apply(r.ProposalToken))
				without(t, raw, secret, fmt.Sprintf("%X", secret))
				if failed.Error.Code != string(probe.Failed) || !strings.Contains(raw, "API token is invalid: ***") {
					t.Error(raw)
				}
				d.absent(t, secret)
			})
		}
	}
}

// TestFailuresOfOtherProbes has probes that hide nothing themselves.
func TestFailuresOfOtherProbes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.set(t, "TOK", "vaultonly-Zq81xLmP")
	var fail func(value string) error
	d.opts.Probe = func(_ context.Context, l normalize.Launch, o *probe.Options) (probe.Report, error) {
		if len(o.Hide) != 1 || o.Hide[0] != "vaultonly-Zq81xLmP" {
			t.Errorf("the probe has %q to hide", o.Hide)
		}
		return probe.Report{}, fail(l.Args[0])
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	r, raw := call(t, p, "register_server", prepare(m{"text": `{"mcpServers": {"x": {"command": "x", "args": ["of ${TOK}"]}}}`}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	for name, f := range map[string]func(string) error{
		"probe": func(v string) error {
			return &probe.Error{Code: probe.Failed, Server: v, Phase: probe.Handshake, Message: v, Stderr: v}
		},
		"wrapped": func(v string) error {
			return fmt.Errorf("%s: %w", v, &probe.Error{Code: probe.Failed, Message: v, Stderr: v})
		},
		"other": func(v string) error { return errors.New("no " + v) },
	} {
		fail = f
		failed, raw := call(t, p, "register_server", apply(r.ProposalToken))
		without(t, raw, "vaultonly-Zq81xLmP")
		if failed.Error.Code != string(probe.Failed) || !strings.Contains(raw, "of ***") {
			t.Errorf("%s: %s", name, raw)
		}
	}
}
