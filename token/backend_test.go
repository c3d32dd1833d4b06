package token_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

func TestBackends(t *testing.T) {
	t.Run("log", func(t *testing.T) {
		tokentest.Run(t, func(t *testing.T) token.Backend {
			t.Helper()
			return token.LogBackend(open(t, t.TempDir(), nil))
		})
	})
	t.Run("log that is written anew all the time", func(t *testing.T) {
		tokentest.Run(t, func(t *testing.T) token.Backend {
			t.Helper()
			disk, err := token.RealDisk(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s, err := token.OpenOn(disk, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return token.LogBackend(s)
		})
	})
}

// TestStoreOnOtherBackend runs a token's life on a backend from the options.
func TestStoreOnOtherBackend(t *testing.T) {
	backend := &tokentest.Memory{}
	a := open(t, "", &token.Options{Backend: backend})
	b := open(t, "", &token.Options{Backend: backend})
	claim := with(func(c *token.Claim) { c.Approved = false })
	text := issue(t, a, claim)
	wantBegin(t, b, text, claim, token.CodePending)
	waiting, err := b.Pending(t.Context())
	if err != nil || len(waiting) != 1 {
		t.Fatalf("Pending gave %d records and %v, want 1", len(waiting), err)
	}
	if err := b.Approve(t.Context(), waiting[0].Hash); err != nil {
		t.Fatal(err)
	}
	use(t, a, text, claim, "done")
	wantBegin(t, b, text, claim, token.CodeUsed)
	if _, err := a.Begin(ended(t), text, claim); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with an ended context gave %v", err)
	}
}
