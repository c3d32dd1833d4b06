package token_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

func subject(name string) token.Claim {
	return with(func(c *token.Claim) { c.Subject = name })
}

// TestFlood: one subject floods the store; the tokens of the others survive,
// and so do the flooder's newest.
func TestFlood(t *testing.T) {
	s, _ := openClocked(t, token.Options{MaxRecords: 40, MaxPerSubject: 8})
	var others []string
	for i := range 5 {
		others = append(others, issue(t, s, subject(fmt.Sprintf("other-%d", i))))
	}
	flooder := subject("flooder")
	begun := begin(t, s, issue(t, s, flooder), flooder)
	var flood []string
	for range 200 {
		flood = append(flood, issue(t, s, flooder))
	}
	if got := len(states(t, s)); got != 5+8 {
		t.Errorf("%d records, want 13", got)
	}
	for i, text := range others {
		use(t, s, text, subject(fmt.Sprintf("other-%d", i)), "")
	}
	newest := flood[len(flood)-7:]
	for i, text := range flood[len(flood)-9:] {
		_, err := s.Lookup(t.Context(), text, flooder)
		want := token.Code("")
		if i < 2 {
			want = token.CodeInvalid
		}
		wantCode(t, fmt.Sprintf("token %d of the last 9", i), err, want)
	}
	use(t, s, newest[0], flooder, "")
	if err := begun.Commit(t.Context(), nil); err != nil {
		t.Errorf("the flood hit a token that was being applied: %v", err)
	}
}

// TestSameSubjectInOtherProject: quotas are per project.
func TestSameSubjectInOtherProject(t *testing.T) {
	s, _ := openClocked(t, token.Options{MaxPerSubject: 2})
	here := issue(t, s, newClaim())
	for range 10 {
		issue(t, s, with(func(c *token.Claim) { c.Project = "borealis" }))
	}
	use(t, s, here, newClaim(), "")
}

// TestOldestFirst: when the store is full the oldest go, whoever has them, but
// not those that are being applied.
func TestOldestFirst(t *testing.T) {
	s, clock := openClocked(t, token.Options{MaxRecords: 5})
	var texts []string
	for i := range 5 {
		clock.Add(time.Second)
		texts = append(texts, issue(t, s, subject(fmt.Sprint(i))))
	}
	begin(t, s, texts[0], subject("0"))
	use(t, s, texts[1], subject("1"), "receipt")
	issue(t, s, subject("5"))
	issue(t, s, subject("6"))
	for i, want := range []token.Code{token.CodeBusy, token.CodeInvalid, token.CodeInvalid, "", ""} {
		_, err := s.Begin(t.Context(), texts[i], subject(fmt.Sprint(i)))
		wantCode(t, fmt.Sprintf("token %d", i), err, want)
	}
}

// TestFull: when everything is being applied there is no room, and nothing is
// given up for it.
func TestFull(t *testing.T) {
	for name, opts := range map[string]token.Options{
		"store":   {MaxRecords: 3},
		"subject": {MaxPerSubject: 3},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := openClocked(t, opts)
			for range 3 {
				begin(t, s, issue(t, s, newClaim()), newClaim())
			}
			_, err := s.Issue(t.Context(), newClaim())
			wantCode(t, "Issue", err, token.CodeFull)
			applying := []token.State{token.StateApplying, token.StateApplying, token.StateApplying}
			if diff := cmp.Diff(applying, states(t, s)); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			clock.Add(24 * time.Hour)
			issue(t, s, newClaim())
		})
	}
}

// TestGivenUp: what crashed while it was applied makes room in the end, after
// all else, and is never applied again.
func TestGivenUp(t *testing.T) {
	s, clock := openClocked(t, token.Options{MaxPerSubject: 3, TTL: time.Hour})
	var crashed []string
	for range 3 {
		clock.Add(time.Second)
		text := issue(t, s, newClaim())
		begin(t, s, text, newClaim()).Release()
		crashed = append(crashed, text)
	}
	clock.Add(time.Hour - 3*time.Second)
	_, err := s.Issue(t.Context(), newClaim())
	wantCode(t, "Issue before its time", err, token.CodeFull)
	clock.Add(time.Second)
	first := issue(t, s, newClaim())
	second := issue(t, s, newClaim())
	_, err = s.Begin(t.Context(), first, newClaim())
	wantCode(t, "Begin of one that could make room", err, token.CodeInvalid)
	_, err = s.Resume(t.Context(), crashed[0], newClaim())
	wantCode(t, "Resume of the one that made room", err, token.CodeInvalid)
	use(t, s, second, newClaim(), "")
	lease, err := s.Resume(t.Context(), crashed[1], newClaim())
	if err != nil || !lease.Resumed() {
		t.Fatalf("Resume of another: %v", err)
	}
	clock.Add(time.Hour)
	for range 5 { // this process still applies it
		issue(t, s, newClaim())
	}
	if err := lease.Commit(t.Context(), nil); err != nil {
		t.Errorf("Commit: %v", err)
	}
}

// TestGivenUpAlive: if the process that was given up lives after all, its token
// is lost, and nobody can use it again.
func TestGivenUpAlive(t *testing.T) {
	backend := &tokentest.Memory{}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opts := &token.Options{Backend: backend, MaxPerSubject: 1, Now: func() time.Time { return now }}
	slow, other := open(t, "", opts), open(t, "", opts)
	text := issue(t, slow, newClaim())
	lease := begin(t, slow, text, newClaim())
	now = now.Add(time.Hour)
	issue(t, other, newClaim())
	wantCode(t, "Commit", lease.Commit(t.Context(), nil), token.CodeConflict)
	for _, s := range []*token.Store{slow, other} {
		_, err := s.Begin(t.Context(), text, newClaim())
		wantCode(t, "Begin", err, token.CodeInvalid)
	}
	_, err := other.Resume(t.Context(), text, newClaim())
	wantCode(t, "Resume", err, token.CodeInvalid)
}

// TestBytesAreBounded: large claims and receipts push out old records, too.
func TestBytesAreBounded(t *testing.T) {
	backend := &tokentest.Memory{}
	s := open(t, "", &token.Options{Backend: backend, MaxPerSubject: 1000})
	large := with(func(c *token.Claim) { c.Input = make([]byte, 64<<10) })
	for range 250 {
		issue(t, s, large)
	}
	total := func() (n int64) {
		for _, rec := range records(t, backend) {
			n += rec.Size
		}
		return n
	}
	if n := total(); n > 16<<20 || n < 15<<20 {
		t.Errorf("records of %d bytes, want just below %d", n, 16<<20)
	}
	for range 70 {
		text := issue(t, s, newClaim())
		if err := begin(t, s, text, newClaim()).Commit(t.Context(), make([]byte, 256<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if n := total(); n > 16<<20 {
		t.Errorf("with receipts records of %d bytes, the limit is %d", n, 16<<20)
	}
}

// TestReceiptWithoutRoom: a receipt is kept even if everything else is being
// applied and takes all the bytes there may be.
func TestReceiptWithoutRoom(t *testing.T) {
	backend := &tokentest.Memory{}
	s := open(t, "", &token.Options{Backend: backend, MaxPerSubject: 1000})
	small := issue(t, s, newClaim())
	lease := begin(t, s, small, newClaim())
	large := with(func(c *token.Claim) { c.Input = make([]byte, 64<<10) })
	for {
		tok, err := s.Issue(t.Context(), large)
		if token.CodeOf(err) == token.CodeFull {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		begin(t, s, tok.Reveal(), large)
	}
	if err := lease.Commit(t.Context(), make([]byte, 256<<10)); err != nil {
		t.Errorf("Commit without room gave %v", err)
	}
	wantBegin(t, s, small, newClaim(), token.CodeUsed)
}

// TestDefaults: nil options keep 1,024 records, 64 of one subject.
func TestDefaults(t *testing.T) {
	backend := &tokentest.Memory{}
	s := open(t, "", &token.Options{Backend: backend})
	for i := range 1100 {
		issue(t, s, subject(fmt.Sprint("s", i/70)))
	}
	if got := len(records(t, backend)); got != 15*64+50 {
		t.Errorf("%d records, want %d", got, 15*64+50)
	}
	per := map[string]int{}
	for _, rec := range records(t, backend) {
		per[rec.Claim.Subject]++
	}
	if per["s3"] != 64 {
		t.Errorf("one subject has %d records, want 64", per["s3"])
	}
	for i := range 100 {
		issue(t, s, subject(fmt.Sprint("t", i)))
	}
	if got := len(records(t, backend)); got != 1024 {
		t.Errorf("%d records, want 1024", got)
	}
}

// records returns what a backend holds.
func records(t *testing.T, b token.Backend) []*token.Record {
	t.Helper()
	var list []*token.Record
	for rec, err := range b.Range(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rec)
	}
	return list
}
