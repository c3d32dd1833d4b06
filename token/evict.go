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
	all    []*Record // what may be evicted, oldest first
	own    []*Record // what of it belongs to the subject
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
			r.add(old, rec, s.dead(old, now))
		}
	}
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

// dead reports whether nobody can want the record any more.
func (s *Store) dead(rec *Record, now time.Time) bool {
	if rec.begun() {
		return now.Sub(rec.Changed) >= s.opts.Retain
	}
	return !now.Before(rec.Expires) || rec.Issued.Sub(now) > maxSkew
}

// add takes one old record into account.
func (r *room) add(old, rec *Record, dead bool) {
	if dead {
		r.drop = append(r.drop, old)
		return
	}
	own := sameOwner(old, rec)
	r.count++
	r.bytes += old.Size
	if own {
		r.mine++
	}
	if old.State == StateApplying {
		return
	}
	r.all = append(r.all, old)
	if own {
		r.own = append(r.own, old)
	}
}

// evict drops the oldest record of a list.
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
