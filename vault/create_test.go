package vault_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
)

// TestCreateRefuses: a refusal leaves what was there, and makes nothing.
func TestCreateRefuses(t *testing.T) {
	_, taken := create(t)
	before := read(t, taken, "vault.json")
	damaged := filepath.Join(t.TempDir(), "d")
	if v, err := vault.Create(t.Context(), damaged, goodKey); err != nil {
		t.Fatal(err)
	} else {
		v.Close()
	}
	write(t, damaged, "vault.json", nil)
	short, _ := asks("short")
	there := t.TempDir()
	if err := os.Chmod(there, 0o700); err != nil { //nolint:gosec // a directory
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		dir       string
		providers []vault.KeyProvider
		want      vault.Code
	}{
		{"taken", taken, []vault.KeyProvider{goodKey}, vault.CodeExists},
		{"taken by a damaged file", damaged, []vault.KeyProvider{goodKey}, vault.CodeExists},
		{"no provider", "", nil, vault.CodeInvalid},
		{"too many providers", "", make([]vault.KeyProvider, 9), vault.CodeLimit},
		{"short key", "", []vault.KeyProvider{&memKey{kind: "test", key: "short"}}, vault.CodeKey},
		{"bad kind", "", []vault.KeyProvider{&memKey{kind: "A kind", key: goodKey.key}}, vault.CodeKey},
		{"kind of another", "", []vault.KeyProvider{&memKey{kind: "passphrase", key: goodKey.key}}, vault.CodeKey},
		{"provider that fails", "", []vault.KeyProvider{&memKey{kind: "test", err: errors.New("no card")}}, vault.CodeLocked},
		{"short passphrase", "", []vault.KeyProvider{goodKey, short}, vault.CodeKey},
		{"in a directory that is there", there, []vault.KeyProvider{short}, vault.CodeKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tt.dir
			if dir == "" {
				dir = filepath.Join(t.TempDir(), "new")
			}
			_, err := vault.Create(t.Context(), dir, tt.providers...)
			wantCode(t, "Create", err, tt.want)
			if tt.dir == "" {
				if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the directory was made: %v", err)
				}
			}
		})
	}
	if diff := cmp.Diff(string(before), string(read(t, taken, "vault.json"))); diff != "" {
		t.Errorf("the vault that was there changed (-want +got):\n%s", diff)
	}
	if made, err := os.ReadDir(there); err != nil || len(made) > 0 {
		t.Errorf("the directory that was there has %v now, %v", made, err)
	}
	_, err := vault.Open(t.Context(), taken, nil, nil)
	wantCode(t, "Open without a provider", err, vault.CodeInvalid)
	_, err = vault.Open(t.Context(), filepath.Join(t.TempDir(), "no"), goodKey, nil)
	wantCode(t, "Open of no directory", err, vault.CodeMissing)
}

// TestCreateAsksLast: nobody is asked for the key of a vault that cannot be made.
func TestCreateAsksLast(t *testing.T) {
	_, taken := create(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ended bool
		dir   string
		want  vault.Code
	}{
		"taken":     {false, taken, vault.CodeExists},
		"in a file": {false, filepath.Join(taken, "vault.json", "v"), vault.CodePermissions},
		"ended":     {true, filepath.Join(t.TempDir(), "v"), vault.CodeBusy},
	} {
		p, asked := asks("long enough")
		ctx := t.Context()
		if tt.ended {
			ctx = ended
		}
		_, err := vault.Create(ctx, tt.dir, p)
		wantCode(t, name, err, tt.want)
		if *asked != 0 {
			t.Errorf("%s: somebody was asked", name)
		}
	}
}

// TestCreateKeyInside: a key in the directory is refused, however that is called.
func TestCreateKeyInside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	key := filepath.Join(dir, "key")
	if err := vault.MakeKeyFile(key); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, dir + "/no/..", filepath.Dir(dir) + "/no/../v"} {
		_, err := vault.Create(t.Context(), name, vault.KeyFile(key))
		wantCode(t, name, err, vault.CodeKeyUnsafe)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) != 1 {
		t.Errorf("the directory has %v now, %v", made, err)
	}
}
