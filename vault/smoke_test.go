package vault_test

import (
	"path/filepath"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
)

func TestSmoke(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "v")
	key := filepath.Join(t.TempDir(), "k")
	if err := vault.MakeKeyFile(key); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Create(t.Context(), dir, vault.KeyFile(key))
	if err != nil {
		t.Fatal(err)
	}
	err = v.Update(t.Context(), func(tx *vault.Tx) error {
		if err := tx.CreateProfile("work", ""); err != nil {
			return err
		}
		return tx.Set("default", "A", "b")
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := vault.Open(t.Context(), dir, vault.KeyFile(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Profile("work")
	if err != nil {
		t.Fatal(err)
	}
	s, o, err := p.Get("A")
	if err != nil || s.Reveal() != "b" || o.String() != "vault:default" {
		t.Fatal(s.Reveal(), o, err)
	}
	if err := v.Rotate(t.Context(), vault.KeyFile(key)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Get("A"); err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Close()
	v.Close()
}
