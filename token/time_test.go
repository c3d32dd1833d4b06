package token_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

func TestExpiry(t *testing.T) {
	cases := []struct {
		name string
		ttl  time.Duration
		wait time.Duration
		want token.Code
	}{
		{"default, last moment", 0, 30*time.Minute - time.Millisecond, ""},
		{"default, over", 0, 30 * time.Minute, token.CodeInvalid},
		{"a day, last moment", 24 * time.Hour, 24*time.Hour - time.Millisecond, ""},
		{"a day, over", 24 * time.Hour, 24 * time.Hour, token.CodeInvalid},
		{"a second, over", time.Second, time.Second, token.CodeInvalid},
		{"negative is the default", -1, 29 * time.Minute, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var logs logBuffer
			s, clock := openClocked(t, token.Options{TTL: c.ttl, Logger: logs.logger()})
			text := issue(t, s, newClaim())
			clock.Add(c.wait)
			_, err := s.Lookup(t.Context(), text, newClaim())
			wantCode(t, "Lookup", err, c.want)
			wantBegin(t, s, text, newClaim(), c.want)
			if told := strings.Contains(logs.String(), `"reason":"expired"`); told != (c.want != "") {
				t.Errorf("the log says %s", logs.String())
			}
		})
	}
}

// TestBegunDoesNotExpire: what was begun in time can be finished and resumed
// later, and its receipt is kept for a day.
func TestBegunDoesNotExpire(t *testing.T) {
	s, clock := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	lease := begin(t, s, text, newClaim())
	clock.Add(10 * time.Hour)
	lease.Release()
	resumed, err := s.Resume(t.Context(), text, newClaim())
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(10 * time.Hour)
	if err := resumed.Commit(t.Context(), []byte("late")); err != nil {
		t.Fatal(err)
	}
	clock.Add(24*time.Hour - time.Millisecond)
	issue(t, s, newClaim())
	if got := receiptOf(t, s, text); got != "late" {
		t.Errorf("receipt %q", got)
	}
	clock.Add(time.Millisecond)
	issue(t, s, newClaim())
	wantBegin(t, s, text, newClaim(), token.CodeInvalid)
}

// TestClockMoves: whatever is done to the clock, no token lives longer than
// its time, neither in the process that sees the move nor in one that starts
// after it.
func TestClockMoves(t *testing.T) {
	cases := []struct {
		name  string
		moves []time.Duration // one after another, a look at the store in between
		want  token.Code
		after token.Code // the same with a restart after every move
	}{
		{"stands", nil, "", ""},
		{"forward, within life", []time.Duration{29 * time.Minute}, "", ""},
		{"forward an hour", []time.Duration{time.Hour}, token.CodeInvalid, token.CodeInvalid},
		// After a restart nobody knows of a move that nothing was written in.
		{"forward an hour and back", []time.Duration{time.Hour, -time.Hour}, token.CodeInvalid, ""},
		{"back an hour", []time.Duration{-time.Hour}, token.CodeInvalid, token.CodeInvalid},
		{"back an hour and forward", []time.Duration{-time.Hour, time.Hour}, token.CodeInvalid, token.CodeInvalid},
		{"back and to just before the end", []time.Duration{-time.Hour, 89 * time.Minute}, token.CodeInvalid, token.CodeInvalid},
		{"back by a correction", []time.Duration{-60 * time.Second}, "", ""},
		{"back by more than one", []time.Duration{-60*time.Second - time.Millisecond}, token.CodeInvalid, token.CodeInvalid},
		{"corrections one after another", []time.Duration{-40 * time.Second, -40 * time.Second}, token.CodeInvalid, token.CodeInvalid},
		{"to another century", []time.Duration{80 * 365 * 24 * time.Hour}, token.CodeInvalid, token.CodeInvalid},
		{"to the epoch", []time.Duration{-time.Duration(start.Unix()) * time.Second}, token.CodeInvalid, token.CodeInvalid},
	}
	for _, c := range cases {
		for _, restart := range []bool{false, true} {
			name, want := c.name+", same process", c.want
			if restart {
				name, want = c.name+", restarted", c.after
			}
			t.Run(name, func(t *testing.T) {
				dir, clock := t.TempDir(), newTestClock()
				s := open(t, dir, &token.Options{Now: clock.Now})
				text := issue(t, s, newClaim())
				for _, m := range c.moves {
					clock.Add(m)
					if restart {
						s = open(t, dir, &token.Options{Now: clock.Now})
					}
					if _, err := s.Pending(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				wantBegin(t, s, text, newClaim(), want)
				// Whatever happened, the store is of use afterwards.
				use(t, s, issue(t, s, newClaim()), newClaim(), "")
			})
		}
	}
}

// TestClockBackVoidsOldTokens: an old token with a long life must not gain the
// time by which the clock was moved, though its own date looks fine.
func TestClockBackVoidsOldTokens(t *testing.T) {
	for _, restart := range []bool{false, true} {
		dir, clock := t.TempDir(), newTestClock()
		s := open(t, dir, &token.Options{Now: clock.Now, TTL: 3 * time.Hour})
		old := issue(t, s, newClaim())
		begun := issue(t, s, newClaim())
		lease := begin(t, s, begun, newClaim())
		clock.Add(2 * time.Hour)
		issue(t, s, newClaim())
		clock.Add(-time.Hour)
		if restart {
			s = open(t, dir, &token.Options{Now: clock.Now, TTL: 3 * time.Hour})
		}
		wantBegin(t, s, old, newClaim(), token.CodeInvalid)
		if err := lease.Commit(t.Context(), []byte("kept")); err != nil {
			t.Errorf("what was begun is not affected, but Commit gave %v", err)
		}
		if diff := cmp.Diff([]token.State{token.StateUsed}, states(t, s)); diff != "" {
			t.Errorf("restart %v: states (-want +got):\n%s", restart, diff)
		}
	}
}

// TestUsedInTheFuture: what was used while the clock was ahead is kept for a
// day, and does not void the tokens of every process that is started after the
// clock was corrected.
func TestUsedInTheFuture(t *testing.T) {
	dir, ahead, clock := t.TempDir(), newTestClock(), newTestClock()
	ahead.Add(2 * time.Hour)
	first := open(t, dir, &token.Options{Now: ahead.Now})
	used := issue(t, first, newClaim())
	use(t, first, used, newClaim(), "receipt")

	text := issue(t, open(t, dir, &token.Options{Now: clock.Now}), newClaim())
	clock.Add(time.Minute)
	s := open(t, dir, &token.Options{Now: clock.Now})
	wantBegin(t, s, used, newClaim(), token.CodeUsed)
	use(t, s, text, newClaim(), "another")
}

// TestIssuedInTheFuture: a token of a process whose clock is ahead cannot be
// dated, by nobody's clock but its own.
func TestIssuedInTheFuture(t *testing.T) {
	dir, ahead, clock := t.TempDir(), newTestClock(), newTestClock()
	s := open(t, dir, &token.Options{Now: clock.Now})
	ahead.Add(60 * time.Second)
	near := issue(t, open(t, dir, &token.Options{Now: ahead.Now}), newClaim())
	ahead.Add(time.Millisecond)
	far := issue(t, open(t, dir, &token.Options{Now: ahead.Now}), newClaim())
	wantBegin(t, s, far, newClaim(), token.CodeInvalid)
	use(t, s, near, newClaim(), "clocks may differ by a minute")
}

// TestJumpWhileWaiting: the token expires while Begin waits for the lock.
func TestJumpWhileWaiting(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	s := open(t, dir, &token.Options{Now: clock.Now})
	text := issue(t, s, newClaim())
	disk, err := token.RealDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	waiting := &jumpingDisk{TestDisk: disk, jump: func() { clock.Add(time.Hour) }}
	late, err := token.OpenOn(waiting, 1<<20, &token.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	waiting.armed = true
	wantBegin(t, late, text, newClaim(), token.CodeInvalid)
	if got := states(t, s); len(got) != 0 {
		t.Errorf("the expired token is still there: %v", got)
	}
}

// jumpingDisk lets time pass while its caller waits for the lock.
type jumpingDisk struct {
	token.TestDisk
	armed bool
	jump  func()
}

func (d *jumpingDisk) Lock(ctx context.Context) (func() error, error) {
	if d.armed {
		d.jump()
		d.armed = false
	}
	return d.TestDisk.Lock(ctx)
}

// TestMonotonic: with the system's own clock, expiry needs no test clock.
func TestMonotonic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := token.Open("", &token.Options{Backend: &tokentest.Memory{}, TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		text := issue(t, s, newClaim())
		time.Sleep(time.Minute - time.Millisecond)
		rec, err := s.Lookup(t.Context(), text, newClaim())
		if err != nil || rec.State != token.StateApproved {
			t.Errorf("before its end: %v", err)
		}
		time.Sleep(time.Millisecond)
		wantBegin(t, s, text, newClaim(), token.CodeInvalid)
	})
}

// TestSmallStepBack: a clock that is set back by no more than a correction does
// not make a token live longer.
func TestSmallStepBack(t *testing.T) {
	s, clock := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	look := func(d time.Duration) error {
		clock.Add(d)
		_, err := s.Lookup(t.Context(), text, newClaim())
		return err
	}
	for _, d := range []time.Duration{30*time.Minute - 10*time.Second, -30 * time.Second, 10*time.Second - time.Millisecond} {
		if err := look(d); err != nil {
			t.Fatalf("after %v: %v", d, err)
		}
	}
	wantInvalid(t, look(time.Millisecond))
}
