package changeset

import (
	"cmp"
	"path"
	"slices"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// nodeOf describes the file at p as a node, as a source over Markdown files
// would: a project as proposed is made of both, and must not differ in how it
// reads them.
func nodeOf(p string, raw []byte) Node {
	g := page.Parse(p, raw)
	return Node{
		ID: g.ID, Kind: g.Kind, Title: g.Title, Status: g.Status, Path: p,
		DependsOn: g.DependsOn, Tags: g.Tags, Links: g.Links,
		Hash: canon.Sum(raw), Size: int64(len(raw)),
	}
}

// newIDOf is the id a node has afterwards.
func (o *Operation) newIDOf() string { return cmp.Or(o.NewID, o.ID) }

// find returns the index of the operation on the node that callers call id, or
// -1. The id a node gets in the changeset counts before the one it had.
func (r *record) find(id string) int {
	i := slices.IndexFunc(r.Operations, func(o Operation) bool { return o.NewPath != "" && o.newIDOf() == id })
	if i < 0 {
		i = slices.IndexFunc(r.Operations, func(o Operation) bool { return o.ID == id })
	}
	return i
}

// was returns, by their ids afterwards, the ids that the nodes of r had before.
func (r *record) was() map[string]string {
	was := map[string]string{}
	for _, o := range r.Operations {
		was[o.newIDOf()] = o.ID
	}
	return was
}

// after returns the nodes of the project with the operations of r, sorted by
// id. The nodes of base are shared.
func (r *record) after(base []Node) []Node {
	nodes := r.rest(base)
	for i, o := range r.Operations {
		if o.NewPath != "" {
			nodes = append(nodes, nodeOf(o.NewPath, r.files[i].new))
		}
	}
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}

// rest returns the nodes of the project that r does not change. What they take
// is surely taken; what the others have is up to r.
func (r *record) rest(base []Node) []Node {
	changed := map[string]bool{}
	for _, o := range r.Operations {
		if o.OldPath != "" {
			changed[o.ID] = true
		}
	}
	nodes := make([]Node, 0, len(base)+len(r.Operations))
	for _, n := range base {
		if !changed[n.ID] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// A census knows which ids and paths are taken, as any file system sees them.
// A project is used on more than one: what differs only in case or composition
// here is one file for somebody else.
type census struct {
	ids   map[string]string // by fold key: the id
	files map[string]string // by fold key: the path
	dirs  map[string]string // by fold key: the path of a folder that has a file
}

func newCensus(nodes []Node) *census {
	c := &census{
		ids:   make(map[string]string, len(nodes)),
		files: make(map[string]string, len(nodes)),
		dirs:  map[string]string{},
	}
	for _, n := range nodes {
		c.add(n)
	}
	return c
}

func (c *census) add(n Node) {
	c.ids[rootfs.FoldKey(n.ID)] = n.ID
	c.files[rootfs.FoldKey(n.Path)] = n.Path
	for dir := path.Dir(n.Path); dir != "."; dir = path.Dir(dir) {
		key := rootfs.FoldKey(dir)
		if c.dirs[key] == dir {
			break // and so are those above
		}
		c.dirs[key] = dir
	}
}

// refuseID returns why no node of that id can be added.
func (c *census) refuseID(op, id, p string) error {
	if other, ok := c.ids[rootfs.FoldKey(id)]; ok {
		return &Error{Code: CodeIDTaken, Op: op, ID: id, Path: p, Detail: spelled(id, other)}
	}
	return nil
}

// refusePath returns why no node can be added at p.
func (c *census) refusePath(op, id, p string) error {
	if other, ok := c.taken(p); ok {
		return &Error{Code: CodePathTaken, Op: op, ID: id, Path: p, Detail: spelled(p, other)}
	}
	return nil
}

// taken returns the path that stands in the way of a file at p: a file or a
// folder of that name, a file where a folder is needed, or a folder that is
// spelled otherwise.
func (c *census) taken(p string) (string, bool) {
	key := rootfs.FoldKey(p)
	if other, ok := c.files[key]; ok {
		return other, true
	}
	if other, ok := c.dirs[key]; ok {
		return other, true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		key := rootfs.FoldKey(dir)
		if other, ok := c.files[key]; ok {
			return other, true
		}
		if other, ok := c.dirs[key]; ok && other != dir {
			return other, true
		}
	}
	return "", false
}

// notNode says what is in the way where the project knows of nothing.
const notNode = "something is there that is no node"

// occupied reports whether something that is no node of base is at p, or in
// place of a folder above it: a document that is too large to be one, say. A
// project that is not in the folder Options.Docs has nothing there.
func (s *Store) occupied(base *Snapshot, p string) (bool, error) {
	if _, err := s.files.Stat(s.opts.Docs); err != nil {
		return false, nil //nolint:nilerr // it is for the source to read the documents, from wherever they are
	}
	at := p
	_, err := s.files.Stat(path.Join(s.opts.Docs, at))
	for rootfs.CodeOf(err) == rootfs.NotDir && path.Dir(at) != "." {
		at = path.Dir(at)
		_, err = s.files.Stat(path.Join(s.opts.Docs, at))
	}
	switch rootfs.CodeOf(err) {
	case rootfs.NotFound, rootfs.NotDir:
		return false, nil
	case rootfs.IO, rootfs.Permission:
		return false, err
	}
	// Of nodes the census knows, also of one that is found in another case.
	key := rootfs.FoldKey(at)
	return !slices.ContainsFunc(base.Nodes, func(n Node) bool { return rootfs.FoldKey(n.Path) == key }), nil
}
