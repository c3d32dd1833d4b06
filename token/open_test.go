package token_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/token"
)

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
	for _, state := range everyState() {
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
	wantBegin(t, s, texts[token.StateDeclined], newClaim(), token.CodeDeclined)
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
		"the directory": treetest.Text(t, dir),
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
	if !strings.Contains(treetest.Text(t, dir), sum(body)) {
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
