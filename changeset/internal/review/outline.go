package review

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// A folder is a heading of the outline, and its line in the contents.
type folder struct {
	Anchor, Path string // without Anchor, it is not on the page
	Nodes        int
}

// A nodeView is one node of the outline. The first of a folder brings the heading
// of the folder along.
type nodeView struct {
	Folder *folder
	Anchor string
	Node
	Depends, Linked         []reference
	DependsMore, LinkedMore int
}

// A reference names another node; Anchor is empty where that is not on the page.
type reference struct {
	ID, Anchor string
	Missing    bool
}

// An outline is the nodes by folder and path.
type outline struct {
	nodes   []Node
	folders map[int]*folder // by the place of their first node
	known   map[string]int  // places by id, from 1
	shown   int             // how many nodes are on the page
}

func newOutline(nodes []Node) *outline {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int {
		return cmp.Or(strings.Compare(dir(a.Path), dir(b.Path)), strings.Compare(a.Path, b.Path))
	})
	o := &outline{nodes, map[int]*folder{}, make(map[string]int, len(nodes)), min(len(nodes), maxListed)}
	var last *folder
	for i, n := range nodes {
		o.known[n.ID] = i + 1
		if i == 0 || dir(n.Path) != dir(nodes[i-1].Path) {
			last = &folder{Anchor: fmt.Sprintf("folder-%d", i+1), Path: clip(dir(n.Path))}
			o.folders[i] = last
		}
		last.Nodes++
	}
	return o
}

// addNodes lists the nodes. If not all fit, it does so again with those that
// do, so that none leads to one that is not on the page.
func (p *pageView) addNodes(t *template.Template, nodes []Node) error {
	o := newOutline(nodes)
	p.NodeCount = len(nodes)
	p.Totals = kindTotals(nodes)
	for _, n := range nodes {
		p.Missing += o.missing(n.DependsOn) + o.missing(n.Links)
	}
	for {
		p.Articles = list{left: maxArticles, Cut: len(nodes) - o.shown}
		fit, err := p.addArticles(t, o)
		if err != nil {
			return err
		}
		if fit == o.shown {
			break
		}
		o.shown = fit
	}
	for i := range o.nodes {
		if f := o.folders[i]; f != nil {
			if i >= o.shown {
				f.Anchor = ""
			}
			if _, err := p.Contents.add(t, "folder-entry", f); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindTotals counts the nodes by kind, of which there may be any number.
func kindTotals(nodes []Node) []total {
	kinds := map[string]int{}
	for _, n := range nodes {
		kinds[clip(n.Kind)]++
	}
	var out []total
	others := len(nodes)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if len(out) == maxIDs {
			return append(out, total{"of other kinds", others})
		}
		out = append(out, total{kind, kinds[kind]})
		others -= kinds[kind]
	}
	return out
}

// addArticles returns how many nodes fit.
func (p *pageView) addArticles(t *template.Template, o *outline) (fit int, err error) {
	for i, n := range o.nodes[:o.shown] {
		v := o.view(n)
		v.Folder, v.Anchor = o.folders[i], fmt.Sprintf("node-%d", i+1)
		if ok, err := p.Articles.add(t, "node", v); err != nil || !ok {
			return i, err
		}
	}
	return o.shown, nil
}

func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func (o *outline) view(n Node) nodeView {
	v := nodeView{Node: Node{
		ID: clip(n.ID), Kind: clip(n.Kind), Title: clip(cmp.Or(n.Title, n.ID)), Status: clip(n.Status), Path: clip(n.Path), Op: clip(n.Op),
	}}
	for _, tag := range n.Tags[:min(len(n.Tags), maxIDs)] {
		v.Tags = append(v.Tags, clip(tag))
	}
	v.Depends, v.DependsMore = o.references(n.DependsOn)
	v.Linked, v.LinkedMore = o.references(n.Links)
	return v
}

func (o *outline) missing(ids []string) int {
	n := 0
	for _, id := range ids {
		if o.known[id] == 0 {
			n++
		}
	}
	return n
}

func (o *outline) references(ids []string) (refs []reference, more int) {
	for _, id := range ids[:min(len(ids), maxIDs)] {
		r := reference{ID: clip(id)}
		place := o.known[id]
		if place == 0 {
			r.Missing = true
		} else if place <= o.shown {
			r.Anchor = fmt.Sprintf("node-%d", place)
		}
		refs = append(refs, r)
	}
	return refs, max(len(ids)-maxIDs, 0)
}
