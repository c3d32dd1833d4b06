package token_test

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

// TestOneLease: of many who begin at once in one process, one may act.
func TestOneLease(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	var won atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			call := s.Begin
			if i%2 == 0 {
				call = s.Resume
			}
			lease, err := call(t.Context(), text, newClaim())
			switch token.CodeOf(err) {
			case "":
				won.Add(1)
				if err := lease.Commit(t.Context(), []byte("receipt")); err != nil {
					t.Errorf("Commit: %v", err)
				}
			case token.CodeBusy, token.CodeUsed:
			default:
				t.Errorf("Begin: %v", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d leases on one token", won.Load())
	}
}

func TestAbort(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	lease := begin(t, s, text, newClaim())
	for range 2 {
		if err := lease.Abort(ended(t)); err != nil {
			t.Fatal(err)
		}
	}
	lease.Release()
	again := begin(t, s, text, newClaim())
	if again.Resumed() {
		t.Error("a lease after Abort is resumed; nothing was done")
	}
	// The old lease must not end the new one.
	if err := lease.Commit(t.Context(), []byte("old")); err != nil {
		t.Errorf("Commit after Abort: %v", err)
	}
	if diff := cmp.Diff([]token.State{token.StateApplying}, states(t, s)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if err := again.Commit(t.Context(), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := again.Abort(t.Context()); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	if got := receiptOf(t, s, text); got != "new" {
		t.Errorf("receipt %q, want that of the second lease", got)
	}
}

// receiptOf begins a used token and returns the receipt.
func receiptOf(t *testing.T, s *token.Store, text string) string {
	t.Helper()
	_, err := s.Begin(t.Context(), text, newClaim())
	var e *token.Error
	if !errors.As(err, &e) || e.Code != token.CodeUsed {
		t.Fatalf("Begin gave %v, want code %s", err, token.CodeUsed)
	}
	return string(e.Receipt)
}

// TestRelease: what was begun and not finished is open to Resume alone, and
// not while its lease is held.
func TestRelease(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	lease := begin(t, s, text, newClaim())
	_, err := s.Resume(t.Context(), text, newClaim())
	wantCode(t, "Resume while the lease is held", err, token.CodeBusy)

	lease.Release()
	lease.Release()
	wantBegin(t, s, text, newClaim(), token.CodeBusy)
	wantCode(t, "Commit after Release", lease.Commit(t.Context(), nil), token.CodeConflict)
	wantCode(t, "Abort after Release", lease.Abort(t.Context()), token.CodeConflict)

	_, err = s.Resume(t.Context(), text, with(func(c *token.Claim) { c.Base["docs/new.md"] = "0" }))
	wantCode(t, "Resume with another base", err, token.CodeStale)
	resumed, err := s.Resume(t.Context(), text, newClaim())
	if err != nil || !resumed.Resumed() {
		t.Fatalf("Resume gave %v", err)
	}
	if err := resumed.Commit(t.Context(), []byte("found in the journal")); err != nil {
		t.Fatal(err)
	}
	if got := receiptOf(t, s, text); got != "found in the journal" {
		t.Errorf("receipt %q", got)
	}
	_, err = s.Resume(t.Context(), text, newClaim())
	wantCode(t, "Resume of a used one", err, token.CodeUsed)
}

// TestTakenOver: the process that was thought dead cannot commit any more.
func TestTakenOver(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	text := issue(t, a, newClaim())
	old := begin(t, a, text, newClaim())
	taken, err := b.Resume(t.Context(), text, newClaim())
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Commit of the old lease", old.Commit(t.Context(), []byte("old")), token.CodeConflict)
	wantCode(t, "Abort of the old lease", old.Abort(t.Context()), token.CodeConflict)
	if err := taken.Commit(t.Context(), []byte("taken")); err != nil {
		t.Fatal(err)
	}
	if got := receiptOf(t, a, text); got != "taken" {
		t.Errorf("receipt %q", got)
	}
}

// TestReceipts: whatever was committed comes back byte for byte.
func TestReceipts(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, receipt := range map[string][]byte{
		"empty": {}, "json": []byte("{\"a\": \"<&>\u2028\"}\n"), "every byte": all,
		"largest": bytes.Repeat([]byte{0xff}, 256<<10),
	} {
		text := issue(t, s, newClaim())
		lease := begin(t, s, text, newClaim())
		given := bytes.Clone(receipt)
		if err := lease.Commit(t.Context(), given); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		clear(given)
		for range 2 {
			if got := receiptOf(t, s, text); got != string(receipt) {
				t.Errorf("%s: %d bytes came back changed", name, len(receipt))
			}
		}
	}
	text := issue(t, s, newClaim())
	lease := begin(t, s, text, newClaim())
	wantCode(t, "Commit of too much", lease.Commit(t.Context(), make([]byte, 256<<10+1)), token.CodeTooLarge)
	if err := lease.Commit(t.Context(), []byte("short")); err != nil {
		t.Errorf("Commit after that: %v", err)
	}
}

// TestReadingConsumesNothing: only Begin does.
func TestReadingConsumesNothing(t *testing.T) {
	s, clock := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	for range 50 {
		clock.Add(time.Second)
		if _, err := s.Lookup(t.Context(), text, newClaim()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Pending(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	use(t, s, text, newClaim(), "")
}
