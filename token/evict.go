package token

import (
	"context"
	"slices"
	"time"
)

// maxBytes bounds the records of a store together.
const maxBytes = 16 << 20

// room is what Issue and Commit find out about the other records.
type room struct {
	drop   []*Record // what goes
	all    []*Record // what may be evicted, in that order
	own    []*Record // what of it belongs to the subject
	left   []*Record // what was begun and given up, which goes last
	count  int       // records that stay
	mine   int       // those of the subject
	bytes  int64     // their size
	failed bool
}

// makeRoom returns the deletions that must go with the change to rec.
func (s *Store) makeRoom(ctx context.Context, rec *Record, now time.Time) ([]*Record, error) {
	r := room{bytes: rec.Size}
	for old, err := range s.backend.Range(ctx) {
		if err != nil {
			return nil, err
		}
		if old.Hash != rec.Hash {
			r.add(old, rec, s.fate(old, now))
		}
	}
	r.list(r.left, rec)
	for r.mine >= s.opts.MaxPerSubject && !r.failed {
		r.evict(&r.own, rec)
	}
	for (r.count >= s.opts.MaxRecords || r.bytes > maxBytes) && !r.failed {
		r.evict(&r.all, rec)
	}
	if r.failed {
		return nil, &Error{Code: CodeFull, Op: "issue"}
	}
	if len(r.drop) > 0 {
		s.opts.Logger.InfoContext(ctx, "approval records dropped", "count", len(r.drop))
	}
	changes := make([]*Record, len(r.drop), len(r.drop)+1)
	for i, old := range r.drop {
		changes[i] = old.gone()
	}
	return changes, nil
}

// A fate is what may become of a record when there is need for room.
type fate int

const (
	goes       fate = iota // nobody can want it any more
	mayGo                  // oldest first
	mayGoLast              // after those that may go
	mayNeverGo             // it is being applied
)

// fate says what may become of a record. Whoever began it and did not end it in
// the time for which a token is valid has most likely died. If not, nothing
// worse comes of it than that Commit fails: without its record, a token can
// never be used again.
func (s *Store) fate(rec *Record, now time.Time) fate {
	age := now.Sub(rec.Changed)
	switch {
	case rec.begun() && age >= s.opts.Retain:
		return goes
	case rec.State == StateApplying && age >= s.opts.TTL && !s.leased(rec.Hash):
		return mayGoLast
	case rec.State == StateApplying:
		return mayNeverGo
	case rec.State == StateUsed || now.Before(rec.Expires) && rec.Issued.Sub(now) <= maxSkew:
		return mayGo
	}
	return goes
}

// leased reports whether this process has a lease on hash.
func (s *Store) leased(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[hash]
}

// add takes one old record into account.
func (r *room) add(old, rec *Record, f fate) {
	if f == goes {
		r.drop = append(r.drop, old)
		return
	}
	r.count++
	r.bytes += old.Size
	if sameOwner(old, rec) {
		r.mine++
	}
	switch f {
	case mayGo:
		r.list([]*Record{old}, rec)
	case mayGoLast:
		r.left = append(r.left, old)
	}
}

// list adds records to those that may be evicted.
func (r *room) list(records []*Record, rec *Record) {
	for _, old := range records {
		r.all = append(r.all, old)
		if sameOwner(old, rec) {
			r.own = append(r.own, old)
		}
	}
}

// evict drops the first record of a list.
func (r *room) evict(list *[]*Record, rec *Record) {
	if len(*list) == 0 {
		r.failed = true
		return
	}
	old := (*list)[0]
	*list = (*list)[1:]
	if slices.Contains(r.drop, old) {
		return // the subject's quota took it
	}
	r.drop = append(r.drop, old)
	r.count--
	r.bytes -= old.Size
	if sameOwner(old, rec) {
		r.mine--
	}
}

// sameOwner reports whether two records count against the same quota.
func sameOwner(a, b *Record) bool {
	return a.Claim.Subject == b.Claim.Subject && a.Claim.Project == b.Claim.Project
}
