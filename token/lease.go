package token

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// maxReceipt bounds what Commit keeps.
const maxReceipt = 256 << 10

// A Lease is the right to carry out one approved action, once. Begin and
// Resume make one. End it with Commit or Abort; deferring Release is always
// right.
//
// It is safe for concurrent use.
type Lease struct {
	store   *Store
	resumed bool
	rec     *Record // as it is while the lease lasts

	mu  sync.Mutex
	end leaseEnd
}

// A leaseEnd says how a lease ended, if it did.
type leaseEnd int

const (
	leaseHeld leaseEnd = iota
	leaseFinished
	leaseReleased
)

// Begin consumes an approved token: when it returns without error, the token
// is marked as being applied, durably, and the caller carries out the action
// and calls Commit with its receipt. A token is begun once, by one process.
//
// No error consumes anything. Its code is one of
//   - approval_invalid: the token does not open this claim;
//   - proposal_stale: it does, but Manifest or Base differ from what was
//     approved; Error.Changed names the paths;
//   - approval_pending: nobody has approved it yet;
//   - approval_declined: a person declined it;
//   - approval_busy: it was begun before and not finished;
//   - approval_used: the action was done before, for this very claim;
//     Error.Receipt is its receipt.
//
// The last is an error so that a caller who checks for errors cannot act twice.
func (s *Store) Begin(ctx context.Context, text string, claim Claim) (*Lease, error) {
	return s.begin(ctx, text, &claim, false)
}

// Resume is Begin for callers who hold a lock of their own from before Resume
// until after Commit, and so know that whoever began the token before is dead.
// It also takes over a token that was begun and not finished; then
// Lease.Resumed is true, and the caller first finds out, by Lease.Hash in its
// own journal, whether the action happened. Without such a lock two processes
// would act at once.
//
// If the action happened, what the claim rests on has changed since, and a
// claim computed now would be stale: resume with the claim of [Store.Lookup],
// and commit what the journal says.
//
// A token that was begun does not expire. It is answered with approval_busy if
// its lease is in this process and not released.
func (s *Store) Resume(ctx context.Context, text string, claim Claim) (*Lease, error) {
	return s.begin(ctx, text, &claim, true)
}

func (s *Store) begin(ctx context.Context, text string, claim *Claim, resume bool) (*Lease, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var lease *Lease
	err := s.retry(ctx, func() (err error) {
		rec, now, err := s.admit(ctx, text, claim, resume)
		if err != nil {
			return err
		}
		lease, err = s.take(ctx, rec, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !lease.resumed && s.late(ctx, lease) {
		return nil, s.refuse(ctx, text, claim, "expired while waiting")
	}
	return lease, nil
}

// admit returns the record of a token that may be begun, or resumed, with the
// claim.
func (s *Store) admit(ctx context.Context, text string, claim *Claim, resume bool) (*Record, time.Time, error) {
	now, err := s.settle(ctx)
	if err != nil {
		return nil, now, err
	}
	rec, reason, err := s.find(ctx, text, now)
	if err != nil {
		return nil, now, err
	}
	// Compared even if there is no record, so that it takes as long.
	known := rec
	if known == nil {
		known = &Record{}
	}
	kept, given := known.Claim.digests(), claim.digests()
	scope, request := same(kept.scope, given.scope), same(kept.request, given.request)
	whole := same(known.Bound, given.whole)
	switch {
	case reason != "":
	case !scope:
		reason = "of another project, kind, subject or tool"
	case rec.State == StateUsed && !whole:
		reason = "used with another claim"
	case rec.State != StateUsed && !request:
		reason = "of other arguments"
	default:
		return rec, now, rec.admits(claim, whole, resume)
	}
	return nil, now, s.refuse(ctx, text, claim, reason)
}

// admits reports whether the record may be begun, or resumed, with a claim for
// its request. whole says that it is the claim as it was approved.
func (r *Record) admits(claim *Claim, whole, resume bool) error {
	switch {
	case r.State == StateUsed:
		return &Error{Code: CodeUsed, Op: "begin", Receipt: bytes.Clone(r.Receipt)}
	case r.State == StateApplying && !resume:
		return &Error{Code: CodeBusy, Op: "begin"}
	case r.State == StateDeclined:
		return &Error{Code: CodeDeclined, Op: "begin"}
	case !whole:
		return stale("begin", r.Claim.changed(claim))
	case r.State == StatePending:
		return &Error{Code: CodePending, Op: "begin"}
	}
	return nil
}

// take marks the record as being applied by this process.
func (s *Store) take(ctx context.Context, rec *Record, now time.Time) (*Lease, error) {
	if !s.reserve(rec.Hash) {
		return nil, &Error{Code: CodeBusy, Op: "begin"}
	}
	next := rec.next(StateApplying, now)
	if err := s.backend.Swap(ctx, next); err != nil {
		s.free(rec.Hash)
		return nil, err
	}
	next = next.next(StateApplying, now)
	next.Version++
	return &Lease{store: s, rec: next, resumed: rec.State == StateApplying}, nil
}

// reserve notes that this process has a lease on hash, if it has none yet.
func (s *Store) reserve(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[hash] {
		return false
	}
	s.live[hash] = true
	return true
}

func (s *Store) free(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, hash)
}

// late reports whether the token expired while Begin waited for the lock, and
// then deletes it.
func (s *Store) late(ctx context.Context, lease *Lease) bool {
	now, _ := s.clock.read()
	if now.Before(lease.rec.Expires) {
		return false
	}
	// If this fails, the token stays marked as being applied, which is safe.
	_ = lease.finish(ctx, lease.only(lease.rec.gone()))
	lease.Release()
	return true
}

// Hash returns Record.Hash of the token. It may be shown and kept: a journal
// that records it with the action's intent makes consuming the approval and
// acting on it one step.
func (l *Lease) Hash() string { return l.rec.Hash }

// Resumed reports whether the token was begun before, so that the action may
// have happened.
func (l *Lease) Resumed() bool { return l.resumed }

// Commit records that the action was done and keeps receipt, at most 256 KiB,
// for repeated calls. As it reports what has happened already, the end of ctx
// does not stop it; it waits for the store's lock for as long as
// Options.LockTimeout says.
//
// If it fails, the token remains as being applied, and Commit may be called
// again. Code record_conflict means that another process took the token over.
// A second Commit after a successful one does nothing.
func (l *Lease) Commit(ctx context.Context, receipt []byte) error {
	if len(receipt) > maxReceipt {
		return tooLarge("commit", "the receipt has %d bytes, the limit is %d", len(receipt), maxReceipt)
	}
	now, _ := l.store.clock.read()
	next := l.rec.next(StateUsed, now)
	next.Receipt = bytes.Clone(receipt)
	next.Claim = Claim{
		Project: l.rec.Claim.Project, Kind: l.rec.Claim.Kind,
		Subject: l.rec.Claim.Subject, Tool: l.rec.Claim.Tool,
	}
	next.Size = next.measure()
	if next.Size <= l.rec.Size {
		return l.finish(ctx, l.only(next))
	}
	return l.finish(ctx, func(ctx context.Context) ([]*Record, error) {
		// A receipt is kept even if nothing can make room for it.
		drop, err := l.store.makeRoom(ctx, next, now)
		if err != nil && CodeOf(err) != CodeFull {
			return nil, err
		}
		return append(drop, next), nil
	})
}

// Abort says that nothing was done and makes the token approved again. Do not
// call it when that is not certain; Release leaves the question open. The end
// of ctx does not stop it, as in Commit. After Commit or Abort it does nothing.
func (l *Lease) Abort(ctx context.Context) error {
	now, _ := l.store.clock.read()
	return l.finish(ctx, l.only(l.rec.next(StateApproved, now)))
}

// only makes a single change for finish.
func (*Lease) only(change *Record) func(context.Context) ([]*Record, error) {
	return func(context.Context) ([]*Record, error) { return []*Record{change}, nil }
}

// finish makes the last change of the lease.
func (l *Lease) finish(ctx context.Context, change func(context.Context) ([]*Record, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.end {
	case leaseFinished:
		return nil
	case leaseReleased:
		return &Error{Code: CodeConflict, Op: "finish", Detail: "the lease was released"}
	}
	ctx, cancel := timed(context.WithoutCancel(ctx), l.store.opts.LockTimeout)
	defer cancel()
	changes, err := change(ctx)
	if err != nil {
		return err
	}
	if err := l.store.backend.Swap(ctx, changes...); err != nil {
		return err
	}
	l.end = leaseFinished
	l.store.free(l.rec.Hash)
	return nil
}

// Release ends the lease. If it was neither committed nor aborted, the token
// stays as being applied: Begin refuses it, and Resume may take it over.
// Release after Commit or Abort, or again, does nothing.
func (l *Lease) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == leaseHeld {
		l.end = leaseReleased
		l.store.free(l.rec.Hash)
	}
}
