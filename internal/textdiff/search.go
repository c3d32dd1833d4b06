package textdiff

import "math"

// A front is one direction of a search: the diagonals (place in a less place
// in b) it has reached, every second of them live in a round.
type front struct {
	at     []int32 // by diagonal less base: the furthest place in a
	lo, hi int     // diagonals reached
}

// search returns a point of x that cuts it in two smaller boxes. ok means that
// a shortest path leads through it (the linear-space method of Myers, from both
// corners at once). Without ok the search had used its steps; the point is then
// the furthest that it came.
func (d *differ) search(x box, limit int) (i, j int, ok bool) {
	if d.steps > totalSteps {
		limit = lateSteps
	}
	if d.fwd == nil {
		size := len(d.a) + len(d.b) + 3
		both := make([]int32, 2*size)
		d.fwd, d.bwd = both[:size], both[size:]
	}
	base := len(d.b) + 1 // makes every diagonal of the whole graph an index above 0
	lo, hi := x.a0-x.b1+base, x.a1-x.b0+base
	f := front{d.fwd, x.a0 - x.b0 + base, x.a0 - x.b0 + base}
	b := front{d.bwd, x.a1 - x.b1 + base, x.a1 - x.b1 + base}
	odd := (f.lo-b.lo)%2 != 0
	f.at[f.lo], b.at[b.lo] = int32(x.a0), int32(x.a1)
	for end := d.steps + limit; ; {
		f.widen(lo, hi, -1)
		if k := d.forward(x, &f, &b, base, odd); k >= 0 {
			return int(f.at[k]), int(f.at[k]) - k + base, true
		}
		b.widen(lo, hi, math.MaxInt32)
		if k := d.backward(x, &f, &b, base, odd); k >= 0 {
			return int(b.at[k]), int(b.at[k]) - k + base, true
		}
		if d.steps > end {
			i, j = furthest(x, &f, base)
			return i, j, false
		}
	}
}

// widen adds a diagonal at either end, or leaves one out at the border of the
// box, where nothing can be reached any more. beyond stands for a diagonal that
// has no place yet.
func (f *front) widen(lo, hi int, beyond int32) {
	if f.lo > lo {
		f.lo--
		f.at[f.lo-1] = beyond
	} else {
		f.lo++
	}
	if f.hi < hi {
		f.hi++
		f.at[f.hi+1] = beyond
	} else {
		f.hi--
	}
}

// forward takes one more edit from the upper left corner on every live
// diagonal, and returns the diagonal on which it met the other front, or -1.
func (d *differ) forward(x box, f, b *front, base int, odd bool) int {
	a, bb, at := d.a[:x.a1], d.b[:x.b1], f.at
	for k := f.hi; k >= f.lo; k -= 2 {
		i := int(at[k+1])
		if below := int(at[k-1]); below >= i {
			i = below + 1
		}
		j := i - k + base
		d.steps++
		from := i
		for i < len(a) && j < len(bb) && a[i] == bb[j] {
			i, j = i+1, j+1
		}
		d.steps += i - from
		at[k] = int32(i)
		if odd && b.lo <= k && k <= b.hi && int(b.at[k]) <= i {
			return k
		}
	}
	return -1
}

// backward is forward from the lower right corner.
func (d *differ) backward(x box, f, b *front, base int, odd bool) int {
	a, bb, at := d.a, d.b, b.at
	for k := b.hi; k >= b.lo; k -= 2 {
		i := int(at[k-1])
		if above := int(at[k+1]); above <= i {
			i = above - 1
		}
		j := i - k + base
		d.steps++
		from := i
		for i > x.a0 && j > x.b0 && a[i-1] == bb[j-1] {
			i, j = i-1, j-1
		}
		d.steps += from - i
		at[k] = int32(i)
		if !odd && f.lo <= k && k <= f.hi && i <= int(f.at[k]) {
			return k
		}
	}
	return -1
}

// furthest returns the point inside x that is furthest from its upper left
// corner, of those that the forward search reached.
func furthest(x box, f *front, base int) (i, j int) {
	best := -1
	for k := f.lo; k <= f.hi; k += 2 {
		p := min(int(f.at[k]), x.a1)
		q := p - k + base
		if q > x.b1 {
			p, q = x.b1+k-base, x.b1
		}
		if far := p + q; p >= x.a0 && far > best {
			best, i, j = far, p, q
		}
	}
	return i, j
}
