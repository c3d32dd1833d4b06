package candidates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

func TestApply(t *testing.T) {
	for _, e := range wiretest.Eras() {
		for _, client := range []string{"codex", "zed"} {
			t.Run(string(e)+"/"+client, func(t *testing.T) {
				p := newProject(t)
				p.wholePath(t, wiretest.Dial(t, p.server(t), e, client))
			})
		}
	}
}

// wholePath goes from the declaration of a candidate to its end, with each of the tools.
func (p *project) wholePath(t *testing.T, c *wiretest.Peer) {
	t.Helper()
	p.write(t, "docs/plan.md", "old plan\n")
	p.stagePlan(t, c)
	r, text := call(t, c, "candidate_inspect", `{"candidateId":"new-plan"}`)
	want := fmt.Sprintf(`[{"path":"docs/a/b.md","size":2,"sha256":%q},{"path":"docs/plan.md","size":9,"sha256":%q}]`,
		canon.Sum([]byte("b\n")), canon.Sum([]byte("new plan\n")))
	if string(r.Files) != want || len(r.Digest) != 64 {
		t.Errorf("inspect: got %s, want files %s", text, want)
	}

	r, text = call(t, c, "candidate_apply", prepareApply)
	old := canon.Sum([]byte("old plan\n"))
	files := []file{
		{"docs/a/b.md", canon.Sum([]byte("b\n")), nil},
		{"docs/plan.md", canon.Sum([]byte("new plan\n")), &old},
	}
	if r.CommandStatus != "approval_required" || r.Proposal == nil || r.Proposal.CandidateID != "new-plan" || !strings.Contains(text, `"before":null`) {
		t.Fatalf("prepare: got %s", text)
	}
	if diff := cmp.Diff(files, r.Proposal.Files); diff != "" {
		t.Errorf("proposal (-want +got):\n%s", diff)
	}
	if p.read(t, "docs/plan.md") != "old plan\n" {
		t.Error("prepare changed the project")
	}

	done, first := call(t, c, "candidate_apply", apply(r.ProposalToken))
	if done.CommandStatus != "applied" || done.Receipt.Digest != r.Proposal.Digest || !strings.HasPrefix(done.Receipt.OperationID, "op-") {
		t.Fatalf("apply: got %s", first)
	}
	if diff := cmp.Diff(files, done.Receipt.Files); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	if p.read(t, "docs/plan.md") != "new plan\n" || p.read(t, "docs/a/b.md") != "b\n" {
		t.Error("the files are not promoted")
	}
	p.write(t, "docs/plan.md", "edited later\n")
	if _, again := call(t, c, "candidate_apply", apply(r.ProposalToken)); again != first {
		t.Errorf("apply again: got %s, want %s", again, first)
	}
	if p.read(t, "docs/plan.md") != "edited later\n" {
		t.Error("a token was used twice")
	}
	if r, text = call(t, c, "candidate_discard", `{"candidateId":"new-plan"}`); !slices.Equal(r.RemovedFiles, []string{"docs/a/b.md", "docs/plan.md"}) {
		t.Errorf("discard: got %s", text)
	}
	if r, text = call(t, c, "operation_recover", `{}`); r.Outcome != "none" {
		t.Errorf("recover: got %s", text)
	}
	if r, text = call(t, c, "operation_abort", fmt.Sprintf(`{"operationId":%q}`, done.Receipt.OperationID)); r.Error.Code != "operation_finished" {
		t.Errorf("abort: got %s", text)
	}
}

// Whatever changes between approval and promotion is noticed and named, and costs nothing.
func TestChangedAfterApproval(t *testing.T) {
	tests := []struct {
		name         string
		change, back func(p *project)
		code, named  string
	}{
		{
			"staged byte",
			func(p *project) { p.write(p.tb, staged+"docs/plan.md", "new plaN\n") },
			func(p *project) { p.write(p.tb, staged+"docs/plan.md", "new plan\n") },
			"proposal_stale", staged + "docs/plan.md",
		},
		{
			"staged mode",
			func(p *project) { chmod(p.tb, p, 0o700) },
			func(p *project) { p.rewrite(p.tb) },
			"proposal_stale", staged + "docs/plan.md",
		},
		{
			"file added",
			func(p *project) { p.write(p.tb, staged+"docs/more.md", "") },
			func(p *project) { rename(p.tb, p, staged+"docs/more.md", "gone") },
			"candidate_undeclared", "docs/more.md",
		},
		{
			"renamed in case only",
			func(p *project) { rename(p.tb, p, staged+"docs/plan.md", staged+"docs/Plan.md") },
			func(p *project) { rename(p.tb, p, staged+"docs/Plan.md", staged+"docs/plan.md") },
			"candidate_", "docs/Plan.md",
		},
		{
			"target edited",
			func(p *project) { p.write(p.tb, "docs/plan.md", "edited\n") },
			func(p *project) { p.write(p.tb, "docs/plan.md", "old plan\n") },
			"proposal_stale", "docs/plan.md",
		},
		{
			"target made",
			func(p *project) { p.write(p.tb, "docs/a/b.md", "mine\n") },
			func(p *project) { rename(p.tb, p, "docs/a/b.md", "gone") },
			"proposal_stale", "docs/a/b.md",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			p.write(t, "docs/plan.md", "old plan\n")
			c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
			tok := p.propose(t, c)
			tt.change(p)
			r, text := call(t, c, "candidate_apply", apply(tok))
			if !strings.HasPrefix(r.Error.Code, tt.code) || !strings.Contains(string(r.Error.Details), tt.named) {
				t.Errorf("got %s, want %s that names %s", text, tt.code, tt.named)
			}
			tt.back(p)
			if r, text := call(t, c, "candidate_apply", apply(tok)); r.CommandStatus != "applied" {
				t.Errorf("with everything as approved: got %s, want applied", text)
			}
		})
	}
}

// A process that dies between promotion and commit, or before the promotion, leaves a token that tells or does what
// happened.
func TestCrash(t *testing.T) {
	for _, promoted := range []bool{true, false} {
		t.Run(fmt.Sprintf("promoted %t", promoted), func(t *testing.T) {
			p := newProject(t)
			c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
			tok := p.propose(t, c)
			ctx := t.Context()
			rec, err := p.store.Lookup(ctx, tok, token.Claim{Project: "acme", Kind: "token", Subject: "anyone", Tool: "candidate_apply"})
			if err != nil {
				t.Fatal(err)
			}
			lease, err := p.store.Begin(ctx, tok, rec.Claim)
			if err != nil {
				t.Fatal(err)
			}
			operation := ""
			if promoted {
				m, err := p.area.Inspect(ctx, "new-plan")
				if err != nil {
					t.Fatal(err)
				}
				plan, err := p.area.Plan(ctx, m, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				plan.Approval = lease.Hash()
				done, err := p.area.Promote(ctx, plan)
				if err != nil {
					t.Fatal(err)
				}
				operation = done.Operation
				p.write(t, "docs/plan.md", "edited later\n")
			}
			lease.Release()

			r, first := call(t, c, "candidate_apply", apply(tok))
			if r.CommandStatus != "applied" || promoted && r.Receipt.OperationID != operation {
				t.Fatalf("got %s, want the receipt of %q", first, operation)
			}
			if _, again := call(t, c, "candidate_apply", apply(tok)); again != first {
				t.Errorf("again: got %s, want %s", again, first)
			}
			want := "new plan\n"
			if promoted {
				want = "edited later\n"
			}
			if got := p.read(t, "docs/plan.md"); got != want {
				t.Errorf("the file has %q, want %q", got, want)
			}
		})
	}
}

// A proposal whose receipt could not be sent is refused before anybody is asked.
func TestTooManyFiles(t *testing.T) {
	p := newProject(t)
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("docs/a-file-with-a-name-%03d.md", i))
	}
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":`+string(list)+`}`)
	for _, name := range names {
		p.write(t, staged+name, name)
	}
	if r, text := call(t, c, "candidate_apply", prepareApply); r.Error.Code != "result_too_large" || !strings.Contains(text, "nothing was changed") {
		t.Errorf("got %s, want result_too_large", text)
	}
}

// What authority covers is promoted in one call, if it covers every file.
func TestAuthorized(t *testing.T) {
	for name, test := range map[string]struct {
		patterns []string
		generate bool
		status   string
	}{
		"all":                      {[]string{"docs/**"}, false, "applied"},
		"each by one":              {[]string{"docs/a/*", "docs/*.md"}, false, "applied"},
		"one of two":               {[]string{"docs/*.md"}, false, "approval_required"},
		"none":                     {nil, false, "approval_required"},
		"all but a generated file": {[]string{"docs/a/*", "docs/plan.md"}, true, "approval_required"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.opts = &candidates.Options{Authorized: test.patterns}
			if test.generate {
				p.opts.Generate = func(context.Context, *candidates.Candidate) ([]stage.Generated, error) {
					return []stage.Generated{{Path: "docs/index.md", Data: []byte("index")}}, nil
				}
			}
			c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
			p.stagePlan(t, c)
			r, text := call(t, c, "candidate_apply", prepareApply)
			if r.CommandStatus != test.status || (r.Receipt != nil) != (test.status == "applied") {
				t.Fatalf("candidate_apply: %s, want %s", text, test.status)
			}
			if got := p.read(t, "docs/plan.md") != ""; got != (test.status == "applied") {
				t.Errorf("promoted: %v", got)
			}
		})
	}
	p := newProject(t)
	p.opts = &candidates.Options{Authorized: []string{"docs/["}}
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme"}
	if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test"}, nil, candidates.Feature(p.area, approvals, p.opts)); err == nil {
		t.Error("a pattern with a fault was accepted")
	}
}
