package vault_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/vault"
)

// canary is a value that must never be seen where it was not asked for.
const canary = "canary-4f1c-${HOME}-\r\n\x00-end"

// canaryForms are the ways in which a canary might show: as it is, escaped, in
// base64, in hexadecimal digits, and as decimal bytes.
var canaryForms = []string{"canary-4f1c", "Y2FuYXJ5LTRmMW", "63616e6172792d", "63 61 6e 61", "99 97 110 97 114", "0x63, 0x61, 0x6e"}

// wantClean checks that a canary shows nowhere in text.
func wantClean(t *testing.T, what, text string) {
	t.Helper()
	for _, form := range canaryForms {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%s shows a secret as %q: %.300q", what, form, text)
		}
	}
}

// memKey is a provider with a key in memory.
type memKey struct {
	kind string
	key  string
	err  error
}

var goodKey = &memKey{kind: "test", key: strings.Repeat("k", 32)}

func (m *memKey) Kind() string { return m.kind }

func (m *memKey) Enroll(ctx context.Context, s vault.Slot) ([]byte, error) { return m.Key(ctx, s) }

func (m *memKey) Key(context.Context, vault.Slot) ([]byte, error) { return []byte(m.key), m.err }

// create makes a vault that goodKey opens, and returns its directory.
func create(t *testing.T) (*vault.Vault, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "v")
	v, err := vault.Create(t.Context(), dir, goodKey)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	t.Cleanup(func() { v.Close() })
	return v, dir
}

// open opens a vault with goodKey.
func open(t *testing.T, dir string) *vault.Vault {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, goodKey, nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// update changes a vault.
func update(t *testing.T, v *vault.Vault, fn func(tx *vault.Tx) error) {
	t.Helper()
	if err := v.Update(t.Context(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// set stores a secret in the profile default.
func set(t *testing.T, v *vault.Vault, name, value string) {
	t.Helper()
	update(t, v, func(tx *vault.Tx) error { return tx.Set(vault.Default, name, value) })
}

func profile(t *testing.T, v *vault.Vault, name string) *vault.Profile {
	t.Helper()
	p, err := v.Profile(name)
	if err != nil {
		t.Fatalf("Profile: %v", err)
	}
	return p
}

// wantGet checks the value and the origin of a secret.
func wantGet(t *testing.T, p *vault.Profile, name, value, origin string) {
	t.Helper()
	s, o, err := p.Get(name)
	if err != nil || s.Reveal() != value || o.String() != origin {
		t.Errorf("Get(%q) in %q gave %q from %q and %v, want %q from %q", name, p.Name(), s.Reveal(), o, err, value, origin)
	}
}

// wantCode checks the code of an error.
func wantCode(t *testing.T, what string, err error, want vault.Code) {
	t.Helper()
	if got := vault.CodeOf(err); got != want {
		t.Errorf("%s gave code %q (%v), want %q", what, got, err, want)
	}
}

// read returns the content of a file of a vault.
func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// write replaces a file of a vault as somebody without its key would.
func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantRefused checks that Open fails with a code and changes nothing.
func wantRefused(t *testing.T, dir string, p vault.KeyProvider, want ...vault.Code) {
	t.Helper()
	before := read(t, dir, "vault.json")
	v, err := vault.Open(t.Context(), dir, p, nil)
	if err == nil {
		v.Close()
	}
	ok := false
	for _, code := range want {
		ok = ok || vault.CodeOf(err) == code
	}
	if !ok {
		t.Errorf("Open gave code %q (%v), want one of %q", vault.CodeOf(err), err, want)
	}
	if after := read(t, dir, "vault.json"); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// dirText returns the content of all files below dir with their names.
func dirText(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		all.WriteString(p + "\n")
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
