package changeset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// A draft is a changeset that is being changed, together with the project it is
// about. Operations on one node are kept as one, as a reviewer sees one change
// for each file however many steps led to it.
type draft struct {
	*record
	w    *Writer
	base *Snapshot
	read func(Node) ([]byte, error)
}

// create adds a new node.
func (d *draft) create(id, p string, e NodeEdit) (Operation, error) {
	// An id that the changeset frees could name the node before or the one after.
	if i := slices.IndexFunc(d.Operations, func(o Operation) bool { return o.ID == id }); i >= 0 {
		if o := d.Operations[i]; o.Op == Delete || o.NewID != "" {
			return Operation{}, &Error{Code: CodeConflict, Op: opPropose, ID: id, Detail: "the changeset takes the id from a node of the project"}
		}
	}
	f := e.fields()
	f.ID = &id
	raw, err := page.New(p, f)
	if err != nil {
		return Operation{}, refusePage(id, p, err)
	}
	if err := d.free(-1, id, p); err != nil {
		return Operation{}, err
	}
	return d.put(-1, Create, Operation{ID: id, NewPath: p}, contents{new: raw})
}

// update changes the content of a node.
func (d *draft) update(id string, e NodeEdit) (Operation, error) {
	i, o, c, err := d.open(id)
	if err != nil {
		return Operation{}, err
	}
	raw, err := page.Edit(o.NewPath, c.new, e.fields())
	if err != nil {
		return Operation{}, refusePage(id, o.NewPath, err)
	}
	if i < 0 && canon.Sum(raw) == o.BaseHash {
		return Operation{}, &Error{Code: CodeProposal, Op: opPropose, ID: id, Path: o.NewPath, Detail: "the file would stay as it is"}
	}
	c.new = raw
	return d.put(i, Update, o, c)
}

// move changes the path of a node. Its bytes stay, as in a rename by hand; what
// follows from that, such as another id, is for the writer to see and propose.
func (d *draft) move(id, p string) (Operation, error) {
	i, o, c, err := d.open(id)
	if err != nil {
		return Operation{}, err
	}
	if p == o.NewPath {
		return Operation{}, &Error{Code: CodePathTaken, Op: opPropose, ID: id, Path: p, Detail: "the node is there already"}
	}
	if err := d.free(i, page.Parse(p, c.new).ID, p, o.ID); err != nil {
		return Operation{}, err
	}
	o.NewPath = p
	return d.put(i, Move, o, c)
}

// remove deletes a node. One that is new in the changeset leaves no trace, nor
// does an operation on one that is gone by now.
func (d *draft) remove(id string) (Operation, error) {
	i, o, c, err := d.open(id)
	if err != nil {
		return Operation{}, err
	}
	gone := i >= 0 && !slices.ContainsFunc(d.base.Nodes, func(n Node) bool { return n.ID == o.ID })
	if o.OldPath == "" || gone {
		if err := d.allowed(Delete, o, c); err != nil {
			return Operation{}, err
		}
		d.drop(i)
		return Operation{Op: Delete, ID: o.ID, Kind: o.Kind, Title: o.Title}, nil
	}
	o.NewPath, c.new = "", nil
	return d.put(i, Delete, o, c)
}

// open returns the operation on a node and its contents: that of the changeset
// if i is not negative, else a new one that does nothing yet. A later step so
// builds on the bytes of an earlier one, and the base stays that of the first,
// unless the file is another one by now: then the earlier steps can no longer be
// carried out, and this one begins with the file as it is.
func (d *draft) open(id string) (i int, o Operation, c contents, err error) {
	if i = d.find(id); i >= 0 && !d.movedOn(d.Operations[i]) {
		o, c = d.Operations[i], d.files[i]
		if o.Op == Delete {
			err = &Error{Code: CodeConflict, Op: opPropose, ID: id, Detail: "the changeset deletes the node"}
		}
		return i, o, c, err
	}
	at := slices.IndexFunc(d.base.Nodes, func(n Node) bool { return n.ID == id || i >= 0 && n.ID == d.Operations[i].ID })
	if at < 0 {
		return i, o, c, &Error{Code: CodeNode, Op: opPropose, ID: id}
	}
	n := d.base.Nodes[at]
	raw, err := d.read(n)
	if err != nil {
		return i, o, c, err
	}
	o = Operation{ID: n.ID, OldPath: n.Path, NewPath: n.Path, BaseHash: n.Hash, OldSize: n.Size}
	return i, o, contents{old: raw, new: raw}, nil
}

// movedOn reports whether the file that o was proposed on is another one by now.
// Of a node that is gone there is nothing to begin with.
func (d *draft) movedOn(o Operation) bool {
	return o.OldPath != "" && slices.ContainsFunc(d.base.Nodes, func(n Node) bool {
		return n.ID == o.ID && (n.Hash != o.BaseHash || n.Path != o.OldPath)
	})
}

// put stores an operation on a node in place of operation i, or as the last one
// if i is negative, after asked was checked against the policy. An operation
// that leaves its file as it was is taken out.
func (d *draft) put(i int, asked Op, o Operation, c contents) (Operation, error) {
	s := d.w.store
	if n := int64(len(c.new)); n > s.opts.MaxFileBytes {
		return Operation{}, &Error{Code: CodeTooLarge, Op: opPropose, ID: o.ID, Path: o.NewPath, Detail: fmt.Sprintf("the file would have %d bytes, the limit is %d", n, s.opts.MaxFileBytes)}
	}
	o.describe(c)
	if err := d.allowed(asked, o, c); err != nil {
		return Operation{}, err
	}
	switch {
	case o.Op == Update && o.NewHash == o.BaseHash:
		d.drop(i)
	case i < 0:
		d.Operations, d.files = append(d.Operations, o), append(d.files, c)
	default:
		d.Operations[i], d.files[i] = o, c
	}
	return o, nil
}

// drop takes operation i out.
func (d *draft) drop(i int) {
	d.Operations, d.files = slices.Delete(d.Operations, i, i+1), slices.Delete(d.files, i, i+1)
}

// describe sets all that follows from the paths and contents of o.
func (o *Operation) describe(c contents) {
	o.Op = o.kind()
	o.NewID, o.NewHash, o.NewSize = "", "", 0
	shown := nodeOf(o.OldPath, c.old)
	if o.NewPath != "" {
		shown = nodeOf(o.NewPath, c.new)
		o.NewHash, o.NewSize = shown.Hash, shown.Size
		if shown.ID != o.ID {
			o.NewID = shown.ID
		}
	}
	o.Kind, o.Title = strings.ToValidUTF8(shown.Kind, "\ufffd"), strings.ToValidUTF8(shown.Title, "\ufffd")
}

// free reports whether a node of that id can be at p. It looks at the project
// as it will be, so that what the changeset vacates can be taken and what it
// takes cannot. Operation i, and the node of the project that is called own, do
// not stand in the way: a file may be renamed in case only.
func (d *draft) free(i int, id, p string, own ...string) error {
	var others []Node
	for _, n := range d.rest(d.base.Nodes) {
		if !slices.Contains(own, n.ID) {
			others = append(others, n)
		}
	}
	for j, o := range d.Operations {
		if j != i && o.NewPath != "" {
			others = append(others, Node{ID: o.newIDOf(), Path: o.NewPath})
		}
	}
	c := newCensus(others)
	return first(c.refuseID(opPropose, id, p), c.refusePath(opPropose, id, p), d.vacant(id, p))
}

// vacant reports whether no file is at p that the project does not know.
func (d *draft) vacant(id, p string) error {
	taken, err := d.w.store.occupied(d.base, p)
	switch {
	case err != nil:
		return &Error{Code: CodeIO, Op: opPropose, ID: id, Path: p, Err: err}
	case taken:
		return &Error{Code: CodePathTaken, Op: opPropose, ID: id, Path: p, Detail: notNode}
	}
	return nil
}

// allowed reports whether the writer may propose o, and did ask for asked. Both
// count: who may not move cannot do so by moving a node that is new, and what
// results must be allowed as a whole, since it is that which is carried out.
func (d *draft) allowed(asked Op, o Operation, c contents) error {
	r := o.reach(c)
	r.ops = append([]string{string(asked)}, r.ops...)
	for _, p := range []*Policy{d.w.policy, d.w.store.opts.Policy} {
		if p == nil {
			continue
		}
		if no := p.refuses(r); no.code != "" {
			return &Error{Code: no.code, Op: opPropose, ID: o.ID, Path: cmp.Or(o.NewPath, o.OldPath), Detail: no.detail()}
		}
	}
	return nil
}

// reach returns what o touches: a move that changes the content too is both.
func (o *Operation) reach(c contents) reach {
	r := reach{ops: []string{string(o.Op)}}
	if o.Op == Move && o.NewHash != o.BaseHash {
		r.ops = append(r.ops, string(Update))
	}
	if o.OldPath != "" {
		r.kinds = append(r.kinds, page.Parse(o.OldPath, c.old).Kind)
		r.paths = append(r.paths, o.OldPath)
	}
	if o.NewPath != "" {
		r.kinds = append(r.kinds, o.Kind)
		r.paths = append(r.paths, o.NewPath)
	}
	return r
}

// refusePage turns a refusal of the page package into one of this package.
func refusePage(id, p string, err error) error {
	return &Error{Code: CodeProposal, Op: opPropose, ID: id, Path: p, Err: err}
}
