package token_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestTokenText(t *testing.T) {
	s, _ := openClocked(t, token.Options{})
	form := regexp.MustCompile(`^x1_[a-z][a-z0-9_-]{0,31}_[A-Za-z0-9_-]{43}$`)
	for _, kind := range []string{"a", "candidate_apply", "a-b_c9", "k" + strings.Repeat("_", 31)} {
		tok, err := s.Issue(t.Context(), with(func(c *token.Claim) { c.Kind = kind }))
		if err != nil {
			t.Fatal(err)
		}
		text := tok.Reveal()
		if !form.MatchString(text) || !strings.HasPrefix(text, "x1_"+kind+"_") {
			t.Errorf("token %q of kind %q has not the form %s", text, kind, form)
		}
		if tok.Hash() != sum(text) {
			t.Errorf("hash %s, want the SHA-256 of the text", tok.Hash())
		}
	}
}

// TestTokenIsRedacted looks for the text in all that prints a token.
func TestTokenIsRedacted(t *testing.T) {
	var r token.Retained
	tok, err := r.Put("scope", nil)
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Public  token.Token
		private token.Token
		pointer *token.Token
	}
	h := holder{tok, tok, &tok}
	var logs bytes.Buffer
	slog.New(slog.NewTextHandler(&logs, nil)).Info("x", "token", tok, "holder", h)
	slog.New(slog.NewJSONHandler(&logs, nil)).Info("x", "token", tok, "holder", h)
	encoded, err := json.Marshal(map[token.Token]holder{tok: h})
	if err != nil {
		t.Fatal(err)
	}
	prints := logs.String() + string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		prints += fmt.Sprintf(verb+verb+verb, tok, h, []holder{h})
	}
	func() {
		defer func() { prints += fmt.Sprint(recover()) }()
		panic(tok)
	}()
	text := tok.Reveal()
	for _, form := range []string{text, text[len(text)-43:], hex.EncodeToString([]byte(text))} {
		if strings.Contains(prints, form) {
			t.Errorf("a print holds %s:\n%s", form, prints)
		}
	}
	if got := fmt.Sprintf("%v %#v", tok, tok); got != "[token] [token]" {
		t.Errorf("printed as %s", got)
	}
	if zero := (token.Token{}); zero.Reveal() != "" || zero.Hash() != "" || !zero.Expires().IsZero() {
		t.Errorf("the zero token has text %q, hash %q and expires at %v", zero.Reveal(), zero.Hash(), zero.Expires())
	}
}

// TestNoTwoTokens: 256 bits from the system.
func TestNoTwoTokens(t *testing.T) {
	var r token.Retained
	const count = 100_000
	seen := make(map[string]bool, count)
	for range count {
		tok, err := r.Put("scope", nil)
		if err != nil {
			t.Fatal(err)
		}
		seen[tok.Hash()] = true
	}
	if len(seen) != count {
		t.Errorf("%d different tokens in %d", len(seen), count)
	}
}

func TestErrors(t *testing.T) {
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("f%02d", i)
	}
	cases := []struct {
		name    string
		err     token.Error
		text    string
		details string
	}{
		{
			"invalid",
			token.Error{Code: token.CodeInvalid},
			"the approval token is not valid for this call; prepare again and use the new one", "null",
		},
		{
			"cause",
			token.Error{Code: token.CodeIO, Op: "write", Err: errors.New("no space")},
			"write: input or output failed: no space", "null",
		},
		{
			"stale",
			token.Error{Code: token.CodeStale, Op: "begin", Detail: `"a"`, Changed: []string{"a"}},
			`begin: what would be done now is not what was proposed; prepare again: "a"`, `{"count":1,"changed":["a"]}`,
		},
		{
			"stale manifest",
			token.Error{Code: token.CodeStale},
			`what would be done now is not what was proposed; prepare again`, `{"count":0,"changed":[]}`,
		},
		{
			"stale, many",
			token.Error{Code: token.CodeStale, Changed: many},
			`what would be done now is not what was proposed; prepare again`,
			`{"count":30,"changed":["` + strings.Join(many[:20], `","`) + `"]}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Error(); got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
			details, err := json.Marshal(c.err.ErrorDetails())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.details, string(details)); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			wrapped := fmt.Errorf("outer: %w", &c.err)
			if got := token.CodeOf(wrapped); got != c.err.Code || c.err.ErrorCode() != string(got) {
				t.Errorf("CodeOf gave %q, ErrorCode %q", got, c.err.ErrorCode())
			}
			if !errors.Is(wrapped, c.err.Err) && c.err.Err != nil {
				t.Errorf("the cause is not reached")
			}
		})
	}
	if got := token.CodeOf(errors.New("x")); got != "" {
		t.Errorf("CodeOf of a foreign error gave %q", got)
	}
	if got := token.CodeOf(nil); got != "" {
		t.Errorf("CodeOf of nil gave %q", got)
	}
}

// TestEveryCodeHasItsText: no two codes read the same, and none is empty.
func TestEveryCodeHasItsText(t *testing.T) {
	codes := []token.Code{
		token.CodeInvalid, token.CodePending, token.CodeBusy, token.CodeUsed, token.CodeStale,
		token.CodeUnknown, token.CodeClaim, token.CodeTooLarge, token.CodeFull, token.CodeConflict,
		token.CodeLocked, token.CodeDamaged, token.CodeExposed, token.CodeIO, token.CodeClosed,
		token.CodeSealed, token.CodeRetained,
	}
	seen := map[string]token.Code{}
	for _, c := range codes {
		text := (&token.Error{Code: c}).Error()
		if other, twice := seen[text]; twice || text == "" {
			t.Errorf("codes %s and %s share the text %q", c, other, text)
		}
		seen[text] = c
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(string(c)) {
			t.Errorf("code %q is not lower_snake_case", c)
		}
	}
}
