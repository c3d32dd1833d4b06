package mcpkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/token"
)

// A journal remembers what was put on a shelf under which approval, as stage does for files.
type journal struct {
	shelf    *shelf
	receipts map[string]putReceipt
	open     int
	fail     error // of the next Receipt
	panics   bool  // the next Apply, before it did anything
}

func (j *journal) begin(context.Context) (mcpkit.Transaction[putPlan, putReceipt], error) {
	if j.shelf.get("locked") != "" {
		return nil, &brokenError{"lock"}
	}
	j.open++
	return j, nil
}

func (j *journal) Receipt(_ context.Context, approval string) (putReceipt, bool, error) {
	err := j.fail
	j.fail = nil
	r, ok := j.receipts[approval]
	return r, ok, err
}

func (j *journal) Apply(ctx context.Context, plan putPlan, approval string) (putReceipt, error) {
	if j.panics {
		j.panics = false
		panic("out of order")
	}
	r, err := j.shelf.apply(ctx, plan)
	if err == nil {
		j.receipts[approval] = r
	}
	return r, err
}

func (j *journal) Close() error {
	j.open--
	return errors.New("the lock is gone")
}

func newJournal() (*journal, func(*mcpkit.Approvals) mcpkit.Command[putArgs, putPlan, putReceipt]) {
	j := &journal{shelf: newShelf(), receipts: make(map[string]putReceipt)}
	return j, func(a *mcpkit.Approvals) mcpkit.Command[putArgs, putPlan, putReceipt] {
		c := j.shelf.command(a)
		c.Apply, c.Begin = nil, j.begin
		return c
	}
}

func TestTransaction(t *testing.T) {
	const applied = `{"commandStatus":"applied","receipt":{"name":"a","size":3}}`
	j, command := newJournal()
	approvals := newApprovals(t, mcpkit.Token)
	p := dial(t, newServer(t, nil, command(approvals).Install), stateless)
	steps := []struct {
		name   string
		before func()
		code   string
	}{
		{"the lock is taken", func() { j.shelf.set("locked", "yes") }, "file_broken"},
		{"the journal cannot be read", func() { j.shelf.set("locked", ""); j.fail = &brokenError{"journal"} }, "file_broken"},
		{"applying fails", func() { j.shelf.fail = &brokenError{"shelf"} }, "file_broken"},
		{"applied", func() {}, ""},
		{"again", func() { j.shelf.set("a", "changed") }, ""},
	}
	tok := prepared(t, p, "a", "one")
	for _, step := range steps {
		step.before()
		got := p.callTool(t, "put", applyArgs(tok))
		if step.code != "" && decodeReply(t, got).Error.Code != step.code || step.code == "" && got != applied {
			t.Errorf("%s: got %s, want %s %s", step.name, got, step.code, applied)
		}
		if j.open != 0 {
			t.Fatalf("%s: %d transactions are open", step.name, j.open)
		}
	}
	if j.shelf.done != 1 {
		t.Errorf("applied %d times, want once", j.shelf.done)
	}
}

// After a crash the journal knows whether the plan was carried out.
func TestTransactionResumes(t *testing.T) {
	for _, done := range []bool{true, false} {
		j, command := newJournal()
		approvals := newApprovals(t, mcpkit.Token)
		p := dial(t, newServer(t, nil, command(approvals).Install), handshake)
		tok := prepared(t, p, "a", "one")
		rec, err := approvals.Store.Lookup(t.Context(), tok, token.Claim{Project: "acme", Kind: "token", Subject: "anyone", Tool: "put"})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := approvals.Store.Begin(t.Context(), tok, rec.Claim)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			j.receipts[lease.Hash()] = putReceipt{Name: "a", Size: 3}
			j.shelf.set("a", "changed since")
		}
		if code, _ := p.callError(t, "put", applyArgs(tok)); code != "approval_busy" {
			t.Errorf("done %t: while another call applies: got %s, want approval_busy", done, code)
		}
		lease.Release() // the end of the process
		for range 2 {
			if got, want := p.callTool(t, "put", applyArgs(tok)), `{"commandStatus":"applied","receipt":{"name":"a","size":3}}`; got != want {
				t.Errorf("done %t: got %s, want %s", done, got, want)
			}
		}
		if (j.shelf.done == 0) != done {
			t.Errorf("done %t: applied %d times", done, j.shelf.done)
		}
	}
}

// A call that goes wrong in the middle of its work leaves a token that the next call takes over: under the lock of the
// transaction nobody else can be at work.
func TestTransactionPanics(t *testing.T) {
	j, command := newJournal()
	p := dial(t, newServer(t, nil, command(newApprovals(t, mcpkit.Token)).Install), stateless)
	tok := prepared(t, p, "a", "one")
	j.panics = true
	if code, _ := p.callError(t, "put", applyArgs(tok)); code != "internal" || j.open != 0 {
		t.Errorf("got %s with %d transactions open, want internal", code, j.open)
	}
	if r := decodeReply(t, p.callTool(t, "put", applyArgs(tok))); r.CommandStatus != "applied" || j.shelf.done != 1 {
		t.Errorf("the next call: got %+v, applied %d times", r, j.shelf.done)
	}
}

// What could not be answered is refused before anybody is asked, and before anything is done.
func TestCommandUnsendable(t *testing.T) {
	s := newShelf()
	tests := []struct {
		name   string
		change func(c *mcpkit.Command[putArgs, putPlan, putReceipt])
		code   string
	}{
		{"receipt too large", func(c *mcpkit.Command[putArgs, putPlan, putReceipt]) {
			c.Receipt = func(putPlan) putReceipt { return putReceipt{Name: strings.Repeat("x", 5000)} }
		}, "result_too_large"},
		{"proposal too large", func(c *mcpkit.Command[putArgs, putPlan, putReceipt]) {
			c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
				p, err := s.plan(ctx, in)
				p.Plan.Notes = []string{strings.Repeat("x", 3500)}
				return p, err
			}
		}, "result_too_large"},
		{"proposal against its schema", func(c *mcpkit.Command[putArgs, putPlan, putReceipt]) {
			c.Plan = func(context.Context, putArgs) (mcpkit.Proposal[putPlan], error) {
				return mcpkit.Proposal[putPlan]{Plan: putPlan{Name: "a", SHA256: "none"}}, nil
			}
		}, "internal"},
		{"base with a bad path", func(c *mcpkit.Command[putArgs, putPlan, putReceipt]) {
			c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
				p, err := s.plan(ctx, in)
				p.Base = map[string]string{"../x": ""}
				return p, err
			}
		}, "claim_invalid"},
		{"plan refuses", func(c *mcpkit.Command[putArgs, putPlan, putReceipt]) {
			c.Plan = func(context.Context, putArgs) (mcpkit.Proposal[putPlan], error) {
				return mcpkit.Proposal[putPlan]{}, &brokenError{"a"}
			}
		}, "file_broken"},
	}
	for _, tt := range tests {
		approvals := newApprovals(t, mcpkit.OutOfBand)
		c := s.command(approvals)
		tt.change(&c)
		p := dial(t, newServer(t, &mcpkit.Options{Result: &result.Options{MaxResult: 4096}}, c.Install), stateless)
		if code, message := p.callError(t, "put", prepareArgs("a", "one")); code != tt.code {
			t.Errorf("%s: got %s: %s, want %s", tt.name, code, message, tt.code)
		}
		if waiting, err := approvals.Store.Pending(t.Context()); len(waiting) != 0 || err != nil {
			t.Errorf("%s: %d proposals wait, %v", tt.name, len(waiting), err)
		}
	}
}

// A receipt that turns out not to match is not sent; the token then answers with the one that was promised.
func TestCommandWrongReceipt(t *testing.T) {
	s := newShelf()
	c := s.command(newApprovals(t, mcpkit.Token))
	c.Apply = func(ctx context.Context, plan putPlan) (putReceipt, error) {
		r, err := s.apply(ctx, plan)
		r.Name = strings.Repeat("x", 30_000)
		return r, err
	}
	p := dial(t, newServer(t, nil, c.Install), handshake)
	tok := prepared(t, p, "a", "one")
	if code, _ := p.callError(t, "put", applyArgs(tok)); code != "result_too_large" {
		t.Errorf("got %s", code)
	}
	if got, want := p.callTool(t, "put", applyArgs(tok)), `{"commandStatus":"applied","receipt":{"name":"a","size":3}}`; got != want || s.done != 1 {
		t.Errorf("again: got %s, want %s; applied %d times", got, want, s.done)
	}
}

func TestCommandDisabled(t *testing.T) {
	c := newShelf().command(nil)
	c.Disabled = &brokenError{"writer"}
	p := dial(t, newServer(t, nil, c.Install), stateless)
	if code, _ := p.callError(t, "put", prepareArgs("a", "one")); code != "file_broken" {
		t.Errorf("got %s", code)
	}
	if code, _ := p.callError(t, "put", `{"request":{"op":"prepare"}}`); code != "invalid_arguments" {
		t.Errorf("a bad request: got %s", code)
	}
}

type page struct {
	Title string `json:"title"`
	Body  string `json:"body,omitempty"`
}

type pageArgs struct {
	Names []string `json:"names" jsonschema:"which" schema:"maxItems=3"`
}

// A tool may put text beside its result for clients that read text.
func TestToolBlocks(t *testing.T) {
	tool := mcpkit.Tool[pageArgs, page]{
		Name: "page", Description: "Get a page.", Effect: mcpkit.ReadOnly,
		Run: func(context.Context, pageArgs) (page, error) { return page{"T", "the body"}, nil },
		Blocks: func(_ context.Context, in pageArgs, out page) ([]mcp.Content, page) {
			return []mcp.Content{&mcp.TextContent{Text: out.Body + fmt.Sprint(in.Names)}}, page{Title: out.Title}
		},
	}
	for shape, want := range map[result.Shape]string{
		result.Text:       `"content":[{"type":"text","text":"the body[a]"},{"type":"text","text":"{\"title\":\"T\"}"}]`,
		result.Structured: `"content":[],"structuredContent":{"title":"T","body":"the body"}`,
	} {
		p := dial(t, newServer(t, &mcpkit.Options{Result: &result.Options{Override: shape}}, tool.Install), handshake)
		if got := string(p.send(t, "tools/call", `{"name":"page","arguments":{"names":["a"]}}`).Result); !strings.Contains(got, want) {
			t.Errorf("%v: got %s, want %s", shape, got, want)
		}
	}
}

// A proposal without lines of its own is described by its paths.
func TestDecideShowsPaths(t *testing.T) {
	approvals := newApprovals(t, mcpkit.OutOfBand)
	claim := token.Claim{Project: "acme", Kind: "command", Subject: "anyone", Tool: "put", Base: map[string]string{"docs/b": "0a", "docs/a": ""}}
	if _, err := approvals.Store.Issue(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := approvals.Decide(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	if want := "  paths:   2\n    docs/a (new)\n    docs/b\n"; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	if err := approvals.Decide(t.Context(), failingWriter{}, nil); err == nil {
		t.Error("a list that cannot be written succeeds")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

// Whatever comes as arguments, the answer is a proposal or a coded error, and nothing is done.
func FuzzCommandRequest(f *testing.F) {
	for _, args := range []string{prepareArgs("a", "b"), applyArgs("x1_token_x"), `{"request":{"op":"apply","op":"prepare"}}`, `{"request":"{}"}`, `[]`, `{"request":{"op":"prepare","name":"a","proposalToken":null}}`} {
		f.Add(args)
	}
	s := newShelf()
	p := dial(f, newServer(f, nil, s.command(newApprovals(f, mcpkit.Token)).Install), stateless)
	f.Fuzz(func(t *testing.T, args string) {
		var compact bytes.Buffer
		if !strings.HasPrefix(args, "{") || !utf8.ValidString(args) || json.Compact(&compact, []byte(args)) != nil {
			return // not what the transport passes on
		}
		r := decodeReply(t, p.callTool(t, "put", compact.String()))
		if (r.CommandStatus == "approval_required") == (r.Error.Code != "") || s.done != 0 {
			t.Fatalf("%s: got %+v", compact.String(), r)
		}
	})
}
