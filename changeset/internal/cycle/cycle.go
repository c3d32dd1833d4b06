// Package cycle finds what depends on itself.
package cycle

// Groups returns the groups of nodes that depend on each other, each by its
// members in no order: whoever is in a group can be reached from everybody in
// it. deps has, for each node, the nodes it depends on. A node that is in no
// cycle is in no group. The time is in proportion to the number of dependencies.
func Groups(deps [][]int) [][]int {
	t := tarjan{deps: deps, index: make([]int, len(deps)), low: make([]int, len(deps)), onStack: make([]bool, len(deps))}
	for n := range deps {
		if t.index[n] == 0 {
			t.visit(n)
		}
	}
	return t.groups
}

// A tarjan finds the strongly connected groups of nodes in one pass, as Tarjan
// described it.
type tarjan struct {
	deps       [][]int
	index, low []int
	onStack    []bool
	stack      []int
	next       int
	groups     [][]int // those that hold a cycle
}

// visit visits a node and what it depends on. It recurs at most once per node.
func (t *tarjan) visit(n int) {
	t.next++
	t.index[n], t.low[n] = t.next, t.next
	t.stack, t.onStack[n] = append(t.stack, n), true
	loop := false
	for _, d := range t.deps[n] {
		loop = loop || d == n
		if t.index[d] == 0 {
			t.visit(d)
			t.low[n] = min(t.low[n], t.low[d])
		} else if t.onStack[d] {
			t.low[n] = min(t.low[n], t.index[d])
		}
	}
	if t.low[n] != t.index[n] {
		return
	}
	var group []int
	for t.onStack[n] {
		last := t.stack[len(t.stack)-1]
		t.stack, t.onStack[last] = t.stack[:len(t.stack)-1], false
		group = append(group, last)
	}
	if len(group) > 1 || loop {
		t.groups = append(t.groups, group)
	}
}
