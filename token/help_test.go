package token_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/token"
)

// start is when the clocks of the tests begin.
var start = time.Date(2031, 3, 9, 8, 0, 0, 0, time.UTC)

// A testClock is set by the test.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock { return &testClock{now: start} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newClaim returns a claim that is born approved.
func newClaim() token.Claim {
	return token.Claim{
		Project: "atlas", Kind: "candidate_apply", Subject: "writer-7", Tool: "candidate_apply",
		Input:    []byte(`{"candidateId":"intro"}`),
		Manifest: strings.Repeat("1f", 32),
		Base:     map[string]string{"docs/intro.md": strings.Repeat("2e", 32), "docs/new.md": ""},
		Approved: true,
	}
}

// with returns newClaim after a change.
func with(change func(*token.Claim)) token.Claim {
	c := newClaim()
	change(&c)
	return c
}

func open(t *testing.T, dir string, opts *token.Options) *token.Store {
	t.Helper()
	s, err := token.Open(dir, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// openClocked opens a store in a new directory with a clock of its own.
func openClocked(t *testing.T, opts token.Options) (*token.Store, *testClock) {
	t.Helper()
	clock := newTestClock()
	opts.Now = clock.Now
	return open(t, t.TempDir(), &opts), clock
}

func issue(t *testing.T, s *token.Store, claim token.Claim) string {
	t.Helper()
	tok, err := s.Issue(t.Context(), claim)
	if err != nil {
		t.Fatalf("Issue: %v", err)
	}
	return tok.Reveal()
}

func begin(t *testing.T, s *token.Store, text string, claim token.Claim) *token.Lease {
	t.Helper()
	lease, err := s.Begin(t.Context(), text, claim)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	return lease
}

// use begins and commits.
func use(t *testing.T, s *token.Store, text string, claim token.Claim, receipt string) {
	t.Helper()
	if err := begin(t, s, text, claim).Commit(t.Context(), []byte(receipt)); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// wantCode checks the code of an error.
func wantCode(t *testing.T, what string, err error, want token.Code) {
	t.Helper()
	if got := token.CodeOf(err); got != want {
		t.Errorf("%s gave code %q (%v), want %q", what, got, err, want)
	}
}

// wantBegin checks the code of Begin.
func wantBegin(t *testing.T, s *token.Store, text string, claim token.Claim, want token.Code) {
	t.Helper()
	_, err := s.Begin(t.Context(), text, claim)
	wantCode(t, "Begin", err, want)
}

// states returns the state of each record, oldest first.
func states(t *testing.T, s *token.Store) []token.State {
	t.Helper()
	var list []token.State
	for rec, err := range token.LogBackend(s).Range(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, rec.State)
	}
	return list
}

// A logBuffer collects what a logger says.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
