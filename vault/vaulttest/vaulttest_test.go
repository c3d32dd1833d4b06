package vaulttest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
	"github.com/mcpcontract/mcpcontract/vault/vaulttest"
)

// TestGood runs the checks on a provider that passes.
func TestGood(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := vault.MakeKeyFile(file); err != nil {
		t.Fatal(err)
	}
	vaulttest.Run(t, vault.KeyFile(file))
}

// badEnv says which fault the provider of a process of its own has.
const badEnv = "VAULTTEST_BAD"

// bad is a provider with a fault.
type bad struct {
	fault string
	key   []byte
	kinds int
	calls int
}

func (b *bad) Kind() string {
	b.kinds++
	if b.fault == "kind" && b.kinds > 4 {
		return "another"
	}
	return "bad"
}

func (b *bad) Enroll(ctx context.Context, s vault.Slot) ([]byte, error) { return b.Key(ctx, s) }

func (b *bad) Key(ctx context.Context, _ vault.Slot) ([]byte, error) {
	b.calls++
	switch {
	case b.fault == "shared":
		return b.key, nil
	case b.fault == "forgets" && b.calls > 3, b.fault == "late" && ctx.Err() != nil:
		return []byte(strings.Repeat("y", 32)), nil
	case b.fault == "short":
		return b.key[1:], nil
	}
	return append([]byte(nil), b.key...), nil
}

// TestBad: every fault of a provider fails the checks. Each runs in a process
// of its own, because a failed check fails the test that it is in.
func TestBad(t *testing.T) {
	if fault := os.Getenv(badEnv); fault != "" {
		vaulttest.Run(t, &bad{fault: fault, key: []byte(strings.Repeat("x", 32))})
		return
	}
	for fault, fails := range map[string]bool{"none": false, "kind": true, "shared": true, "forgets": true, "late": true, "short": true} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBad$")
			cmd.Env = append(os.Environ(), badEnv+"="+fault)
			out, err := cmd.CombinedOutput()
			if (err != nil) != fails {
				t.Errorf("the checks gave %v:\n%s", err, out)
			}
		})
	}
}
