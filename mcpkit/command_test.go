package mcpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/token"
)

// A shelf is what the command of these tests changes: named texts in memory.
type shelf struct {
	mu    sync.Mutex
	texts map[string]string
	fail  error // of the next Apply
	done  int   // how often Apply did something
}

type putArgs struct {
	Name string `json:"name" jsonschema:"the name on the shelf" schema:"kind=id"`
	Text string `json:"text,omitempty" jsonschema:"the new text"`
}

type putPlan struct {
	Name   string   `json:"name"`
	SHA256 string   `json:"sha256" schema:"kind=sha256"`
	Notes  []string `json:"notes"`

	text string
}

type putReceipt struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

func (s *shelf) plan(_ context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Name == "forbidden" {
		return mcpkit.Proposal[putPlan]{}, &brokenError{"forbidden"}
	}
	before := ""
	if old, ok := s.texts[in.Name]; ok {
		before = canon.Sum([]byte(old))
	}
	return mcpkit.Proposal[putPlan]{
		Plan:    putPlan{Name: in.Name, SHA256: canon.Sum([]byte(in.Text)), text: in.Text},
		Base:    map[string]string{"shelf/" + in.Name: before},
		Summary: []string{fmt.Sprintf("put %d bytes", len(in.Text))},
	}, nil
}

func (s *shelf) apply(_ context.Context, plan putPlan) (putReceipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail; err != nil {
		s.fail = nil
		return putReceipt{}, err
	}
	s.texts[plan.Name] = plan.text
	s.done++
	return receiptOf(plan), nil
}

func receiptOf(plan putPlan) putReceipt {
	return putReceipt{Name: plan.Name, Size: len(plan.text)}
}

func (s *shelf) get(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[name]
}

func (s *shelf) set(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[name] = text
}

func newShelf() *shelf { return &shelf{texts: make(map[string]string)} }

// command returns the put command, approved by by.
func (s *shelf) command(approvals *mcpkit.Approvals) mcpkit.Command[putArgs, putPlan, putReceipt] {
	return mcpkit.Command[putArgs, putPlan, putReceipt]{
		Name:        "put",
		Description: "Put a text on the shelf.",
		Effect:      mcpkit.Destructive,
		Approvals:   approvals,
		Plan:        s.plan,
		Receipt:     receiptOf,
		Apply:       s.apply,
	}
}

func openStore(tb testing.TB, dir string, opts *token.Options) *token.Store {
	tb.Helper()
	store, err := token.Open(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { store.Close() })
	return store
}

func newApprovals(tb testing.TB, by mcpkit.Approver) *mcpkit.Approvals {
	tb.Helper()
	store := openStore(tb, filepath.Join(tb.TempDir(), "tokens"), nil)
	return &mcpkit.Approvals{Store: store, Project: "acme", By: by, Command: "acme approve"}
}

// A commandReply is a decoded reply of a command.
type commandReply struct {
	CommandStatus   string
	ProposalToken   string
	ExpiresAt       string
	ApprovalCommand string
	Proposal        json.RawMessage
	Receipt         json.RawMessage
	Error           struct {
		Code, Message string
		Details       json.RawMessage
	}
}

func decodeReply(tb testing.TB, text string) commandReply {
	tb.Helper()
	var r commandReply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		tb.Fatalf("reply %s: %v", text, err)
	}
	return r
}

func prepareArgs(name, text string) string {
	return fmt.Sprintf(`{"request":{"op":"prepare","name":%q,"text":%q}}`, name, text)
}

func applyArgs(tok string) string {
	return fmt.Sprintf(`{"request":{"op":"apply","proposalToken":%q}}`, tok)
}

// prepared returns the token of a prepared put.
func prepared(tb testing.TB, p *peer, name, text string) string {
	tb.Helper()
	r := decodeReply(tb, p.callTool(tb, "put", prepareArgs(name, text)))
	if r.CommandStatus != "approval_required" || r.ProposalToken == "" {
		tb.Fatalf("prepare: got %+v, want approval_required", r)
	}
	return r.ProposalToken
}

func TestCommandToken(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			s := newShelf()
			p := dial(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Token)).Install), e)
			r := decodeReply(t, p.callTool(t, "put", prepareArgs("a", "one <b>")))
			want := fmt.Sprintf(`{"name":"a","sha256":%q,"notes":[]}`, canon.Sum([]byte("one <b>")))
			if r.CommandStatus != "approval_required" || string(r.Proposal) != want || r.ExpiresAt == "" || r.Receipt != nil || r.ApprovalCommand != "" {
				t.Errorf("prepare: got %+v, want the proposal %s", r, want)
			}
			if s.get("a") != "" {
				t.Error("prepare changed something")
			}
			first := p.callTool(t, "put", applyArgs(r.ProposalToken))
			if want := `{"commandStatus":"applied","receipt":{"name":"a","size":7}}`; first != want {
				t.Errorf("apply: got %s, want %s", first, want)
			}
			s.set("a", "changed since")
			if again := p.callTool(t, "put", applyArgs(r.ProposalToken)); again != first {
				t.Errorf("apply again: got %s, want the same reply %s", again, first)
			}
			if s.done != 1 {
				t.Errorf("applied %d times, want once", s.done)
			}
		})
	}
}

func TestCommandStale(t *testing.T) {
	s := newShelf()
	p := dial(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Token)).Install), stateless)
	tok := prepared(t, p, "a", "one")
	s.set("a", "somebody else's")
	r := decodeReply(t, p.callTool(t, "put", applyArgs(tok)))
	if r.Error.Code != "proposal_stale" || string(r.Error.Details) != `{"count":1,"changed":["shelf/a"]}` {
		t.Errorf("got %+v, want proposal_stale that names shelf/a", r.Error)
	}
	s.mu.Lock()
	delete(s.texts, "a") // as it was
	s.mu.Unlock()
	if r := decodeReply(t, p.callTool(t, "put", applyArgs(tok))); r.CommandStatus != "applied" {
		t.Errorf("after the state came back: got %+v, want applied, since a stale proposal consumes nothing", r)
	}
}

func TestCommandApplyFails(t *testing.T) {
	s := newShelf()
	p := dial(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Token)).Install), handshake)
	tok := prepared(t, p, "a", "one")
	s.fail = errors.New("the shelf is full")
	if code, message := p.callError(t, "put", applyArgs(tok)); code != "internal" || message != "the shelf is full" {
		t.Errorf("got %s: %s", code, message)
	}
	if r := decodeReply(t, p.callTool(t, "put", applyArgs(tok))); r.CommandStatus != "applied" || s.done != 1 {
		t.Errorf("after a failure that did nothing: got %+v, want applied", r)
	}
}

func TestCommandPanicKeepsApprovalInUse(t *testing.T) {
	s := newShelf()
	c := s.command(newApprovals(t, mcpkit.Token))
	c.Apply = func(context.Context, putPlan) (putReceipt, error) { panic("half done") }
	p := dial(t, newServer(t, nil, c.Install), handshake)
	tok := prepared(t, p, "a", "one")
	if code, _ := p.callError(t, "put", applyArgs(tok)); code != "internal" {
		t.Errorf("got %s, want internal", code)
	}
	if code, _ := p.callError(t, "put", applyArgs(tok)); code != "approval_busy" {
		t.Errorf("got %s, want approval_busy, since nobody knows what was done", code)
	}
}

func TestCommandAuthorize(t *testing.T) {
	s := newShelf()
	plans := 0
	c := s.command(newApprovals(t, mcpkit.OutOfBand))
	c.Authorize = func(ctx context.Context, in putArgs, plan putPlan) (bool, error) {
		if in.Name == "never" {
			return false, &brokenError{"never"}
		}
		return mcpkit.Principal(ctx) == "editor" && plan.Name == "mine", nil
	}
	c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
		plans++
		return s.plan(ctx, in)
	}
	p := dial(t, newServer(t, &mcpkit.Options{Principal: "editor"}, c.Install), stateless)
	if got, want := p.callTool(t, "put", prepareArgs("mine", "x")), `{"commandStatus":"applied","receipt":{"name":"mine","size":1}}`; got != want {
		t.Errorf("with authority: got %s, want %s", got, want)
	}
	if plans != 1 {
		t.Errorf("the proposal was computed %d times, want once", plans)
	}
	if code, _ := p.callError(t, "put", prepareArgs("never", "x")); code != "file_broken" {
		t.Errorf("refused: got %s", code)
	}
	prepared(t, p, "theirs", "x")
	if s.get("theirs") != "" {
		t.Error("changed without authority")
	}
}

// Every wrong request is refused with a message that names the form and the field, and does nothing.
func TestCommandRequests(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"nothing", `{}`, `"request" is required`},
		{"null", `{"request":null}`, `"request": want object, got null`},
		{"stringified", `{"request":"{\"op\":\"prepare\",\"name\":\"a\"}"}`, `"request": want object, got string (send the value itself, not its JSON as a string)`},
		{"list", `{"request":[]}`, `"request": want object, got array`},
		{"beside", `{"request":{"op":"prepare","name":"a"},"approve":true}`, `"approve" is unexpected (allowed: request)`},
		{"flat", `{"op":"prepare","name":"a"}`, `"request" is required; "name" is unexpected (allowed: request); "op" is unexpected (allowed: request)`},
		{"no op", `{"request":{"name":"a"}}`, `"request.op" is required`},
		{"other op", `{"request":{"op":"approve","name":"a"}}`, `"request.op": want one of prepare, apply`},
		{"op of another case", `{"request":{"Op":"prepare","name":"a"}}`, `"request.op" is required`},
		{"half a prepare", `{"request":{"op":"prepare"}}`, `request with op "prepare": "name" is required`},
		{"half an apply", `{"request":{"op":"apply"}}`, `request with op "apply": "proposalToken" is required`},
		{"mixed", `{"request":{"op":"apply","proposalToken":"x","name":"a"}}`, `request with op "apply": "name" is unexpected (allowed: op, proposalToken)`},
		{"mixed, sorted", `{"request":{"op":"apply","proposalToken":"x","z":1,"name":"a"}}`, `"name" is unexpected (allowed: op, proposalToken); "z" is unexpected`},
		{"token in prepare", `{"request":{"op":"prepare","name":"a","proposalToken":"x"}}`, `request with op "prepare": "proposalToken" is unexpected (allowed: op, name, text)`},
		{"approval in prepare", `{"request":{"op":"prepare","name":"a","autoApprove":true}}`, `request with op "prepare": "autoApprove" is unexpected`},
		{"wrong type", `{"request":{"op":"prepare","name":7}}`, `request with op "prepare": "name": want string, got integer`},
		{"wrong value", `{"request":{"op":"prepare","name":"a b"}}`, `request with op "prepare": "name": want text that matches`},
		{"token is no string", `{"request":{"op":"apply","proposalToken":{}}}`, `request with op "apply": "proposalToken": want string, got object`},
		{"not UTF-8", "{\"request\":{\"op\":\"prepare\",\"name\":\"a\xff\"}}", notUnicode},
		{"twice", `{"request":{"op":"prepare","name":"a","name":"b"}}`, `"request.name" is given twice`},
		{"request twice", `{"request":{"op":"prepare","name":"a"},"request":{"op":"prepare","name":"b"}}`, `"request" is given twice`},
	}
	for _, e := range eras {
		s := newShelf()
		p := dial(t, newServer(t, nil, s.command(newApprovals(t, mcpkit.Token)).Install), e)
		for _, tt := range tests {
			t.Run(e.String()+"/"+tt.name, func(t *testing.T) {
				code, message := p.callError(t, "put", tt.args)
				if code != "invalid_arguments" || !strings.Contains(message, tt.want) {
					t.Errorf("got %s: %s, want invalid_arguments with %s", code, message, tt.want)
				}
			})
		}
	}
}
