// Package textdiff compares texts by lines and by words, and writes and applies
// unified diffs, those of git too.
//
//	patch := textdiff.Unified("a/plan.md", "b/plan.md", old, new, 3)
//	back, err := textdiff.Apply(old, patch) // back equals new, byte for byte
//
// # Lines
//
// A line ends with "\n" and with nothing else: "\r\n" is a line whose last byte
// but one is "\r", and a lone "\r", NUL, U+2028 or an invalid byte is content.
// The last line may lack its end. Texts are bytes and are never decoded, except
// by [Words], which cuts between characters only.
//
// # Quality and limits
//
// The edits are the fewest possible wherever the search for them is cheap, which
// includes all texts that share few lines and all that differ in a few hundred
// lines. Beyond, lines that occur once on each side are held fixed, and where
// there are none the search gives up after a fixed number of steps. Steps are
// counted, time is not: the same texts give the same edits on every machine.
// Memory grows with the number of lines; a caller bounds its texts, which may
// have at most 2^30 lines together.
//
// # Concurrency and errors
//
// All functions are pure and safe for concurrent use. Results share no memory
// with their arguments, except those of [Split]. Only [Apply] fails.
package textdiff

import "bytes"

// An Edit replaces lines OldStart to OldEnd of the old text with lines NewStart
// to NewEnd of the new one. Lines count from 0 and the ends are exclusive. One
// of the ranges may be empty, never both.
type Edit struct{ OldStart, OldEnd, NewStart, NewEnd int }

// A Span is bytes Start to End, exclusive, of a line.
type Span struct{ Start, End int }

// Lines returns the edits that turn before into after, in order and never adjacent.
// Equal texts give nil. An edit that could stand in several places, since what it
// adds or removes repeats, stands where it begins a paragraph if it can, and else
// as late as it can.
func Lines(before, after []byte) []Edit {
	edits, _ := lineEdits(lines(before), lines(after))
	return edits
}

func lineEdits(a, b text) (edits []Edit, steps int) {
	edits, steps = diff(a, b)
	for i := range edits {
		slide(a, b, edits, i)
	}
	return edits, steps
}

// Split returns the lines of text with their ends, sharing its memory. The edits
// of [Lines] are indexes into it.
func Split(text []byte) [][]byte {
	t := lines(text)
	out := make([][]byte, t.len())
	for i := range out {
		out[i] = t.token(i)
	}
	return out
}

func lines(data []byte) text {
	offs := make([]int, 1, bytes.Count(data, []byte{'\n'})+2)
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			n = len(data) - at - 1
		}
		at += n + 1
		offs = append(offs, at)
	}
	return text{data, offs}
}

// Stat returns how many lines edits add and remove.
func Stat(edits []Edit) (added, removed int) {
	for _, e := range edits {
		added += e.NewEnd - e.NewStart
		removed += e.OldEnd - e.OldStart
	}
	return added, removed
}

// Group cuts edits into the hunks of a unified diff: edits with at most twice
// context equal lines between them stand together. The groups share the memory
// of edits.
func Group(edits []Edit, context int) [][]Edit {
	var groups [][]Edit
	from := 0
	for i := range edits {
		if i+1 == len(edits) || edits[i+1].OldStart-edits[i].OldEnd > 2*context {
			groups = append(groups, edits[from:i+1])
			from = i + 1
		}
	}
	return groups
}

// slide moves edit i, if it only adds or only removes, along the lines it
// repeats. It never touches its neighbours.
func slide(a, b text, edits []Edit, i int) {
	e := &edits[i]
	if e.OldStart < e.OldEnd && e.NewStart < e.NewEnd {
		return
	}
	t, start, end := a, e.OldStart, e.OldEnd
	if start == end {
		t, start, end = b, e.NewStart, e.NewEnd
	}
	lo, hi := 0, t.len()
	if i > 0 {
		lo = start - (e.OldStart - edits[i-1].OldEnd) + 1
	}
	if i+1 < len(edits) {
		hi = end + (edits[i+1].OldStart - e.OldEnd) - 1
	}
	up, down := repeats(t, start, end, lo, hi)
	by := bestSlide(t, start, end, up, down)
	*e = Edit{e.OldStart + by, e.OldEnd + by, e.NewStart + by, e.NewEnd + by}
}

// repeats counts how many lines the run of lines from start to end can slide up
// and down within lo and hi, and still be the same text.
func repeats(t text, start, end, lo, hi int) (up, down int) {
	for start-up > lo && bytes.Equal(t.token(start-up-1), t.token(end-up-1)) {
		up++
	}
	for end+down < hi && bytes.Equal(t.token(start+down), t.token(end+down)) {
		down++
	}
	return up, down
}

// bestSlide returns the lowest place at which the run begins a paragraph, or the
// lowest there is.
func bestSlide(t text, start, end, up, down int) int {
	for s := down; s >= -up; s-- {
		first, last := t.token(start+s), t.token(end+s-1)
		if !blank(first) && (start+s == 0 && blank(last) || start+s > 0 && blank(t.token(start+s-1))) {
			return s
		}
	}
	return down
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
