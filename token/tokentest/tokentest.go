// Package tokentest checks that a [token.Backend] keeps its contract, and has
// one in memory for tests.
//
//	func TestBackend(t *testing.T) {
//		tokentest.Run(t, func(t *testing.T) token.Backend {
//			return newBackend(t)
//		})
//	}
//
// The checks make a few hundred calls. What they cannot see is durability: that
// a change survives a power cut once Swap has returned is for the author of the
// backend to prove.
package tokentest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/token"
)

// Run runs the checks as subtests of t. newBackend returns an empty backend
// that it cleans up itself when the test it is given ends.
func Run(t *testing.T, newBackend func(t *testing.T) token.Backend) {
	t.Helper()
	checks := []struct {
		name string
		run  func(*testing.T, token.Backend)
	}{
		{"empty", empty},
		{"round trip", roundTrip},
		{"create once", createOnce},
		{"compare and swap", compareAndSwap},
		{"delete", remove},
		{"all or none", allOrNone},
		{"oldest first", oldestFirst},
		{"range and change", rangeAndChange},
		{"one winner", oneWinner},
		{"ended context", endedContext},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(t, newBackend(t)) })
	}
}

// sample returns a change that creates record number n.
func sample(n int) *token.Record {
	issued := time.Date(2031, 5, 17, 9, 30, 0, 250e6, time.UTC).Add(time.Duration(n) * time.Second)
	return &token.Record{
		Hash: fmt.Sprintf("%064x", n+1), State: token.StateApproved,
		Issued: issued, Expires: issued.Add(30 * time.Minute), Changed: issued,
		Claim: token.Claim{
			Project: "atlas", Kind: "apply", Subject: "writer-7", Tool: "candidate_apply",
			Input:    []byte("{\"id\":\"<&\\u00e9\u2028\"}\x00\xff"),
			Manifest: fmt.Sprintf("%064x", 1000+n),
			Base:     map[string]string{"docs/a & b.md": "sha256:00ff", "docs/new.md": ""},
		},
		Bound: fmt.Sprintf("%064x", 2000+n), Size: 700,
	}
}

// at returns rec as it is kept at a version.
func at(rec *token.Record, version int64) *token.Record {
	c := *rec
	c.Version = version
	return &c
}

func swap(t *testing.T, b token.Backend, changes ...*token.Record) {
	t.Helper()
	if err := b.Swap(t.Context(), changes...); err != nil {
		t.Fatalf("Swap: %v", err)
	}
}

func conflict(t *testing.T, b token.Backend, changes ...*token.Record) {
	t.Helper()
	err := b.Swap(t.Context(), changes...)
	if token.CodeOf(err) != token.CodeConflict {
		t.Fatalf("Swap gave %v, want code %s", err, token.CodeConflict)
	}
}

// has checks what Get returns for a hash; nil means no record.
func has(t *testing.T, b token.Backend, hash string, want *token.Record) {
	t.Helper()
	got, err := b.Get(t.Context(), hash)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if text(t, want) != text(t, got) {
		t.Fatalf("Get(%s)\n got %s\nwant %s", hash, text(t, got), text(t, want))
	}
}

// text returns the JSON form of a record, which tells all that matters.
func text(t *testing.T, rec *token.Record) string {
	t.Helper()
	b, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hashes returns the hashes that Range yields.
func hashes(t *testing.T, b token.Backend) []string {
	t.Helper()
	var list []string
	for rec, err := range b.Range(t.Context()) {
		if err != nil {
			t.Fatalf("Range: %v", err)
		}
		list = append(list, rec.Hash)
	}
	return list
}

func empty(t *testing.T, b token.Backend) {
	t.Helper()
	has(t, b, sample(0).Hash, nil)
	if got := hashes(t, b); len(got) != 0 {
		t.Errorf("an empty backend yields %q", got)
	}
}

func roundTrip(t *testing.T, b token.Backend) {
	t.Helper()
	first := sample(0)
	swap(t, b, first)
	has(t, b, first.Hash, at(first, 1))

	used := at(first, 1)
	used.State, used.Changed = token.StateUsed, first.Changed.Add(time.Minute)
	used.Claim = token.Claim{Project: "atlas", Kind: "apply", Subject: "writer-7", Tool: "candidate_apply"}
	used.Receipt = bytes.Repeat([]byte("\x00<\xff"), 1000)
	swap(t, b, used)
	has(t, b, first.Hash, at(used, 2))
	if first.Version != 0 || first.State != token.StateApproved {
		t.Error("Swap modified the record it was given")
	}
}

func createOnce(t *testing.T, b token.Backend) {
	t.Helper()
	rec := sample(0)
	swap(t, b, rec)
	conflict(t, b, rec)
	conflict(t, b, at(sample(1), 1))
	has(t, b, sample(1).Hash, nil)
}

func compareAndSwap(t *testing.T, b token.Backend) {
	t.Helper()
	rec := sample(0)
	swap(t, b, rec)
	next := at(rec, 1)
	next.State = token.StateApplying
	swap(t, b, next)
	for _, version := range []int64{0, 1, 3} {
		conflict(t, b, at(rec, version))
	}
	has(t, b, rec.Hash, at(next, 2))
}

func remove(t *testing.T, b token.Backend) {
	t.Helper()
	rec := sample(0)
	swap(t, b, rec, sample(1))
	conflict(t, b, &token.Record{Hash: rec.Hash, Version: 2})
	swap(t, b, &token.Record{Hash: rec.Hash, Version: 1})
	has(t, b, rec.Hash, nil)
	conflict(t, b, &token.Record{Hash: rec.Hash, Version: 1})
	swap(t, b, rec)
	has(t, b, rec.Hash, at(rec, 1))
}

func allOrNone(t *testing.T, b token.Backend) {
	t.Helper()
	swap(t, b, sample(0))
	gone := &token.Record{Hash: sample(0).Hash, Version: 1}
	conflict(t, b, gone, sample(1), at(sample(2), 4))
	has(t, b, sample(0).Hash, at(sample(0), 1))
	has(t, b, sample(1).Hash, nil)
	swap(t, b, gone, sample(1), sample(2))
	want := []string{sample(1).Hash, sample(2).Hash}
	if got := hashes(t, b); !slices.Equal(got, want) {
		t.Errorf("after the swap there are %q, want %q", got, want)
	}
}

func oldestFirst(t *testing.T, b token.Backend) {
	t.Helper()
	var want []string
	for _, n := range []int{5, 2, 9, 0} {
		swap(t, b, sample(n))
		want = append(want, sample(n).Hash)
	}
	changed := at(sample(5), 1)
	changed.State = token.StateApplying
	swap(t, b, changed)
	if got := hashes(t, b); !slices.Equal(got, want) {
		t.Errorf("a change moved a record: %q, want %q", got, want)
	}
	for _, err := range b.Range(t.Context()) {
		if err != nil {
			t.Fatalf("Range: %v", err)
		}
		break // must be possible
	}
}

func rangeAndChange(t *testing.T, b token.Backend) {
	t.Helper()
	for n := range 20 {
		swap(t, b, sample(n))
	}
	for rec, err := range b.Range(t.Context()) {
		if err != nil {
			t.Fatalf("Range: %v", err)
		}
		swap(t, b, &token.Record{Hash: rec.Hash, Version: rec.Version})
	}
	if got := hashes(t, b); len(got) != 0 {
		t.Errorf("%d records are left", len(got))
	}
}

func oneWinner(t *testing.T, b token.Backend) {
	t.Helper()
	const workers, rounds = 8, 10
	swap(t, b, sample(0))
	for round := range int64(rounds) {
		var won atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				err := b.Swap(t.Context(), at(sample(0), round+1))
				switch {
				case err == nil:
					won.Add(1)
				case token.CodeOf(err) != token.CodeConflict:
					t.Errorf("Swap: %v", err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d of %d made the same change", won.Load(), workers)
		}
	}
	has(t, b, sample(0).Hash, at(sample(0), rounds+1))
}

func endedContext(t *testing.T, b token.Backend) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Swap(ctx, sample(0)); err == nil {
		t.Error("Swap worked with an ended context")
	}
	if _, err := b.Get(ctx, sample(0).Hash); err == nil {
		t.Error("Get worked with an ended context")
	}
	failed := slices.ContainsFunc(ranged(ctx, b), func(err error) bool { return err != nil })
	if !failed {
		t.Error("Range worked with an ended context")
	}
	has(t, b, sample(0).Hash, nil)
}

// ranged returns the errors that Range yields.
func ranged(ctx context.Context, b token.Backend) []error {
	var errs []error
	for _, err := range b.Range(ctx) {
		errs = append(errs, err)
	}
	return errs
}
