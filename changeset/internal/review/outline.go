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
	Anchor, Path string
	Nodes        int
}

// A nodeView is one node of the outline.
type nodeView struct {
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

// addNodes lists the nodes by folder and path.
func (p *pageView) addNodes(t *template.Template, nodes []Node) error {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int {
		if c := strings.Compare(dir(a.Path), dir(b.Path)); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	p.NodeCount = len(nodes)
	known := make(map[string]int, len(nodes))
	kinds := map[string]int{}
	for i, n := range nodes {
		known[n.ID] = i + 1
		kinds[clip(n.Kind)]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		p.Totals = append(p.Totals, total{kind, kinds[kind]})
	}
	for i := 0; i < len(nodes); {
		path := dir(nodes[i].Path)
		end := i
		for end < len(nodes) && dir(nodes[end].Path) == path {
			end++
		}
		f := folder{fmt.Sprintf("folder-%d", i+1), clip(path), end - i}
		if err := p.addFolder(t, f, nodes[i:end], known); err != nil {
			return err
		}
		i = end
	}
	return nil
}

func (p *pageView) addFolder(t *template.Template, f folder, nodes []Node, known map[string]int) error {
	if _, err := p.Contents.add(t, "folder-entry", f); err != nil {
		return err
	}
	if shown, err := p.Articles.add(t, "folder", f); err != nil || !shown {
		return err
	}
	for _, n := range nodes {
		if _, err := p.Articles.add(t, "node", p.newNode(n, known)); err != nil {
			return err
		}
	}
	return nil
}

func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func (p *pageView) newNode(n Node, known map[string]int) nodeView {
	v := nodeView{Anchor: nodeAnchor(known[n.ID]), Node: Node{
		ID: clip(n.ID), Kind: clip(n.Kind), Title: clip(cmp.Or(n.Title, n.ID)), Status: clip(n.Status), Path: clip(n.Path), Op: clip(n.Op),
	}}
	for _, tag := range n.Tags[:min(len(n.Tags), maxIDs)] {
		v.Tags = append(v.Tags, clip(tag))
	}
	v.Depends, v.DependsMore = p.references(n.DependsOn, known)
	v.Linked, v.LinkedMore = p.references(n.Links, known)
	return v
}

func nodeAnchor(place int) string {
	if place == 0 || place > maxListed {
		return ""
	}
	return fmt.Sprintf("node-%d", place)
}

func (p *pageView) references(ids []string, known map[string]int) (refs []reference, more int) {
	for i, id := range ids {
		place := known[id]
		if place == 0 {
			p.Missing++
		}
		if i < maxIDs {
			refs = append(refs, reference{clip(id), nodeAnchor(place), place == 0})
		}
	}
	return refs, max(len(ids)-maxIDs, 0)
}
