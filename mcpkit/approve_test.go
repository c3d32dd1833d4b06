package mcpkit_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

const formCaps = `{"elicitation":{"form":{}}}`

// A question is what a client is asked on protocol 2026-07-28.
type question struct {
	ResultType    string
	RequestState  string
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
}

// putAnswering calls put and answers the question about it, in whichever way the era has.
func putAnswering(t *testing.T, p *peer, args, answer string) (reply commandReply, asked string) {
	t.Helper()
	if p.era == handshake {
		p.elicit = func(params string) string { asked = params; return answer }
		return decodeReply(t, p.callTool(t, "put", args)), asked
	}
	q := ask(t, p, args)
	return decodeReply(t, retry(t, p, args, q.RequestState, answer)), string(q.InputRequests["approval"].Params)
}

func ask(t *testing.T, p *peer, args string) question {
	t.Helper()
	r := p.send(t, "tools/call", fmt.Sprintf(`{"name":"put","arguments":%s}`, args))
	var q question
	if err := json.Unmarshal(r.Result, &q); err != nil || q.ResultType != "input_required" || q.InputRequests["approval"].Method != "elicitation/create" {
		t.Fatalf("put %s: got %s %s, want a question", args, r.Result, r.Error)
	}
	return q
}

// retry repeats a call with the answer to its question, and returns the JSON of its reply.
func retry(t *testing.T, p *peer, args, state, answer string) string {
	t.Helper()
	r := p.send(t, "tools/call", fmt.Sprintf(`{"name":"put","arguments":%s,"requestState":%q,"inputResponses":{"approval":%s}}`, args, state, answer))
	var res struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		t.Fatalf("retry: %s %s", r.Result, r.Error)
	}
	if res.StructuredContent == nil && len(res.Content) > 0 {
		return res.Content[0].Text
	}
	return string(res.StructuredContent)
}

func TestElicit(t *testing.T) {
	tests := []struct {
		name, answer string
		status, code string
		applied      bool
	}{
		{"accept", `{"action":"accept","content":{"decision":"apply"}}`, "applied", "", true},
		{"accept and reject", `{"action":"accept","content":{"decision":"reject"}}`, "", "approval_declined", false},
		{"decline", `{"action":"decline"}`, "", "approval_declined", false},
		{"decline with an approving content", `{"action":"decline","content":{"decision":"apply"}}`, "", "approval_declined", false},
		{"cancel", `{"action":"cancel"}`, "", "approval_canceled", false},
		{"accept without content", `{"action":"accept"}`, "approval_required", "", false},
		{"accept with empty content", `{"action":"accept","content":{}}`, "approval_required", "", false},
		{"accept with another decision", `{"action":"accept","content":{"decision":"APPLY"}}`, "approval_required", "", false},
		{"accept with a true decision", `{"action":"accept","content":{"decision":true}}`, "approval_required", "", false},
		{"yes", `{"action":"yes","content":{"decision":"apply"}}`, "approval_required", "", false},
		{"upper case", `{"action":"Accept","content":{"decision":"apply"}}`, "approval_required", "", false},
	}
	for _, e := range eras {
		for _, tt := range tests {
			t.Run(e.String()+"/"+tt.name, func(t *testing.T) {
				s := newShelf()
				p := dialWith(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Elicit)).Install), e, formCaps)
				r, asked := putAnswering(t, p, prepareArgs("a", "one"), tt.answer)
				if r.CommandStatus != tt.status || r.Error.Code != tt.code {
					t.Errorf("got %+v, want status %q, code %q", r, tt.status, tt.code)
				}
				if (s.get("a") == "one") != tt.applied {
					t.Errorf("applied: %t, want %t", !tt.applied, tt.applied)
				}
				for _, want := range []string{"put 3 bytes", "project: acme", `"required":["decision"]`, `"enum":["apply","reject"]`} {
					if !strings.Contains(asked, want) {
						t.Errorf("the dialog %s lacks %s", asked, want)
					}
				}
				if strings.Contains(asked, `"default"`) {
					t.Errorf("the dialog %s has a default", asked)
				}
			})
		}
	}
}

// A client that cannot show forms is never asked, and gets the command to type.
func TestElicitCannotAsk(t *testing.T) {
	for _, e := range eras {
		for _, caps := range []string{`{}`, `{"sampling":{}}`, `{"elicitation":{"url":{}}}`} {
			t.Run(e.String()+"/"+caps, func(t *testing.T) {
				s := newShelf()
				approvals := newApprovals(t, mcpkit.Elicit)
				p := dialWith(t, newServer(t, nil, s.command(approvals).Install), e, caps)
				r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", "one")))
				if r.CommandStatus != "approval_required" || !strings.HasPrefix(r.ApprovalCommand, "acme approve ") {
					t.Fatalf("got %+v, want approval_required with a command", r)
				}
				code, message := p.callError(t, "put", applyArgs(r.ProposalToken))
				if code != "approval_pending" || !strings.Contains(message, r.ApprovalCommand) {
					t.Errorf("apply before: got %s: %s", code, message)
				}
				if err := approvals.Decide(t.Context(), new(strings.Builder), strings.Fields(r.ApprovalCommand)[2:]); err != nil {
					t.Fatal(err)
				}
				if r := decodeReply(t, p.callTool(t, "put", applyArgs(r.ProposalToken))); r.CommandStatus != "applied" {
					t.Errorf("apply after: got %+v", r)
				}
			})
		}
	}
}

// An old client that shows forms without saying so in detail is asked.
func TestElicitBareCapability(t *testing.T) {
	for _, e := range eras {
		s := newShelf()
		p := dialWith(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Elicit)).Install), e, `{"elicitation":{}}`)
		if r, _ := putAnswering(t, p, prepareArgs("a", "one"), `{"action":"accept","content":{"decision":"apply"}}`); r.CommandStatus != "applied" {
			t.Errorf("%v: got %+v, want applied", e, r)
		}
	}
}

// A person who does not answer in time keeps the proposal, and is asked again.
func TestElicitDeadline(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.Elicit)
	approvals.Timeout = time.Millisecond
	p := dialWith(t, newServer(t, nil, s.command(approvals).Install), handshake, formCaps)
	r, _ := putAnswering(t, p, prepareArgs("a", "one"), "")
	if r.CommandStatus != "approval_required" || s.get("a") != "" {
		t.Fatalf("without an answer: got %+v", r)
	}
	approvals.Timeout = time.Minute
	p = dialWith(t, newServer(t, nil, s.command(approvals).Install), handshake, formCaps)
	if r, _ := putAnswering(t, p, applyArgs(r.ProposalToken), `{"action":"accept","content":{"decision":"apply"}}`); r.CommandStatus != "applied" {
		t.Errorf("asked again: got %+v", r)
	}
}

// The retry of a question is believed only with the state of that very question.
func TestElicitState(t *testing.T) {
	const accept = `{"action":"accept","content":{"decision":"apply"}}`
	s := newShelf()
	approvals := newApprovals(t, mcpkit.Elicit)
	server := newServer(t, &mcpkit.Options{Principal: "editor"}, s.command(approvals).Install)
	p := dialWith(t, server, stateless, formCaps)
	args := prepareArgs("a", "one")
	state := ask(t, p, args).RequestState
	foreign := ask(t, dialWith(t, newServer(t, &mcpkit.Options{Principal: "editor"}, s.command(approvals).Install), stateless, formCaps), args).RequestState
	for name, try := range map[string][2]string{
		"no state":                {args, ""},
		"of another server":       {args, foreign},
		"of other arguments":      {prepareArgs("b", "one"), state},
		"of the apply form":       {applyArgs("x"), state},
		"cut":                     {args, state[:len(state)-1]},
		"the proposal's own hash": {args, strings.Repeat("0a", 32)},
	} {
		if r := decodeReply(t, retry(t, p, try[0], try[1], accept)); r.Error.Code != "approval_invalid" {
			t.Errorf("%s: got %+v, want approval_invalid", name, r)
		}
	}
	for i := range len(state) {
		flipped := []byte(state)
		flipped[i] ^= 1
		if r := decodeReply(t, retry(t, p, args, string(flipped), accept)); r.Error.Code != "approval_invalid" {
			t.Fatalf("byte %d changed: got %+v, want approval_invalid", i, r)
		}
	}
	if s.done != 0 {
		t.Fatal("a forged answer was believed")
	}
	first := retry(t, p, args, state, accept)
	if again := retry(t, p, args, state, accept); again != first || s.done != 1 {
		t.Errorf("replayed: got %s, want %s; applied %d times", again, first, s.done)
	}
}

// An answer counts for the state as it is when it comes.
func TestElicitStale(t *testing.T) {
	for _, e := range eras {
		s := newShelf()
		p := dialWith(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Elicit)).Install), e, formCaps)
		args, accept := prepareArgs("a", "one"), `{"action":"accept","content":{"decision":"apply"}}`
		var r commandReply
		if e == handshake {
			p.elicit = func(string) string { s.set("a", "meanwhile"); return accept }
			r = decodeReply(t, p.callTool(t, "put", args))
		} else {
			q := ask(t, p, args)
			s.set("a", "meanwhile")
			r = decodeReply(t, retry(t, p, args, q.RequestState, accept))
		}
		if r.Error.Code != "proposal_stale" || s.get("a") != "meanwhile" {
			t.Errorf("%v: got %+v, want proposal_stale", e, r)
		}
	}
}

func TestOutOfBand(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			s := newShelf()
			approvals := newApprovals(t, mcpkit.OutOfBand)
			p := dialWith(t, newServer(t, nil, s.command(approvals).Install), e, formCaps)
			r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", "one")))
			id, _ := strings.CutPrefix(r.ApprovalCommand, "acme approve ")
			if r.CommandStatus != "approval_required" || len(id) != 12 {
				t.Fatalf("got %+v, want approval_required with a command", r)
			}
			for range 2 {
				code, message := p.callError(t, "put", applyArgs(r.ProposalToken))
				if code != "approval_pending" || !strings.Contains(message, r.ApprovalCommand) {
					t.Errorf("apply before: got %s: %s", code, message)
				}
			}
			var out strings.Builder
			if err := approvals.Decide(t.Context(), &out, nil); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{id, "put 3 bytes", "asked by anyone", "tool:    put"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the list lacks %q:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), r.ProposalToken) {
				t.Errorf("the list shows a token:\n%s", out.String())
			}
			if err := approvals.Decide(t.Context(), &out, []string{id}); err != nil {
				t.Fatal(err)
			}
			if r := decodeReply(t, p.callTool(t, "put", applyArgs(r.ProposalToken))); r.CommandStatus != "applied" {
				t.Errorf("apply after: got %+v", r)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.OutOfBand)
	other := *approvals
	other.Project = "other"
	p := dial(t, newServer(t, nil, s.command(approvals).Install), handshake)
	r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", "one")))
	id := strings.Fields(r.ApprovalCommand)[2]
	tests := []struct {
		name      string
		approvals *mcpkit.Approvals
		args      []string
		code      token.Code
		want      string
	}{
		{"too short", approvals, []string{id[:11]}, token.CodeUnknown, ""},
		{"unknown", approvals, []string{strings.Repeat("0", 12)}, token.CodeUnknown, ""},
		{"empty", approvals, []string{""}, token.CodeUnknown, ""},
		{"of another project", &other, []string{id}, token.CodeUnknown, ""},
		{"list of another project", &other, nil, "", "nothing waits"},
		{"reject", approvals, []string{"reject", id}, "", "rejected " + id},
		{"rejected before", approvals, []string{id}, token.CodeUnknown, ""},
		{"list", approvals, nil, "", "nothing waits"},
	}
	for _, tt := range tests {
		var out strings.Builder
		err := tt.approvals.Decide(t.Context(), &out, tt.args)
		if token.CodeOf(err) != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: got %v and %q, want code %q and %q", tt.name, err, out.String(), tt.code, tt.want)
		}
	}
	if code, _ := p.callError(t, "put", applyArgs(r.ProposalToken)); code != "approval_declined" {
		t.Errorf("apply after reject: got %s", code)
	}
}

// An ID that two proposals begin with names neither.
func TestDecideAmbiguous(t *testing.T) {
	backend := &tokentest.Memory{}
	store := openStore(t, "", &token.Options{Backend: backend})
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, end := range []string{"a", "b"} {
		if err := backend.Swap(t.Context(), &token.Record{
			Hash: strings.Repeat("0", 63) + end, State: token.StatePending, Issued: now, Changed: now, Expires: now.Add(time.Hour),
			Claim: token.Claim{Project: "acme", Kind: "command", Subject: "anyone", Tool: "put"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	approvals := &mcpkit.Approvals{Store: store, Project: "acme"}
	err := approvals.Decide(t.Context(), new(strings.Builder), []string{strings.Repeat("0", 12)})
	if token.CodeOf(err) != token.CodeUnknown || !strings.Contains(err.Error(), "more digits") {
		t.Errorf("got %v, want a wish for more digits", err)
	}
	if err := approvals.Decide(t.Context(), new(strings.Builder), []string{strings.Repeat("0", 63) + "b"}); err != nil {
		t.Errorf("the whole hash: %v", err)
	}
}

// What a person reads cannot be forged by names from elsewhere.
func TestDecideCleans(t *testing.T) {
	approvals := newApprovals(t, mcpkit.OutOfBand)
	claim := token.Claim{Project: "acme", Kind: "command", Subject: "user:a", Tool: "put", Base: map[string]string{"docs/a": ""}}
	lines := make([]string, 50)
	for i := range lines {
		lines[i] = "\x1b[2J\r\u202e" + strings.Repeat("x", 500)
	}
	input, err := json.Marshal(map[string]any{"summary": lines})
	if err != nil {
		t.Fatal(err)
	}
	claim.Input = input
	if _, err := approvals.Store.Issue(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := approvals.Decide(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\x1b\r\u202e") || len(got) > 12000 || !strings.Contains(got, "and 10 more") || strings.Count(got, "xx...\n") != 40 {
		t.Errorf("got %d bytes: %q", len(got), got)
	}
}

// Every token that does not open the call is refused in the same words, whatever is wrong with it.
func TestForeignTokens(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	store := openStore(t, filepath.Join(t.TempDir(), "tokens"), &token.Options{Now: clock, MaxPerSubject: 8})
	s := newShelf()
	serve := func(project, prefix, principal string, by mcpkit.Approver) *peer {
		approvals := &mcpkit.Approvals{Store: store, Project: project, By: by, Command: "acme approve"}
		opts := &mcpkit.Options{ToolPrefix: prefix, Principal: principal}
		return dial(t, newServer(t, opts, s.command(approvals).Install), handshake)
	}
	tokenOf := func(p *peer, tool string) string {
		return decodeReply(t, p.callTool(t, tool, prepareArgs("a", "one"))).ProposalToken
	}
	home := serve("acme", "", "editor", mcpkit.Token)
	expired := tokenOf(home, "put")
	now = now.Add(time.Hour)
	evicted := tokenOf(home, "put")
	for range 10 {
		tokenOf(home, "put")
	}
	good := tokenOf(home, "put")
	tokens := map[string]string{
		"of another tool":      tokenOf(serve("acme", "x_", "editor", mcpkit.Token), "x_put"),
		"of another project":   tokenOf(serve("beta", "", "editor", mcpkit.Token), "put"),
		"of another principal": tokenOf(serve("acme", "", "reader", mcpkit.Token), "put"),
		"of nobody":            tokenOf(serve("acme", "", "", mcpkit.Token), "put"),
		"of another kind":      tokenOf(serve("acme", "", "editor", mcpkit.OutOfBand), "put"),
		"expired":              expired,
		"evicted":              evicted,
		"empty":                "",
		"malformed":            "x1_token_short",
		"long":                 strings.Repeat("x", 100_000),
		"with a space":         good + " ",
		"one digit off":        good[:len(good)-1] + "_",
		"its hash":             strings.Repeat("ab", 32),
		"a path":               "../../etc/passwd",
	}
	want := ""
	for name, text := range tokens {
		r := home.callTool(t, "put", applyArgs(text))
		if want == "" {
			want = r
		}
		if r != want || decodeReply(t, r).Error.Code != "approval_invalid" {
			t.Errorf("%s: got %s, want %s", name, r, want)
		}
	}
	if s.done != 0 {
		t.Error("a foreign token changed something")
	}
	if r := decodeReply(t, home.callTool(t, "put", applyArgs(good))); r.CommandStatus != "applied" {
		t.Errorf("the right token: got %+v", r)
	}
}

func TestApproverFlag(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(new(strings.Builder))
	var by mcpkit.Approver
	flags.TextVar(&by, "approve", mcpkit.Token, "who approves")
	for text, want := range map[string]mcpkit.Approver{"token": mcpkit.Token, "elicit": mcpkit.Elicit, "command": mcpkit.OutOfBand} {
		if err := flags.Parse([]string{"-approve", text}); err != nil || by != want {
			t.Errorf("%s: got %v, %v", text, by, err)
		}
	}
	if err := flags.Parse([]string{"-approve", "yes"}); err == nil || !strings.Contains(err.Error(), "want token, elicit or command") {
		t.Errorf("got %v", err)
	}
	if got := mcpkit.Approver(9).String(); got != "approver(9)" {
		t.Errorf("got %s", got)
	}
}

func TestCommandDeclarations(t *testing.T) {
	s := newShelf()
	good := newApprovals(t, mcpkit.Token)
	type command = mcpkit.Command[putArgs, putPlan, putReceipt]
	tests := []struct {
		name   string
		change func(c *command)
		want   string
	}{
		{"no approvals", func(c *command) { c.Approvals = nil }, "Approvals, Plan and Receipt are required"},
		{"no plan", func(c *command) { c.Plan = nil }, "Approvals, Plan and Receipt are required"},
		{"no receipt", func(c *command) { c.Receipt = nil }, "Approvals, Plan and Receipt are required"},
		{"no apply", func(c *command) { c.Apply = nil }, "exactly one of the fields Apply and Begin"},
		{"read only", func(c *command) { c.Effect = mcpkit.ReadOnly }, "not ReadOnly"},
		{"no effect", func(c *command) { c.Effect = 0 }, "Effect is not set"},
		{"no description", func(c *command) { c.Description = "" }, "Description is not set"},
		{"no store", func(c *command) { c.Approvals = &mcpkit.Approvals{Project: "acme"} }, "Store and Project"},
		{"no project", func(c *command) { c.Approvals = &mcpkit.Approvals{Store: good.Store} }, "Store and Project"},
		{"unknown approver", func(c *command) { c.Approvals = &mcpkit.Approvals{Store: good.Store, Project: "a", By: 7} }, "no meaning: 7"},
		{"no way to approve", func(c *command) {
			c.Approvals = &mcpkit.Approvals{Store: good.Store, Project: "a", By: mcpkit.OutOfBand}
		}, "Command of Approvals is required"},
	}
	for _, tt := range tests {
		c := s.command(good)
		tt.change(&c)
		_, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, c.Install)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	type opArgs struct {
		Op string `json:"op" jsonschema:"taken"`
	}
	taken := mcpkit.Command[opArgs, putPlan, putReceipt]{
		Name: "x", Description: "x", Effect: mcpkit.Additive, Approvals: good, Receipt: receiptOf, Apply: s.apply,
		Plan: func(context.Context, opArgs) (mcpkit.Proposal[putPlan], error) {
			return mcpkit.Proposal[putPlan]{}, nil
		},
	}
	if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil, taken.Install); err == nil || !strings.Contains(err.Error(), `the field "op"`) {
		t.Errorf("a request with an op of its own: got %v", err)
	}
}

// Who forgets the ids must not believe that anything was rejected.
func TestRejectNothing(t *testing.T) {
	s := newShelf()
	approvals := newApprovals(t, mcpkit.OutOfBand)
	p := dial(t, newServer(t, nil, s.command(approvals).Install), handshake)
	p.callTool(t, "put", prepareArgs("a", "one"))
	var out strings.Builder
	err := approvals.Decide(t.Context(), &out, []string{"reject"})
	if token.CodeOf(err) != token.CodeUnknown || !strings.Contains(err.Error(), "name what to reject") || out.Len() > 0 {
		t.Errorf("got %v and %q, want to be told that an id is missing", err, out.String())
	}
	if list, err := approvals.Store.Pending(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%d proposals wait, %v", len(list), err)
	}
}
