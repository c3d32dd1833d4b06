package review

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// Limits of the diff of one change.
const (
	contextLines = 3
	maxGapRows   = 100       // unchanged lines to unfold before or after a hunk
	minMove      = 30        // bytes of a block that moved and not by chance is there twice
	maxRows      = 3_000     // lines of one diff
	maxDiffBytes = 256 << 10 // text of one diff
	markBytes    = 40        // what the elements around a marked or escaped piece count as text
	maxWordLine  = 32 << 10  // a pair of lines to look for changed words in
	maxWordBytes = 256 << 10 // all such pairs of one diff
)

// A row is a line of a diff.
type row struct {
	Op       string // "same", "del" or "ins"
	Old, New int    // line numbers, 0 where there is none
	Segs     []seg
	NoEnd    bool // the line ends the file and has no line end
}

// Sign is the sign of a unified diff.
func (r row) Sign() string {
	switch r.Op {
	case "del":
		return "-"
	case "ins":
		return "+"
	}
	return ""
}

// A pair is two lines side by side; nil leaves the side empty.
type pair struct{ Left, Right *row }

// A gap is unchanged lines between hunks, folded.
type gap struct {
	Count, Hidden int // all of them, and those left out of Rows
	Rows          []row
}

// A hunk is changed lines with some unchanged ones around.
type hunk struct {
	Before  gap
	Heading string
	Section string   // the heading of the document it stands under
	Moves   []string // which of its lines stand elsewhere in the other text
	Rows    []row
	Pairs   []pair
}

// A comparison is the diff of one change in both forms.
type comparison struct {
	Added, Removed int
	Hunks          []hunk
	After          gap
	NotShown       int  // changed lines beyond the limits
	CRLF           bool // all lines of both sides end with CR LF, which is not shown
}

// A comparer makes a comparison of lines a and b.
type comparer struct {
	a, b               [][]byte
	crlf               bool
	rows, bytes, words int // what is left of the limits
}

func compare(before, after []byte) comparison {
	edits := textdiff.Lines(before, after)
	c := comparer{a: textdiff.Split(before), b: textdiff.Split(after), rows: maxRows, bytes: maxDiffBytes, words: maxWordBytes}
	c.crlf = allCRLF(c.a) && allCRLF(c.b)
	out := comparison{CRLF: c.crlf && len(edits) > 0}
	out.Added, out.Removed = textdiff.Stat(edits)
	old, now := headings(before), headings(after)
	moves := c.moves(edits)
	end := 0 // of the hunk before, in a
	for _, group := range textdiff.Group(edits, contextLines) {
		if c.rows <= 0 || c.bytes <= 0 {
			added, removed := textdiff.Stat(group)
			out.NotShown += added + removed
			continue
		}
		h := c.hunk(group, &out)
		first, last := group[0], group[len(group)-1]
		from := max(first.OldStart-contextLines, 0)
		h.Before = c.gap(end, from, first.NewStart-first.OldStart, true)
		h.Section = under(now, first.NewStart)
		if first.NewStart == first.NewEnd {
			h.Section = under(old, first.OldStart)
		}
		for _, e := range group {
			for _, note := range moves[e] {
				if !slices.Contains(h.Moves, note) { // both ends may be in this hunk
					h.Moves = append(h.Moves, note)
				}
			}
		}
		end = min(last.OldEnd+contextLines, len(c.a))
		out.Hunks = append(out.Hunks, h)
	}
	if n := len(edits); n > 0 && out.NotShown == 0 {
		out.After = c.gap(end, len(c.a), edits[n-1].NewEnd-edits[n-1].OldEnd, false)
	}
	return out
}

// moves finds the edits whose old lines are the new lines of another, and says so
// for both. Blank lines around are not compared: it is chance on which side of a
// block they count as changed.
func (c *comparer) moves(edits []textdiff.Edit) map[textdiff.Edit][]string {
	gone := map[string]textdiff.Edit{}
	for _, e := range edits {
		if text := block(c.a[e.OldStart:e.OldEnd]); len(text) >= minMove {
			gone[text] = e
		}
	}
	out := map[textdiff.Edit][]string{}
	for _, to := range edits {
		text := block(c.b[to.NewStart:to.NewEnd])
		from, ok := gone[text]
		if !ok || from == to {
			continue
		}
		delete(gone, text) // a copy is no second move
		note := fmt.Sprintf("Moved: old %s, new %s.", lineRange(from.OldStart, from.OldEnd), lineRange(to.NewStart, to.NewEnd))
		out[from], out[to] = append(out[from], note), append(out[to], note)
	}
	return out
}

func block(lines [][]byte) string { return string(bytes.TrimSpace(bytes.Join(lines, nil))) }

func allCRLF(lines [][]byte) bool {
	for _, line := range lines {
		if !bytes.HasSuffix(line, []byte("\r\n")) {
			return false
		}
	}
	return len(lines) > 0
}

// A heading is a section of a document: its title, and its first line, from 0.
type heading struct {
	line  int
	title string
}

func headings(raw []byte) []heading {
	var out []heading
	line, at := 0, 0
	for _, s := range page.Parse("", raw).Sections {
		line += bytes.Count(raw[at:s.Start], []byte("\n"))
		at = s.Start
		out = append(out, heading{line, s.Title})
	}
	return out
}

// under returns the title of the section that line stands in.
func under(sections []heading, line int) string {
	n := sort.Search(len(sections), func(i int) bool { return sections[i].line > line })
	if n == 0 {
		return ""
	}
	return visible(sections[n-1].title, "")
}

// hunk builds one hunk; what the limits leave out is counted in out.
func (c *comparer) hunk(group []textdiff.Edit, out *comparison) hunk {
	var h hunk
	first, last := group[0], group[len(group)-1]
	from := max(first.OldStart-contextLines, 0)
	to := min(last.OldEnd+contextLines, len(c.a))
	h.Heading = place(from, to, from+first.NewStart-first.OldStart, to+last.NewEnd-last.OldEnd)
	at, shift := from, first.NewStart-first.OldStart
	for _, e := range group {
		c.same(&h, at, e.OldStart, shift)
		shown := c.edit(&h, e)
		out.NotShown += e.OldEnd - e.OldStart + e.NewEnd - e.NewStart - shown
		at, shift = e.OldEnd, e.NewEnd-e.OldEnd
	}
	c.same(&h, at, to, shift)
	return h
}

// place names the lines of a hunk, before and after.
func place(oldFrom, oldTo, newFrom, newTo int) string {
	switch {
	case oldFrom == oldTo:
		return "New " + lineRange(newFrom, newTo)
	case newFrom == newTo:
		return "Old " + lineRange(oldFrom, oldTo)
	case oldFrom == newFrom && oldTo == newTo:
		return "Old and new " + lineRange(oldFrom, oldTo)
	}
	return "Old " + lineRange(oldFrom, oldTo) + ", new " + lineRange(newFrom, newTo)
}

func lineRange(from, to int) string {
	if to == from+1 {
		return fmt.Sprintf("line %d", to)
	}
	return fmt.Sprintf("lines %d to %d", from+1, to)
}

// same adds unchanged lines to a hunk.
func (c *comparer) same(h *hunk, from, to, shift int) {
	for i := from; i < to; i++ {
		r := c.row("same", i+1, i+1+shift, c.a[i], nil)
		h.Rows = append(h.Rows, r)
		h.Pairs = append(h.Pairs, pair{&r, &r})
	}
}

// edit adds changed lines to a hunk: in the unified form what goes before what
// comes, side by side with similar lines beside each other. It returns how many
// lines it added.
func (c *comparer) edit(h *hunk, e textdiff.Edit) (shown int) {
	n := min(e.OldEnd-e.OldStart, max(c.rows, 0))
	m := min(e.NewEnd-e.NewStart, max(c.rows-n, 0))
	a, b := c.a[e.OldStart:e.OldStart+n], c.b[e.NewStart:e.NewStart+m]
	left, right := make([]row, n), make([]row, m)
	matches := match(a, b)
	marksA, marksB := make([][]textdiff.Span, n), make([][]textdiff.Span, m)
	for _, at := range matches {
		if size := len(a[at.i]) + len(b[at.j]); size <= min(maxWordLine, c.words) {
			c.words -= size
			marksA[at.i], marksB[at.j] = textdiff.Words(string(a[at.i]), string(b[at.j]))
		}
	}
	for i := range left {
		if c.bytes <= 0 {
			left, right = left[:i], nil
			break
		}
		left[i] = c.row("del", e.OldStart+i+1, 0, a[i], marksA[i])
	}
	for j := range right {
		if c.bytes <= 0 {
			right = right[:j]
			break
		}
		right[j] = c.row("ins", 0, e.NewStart+j+1, b[j], marksB[j])
	}
	h.Rows = append(append(h.Rows, left...), right...)
	h.Pairs = beside(h.Pairs, left, right, matches)
	return len(left) + len(right)
}

// beside puts left and right side by side: matched lines in one pair, and those
// between matches in order.
func beside(pairs []pair, left, right []row, matches []lineMatch) []pair {
	i, j := 0, 0
	fill := func(toI, toJ int) {
		for i < toI || j < toJ {
			var p pair
			if i < toI {
				p.Left = &left[i]
				i++
			}
			if j < toJ {
				p.Right = &right[j]
				j++
			}
			pairs = append(pairs, p)
		}
	}
	for _, at := range matches {
		if at.i >= len(left) || at.j >= len(right) {
			break
		}
		fill(at.i, at.j)
		fill(at.i+1, at.j+1)
	}
	fill(len(left), len(right))
	return pairs
}

// gap returns the unchanged lines a[from:to], folded: the last of them
// before a hunk, else the first.
func (c *comparer) gap(from, to, shift int, before bool) gap {
	g := gap{Count: max(to-from, 0)}
	if g.Count == 0 {
		return g
	}
	g.Hidden = max(g.Count-maxGapRows, 0)
	if before {
		from += g.Hidden
	} else {
		to -= g.Hidden
	}
	for i := from; i < to; i++ {
		if c.rows <= 0 || c.bytes <= 0 {
			g.Hidden += to - i
			break
		}
		g.Rows = append(g.Rows, c.row("same", i+1, i+1+shift, c.a[i], nil))
	}
	return g
}

func (c *comparer) row(op string, before, after int, line []byte, marks []textdiff.Span) row {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	if c.crlf {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	for n := len(marks); n > 0 && marks[n-1].End > len(text); n-- {
		marks[n-1].End = len(text)
		if marks[n-1].Start >= len(text) {
			marks = marks[:n-1]
		}
	}
	segs := segments(string(text), marks)
	c.rows--
	for _, s := range segs {
		c.bytes -= len(s.Text)
		if s.Mark || s.Escape {
			c.bytes -= markBytes
		}
	}
	return row{Op: op, Old: before, New: after, Segs: segs, NoEnd: !ended}
}
