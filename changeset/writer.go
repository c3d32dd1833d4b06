package changeset

import (
	"context"
	"slices"
)

// A Writer proposes changes in the name of one writer, within one policy.
// [Store.Bind] makes one. It is safe for concurrent use, and needs no closing;
// after the store is closed all its methods fail.
//
// When somebody changes a file after an operation on it was proposed, the
// operation is base_stale. The next proposal for that node takes its place, and
// begins with the file as it is then: what the changeset proposed before for the
// node has to be proposed again. Where the node itself is gone, ProposeDelete
// takes the operation out.
//
// What its methods store is stored durably and at once. An error means that
// nothing is, but for changeset_io: the disk may have failed when all was in
// place and only not yet certain to survive a power cut. [Store.Get] tells.
type Writer struct {
	store  *Store
	name   string
	policy *Policy
}

// opPropose is what errors call the operation of all proposals.
const opPropose = "propose"

// Bind returns a writer of that name, at most 100 bytes on one line. It may
// propose what policy and Options.Policy both allow, and change the changesets
// of its own name only. [Store.Validate] holds a changeset against every policy
// that was bound to the name of its writer, so that binding a wider one later
// frees nothing.
//
// The error's code is changeset_options_invalid.
func (s *Store) Bind(writer string, policy Policy) (*Writer, error) {
	if err := checkLine("bind", "writer", writer, maxWriter); err != nil {
		return nil, &Error{Code: CodeOptions, Op: "bind", Err: err}
	}
	if err := policy.check(); err != nil {
		return nil, &Error{Code: CodeOptions, Op: "bind", Err: err}
	}
	own := policy.clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.bound[writer], own.equal) {
		if len(s.bound[writer]) >= maxRules || s.bound[writer] == nil && len(s.bound) >= maxRules {
			return nil, refusef(CodeOptions, "bind", "more than %d writers, or policies of one", maxRules)
		}
		s.bound[writer] = append(s.bound[writer], own)
	}
	return &Writer{store: s, name: writer, policy: own}, nil
}

// policies returns all policies that the changesets of a writer must keep to.
func (s *Store) policies(writer string) []*Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.bound[writer])
	if s.opts.Policy != nil {
		all = append(all, s.opts.Policy)
	}
	return all
}

// Create creates an empty changeset. The title is a line of at most 200 bytes,
// the description a text of at most 4,000, which may be empty.
//
// The error's code is proposal_invalid, too_large, too_many, source_failed,
// changeset_locked, or changeset_io.
func (w *Writer) Create(ctx context.Context, title, description string) (Changeset, error) {
	const op = "create"
	if err := checkLine(op, "title", title, maxTitle); err != nil {
		return Changeset{}, err
	}
	if err := checkText(op, "description", description, maxDescription); err != nil {
		return Changeset{}, err
	}
	s := w.store
	snap, err := s.snapshot(ctx, op)
	if err != nil {
		return Changeset{}, err
	}
	lock, err := s.lock(ctx, op)
	if err != nil {
		return Changeset{}, err
	}
	defer lock.Unlock() //nolint:errcheck // the work is done, and the lock ends with its file
	ids, err := s.ids(op)
	if err != nil {
		return Changeset{}, err
	}
	if n := len(ids); n >= s.opts.MaxChangesets {
		return Changeset{}, refusef(CodeTooMany, op, "%d changesets are kept, the limit is %d; remove files in %s", n, s.opts.MaxChangesets, s.opts.Changesets)
	}
	now := stamp(s.opts.Now())
	r := &record{Changeset: Changeset{
		ID: s.newID(), Title: title, Description: description, Writer: w.name,
		Created: now, Updated: now, Revision: snap.Revision, Operations: []Operation{},
	}}
	if err := s.save(op, r); err != nil {
		return Changeset{}, err
	}
	return r.Changeset, nil
}

// ProposeCreate proposes a new node in the changeset. Its id and its path must
// be free, in the project and in the changeset; an id that a node of the project
// loses by the changeset is not (operation_conflict).
//
// The error's code is proposal_invalid, path_invalid, too_large, too_many,
// id_taken, path_taken, operation_conflict, or one of those common to all
// proposals: operation_not_allowed, kind_not_allowed, path_not_allowed,
// changeset_unknown, changeset_not_yours, changeset_damaged, source_failed,
// changeset_locked, changeset_io.
func (w *Writer) ProposeCreate(ctx context.Context, changeset string, n NewNode) (Operation, error) {
	s := w.store
	edit := NodeEdit{Text: &n.Text, Kind: &n.Kind, Title: &n.Title}
	if n.Status != "" {
		edit.Status = &n.Status
	}
	if len(n.DependsOn) > 0 {
		edit.DependsOn = &n.DependsOn
	}
	if len(n.Tags) > 0 {
		edit.Tags = &n.Tags
	}
	if err := first(checkNodeID(n.ID), s.checkEdit(edit), s.checkPath(n.Path)); err != nil {
		return Operation{}, in(changeset, err)
	}
	return w.propose(ctx, changeset, func(d *draft) (Operation, error) {
		return d.create(n.ID, n.Path, edit)
	})
}

// ProposeUpdate proposes other content for a node of the project or of the
// changeset. An update of a node that the changeset creates, moves or updates
// becomes part of that operation. What e does not name stays as it is.
//
// The error's code is proposal_invalid, also if the file would stay as it is,
// too_large, too_many, node_unknown, operation_conflict if the changeset
// deletes the node, base_stale if somebody changes the file at this moment, or
// one of those common to all proposals.
func (w *Writer) ProposeUpdate(ctx context.Context, changeset, id string, e NodeEdit) (Operation, error) {
	if e == (NodeEdit{}) {
		return Operation{}, in(changeset, refusef(CodeProposal, opPropose, "no field is set"))
	}
	if err := w.store.checkEdit(e); err != nil {
		return Operation{}, in(changeset, err)
	}
	return w.propose(ctx, changeset, func(d *draft) (Operation, error) { return d.update(id, e) })
}

// ProposeMove proposes another path for a node of the project or of the
// changeset. The bytes of the file stay as they are; its id does too, unless it
// comes from the path. A move of a node that the changeset creates, moves or
// updates becomes part of that operation.
//
// The error's code is path_invalid, path_taken, also by the node itself,
// id_taken, too_large, too_many, node_unknown, operation_conflict if the
// changeset deletes the node, base_stale if somebody changes the file at this
// moment, or one of those common to all proposals.
func (w *Writer) ProposeMove(ctx context.Context, changeset, id, path string) (Operation, error) {
	if err := w.store.checkPath(path); err != nil {
		return Operation{}, in(changeset, err)
	}
	return w.propose(ctx, changeset, func(d *draft) (Operation, error) { return d.move(id, path) })
}

// ProposeDelete proposes that a node goes. It takes the place of an earlier
// move or update of the node; a node that the changeset itself creates is taken
// out of it, and nothing remains. A deletion is final: no later operation of
// the changeset can name the node. Who wants it back proposes the rest in a new
// changeset.
//
// The error's code is too_large, too_many, node_unknown, operation_conflict if
// the changeset deletes the node already, base_stale if somebody changes the
// file at this moment, or one of those common to all proposals.
func (w *Writer) ProposeDelete(ctx context.Context, changeset, id string) (Operation, error) {
	return w.propose(ctx, changeset, func(d *draft) (Operation, error) { return d.remove(id) })
}

// propose changes a changeset of this writer under the lock.
func (w *Writer) propose(ctx context.Context, id string, change func(*draft) (Operation, error)) (Operation, error) {
	const op = opPropose
	s := w.store
	if !isID(id) { // before there is a folder with a lock
		return Operation{}, &Error{Code: CodeUnknown, Op: op, Changeset: id}
	}
	lock, err := s.lock(ctx, op)
	if err != nil {
		return Operation{}, in(id, err)
	}
	defer lock.Unlock() //nolint:errcheck // the work is done, and the lock ends with its file
	r, err := s.load(op, id)
	if err != nil {
		return Operation{}, err
	}
	if r.Writer != w.name {
		return Operation{}, &Error{Code: CodeNotYours, Op: op, Changeset: id}
	}
	snap, err := s.snapshot(ctx, op)
	if err != nil {
		return Operation{}, in(id, err)
	}
	done, err := change(&draft{record: r, w: w, base: snap, read: func(n Node) ([]byte, error) { return s.read(ctx, op, n) }})
	if err != nil {
		return Operation{}, in(id, err)
	}
	if n := len(r.Operations); n > s.opts.MaxOperations {
		return Operation{}, in(id, refusef(CodeTooMany, op, "the changeset would have %d operations, the limit is %d", n, s.opts.MaxOperations))
	}
	r.Updated = stamp(s.opts.Now())
	if err := s.save(op, r); err != nil {
		return Operation{}, err
	}
	return done, nil
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
