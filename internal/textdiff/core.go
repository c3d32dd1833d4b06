package textdiff

import (
	"bytes"
	"math"
	"slices"
)

// The limits of the search, in steps: one diagonal looked at or one pair of
// equal tokens walked over. They bound time without a clock, so that the same
// texts always give the same edits.
const (
	quickSteps = 1 << 18 // one search before anchors are tried
	fullSteps  = 1 << 23 // one search where anchors do not help
	totalSteps = 1 << 25 // all searches of a call; beyond it each gets lateSteps
	lateSteps  = 1 << 13
)

// A text is its bytes and where its tokens (lines or words) begin; the last
// offset is the length.
type text struct {
	data []byte
	offs []int
}

func (t text) len() int           { return len(t.offs) - 1 }
func (t text) token(i int) []byte { return t.data[t.offs[i]:t.offs[i+1]] }

// A box is a part of the edit graph: tokens a0 to a1 against b0 to b1.
type box struct{ a0, a1, b0, b1 int }

// A differ holds one comparison. a and b are the numbered tokens that occur on
// both sides; what occurs on one side only is changed whatever else is, and is
// left out before the search, which costs no accuracy and much time.
type differ struct {
	a, b       []int32
	toA, toB   []int32 // places of a and b in the whole texts
	gone, come []bool  // tokens of the whole texts that are changed
	ids        int     // numbers in use
	fwd, bwd   []int32 // furthest places of both searches, by diagonal
	posA, posB []int32 // by number: place+1 in the box at hand, or repeated
	steps      int
}

// diff returns the changed runs of tokens, and how many steps it took.
func diff(a, b text) (edits []Edit, steps int) {
	d, head := newDiffer(a, b)
	d.solve(box{0, len(d.a), 0, len(d.b)}, false)
	return d.edits(head), d.steps
}

// newDiffer trims what is equal at both ends, numbers the tokens between and
// keeps those that can match. It also returns how many tokens it trimmed in
// front.
func newDiffer(a, b text) (d *differ, head int) {
	n, m := a.len(), b.len()
	for head < n && head < m && bytes.Equal(a.token(head), b.token(head)) {
		head++
	}
	for n > head && m > head && bytes.Equal(a.token(n-1), b.token(m-1)) {
		n, m = n-1, m-1
	}
	n, m = n-head, m-head
	d = &differ{gone: make([]bool, n), come: make([]bool, m)}
	if n == 0 || m == 0 {
		fill(d.gone)
		fill(d.come)
		return d, head
	}
	in := newInterner(n + m)
	ids := make([]int32, 2*(n+m)) // the numbers, then the places
	idA, idB, toA, toB := ids[:n:n], ids[n:n+m:n+m], ids[n+m:][:n:n], ids[n+m+n:]
	for i := range idA {
		idA[i] = in.number(a.token(head + i))
	}
	known := int32(len(in.tokens))
	shared := make([]bool, known)
	for i := range idB {
		idB[i] = in.number(b.token(head + i))
		if idB[i] < known {
			shared[idB[i]] = true
		}
	}
	keep := func(id int32) bool { return id < known && shared[id] }
	d.ids = int(known)
	d.a, d.toA = filter(idA, toA, d.gone, keep)
	d.b, d.toB = filter(idB, toB, d.come, keep)
	return d, head
}

func fill(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}

// filter moves the numbers to keep to the front of ids and their places to the
// front of to, and marks the others as changed.
func filter(ids, to []int32, changed []bool, keep func(int32) bool) (kept, places []int32) {
	k := 0
	for i, id := range ids {
		if !keep(id) {
			changed[i] = true
			continue
		}
		ids[k], to[k] = id, int32(i)
		k++
	}
	return ids[:k], to[:k]
}

// mark records the tokens of x as changed.
func (d *differ) mark(x box) {
	for _, i := range d.toA[x.a0:x.a1] {
		d.gone[i] = true
	}
	for _, j := range d.toB[x.b0:x.b1] {
		d.come[j] = true
	}
}

// edits reads the marks as runs; head is what was trimmed in front of them.
func (d *differ) edits(head int) []Edit {
	var edits []Edit
	n, m := len(d.gone), len(d.come)
	for i, j := 0, 0; i < n || j < m; i, j = i+1, j+1 {
		e := Edit{head + i, 0, head + j, 0}
		for i < n && d.gone[i] {
			i++
		}
		for j < m && d.come[j] {
			j++
		}
		e.OldEnd, e.NewEnd = head+i, head+j
		if e.OldStart < e.OldEnd || e.NewStart < e.NewEnd {
			edits = append(edits, e)
		}
	}
	return edits
}

// solve marks the changed tokens of x. A quick search for a shortest path comes
// first, since most texts differ little and it is exact; where it would take
// long, tokens that occur once on each side cut the box into smaller ones, and
// where there are too few of those the long search follows. exact says that x
// comes from such a search, whose result anchors could only spoil.
func (d *differ) solve(x box, exact bool) {
	for x.a0 < x.a1 && x.b0 < x.b1 && d.a[x.a0] == d.b[x.b0] {
		x.a0, x.b0 = x.a0+1, x.b0+1
	}
	for x.a0 < x.a1 && x.b0 < x.b1 && d.a[x.a1-1] == d.b[x.b1-1] {
		x.a1, x.b1 = x.a1-1, x.b1-1
	}
	if x.a0 == x.a1 || x.b0 == x.b1 {
		d.mark(x)
		return
	}
	limit := quickSteps
	if exact {
		limit = fullSteps
	}
	i, j, ok := d.search(x, limit)
	if !ok && !exact {
		if d.solveAnchored(x) {
			return
		}
		exact = true
		i, j, _ = d.search(x, fullSteps)
	}
	d.solve(box{x.a0, i, x.b0, j}, exact)
	d.solve(box{i, x.a1, j, x.b1}, exact)
}

// solveAnchored solves the boxes between the anchors of x. It reports false,
// having marked nothing, where anchors are too few to be trusted or the steps
// of the call are used up.
func (d *differ) solveAnchored(x box) bool {
	if d.steps > totalSteps {
		return false
	}
	anchors := d.anchors(x)
	if len(anchors) == 0 || len(anchors) < min(x.a1-x.a0, x.b1-x.b0)/8 {
		return false
	}
	for _, at := range anchors {
		d.solve(box{x.a0, at.i, x.b0, at.j}, false)
		x.a0, x.b0 = at.i+1, at.j+1
	}
	d.solve(x, false)
	return true
}

// A pair is a token of a and the equal token of b.
type pair struct{ i, j int }

// repeated is the mark of a number that occurs more than once in a box.
const repeated = math.MaxInt32

// anchors returns the longest row of tokens, ascending on both sides, that
// occur exactly once on each side of x: the patience rule.
func (d *differ) anchors(x box) []pair {
	if d.posA == nil {
		pos := make([]int32, 2*d.ids)
		d.posA, d.posB = pos[:d.ids], pos[d.ids:]
	}
	clear(d.posA)
	clear(d.posB)
	d.steps += d.ids + x.a1 - x.a0 + x.b1 - x.b0
	note(d.posA, d.a, x.a0, x.a1)
	note(d.posB, d.b, x.b0, x.b1)
	var pairs []pair
	for i := x.a0; i < x.a1; i++ {
		if id := d.a[i]; d.posA[id] != repeated && d.posB[id] != 0 && d.posB[id] != repeated {
			pairs = append(pairs, pair{i, int(d.posB[id]) - 1})
		}
	}
	return ascending(pairs)
}

// note writes where each number of ids[lo:hi] occurs.
func note(pos, ids []int32, lo, hi int) {
	for i := lo; i < hi; i++ {
		if p := &pos[ids[i]]; *p == 0 {
			*p = int32(i + 1)
		} else {
			*p = repeated
		}
	}
}

// ascending returns a longest subsequence of pairs, ascending in i as they
// come, that ascends in j too.
func ascending(pairs []pair) []pair {
	tops := make([]int, 0, len(pairs)) // the last pair of the best row of each length
	before := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(tops, p.j, func(t, j int) int { return pairs[t].j - j })
		before[k] = -1
		if at > 0 {
			before[k] = tops[at-1]
		}
		if at == len(tops) {
			tops = append(tops, k)
		} else {
			tops[at] = k
		}
	}
	if len(tops) == 0 {
		return nil
	}
	row := make([]pair, len(tops))
	for n, k := len(tops)-1, tops[len(tops)-1]; k >= 0; n, k = n-1, before[k] {
		row[n] = pairs[k]
	}
	return row
}
