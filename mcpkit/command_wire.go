package mcpkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/result"
)

// The two forms of a request, and the two of a reply.
const (
	opPrepare = "prepare"
	opApply   = "apply"

	statusApplied  = "applied"
	statusRequired = "approval_required"
)

// overhead is what the reply to a prepared request has besides the proposal: names, token, time and a command to type.
const overhead = 1024

// commandWire holds the schemas of one command. The published ones say all that a client may send and get; the exact ones
// check each form, so that a fault is told of the form that was meant and no reply is a mixture.
type commandWire struct {
	published json.RawMessage // input
	result    json.RawMessage // output

	shell    *contract // what both forms of a request have
	prepare  *contract
	apply    *contract
	required *contract
	applied  *contract

	flat  bool // the fields of a receipt stand beside commandStatus
	limit int  // most bytes of a reply, unless it is not positive
}

// applyRequest is the second form of a request.
type applyRequest struct {
	ProposalToken string `json:"proposalToken" jsonschema:"the token of the proposal, as prepare returned it"`
}

// appliedReply says what was done.
type appliedReply struct {
	CommandStatus string `json:"commandStatus"`
	Receipt       any    `json:"receipt"`
}

// requiredReply says what waits for a decision.
type requiredReply struct {
	CommandStatus   string          `json:"commandStatus"`
	ProposalToken   string          `json:"proposalToken"`
	ExpiresAt       time.Time       `json:"expiresAt"`
	ApprovalCommand string          `json:"approvalCommand,omitempty"`
	Proposal        json.RawMessage `json:"proposal"`
}

func newCommandWire(req, plan, out reflect.Type, flat bool, hook func(request, proposal, receipt *jsonschema.Schema)) (*commandWire, error) {
	request, err := infer(req, arguments)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if request.Properties["op"] != nil {
		return nil, errors.New(`request: the field "op" says which form a request has, so Req must not have it`)
	}
	proposal, err := infer(plan, results)
	if err != nil {
		return nil, fmt.Errorf("proposal: %w", err)
	}
	receipt, err := infer(out, results)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	if hook != nil {
		hook(request, proposal, receipt)
	}
	w := &commandWire{flat: flat}
	if err := w.sealInput(request); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if err := w.sealOutput(proposal, receipt); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return w, nil
}

func (w *commandWire) sealInput(request *jsonschema.Schema) error {
	withOp(request, opPrepare, "compute the proposal and change nothing")
	apply, err := infer(reflect.TypeFor[applyRequest](), arguments)
	if err != nil {
		return err
	}
	withOp(apply, opApply, "carry out an approved proposal")
	published := object(field{"request", &jsonschema.Schema{
		Description: `First send op "prepare". If commandStatus is approval_required, show the proposal to the person who decides, ` +
			`and once they agree send op "apply" with nothing but proposalToken.`,
		OneOf: []*jsonschema.Schema{request.CloneSchemas(), apply.CloneSchemas()},
	}})
	if contract, err := seal(published); err != nil {
		return err
	} else {
		w.published = contract.wire
	}
	shell := object(field{"request", &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{"op": {Type: "string", Enum: []any{opPrepare, opApply}}},
		Required:             []string{"op"},
		AdditionalProperties: &jsonschema.Schema{},
	}})
	if w.shell, err = seal(shell); err != nil {
		return err
	}
	if w.prepare, err = seal(request); err != nil {
		return err
	}
	w.apply, err = seal(apply)
	return err
}

func (w *commandWire) sealOutput(proposal, receipt *jsonschema.Schema) error {
	text := func(s *jsonschema.Schema) *jsonschema.Schema { s.Type = "string"; return s }
	status := func(values ...any) field {
		return field{"commandStatus", text(&jsonschema.Schema{Enum: values})}
	}
	token := func() []field {
		return []field{
			{"proposalToken", text(&jsonschema.Schema{Description: `what op "apply" takes; opaque`})},
			{"expiresAt", text(&jsonschema.Schema{Pattern: timePattern})},
			{"approvalCommand", text(&jsonschema.Schema{Description: "what a person types in a terminal to approve"})},
		}
	}
	published := object(append(append([]field{status(statusApplied, statusRequired)}, token()...),
		field{"proposal", proposal.CloneSchemas()})...)
	applied := object(status(statusApplied))
	for _, f := range w.receiptFields(receipt) {
		if published.Properties[f.name] != nil {
			return fmt.Errorf("the receipt has a field %q, which the reply has for something else", f.name)
		}
		published.Properties[f.name], applied.Properties[f.name] = f.schema.CloneSchemas(), f.schema
		published.PropertyOrder, applied.PropertyOrder = append(published.PropertyOrder, f.name), append(applied.PropertyOrder, f.name)
		if !w.flat || slices.Contains(receipt.Required, f.name) {
			applied.Required = append(applied.Required, f.name)
		}
	}
	published.Required = []string{"commandStatus"}
	required := object(append(append([]field{status(statusRequired)}, token()...), field{"proposal", proposal})...)
	required.Required = []string{"commandStatus", "proposalToken", "expiresAt", "proposal"}
	contract, err := seal(published)
	if err != nil {
		return err
	}
	w.result = contract.wire
	if w.required, err = seal(required); err != nil {
		return err
	}
	w.applied, err = seal(applied)
	return err
}

// receiptFields returns what the reply about something done has beside commandStatus.
func (w *commandWire) receiptFields(receipt *jsonschema.Schema) []field {
	if !w.flat {
		return []field{{"receipt", receipt}}
	}
	var fields []field
	names := slices.Concat(receipt.PropertyOrder, slices.Sorted(maps.Keys(receipt.Properties))) // a hook may have added some
	for i, name := range names {
		if s := receipt.Properties[name]; s != nil && !slices.Contains(names[:i], name) {
			fields = append(fields, field{name, s})
		}
	}
	return fields
}

// field is one property of an object.
type field struct {
	name   string
	schema *jsonschema.Schema
}

// object returns the schema of a closed object in which all fields are required.
func object(fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		Properties:           make(map[string]*jsonschema.Schema),
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fields {
		s.Properties[f.name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		s.Required = append(s.Required, f.name)
	}
	return s
}

// withOp adds the field that tells the forms of a request apart.
func withOp(s *jsonschema.Schema, op, description string) {
	s.Properties["op"] = &jsonschema.Schema{Type: "string", Enum: []any{op}, Description: description}
	s.PropertyOrder = append([]string{"op"}, s.PropertyOrder...)
	s.Required = append([]string{"op"}, s.Required...)
}

// decode returns the form of a request and its JSON, once it is known to be complete and to have nothing else.
func (w *commandWire) decode(raw json.RawMessage) (op string, request json.RawMessage, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	tree, err := parseTree(raw)
	if err != nil {
		return "", nil, invalid(err.Error())
	}
	if w.shell.resolved.Validate(tree) != nil {
		return "", nil, invalid(w.shell.explain(tree))
	}
	inner := tree.(map[string]any)["request"].(map[string]any)
	op = inner["op"].(string)
	form := w.prepare
	if op == opApply {
		form = w.apply
	}
	if form.resolved.Validate(inner) != nil {
		return "", nil, invalid(fmt.Sprintf("request with op %q: %s", op, form.explain(inner)))
	}
	var outer map[string]json.RawMessage // not a struct, whose names would match in any case
	if err := json.Unmarshal(raw, &outer); err != nil {
		return "", nil, argumentError(err)
	}
	return op, outer["request"], nil
}

// encodeApplied returns the reply that says what was done.
func (w *commandWire) encodeApplied(receipt any) (json.RawMessage, error) {
	if !w.flat {
		return w.fit(w.applied.encodeResult(appliedReply{CommandStatus: statusApplied, Receipt: receipt}))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(receipt); err != nil {
		return nil, fmt.Errorf("encoding the receipt: %w", err)
	}
	fields, ok := bytes.CutPrefix(bytes.TrimSpace(buf.Bytes()), []byte("{"))
	if !ok {
		return nil, errors.New("the receipt is no object")
	}
	reply := json.RawMessage(`{"commandStatus":"` + statusApplied + `"`)
	if fields[0] != '}' {
		reply = append(reply, ',')
	}
	return w.fit(w.applied.encodeResult(append(reply, fields...)))
}

// encodeRequired returns the reply that says what waits for a decision.
func (w *commandWire) encodeRequired(r requiredReply) (json.RawMessage, error) {
	r.CommandStatus = statusRequired
	return w.required.encodeResult(r)
}

// encodeProposal returns the JSON of a plan, checked as part of a reply.
func (w *commandWire) encodeProposal(plan any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plan); err != nil {
		return nil, fmt.Errorf("encoding the proposal: %w", err)
	}
	reply, err := w.encodeRequired(requiredReply{Proposal: buf.Bytes()})
	if err != nil {
		return nil, err
	}
	var checked requiredReply
	if err := json.Unmarshal(reply, &checked); err != nil {
		return nil, fmt.Errorf("encoding the proposal: %w", err)
	}
	if w.limit > 0 && len(checked.Proposal)+overhead > w.limit {
		return nil, tooLarge(len(checked.Proposal)+overhead, w.limit)
	}
	return checked.Proposal, nil
}

// fit refuses a reply that would not reach the client once the change is made.
func (w *commandWire) fit(reply json.RawMessage, err error) (json.RawMessage, error) {
	if err == nil && w.limit > 0 && len(reply) > w.limit {
		return nil, tooLarge(len(reply), w.limit)
	}
	return reply, err
}

func tooLarge(size, limit int) error {
	return &result.Error{
		Code:    result.CodeResultTooLarge,
		Message: fmt.Sprintf("the result would have %d bytes and at most %d are sent: nothing was changed, ask for less at a time", size, limit),
	}
}
