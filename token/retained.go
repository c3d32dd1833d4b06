package token

import (
	"maps"
	"sync"
	"time"
)

// Limits of a Retained.
const (
	maxSections     = 4096
	maxSectionName  = 1024
	maxAllSections  = 64 << 10
	maxScope        = 1024
	retainedKind    = "context"
	retainedMax     = 1024
	retainedInScope = 64
)

// A Retained hands out context tokens: a server that has delivered text gives
// one with it, and a client that sends it back asserts that it still has all
// of that text, so that the server need not deliver it again. Nothing is
// protected by it but bytes on the wire.
//
// Tokens live in this process only and are bounded: 30 minutes, 1,024 tokens,
// 64 in one scope, 65,536 sections in all; the oldest go first, those of the
// same scope before others. After a restart the client reads again.
//
// The zero Retained is ready for use and must not be copied after that. It is
// safe for concurrent use.
type Retained struct {
	// TTL is how long a token is known, 30 minutes if it is not positive. It
	// must not change after the first use.
	TTL time.Duration
	// Now is the clock, time.Now if it is nil. It must not change after the
	// first use.
	Now func() time.Time

	mu       sync.Mutex
	clock    *clock
	entries  []*retained // oldest first
	byHash   map[string]*retained
	inScope  map[string]int
	sections int
}

// retained is what one token stands for.
type retained struct {
	hash, scope string
	sections    map[string]string
	expires     time.Time
}

// Put makes a token for sections that were delivered: their names, each of at
// most 1,024 bytes, and digests of their content, of at most 128; at most
// 4,096. scope, 1 to 1,024 bytes, names who got them: the principal, project
// and session. The error's code is too_large.
func (r *Retained) Put(scope string, sections map[string]string) (Token, error) {
	if len(scope) == 0 || len(scope) > maxScope {
		return Token{}, tooLarge("retain", "the scope has %d bytes, allowed are 1 to %d", len(scope), maxScope)
	}
	if len(sections) > maxSections {
		return Token{}, tooLarge("retain", "there are %d sections, the limit is %d", len(sections), maxSections)
	}
	for name, digest := range sections {
		if len(name) > maxSectionName || len(digest) > maxDigest {
			return Token{}, tooLarge("retain", "a section's name may have %d bytes, its digest %d", maxSectionName, maxDigest)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.tick()
	tok := newToken(retainedKind, now.Add(positive(r.TTL, defaultTTL)))
	e := &retained{hash: tok.hash, scope: scope, sections: maps.Clone(sections), expires: tok.expires}
	r.makeRoom(e)
	r.entries = append(r.entries, e)
	r.byHash[e.hash] = e
	r.inScope[scope]++
	r.sections += len(sections)
	return tok, nil
}

// Get returns the sections that the client of that scope says it still has.
// The error's code is retained_invalid, whether the token is unknown, expired
// or of another scope.
func (r *Retained) Get(scope, text string) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.tick()
	hash := hashOf(text)
	e := r.byHash[hash]
	if e == nil || !same(e.hash, hash) || !same(e.scope, scope) || !now.Before(e.expires) {
		return nil, &Error{Code: CodeRetained}
	}
	return maps.Clone(e.sections), nil
}

// tick returns the time and drops what expired. If the clock went back,
// nothing can be dated and everything goes.
func (r *Retained) tick() time.Time {
	if r.clock == nil {
		r.clock = newClock(r.Now)
		r.byHash, r.inScope = map[string]*retained{}, map[string]int{}
	}
	now, back := r.clock.read()
	for len(r.entries) > 0 && (back || !now.Before(r.entries[0].expires)) {
		r.drop(0)
	}
	return now
}

// makeRoom drops the oldest entries until e fits.
func (r *Retained) makeRoom(e *retained) {
	for i := 0; r.inScope[e.scope] >= retainedInScope; {
		if r.entries[i].scope != e.scope {
			i++
			continue
		}
		r.drop(i)
	}
	for len(r.entries) >= retainedMax || r.sections+len(e.sections) > maxAllSections {
		r.drop(0)
	}
}

// drop forgets the entry at i.
func (r *Retained) drop(i int) {
	e := r.entries[i]
	r.entries = append(r.entries[:i], r.entries[i+1:]...)
	delete(r.byHash, e.hash)
	r.sections -= len(e.sections)
	if r.inScope[e.scope]--; r.inScope[e.scope] == 0 {
		delete(r.inScope, e.scope)
	}
}
