package mcpkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/token"
)

// Command is one adaptive command: a tool that changes something only after somebody agreed, and then exactly what they
// agreed to, once. Its one argument is an object in one of two forms:
//
//	{"request": {"op": "prepare", ...the fields of Req}}
//	{"request": {"op": "apply", "proposalToken": "x1_..."}}
//
// The first computes a proposal and changes nothing. Its answer is {"commandStatus": "approval_required",
// "proposalToken", "expiresAt", "proposal": Plan}, with an approvalCommand if [Approvals.Command] is set, unless
// authority exists already: then it carries the proposal out at once. The second carries out what the token stands for,
// if it is approved and the proposal, computed again, is still the same. What was carried out is answered with
// {"commandStatus": "applied", "receipt": Out}, and again with the same bytes if the token is sent again. [Command.Flat]
// leaves the "receipt" out, and its fields stand in its place.
//
// Nothing but [Approvals] and Authorize decides: no argument of any tool approves anything. Input that mixes the two
// forms, or is not complete, is refused with a message that names the field and the form.
//
// The codes of package [github.com/mcpcontract/mcpcontract/token] reach the client, above all approval_invalid,
// approval_pending, approval_busy, [CodeDeclined] and proposal_stale, which consumes nothing and is told before a person is
// asked, too; to them comes [CodeCanceled]. The errors of the functions below reach the client by the rule of [Tool].Run.
//
// All of Req, Plan and Out are structs, with the rules for arguments and results of a [Tool]. A Command is a plain value:
// copy it freely, and change nothing after Install.
type Command[Req, Plan, Out any] struct {
	// Name is what clients call, as in [Tool]. Required.
	Name string

	// Title is the name that a client may show to people. Empty means none.
	Title string

	// Description tells a model what the command does and when to use it; how to use the token is added to the schema.
	// Required.
	Description string

	// Effect says what the command may change: [Additive] or [Destructive]. Required.
	Effect Effect

	// OpenWorld says that it reaches beyond what the server looks after, for example to the network.
	OpenWorld bool

	// Schema, if not nil, is called once by Install with the schemas of the three types, as in [Tool].
	Schema func(request, proposal, receipt *jsonschema.Schema)

	// Flat puts the fields of Out beside commandStatus in the answer, and not into "receipt". Out must then have no field of
	// the name of another one there: commandStatus, proposalToken, expiresAt, approvalCommand, proposal.
	Flat bool

	// Approvals says how approvals come about and where they are kept. Required.
	Approvals *Approvals

	// Authorize reports whether authority for the plan exists already, so that nobody need be asked; the plan is the one
	// that is then carried out. It must decide by what the caller cannot choose, such as [Principal], the state of the
	// project, and what the plan does. Its error refuses the request. nil means never.
	Authorize func(ctx context.Context, req Req, plan Plan) (bool, error)

	// Plan computes the proposal. It changes nothing, and computes the same again from the same state: it is called for the
	// first form of the request and again, from the kept request, before the proposal is carried out. Its error refuses
	// the request and consumes nothing. Required.
	Plan func(ctx context.Context, req Req) (Proposal[Plan], error)

	// Receipt returns what carrying out the plan will return, as far as that is known before. It is checked against the
	// schema and the budget before an approval is used, so that a receipt which cannot be sent refuses the command and does
	// not follow it. Required.
	Receipt func(plan Plan) Out

	// Apply carries the plan out. Its error has to mean that nothing was done, and makes the approval usable again; if it
	// panics, or the process dies, the approval stays in use and is never used again. Either Apply or Begin is required.
	Apply func(ctx context.Context, plan Plan) (Out, error)

	// Disabled, if not nil, is the error of every well-formed call: clients see the command, and it does nothing. Then only
	// Name, Description and Effect are required.
	Disabled error

	// Begin takes the place of Apply where a crash must not leave the outcome open: it takes the lock under which plans are
	// carried out, finishes what was interrupted, and returns what remembers the outcome of each approval. It is called
	// before the proposal is computed again.
	Begin func(ctx context.Context) (Transaction[Plan, Out], error)
}

// Proposal is what [Command].Plan computes.
type Proposal[Plan any] struct {
	// Plan is what the caller and the person see, as "proposal" in the answer, and what is carried out. Its JSON is what is
	// approved: it has to determine all that Apply does, so what is too large or too secret to be shown goes in as a
	// digest. Fields that JSON leaves out may carry what Apply needs.
	Plan Plan

	// Base gives, for every relative path that the decision rests on, a digest of its state now, "" for nothing. If one of
	// them differs later, proposal_stale names it. The limits are those of token.Claim.
	Base map[string]string

	// Summary has the lines that a person reads before deciding; empty means the paths of Base. Make them from the plan,
	// never from what a model wrote. All of them are approved, at most 40 lines of 200 characters are shown, with what is
	// not printable replaced.
	Summary []string
}

// Transaction is the right to carry out plans of one [Command], from Begin to Close, that nobody else has at the same
// time, together with the memory of what was carried out.
type Transaction[Plan, Out any] interface {
	// Receipt returns what Apply returned, or would have, for that approval, and false if that plan was not carried out.
	Receipt(ctx context.Context, approval string) (Out, bool, error)

	// Apply carries the plan out and remembers the receipt under approval, both or neither. An error means that nothing
	// was done, or that Begin will finish or undo it.
	Apply(ctx context.Context, plan Plan, approval string) (Out, error)

	// Close gives the right back. By then the outcome is settled, so its error is only logged.
	Close() error
}

// Install adds the command to a server. The method value c.Install is a [Feature].
//
// Its error says what is wrong with the declaration: a missing field, a bad or duplicate name, or a type that has no
// acceptable schema.
func (c Command[Req, Plan, Out]) Install(in *Installer) error {
	cmd, err := c.compile(in)
	if err != nil {
		return fmt.Errorf("command %q: %w", c.Name, err)
	}
	spec := toolSpec{
		Tool:       mcp.Tool{Name: c.Name, Title: c.Title, Description: c.Description},
		effect:     c.Effect,
		idempotent: false,
		openWorld:  c.OpenWorld,
	}
	if err := in.checkTool(&spec, cmd.tool); err != nil {
		return fmt.Errorf("command %q: %w", c.Name, err)
	}
	in.register(&spec, cmd.wire.published, cmd.wire.result, cmd.handle)
	return nil
}

// Recheck computes a proposal again, as it is done before one is carried out, and reports whether it is still the same;
// nothing is changed or consumed. The claim has to be one of this command. It is for a program in which a person decides,
// see [Approvals], and needs no server; of the fields it uses those that Plan and Receipt need.
//
// The error's code is proposal_stale, with the paths that changed, or it is the error of Plan.
func (c Command[Req, Plan, Out]) Recheck(ctx context.Context, claim token.Claim) error {
	if c.Disabled != nil {
		return c.Disabled
	}
	wire, err := newCommandWire(reflect.TypeFor[Req](), reflect.TypeFor[Plan](), reflect.TypeFor[Out](), c.Flat, c.Schema)
	if err != nil {
		return fmt.Errorf("command %q: %w", c.Name, err)
	}
	if c.Approvals == nil {
		c.Approvals = &Approvals{}
	}
	if name, ok := strings.CutPrefix(claim.Subject, user); ok {
		ctx = context.WithValue(ctx, principalKey{}, name)
	}
	cmd := &command[Req, Plan, Out]{Command: c, tool: claim.Tool, wire: wire}
	_, err = cmd.unchanged(ctx, token.Record{Claim: claim})
	return err
}

// compile checks the declaration and prepares it for calls.
func (c Command[Req, Plan, Out]) compile(in *Installer) (*command[Req, Plan, Out], error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	wire, err := newCommandWire(reflect.TypeFor[Req](), reflect.TypeFor[Plan](), reflect.TypeFor[Out](), c.Flat, c.Schema)
	if err != nil {
		return nil, err
	}
	wire.limit = in.opts.resultOptions().MaxResult
	logger := in.opts.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &command[Req, Plan, Out]{
		Command: c,
		tool:    in.ToolName(c.Name),
		sealer:  in.opts.Sealer,
		logger:  logger,
		wire:    wire,
	}, nil
}

func (c *Command[Req, Plan, Out]) check() error {
	switch {
	case c.Effect == ReadOnly:
		return errors.New("a command is not ReadOnly: use a Tool")
	case c.Disabled != nil:
		return nil
	case c.Approvals == nil || c.Plan == nil || c.Receipt == nil:
		return errors.New("the fields Approvals, Plan and Receipt are required")
	case (c.Apply == nil) == (c.Begin == nil):
		return errors.New("exactly one of the fields Apply and Begin has to be set")
	}
	return c.Approvals.check()
}

// command is a Command that is installed.
type command[Req, Plan, Out any] struct {
	Command[Req, Plan, Out]
	tool   string // the name that clients see
	sealer result.Sealer
	logger *slog.Logger
	wire   *commandWire
}
