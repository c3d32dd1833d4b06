package token_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

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
	{"bytes moved between fields", func(c *token.Claim) { c.Project, c.Kind = "atlasc", "andidate_apply" }},
	{"empty", func(c *token.Claim) { *c = token.Claim{} }},
}

// TestBinding: with the right text and a wrong claim nothing can be done, and
// all refusals look alike.
func TestBinding(t *testing.T) {
	for _, state := range everyState() {
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

// everyState returns all states that a record can have.
func everyState() []token.State {
	return []token.State{token.StatePending, token.StateApproved, token.StateApplying, token.StateUsed, token.StateDeclined}
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
	case token.StateDeclined:
		if err := s.Decline(t.Context(), hashOf(t, s, text)); err != nil {
			t.Fatalf("Decline: %v", err)
		}
	}
	return text
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
			`"a", "b", "c", and 2 more`,
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
			was, now := newClaim(), with(c.change)
			var e *token.Error
			if err := was.Stale(&now); !errors.As(err, &e) || e.Code != token.CodeStale || !cmp.Equal(c.changed, e.Changed) || !strings.HasSuffix(err.Error(), ": "+c.text) {
				t.Errorf("Stale gave %v", err)
			}
			if err := was.Stale(&was); err != nil {
				t.Errorf("Stale of the same claim gave %v", err)
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
