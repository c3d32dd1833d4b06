package mcpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/token"
)

// kindAuthority is the kind of the tokens that nobody gets, because authority existed. All others have the text of their
// Approver as their kind, so that a token of one does not open the other.
const kindAuthority = "authority"

// proposed is one computed proposal, ready to be kept, shown and carried out.
type proposed[Plan any] struct {
	plan  Plan
	view  json.RawMessage // the JSON of plan
	reply json.RawMessage // what applying it will answer, as far as known
	claim token.Claim
}

// keptInput is what Claim.Input holds.
type keptInput struct {
	Request json.RawMessage `json:"request"`
	Summary []string        `json:"summary,omitempty"`
}

// answer is what a call comes to: a reply, or a question to the person at the client.
type answer struct {
	reply    json.RawMessage
	question *mcp.ElicitParams
	state    string
}

// handle answers one call of the command.
func (c *command[Req, Plan, Out]) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	got, err := c.call(context.WithValue(ctx, requestKey{}, req), req)
	switch {
	case err != nil:
		return nil, err
	case got.question != nil:
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{questionID: got.question},
			RequestState:  got.state,
		}, nil
	}
	return &mcp.CallToolResult{StructuredContent: got.reply}, nil
}

func (c *command[Req, Plan, Out]) call(ctx context.Context, req *mcp.CallToolRequest) (answer, error) {
	op, request, err := c.wire.decode(req.Params.Arguments)
	switch {
	case err != nil:
		return answer{}, err
	case c.Disabled != nil:
		return answer{}, c.Disabled
	case c.Approvals.By == Elicit && (req.Params.RequestState != "" || req.Params.InputResponses != nil):
		return c.answered(ctx, req, op)
	case op == opPrepare:
		return c.prepare(ctx, req, request)
	}
	var in applyRequest
	if err := json.Unmarshal(request, &in); err != nil {
		return answer{}, argumentError(err)
	}
	rec, err := c.Approvals.Store.Lookup(ctx, in.ProposalToken, c.scope(ctx, c.Approvals.By.String()))
	if err != nil {
		return answer{}, err
	}
	if rec.State != token.StatePending {
		return c.carryOut(ctx, in.ProposalToken, rec, nil)
	}
	// Nobody is to decide, or to be waited for, about what cannot be carried out any more.
	p, err := c.unchanged(ctx, rec)
	if err != nil {
		return answer{}, err
	}
	return c.ask(ctx, req, &waiting[Plan]{text: in.ProposalToken, rec: rec, op: op, p: p})
}

// prepare computes a proposal and asks for its approval, or carries it out where authority exists.
func (c *command[Req, Plan, Out]) prepare(ctx context.Context, req *mcp.CallToolRequest, request json.RawMessage) (answer, error) {
	p, authorized, err := c.propose(ctx, request, true)
	if err != nil {
		return answer{}, err
	}
	kind := c.Approvals.By.String()
	if authorized {
		kind = kindAuthority
	}
	p.claim.Kind, p.claim.Approved = kind, authorized || c.Approvals.By == Token
	tok, err := c.Approvals.Store.Issue(ctx, p.claim)
	if err != nil {
		return answer{}, err
	}
	rec := token.Record{Hash: tok.Hash(), Expires: tok.Expires(), Claim: p.claim, State: token.StateApproved}
	if authorized {
		return c.carryOut(ctx, tok.Reveal(), rec, p)
	}
	return c.ask(ctx, req, &waiting[Plan]{text: tok.Reveal(), rec: rec, op: opPrepare, p: p})
}

// propose computes the proposal for a request that decode accepted, and checks all that would be sent about it.
func (c *command[Req, Plan, Out]) propose(ctx context.Context, request json.RawMessage, authorize bool) (p *proposed[Plan], authorized bool, err error) {
	var req Req
	if err := c.wire.prepare.store(request, &req); err != nil {
		return nil, false, err
	}
	proposal, err := c.Plan(ctx, req)
	if err != nil {
		return nil, false, err
	}
	p = &proposed[Plan]{plan: proposal.Plan}
	if p.view, err = c.wire.encodeProposal(proposal.Plan); err != nil {
		return nil, false, err
	}
	if p.reply, err = c.wire.encodeApplied(c.Receipt(proposal.Plan)); err != nil {
		return nil, false, err
	}
	if p.claim, err = c.claim(ctx, request, &proposal, p.view); err != nil {
		return nil, false, err
	}
	if authorize && c.Authorize != nil {
		authorized, err = c.Authorize(ctx, req, proposal.Plan)
	}
	return p, authorized, err
}

// claim says what is to be approved: the plan as it is shown, with the lines about it, and the state it rests on.
func (c *command[Req, Plan, Out]) claim(ctx context.Context, request json.RawMessage, proposal *Proposal[Plan], view json.RawMessage) (token.Claim, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, request); err != nil {
		return token.Claim{}, err
	}
	input, err := json.Marshal(keptInput{Request: compact.Bytes(), Summary: proposal.Summary})
	if err != nil {
		return token.Claim{}, err
	}
	summary, err := json.Marshal(proposal.Summary)
	if err != nil {
		return token.Claim{}, err
	}
	claim := c.scope(ctx, c.Approvals.By.String())
	claim.Input = input
	claim.Manifest = canon.Digest("mcpkit/proposal/1", view, summary)
	claim.Base = proposal.Base
	return claim, nil
}

// scope says who may use a token for what.
func (c *command[Req, Plan, Out]) scope(ctx context.Context, kind string) token.Claim {
	subject := anyone
	if name := Principal(ctx); name != "" {
		subject = user + name
	}
	return token.Claim{Project: c.Approvals.Project, Kind: kind, Subject: subject, Tool: c.tool}
}

// carryOut does what the token allows, or answers with what was done. p is the proposal if it was computed in this very
// call; otherwise it is computed again and has to be the same.
func (c *command[Req, Plan, Out]) carryOut(ctx context.Context, text string, rec token.Record, p *proposed[Plan]) (answer, error) {
	switch rec.State {
	case token.StateUsed:
		return answer{reply: rec.Receipt}, nil
	case token.StateDeclined:
		return answer{}, &token.Error{Code: token.CodeDeclined}
	}
	var tx Transaction[Plan, Out]
	if c.Begin != nil {
		var err error
		if tx, err = c.Begin(ctx); err != nil {
			return answer{}, err
		}
		defer func() {
			if err := tx.Close(); err != nil {
				c.logger.WarnContext(ctx, "closing the transaction of a command", slog.String("tool", c.tool), slog.String("reason", err.Error()))
			}
		}()
		out, done, err := tx.Receipt(ctx, rec.Hash)
		if err != nil {
			return answer{}, err
		}
		if done {
			return c.catchUp(ctx, text, rec, out)
		}
	}
	if p == nil {
		var err error
		if p, err = c.proposeAgain(ctx, rec); err != nil {
			return answer{}, err
		}
	}
	begin := c.Approvals.Store.Begin
	if tx != nil {
		begin = c.Approvals.Store.Resume
	}
	lease, err := begin(ctx, text, p.claim)
	if err != nil {
		return used(err)
	}
	defer lease.Release()
	return c.act(ctx, lease, p, tx)
}

// proposeAgain computes the proposal of a kept request.
func (c *command[Req, Plan, Out]) proposeAgain(ctx context.Context, rec token.Record) (*proposed[Plan], error) {
	var kept keptInput
	if err := json.Unmarshal(rec.Claim.Input, &kept); err != nil {
		return nil, err
	}
	p, _, err := c.propose(ctx, kept.Request, false)
	if err != nil {
		return nil, err
	}
	p.claim.Input = rec.Claim.Input // its lines are part of the manifest
	return p, nil
}

// unchanged computes the proposal of a kept request and refuses it if it is not what was kept.
func (c *command[Req, Plan, Out]) unchanged(ctx context.Context, rec token.Record) (*proposed[Plan], error) {
	p, err := c.proposeAgain(ctx, rec)
	if err != nil {
		return nil, err
	}
	return p, rec.Claim.Stale(&p.claim)
}

// act carries the plan out under the lease.
func (c *command[Req, Plan, Out]) act(ctx context.Context, lease *token.Lease, p *proposed[Plan], tx Transaction[Plan, Out]) (answer, error) {
	apply := c.Apply
	if tx != nil {
		apply = func(ctx context.Context, plan Plan) (Out, error) { return tx.Apply(ctx, plan, lease.Hash()) }
	}
	out, err := apply(ctx, p.plan)
	if err != nil {
		// If this fails, the approval stays in use, which the next call is told.
		if abortErr := lease.Abort(ctx); abortErr != nil {
			c.logger.WarnContext(ctx, "giving an approval back", slog.String("tool", c.tool), slog.String("reason", abortErr.Error()))
		}
		return answer{}, err
	}
	reply, err := c.wire.encodeApplied(out)
	if err != nil {
		reply = p.reply // it is done, and this is known to fit
	}
	c.commit(ctx, lease, reply)
	return answer{reply: reply}, err
}

// catchUp answers for a plan that was carried out before its token could be marked as used.
func (c *command[Req, Plan, Out]) catchUp(ctx context.Context, text string, rec token.Record, out Out) (answer, error) {
	reply, err := c.wire.encodeApplied(out)
	if err != nil {
		return answer{}, err
	}
	// The claim as it was approved: what it rests on has changed, because it was carried out.
	lease, err := c.Approvals.Store.Resume(ctx, text, rec.Claim)
	if err != nil {
		return used(err)
	}
	defer lease.Release()
	c.commit(ctx, lease, reply)
	return answer{reply: reply}, nil
}

// commit marks the token as used. The change is made, so the caller is told of that even if this fails; the token then
// stays in use, which is safe.
func (c *command[Req, Plan, Out]) commit(ctx context.Context, lease *token.Lease, reply json.RawMessage) {
	if err := lease.Commit(ctx, reply); err != nil {
		c.logger.WarnContext(ctx, "keeping the receipt of a command", slog.String("tool", c.tool), slog.String("reason", err.Error()))
	}
}

// used turns the error for a token that another call used in the meantime into the reply of that call.
func used(err error) (answer, error) {
	if e, ok := errors.AsType[*token.Error](err); ok && e.Code == token.CodeUsed {
		return answer{reply: e.Receipt}, nil
	}
	return answer{}, err
}
