package textdiff

// Steps returns how many steps the search for the edits took.
func Steps(old, after []byte) int {
	d, _ := newDiffer(lines(old), lines(after))
	d.solve(box{0, len(d.a), 0, len(d.b)}, false)
	return d.steps
}
