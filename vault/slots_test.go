package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
)

var (
	otherKey = &memKey{kind: "other", key: strings.Repeat("o", 32)}
	wrongKey = &memKey{kind: "test", key: strings.Repeat("w", 32)}
)

// opens reports the code with which a provider opens the vault.
func opens(t *testing.T, dir string, p vault.KeyProvider) vault.Code {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, p, nil)
	if err == nil {
		v.Close()
	}
	return vault.CodeOf(err)
}

func TestSlots(t *testing.T) {
	v, dir := create(t)
	set(t, v, "A", "1")
	if got := opens(t, dir, otherKey); got != vault.CodeWrongKey {
		t.Errorf("a kind without a slot gave %q", got)
	}
	if err := errors.Join(v.AddSlot(t.Context(), otherKey), v.AddSlot(t.Context(), wrongKey)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []vault.KeyProvider{goodKey, otherKey, wrongKey} {
		if got := opens(t, dir, p); got != "" {
			t.Errorf("%v gave %q", p, got)
		}
	}
	list, err := v.Slots()
	if err != nil || len(list) != 3 {
		t.Fatalf("Slots gave %v and %v", list, err)
	}
	kinds := []string{list[0].Kind, list[1].Kind, list[2].Kind}
	if diff := cmp.Diff([]string{"test", "other", "test"}, kinds); diff != "" || list[0].Vault != list[2].Vault || len(list[0].Vault) != 32 {
		t.Errorf("Slots gave %v (-want +got):\n%s", list, diff)
	}

	if err := v.RemoveSlot(t.Context(), list[1].ID); err != nil {
		t.Fatal(err)
	}
	if got := opens(t, dir, otherKey); got != vault.CodeWrongKey {
		t.Errorf("a removed slot gave %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "vault.bak")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup still has the removed slot: %v", err)
	}
	wantCode(t, "removing it again", v.RemoveSlot(t.Context(), list[1].ID), vault.CodeSlotMissing)
	if err := v.RemoveSlot(t.Context(), list[2].ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "removing the last", v.RemoveSlot(t.Context(), list[0].ID), vault.CodeInvalid)
	for range 7 {
		if err := v.AddSlot(t.Context(), otherKey); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "a ninth slot", v.AddSlot(t.Context(), otherKey), vault.CodeLimit)
	wantCode(t, "a key that is none", v.Rotate(t.Context(), &memKey{kind: "x", key: "x"}), vault.CodeKey)
	wantGet(t, profile(t, open(t, dir), vault.Default), "A", "1", "vault:default")
}

// TestRotate: the old data key opens nothing of the new file, vaults that are
// open follow if their provider can, and a provider that is left out cannot.
func TestRotate(t *testing.T) {
	v, dir := create(t)
	if err := v.AddSlot(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	set(t, v, "A", "1")
	follows := profile(t, open(t, dir), vault.Default)
	left, err := vault.Open(t.Context(), dir, otherKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	leftProfile := profile(t, left, vault.Default)
	old := string(v.KeyForTest())
	if err := v.Rotate(t.Context(), goodKey); err != nil {
		t.Fatal(err)
	}
	if string(v.KeyForTest()) == old {
		t.Error("the data key is the old one")
	}
	wantGet(t, profile(t, v, vault.Default), "A", "1", "vault:default")
	wantGet(t, follows, "A", "1", "vault:default")
	_, _, err = leftProfile.Get("A")
	wantCode(t, "Get with a key that was left out", err, vault.CodeWrongKey)
	wantCode(t, "Update with it", left.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "B", "") }), vault.CodeWrongKey)
	if _, err := os.Stat(filepath.Join(dir, "vault.bak")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup still opens with the old key: %v", err)
	}
	if err := v.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	// A rotation may change the provider of the vault itself.
	if err := v.Rotate(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	if err := left.Rotate(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	wantGet(t, profile(t, v, vault.Default), "A", "1", "vault:default")
	wantCode(t, "Rotate without a provider", v.Rotate(t.Context()), vault.CodeInvalid)
	wantGet(t, profile(t, v, vault.Default), "A", "1", "vault:default")
}

// TestExport: a copy has the content and shares no key or id.
func TestExport(t *testing.T) {
	v, dir := create(t)
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("work", ""), tx.Set(vault.Default, "A", canary), tx.Hide("work", "A"), tx.Set("work", "B", "2"),
			tx.SetRecord("work", vault.Record{Name: "r", Data: []byte(`"r"`), Enabled: true}),
		)
	})
	to := filepath.Join(t.TempDir(), "copy")
	if err := v.Export(t.Context(), to, otherKey); err != nil {
		t.Fatal(err)
	}
	wantClean(t, "the export", dirText(t, to))
	if got := opens(t, to, goodKey); got != vault.CodeWrongKey {
		t.Errorf("the key of the vault gave %q on the copy", got)
	}
	c, err := vault.Open(t.Context(), to, otherKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wantGet(t, profile(t, c, vault.Default), "A", canary, "vault:default")
	work := profile(t, c, "work")
	names, err := work.Names()
	record, errRecord := work.Record("r")
	want := vault.Record{Name: "r", Data: []byte(`"r"`), Enabled: true, Profile: "work"}
	if diff := cmp.Diff([]string{"B"}, names) + cmp.Diff(want, record); err != nil || errRecord != nil || diff != "" {
		t.Errorf("the copy differs, %v %v (-want +got):\n%s", err, errRecord, diff)
	}
	if string(c.KeyForTest()) == string(v.KeyForTest()) {
		t.Error("the copy has the same data key")
	}
	wantCode(t, "Export onto a vault", v.Export(t.Context(), dir, otherKey), vault.CodeExists)
	wantGet(t, profile(t, v, vault.Default), "A", canary, "vault:default")
}

// TestSlotsOfCreate: a vault can be made with as many slots as it may have.
func TestSlotsOfCreate(t *testing.T) {
	var providers []vault.KeyProvider
	for range 9 {
		providers = append(providers, goodKey)
	}
	v, err := vault.Create(t.Context(), filepath.Join(t.TempDir(), "v"), providers[:8]...)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if list, err := v.Slots(); err != nil || len(list) != 8 {
		t.Errorf("there are %d slots, %v", len(list), err)
	}
	_, err = vault.Create(t.Context(), filepath.Join(t.TempDir(), "v"), providers...)
	wantCode(t, "Create with 9", err, vault.CodeLimit)
}
