package connections_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/vault"
)

// terminal is what a person at a terminal decides with: another program, with an
// environment of its own, which runs nothing and asks nobody.
func (d *desk) terminal(t *testing.T) *mcpkit.Approvals {
	t.Helper()
	store, err := connections.New(d.vault, vault.Default, &connections.Options{
		Lookup: new(noResolver),
		Probe: func(context.Context, normalize.Launch, *probe.Options) (probe.Report, error) {
			t.Error("a look ran a server")
			return probe.Report{}, nil
		},
		Environment: func(name string) (value, origin string, ok bool) { return "mine", "env", name == "ONLY_HERE" },
		Now:         d.opts.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &mcpkit.Approvals{Store: d.store, Project: "connections/default", Recheck: connections.Recheck(store)}
}

// drop removes the secrets of the profile whose names begin like that.
func (d *desk) drop(prefix string) {
	d.tb.Helper()
	names, err := d.profile(d.tb).Names()
	if err != nil {
		d.tb.Fatal(err)
	}
	err = d.vault.Update(d.tb.Context(), func(tx *vault.Tx) error {
		for _, name := range names {
			if strings.HasPrefix(name, prefix) && err == nil {
				err = tx.Delete(vault.Default, name)
			}
		}
		return err
	})
	if err != nil {
		d.tb.Fatal(err)
	}
}

// switchOff switches a connection off.
func (d *desk) switchOff(name string) {
	d.tb.Helper()
	if _, err := d.connections(d.tb).SetEnabled(d.tb.Context(), name, false); err != nil {
		d.tb.Fatal(err)
	}
}

// decide approves what has that id.
func decide(t *testing.T, a *mcpkit.Approvals, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := a.Decide(t.Context(), &out, args)
	return out.String(), err
}

// A person is told that what they are to approve is not what would be done.
func TestRecheck(t *testing.T) {
	t.Parallel()
	const entry = `{"command": "acme", "args": ["--token", "` + canary + `", "${NOTES_REGION}", "${NOTES_KEY}", "${NOTES_ODD}", "${NOTES_NONE}", "${ONLY_HERE}"]}`
	register := func(d *desk, p *wiretest.Peer) (reply, string) {
		return call(t, p, "register_server", prepare(m{"text": entry, "name": "notes"}))
	}
	remove := func(d *desk, p *wiretest.Peer) (reply, string) {
		d.add(d.tb, "notes", `{"command": "acme", "env": {"NOTES_TOKEN": "`+canary+`"}}`)
		return call(t, p, "remove_server", prepare(m{"name": "notes"}))
	}
	tests := []struct {
		name    string
		propose func(d *desk, p *wiretest.Peer) (reply, string)
		change  func(d *desk)
		want    string // in the error; "" if it may be approved
	}{
		{"register, unchanged", register, func(*desk) {}, ""},
		{"register, another name was taken", register, func(d *desk) { d.add(d.tb, "other", `{"command": "x"}`) }, ""},
		{"register, what had no value got one", register, func(d *desk) { d.set(d.tb, "NOTES_NONE", "x") }, ""},
		{"register, the name was taken", register, func(d *desk) { d.add(d.tb, "notes", `{"command": "x"}`) }, `"server/notes"`},
		{"register, the vault has a value no longer", register, func(d *desk) { d.drop("NOTES_KEY") }, `"refs/NOTES_KEY"`},
		{"register, the vault has one by now", register, func(d *desk) { d.set(d.tb, "NOTES_REGION", "us") }, `"refs/NOTES_REGION"`},
		{"register, the name of a secret was taken", register, func(d *desk) { d.set(d.tb, "NOTES_TOKEN", "another") }, `"text/record"`},
		{"register, the text is gone", register, func(d *desk) { d.drop("paste/") }, "no longer kept"},
		{"remove, unchanged", remove, func(*desk) {}, ""},
		{"remove, it is switched off", remove, func(d *desk) { d.switchOff("notes") }, `"server/notes"`},
		{"remove, it is gone", remove, func(d *desk) { d.remove(d.tb, "notes") }, "there is no connection"},
		{
			"remove, another one uses its secret", remove,
			func(d *desk) { d.add(d.tb, "other", `{"command": "x", "args": ["${NOTES_TOKEN}"]}`) }, "differs",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.fake("a")
			d.by = mcpkit.OutOfBand
			d.env["NOTES_REGION"], d.env["NOTES_ODD"] = "eu", "${looks_like_one}"
			d.set(d.tb, "NOTES_KEY", "in the vault")
			p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
			d.by = mcpkit.Token // of what changes meanwhile
			r, raw := tt.propose(d, p)
			if r.CommandStatus != "approval_required" {
				t.Fatal(raw)
			}
			tt.change(d)
			here, id := d.terminal(t), strings.Fields(r.ApprovalCommand)[2]
			list, err := decide(t, here)
			if err != nil || strings.Contains(list, "CANNOT BE APPROVED") != (tt.want != "") || !strings.Contains(list, tt.want) {
				t.Errorf("the list does not say %q: %v\n%s", tt.want, err, list)
			}
			if _, err := decide(t, here, id); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("approve: got %v, want %q", err, tt.want)
			}
			d.absent(t, canary)
		})
	}
}

// noResolver must not be asked.
type noResolver struct{ fixedResolver }

// What a reference named is not looked up again.
func TestRecheckReference(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.by = mcpkit.OutOfBand
	d.opts.Lookup = &fixedResolver{server: normalize.Server{Name: "notes", Transport: normalize.Stdio, Command: "npx", Args: []string{"-y", "@acme/notes@1.0.0"}}}
	p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "codex")
	r, raw := call(t, p, "register_server", prepare(m{"reference": "acme/notes"}))
	if r.CommandStatus != "approval_required" {
		t.Fatal(raw)
	}
	if out, err := decide(t, d.terminal(t), strings.Fields(r.ApprovalCommand)[2]); err != nil {
		t.Errorf("approve: %v\n%s", err, out)
	}
}

// A claim of a tool under a prefix is one of this package, and one of another tool
// is none.
func TestRecheckOtherTools(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fake("a")
	d.by = mcpkit.OutOfBand
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	if _, raw := call(t, p, "register_server", prepare(m{"text": `{"command": "acme"}`})); !strings.Contains(raw, "approval_required") {
		t.Fatal(raw)
	}
	waiting, err := d.store.Pending(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%d proposals wait, %v", len(waiting), err)
	}
	recheck := d.terminal(t).Recheck
	for tool, want := range map[string]string{"register_server": "", "acme_register_server": "", "put": "no tool that changes connections"} {
		claim := waiting[0].Claim
		claim.Tool = tool
		if err := recheck(t.Context(), claim); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", tool, err, want)
		}
	}
}
