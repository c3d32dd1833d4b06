package docgraph

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// Body returns what follows the front matter of a node's file, as it was when
// the graph was made. The bytes are the caller's. The error's code is
// node_unknown.
func (g *Graph) Body(id string) ([]byte, error) {
	n, err := g.find("body", id)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(n.doc.page.Body), nil
}

// A Mirror makes graphs of a [changeset.Source] that is no [Project], such as
// documents in a database. Ids, titles and references are those of the source's
// nodes; sections and words come from the texts. It is safe for concurrent use.
type Mirror struct {
	source changeset.Source
	opts   Options
	turn   chan struct{} // taken while a graph is made
	graph  *Graph        // nil before the first
}

// NewMirror returns a mirror of src. Of opts it uses the limits. The error's code
// is docgraph_options_invalid.
func NewMirror(src changeset.Source, opts *Options) (*Mirror, error) {
	o, err := opts.complete()
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, optionError("a source is required")
	}
	m := &Mirror{source: src, opts: o, turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m, nil
}

// Graph returns the source as it is now. While the revision of the source stays
// the same, so does the graph; texts are read again only where a node's hash
// changed.
//
// The error is that of the source, or its code is snapshot_changed if a text is
// not the one that its node has the hash of, too_many or too_large.
func (m *Mirror) Graph(ctx context.Context) (*Graph, error) {
	select {
	case <-m.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { m.turn <- struct{}{} }()
	snapshot, err := m.source.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if m.graph != nil && m.graph.snapshot.Revision == snapshot.Revision && m.graph.snapshot.Project == snapshot.Project {
		return m.graph, nil
	}
	g, err := m.build(ctx, snapshot)
	if err == nil {
		m.graph = g
	}
	return g, err
}

// build makes the graph of a snapshot.
func (m *Mirror) build(ctx context.Context, s *changeset.Snapshot) (*Graph, error) {
	if len(s.Nodes) > m.opts.MaxFiles {
		return nil, tooMany("load", "documents", m.opts.MaxFiles)
	}
	g := &Graph{byID: make(map[string]*node, len(s.Nodes))}
	builder := newTermBuilder()
	var total int64
	for _, n := range s.Nodes {
		if g.byID[n.ID] != nil {
			return nil, &Error{Code: CodeDocs, Op: "load", ID: n.ID, Detail: "the source has two nodes of that id"}
		}
		d, err := m.doc(ctx, n, builder)
		if err != nil {
			return nil, err
		}
		if total += int64(len(d.raw)); total > m.opts.MaxBytes {
			return nil, &Error{Code: CodeTooLarge, Op: "load", Detail: fmt.Sprintf("the documents have more than %d bytes together", m.opts.MaxBytes)}
		}
		g.add(d)
	}
	g.connect()
	g.snapshot = *s
	g.snapshot.Nodes = make([]changeset.Node, len(g.nodes))
	for i, n := range g.nodes {
		g.snapshot.Nodes[i] = n.Node
	}
	g.snapshot.Problems = sortProblems(union(s.Problems, g.check()))
	return g, nil
}

// union returns the problems of both lists, those that the source found too only
// once.
func union(a, b []changeset.Problem) []changeset.Problem {
	all := append([]changeset.Problem{}, a...)
	seen := make(map[changeset.Problem]bool, len(a))
	for _, p := range a {
		seen[p] = true
	}
	for _, p := range b {
		if !seen[p] {
			all = append(all, p)
		}
	}
	return all
}

// doc returns the document of a node, that of the graph before if it still is the
// same.
func (m *Mirror) doc(ctx context.Context, n changeset.Node, builder *termBuilder) (*doc, error) {
	if m.graph != nil {
		if old := m.graph.byID[n.ID]; old != nil && old.Hash == n.Hash && old.Path == n.Path && sameFields(old.Node, n) {
			return old.doc, nil
		}
	}
	raw, err := m.source.Read(ctx, n.Path)
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > m.opts.MaxFileBytes {
		return nil, &Error{Code: CodeTooLarge, Op: "load", ID: n.ID, Path: n.Path, Detail: fmt.Sprintf("%d bytes, the limit is %d", len(raw), m.opts.MaxFileBytes)}
	}
	hash := canon.Sum(raw)
	if hash != n.Hash {
		return nil, &Error{Code: CodeChanged, Op: "load", ID: n.ID, Path: n.Path, Detail: "the text is not the one that the snapshot has the hash of; try again"}
	}
	links := make(map[string]bool, len(n.Links))
	for _, id := range n.Links {
		links[id] = true
	}
	p := page.Parse(n.Path, raw)
	p.ID, p.Kind, p.Title, p.Status, p.DependsOn, p.Tags, p.Links = n.ID, n.Kind, n.Title, n.Status, n.DependsOn, n.Tags, n.Links
	p.SectionLinks = slices.DeleteFunc(p.SectionLinks, func(l page.SectionLink) bool { return !links[l.ID] })
	d := &doc{path: n.Path, hash: hash, raw: raw, page: p, id: plain(n.ID), title: plain(n.Title)}
	d.terms = builder.terms(d)
	return d, nil
}

// sameFields reports whether two nodes of one file say the same.
func sameFields(a, b changeset.Node) bool {
	return a.Kind == b.Kind && a.Title == b.Title && a.Status == b.Status &&
		slices.Equal(a.DependsOn, b.DependsOn) && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Links, b.Links)
}
