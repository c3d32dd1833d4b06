package connections_test

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/vault"
)

// listen serves the desk over HTTP and connects a client that can show forms, if
// elicit answers them.
func (d *desk) listen(tb testing.TB, era wiretest.Era, elicit func(params string) string) *wiretest.Peer {
	tb.Helper()
	handler, err := mcpkit.NewHTTPHandler(d.server(tb), nil)
	if err != nil {
		tb.Fatal(err)
	}
	web := httptest.NewServer(handler)
	tb.Cleanup(func() {
		if err := handler.Shutdown(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
		web.Close()
	})
	return wiretest.Connect(tb, web.URL, era, &wiretest.Client{Name: "zed", Elicit: elicit})
}

func TestElicit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		code         string // "" if it is stored
	}{
		{"accepted", `{"action":"accept","content":{"decision":"apply"}}`, ""},
		{"rejected", `{"action":"accept","content":{"decision":"reject"}}`, mcpkit.CodeDeclined},
		{"declined", `{"action":"decline"}`, mcpkit.CodeDeclined},
		{"closed", `{"action":"cancel"}`, mcpkit.CodeCanceled},
	}
	for _, era := range wiretest.Eras() {
		for _, tt := range tests {
			t.Run(string(era)+" "+tt.name, func(t *testing.T) {
				d := newDesk(t)
				d.by = mcpkit.Elicit
				var asked atomic.Value
				p := d.listen(t, era, func(params string) string {
					asked.Store(params)
					return tt.answer
				})
				r, raw := call(t, p, "register_server", prepare(m{"text": self(t, "notes", m{"NOTES_TOKEN": canary})}))
				without(t, raw+asked.Load().(string), canary)
				for _, want := range []string{"--serve", "NOTES_TOKEN = ${NOTES_TOKEN}", "keeps these secrets of the text: NOTES_TOKEN"} {
					if !strings.Contains(asked.Load().(string), want) {
						t.Errorf("the dialog lacks %q: %s", want, asked.Load())
					}
				}
				if r.Error.Code != tt.code || (r.CommandStatus == "applied") != (tt.code == "") {
					t.Error(raw)
				}
				list, _ := call(t, p, "list_servers", m{})
				if stored := len(list.Items) == 1; stored != (tt.code == "") {
					t.Errorf("stored: %v", stored)
				}
				d.absent(t, canary)
			})
		}
	}
}

// A client that cannot ask gets the token, and what a person has to type; a text
// waits for that in the vault, also for another server.
func TestOutOfBand(t *testing.T) {
	t.Parallel()
	for _, by := range []mcpkit.Approver{mcpkit.Elicit, mcpkit.OutOfBand} {
		t.Run(by.String(), func(t *testing.T) {
			d := newDesk(t)
			d.by = by
			p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "codex")
			r, raw := call(t, p, "register_server", prepare(m{"text": self(t, "notes", m{"NOTES_TOKEN": canary})}))
			if r.CommandStatus != "approval_required" || !strings.HasPrefix(r.ApprovalCommand, "connections approve ") {
				t.Fatal(raw)
			}
			if early, raw := call(t, p, "register_server", apply(r.ProposalToken)); early.Error.Code != "approval_pending" {
				t.Fatal(raw)
			}
			var out bytes.Buffer
			decider := &mcpkit.Approvals{Store: d.store, Project: "connections/default"}
			if err := decider.Decide(t.Context(), &out, strings.Fields(r.ApprovalCommand)[2:]); err != nil {
				t.Fatal(err)
			}
			without(t, out.String(), canary)
			if !strings.Contains(out.String(), `register server "notes" (stdio) in profile default`) {
				t.Errorf("shown: %s", &out)
			}
			other := wiretest.Dial(t, d.server(t), wiretest.Stateless, "zed")
			if a, raw := call(t, other, "register_server", apply(r.ProposalToken)); a.CommandStatus != "applied" {
				t.Fatal(raw)
			}
			d.absent(t, canary)
		})
	}
}

// A probe that fails says why, stores nothing, and costs no approval.
func TestFailedProbe(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		kind string // of the server at first
		code string
	}{
		{"silent", "silent", "probe_timeout"},
		{"dies", "dies", "probe_failed"},
		{"garbage", "garbage", "probe_failed"},
		{"not there", "", "spawn_failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.env["CAPTURED"] = "captured-canary"
			d.opts.Probe = func(ctx context.Context, l normalize.Launch, opts *probe.Options) (probe.Report, error) {
				opts.Timeout = 2 * time.Second
				return probe.Check(ctx, l, opts)
			}
			path := filepath.Join(t.TempDir(), "server")
			install := func(kind string) {
				script := "#!/bin/sh\n" + asServer + "=" + kind + " exec " + exe + "\n"
				if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if tt.kind != "" {
				install(tt.kind)
			}
			text := encode(t, m{"mcpServers": m{"notes": m{"command": path, "args": []string{"${CAPTURED}"}, "env": m{"NOTES_TOKEN": canary}}}})
			p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
			r, raw := call(t, p, "register_server", prepare(m{"text": text}))
			if r.ProposalToken == "" {
				t.Fatal(raw)
			}
			before, err := d.vault.Generation()
			if err != nil {
				t.Fatal(err)
			}
			failed, raw := call(t, p, "register_server", apply(r.ProposalToken))
			without(t, raw, canary, "captured-canary")
			if failed.Error.Code != tt.code {
				t.Error(raw)
			}
			if after, err := d.vault.Generation(); err != nil || after != before {
				t.Errorf("the vault was saved: generation %d, then %d, %v", before, after, err)
			}
			if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 0 {
				t.Error(raw)
			}

			install("notes")
			if again, raw := call(t, p, "register_server", apply(r.ProposalToken)); again.CommandStatus != "applied" {
				t.Error(raw)
			}
			d.absent(t, canary, "captured-canary")
		})
	}
}

// What changed since the approval is named, and costs nothing.
func TestStale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		change, back func(d *desk)
		named        string
	}{
		{
			"a variable is gone",
			func(d *desk) { delete(d.env, "NOTES_REGION") },
			func(d *desk) { d.env["NOTES_REGION"] = "eu" },
			"refs/NOTES_REGION",
		},
		{
			"a name has a value",
			func(d *desk) { d.env["NOTES_NOWHERE"] = "here" },
			func(d *desk) { delete(d.env, "NOTES_NOWHERE") },
			"refs/NOTES_NOWHERE",
		},
		{
			"the name is taken",
			func(d *desk) { d.register(d.tb, "notes", "changed") },
			func(d *desk) { d.remove(d.tb, "notes") },
			"server/notes",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.env["NOTES_REGION"] = "eu"
			p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
			text := self(t, "notes", m{"NOTES_REGION": "${NOTES_REGION}", "OTHER": "${NOTES_NOWHERE}"})
			r, raw := call(t, p, "register_server", prepare(m{"text": text}))
			if r.ProposalToken == "" {
				t.Fatal(raw)
			}
			tt.change(d)
			if stale, raw := call(t, p, "register_server", apply(r.ProposalToken)); stale.Error.Code != "proposal_stale" || !strings.Contains(string(stale.Error.Details), tt.named) {
				t.Errorf("got %s, want %s named", raw, tt.named)
			}
			tt.back(d)
			if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
				t.Error(raw)
			}
		})
	}
}

// register registers the test program as a server of that kind.
func (d *desk) register(tb testing.TB, name, kind string) {
	tb.Helper()
	p := wiretest.Dial(tb, d.server(tb), wiretest.Stateless, "codex")
	r, raw := call(tb, p, "register_server", prepare(m{"text": self(tb, kind, nil), "name": name, "replace": true}))
	if r.ProposalToken == "" {
		tb.Fatal(raw)
	}
	if done, raw := call(tb, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		tb.Fatal(raw)
	}
}

func (d *desk) remove(tb testing.TB, name string) {
	tb.Helper()
	p := wiretest.Dial(tb, d.server(tb), wiretest.Stateless, "codex")
	r, raw := call(tb, p, "remove_server", prepare(m{"name": name}))
	if r.ProposalToken == "" {
		tb.Fatal(raw)
	}
	if done, raw := call(tb, p, "remove_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		tb.Fatal(raw)
	}
}

// A person may set what had no value until the token is used, also after a probe
// that failed for want of it.
func TestSetAfterwards(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var got []string
	d.opts.Probe = func(_ context.Context, l normalize.Launch, _ *probe.Options) (probe.Report, error) {
		got = append(got, l.Args...)
		if l.Args[0] == "${NOTES_KEY}" {
			return probe.Report{}, &probe.Error{Code: probe.Failed, Server: l.Name, Phase: probe.Start, Message: "no key"}
		}
		return probe.Report{Name: "notes", Digest: strings.Repeat("0", 64)}, nil
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	r, raw := call(t, p, "register_server", prepare(m{"text": `{"mcpServers": {"notes": {"command": "x", "args": ["${NOTES_KEY}", "${NOTES_MODE:-plain}"]}}}`}))
	if len(r.Proposal.Unresolved) != 1 || !strings.Contains(raw, "`connections secret set NOTES_KEY`") {
		t.Fatal(raw)
	}
	if failed, raw := call(t, p, "register_server", apply(r.ProposalToken)); failed.Error.Code != "probe_failed" {
		t.Fatal(raw)
	}
	err := d.vault.Update(t.Context(), func(tx *vault.Tx) error {
		return errors.Join(tx.Set(vault.Default, "NOTES_KEY", canary), tx.Set(vault.Default, "NOTES_MODE", "rich"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	if want := []string{"${NOTES_KEY}", "plain", canary, "rich"}; !slices.Equal(got, want) {
		t.Errorf("started with %q, want %q", got, want)
	}
}

// Two proposals of one text share it. Once one of them is carried out, the other is
// not for a text that expired, but for a name that was taken.
func TestSameTextTwice(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	text := self(t, "notes", m{"NOTES_TOKEN": canary})
	var tokens []string
	for range 2 {
		r, raw := call(t, p, "register_server", prepare(m{"text": text}))
		if r.ProposalToken == "" {
			t.Fatal(raw)
		}
		tokens = append(tokens, r.ProposalToken)
	}
	if done, raw := call(t, p, "register_server", apply(tokens[0])); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	if stale, raw := call(t, p, "register_server", apply(tokens[1])); stale.Error.Code != "proposal_stale" || !strings.Contains(raw, "server/notes") {
		t.Error(raw)
	}
	if again, raw := call(t, p, "register_server", apply(tokens[0])); again.CommandStatus != "applied" {
		t.Error(raw)
	}
	names, err := d.profile(t).Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		secret, _, err := d.profile(t).Get(name)
		if err != nil || strings.HasPrefix(name, "paste/") && strings.Contains(secret.Reveal(), canary) {
			t.Errorf("%s keeps the text, %v", name, err)
		}
	}
	// It can be prepared again, as a replacement.
	r, raw := call(t, p, "register_server", prepare(m{"text": text, "replace": true}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		t.Error(raw)
	}
	if old, raw := call(t, p, "register_server", apply(tokens[1])); old.Error.Code != "proposal_stale" {
		t.Error(raw)
	}
}
