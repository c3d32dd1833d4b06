package changeset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset/internal/cycle"
)

// A dependency leads from one node to another, both by their ids before.
type dependency struct{ from, to string }

// cycles finds nodes that depend on each other because of the changeset: through
// a dependency that was not there before, or led nowhere. A cycle of which all
// was there before is not its fault.
func (c *checker) cycles() {
	was := c.was()
	before := func(id string) string { return cmp.Or(was[id], id) }
	known := map[dependency]bool{}
	exists := ids(c.base.Nodes)
	for _, n := range c.base.Nodes {
		for _, id := range n.DependsOn {
			known[dependency{n.ID, id}] = exists[id]
		}
	}
	deps := dependencies(c.after)
	for _, group := range cycle.Groups(deps) {
		slices.Sort(group) // and so by id
		if n := slices.IndexFunc(group, func(n int) bool {
			return slices.ContainsFunc(deps[n], func(d int) bool {
				_, within := slices.BinarySearch(group, d)
				return within && !known[dependency{before(c.after[n].ID), before(c.after[d].ID)}]
			})
		}); n >= 0 {
			at := c.after[group[n]]
			c.add(CodeCycle, Operation{ID: at.ID, NewPath: at.Path}, "%s", c.cycle(group))
		}
	}
}

// dependencies returns what each node depends on, by the places in nodes.
func dependencies(nodes []Node) [][]int {
	place := make(map[string]int, len(nodes))
	for i, n := range nodes {
		place[n.ID] = i
	}
	deps := make([][]int, len(nodes))
	for i, n := range nodes {
		for _, id := range n.DependsOn {
			if d, ok := place[id]; ok {
				deps[i] = append(deps[i], d)
			}
		}
	}
	return deps
}

// maxCycle bounds how many nodes of a cycle a problem names.
const maxCycle = 8

// cycle says who depends on each other.
func (c *checker) cycle(group []int) string {
	if len(group) == 1 {
		return "it depends on itself"
	}
	var names []string
	for _, n := range group[:min(len(group), maxCycle)] {
		names = append(names, fmt.Sprintf("%.80q", c.after[n].ID))
	}
	return fmt.Sprintf("%d nodes depend on each other: %s", len(group), strings.Join(names, ", "))
}
