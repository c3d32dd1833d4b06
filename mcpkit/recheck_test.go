package mcpkit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/token"
)

// A person at a terminal is told that what they are to approve is not what would be done, and cannot approve it.
func TestDecideRechecks(t *testing.T) {
	s := newShelf()
	s.set("a", "old")
	approvals := newApprovals(t, mcpkit.OutOfBand)
	p := dial(t, newServer(t, &mcpkit.Options{Principal: "editor"}, s.command(approvals).Install), handshake)
	var ids, toks []string
	for _, text := range []string{"one", "two"} {
		r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", text)))
		ids, toks = append(ids, strings.Fields(r.ApprovalCommand)[2]), append(toks, r.ProposalToken)
	}
	// The program that decides is another one: it has no server, and a command without approvals.
	terminal := &mcpkit.Approvals{Store: approvals.Store, Project: "acme", Recheck: s.command(nil).Recheck}
	decide := func(code token.Code, args ...string) string {
		t.Helper()
		var out strings.Builder
		if err := terminal.Decide(t.Context(), &out, args); token.CodeOf(err) != code {
			t.Errorf("decide %q: got %v, want code %q", args, err, code)
		}
		return out.String()
	}
	if got := decide(""); strings.Contains(got, "CANNOT") {
		t.Errorf("unchanged, yet the list warns:\n%s", got)
	}
	s.set("a", "\x1b[2Jmeanwhile")
	const warning = "CANNOT BE APPROVED: compare: what would be done now is not what was proposed; prepare again: \"shelf/a\"\n"
	if got := decide(""); strings.Count(got, warning) != 2 {
		t.Errorf("the list does not say twice %q:\n%s", warning, got)
	}
	if got := decide(token.CodeStale, ids[0]); got != "" {
		t.Errorf("nothing was approved, yet it says %q", got)
	}
	if got := decide("", "reject", ids[1]); !strings.HasPrefix(got, "rejected "+ids[1]) {
		t.Errorf("reject: got %q", got)
	}
	s.set("a", "old")
	if got := decide("", ids[0]); !strings.HasPrefix(got, "approved "+ids[0]) {
		t.Errorf("approve: got %q", got)
	}
	if r := decodeReply(t, p.callTool(t, "put", applyArgs(toks[0]))); r.CommandStatus != "applied" {
		t.Errorf("apply what was approved: got %+v", r)
	}
	for range 2 {
		if code, message := p.callError(t, "put", applyArgs(toks[1])); code != mcpkit.CodeDeclined || !strings.Contains(message, "declined") {
			t.Errorf("apply what was rejected: got %s: %s", code, message)
		}
	}
}

// An error that ends the list is not shown as a warning about one proposal.
func TestDecideRecheckEnds(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.OutOfBand)
	p := dial(t, newServer(t, nil, s.command(approvals).Install), handshake)
	p.callTool(t, "put", prepareArgs("a", "one"))
	ctx, cancel := context.WithCancel(t.Context())
	approvals.Recheck = func(ctx context.Context, _ token.Claim) error { cancel(); return ctx.Err() }
	var out strings.Builder
	if err := approvals.Decide(ctx, &out, nil); !errors.Is(err, context.Canceled) || out.String() != "" {
		t.Errorf("got %v and %q, want the end of the context", err, out.String())
	}
}

// Recheck plans for whoever asked, says what is wrong, and changes nothing.
func TestRecheck(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.OutOfBand)
	base := s.command(approvals)
	base.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
		p, err := s.plan(ctx, in)
		p.Plan.Notes = []string{"for " + mcpkit.Principal(ctx)}
		return p, err
	}
	claimOf := func(opts *mcpkit.Options) token.Claim {
		t.Helper()
		r := decodeReply(t, dial(t, newServer(t, opts, base.Install), handshake).callTool(t, "put", prepareArgs("a", "one")))
		all, err := approvals.Store.Pending(t.Context())
		if err != nil || !strings.HasSuffix(r.ApprovalCommand, all[len(all)-1].Hash[:12]) {
			t.Fatalf("got %d records and %v", len(all), err)
		}
		return all[len(all)-1].Claim
	}
	named, nameless := claimOf(&mcpkit.Options{Principal: "editor"}), claimOf(nil)
	other, broken := named, named
	other.Manifest = strings.Repeat("0", 64)
	broken.Input = []byte("{")
	type command = mcpkit.Command[putArgs, putPlan, putReceipt]
	tests := []struct {
		name   string
		change func(c *command)
		claim  token.Claim
		want   string // of the message; empty: no error
	}{
		{"unchanged", func(*command) {}, named, ""},
		{"asked by nobody", func(*command) {}, nameless, ""},
		{"other lines", func(c *command) {
			c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
				p, err := base.Plan(ctx, in)
				p.Summary = append(p.Summary, "more")
				return p, err
			}
		}, named, "what would be written differs"},
		{"other manifest", func(*command) {}, other, "what would be written differs"},
		{"refused by now", func(c *command) {
			c.Plan = func(ctx context.Context, _ putArgs) (mcpkit.Proposal[putPlan], error) {
				return s.plan(ctx, putArgs{Name: "forbidden"})
			}
		}, named, "forbidden"},
		{"disabled", func(c *command) { c.Disabled = errors.New("reading only") }, named, "reading only"},
		{"no input", func(*command) {}, broken, "unexpected end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := base
			tt.change(&c)
			err := c.Recheck(t.Context(), tt.claim)
			if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %q", got, tt.want)
			}
		})
	}
	if s.done != 0 {
		t.Error("a look changed something")
	}
}

// While nobody has decided, a change is told at once, consumes nothing, and no person is asked about it.
func TestPendingStale(t *testing.T) {
	for _, by := range []mcpkit.Approver{mcpkit.OutOfBand, mcpkit.Elicit} {
		for _, e := range eras {
			t.Run(by.String()+"/"+e.String(), func(t *testing.T) {
				s := newShelf()
				approvals := newApprovals(t, by)
				server := newServer(t, nil, s.command(approvals).Install)
				tok := decodeReply(t, dial(t, server, e).callTool(t, "put", prepareArgs("a", "one"))).ProposalToken
				p := dialWith(t, server, e, formCaps)
				p.elicit = func(params string) string { t.Errorf("a person was asked: %s", params); return `{"action":"cancel"}` }
				s.set("a", "meanwhile")
				if code, message := p.callError(t, "put", applyArgs(tok)); code != "proposal_stale" || !strings.Contains(message, `"shelf/a"`) {
					t.Errorf("changed: got %s: %s", code, message)
				}
				s.texts = map[string]string{}
				if code, _ := dial(t, server, e).callError(t, "put", applyArgs(tok)); code != "approval_pending" {
					t.Errorf("as it was: got %s, want approval_pending", code)
				}
			})
		}
	}
}

// A question that was not answered leaves a proposal, which is not shown as another one than was kept.
func TestUnansweredStale(t *testing.T) {
	s := newShelf()
	p := dialWith(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Elicit)).Install), stateless, formCaps)
	args := prepareArgs("a", "one")
	q := ask(t, p, args)
	r := p.send(t, "tools/call", fmt.Sprintf(`{"name":"put","arguments":%s,"requestState":%q,"inputResponses":{}}`, args, q.RequestState))
	if !strings.Contains(string(r.Result), "approval_required") {
		t.Errorf("without any answer: got %s %s", r.Result, r.Error)
	}
	s.set("a", "meanwhile")
	if r := decodeReply(t, retry(t, p, args, q.RequestState, `{"action":"later"}`)); r.Error.Code != "proposal_stale" {
		t.Errorf("got %+v, want proposal_stale", r)
	}
}

// What was declined is answered as that, even if it could not be proposed any more.
func TestDeclinedAndGone(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.OutOfBand)
	c, gone := s.command(approvals), false
	c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
		if gone {
			return mcpkit.Proposal[putPlan]{}, &brokenError{"gone"}
		}
		return s.plan(ctx, in)
	}
	p := dial(t, newServer(t, nil, c.Install), handshake)
	r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", "one")))
	if err := approvals.Decide(t.Context(), new(strings.Builder), []string{"reject", strings.Fields(r.ApprovalCommand)[2]}); err != nil {
		t.Fatal(err)
	}
	gone = true
	if code, message := p.callError(t, "put", applyArgs(r.ProposalToken)); code != mcpkit.CodeDeclined {
		t.Errorf("got %s: %s, want %s", code, message, mcpkit.CodeDeclined)
	}
}

// Two people who refuse the same proposal do not get into each other's way.
func TestRefusedTwice(t *testing.T) {
	for answer, want := range map[string]string{`{"action":"decline"}`: mcpkit.CodeDeclined, `{"action":"cancel"}`: mcpkit.CodeCanceled} {
		s := newShelf()
		approvals := newApprovals(t, mcpkit.Elicit)
		p := dialWith(t, newServer(t, nil, s.command(approvals).Install), handshake, formCaps)
		p.elicit = func(string) string {
			list, err := approvals.Store.Pending(t.Context())
			if err != nil || len(list) != 1 {
				t.Errorf("Pending gave %d records and %v", len(list), err)
				return answer
			}
			if err := approvals.Decide(t.Context(), new(strings.Builder), []string{"reject", list[0].Hash}); err != nil {
				t.Error(err)
			}
			return answer
		}
		if code, message := p.callError(t, "put", prepareArgs("a", "one")); code != want {
			t.Errorf("%s: got %s: %s, want %s", answer, code, message, want)
		}
	}
}

// What a person said no to is answered the same when it is sent again; a closed dialog is no decision.
func TestRefusedAgain(t *testing.T) {
	for answer, want := range map[string]string{`{"action":"decline"}`: mcpkit.CodeDeclined, `{"action":"cancel"}`: "approval_invalid"} {
		s := newShelf()
		p := dialWith(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Elicit)).Install), stateless, formCaps)
		args := prepareArgs("a", "one")
		q := ask(t, p, args)
		retry(t, p, args, q.RequestState, answer)
		for _, next := range []string{answer, `{"action":"accept","content":{"decision":"apply"}}`} {
			if r := decodeReply(t, retry(t, p, args, q.RequestState, next)); r.Error.Code != want || s.done != 0 {
				t.Errorf("%s, then %s: got %+v, want %s", answer, next, r, want)
			}
		}
	}
}

func ExampleCommand_Recheck() {
	dir, err := os.MkdirTemp("", "tokens")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := token.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	// What "zoo approve" does, in a program that can see what the server sees.
	cages := map[string]string{"lions": "cage-1"}
	rename := mcpkit.Command[renameArgs, renaming, renaming]{
		Plan: func(_ context.Context, in renameArgs) (mcpkit.Proposal[renaming], error) {
			return mcpkit.Proposal[renaming]{Plan: renaming(in), Base: map[string]string{"cages/" + in.From: cages[in.From]}}, nil
		},
		Receipt: func(plan renaming) renaming { return plan },
	}
	approvals := &mcpkit.Approvals{Store: store, Project: "zoo", Recheck: rename.Recheck}
	if err := approvals.Decide(context.Background(), os.Stdout, nil); err != nil {
		fmt.Println(err)
	}
	// Output: nothing waits for approval
}
