package changeset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// Limits of what Validate reports.
const (
	maxProblems      = 1000 // in all
	maxFromValidator = 100  // from each validator
	maxMessage       = 500  // bytes
)

// Validate holds the changeset id against the project as it is now, and says
// what stands in the way of carrying it out:
//
//   - base_stale: a node it changes is not what it was proposed on,
//   - id_taken, path_taken: somebody else took an id or a path since,
//   - operation_conflict: two operations on one node,
//   - dangling_reference: a link or a dependency that led somewhere, or is new,
//     leads nowhere afterwards,
//   - dependency_cycle: nodes depend on each other through a dependency that is
//     new, or a node on itself,
//   - operation_not_allowed, kind_not_allowed, path_not_allowed: a policy that
//     was bound to the name of the writer in this process, or Options.Policy,
//     does not allow it,
//   - too_large, too_many: it goes beyond Options,
//   - dangling_section, a warning: a link of the form [[id#section]] that is new,
//     or led to a section, leads to none afterwards; at most 100 for one file,
//   - path_repeats_docs, a warning: a path begins with the docs folder that it is
//     relative to, where the project has no folder of that name,
//   - what the validators say, as errors or as warnings.
//
// All others are errors. At most 1,000
// problems are returned, then one with code too_many. Nothing is written.
//
// The error's code is changeset_unknown, changeset_damaged, source_failed, or
// changeset_io.
func (s *Store) Validate(ctx context.Context, id string) (Validation, error) {
	const op = "validate"
	r, err := s.get(ctx, op, id)
	if err != nil {
		return Validation{}, err
	}
	snap, err := s.snapshot(ctx, op)
	if err != nil {
		return Validation{}, in(id, err)
	}
	return s.validate(ctx, r, snap)
}

// validate holds r against a snapshot. The only error is that of ctx.
func (s *Store) validate(ctx context.Context, r *record, snap *Snapshot) (Validation, error) {
	c := &checker{record: r, store: s, base: snap, after: r.after(snap.Nodes)}
	c.stale()
	c.conflicts()
	c.collisions()
	c.dangling()
	c.cycles()
	c.policies()
	c.limits()
	c.misplaced()
	if err := c.sections(ctx); err != nil {
		return Validation{}, err
	}
	for _, v := range s.opts.Validators {
		if err := ctx.Err(); err != nil {
			return Validation{}, err
		}
		c.problems = append(c.problems, c.ask(ctx, v)...)
	}
	return c.result(), nil
}

// A checker collects the problems of one changeset.
type checker struct {
	*record

	store    *Store
	base     *Snapshot
	after    []Node
	problems []Problem
}

// add notes an error about operation o.
func (c *checker) add(code Code, o Operation, format string, args ...any) {
	c.problems = append(c.problems, Problem{
		Code: string(code), Severity: SeverityError, ID: o.ID,
		Path: cmp.Or(o.NewPath, o.OldPath), Message: fmt.Sprintf(format, args...),
	})
}

// result sorts the problems and cuts them to what may be returned.
func (c *checker) result() Validation {
	all := c.problems
	if all == nil {
		all = []Problem{}
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	valid := len(all) == 0 || all[0].Severity != SeverityError // which sorts first
	if n := len(all) - maxProblems; n > 0 {
		all = append(all[:maxProblems:maxProblems], Problem{
			Code: string(CodeTooMany), Severity: SeverityWarning, Message: fmt.Sprintf("%d more problems are left out", n),
		})
	}
	return Validation{Valid: valid, Problems: all}
}

// stale finds operations whose node is not what they were proposed on. It is an
// error too if the project has the proposed content already: there is nothing
// left to carry out, and the message says so.
func (c *checker) stale() {
	now := make(map[string]Node, len(c.base.Nodes))
	for _, n := range c.base.Nodes {
		now[n.ID] = n
	}
	for _, o := range c.Operations {
		if o.OldPath == "" {
			continue
		}
		n, ok := now[o.ID]
		switch {
		case !ok:
			c.add(CodeStale, o, "the node is no longer in the project; propose to delete it, and the operation is taken out")
		case n.Path != o.OldPath:
			c.add(CodeStale, o, "the file moved to %.160q since it was proposed", n.Path)
		case n.Hash == o.NewHash && o.NewHash != o.BaseHash:
			c.add(CodeStale, o, "the file has the proposed content already")
		case n.Hash != o.BaseHash:
			c.add(CodeStale, o, "the file changed since it was proposed; propose it again")
		}
	}
}

// conflicts finds nodes that two operations name. The methods of a Writer
// cannot cause that, but whoever merges files of changesets can.
func (c *checker) conflicts() {
	seen := map[string]bool{}
	for _, o := range c.Operations {
		if seen[o.ID] {
			c.add(CodeConflict, o, "two operations are on this node; propose the one that is meant in a new changeset")
		}
		seen[o.ID] = true
	}
}

// collisions finds ids and paths that two nodes would have. The methods of a
// Writer refused those of their time; here the project has moved on.
func (c *checker) collisions() {
	taken := newCensus(c.rest(c.base.Nodes))
	for _, o := range c.Operations {
		if o.NewPath == "" {
			continue
		}
		id := o.newIDOf()
		for _, err := range []error{taken.refuseID("validate", id, o.NewPath), taken.refusePath("validate", id, o.NewPath)} {
			if e, ok := errors.AsType[*Error](err); ok {
				c.add(e.Code, o, "%s", strings.TrimSuffix(e.Code.text()+": "+e.Detail, ": "))
			}
		}
		if odd, err := c.store.occupied(c.base, o.NewPath); err == nil && odd {
			c.add(CodePathTaken, o, "%s: %s", CodePathTaken.text(), notNode)
		}
		taken.add(Node{ID: id, Path: o.NewPath})
	}
}

// references returns the ids that a node refers to, sorted, without duplicates.
func references(n Node) []string {
	all := slices.Concat(n.DependsOn, n.Links)
	slices.Sort(all)
	return slices.Compact(all)
}

// ids returns the set of the ids of nodes.
func ids(nodes []Node) map[string]bool {
	set := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		set[n.ID] = true
	}
	return set
}

// dangling finds references that lead nowhere because of the changeset. One
// that led nowhere before, in the same node, is not its fault.
func (c *checker) dangling() {
	before, after := ids(c.base.Nodes), ids(c.after)
	wrong := map[string][]string{} // by id: what a node referred to in vain
	for _, n := range c.base.Nodes {
		for _, ref := range references(n) {
			if !before[ref] {
				wrong[n.ID] = append(wrong[n.ID], ref)
			}
		}
	}
	was := c.was()
	for _, n := range c.after {
		for _, ref := range references(n) {
			if after[ref] || slices.Contains(wrong[cmp.Or(was[n.ID], n.ID)], ref) {
				continue
			}
			why := "which no node has"
			if before[ref] {
				why = "which no node has after the changeset"
			}
			c.add(CodeDangling, Operation{ID: n.ID, NewPath: n.Path}, "it refers to the id %.160q, %s", ref, why)
		}
	}
}

// policies finds what a policy does not allow.
func (c *checker) policies() {
	for _, p := range c.store.policies(c.Writer) {
		for i, o := range c.Operations {
			if no := p.refuses(o.reach(c.files[i])); no.code != "" {
				c.add(no.code, o, "%s: %.160q", no.code.text(), no.what)
			}
		}
	}
	slices.SortFunc(c.problems, func(a, b Problem) int { return strings.Compare(a.ID+a.Code+a.Message, b.ID+b.Code+b.Message) })
	c.problems = slices.Compact(c.problems) // several policies may refuse the same
}

// limits finds what goes beyond the options, which may be narrower than they
// were.
func (c *checker) limits() {
	opts := &c.store.opts
	if n := len(c.Operations); n > opts.MaxOperations {
		c.add(CodeTooMany, Operation{}, "%d operations, the limit is %d", n, opts.MaxOperations)
	}
	total := int64(0)
	for _, o := range c.Operations {
		total += o.OldSize + o.NewSize
		if n := max(o.OldSize, o.NewSize); n > opts.MaxFileBytes {
			c.add(CodeTooLarge, o, "the file has %d bytes, the limit is %d", n, opts.MaxFileBytes)
		}
	}
	if total > opts.MaxBytes {
		c.add(CodeTooLarge, Operation{}, "the files have %d bytes together, the limit is %d", total, opts.MaxBytes)
	}
}

// misplaced finds paths that repeat the docs folder, which they are relative to.
// It is a warning, and none if the project has such a folder: there may be a
// reason.
func (c *checker) misplaced() {
	folder := c.store.opts.Docs
	docs := rootfs.FoldKey(folder) + "/"
	within := func(p string) bool { return strings.HasPrefix(rootfs.FoldKey(p), docs) }
	if slices.ContainsFunc(c.base.Nodes, func(n Node) bool { return within(n.Path) }) {
		return
	}
	for _, o := range c.Operations {
		if within(o.NewPath) {
			rest := strings.Split(o.NewPath, "/")[strings.Count(docs, "/"):]
			c.add(CodePathRepeats, o, "%s, so that the file would go to %s; propose the path %s to have it at %s", CodePathRepeats.text(),
				wording.Quote(path.Join(folder, o.NewPath), 80), wording.Quote(path.Join(rest...), 80), wording.Quote(path.Join(folder, path.Join(rest...)), 80))
			c.problems[len(c.problems)-1].Severity = SeverityWarning
		}
	}
}

// ask returns the problems that one validator finds. It works on copies and
// its answer is only added, so it cannot take anything back.
func (c *checker) ask(ctx context.Context, v Validator) (found []Problem) {
	defer func() {
		if r := recover(); r != nil {
			found = []Problem{{
				Code: string(CodeValidator), Severity: SeverityError,
				Message: fmt.Sprintf("a validator panicked: %.200v", r),
			}}
		}
	}()
	got := v.Validate(ctx, c.proposal())
	for _, p := range got[:min(len(got), maxFromValidator)] {
		p.Code = cut(cmp.Or(p.Code, "validator_problem"), maxWord)
		p.ID, p.Path, p.Message = cut(p.ID, maxMessage), cut(p.Path, maxMessage), cut(p.Message, maxMessage)
		if p.Severity != SeverityWarning {
			p.Severity = SeverityError
		}
		found = append(found, p)
	}
	if n := len(got) - maxFromValidator; n > 0 {
		// What is left out may have been errors.
		found = append(found, Problem{
			Code: string(CodeTooMany), Severity: SeverityError, Message: fmt.Sprintf("a validator found %d more problems", n),
		})
	}
	return found
}

// cut shortens s to at most n bytes of whole characters.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// proposal returns a copy of everything for a validator.
func (c *checker) proposal() Proposal {
	p := Proposal{
		Changeset: c.Changeset,
		Before:    Snapshot{Project: c.base.Project, Revision: c.base.Revision, Nodes: cloneNodes(c.base.Nodes)},
		After:     Snapshot{Project: c.base.Project, Nodes: cloneNodes(c.after)},
		Files:     map[string][]byte{},
	}
	p.Changeset.Operations = slices.Clone(c.Operations)
	for i, o := range c.Operations {
		if o.NewPath != "" {
			p.Files[o.ID] = slices.Clone(c.files[i].new)
		}
	}
	return p
}

func cloneNodes(nodes []Node) []Node {
	all := slices.Clone(nodes)
	for i := range all {
		n := &all[i]
		n.DependsOn, n.Tags, n.Links = slices.Clone(n.DependsOn), slices.Clone(n.Tags), slices.Clone(n.Links)
	}
	return all
}
