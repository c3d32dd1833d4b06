// Package vaulttest checks that a [vault.KeyProvider] does what a vault relies
// on.
//
//	func TestProvider(t *testing.T) {
//		vaulttest.Run(t, newProvider(t))
//	}
//
// # Errors
//
// Whatever is wrong is reported to the test.
//
// # Concurrency
//
// [Run] may be called from several tests at once.
package vaulttest

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
)

// value is what the vault of the test holds.
const value = "a value"

// Run checks a provider that can be enrolled: by itself, and in a vault in a
// temporary directory that it opens, rotates and opens again.
func Run(t *testing.T, p vault.KeyProvider) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	v, err := vault.Create(t.Context(), dir, p, p)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	defer closeVault(t, v)
	err = v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "NAME", value) })
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	slots, err := v.Slots()
	if err != nil {
		t.Fatalf("Slots: %v", err)
	}
	for _, s := range slots {
		if s.Kind != p.Kind() {
			t.Errorf("Kind changed from %q to %q", s.Kind, p.Kind())
		}
		keeps(t, p, s)
	}
	opens(t, dir, p)
	if err := v.Rotate(t.Context(), p); err != nil {
		t.Fatalf("Rotate: %v", err)
	}
	opens(t, dir, p)
}

// keeps checks that the provider returns the same key every time, in memory
// that the caller may write to, and comes back when the context has ended.
func keeps(t *testing.T, p vault.KeyProvider, s vault.Slot) {
	t.Helper()
	first, err := p.Key(t.Context(), s)
	if err != nil || len(first) != 32 {
		t.Fatalf("Key gave %d bytes and %v, want 32", len(first), err)
	}
	kept := bytes.Clone(first)
	for i := range first {
		first[i] ^= 0xff
	}
	again, err := p.Key(t.Context(), s)
	if err != nil || !bytes.Equal(kept, again) {
		t.Errorf("a second call of Key gave another key, or the memory of the first; %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if late, err := p.Key(ctx, s); err == nil && !bytes.Equal(kept, late) {
		t.Error("Key with an ended context gave another key")
	}
}

// opens checks that the provider opens the vault and the value is there.
func opens(t *testing.T, dir string, p vault.KeyProvider) {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, p, nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer closeVault(t, v)
	profile, err := v.Profile(vault.Default)
	if err != nil {
		t.Fatalf("Profile: %v", err)
	}
	if got, _, err := profile.Get("NAME"); err != nil || got.Reveal() != value {
		t.Errorf("the vault lost its value: %v", err)
	}
}

func closeVault(t *testing.T, v *vault.Vault) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
