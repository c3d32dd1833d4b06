package textdiff

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// An interner numbers tokens in the order they are first seen. Its hash is
// seeded at random against prepared collisions; the numbers do not depend on it.
type interner struct {
	seed   maphash.Seed
	tokens [][]byte // by number
	slots  []slot   // open addressing, at most half full
}

type slot struct {
	hash uint32
	id   int32 // number + 1; 0 is an empty slot
}

// newInterner returns an interner for at most n tokens.
func newInterner(n int) *interner {
	return &interner{
		seed:   maphash.MakeSeed(),
		tokens: make([][]byte, 0, n),
		slots:  make([]slot, 1<<bits.Len(uint(2*n))),
	}
}

func (in *interner) number(token []byte) int32 {
	h := maphash.Bytes(in.seed, token)
	mask := len(in.slots) - 1
	for i := int(h>>32) & mask; ; i = (i + 1) & mask {
		s := &in.slots[i]
		if s.id == 0 {
			in.tokens = append(in.tokens, token)
			*s = slot{uint32(h), int32(len(in.tokens))}
			return s.id - 1
		}
		if s.hash == uint32(h) && bytes.Equal(in.tokens[s.id-1], token) {
			return s.id - 1
		}
	}
}
