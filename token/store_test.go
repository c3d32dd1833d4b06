package token_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// foreign are claims of somebody who has the token but may not use it.
var foreign = []struct {
	name   string
	change func(*token.Claim)
}{
	{"other project", func(c *token.Claim) { c.Project = "atlas2" }},
	{"other kind", func(c *token.Claim) { c.Kind = "candidate_discard" }},
	{"other subject", func(c *token.Claim) { c.Subject = "writer-8" }},
	{"other tool", func(c *token.Claim) { c.Tool = "candidate_discard" }},
	{"other arguments", func(c *token.Claim) { c.Input = []byte(`{"candidateId":"outro"}`) }},
	{"no arguments", func(c *token.Claim) { c.Input = nil }},
	{"bytes moved between fields", func(c *token.Claim) { c.Project, c.Subject = "atlasw", "riter-7" }},
	{"empty", func(c *token.Claim) { *c = token.Claim{} }},
}

// TestBinding: with the right text and a wrong claim nothing can be done, and
// all refusals look alike.
func TestBinding(t *testing.T) {
	for _, state := range []token.State{token.StatePending, token.StateApproved, token.StateApplying, token.StateUsed} {
		for _, f := range foreign {
			t.Run(string(state)+", "+f.name, func(t *testing.T) {
				s, _ := openClocked(t, token.Options{})
				text := inState(t, s, state)
				before := states(t, s)
				_, err := s.Begin(t.Context(), text, with(f.change))
				wantInvalid(t, err)
				_, err = s.Resume(t.Context(), text, with(f.change))
				wantInvalid(t, err)
				if diff := cmp.Diff(before, states(t, s)); diff != "" {
					t.Errorf("the refused call changed something (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// inState issues a token for newClaim and brings it to a state.
func inState(t *testing.T, s *token.Store, state token.State) string {
	t.Helper()
	text := issue(t, s, with(func(c *token.Claim) { c.Approved = state != token.StatePending }))
	switch state {
	case token.StateApplying:
		begin(t, s, text, newClaim()).Release()
	case token.StateUsed:
		use(t, s, text, newClaim(), "receipt")
	}
	return text
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

// TestStale: whatever differs from what was approved is refused by name, and
// nothing is consumed.
func TestStale(t *testing.T) {
	cases := []struct {
		name    string
		change  func(*token.Claim)
		changed []string
		text    string
	}{
		{
			"target changed", func(c *token.Claim) { c.Base = map[string]string{"docs/intro.md": "0", "docs/new.md": ""} },
			[]string{"docs/intro.md"},
			`"docs/intro.md"`,
		},
		{"target appeared", func(c *token.Claim) {
			c.Base = map[string]string{"docs/intro.md": newClaim().Base["docs/intro.md"], "docs/new.md": "0"}
		}, []string{"docs/new.md"}, `"docs/new.md"`},
		{"path added", func(c *token.Claim) {
			c.Base = map[string]string{"docs/intro.md": newClaim().Base["docs/intro.md"], "docs/new.md": "", "docs/x.md": ""}
		}, []string{"docs/x.md"}, `"docs/x.md"`},
		{"path renamed in case only", func(c *token.Claim) {
			c.Base = map[string]string{"docs/Intro.md": newClaim().Base["docs/intro.md"], "docs/new.md": ""}
		}, []string{"docs/Intro.md", "docs/intro.md"}, `"docs/Intro.md", "docs/intro.md"`},
		{
			"path dropped", func(c *token.Claim) { c.Base = map[string]string{"docs/new.md": ""} },
			[]string{"docs/intro.md"},
			`"docs/intro.md"`,
		},
		{"manifest only", func(c *token.Claim) { c.Manifest = strings.Repeat("1e", 32) }, nil, "what would be written differs"},
		{"no manifest", func(c *token.Claim) { c.Manifest = "" }, nil, "what would be written differs"},
		{
			"many", func(c *token.Claim) { c.Base = map[string]string{"a": "", "b": "", "c": ""} },
			[]string{"a", "b", "c", "docs/intro.md", "docs/new.md"},
			`"a", "b", "c" and 2 more`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, _ := openClocked(t, token.Options{})
			for _, approved := range []bool{true, false} {
				text := issue(t, s, with(func(c *token.Claim) { c.Approved = approved }))
				_, err := s.Begin(t.Context(), text, with(c.change))
				var e *token.Error
				if !errors.As(err, &e) || e.Code != token.CodeStale {
					t.Fatalf("Begin gave %v, want code %s", err, token.CodeStale)
				}
				if diff := cmp.Diff(c.changed, e.Changed); diff != "" {
					t.Errorf("changed paths (-want +got):\n%s", diff)
				}
				if !strings.HasSuffix(err.Error(), ": "+c.text) {
					t.Errorf("message %q does not end with %q", err, c.text)
				}
			}
			if diff := cmp.Diff([]token.State{token.StateApproved, token.StatePending}, states(t, s)); diff != "" {
				t.Errorf("a stale proposal was consumed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStaleByOneByte flips every byte of every digest: none is applied.
func TestStaleByOneByte(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	flipped := func(digest string, i int) string {
		b := []byte(digest)
		b[i] ^= 1
		return string(b)
	}
	flips := 0
	for i := range newClaim().Manifest {
		wantBegin(t, s, text, with(func(c *token.Claim) { c.Manifest = flipped(c.Manifest, i) }), token.CodeStale)
		wantBegin(t, s, text, with(func(c *token.Claim) {
			c.Base["docs/intro.md"] = flipped(c.Base["docs/intro.md"], i)
		}), token.CodeStale)
		flips += 2
	}
	use(t, s, text, newClaim(), "")
	t.Logf("0 applied of %d flips", flips)
}

// TestSiblings: two proposals on one base; when one was applied the base is
// another, and the second is stale.
func TestSiblings(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	first, second := issue(t, s, newClaim()), issue(t, s, newClaim())
	use(t, s, first, newClaim(), "applied")
	after := with(func(c *token.Claim) { c.Base["docs/new.md"] = strings.Repeat("1f", 32) })
	wantBegin(t, s, second, after, token.CodeStale)
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

// TestLookup: the arguments come back to the tool that a token was issued for,
// as a copy, and nobody else.
func TestLookup(t *testing.T) {
	for _, state := range []token.State{token.StatePending, token.StateApproved, token.StateApplying, token.StateUsed} {
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

func TestClaimRules(t *testing.T) {
	big := map[string]string{}
	for i := range 4097 {
		big[fmt.Sprintf("f%d", i)] = ""
	}
	wide := map[string]string{}
	for i := range 4096 {
		wide[fmt.Sprintf("%s/%d", strings.Repeat("d", 120), i)] = strings.Repeat("0", 64)
	}
	cases := []struct {
		name   string
		change func(*token.Claim)
		want   token.Code
	}{
		{"no project", func(c *token.Claim) { c.Project = "" }, token.CodeClaim},
		{"no subject", func(c *token.Claim) { c.Subject = "" }, token.CodeClaim},
		{"no tool", func(c *token.Claim) { c.Tool = "" }, token.CodeClaim},
		{"no kind", func(c *token.Claim) { c.Kind = "" }, token.CodeClaim},
		{"long project", func(c *token.Claim) { c.Project = strings.Repeat("p", 201) }, token.CodeClaim},
		{"subject not UTF-8", func(c *token.Claim) { c.Subject = "a\xff" }, token.CodeClaim},
		{"subject with a line end", func(c *token.Claim) { c.Subject = "a\nb" }, token.CodeClaim},
		{"tool with a bidi override", func(c *token.Claim) { c.Tool = "a\u202eb" }, token.CodeClaim},
		{"kind in capitals", func(c *token.Claim) { c.Kind = "Apply" }, token.CodeClaim},
		{"kind starts with a digit", func(c *token.Claim) { c.Kind = "1apply" }, token.CodeClaim},
		{"kind with a space", func(c *token.Claim) { c.Kind = "a b" }, token.CodeClaim},
		{"long kind", func(c *token.Claim) { c.Kind = strings.Repeat("k", 33) }, token.CodeClaim},
		{"long manifest", func(c *token.Claim) { c.Manifest = strings.Repeat("0", 129) }, token.CodeClaim},
		{"manifest is text", func(c *token.Claim) { c.Manifest = "all the files" }, token.CodeClaim},
		{"base is text", func(c *token.Claim) { c.Base = map[string]string{"a": "body\n"} }, token.CodeClaim},
		{"absolute path", func(c *token.Claim) { c.Base = map[string]string{"/etc/passwd": ""} }, token.CodeClaim},
		{"path out of the root", func(c *token.Claim) { c.Base = map[string]string{"../x": ""} }, token.CodeClaim},
		{"big input", func(c *token.Claim) { c.Input = make([]byte, 64<<10+1) }, token.CodeTooLarge},
		{"many paths", func(c *token.Claim) { c.Base = big }, token.CodeTooLarge},
		{"much base", func(c *token.Claim) { c.Base = wide }, token.CodeTooLarge},
		{"largest input", func(c *token.Claim) { c.Input = make([]byte, 64<<10) }, ""},
		{"longest ids", func(c *token.Claim) {
			c.Project, c.Subject, c.Tool = strings.Repeat("p", 200), strings.Repeat("s", 200), strings.Repeat("t", 200)
			c.Kind = "k" + strings.Repeat("-", 31)
		}, ""},
		{"only what is needed", func(c *token.Claim) { c.Input, c.Manifest, c.Base = nil, "", nil }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, _ := openClocked(t, token.Options{})
			claim := with(c.change)
			tok, err := s.Issue(t.Context(), claim)
			wantCode(t, "Issue", err, c.want)
			if c.want != "" {
				if got := len(states(t, s)); got != 0 {
					t.Errorf("a refused claim left %d records", got)
				}
				return
			}
			use(t, s, tok.Reveal(), claim, "ok")
		})
	}
}

// TestSurvivesRestart: tokens, approvals and receipts are the same in the next
// process.
func TestSurvivesRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	clock := newTestClock()
	first, err := token.Open(dir, &token.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[token.State]string{}
	for _, state := range []token.State{token.StatePending, token.StateApproved, token.StateApplying, token.StateUsed} {
		texts[state] = inState(t, first, state)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, first, texts[token.StateApproved], newClaim(), token.CodeClosed)
	if err := first.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}

	clock.Add(29 * time.Minute)
	s := open(t, dir, &token.Options{Now: clock.Now})
	wantBegin(t, s, texts[token.StatePending], newClaim(), token.CodePending)
	wantBegin(t, s, texts[token.StateApplying], newClaim(), token.CodeBusy)
	wantBegin(t, s, texts[token.StateUsed], newClaim(), token.CodeUsed)
	use(t, s, texts[token.StateApproved], newClaim(), "second process")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v and error %v, want 0700", info.Mode(), err)
	}
}

// TestTwoStores: what one store does the other sees, also after the log was
// replaced below it.
func TestTwoStores(t *testing.T) {
	dir := t.TempDir()
	const slack = 4 << 10
	a, b := openSlack(t, dir, slack), openSlack(t, dir, slack)
	for i := range 200 {
		text := issue(t, a, newClaim())
		use(t, b, text, newClaim(), fmt.Sprint(i))
		if got := receiptOf(t, a, text); got != fmt.Sprint(i) {
			t.Fatalf("round %d: the other store has the receipt %q", i, got)
		}
		a, b = b, a
	}
	info, err := os.Stat(filepath.Join(dir, "approvals.log"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2*64*1000+slack {
		t.Errorf("the log has %d bytes for 64 records", info.Size())
	}
}

// openSlack opens a store whose log is written anew often.
func openSlack(t *testing.T, dir string, slack int64) *token.Store {
	t.Helper()
	disk, err := token.RealDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := token.OpenOn(disk, slack, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNothingLeaks: neither the token nor what it approves is on disk, in logs
// or in errors; arguments are, and that is said.
func TestNothingLeaks(t *testing.T) {
	const body = "The quick brown body of a document"
	dir := t.TempDir()
	var logs logBuffer
	s := open(t, dir, &token.Options{Logger: logs.logger()})
	claim := with(func(c *token.Claim) { c.Manifest = sum(body) })
	tok, err := s.Issue(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	text := tok.Reveal()
	_, staleErr := s.Begin(t.Context(), text, newClaim())
	_, badErr := s.Begin(t.Context(), text, with(func(c *token.Claim) { c.Tool = "other" }))
	use(t, s, text, claim, sum(body))
	_, usedErr := s.Begin(t.Context(), text, claim)

	secret := regexp.MustCompile(regexp.QuoteMeta(text[len(text)-43:]))
	for name, where := range map[string]string{
		"the directory": dirText(t, dir),
		"the log":       logs.String(),
		"an error":      fmt.Sprintf("%v %#v %v %#v %v %#v", staleErr, staleErr, badErr, badErr, usedErr, usedErr),
		"a print":       fmt.Sprintf("%v %+v %#v %s %q %x", tok, tok, tok, tok, tok, tok),
	} {
		if secret.MatchString(where) {
			t.Errorf("%s holds the token", name)
		}
		for _, form := range []string{body, base64Of(body)} {
			if strings.Contains(where, form) {
				t.Errorf("%s holds the body", name)
			}
		}
	}
	if !strings.Contains(dirText(t, dir), sum(body)) {
		t.Error("the directory does not hold the digest, so that this test proves nothing")
	}
}

func TestContextEnds(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	text := issue(t, s, newClaim())
	ctx := ended(t)
	calls := map[string]func() error{
		"Issue":   func() error { _, err := s.Issue(ctx, newClaim()); return err },
		"Lookup":  func() error { _, err := s.Lookup(ctx, text, newClaim()); return err },
		"Begin":   func() error { _, err := s.Begin(ctx, text, newClaim()); return err },
		"Pending": func() error { _, err := s.Pending(ctx); return err },
		"Approve": func() error { return s.Approve(ctx, strings.Repeat("0", 64)) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gave %v, want %v", name, err, context.Canceled)
		}
	}
	lease := begin(t, s, text, newClaim())
	if err := lease.Commit(ctx, []byte("done")); err != nil {
		t.Errorf("Commit gave %v; what was done must be recorded", err)
	}
	wantBegin(t, s, text, newClaim(), token.CodeUsed)
}

// TestLockIsHeld: while another process keeps the lock, a call waits for as
// long as its context allows.
func TestLockIsHeld(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	disk, err := token.RealDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	unlock, err := disk.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Issue(ctx, newClaim())
	wantCode(t, "Issue", err, token.CodeLocked)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the cause of %v is not the deadline", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	issue(t, s, newClaim())
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		dir  func(t *testing.T) string
		want token.Code
	}{
		{"a file", func(*testing.T) string { return file }, token.CodeIO},
		{"below a file", func(*testing.T) string { return filepath.Join(file, "x") }, token.CodeIO},
		{"a name that is not allowed", func(*testing.T) string { return filepath.Join(dir, "new", "a:b") }, token.CodeIO},
		{"log open to others", func(t *testing.T) string {
			t.Helper()
			d := t.TempDir()
			issue(t, open(t, d, nil), newClaim())
			if err := os.Chmod(filepath.Join(d, "approvals.log"), 0o640); err != nil {
				t.Fatal(err)
			}
			return d
		}, token.CodeExposed},
		{"log is a link", func(t *testing.T) string {
			t.Helper()
			d := t.TempDir()
			issue(t, open(t, d, nil), newClaim())
			log := filepath.Join(d, "approvals.log")
			if err := errors.Join(os.Rename(log, log+"2"), os.Symlink("approvals.log2", log)); err != nil {
				t.Fatal(err)
			}
			return d
		}, token.CodeIO},
		{"log is a directory", func(t *testing.T) string {
			t.Helper()
			d := t.TempDir()
			if err := os.Mkdir(filepath.Join(d, "approvals.log"), 0o700); err != nil {
				t.Fatal(err)
			}
			return d
		}, token.CodeIO},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := token.Open(c.dir(t), nil)
			wantCode(t, "Open", err, c.want)
			if err == nil {
				s.Close()
			}
		})
	}
}

// TestAllocs: a token's way through the log takes a bounded number of
// allocations, however many others there are.
func TestAllocs(t *testing.T) {
	s := open(t, t.TempDir(), &token.Options{MaxPerSubject: 500})
	claim := newClaim()
	for range 300 {
		issue(t, s, claim)
	}
	text := issue(t, s, claim)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := s.Lookup(t.Context(), text, claim); err != nil {
			t.Fatal(err)
		}
	}); n > 40 {
		t.Errorf("Lookup allocates %v times", n)
	}
	if n := testing.AllocsPerRun(20, func() { use(t, s, issue(t, s, claim), claim, "") }); n > 400 {
		t.Errorf("a whole life allocates %v times", n)
	}
}
