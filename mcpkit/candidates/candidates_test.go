package candidates_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
)

func TestContract(t *testing.T) {
	p := newProject(t)
	c := func(tool string, args any, fails bool) contracttest.Call {
		return contracttest.Call{Tool: tool, Arguments: args, Fails: fails}
	}
	type m = map[string]any
	p.write(t, ".mcpcontract/stage/ready/docs/r.md", "r")
	if _, err := p.area.Prepare(t.Context(), "ready", []string{"docs/r.md"}); err != nil {
		t.Fatal(err)
	}
	contracttest.Run(t, func() *mcp.Server { return p.server(t) }, &contracttest.Options{Calls: []contracttest.Call{
		c("candidate_prepare", m{"candidateId": "x", "expectedFiles": []string{"docs/a.md"}}, false),
		c("candidate_inspect", m{"candidateId": "x"}, true),
		c("candidate_inspect", m{"candidateId": "ready"}, false),
		c("candidate_apply", m{"request": m{"op": "prepare", "candidateId": "ready"}}, false),
		c("candidate_apply", m{"request": m{"op": "apply", "proposalToken": "x"}}, true),
		c("candidate_discard", m{"candidateId": "x"}, false),
		c("operation_recover", nil, false),
		c("operation_abort", m{"operationId": "op-0000000001-abcdefgh"}, true),
	}})
}

func TestPrepareConverges(t *testing.T) {
	p := newProject(t)
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
	p.stagePlan(t, c)
	r, text := call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":["docs/plan.md","docs/z.md"]}`)
	if !slices.Equal(r.RetainedFiles, []string{"docs/plan.md"}) || !slices.Equal(r.RemovedFiles, []string{"docs/a/b.md"}) {
		t.Errorf("got %s", text)
	}
	if r, text = call(t, c, "candidate_apply", prepareApply); r.Error.Code != "candidate_incomplete" || !strings.Contains(text, "docs/z.md") {
		t.Errorf("apply of an incomplete candidate: got %s", text)
	}
}

// What validators say is part of what is approved.
func TestValidators(t *testing.T) {
	p := newProject(t)
	note := "2 links"
	p.opts = &candidates.Options{
		Validators: []candidates.Validator{
			{Name: "words", Check: func(ctx context.Context, c *candidates.Candidate) (candidates.Verdict, error) {
				text, err := c.ReadFile(ctx, "docs/plan.md")
				if err != nil {
					return candidates.Verdict{}, err
				}
				if strings.Contains(string(text), "TBD") {
					return candidates.Verdict{Problems: []string{"docs/plan.md has a TBD"}}, nil
				}
				return candidates.Verdict{}, nil
			}},
			{Name: "links", Check: func(ctx context.Context, c *candidates.Candidate) (candidates.Verdict, error) {
				if _, err := c.ReadFile(ctx, "docs/none.md"); err == nil || len(c.Files) != 2 {
					return candidates.Verdict{}, errors.New("a file that is not there was read")
				}
				return candidates.Verdict{Notes: []string{note}}, nil
			}},
		},
		Generate: func(_ context.Context, c *candidates.Candidate) ([]stage.Generated, error) {
			return []stage.Generated{{Path: "docs/index.txt", Data: []byte(fmt.Sprintln(len(c.Files), "files"))}}, nil
		},
	}
	p.by = mcpkit.OutOfBand
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
	tok := p.propose(t, c)
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme"}
	var list strings.Builder
	if err := approvals.Decide(t.Context(), &list, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"candidate new-plan: files 3, new 3, replaced 0", "validator words: passed", "validator links: 2 links", "docs/index.txt (new, 8 bytes"} {
		if !strings.Contains(list.String(), want) {
			t.Errorf("the list lacks %q:\n%s", want, list.String())
		}
	}
	if r, text := call(t, c, "candidate_apply", apply(tok)); r.Error.Code != "approval_pending" {
		t.Errorf("before the approval: got %s", text)
	}
	id := strings.Fields(list.String())[0]
	if err := approvals.Decide(t.Context(), &list, []string{id}); err != nil {
		t.Fatal(err)
	}
	note = "3 links"
	if r, text := call(t, c, "candidate_apply", apply(tok)); r.Error.Code != "proposal_stale" {
		t.Errorf("with another verdict: got %s, want proposal_stale", text)
	}
	note = "2 links"
	if r, text := call(t, c, "candidate_apply", apply(tok)); r.CommandStatus != "applied" || p.read(t, "docs/index.txt") != "2 files\n" {
		t.Errorf("got %s, want applied with the index", text)
	}
	p.write(t, staged+"docs/plan.md", "TBD\n")
	r, text := call(t, c, "candidate_apply", prepareApply)
	if want := `{"count":1,"problems":[{"validator":"words","problem":"docs/plan.md has a TBD"}]}`; r.Error.Code != candidates.CodeRejected || string(r.Error.Details) != want {
		t.Errorf("got %s, want candidate_rejected with %s", text, want)
	}
}

func TestDisabled(t *testing.T) {
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, candidates.Feature(nil, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, server, wiretest.Stateless, "codex")
	for tool, args := range map[string]string{
		"candidate_prepare": `{"candidateId":"x","expectedFiles":[]}`,
		"candidate_inspect": `{"candidateId":"x"}`,
		"candidate_apply":   apply("x"),
		"candidate_discard": `{"candidateId":"x"}`,
		"operation_recover": `{}`,
		"operation_abort":   `{"operationId":"op-0000000001-abcdefgh"}`,
	} {
		if r, text := call(t, c, tool, args); r.Error.Code != candidates.CodeDisabled {
			t.Errorf("%s: got %s, want %s", tool, text, candidates.CodeDisabled)
		}
	}
}

func TestOperations(t *testing.T) {
	p := newProject(t)
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	if r, text := call(t, c, "operation_recover", `{}`); r.Outcome != "none" || text != `{"outcome":"none","files":[],"keptFiles":[]}` {
		t.Errorf("nothing to recover: got %s", text)
	}
	tok := p.propose(t, c)
	r, _ := call(t, c, "candidate_apply", apply(tok))
	id := r.Receipt.OperationID
	if r, text := call(t, c, "operation_abort", fmt.Sprintf(`{"operationId":%q}`, id)); r.Error.Code != "operation_finished" {
		t.Errorf("abort of what is done: got %s", text)
	}
	if r, text := call(t, c, "operation_abort", `{"operationId":"op-0000000009-abcdefgh"}`); r.Error.Code != "operation_unknown" {
		t.Errorf("abort of nothing: got %s", text)
	}
}

func TestFeatureRefuses(t *testing.T) {
	p := newProject(t)
	check := func(context.Context, *candidates.Candidate) (candidates.Verdict, error) {
		return candidates.Verdict{}, nil
	}
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme"}
	for name, feature := range map[string]mcpkit.Feature{
		"no approvals":            candidates.Feature(p.area, nil, nil),
		"validator without name":  candidates.Feature(p.area, approvals, &candidates.Options{Validators: []candidates.Validator{{Check: check}}}),
		"validator without check": candidates.Feature(p.area, approvals, &candidates.Options{Validators: []candidates.Validator{{Name: "a"}}}),
		"two of a name":           candidates.Feature(p.area, approvals, &candidates.Options{Validators: []candidates.Validator{{"a", check}, {"a", check}}}),
		"twice": func(in *mcpkit.Installer) error {
			return errors.Join(candidates.Feature(p.area, approvals, nil)(in), candidates.Feature(p.area, approvals, nil)(in))
		},
	} {
		if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, feature); err == nil {
			t.Errorf("%s: installed", name)
		}
	}
}

// A person who decides in another program is told what changed since the proposal, in the candidate and in the project.
func TestRecheck(t *testing.T) {
	p := newProject(t)
	p.write(t, "docs/plan.md", "old plan\n")
	note := "two links"
	p.opts = &candidates.Options{Validators: []candidates.Validator{{
		Name: "links",
		Check: func(context.Context, *candidates.Candidate) (candidates.Verdict, error) {
			return candidates.Verdict{Notes: []string{note}}, nil
		},
	}}}
	p.by = mcpkit.OutOfBand
	p.propose(t, wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex"))
	list, err := p.store.Pending(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("Pending gave %d records and %v", len(list), err)
	}
	recheck := candidates.Recheck(p.area, p.opts)
	changes := []struct {
		name     string
		do, undo func()
		code     string
		want     string
	}{
		{"a byte", func() { p.write(t, staged+"docs/plan.md", "New plan\n") }, func() { p.write(t, staged+"docs/plan.md", "new plan\n") }, "proposal_stale", staged + "docs/plan.md"},
		{"a mode", func() { chmod(t, p, 0o700) }, func() { p.rewrite(t) }, "proposal_stale", staged + "docs/plan.md"},
		{"a target", func() { p.write(t, "docs/plan.md", "other\n") }, func() { p.write(t, "docs/plan.md", "old plan\n") }, "proposal_stale", `"docs/plan.md"`},
		{"a file more", func() { p.write(t, staged+"docs/c.md", "") }, func() { remove(t, p, staged+"docs/c.md") }, "candidate_undeclared", "docs/c.md"},
		{"a verdict", func() { note = "three links" }, func() { note = "two links" }, "proposal_stale", "would be written differs"},
	}
	for _, c := range changes {
		c.do()
		var coded interface{ ErrorCode() string }
		if err := recheck(t.Context(), list[0].Claim); !errors.As(err, &coded) || coded.ErrorCode() != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s with %q", c.name, err, c.code, c.want)
		}
		c.undo()
		if err := recheck(t.Context(), list[0].Claim); err != nil {
			t.Errorf("%s, taken back: got %v", c.name, err)
		}
	}
	if err := candidates.Recheck(nil, nil)(t.Context(), list[0].Claim); err == nil || !strings.Contains(err.Error(), "without a writer") {
		t.Errorf("without an area: got %v", err)
	}
}

// What the validators say is part of the digest that clients see, and the receipt has the same.
func TestDigestHasVerdicts(t *testing.T) {
	digests := map[string]string{}
	for _, notes := range []string{"", "two links", "three links"} {
		p := newProject(t)
		if notes != "" {
			p.opts = &candidates.Options{Validators: []candidates.Validator{{
				Name: "links",
				Check: func(context.Context, *candidates.Candidate) (candidates.Verdict, error) {
					return candidates.Verdict{Notes: []string{notes}}, nil
				},
			}}}
		}
		c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
		p.stagePlan(t, c)
		r, _ := call(t, c, "candidate_apply", prepareApply)
		if other, ok := digests[r.Proposal.Digest]; ok {
			t.Errorf("%q and %q have one digest", notes, other)
		}
		digests[r.Proposal.Digest] = notes
		if done, text := call(t, c, "candidate_apply", apply(r.ProposalToken)); done.Receipt == nil || done.Receipt.Digest != r.Proposal.Digest {
			t.Errorf("%q: got %s, want the digest %s", notes, text, r.Proposal.Digest)
		}
	}
}

func TestSummaryOfOneFile(t *testing.T) {
	p := newProject(t)
	p.by = mcpkit.OutOfBand
	p.write(t, "docs/plan.md", "old plan\n")
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "codex")
	call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":["docs/plan.md"]}`)
	p.write(t, staged+"docs/plan.md", "new plan\n")
	call(t, c, "candidate_apply", prepareApply)
	var list strings.Builder
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme"}
	if err := approvals.Decide(t.Context(), &list, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  candidate new-plan: files 1, new 0, replaced 1\n", "  docs/plan.md (replaces "} {
		if !strings.Contains(list.String(), want) {
			t.Errorf("the list lacks %q:\n%s", want, list.String())
		}
	}
}

func TestOutcomes(t *testing.T) {
	const op = "op-0000000007-abcdefgh"
	for want, r := range map[string]stage.Recovery{
		`{"outcome":"none","files":[],"keptFiles":[]}`:                                                                {},
		`{"outcome":"finished","operationId":"` + op + `","candidateId":"a","files":["docs/b"],"keptFiles":[]}`:       {Operation: op, Candidate: "a", Files: []string{"docs/b"}},
		`{"outcome":"undone","operationId":"` + op + `","candidateId":"a","files":["docs/b"],"keptFiles":["docs/b"]}`: {Operation: op, Candidate: "a", Undone: true, Files: []string{"docs/b"}, Kept: []string{"docs/b"}},
	} {
		out, err := candidates.Outcome(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(string(got), "null", "[]"); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}
