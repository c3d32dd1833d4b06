package token_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/token"
)

// brief is how long the calls of these tests wait for a lock.
const brief = 10 * time.Millisecond

// hold takes the lock of that name as another process would, until release is
// called.
func hold(t *testing.T, dir, name string) (release func()) {
	t.Helper()
	root, err := rootfs.OpenOrMake(dir, 0o700, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := root.Lock(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	release = func() {
		if err := errors.Join(l.Unlock(), root.Close()); err != nil {
			t.Error(err)
		}
	}
	return release
}

// soon runs fn and fails if it waits for a lock that is never free.
func soon(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// TestLockTimeout: a change whose context has no deadline fails when the lock
// is not free in time, and can be repeated when it is.
func TestLockTimeout(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &token.Options{LockTimeout: brief})
	claim := newClaim()
	text, begun, committed := issue(t, s, claim), issue(t, s, claim), issue(t, s, claim)
	waiting := with(func(c *token.Claim) { c.Approved = false; c.Tool = "other" })
	issue(t, s, waiting)
	declined := hashOf(t, s, issue(t, s, claim))
	list, err := s.Pending(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("Pending gave %d records and %v", len(list), err)
	}
	abort, commit := begin(t, s, begun, claim), begin(t, s, committed, claim)
	ctx := context.WithoutCancel(t.Context())
	calls := []struct {
		name string
		do   func() error
	}{
		{"Issue", func() error { _, err := s.Issue(ctx, claim); return err }},
		{"Approve", func() error { return s.Approve(ctx, list[0].Hash) }},
		{"Revoke", func() error { return s.Revoke(ctx, list[0].Hash) }},
		{"Decline", func() error { return s.Decline(ctx, declined) }},
		{"Abort", func() error { return abort.Abort(ctx) }},
		{"Commit", func() error { return commit.Commit(ctx, []byte("done")) }},
		{"Resume", func() error { l, err := s.Resume(ctx, text, claim); release(l); return err }},
		{"Begin", func() error { _, err := s.Begin(ctx, text, claim); return err }},
	}
	free := hold(t, dir, "approvals.lock")
	for _, c := range calls {
		soon(t, c.name, func() {
			err := c.do()
			wantCode(t, c.name, err, token.CodeLocked)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waited 10ms") {
				t.Errorf("%s gave %v, want the time it waited", c.name, err)
			}
		})
	}
	free()
	for _, c := range calls[:7] {
		if c.name == "Revoke" {
			continue // what is approved is needed no more
		}
		if err := c.do(); err != nil {
			t.Errorf("%s with the lock free gave %v", c.name, err)
		}
	}
	if got := receiptOf(t, s, committed); got != "done" {
		t.Errorf("the receipt is %q", got)
	}
}

// TestLockFree: a lock that nobody holds is taken, however little time there is
// to wait for it.
func TestLockFree(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	s := open(t, dir, &token.Options{LockTimeout: 1, Now: clock.Now})
	use(t, s, issue(t, s, newClaim()), newClaim(), "done")
	text := issue(t, s, newClaim())
	clock.Add(-time.Hour)
	wantBegin(t, s, text, newClaim(), token.CodeInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Issue(ctx, newClaim()); !errors.Is(err, context.Canceled) {
		t.Errorf("Issue with an ended context gave %v", err)
	}
}

// release ends a lease if there is one.
func release(l *token.Lease) {
	if l != nil {
		l.Release()
	}
}

// TestReadersDoNotWait: Open, Lookup and Pending work while another process
// holds the lock for good, and while a writer of this process waits for it.
func TestReadersDoNotWait(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	claim := with(func(c *token.Claim) { c.Approved = false })
	text := issue(t, s, claim)
	free := hold(t, dir, "approvals.lock")
	defer free()

	ctx, cancel := context.WithCancel(t.Context())
	wrote := make(chan error)
	go func() {
		_, err := s.Issue(ctx, newClaim())
		wrote <- err
	}()
	read := func(what string, s *token.Store) {
		soon(t, what, func() {
			rec, err := s.Lookup(t.Context(), text, claim)
			if err != nil || rec.State != token.StatePending {
				t.Errorf("%s: Lookup gave %q and %v", what, rec.State, err)
			}
			if list, err := s.Pending(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%s: Pending gave %d records and %v", what, len(list), err)
			}
		})
	}
	for waits := 0; waits < 5 && !t.Failed(); {
		if token.Writing(s) {
			waits++
		}
		read("beside a writer that waits", s)
	}
	soon(t, "Open", func() { read("in a store that was opened", open(t, dir, nil)) })
	soon(t, "Open of a new store", func() {
		fresh := t.TempDir()
		defer hold(t, fresh, "approvals.lock")()
		if list, err := open(t, fresh, nil).Pending(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("Pending in a new store gave %d records and %v", len(list), err)
		}
	})
	cancel()
	wantCode(t, "the writer whose context ended", <-wrote, token.CodeLocked)
}

// TestOpenBesideWriter: a store that is opened while another process has the
// lock refuses a damaged log all the same, and leaves a torn tail to whoever
// writes next.
func TestOpenBesideWriter(t *testing.T) {
	dir := t.TempDir()
	first, err := token.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := issue(t, first, newClaim())
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "approvals.log")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(append([]byte{}, whole...), "torn"...)
	if err := os.WriteFile(log, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	free := hold(t, dir, "approvals.lock")
	s := open(t, dir, &token.Options{LockTimeout: brief})
	if now, err := os.ReadFile(log); err != nil || string(now) != string(torn) {
		t.Errorf("a log was changed without the lock, %v", err)
	}
	wantBegin(t, s, text, newClaim(), token.CodeLocked)
	free()
	use(t, s, text, newClaim(), "done")
	if got := receiptOf(t, open(t, dir, nil), text); got != "done" {
		t.Errorf("the receipt is %q", got)
	}

	damaged := append([]byte{}, whole...)
	damaged[len(damaged)-1] ^= 1
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "approvals.log"), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	defer hold(t, other, "approvals.lock")()
	_, err = token.Open(other, nil)
	wantCode(t, "Open of a damaged log", err, token.CodeDamaged)
}

// TestVoidingTimesOut: when the clock went back, nothing is told before the
// tokens are void, which takes the lock; callers wait side by side for it.
func TestVoidingTimesOut(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	s := open(t, dir, &token.Options{LockTimeout: brief, Now: clock.Now})
	text := issue(t, s, newClaim())
	clock.Add(-time.Hour)
	free := hold(t, dir, "approvals.lock")
	errs := make(chan error)
	const callers = 8
	soon(t, "Lookup", func() {
		for range callers {
			go func() {
				_, err := s.Lookup(t.Context(), text, newClaim())
				errs <- err
			}()
		}
		for range callers {
			wantCode(t, "Lookup", <-errs, token.CodeLocked)
		}
	})
	free()
	wantBegin(t, s, text, newClaim(), token.CodeInvalid)
}

// TestCloseWhileWaiting: a store can be closed while a call waits for the lock.
func TestCloseWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	s, err := token.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer hold(t, dir, "approvals.lock")()
	wrote := make(chan error)
	go func() {
		_, err := s.Issue(t.Context(), newClaim())
		wrote <- err
	}()
	soon(t, "Close", func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wantCode(t, "the call that waited", <-wrote, token.CodeClosed)
	})
}

// TestSignerDoesNotWait: a signer whose keys are there opens while another
// process holds their lock; one that has to make a key gives up in time.
func TestSignerDoesNotWait(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	opts := &token.Options{LockTimeout: brief, Now: clock.Now}
	first, err := token.OpenSigner(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	sealed, err := first.Seal([]byte("text"), nil)
	if err != nil {
		t.Fatal(err)
	}
	free := hold(t, dir, "seal.lock")
	defer free()
	soon(t, "OpenSigner", func() {
		second, err := token.OpenSigner(dir, opts)
		if err != nil {
			t.Fatalf("OpenSigner: %v", err)
		}
		defer second.Close()
		if plain, err := second.Open(sealed, nil); err != nil || string(plain) != "text" {
			t.Errorf("Open gave %q and %v", plain, err)
		}
		wantCode(t, "Rotate", second.Rotate(context.WithoutCancel(t.Context())), token.CodeLocked)
	})
	soon(t, "OpenSigner with old keys", func() {
		clock.Add(31 * 24 * time.Hour)
		_, err := token.OpenSigner(dir, opts)
		wantCode(t, "OpenSigner with old keys", err, token.CodeLocked)
	})
}
