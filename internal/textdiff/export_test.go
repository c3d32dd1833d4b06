package textdiff

// LinesSteps is Lines, and says how many steps the search took.
func LinesSteps(before, after []byte) (edits []Edit, steps int) {
	return lineEdits(lines(before), lines(after))
}
