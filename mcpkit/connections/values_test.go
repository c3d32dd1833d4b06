package connections_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/vault"
)

func (d *desk) set(tb testing.TB, name, value string) {
	tb.Helper()
	err := d.vault.Update(tb.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, name, value) })
	if err != nil {
		tb.Fatal(err)
	}
}

func (d *desk) get(tb testing.TB, name string) string {
	tb.Helper()
	secret, _, err := d.profile(tb).Get(name)
	if err != nil {
		tb.Fatal(err)
	}
	return secret.Reveal()
}

// What a person sets while a server is probed is not written over.
func TestSetMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.env["NOTES_REGION"] = "eu"
	name := "NOTES_TOKEN"
	d.opts.Probe = func(context.Context, normalize.Launch, *probe.Options) (probe.Report, error) {
		d.set(t, name, "by hand")
		return probe.Report{Name: "notes", Digest: strings.Repeat("0", 64)}, nil
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	text := `{"mcpServers": {"notes": {"command": "x", "env": {"NOTES_TOKEN": "canary-1", "R": "${NOTES_REGION}"}}}}`
	r, raw := call(t, p, "register_server", prepare(m{"text": text}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	if stale, raw := call(t, p, "register_server", apply(r.ProposalToken)); stale.Error.Code != "proposal_stale" || !strings.Contains(raw, "refs/NOTES_TOKEN") {
		t.Error(raw)
	}
	if got := d.get(t, "NOTES_TOKEN"); got != "by hand" {
		t.Errorf("NOTES_TOKEN is %q", got)
	}

	// Now the name is taken before, and the other one is set meanwhile.
	name = "NOTES_REGION"
	r, raw = call(t, p, "register_server", prepare(m{"text": text}))
	if !slices.Contains(r.Proposal.Refs, "NOTES_NOTES_TOKEN") {
		t.Fatal(raw)
	}
	if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	if got := d.get(t, "NOTES_REGION") + ", " + d.get(t, "NOTES_NOTES_TOKEN"); got != "by hand, canary-1" {
		t.Errorf("the values are %q", got)
	}
	d.remove(t, "notes")
	if diff := cmp.Diff([]string{"NOTES_REGION", "NOTES_TOKEN"}, d.secrets(t)); diff != "" {
		t.Errorf("secrets at the end (-want +got):\n%s", diff)
	}
}

// A value that a person had stored is used, and stays.
func TestSameValue(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.set(t, "TOKEN", "canary-1")
	d.add(t, "x", `{"command": "x", "env": {"TOKEN": "canary-1"}}`)
	d.add(t, "x", `{"command": "y", "env": {"TOKEN": "canary-1"}}`)
	d.remove(t, "x")
	if diff := cmp.Diff([]string{"TOKEN"}, d.secrets(t)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

// Names that a stranger chose cannot pass for more of the command line that a
// person is told to type, and any two names can stand side by side.
func TestOddNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	r, raw := call(t, p, "register_server", prepare(m{"text": `{"inputs": [{"id": "a';reboot'", "type": "promptString"}],
		"servers": {"x": {"command": "x", "args": ["${input:a';reboot'}", "${Token}", "${TOKEN}", "${CON}"]}}}`}))
	if diff := cmp.Diff([]string{"CON", "TOKEN", "Token", "input:a';reboot'"}, r.Proposal.Unresolved); diff != "" {
		t.Fatalf("unresolved (-want +got):\n%s\n%s", diff, raw)
	}
	if want := `secret set 'input:a'\'';reboot'\'''` + "`"; !slices.ContainsFunc(r.Proposal.Notes, func(n string) bool { return strings.HasSuffix(n, want) }) {
		t.Errorf("no %s in %q", want, r.Proposal.Notes)
	}
}
