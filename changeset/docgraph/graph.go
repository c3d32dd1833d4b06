package docgraph

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// revisionDomain separates revisions from all other digests.
const revisionDomain = "mcpcontract/docgraph/revision/1"

// A Graph is a project at one moment. It never changes and is safe for
// concurrent use. The nodes it returns share their slices with it: they are
// not to be modified.
type Graph struct {
	snapshot changeset.Snapshot
	nodes    []*node // sorted by id
	byID     map[string]*node
}

// A node is a node with its place in the graph.
type node struct {
	changeset.Node
	doc   *doc
	deps  []*node // what it depends on and exists, in its order
	users []*node // what depends on it or links to it, by id

	lostDeps, lostLinks []string // what it depends on, or links to, and is no node
}

// newGraph makes the graph of the files, which are in the order of their paths.
func newGraph(opts *Options, files []*file, odd []changeset.Problem) *Graph {
	g := &Graph{byID: make(map[string]*node, len(files))}
	problems := append([]changeset.Problem{}, odd...)
	parts := [][]byte{[]byte(opts.Project), []byte(opts.Docs), opts.Identity}
	for _, f := range files {
		name := f.path
		if f.problem != nil {
			problems = append(problems, *f.problem)
			continue
		}
		parts = append(parts, []byte(name), []byte(f.doc.hash))
		if first := g.byID[f.doc.page.ID]; first != nil {
			p := problem(codeDuplicate, changeset.SeverityError, name, fmt.Sprintf("left out: the id %.160q is that of %.160q", first.ID, first.Path))
			p.ID = first.ID
			problems = append(problems, p)
			problems = append(problems, pageProblems(f.doc, "")...)
			continue
		}
		g.add(f.doc)
	}
	g.connect()
	g.snapshot = changeset.Snapshot{Project: opts.Project, Revision: canon.Digest(revisionDomain, parts...), Nodes: make([]changeset.Node, len(g.nodes))}
	for i, n := range g.nodes {
		g.snapshot.Nodes[i] = n.Node
	}
	g.snapshot.Problems = sortProblems(append(problems, g.check()...))
	return g
}

// add makes a node of a document.
func (g *Graph) add(d *doc) {
	n := &node{doc: d, Node: changeset.Node{
		ID: d.page.ID, Kind: d.page.Kind, Title: d.page.Title, Status: d.page.Status, Path: d.path,
		DependsOn: d.page.DependsOn, Tags: d.page.Tags, Links: d.page.Links, Hash: d.hash, Size: int64(len(d.raw)),
	}}
	g.nodes = append(g.nodes, n)
	g.byID[n.ID] = n
}

// connect sorts the nodes and sets their neighbours.
func (g *Graph) connect() {
	slices.SortFunc(g.nodes, func(a, b *node) int { return strings.Compare(a.ID, b.ID) })
	for _, n := range g.nodes { // by id, and so are the users of each
		for _, id := range n.DependsOn {
			d := g.byID[id]
			if d == nil {
				n.lostDeps = append(n.lostDeps, id)
				continue
			}
			n.deps = append(n.deps, d)
			d.users = append(d.users, n)
		}
		for _, id := range n.Links {
			d := g.byID[id]
			if d == nil {
				n.lostLinks = append(n.lostLinks, id)
				continue
			}
			// A node that also depends on d was added a moment ago.
			if len(d.users) == 0 || d.users[len(d.users)-1] != n {
				d.users = append(d.users, n)
			}
		}
	}
}

// Snapshot returns the graph as a store of changesets reads it. It is shared:
// nobody may modify it.
func (g *Graph) Snapshot() *changeset.Snapshot { return &g.snapshot }

// Node returns the node of that id.
func (g *Graph) Node(id string) (changeset.Node, bool) {
	n, ok := g.byID[id]
	if !ok {
		return changeset.Node{}, false
	}
	return n.Node, true
}

// Text returns the bytes of a node's file as they were when the graph was made.
// They are the caller's. The error's code is node_unknown.
func (g *Graph) Text(id string) ([]byte, error) {
	n, err := g.find("text", id)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(n.doc.raw), nil
}

// find returns a node or the error for an unknown one.
func (g *Graph) find(op, id string) (*node, error) {
	if n := g.byID[id]; n != nil {
		return n, nil
	}
	return nil, &Error{Code: CodeNode, Op: op, ID: id}
}

// A Filter selects nodes; an empty field selects all. Values are compared as
// they are written.
type Filter struct {
	// Kind and Status are those of the node.
	Kind, Status string
	// Tag is one of the node's tags.
	Tag string
}

// Filter returns the nodes that a filter selects, by id.
func (g *Graph) Filter(f Filter) []changeset.Node {
	var list []changeset.Node
	for _, n := range g.nodes {
		if (f.Kind == "" || n.Kind == f.Kind) && (f.Status == "" || n.Status == f.Status) && (f.Tag == "" || slices.Contains(n.Tags, f.Tag)) {
			list = append(list, n.Node)
		}
	}
	return list
}

// Backlinks returns the nodes that link to a node or depend on it, by id; a
// node that names itself is one of them. The error's code is node_unknown.
func (g *Graph) Backlinks(id string) ([]changeset.Node, error) {
	n, err := g.find("backlinks", id)
	if err != nil {
		return nil, err
	}
	return export(n.users), nil
}

// Dependencies returns all that a node depends on, directly or not, and never
// the node itself. What others of them need comes before them, and what is left
// to choose in the order of depends_on. Problems name the cycles that were cut
// and the dependencies that are no nodes. The error's code is node_unknown.
func (g *Graph) Dependencies(id string) ([]changeset.Node, []changeset.Problem, error) {
	n, err := g.find("dependencies", id)
	if err != nil {
		return nil, nil, err
	}
	w := walk{state: make(map[*node]bool), g: g}
	w.visit(n)
	return export(w.order[:len(w.order)-1]), w.problems, nil
}

// A walk orders what a node depends on.
type walk struct {
	g        *Graph
	state    map[*node]bool // false while under way, true when done
	order    []*node
	problems []changeset.Problem
}

// visit appends a node after all it depends on.
func (w *walk) visit(n *node) {
	w.state[n] = false
	for _, id := range n.DependsOn {
		d := w.g.byID[id]
		if d == nil {
			p := problem(codeDangling, changeset.SeverityError, n.Path, fmt.Sprintf("it depends on %.160q, which is no node", id))
			p.ID = n.ID
			w.problems = append(w.problems, p)
			continue
		}
		done, met := w.state[d]
		if met && !done {
			p := problem(codeCycle, changeset.SeverityError, n.Path, fmt.Sprintf("it depends on %.160q, which depends on it", id))
			p.ID = n.ID
			w.problems = append(w.problems, p)
		}
		if !met {
			w.visit(d)
		}
	}
	w.state[n] = true
	w.order = append(w.order, n)
}

// An Effect is a node that a change of another one may touch.
type Effect struct {
	// Node is the node.
	Node changeset.Node

	via *step
}

// A step is the end of a chain of nodes.
type step struct {
	id   string
	prev *step
}

// Via returns ids from the changed node to this one, both included: each node
// links to the one before it or depends on it. It is one of the shortest such
// chains.
func (e Effect) Via() []string {
	var ids []string
	for s := e.via; s != nil; s = s.prev {
		ids = append(ids, s.id)
	}
	slices.Reverse(ids)
	return ids
}

// Impact returns the nodes that link to a node or depend on it, directly or
// through others, and never the node itself: nearest first, then by id. The
// error's code is node_unknown.
func (g *Graph) Impact(id string) ([]Effect, error) {
	start, err := g.find("impact", id)
	if err != nil {
		return nil, err
	}
	steps := map[*node]*step{start: {id: id}}
	var list []Effect
	for level := []*node{start}; len(level) > 0; {
		var next []*node
		for _, n := range level {
			for _, u := range n.users {
				if steps[u] == nil {
					steps[u] = &step{id: u.ID, prev: steps[n]}
					next = append(next, u)
				}
			}
		}
		slices.SortFunc(next, func(a, b *node) int { return strings.Compare(a.ID, b.ID) })
		for _, n := range next {
			list = append(list, Effect{Node: n.Node, via: steps[n]})
		}
		level = next
	}
	return list, nil
}

// export returns the public part of nodes.
func export(nodes []*node) []changeset.Node {
	list := make([]changeset.Node, len(nodes))
	for i, n := range nodes {
		list[i] = n.Node
	}
	return list
}
