package vault_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
)

var rewrite = flag.Bool("update", false, "write the golden file anew")

const golden = "testdata/vault.json"

// goldenProviders open the golden file.
func goldenProviders() []vault.KeyProvider {
	pass, _ := asks("correct horse")
	return []vault.KeyProvider{goodKey, pass}
}

// TestGolden opens a file that an earlier version wrote, with each of its keys,
// and finds in it what was put there. Its guard is the format: names of keys,
// order, derivation of keys, what boxes are bound to, padding.
func TestGolden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	if *rewrite {
		writeGolden(t)
	}
	data, err := os.ReadFile(golden)
	if err := errors.Join(err, os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // as some checkouts have it
	write(t, dir, "vault.json", data)
	for _, p := range goldenProviders() {
		v, err := vault.Open(t.Context(), dir, p, &vault.Options{MinGeneration: 2})
		if err != nil {
			t.Fatalf("Open with %s: %v", p.Kind(), err)
		}
		defer v.Close()
		if err := v.Verify(t.Context()); err != nil {
			t.Errorf("Verify: %v", err)
		}
		ci := profile(t, v, "ci")
		wantGet(t, ci, "TRACKER_TOKEN", "tt-1\x00\xff", "vault:default")
		_, _, err = ci.Get("PRINTER_KEY")
		wantCode(t, "Get of a hidden name", err, vault.CodeSecretMissing)
		wantGet(t, profile(t, v, vault.Default), "PRINTER_KEY", "", "vault:default")
		records, err := ci.Records()
		want := []vault.Record{{Name: "tracker", Data: []byte(`{"url":"https://tracker.example/<mcp>"}`), Profile: "default"}}
		if diff := cmp.Diff(want, records); err != nil || diff != "" {
			t.Errorf("Records, %v (-want +got):\n%s", err, diff)
		}
	}
	e := decode(t, data)
	if e.Slices["ci"].Parent != "work" || e.Slices["work"].Parent != "default" || len(e.Slices) != 3 {
		t.Errorf("the profiles are %v", e.Slices)
	}
}

func writeGolden(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "v")
	v, err := vault.Create(t.Context(), dir, goldenProviders()...)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("work", ""), tx.CreateProfile("ci", "work"),
			tx.Set(vault.Default, "TRACKER_TOKEN", "tt-1\x00\xff"), tx.Set(vault.Default, "PRINTER_KEY", ""),
			tx.Hide("ci", "PRINTER_KEY"),
			tx.SetRecord(vault.Default, vault.Record{Name: "tracker", Data: []byte(`{"url": "https://tracker.example/<mcp>"}`), Enabled: true}),
			tx.SetEnabled("work", "tracker", false),
		)
	})
	if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, read(t, dir, "vault.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestPadding: content grows in steps of 256 bytes, whatever is in it.
func TestPadding(t *testing.T) {
	v, dir := create(t)
	sizes := map[int]bool{}
	for n := range 40 {
		set(t, v, "A", string(bytes.Repeat([]byte("x"), 20*n)))
		sealed := len(decode(t, read(t, dir, "vault.json")).Slices[vault.Default].Sealed)
		if sealed <= 28 || (sealed-28)%256 != 0 {
			t.Fatalf("a value of %d bytes is in a box of %d", 20*n, sealed)
		}
		sizes[sealed] = true
	}
	if len(sizes) > 6 {
		t.Errorf("40 lengths of a value show as %d sizes", len(sizes))
	}
}

// TestFresh: nothing sealed is the same twice, so that equal content does not
// show.
func TestFresh(t *testing.T) {
	v, dir := create(t)
	seen := map[string]string{}
	for range 5 {
		set(t, v, "A", "same")
		e := decode(t, read(t, dir, "vault.json"))
		for what, b := range map[string][]byte{"box": e.Slices[vault.Default].Sealed, "code": e.MAC} {
			if other := seen[string(b)]; other != "" {
				t.Errorf("a %s has the bytes of a %s before", what, other)
			}
			seen[string(b)] = what
		}
	}
}

// FuzzDecode: what decodes is written again as the same bytes, and whatever
// differs from a sealed file by some bytes does not open.
func FuzzDecode(f *testing.F) {
	whole, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	whole = bytes.ReplaceAll(whole, []byte("\r\n"), []byte("\n"))
	f.Add(whole)
	f.Add([]byte(`{"format":"mcpcontract-vault","v":1}`))
	key := vault.UnlockForTest(whole, goodKey)
	if key == nil {
		f.Fatal("the golden file does not open")
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := vault.Decode(data)
		if err != nil {
			if code := vault.CodeOf(err); code != vault.CodeDamaged && code != vault.CodeVersion {
				t.Errorf("Decode gave code %q (%v)", code, err)
			}
			return
		}
		again, err := vault.Encode(e)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("it is written as %q, %v", again, err)
		}
		if opened := vault.OpensForTest(e, key); opened != bytes.Equal(data, whole) {
			t.Errorf("opened is %v", opened)
		}
	})
}

// FuzzFlip changes bytes of a sealed file at will: it never opens.
func FuzzFlip(f *testing.F) {
	whole, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	whole = bytes.ReplaceAll(whole, []byte("\r\n"), []byte("\n"))
	key := vault.UnlockForTest(whole, goodKey)
	f.Add(uint(20), byte(1), uint(0), byte(0))
	f.Add(uint(600), byte(0x20), uint(601), byte(2))
	f.Fuzz(func(t *testing.T, at uint, with byte, at2 uint, with2 byte) {
		data := bytes.Clone(whole)
		data[at%uint(len(data))] ^= with
		data[at2%uint(len(data))] ^= with2
		if bytes.Equal(data, whole) {
			return
		}
		e, err := vault.Decode(data)
		if err == nil && vault.OpensForTest(e, key) {
			t.Errorf("bytes %d and %d changed, and it opens", at%uint(len(data)), at2%uint(len(data)))
		}
	})
}
