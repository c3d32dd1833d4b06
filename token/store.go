package token

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The defaults of [Options].
const (
	defaultTTL        = 30 * time.Minute
	defaultRetain     = 24 * time.Hour
	defaultMaxRecords = 1024
	defaultMaxSubject = 64
	defaultLockWait   = 10 * time.Second
	mostRecords       = 16384
)

// maxTries bounds how often a change is computed again after a conflict.
const maxTries = 100

// Options changes how a [Store] and a [Signer] work. Nil and the zero value
// are the default. Neither keeps the pointer.
type Options struct {
	// TTL is how long a token or a sealed text is valid, 30 minutes if it is
	// not positive.
	TTL time.Duration
	// Retain is how long the record of a begun token is kept, so that a
	// repeated call gets the receipt, 24 hours if it is not positive.
	Retain time.Duration
	// MaxRecords is how many records a Store keeps, 1,024 if it is not
	// positive and never more than 16,384; together they take at most 16 MiB.
	// The oldest make room for new ones.
	MaxRecords int
	// MaxPerSubject is how many records one subject has in one project, 64 if
	// it is not positive, so that nobody can push out the tokens of others.
	MaxPerSubject int
	// LockTimeout is how long a call waits for a lock that another process
	// holds, 10 seconds if it is not positive; the code is store_locked then.
	// A context with a deadline of its own takes its place, except in the calls
	// that a context does not stop, and in those that have none. With a Backend
	// it bounds only the latter.
	LockTimeout time.Duration
	// Now is the clock, time.Now if it is nil.
	Now func() time.Time
	// Logger, if not nil, is told why a token or sealed text was refused, what
	// was evicted, and that the clock went back. It never gets a token.
	Logger *slog.Logger
	// Backend keeps the records of a Store. If it is nil, they are in a log in
	// the store's directory.
	Backend Backend
}

// A Store issues approval tokens and lets each be used once. Open makes one.
//
// It is safe for concurrent use, and several processes may have stores on one
// directory. Close it when it is no longer needed.
type Store struct {
	opts    Options
	backend Backend
	clock   *clock
	close   func() error

	voiding chan struct{} // holds one value while tokens are voided

	mu   sync.Mutex
	back bool            // the clock went back, and tokens are not voided yet
	live map[string]bool // hashes of the leases of this process
}

// Open opens the store in the directory dir, which is made with mode 0700,
// together with those above it, if it is missing. With Options.Backend the
// directory is not used and may be "".
//
// Open cuts off what a crash left half-written at the end of the log, unless
// another process is writing, which does that itself. It waits for nobody,
// except to void tokens if the clock went back. The error's code is
// store_damaged if anything else is wrong with the log, store_exposed,
// store_locked or store_io.
func Open(dir string, opts *Options) (*Store, error) {
	if opts != nil && opts.Backend != nil {
		s := newStore(opts)
		if err := s.start(); err != nil {
			return nil, err
		}
		return s, nil
	}
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	return openOn(newLog(d), opts)
}

// openOn opens a store on a log, which it closes.
func openOn(l *logStore, opts *Options) (*Store, error) {
	s := newStore(opts)
	s.backend, s.close = l, l.Close
	if err := s.start(); err != nil {
		_ = l.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// newStore applies the defaults.
func newStore(opts *Options) *Store {
	s := &Store{voiding: make(chan struct{}, 1), live: map[string]bool{}, close: func() error { return nil }}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.TTL = positive(s.opts.TTL, defaultTTL)
	s.opts.Retain = positive(s.opts.Retain, defaultRetain)
	s.opts.MaxRecords = min(positive(s.opts.MaxRecords, defaultMaxRecords), mostRecords)
	s.opts.MaxPerSubject = positive(s.opts.MaxPerSubject, defaultMaxSubject)
	s.opts.LockTimeout = positive(s.opts.LockTimeout, defaultLockWait)
	s.opts.Logger = orDiscard(s.opts.Logger)
	s.backend = s.opts.Backend
	s.clock = newClock(s.opts.Now)
	return s
}

// positive returns v, or def if v is not positive.
func positive[T time.Duration | int](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// start checks the log and looks for signs that the clock was moved back while
// no process was there to see it.
func (s *Store) start() error {
	ctx, cancel := timed(context.Background(), s.opts.LockTimeout)
	defer cancel()
	if l, ok := s.backend.(*logStore); ok {
		if err := l.verify(ctx); err != nil {
			return err
		}
	}
	now, _ := s.clock.read()
	for rec, err := range s.backend.Range(ctx) {
		if err != nil {
			return err
		}
		if !rec.begun() && rec.Issued.Sub(now) > maxSkew {
			s.back = true
		}
	}
	_, err := s.settle(ctx)
	return err
}

// Close releases the store's files. Calls after it fail with code
// store_closed; a Backend from Options is the caller's to close.
func (s *Store) Close() error { return s.close() }

// timed returns a context that ends after limit with code store_locked.
func timed(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &Error{
		Code: CodeLocked, Op: "lock", Detail: "waited " + limit.String(), Err: context.DeadlineExceeded,
	})
}

// bounded returns ctx with a deadline, if it has none and there are locks to
// wait for. A foreign backend has rules of its own.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || s.opts.Backend != nil {
		return ctx, func() {}
	}
	return timed(ctx, s.opts.LockTimeout)
}

// settle returns the time. If the clock went back it voids all tokens that
// were not begun, because nobody can say any more how old they are.
func (s *Store) settle(ctx context.Context) (time.Time, error) {
	now, back := s.clock.read()
	if back {
		s.setBack(true)
	}
	if !s.isBack() {
		return now, nil
	}
	if err := await(ctx, s.voiding); err != nil {
		return now, err
	}
	defer func() { <-s.voiding }()
	if !s.isBack() {
		return now, nil
	}
	if err := s.retry(ctx, func() error { return s.void(ctx) }); err != nil {
		return now, err
	}
	s.setBack(false)
	return now, nil
}

func (s *Store) isBack() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.back
}

func (s *Store) setBack(back bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = back
}

// void deletes the records of all tokens that were not begun.
func (s *Store) void(ctx context.Context) error {
	var gone []*Record
	for rec, err := range s.backend.Range(ctx) {
		if err != nil {
			return err
		}
		if !rec.begun() {
			gone = append(gone, rec.gone())
		}
	}
	if len(gone) == 0 {
		return nil
	}
	s.opts.Logger.WarnContext(ctx, "approval tokens voided",
		"reason", "the clock was moved back", "count", len(gone))
	return s.backend.Swap(ctx, gone...)
}

// retry runs change until it fails with something else than a conflict.
func (s *Store) retry(ctx context.Context, change func() error) error {
	for range maxTries {
		err := change()
		if CodeOf(err) != CodeConflict {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return &Error{Code: CodeConflict, Op: "change", Detail: "too many others change the same records"}
}

// Issue makes a token for claim and keeps its record before it returns. Old
// records make room if need be: those that expired, then the subject's own
// oldest beyond its quota, then the oldest of all, but never one that is being
// applied. A token that was begun longer ago than Options.TTL, and has no lease
// in this process, counts as given up by a process that died: it goes if
// nothing else can, and can then be neither resumed nor begun.
//
// The error's code is claim_invalid, too_large or store_full.
func (s *Store) Issue(ctx context.Context, claim Claim) (Token, error) {
	if err := claim.check(); err != nil {
		return Token{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var tok Token
	err := s.retry(ctx, func() error {
		now, err := s.settle(ctx)
		if err != nil {
			return err
		}
		tok = newToken(claim.Kind, now.Add(s.opts.TTL).Truncate(time.Millisecond))
		rec := &Record{
			Hash: tok.hash, State: StatePending,
			Issued: now, Expires: tok.expires, Changed: now,
			Claim: claim.clone(), Bound: claim.digests().whole,
		}
		if claim.Approved {
			rec.State = StateApproved
		}
		rec.Size = rec.measure()
		changes, err := s.makeRoom(ctx, rec, now)
		if err != nil {
			return err
		}
		return s.backend.Swap(ctx, append(changes, rec)...)
	})
	if err != nil {
		return Token{}, err
	}
	return tok, nil
}

// Lookup returns the record of a token for a call that brings nothing else, so
// that the proposal can be computed again from Record.Claim.Input. Of scope it
// reads Project, Kind, Subject and Tool, which must be those of the claim. It
// consumes nothing.
//
// A used token is found for as long as its record is kept; the receipt is
// Record.Receipt. One that was declined is found until it expires. The error's code is approval_invalid.
func (s *Store) Lookup(ctx context.Context, text string, scope Claim) (Record, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, err := s.settle(ctx)
	if err != nil {
		return Record{}, err
	}
	rec, reason, err := s.find(ctx, text, now)
	if err != nil {
		return Record{}, err
	}
	// Compared even if there is no record, so that it takes as long.
	known := rec
	if known == nil {
		known = &Record{}
	}
	if !same(known.Claim.scope(), scope.scope()) && reason == "" {
		reason = "of another project, kind, subject or tool"
	}
	if reason != "" {
		return Record{}, s.refuse(ctx, text, &scope, reason)
	}
	return rec.clone(), nil
}

// find returns the record of a token. A reason says why it cannot be used by
// anybody; then the record may be nil.
func (s *Store) find(ctx context.Context, text string, now time.Time) (rec *Record, reason string, err error) {
	if !wellFormed(text) {
		return nil, "malformed", nil
	}
	hash := hashOf(text)
	rec, err = s.backend.Get(ctx, hash)
	switch {
	case err != nil:
		return nil, "", err
	case rec == nil || !same(rec.Hash, hash):
		return nil, "unknown", nil
	case rec.begun():
		return rec, "", nil
	case !now.Before(rec.Expires):
		return rec, "expired", nil
	case rec.Issued.Sub(now) > maxSkew:
		return rec, "issued in the future", nil
	}
	return rec, "", nil
}

// refuse logs the reason and returns the error that tells nothing.
func (s *Store) refuse(ctx context.Context, text string, claim *Claim, reason string) error {
	id := ""
	if wellFormed(text) {
		id = hashOf(text)[:idLen]
	}
	s.opts.Logger.InfoContext(ctx, "approval token refused",
		"reason", reason, "id", id, "kind", clip(claim.Kind), "tool", clip(claim.Tool))
	return &Error{Code: CodeInvalid}
}

// clip bounds what of a caller's text goes to the log.
func clip(s string) string { return s[:min(len(s), maxID)] }

// idLen is how many digits of a hash name a record in logs, and the fewest
// that Approve and Revoke accept.
const idLen = 12

// Pending returns the proposals that wait for a person, oldest first.
func (s *Store) Pending(ctx context.Context) ([]Record, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	now, err := s.settle(ctx)
	if err != nil {
		return nil, err
	}
	var list []Record
	for rec, err := range s.backend.Range(ctx) {
		if err != nil {
			return nil, err
		}
		if rec.State == StatePending && now.Before(rec.Expires) {
			list = append(list, rec.clone())
		}
	}
	return list, nil
}

// Approve records that a person approved the pending proposal with that id,
// its Record.Hash or at least the first 12 digits of it. Approving an approved
// one again changes nothing. The error's code is proposal_unknown.
func (s *Store) Approve(ctx context.Context, id string) error {
	return s.decide(ctx, "approve", id, func(rec *Record, now time.Time) *Record {
		if rec.State == StateApproved {
			return nil
		}
		return rec.next(StateApproved, now)
	})
}

// Decline records that a person declined the pending or approved proposal with
// that id, as in Approve. Its token is answered with approval_declined until it
// expires. The error's code is proposal_unknown.
func (s *Store) Decline(ctx context.Context, id string) error {
	return s.decide(ctx, "decline", id, func(rec *Record, now time.Time) *Record { return rec.next(StateDeclined, now) })
}

// Revoke forgets the pending or approved proposal with that id, as in Approve:
// its token is approval_invalid from then on. It is for proposals that nobody
// decided about. The error's code is proposal_unknown.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.decide(ctx, "revoke", id, func(rec *Record, _ time.Time) *Record { return rec.gone() })
}

// decide changes the one proposal with that id that was neither begun nor
// declined.
func (s *Store) decide(ctx context.Context, op, id string, change func(*Record, time.Time) *Record) error {
	unknown := &Error{Code: CodeUnknown, Op: op}
	if len(id) < idLen {
		unknown.Detail = "an id has at least 12 digits"
		return unknown
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return s.retry(ctx, func() error {
		now, err := s.settle(ctx)
		if err != nil {
			return err
		}
		var found *Record
		for rec, err := range s.backend.Range(ctx) {
			if err != nil {
				return err
			}
			if !strings.HasPrefix(rec.Hash, id) || rec.begun() || rec.State == StateDeclined || !now.Before(rec.Expires) {
				continue
			}
			if found != nil {
				unknown.Detail = "more than one has it; give more digits"
				return unknown
			}
			found = rec
		}
		if found == nil {
			return unknown
		}
		if next := change(found, now); next != nil {
			return s.backend.Swap(ctx, next)
		}
		return nil
	})
}
