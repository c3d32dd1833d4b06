package changeset

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

// maxSections bounds the links to sections that are reported for one file.
const maxSections = 100

// sections finds links of the form [[id#section]] whose section is not there
// because of the changeset: in a file that it writes, and in one that it leaves
// alone where the section goes. As in a project itself that is a warning. The
// only error is that of ctx; what cannot be read has no links and any section.
func (c *checker) sections(ctx context.Context) error {
	p := &outlines{checker: c, before: map[string]*outline{}, after: map[string]*outline{}}
	written, lost := map[string]bool{}, map[string]bool{}
	for _, o := range c.Operations {
		if o.NewPath == "" {
			continue // references to it dangle as a whole
		}
		id := o.newIDOf()
		after := p.ofAfter(ctx, id)
		written[id] = true
		for name := range p.ofBefore(ctx, id).names {
			lost[id] = lost[id] || !after.has(name)
		}
	}
	exists, was := ids(c.after), c.was()
	for _, n := range c.after {
		if written[n.ID] || slices.ContainsFunc(n.Links, func(id string) bool { return lost[id] }) {
			c.lostSections(ctx, p, n, cmp.Or(was[n.ID], n.ID), exists)
		}
	}
	return ctx.Err()
}

// lostSections reports the links of one node, which was called was before, to
// sections that are not there, but for those that led nowhere before.
func (c *checker) lostSections(ctx context.Context, p *outlines, n Node, was string, exists map[string]bool) {
	old := map[page.SectionLink]bool{}
	for _, l := range p.ofBefore(ctx, was).links {
		old[l] = true
	}
	found := 0
	for _, l := range p.ofAfter(ctx, n.ID).links {
		if !exists[l.ID] || p.ofAfter(ctx, l.ID).has(l.Section) || old[l] && !p.ofBefore(ctx, l.ID).has(l.Section) {
			continue
		}
		if found++; found > maxSections {
			return
		}
		c.add(CodeSection, Operation{ID: n.ID, NewPath: n.Path}, "it links to the section %.160q of %.160q, which has none of that name", l.Section, l.ID)
		c.problems[len(c.problems)-1].Severity = SeverityWarning
	}
}

// An outline is what links to sections need to know of a page.
type outline struct {
	links []page.SectionLink
	names map[string]bool // of its sections
	any   bool            // one cannot be sure of the sections
}

func outlineOf(p page.Page) *outline {
	o := &outline{links: p.SectionLinks, names: make(map[string]bool, len(p.Sections)), any: p.Ambiguous}
	for _, s := range p.Sections {
		o.names[s.Name] = true
	}
	return o
}

// has reports whether a link to that section, by its name or title, leads
// anywhere.
func (o *outline) has(section string) bool {
	return o.any || o.names[section] || o.names[page.Anchor(section)]
}

// outlines has the outlines of nodes by their ids before and after the
// changeset, each read when it is first asked for.
type outlines struct {
	*checker

	before, after map[string]*outline
}

// ofAfter returns the outline of a node as the changeset leaves it.
func (p *outlines) ofAfter(ctx context.Context, id string) *outline {
	if p.after[id] == nil {
		if i := p.find(id); i >= 0 && p.Operations[i].NewPath != "" && p.Operations[i].newIDOf() == id {
			p.after[id] = outlineOf(page.Parse(p.Operations[i].NewPath, p.files[i].new))
		} else {
			p.after[id] = p.ofBefore(ctx, id)
		}
	}
	return p.after[id]
}

// ofBefore returns the outline of a node of the project, an empty one if there is
// none of that id.
func (p *outlines) ofBefore(ctx context.Context, id string) *outline {
	if p.before[id] != nil {
		return p.before[id]
	}
	o := &outline{}
	if i, ok := slices.BinarySearchFunc(p.base.Nodes, id, func(n Node, id string) int { return cmp.Compare(n.ID, id) }); ok {
		n := p.base.Nodes[i]
		if raw, err := p.store.read(ctx, "validate", n); err == nil {
			o = outlineOf(page.Parse(n.Path, raw))
		} else {
			o.any = true
		}
	}
	p.before[id] = o
	return o
}
