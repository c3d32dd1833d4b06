package vault_test

import (
	"bytes"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
)

// TestRollback: a vault that is open notices an older file, one that is
// opened only with a generation to compare.
func TestRollback(t *testing.T) {
	v, dir := create(t)
	set(t, v, "A", "old")
	old := read(t, dir, "vault.json")
	gen, err := v.Generation()
	if err != nil {
		t.Fatal(err)
	}
	set(t, v, "A", "new")
	write(t, dir, "vault.json", old)
	_, _, err = vault.ProfileForTest(v, vault.Default).Get("A")
	wantCode(t, "Get", err, vault.CodeRollback)
	wantCode(t, "Update", v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "B", "") }), vault.CodeRollback)
	_, err = vault.Open(t.Context(), dir, goodKey, &vault.Options{MinGeneration: gen + 1})
	wantCode(t, "Open with a generation", err, vault.CodeRollback)
	if !bytes.Equal(old, read(t, dir, "vault.json")) {
		t.Error("the file was changed")
	}
	o, err := vault.Open(t.Context(), dir, goodKey, &vault.Options{MinGeneration: gen})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	wantGet(t, profile(t, o, vault.Default), "A", "old", "vault:default")
}

// TestFork: an older file that was put back and changed until it has the
// generation that an open vault saw is noticed by that one, and not by one that
// is opened then.
func TestFork(t *testing.T) {
	v, dir := create(t)
	set(t, v, "A", "old")
	old := read(t, dir, "vault.json")
	set(t, v, "A", "new")
	seen := read(t, dir, "vault.json")
	write(t, dir, "vault.json", old)
	other := open(t, dir)
	set(t, other, "A", "fork")
	fork := read(t, dir, "vault.json")

	_, _, err := vault.ProfileForTest(v, vault.Default).Get("A")
	wantCode(t, "Get", err, vault.CodeRollback)
	wantCode(t, "Update", v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "B", "") }), vault.CodeRollback)
	wantCode(t, "Rotate", v.Rotate(t.Context(), goodKey), vault.CodeRollback)
	if !bytes.Equal(fork, read(t, dir, "vault.json")) {
		t.Error("the file was changed")
	}
	wantGet(t, profile(t, open(t, dir), vault.Default), "A", "fork", "vault:default")
	write(t, dir, "vault.json", seen)
	wantGet(t, profile(t, v, vault.Default), "A", "new", "vault:default")
	_, _, err = vault.ProfileForTest(other, vault.Default).Get("A")
	wantCode(t, "Get in the other one", err, vault.CodeRollback)
}

// TestReplaced: another vault in the place of one that is open is refused,
// even if the same key opens it.
func TestReplaced(t *testing.T) {
	v, dir := create(t)
	_, other := create(t)
	write(t, dir, "vault.json", read(t, other, "vault.json"))
	_, err := v.Profiles()
	wantCode(t, "Profiles", err, vault.CodeTampered)
}
