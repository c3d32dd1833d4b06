package token_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

func TestLifeOfAToken(t *testing.T) {
	s, clock := openClocked(t, token.Options{})
	claim := with(func(c *token.Claim) { c.Approved = false })
	tok, err := s.Issue(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	if want := start.Add(30 * time.Minute); !tok.Expires().Equal(want) {
		t.Errorf("the token expires at %v, want %v", tok.Expires(), want)
	}
	text := tok.Reveal()
	wantBegin(t, s, text, claim, token.CodePending)

	waiting, err := s.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := claim
	kept.Approved = false
	want := []token.Record{{
		Hash: tok.Hash(), Version: 1, State: token.StatePending,
		Issued: start, Expires: tok.Expires(), Changed: start,
		Claim: kept, Bound: waiting[0].Bound, Size: waiting[0].Size,
	}}
	if diff := cmp.Diff(want, waiting); diff != "" {
		t.Errorf("Pending (-want +got):\n%s", diff)
	}

	clock.Add(time.Minute)
	if err := s.Approve(t.Context(), tok.Hash()[:12]); err != nil {
		t.Fatal(err)
	}
	lease := begin(t, s, text, claim)
	if lease.Resumed() || lease.Hash() != tok.Hash() {
		t.Errorf("lease of %s, resumed %v; want %s, false", lease.Hash(), lease.Resumed(), tok.Hash())
	}
	wantBegin(t, s, text, claim, token.CodeBusy)
	receipt := []byte("{\"files\":[\"a\"]}\n\x00\xff")
	if err := lease.Commit(t.Context(), receipt); err != nil {
		t.Fatal(err)
	}
	_, err = s.Begin(t.Context(), text, claim)
	var e *token.Error
	if !errors.As(err, &e) || e.Code != token.CodeUsed || !bytes.Equal(e.Receipt, receipt) {
		t.Errorf("Begin after Commit gave %v with receipt %q", err, e.Receipt)
	}
	rec, err := s.Lookup(t.Context(), text, claim)
	if err != nil || rec.State != token.StateUsed || !bytes.Equal(rec.Receipt, receipt) {
		t.Errorf("Lookup after Commit gave state %q, receipt %q and %v", rec.State, rec.Receipt, err)
	}
}

// wantInvalid checks that an error is the one answer for all bad tokens.
func wantInvalid(t *testing.T, err error) {
	t.Helper()
	want := &token.Error{Code: token.CodeInvalid}
	var e *token.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %v", err, want)
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("the answer tells more than it should (-want +got):\n%s", diff)
	}
	if err.Error() != want.Error() || e.ErrorDetails() != nil || e.Unwrap() != nil {
		t.Errorf("the answer %q tells more than it should", err)
	}
}

// TestOneAnswer collects every way in which a token can be bad.
func TestOneAnswer(t *testing.T) {
	var logs logBuffer
	s, clock := openClocked(t, token.Options{Logger: logs.logger(), MaxPerSubject: 3})
	old := issue(t, s, newClaim())
	clock.Add(30 * time.Minute)
	expired := issue(t, s, newClaim())
	clock.Add(30 * time.Minute)
	used := issue(t, s, newClaim())
	use(t, s, used, newClaim(), "receipt")
	good := issue(t, s, newClaim())
	revoked := issue(t, s, newClaim())
	if err := s.Revoke(t.Context(), hashOf(t, s, revoked)); err != nil {
		t.Fatal(err)
	}
	other := with(func(c *token.Claim) { c.Subject = "writer-9" })
	evicted := issue(t, s, other)
	for range 3 {
		issue(t, s, other)
	}
	elsewhere := issue(t, open(t, t.TempDir(), nil), newClaim())

	cases := []struct {
		name, text, reason string
		claim              token.Claim
	}{
		{"empty", "", "malformed", newClaim()},
		{"words", "please apply it", "malformed", newClaim()},
		{"other prefix", "x2" + good[2:], "malformed", newClaim()},
		{"too short", good[:len(good)-1], "malformed", newClaim()},
		{"too long", good + "A", "malformed", newClaim()},
		{"space after", good + " ", "malformed", newClaim()},
		{"loose last bits", good[:len(good)-1] + "B", "malformed", newClaim()},
		{"huge", "x1_" + strings.Repeat("a", 1<<20), "malformed", newClaim()},
		{"kind in the text altered", strings.Replace(good, "_apply_", "_apple_", 1), "unknown", newClaim()},
		{"invented", "x1_candidate_apply_" + strings.Repeat("A", 43), "unknown", newClaim()},
		{"of another store", elsewhere, "unknown", newClaim()},
		{"its hash", hashOf(t, s, good), "malformed", newClaim()},
		{"expired and swept", old, "unknown", newClaim()},
		{"expired", expired, "unknown", newClaim()},
		{"evicted", evicted, "unknown", other},
		{"revoked", revoked, "unknown", newClaim()},
		{"of another subject", good, "of another project, kind, subject or tool", other},
		{"of other arguments", good, "of other arguments", with(func(c *token.Claim) { c.Input = []byte("2") })},
		{"used, other manifest", used, "used with another claim", with(func(c *token.Claim) { c.Manifest = "2" })},
		{"used, other base", used, "used with another claim", with(func(c *token.Claim) { c.Base = nil })},
		{"used, other arguments", used, "used with another claim", with(func(c *token.Claim) { c.Input = nil })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := len(logs.String())
			_, err := s.Begin(t.Context(), c.text, c.claim)
			wantInvalid(t, err)
			if said := logs.String()[from:]; !strings.Contains(said, `"reason":"`+c.reason+`"`) {
				t.Errorf("the log says %s, want reason %q", said, c.reason)
			}
		})
	}
	for _, text := range []string{good, used, evicted, expired, elsewhere} {
		if strings.Contains(logs.String(), text[len(text)-43:]) {
			t.Errorf("the log holds the token %s", text)
		}
	}
	use(t, s, good, newClaim(), "after all this it still works")
}

// hashOf finds the hash of a token by looking it up.
func hashOf(t *testing.T, s *token.Store, text string) string {
	t.Helper()
	rec, err := s.Lookup(t.Context(), text, newClaim())
	if err != nil {
		t.Fatalf("Lookup: %v", err)
	}
	return rec.Hash
}

// TestNothingElseApproves: no field of a claim and no order of calls makes a
// pending token approved, except Approve.
func TestNothingElseApproves(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, with(func(c *token.Claim) { c.Approved = false }))
	for range 3 {
		wantBegin(t, s, text, newClaim(), token.CodePending)
		_, err := s.Resume(t.Context(), text, newClaim())
		wantCode(t, "Resume", err, token.CodePending)
		if _, err := s.Lookup(t.Context(), text, newClaim()); err != nil {
			t.Errorf("Lookup: %v", err)
		}
	}
	if diff := cmp.Diff([]token.State{token.StatePending}, states(t, s)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestApproveAndRevoke(t *testing.T) {
	s, clock := openClocked(t, token.Options{})
	ctx := t.Context()
	pending := with(func(c *token.Claim) { c.Approved = false })
	a, err := s.Issue(ctx, pending)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Issue(ctx, pending)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", a.Hash()[:11], strings.Repeat("0", 64), a.Reveal(), a.Hash() + "0"} {
		wantCode(t, fmt.Sprintf("Approve(%q)", id), s.Approve(ctx, id), token.CodeUnknown)
		wantCode(t, fmt.Sprintf("Revoke(%q)", id), s.Revoke(ctx, id), token.CodeUnknown)
		wantCode(t, fmt.Sprintf("Decline(%q)", id), s.Decline(ctx, id), token.CodeUnknown)
	}
	for range 2 {
		if err := s.Approve(ctx, a.Hash()); err != nil {
			t.Errorf("Approve: %v", err)
		}
	}
	if err := s.Revoke(ctx, b.Hash()); err != nil {
		t.Errorf("Revoke: %v", err)
	}
	wantBegin(t, s, b.Reveal(), pending, token.CodeInvalid)
	use(t, s, a.Reveal(), pending, "")
	wantCode(t, "Approve of a used one", s.Approve(ctx, a.Hash()), token.CodeUnknown)
	wantCode(t, "Revoke of a used one", s.Revoke(ctx, a.Hash()), token.CodeUnknown)
	wantCode(t, "Decline of a used one", s.Decline(ctx, a.Hash()), token.CodeUnknown)

	late, err := s.Issue(ctx, pending)
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(30 * time.Minute)
	wantCode(t, "Approve of an expired one", s.Approve(ctx, late.Hash()), token.CodeUnknown)
	if list, err := s.Pending(ctx); err != nil || len(list) != 0 {
		t.Errorf("Pending gave %d expired records and %v", len(list), err)
	}
}

// TestDecline: who sends the declined token for the very same call learns why,
// whatever changed since, until it expires; nothing brings it back.
func TestDecline(t *testing.T) {
	for _, before := range []token.State{token.StatePending, token.StateApproved} {
		t.Run(string(before), func(t *testing.T) {
			s, clock := openClocked(t, token.Options{})
			ctx, text := t.Context(), inState(t, s, before)
			hash := hashOf(t, s, text)
			if err := s.Decline(ctx, hash[:12]); err != nil {
				t.Fatalf("Decline: %v", err)
			}
			wantBegin(t, s, text, newClaim(), token.CodeDeclined)
			wantBegin(t, s, text, with(func(c *token.Claim) { c.Manifest = "2" }), token.CodeDeclined)
			_, err := s.Resume(ctx, text, newClaim())
			wantCode(t, "Resume", err, token.CodeDeclined)
			wantCode(t, "Approve", s.Approve(ctx, hash), token.CodeUnknown)
			wantCode(t, "Revoke", s.Revoke(ctx, hash), token.CodeUnknown)
			wantCode(t, "Decline again", s.Decline(ctx, hash), token.CodeUnknown)
			if list, err := s.Pending(ctx); err != nil || len(list) != 0 {
				t.Errorf("Pending gave %d records and %v", len(list), err)
			}
			clock.Add(30*time.Minute - time.Millisecond)
			if rec, err := s.Lookup(ctx, text, newClaim()); err != nil || rec.State != token.StateDeclined {
				t.Errorf("Lookup before it expires gave state %q and %v", rec.State, err)
			}
			clock.Add(time.Millisecond)
			_, err = s.Lookup(ctx, text, newClaim())
			wantInvalid(t, err)
			_, err = s.Begin(ctx, text, newClaim())
			wantInvalid(t, err)
		})
	}
}

// TestDeclineWhileApplied: what was begun cannot be declined any more.
func TestDeclineWhileApplied(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := inState(t, s, token.StateApplying)
	wantCode(t, "Decline", s.Decline(t.Context(), hashOf(t, s, text)), token.CodeUnknown)
	wantBegin(t, s, text, newClaim(), token.CodeBusy)
}

// TestLookup: the arguments come back to the tool that a token was issued for,
// as a copy, and nobody else.
func TestLookup(t *testing.T) {
	for _, state := range everyState() {
		t.Run(string(state), func(t *testing.T) {
			s, _ := openClocked(t, token.Options{})
			text := inState(t, s, state)
			scope := newClaim()
			scope.Input, scope.Manifest, scope.Base = nil, "", nil
			rec, err := s.Lookup(t.Context(), text, scope)
			if err != nil {
				t.Fatal(err)
			}
			want := newClaim()
			want.Approved = false
			if state == token.StateUsed {
				want.Input, want.Manifest, want.Base = nil, "", nil
			}
			if diff := cmp.Diff(want, rec.Claim); diff != "" {
				t.Errorf("claim (-want +got):\n%s", diff)
			}
			if rec.State != state {
				t.Errorf("state %s, want %s", rec.State, state)
			}
			if rec.Claim.Base != nil {
				rec.Claim.Base["docs/intro.md"] = "altered"
				rec.Claim.Input[0] = '!'
				again, err := s.Lookup(t.Context(), text, scope)
				if err != nil || !cmp.Equal(want, again.Claim) {
					t.Errorf("a caller altered the kept claim: %v, %v", again.Claim, err)
				}
			}
			for _, f := range foreign {
				c := with(f.change)
				if c.Project == "atlas" && c.Tool == "candidate_apply" && c.Subject == "writer-7" && c.Kind == "candidate_apply" {
					continue // differs in what Lookup does not read
				}
				_, err := s.Lookup(t.Context(), text, c)
				wantInvalid(t, err)
			}
		})
	}
}
