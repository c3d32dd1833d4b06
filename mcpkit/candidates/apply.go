package candidates

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

// proposal is what candidate_apply proposes.
type proposal struct {
	CandidateID string   `json:"candidateId"`
	Digest      string   `json:"digest" schema:"kind=sha256"`
	Files       []change `json:"files"`

	plan stage.Plan
}

// receipt is what candidate_apply did.
type receipt struct {
	OperationID string   `json:"operationId" schema:"pattern=^op-[0-9]{10}-[a-z0-9]{8}$"`
	Digest      string   `json:"digest" schema:"kind=sha256"`
	Files       []change `json:"files"`
}

// change is one file of either.
type change struct {
	Path   string          `json:"path"`
	SHA256 string          `json:"sha256" schema:"kind=sha256"`
	Before json.RawMessage `json:"before"`
}

func changes(list []stage.Change) []change {
	out := make([]change, len(list))
	for i, c := range list {
		out[i] = change{c.Path, c.SHA256, before(c.Before)}
	}
	return out
}

// anyOperation has the form of an operation's id, which is not known before the promotion.
const anyOperation = "op-0000000000-aaaaaaaa"

func (f *feature) command() mcpkit.Command[candidateArgs, proposal, receipt] {
	c := mcpkit.Command[candidateArgs, proposal, receipt]{
		Name:  "candidate_apply",
		Title: "Apply a candidate",
		Description: "Promote the staged files of a candidate into the project, all or none, after a person approved exactly these bytes. " +
			"Refused if a staged file or a file to be replaced changed since.",
		Effect:    mcpkit.Destructive,
		Approvals: f.approvals,
		Schema: func(_, proposal, receipt *jsonschema.Schema) {
			for _, s := range []*jsonschema.Schema{proposal, receipt} {
				s.Properties["files"].Items.Properties["before"] = &jsonschema.Schema{
					Description: "the SHA-256 of the file that is replaced, null for a new one",
					AnyOf:       []*jsonschema.Schema{{Type: "string", Pattern: "^[0-9a-f]{64}$"}, {Type: "null"}},
				}
			}
		},
		Authorize: f.authorize,
		Plan:      f.plan,
		Receipt: func(p proposal) receipt {
			return receipt{OperationID: anyOperation, Digest: p.Digest, Files: p.Files}
		},
		Begin: f.begin,
	}
	if f.area == nil {
		c.Disabled = errDisabled()
	}
	return c
}

// Recheck returns a function for the Recheck field of [mcpkit.Approvals] in a program in which a person decides: it reports
// whether the candidate, the files of the project that it replaces, and what the validators say are still those of the
// proposal. area and opts are those of [Feature], as the server has them. It is safe for concurrent use and changes nothing.
//
// The error's code is proposal_stale, with the paths that changed, or one that candidate_apply has for such a candidate.
func Recheck(area *stage.Area, opts *Options) func(ctx context.Context, claim token.Claim) error {
	return newFeature(area, nil, opts).command().Recheck
}

// plan computes what promoting the candidate does.
func (f *feature) plan(ctx context.Context, in candidateArgs) (mcpkit.Proposal[proposal], error) {
	var none mcpkit.Proposal[proposal]
	m, err := f.area.Inspect(ctx, in.CandidateID)
	if err != nil {
		return none, err
	}
	c := &Candidate{ID: m.Candidate, Files: m.Files, area: f.area, manifest: m}
	verdicts, err := f.judge(ctx, c)
	if err != nil {
		return none, err
	}
	var generated []stage.Generated
	if f.opts.Generate != nil {
		if generated, err = f.opts.Generate(ctx, c); err != nil {
			return none, err
		}
	}
	plan, err := f.area.Plan(ctx, m, generated, nil)
	if err != nil {
		return none, f.explain(err)
	}
	plan.Context = digestOf(verdicts)
	base, err := f.base(m, &plan)
	if err != nil {
		return none, err
	}
	list := plan.Changes()
	return mcpkit.Proposal[proposal]{
		Plan:    proposal{CandidateID: m.Candidate, Digest: plan.Digest(), Files: changes(list), plan: plan},
		Base:    base,
		Summary: summary(m.Candidate, plan.Digest(), list, verdicts),
	}, nil
}

// digestOf returns a digest of what the validators said, "" if there are none.
func digestOf(verdicts []string) string {
	if verdicts == nil {
		return ""
	}
	lines := make([][]byte, len(verdicts))
	for i, line := range verdicts {
		lines[i] = []byte(line)
	}
	return canon.Digest("mcpcontract/candidates/verdicts/1", lines...)
}

// authorize reports whether every path of the plan is one that needs no approval.
func (f *feature) authorize(_ context.Context, _ candidateArgs, p proposal) (bool, error) {
	for _, c := range p.Files {
		if !pattern.Match(f.opts.Authorized, c.Path) {
			return false, nil
		}
	}
	return len(p.Files) > 0, nil
}

// base is the state that the plan rests on: what is in the project, and the staged files, so that whichever changes is
// named.
func (f *feature) base(m stage.Manifest, plan *stage.Plan) (map[string]string, error) {
	dir, err := f.area.Dir(m.Candidate)
	if err != nil {
		return nil, err
	}
	base := make(map[string]string, len(plan.Base)+len(m.Files))
	maps.Copy(base, plan.Base)
	for _, file := range m.Files {
		base[dir+"/"+file.Path] = fmt.Sprintf("%s-%03o", file.SHA256, file.Mode.Perm())
	}
	return base, nil
}

// summary is what a person reads.
func summary(id, digest string, list []stage.Change, verdicts []string) []string {
	replaced := 0
	for _, c := range list {
		if c.Before != "" {
			replaced++
		}
	}
	lines := []string{
		fmt.Sprintf("candidate %s: files %d, new %d, replaced %d", id, len(list), len(list)-replaced, replaced),
		"digest " + digest,
	}
	lines = append(lines, verdicts...)
	for _, c := range list {
		how := "new"
		if c.Before != "" {
			how = "replaces " + c.Before[:12]
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %d bytes, %s)", strings.ToValidUTF8(c.Path, "?"), how, c.Size, c.SHA256[:12]))
	}
	return lines
}

// begin takes the lock of the area, which finishes what was interrupted.
func (f *feature) begin(ctx context.Context) (mcpkit.Transaction[proposal, receipt], error) {
	lock, err := f.area.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return &transaction{area: f.area, lock: lock}, nil
}

// transaction joins approvals and promotions: the receipt of a promotion is kept under the hash of its token.
type transaction struct {
	area *stage.Area
	lock *stage.Lock
}

func (t *transaction) Receipt(_ context.Context, approval string) (receipt, bool, error) {
	r, ok, err := t.area.Receipt(approval)
	if !ok || err != nil {
		return receipt{}, false, err
	}
	return receiptOf(r), true, nil
}

func (t *transaction) Apply(ctx context.Context, p proposal, approval string) (receipt, error) {
	plan := p.plan
	plan.Approval = approval
	r, err := t.lock.Promote(ctx, plan)
	if err != nil {
		return receipt{}, err
	}
	return receiptOf(r), nil
}

func (t *transaction) Close() error { return t.lock.Unlock() }

func receiptOf(r stage.Receipt) receipt {
	return receipt{OperationID: r.Operation, Digest: r.Digest, Files: changes(r.Files)}
}
