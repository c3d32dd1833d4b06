package candidates

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/pattern"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/stage"
)

const (
	// CodeDisabled answers every call of a server that has no area.
	CodeDisabled = "proposal_access_disabled"
	// CodeRejected answers a candidate with which a [Validator] finds problems. The details list them.
	CodeRejected = "candidate_rejected"
)

// Options add to what [Feature] does. Nil and the zero value add nothing.
type Options struct {
	// Validators look at a candidate before it is proposed, and again before it is promoted, in this order.
	Validators []Validator

	// Generate, if not nil, returns further files to be written together with the candidate, such as an index of it. They
	// are part of what is approved, so it has to return the same for the same candidate and project.
	Generate func(ctx context.Context, c *Candidate) ([]stage.Generated, error)

	// Authorized has the patterns of paths for which authority exists already: a candidate whose files, with the generated
	// ones, all match is promoted in one call, and nobody is asked. The form is that of the Allow field of [stage.Options],
	// which still decides what may be promoted at all. Empty means that every promotion needs an approval.
	Authorized []string

	// Allow repeats the field of [stage.Options] that the area was opened with, for clients to be told where candidates may
	// go: candidate_prepare describes it, and so does the message of path_not_allowed. It decides nothing. Nil tells nothing;
	// empty but not nil, that nothing may be promoted.
	Allow []string
	// Hint says how the operator allows a path, for who finds that Allow is empty. It is told only then.
	Hint string
}

// Validator is one named check of candidates. It can add problems and can take none away.
type Validator struct {
	// Name tells which validator found something. Required, and unique.
	Name string

	// Check returns what is wrong with a candidate, and what the person who decides should know. It has to return the same
	// for the same candidate and project, since all of it is part of what is approved. An error refuses the candidate
	// without a verdict. Required.
	Check func(ctx context.Context, c *Candidate) (Verdict, error)
}

// Verdict is what a [Validator] finds. The zero Verdict is that all is well.
type Verdict struct {
	// Problems are reasons to refuse the candidate. One is enough.
	Problems []string
	// Notes are shown to the person who decides, and are part of what is approved.
	Notes []string
}

// Candidate is what a [Validator] sees: the files as they would be promoted.
type Candidate struct {
	// ID is its id.
	ID string
	// Files are its files, sorted by the bytes of their paths.
	Files []stage.File

	area     *stage.Area
	manifest stage.Manifest
}

// ReadFile returns the bytes of one of Files, by its path. They are those that Files has the hash of, or none.
func (c *Candidate) ReadFile(ctx context.Context, path string) ([]byte, error) {
	for _, f := range c.Files {
		if f.Path == path {
			return c.area.ReadFile(ctx, c.manifest, f)
		}
	}
	return nil, fmt.Errorf("candidate %s has no file %.200q", c.ID, path)
}

// Feature adds the six tools, for the candidates of one area. approvals says how promotions are approved.
//
// With a nil area, for a server that may not write, the tools are there and answer [CodeDisabled]; then approvals is not
// used. The error of the feature says which of the options, or which field of approvals, is missing.
func Feature(area *stage.Area, approvals *mcpkit.Approvals, opts *Options) mcpkit.Feature {
	return newFeature(area, approvals, opts).install
}

func newFeature(area *stage.Area, approvals *mcpkit.Approvals, opts *Options) *feature {
	f := &feature{area: area, approvals: approvals}
	if opts != nil {
		f.opts = *opts
	}
	return f
}

type feature struct {
	area      *stage.Area
	approvals *mcpkit.Approvals
	opts      Options
	pager     *paging.Pager
}

// maxPage bounds the replies that list files, in bytes on the wire. It stays well below what a result may have by
// default: what removed files must not be answered with result_too_large, as if it had not happened.
const maxPage = 10_000

// errDisabled is the error of a server without an area.
func errDisabled() error {
	return &result.Error{Code: CodeDisabled, Message: "this server was started without a writer: it takes no proposals"}
}

func (f *feature) install(in *mcpkit.Installer) error {
	names := make(map[string]bool)
	for _, v := range f.opts.Validators {
		if v.Name == "" || v.Check == nil || names[v.Name] {
			return fmt.Errorf("candidates: validator %q has no name of its own, or no Check", v.Name)
		}
		names[v.Name] = true
	}
	for _, p := range f.opts.Authorized {
		if err := pattern.Check(p); err != nil {
			return fmt.Errorf("candidates: pattern %.80q: %w", p, err)
		}
	}
	var err error
	if f.pager, err = paging.New(in.Sealer(), "candidates", maxPage); err != nil {
		return fmt.Errorf("candidates: %w", err)
	}
	for _, tool := range f.tools() {
		if err := tool(in); err != nil {
			return err
		}
	}
	return nil
}

// enabled passes a tool through if there is an area.
func enabled[In, Out any](f *feature, run func(ctx context.Context, in In) (Out, error)) func(ctx context.Context, in In) (Out, error) {
	if f.area != nil {
		return run
	}
	return func(context.Context, In) (Out, error) {
		var none Out
		return none, errDisabled()
	}
}

func (f *feature) tools() []mcpkit.Feature {
	return []mcpkit.Feature{
		mcpkit.Tool[prepareArgs, prepared]{
			Name:  "candidate_prepare",
			Title: "Prepare a candidate",
			Description: "Declare the complete set of files of a candidate, and get the directory to write them to. " +
				"Staged files that are no longer declared are removed. Nothing in the project changes." + f.places(),
			Effect:     mcpkit.Destructive,
			Idempotent: true,
			Run:        enabled(f, f.prepare),
		}.Install,
		mcpkit.Tool[inspectArgs, inspected]{
			Name:  "candidate_inspect",
			Title: "Inspect a candidate",
			Description: "List the staged files of a candidate with size and SHA-256, in pages, and one digest over all. " +
				"Fails on any file that was not declared, and on links.",
			Effect: mcpkit.ReadOnly,
			Run:    enabled(f, f.inspect),
		}.Install,
		f.command().Install,
		mcpkit.Tool[candidateArgs, discarded]{
			Name:        "candidate_discard",
			Title:       "Discard a candidate",
			Description: "Remove a candidate with all its staged files. What was promoted from it stays.",
			Effect:      mcpkit.Destructive,
			Idempotent:  true,
			Run:         enabled(f, f.discard),
		}.Install,
		mcpkit.Tool[noArgs, recovered]{
			Name:        "operation_recover",
			Title:       "Recover an operation",
			Description: "Finish a promotion that was interrupted after its commit point, or clear away one that was not. Harmless if there is none.",
			Effect:      mcpkit.Destructive,
			Idempotent:  true,
			Run:         enabled(f, f.recover),
		}.Install,
		mcpkit.Tool[operationArgs, recovered]{
			Name:        "operation_abort",
			Title:       "Abort an operation",
			Description: "Undo an interrupted promotion: restore the files that were there before. A promotion with a receipt cannot be aborted.",
			Effect:      mcpkit.Destructive,
			Idempotent:  true,
			Run:         enabled(f, f.abort),
		}.Install,
	}
}

type noArgs struct{}

type candidateArgs struct {
	CandidateID string `json:"candidateId" jsonschema:"id of the candidate: lower-case letters and digits in parts joined by -" schema:"maxLength=64 pattern=^[a-z0-9]+(-[a-z0-9]+)*$"`
}

type prepareArgs struct {
	candidateArgs
	ExpectedFiles []string `json:"expectedFiles" jsonschema:"all files of the candidate, by their paths in the project" schema:"maxItems=4096"`
}

type inspectArgs struct {
	candidateArgs
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before; absent for the first page"`
}

type operationArgs struct {
	OperationID string `json:"operationId" jsonschema:"id of the operation, as an error or a receipt names it" schema:"pattern=^op-[0-9]{10}-[a-z0-9]{8}$"`
}

type prepared struct {
	CandidateID   string   `json:"candidateId"`
	StagePath     string   `json:"stagePath"`
	RetainedFiles []string `json:"retainedFiles"`
	RetainedCount int      `json:"retainedCount,omitempty" jsonschema:"how many there are, if retainedFiles has only the first of them"`
	RemovedFiles  []string `json:"removedFiles"`
	RemovedCount  int      `json:"removedCount,omitempty" jsonschema:"how many there are, if removedFiles has only the first of them"`
}

type inspected struct {
	CandidateID string       `json:"candidateId"`
	FileCount   int          `json:"fileCount" jsonschema:"how many files the candidate has, on all pages"`
	Files       []stagedFile `json:"files"`
	Digest      string       `json:"digest" schema:"kind=sha256"`
	NextCursor  string       `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
}

type stagedFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256" schema:"kind=sha256"`
}

type discarded struct {
	CandidateID  string   `json:"candidateId"`
	RemovedFiles []string `json:"removedFiles"`
	RemovedCount int      `json:"removedCount,omitempty" jsonschema:"how many there are, if removedFiles has only the first of them"`
}

// recovered says what became of an operation.
type recovered struct {
	Outcome     string   `json:"outcome" schema:"enum=none|finished|undone"`
	OperationID string   `json:"operationId,omitempty"`
	CandidateID string   `json:"candidateId,omitempty"`
	Files       []string `json:"files"`
	FileCount   int      `json:"fileCount,omitempty" jsonschema:"how many there are, if files has only the first of them"`
	KeptFiles   []string `json:"keptFiles"`
	KeptCount   int      `json:"keptCount,omitempty" jsonschema:"how many there are, if keptFiles has only the first of them"`
}

func (f *feature) prepare(ctx context.Context, in prepareArgs) (prepared, error) {
	p, err := f.area.Prepare(ctx, in.CandidateID, in.ExpectedFiles)
	err = f.explain(err)
	out := prepared{CandidateID: in.CandidateID, StagePath: p.Dir}
	room := f.pager.Room() - paging.Cost(out) - countsCost
	out.RetainedFiles, out.RetainedCount, room = shorten(p.Retained, room/2, room)
	out.RemovedFiles, out.RemovedCount, _ = shorten(p.Removed, room, room)
	return out, err
}

func (f *feature) inspect(ctx context.Context, in inspectArgs) (inspected, error) {
	m, err := f.area.Inspect(ctx, in.CandidateID)
	if err != nil {
		return inspected{}, err
	}
	out := inspected{CandidateID: m.Candidate, FileCount: len(m.Files), Digest: m.Digest}
	files := make([]stagedFile, len(m.Files))
	for i, file := range m.Files {
		files[i] = stagedFile{file.Path, file.Size, file.SHA256}
	}
	page, err := paging.Items(f.pager.Query("candidate_inspect", m.Candidate), in.Cursor, m.Digest, paging.Cost(out), files)
	out.Files, out.NextCursor = page.Items, page.NextCursor
	return out, err
}

func (f *feature) discard(ctx context.Context, in candidateArgs) (discarded, error) {
	removed, err := f.area.Discard(ctx, in.CandidateID)
	out := discarded{CandidateID: in.CandidateID}
	room := f.pager.Room() - paging.Cost(out) - countsCost
	out.RemovedFiles, out.RemovedCount, _ = shorten(removed, room, room)
	return out, err
}

func (f *feature) recover(ctx context.Context, _ noArgs) (recovered, error) {
	r, err := f.area.Recover(ctx)
	return f.outcome(r), err
}

func (f *feature) abort(ctx context.Context, in operationArgs) (recovered, error) {
	r, err := f.area.Abort(ctx, in.OperationID)
	return f.outcome(r), err
}

func (f *feature) outcome(r stage.Recovery) recovered {
	out := recovered{Outcome: "finished", OperationID: r.Operation, CandidateID: r.Candidate}
	switch {
	case r.Operation == "":
		out.Outcome = "none"
	case r.Undone:
		out.Outcome = "undone"
	}
	room := f.pager.Room() - paging.Cost(out) - countsCost
	out.Files, out.FileCount, room = shorten(r.Files, room/2, room)
	out.KeptFiles, out.KeptCount, _ = shorten(r.Kept, room, room)
	return out
}

// countsCost is more than what two counts with their names take on the wire.
const countsCost = 100

// shorten returns as many of the first paths as fit into share bytes, how many there are if that is not all of them, and
// what is left of room.
func shorten(paths []string, share, room int) (first []string, count, left int) {
	for i, p := range paths {
		cost := paging.Cost(p) + len(",")
		if cost > share {
			return paths[:i], len(paths), room
		}
		share, room = share-cost, room-cost
	}
	return paths, 0, room
}

// problem is one entry of the details of candidate_rejected.
type problem struct {
	Validator string `json:"validator"`
	Problem   string `json:"problem"`
}

// maxProblems bounds how many problems an error repeats.
const maxProblems = 20

// judge asks the validators, and returns a line for each of their names and notes.
func (f *feature) judge(ctx context.Context, c *Candidate) (lines []string, err error) {
	var problems []problem
	for _, v := range f.opts.Validators {
		verdict, err := v.Check(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, text := range verdict.Problems {
			problems = append(problems, problem{v.Name, text})
		}
		lines = append(lines, "validator "+v.Name+": passed")
		for _, note := range verdict.Notes {
			lines = append(lines, "validator "+v.Name+": "+note)
		}
	}
	if problems == nil {
		return lines, nil
	}
	return nil, &result.Error{
		Code:    CodeRejected,
		Message: fmt.Sprintf("candidate %s has %d problems, the first of %s: correct the staged files and prepare again", c.ID, len(problems), problems[0].Validator),
		Details: map[string]any{"count": len(problems), "problems": problems[:min(len(problems), maxProblems)]},
	}
}

// before is the JSON of the hash of a file, null for none.
func before(sum string) json.RawMessage {
	if sum == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(`"` + sum + `"`)
}
