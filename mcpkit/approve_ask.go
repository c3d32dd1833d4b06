package mcpkit

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/token"
)

// What the dialog of a client asks and answers. The protocol leaves it to each side to check the other.
const (
	questionID     = "approval"
	decisionField  = "decision"
	decisionApply  = "apply"
	decisionReject = "reject"

	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// waiting is a proposal that is not carried out yet.
type waiting[Plan any] struct {
	text string
	rec  token.Record
	op   string          // the form of the request it came with
	p    *proposed[Plan] // if it was computed, or found to be the same, in this very call
}

// ask gets a proposal decided, as far as that can be done in this call.
func (c *command[Req, Plan, Out]) ask(ctx context.Context, req *mcp.CallToolRequest, w *waiting[Plan]) (answer, error) {
	if c.Approvals.By != Elicit || !canAsk(req) {
		return c.undecided(ctx, w)
	}
	question := dialog(&w.rec)
	if result.ClientOf(req).PerRequest {
		state, err := c.sealer.Seal([]byte(w.text), c.bound(ctx, req))
		return answer{question: question, state: state}, err
	}
	asking, cancel := context.WithTimeout(ctx, c.Approvals.timeout())
	defer cancel()
	got, err := req.Session.Elicit(asking, question)
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	if err != nil { // no answer, or one that does not match the schema
		return c.undecided(ctx, w)
	}
	return c.decide(ctx, w, got)
}

// answered continues a call that the client repeats with the answer to a question. The state proves that we asked, and
// names the proposal; that an answer counts once is up to the store.
func (c *command[Req, Plan, Out]) answered(ctx context.Context, req *mcp.CallToolRequest, op string) (answer, error) {
	text, err := c.sealer.Open(req.Params.RequestState, c.bound(ctx, req))
	if err != nil {
		return answer{}, &token.Error{Code: token.CodeInvalid}
	}
	w := &waiting[Plan]{text: string(text), op: op}
	if w.rec, err = c.Approvals.Store.Lookup(ctx, w.text, c.scope(ctx, Elicit.String())); err != nil {
		return answer{}, err
	}
	if w.rec.State != token.StatePending {
		return c.carryOut(ctx, w.text, w.rec, nil)
	}
	got, _ := req.Params.InputResponses[questionID].(*mcp.ElicitResult)
	return c.decide(ctx, w, got)
}

// bound is what a question was about: who asked for what.
func (c *command[Req, Plan, Out]) bound(ctx context.Context, req *mcp.CallToolRequest) []byte {
	args, err := canon.Marshal(req.Params.Arguments)
	if err != nil { // not UTF-8: then the bytes themselves
		args = req.Params.Arguments
	}
	scope := c.scope(ctx, Elicit.String())
	return []byte(canon.Digest("mcpkit/question/1", []byte(scope.Project), []byte(scope.Subject), []byte(scope.Tool), args))
}

// decide does what the person answered. Only the answer that was offered for it approves.
func (c *command[Req, Plan, Out]) decide(ctx context.Context, w *waiting[Plan], got *mcp.ElicitResult) (answer, error) {
	switch {
	case got == nil:
	case got.Action == actionAccept && got.Content[decisionField] == decisionApply:
		if err := c.Approvals.Store.Approve(ctx, w.rec.Hash); err != nil {
			return answer{}, err
		}
		return c.carryOut(ctx, w.text, w.rec, nil) // time has passed: compute it again
	case got.Action == actionDecline, got.Action == actionAccept && got.Content[decisionField] == decisionReject:
		return answer{}, refused(c.Approvals.Store.Decline(ctx, w.rec.Hash), &token.Error{Code: token.CodeDeclined})
	case got.Action == actionCancel:
		return answer{}, refused(c.Approvals.Store.Revoke(ctx, w.rec.Hash), &result.Error{
			Code:    CodeCanceled,
			Message: "the person closed the dialog without a decision: nothing was changed, prepare again to ask again",
		})
	}
	return c.undecided(ctx, w)
}

// refused returns why a proposal was refused, unless that could not be noted. Who refused it before did no harm.
func refused(noted, why error) error {
	if noted != nil && token.CodeOf(noted) != token.CodeUnknown {
		return noted
	}
	return why
}

// undecided answers that the proposal waits: with its token, or, if the caller has that already, with an error.
func (c *command[Req, Plan, Out]) undecided(ctx context.Context, w *waiting[Plan]) (answer, error) {
	typed := c.Approvals.command(w.rec.Hash)
	if w.op == opApply {
		message := "nobody has approved this proposal yet: ask the person in charge, then send the same token again"
		if typed != "" {
			message = "nobody has approved this proposal yet: have a person type `" + typed + "` in a terminal, then send the same token again"
		}
		return answer{}, &result.Error{Code: string(token.CodePending), Message: message}
	}
	if w.p == nil {
		var err error
		if w.p, err = c.unchanged(ctx, w.rec); err != nil {
			return answer{}, err
		}
	}
	reply, err := c.wire.encodeRequired(requiredReply{
		ProposalToken:   w.text,
		ExpiresAt:       w.rec.Expires,
		ApprovalCommand: typed,
		Proposal:        w.p.view,
	})
	return answer{reply: reply}, err
}

// canAsk reports whether the client can show a dialog. For a request that carries its own capabilities, nothing else
// counts.
func canAsk(req *mcp.CallToolRequest) bool {
	if _, own := req.Params.Meta[mcp.MetaKeyClientCapabilities]; result.ClientOf(req).PerRequest && !own {
		return false
	}
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}

// dialog is the question about a proposal. Its one field is required and has no default, so that a person has to choose.
func dialog(rec *token.Record) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: "Apply this change?\n\n" + describe(rec),
		RequestedSchema: &jsonschema.Schema{
			Type: "object",
			Properties: map[string]*jsonschema.Schema{
				decisionField: {
					Type:        "string",
					Title:       "Decision",
					Description: "apply carries the change out, reject does not",
					Enum:        []any{decisionApply, decisionReject},
				},
			},
			Required: []string{decisionField},
		},
	}
}

// keptSummary returns the lines that Plan gave for a person.
func keptSummary(claim *token.Claim) []string {
	var kept keptInput
	if json.Unmarshal(claim.Input, &kept) != nil {
		return nil // of another maker
	}
	return kept.Summary
}
