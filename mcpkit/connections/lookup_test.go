package connections_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
)

// fixedResolver knows one reference, until it changes its mind.
type fixedResolver struct {
	server normalize.Server
	asked  int
}

func (r *fixedResolver) Resolve(_ context.Context, reference string) (normalize.Server, lookup.Evidence, error) {
	r.asked++
	steps := lookup.Evidence{{Step: "registry", Source: "https://registry.example.com", Outcome: "one entry"}}
	if reference != "acme/notes" {
		return normalize.Server{}, steps, &lookup.Error{Code: lookup.CodeNotFound, Reference: reference, Message: "nobody knows it", Evidence: steps}
	}
	return r.server, steps, nil
}

func TestReference(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	found := &fixedResolver{server: normalize.Server{Name: "notes", Transport: normalize.Stdio, Command: "npx", Args: []string{"-y", "@acme/notes@1.0.0"}}}
	d.opts.Lookup = found
	var ran []string
	d.opts.Probe = func(_ context.Context, l normalize.Launch, _ *probe.Options) (probe.Report, error) {
		ran = append(ran, strings.Join(append([]string{l.Command}, l.Args...), " "))
		return probe.Report{Name: "notes", Protocol: "2025-11-25", Tools: []string{"read"}, Digest: strings.Repeat("0", 64)}, nil
	}
	p := wiretest.Dial(t, d.server(t), wiretest.Handshake, "codex")
	if got := p.Call(t, "resolve_reference", `{"reference":"acme/notes"}`).JSON(); got != `{"server":{"name":"notes","transport":"stdio","command":"npx","args":["-y","@acme/notes@1.0.0"]},"evidence":[{"step":"registry","source":"https://registry.example.com","outcome":"one entry"}]}` {
		t.Error(got)
	}
	if r, raw := call(t, p, "resolve_reference", m{"reference": "acme/other"}); r.Error.Code != "reference_not_found" || !strings.Contains(raw, "one entry") {
		t.Error(raw)
	}
	if r, raw := call(t, p, "register_server", prepare(m{"reference": "https://u:canary-123@x.example.com/a"})); r.Error.Code != "invalid_arguments" {
		t.Error(raw)
	}
	r, raw := call(t, p, "register_server", prepare(m{"reference": "acme/notes"}))
	if r.CommandStatus != "approval_required" {
		t.Fatal(raw)
	}
	// What was approved is what was found then, whatever the sources say by now.
	asked := found.asked
	found.server.Args = []string{"-y", "@evil/notes"}
	if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	if found.asked != asked || len(ran) != 1 || ran[0] != "npx -y @acme/notes@1.0.0" {
		t.Errorf("asked %d times more, ran %q", found.asked-asked, ran)
	}
}

// Without anything to look up with, there is no tool for it.
func TestNoLookup(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	if tools := string(p.Send(t, "tools/list", "{}")); strings.Contains(tools, "resolve_reference") {
		t.Error(tools)
	}
	if r, raw := call(t, p, "register_server", prepare(m{"reference": "acme/notes"})); r.Error.Code != connections.CodeLookupDisabled {
		t.Error(raw)
	}
}
