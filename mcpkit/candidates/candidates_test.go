package candidates_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

// A project is a directory with an area, a store and a server.
type project struct {
	tb    testing.TB
	root  string
	area  *stage.Area
	store *token.Store
	opts  *candidates.Options
	by    mcpkit.Approver
}

func newProject(tb testing.TB) *project {
	tb.Helper()
	p := &project{tb: tb, root: tb.TempDir()}
	var err error
	if p.area, err = stage.Open(p.root, &stage.Options{Allow: []string{"docs/**"}}); err != nil {
		tb.Fatal(err)
	}
	if p.store, err = token.Open(filepath.Join(p.root, ".mcpcontract", "tokens"), nil); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		p.area.Close()
		p.store.Close()
	})
	return p
}

func (p *project) server(tb testing.TB) *mcp.Server {
	tb.Helper()
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme", By: p.by, Command: "docs approve"}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, candidates.Feature(p.area, approvals, p.opts))
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

// write puts a file below the root; name is in slash form.
func (p *project) write(tb testing.TB, name, text string) {
	tb.Helper()
	full := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// read returns a file of the project, "" if there is none.
func (p *project) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return string(data)
}

const staged = ".mcpcontract/stage/new-plan/"

// A reply has the fields of all replies.
type reply struct {
	CandidateID, StagePath, Digest string
	RetainedFiles, RemovedFiles    []string
	Files                          json.RawMessage
	CommandStatus, ProposalToken   string
	Proposal, Receipt              *outcome
	Outcome, OperationID           string
	Error                          struct {
		Code, Message string
		Details       json.RawMessage
	}
}

type outcome struct {
	CandidateID, OperationID, Digest string
	Files                            []file
}

type file struct {
	Path, SHA256 string
	Before       *string
}

func call(tb testing.TB, c *wiretest.Peer, tool, args string) (reply, string) {
	tb.Helper()
	text := c.Call(tb, tool, args).JSON()
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		tb.Fatalf("%s %s: %s", tool, args, text)
	}
	return r, text
}

// stagePlan declares and writes the candidate new-plan.
func (p *project) stagePlan(tb testing.TB, c *wiretest.Peer) {
	tb.Helper()
	r, text := call(tb, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":["docs/plan.md","docs/a/b.md"]}`)
	if r.StagePath != strings.TrimSuffix(staged, "/") {
		tb.Fatalf("candidate_prepare: %s", text)
	}
	p.write(tb, staged+"docs/plan.md", "new plan\n")
	p.write(tb, staged+"docs/a/b.md", "b\n")
}

const prepareApply = `{"request":{"op":"prepare","candidateId":"new-plan"}}`

func apply(tok string) string {
	return fmt.Sprintf(`{"request":{"op":"apply","proposalToken":%q}}`, tok)
}

// propose stages the candidate and returns the token of its proposal.
func (p *project) propose(tb testing.TB, c *wiretest.Peer) string {
	tb.Helper()
	p.stagePlan(tb, c)
	r, text := call(tb, c, "candidate_apply", prepareApply)
	if r.CommandStatus != "approval_required" || r.ProposalToken == "" {
		tb.Fatalf("candidate_apply: %s", text)
	}
	return r.ProposalToken
}

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

func TestApply(t *testing.T) {
	for _, e := range wiretest.Eras() {
		for _, client := range []string{"codex", "zed"} {
			t.Run(string(e)+"/"+client, func(t *testing.T) {
				p := newProject(t)
				p.write(t, "docs/plan.md", "old plan\n")
				c := wiretest.Dial(t, p.server(t), e, client)
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
			})
		}
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
			func(p *project) { chmod(p.tb, p, 0o600) },
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

func chmod(tb testing.TB, p *project, mode fs.FileMode) {
	tb.Helper()
	if err := os.Chmod(filepath.Join(p.root, filepath.FromSlash(staged+"docs/plan.md")), mode); err != nil {
		tb.Fatal(err)
	}
}

func rename(tb testing.TB, p *project, from, to string) {
	tb.Helper()
	if err := os.Rename(filepath.Join(p.root, filepath.FromSlash(from)), filepath.Join(p.root, filepath.FromSlash(to))); err != nil {
		tb.Fatal(err)
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
	for _, want := range []string{"candidate new-plan: 3 files, of which 0 replace others", "validator words: passed", "validator links: 2 links", "docs/index.txt (new, 8 bytes"} {
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
