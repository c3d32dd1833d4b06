package vault_test

import (
	"fmt"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
)

// hundred makes a vault with 100 secrets of 52 characters.
func hundred(tb testing.TB) *vault.Vault {
	tb.Helper()
	v, err := vault.Create(tb.Context(), tb.TempDir()+"/v", goodKey)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { v.Close() })
	err = v.Update(tb.Context(), func(tx *vault.Tx) error {
		for i := range 100 {
			if err := tx.Set(vault.Default, fmt.Sprintf("NAME_%02d", i), fmt.Sprintf("%052d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestGetAllocs bounds what reading one of 100 secrets allocates: a read of the
// file, and the content of one profile.
func TestGetAllocs(t *testing.T) {
	p := profile(t, hundred(t), vault.Default)
	got := testing.AllocsPerRun(50, func() {
		if _, _, err := p.Get("NAME_42"); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%.0f allocations", got)
	if got > allocBudget {
		t.Errorf("Get allocates %.0f times, the budget is %d", got, allocBudget)
	}
}

const allocBudget = 420

func BenchmarkGet(b *testing.B) {
	v := hundred(b)
	p, err := v.Profile(vault.Default)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := p.Get("NAME_42"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	v := hundred(b)
	b.ReportAllocs()
	for b.Loop() {
		err := v.Update(b.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "NAME_42", "other") })
		if err != nil {
			b.Fatal(err)
		}
	}
}
