package vault_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpcontract/mcpcontract/vault"
	"github.com/mcpcontract/mcpcontract/vault/vaulttest"
)

// asks returns a provider that is told a passphrase, at low costs, and how
// often it was asked.
func asks(text string) (vault.KeyProvider, *int) {
	n := 0
	return vault.CheapPassphrase(func(context.Context) ([]byte, error) {
		n++
		return []byte(text), nil
	}), &n
}

// TestConformance runs the checks of all providers on those of this package.
func TestConformance(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := vault.MakeKeyFile(file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VAULT_TEST_KEY", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("v", 32))))
	pass, _ := asks("correct horse")
	for _, p := range []vault.KeyProvider{vault.KeyFile(file), vault.Env("VAULT_TEST_KEY"), pass} {
		t.Run(p.Kind(), func(t *testing.T) { vaulttest.Run(t, p) })
	}
}

// key calls a provider by itself.
func key(t *testing.T, p vault.KeyProvider) ([]byte, error) {
	t.Helper()
	return p.Key(t.Context(), vault.Slot{})
}

func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "deep", "key")
	if err := vault.MakeKeyFile(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, errKey := key(t, vault.KeyFile(path))
	if errKey != nil || base64.StdEncoding.EncodeToString(raw)+"\n" != string(text) || len(raw) != 32 {
		t.Errorf("the file holds %d bytes, the key has %d; %v", len(text), len(raw), errKey)
	}
	if runtime.GOOS != "windows" {
		for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Join(dir, "new"): 0o700} {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v; %v", at, info.Mode().Perm(), want, err)
			}
		}
	}
	wantCode(t, "making it again", vault.MakeKeyFile(path), vault.CodeExists)
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(text, again) {
		t.Errorf("the key file was changed, %v", err)
	}
	second := filepath.Join(dir, "second")
	if err := vault.MakeKeyFile(second); err != nil {
		t.Fatal(err)
	}
	if other, err := key(t, vault.KeyFile(second)); err != nil || bytes.Equal(raw, other) {
		t.Errorf("two key files have one key, %v", err)
	}
	wantCode(t, "making it below a file", vault.MakeKeyFile(filepath.Join(path, "x")), vault.CodePermissions)
	wantCode(t, "making it with a name that is refused", vault.MakeKeyFile(filepath.Join(dir, "-k")), vault.CodeIO)
}

func TestKeyFileRefused(t *testing.T) {
	dir := t.TempDir()
	good := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("g", 32)))
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	short := base64.StdEncoding.EncodeToString([]byte("canary-4f1c"))
	tests := []struct {
		name, path string
		want       vault.Code
	}{
		{"good", file("good", "\n "+good+"\r\n", 0o600), ""},
		{"read only", file("ro", good, 0o400), ""},
		{"missing", filepath.Join(dir, "none"), vault.CodeLocked},
		{"a directory", dir, vault.CodeKeyUnsafe},
		{"empty", file("empty", "", 0o600), vault.CodeKey},
		{"short", file("short", short, 0o600), vault.CodeKey},
		{"not base64", file("text", canary, 0o600), vault.CodeKey},
		{"two keys", file("two", good+"\n"+good, 0o600), vault.CodeKey},
		{"long", file("long", strings.Repeat("A", 200), 0o600), vault.CodeLocked},
		{"open to the group", file("group", good, 0o640), vault.CodeKeyUnsafe},
		{"open to the world", file("world", good, 0o604), vault.CodeKeyUnsafe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := key(t, vault.KeyFile(tt.path))
			if runtime.GOOS == "windows" && tt.want == vault.CodeKeyUnsafe {
				t.Skip("modes are not looked at on Windows")
			}
			wantCode(t, "Key", err, tt.want)
			if err != nil {
				wantClean(t, "the error", printed(t, err))
			}
		})
	}
}

// TestKeyFileInside: a key file in the vault's directory is refused however it
// is named, at Create before anything is written, and at Open.
func TestKeyFileInside(t *testing.T) {
	top := t.TempDir()
	dir, outside := filepath.Join(top, "v"), filepath.Join(top, "key")
	below := filepath.Join(dir, "sub", "key")
	if err := errors.Join(vault.MakeKeyFile(outside), vault.MakeKeyFile(below)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(below, link); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	for _, path := range []string{below, link, filepath.Join(dir, "..", "v", "sub", "key")} {
		_, err := vault.Create(t.Context(), dir, vault.KeyFile(outside), vault.KeyFile(path))
		wantCode(t, "Create", err, vault.CodeKeyUnsafe)
	}
	if _, err := os.Stat(filepath.Join(dir, "vault.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	v, err := vault.Create(t.Context(), dir, vault.KeyFile(outside))
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	if err := os.Rename(outside, filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, vault.KeyFile(filepath.Join(dir, "key")), vault.CodeKeyUnsafe)
}

// TestKeyFileTwoNames: a key file whose other name may lie in the vault's
// directory is refused by whichever name.
func TestKeyFileTwoNames(t *testing.T) {
	v, dir := create(t)
	path := filepath.Join(t.TempDir(), "key")
	if err := vault.MakeKeyFile(path); err != nil {
		t.Fatal(err)
	}
	if err := v.AddSlot(t.Context(), vault.KeyFile(path)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the number of names is not looked at on Windows")
	}
	if err := os.Link(path, filepath.Join(dir, "again")); err != nil {
		t.Skip("a file cannot have two names here: ", err)
	}
	wantRefused(t, dir, vault.KeyFile(path), vault.CodeKeyUnsafe)
	wantCode(t, "AddSlot", v.AddSlot(t.Context(), vault.KeyFile(path)), vault.CodeKeyUnsafe)
	if err := os.Remove(filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	if got := opens(t, dir, vault.KeyFile(path)); got != "" {
		t.Errorf("with one name it gave %q", got)
	}
}

func TestEnv(t *testing.T) {
	p := vault.Env("VAULT_TEST_KEY")
	_, err := key(t, p)
	wantCode(t, "an absent variable", err, vault.CodeLocked)
	t.Setenv("VAULT_TEST_KEY", strings.ReplaceAll(canary, "\x00", ""))
	_, err = key(t, p)
	wantCode(t, "a variable that is no key", err, vault.CodeKey)
	wantClean(t, "the error", printed(t, err))
	t.Setenv("VAULT_TEST_KEY", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("e", 32))))
	dir := filepath.Join(t.TempDir(), "v")
	v, err := vault.Create(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	if got := opens(t, dir, p); got != "" {
		t.Errorf("Open gave %q", got)
	}
	t.Setenv("VAULT_TEST_KEY", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("f", 32))))
	wantRefused(t, dir, p, vault.CodeWrongKey)
}

func TestPassphrase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	right, _ := asks("correct horse")
	v, err := vault.Create(t.Context(), dir, right)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.AddSlot(t.Context(), goodKey); err != nil {
		t.Fatal(err)
	}
	if got := opens(t, dir, right); got != "" {
		t.Errorf("the passphrase gave %q", got)
	}
	wrong, _ := asks("correct house")
	wantRefused(t, dir, wrong, vault.CodeWrongKey)
	for _, text := range []string{"", "7 bytes", strings.Repeat("p", 1025)} {
		p, _ := asks(text)
		wantRefused(t, dir, p, vault.CodeKey)
	}
	no := errors.New("no terminal")
	_, err = vault.Open(t.Context(), dir, vault.Passphrase(func(context.Context) ([]byte, error) { return []byte(canary), no }), nil)
	wantCode(t, "Open without a terminal", err, vault.CodeLocked)
	if !errors.Is(err, no) {
		t.Errorf("the cause is lost in %v", err)
	}
	wantRefused(t, dir, vault.Passphrase(nil), vault.CodeLocked)
	_, err = key(t, right)
	wantCode(t, "a slot of no vault", err, vault.CodeKey)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = vault.Open(ctx, dir, vault.Passphrase(func(context.Context) ([]byte, error) {
		cancel()
		return []byte("correct horse"), nil
	}), nil)
	wantCode(t, "Open with a context that ends", err, vault.CodeLocked)
}

// TestPassphraseAskedOnce: opening asks once, however many slots a passphrase
// might be for, and whatever the answer is.
func TestPassphraseAskedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	first, _ := asks("correct horse")
	second, asked := asks("battery staple")
	v, err := vault.Create(t.Context(), dir, first, second)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	*asked = 0
	if got := opens(t, dir, second); got != "" || *asked != 1 {
		t.Errorf("the second passphrase gave %q after %d questions", got, *asked)
	}
	wrong, asked := asks("correct house")
	if got := opens(t, dir, wrong); got != vault.CodeWrongKey || *asked != 1 {
		t.Errorf("a wrong one gave %q after %d questions", got, *asked)
	}
	short, asked := asks("short")
	if got := opens(t, dir, short); got != vault.CodeKey || *asked != 1 {
		t.Errorf("a short one gave %q after %d questions", got, *asked)
	}
	var answers [][]byte
	cancelled := vault.CheapPassphrase(func(context.Context) ([]byte, error) {
		answers = append(answers, []byte("correct horse"))
		return answers[len(answers)-1], errors.New("cancelled")
	})
	if got := opens(t, dir, cancelled); got != vault.CodeLocked || len(answers) != 1 {
		t.Errorf("who gave up gave %q after %d questions", got, len(answers))
	}
	if len(answers) > 0 && !bytes.Equal(answers[0], make([]byte, len(answers[0]))) {
		t.Error("the answer was not cleared")
	}
	if got := opens(t, dir, vault.Passphrase(nil)); got != vault.CodeLocked {
		t.Errorf("nobody to ask gave %q", got)
	}
}

// TestNilProvider: no provider is refused like a missing one, before a key is
// made for another.
func TestNilProvider(t *testing.T) {
	v, dir := create(t)
	before := read(t, dir, "vault.json")
	good, asked := asks("correct horse")
	ctx, other := t.Context(), filepath.Join(t.TempDir(), "v")
	_, errCreate := vault.Create(ctx, other, good, nil)
	_, errOpen := vault.Open(ctx, dir, nil, nil)
	for name, err := range map[string]error{
		"Create": errCreate, "Open": errOpen, "AddSlot": v.AddSlot(ctx, nil),
		"Rotate": v.Rotate(ctx, good, nil), "Rotate with nil alone": v.Rotate(ctx, nil),
		"Export": v.Export(ctx, other, nil),
	} {
		wantCode(t, name, err, vault.CodeInvalid)
	}
	if *asked != 0 || !bytes.Equal(before, read(t, dir, "vault.json")) {
		t.Errorf("the file changed, or one of %d keys was made", *asked)
	}
	if got := opens(t, other, goodKey); got != vault.CodeMissing {
		t.Errorf("the new directory gave %q", got)
	}
}

// TestPassphraseDefault: the costs of a new slot are those that are documented.
func TestPassphraseDefault(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	p := vault.Passphrase(func(context.Context) ([]byte, error) { return []byte("correct horse"), nil })
	v, err := vault.Create(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	e, err := vault.Decode(read(t, dir, "vault.json"))
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Slots[0]; s.Time != 3 || s.Memory != 64<<10 || s.Threads != 4 {
		t.Errorf("the costs are %d, %d KiB, %d", s.Time, s.Memory, s.Threads)
	}
	if got := opens(t, dir, p); got != "" {
		t.Errorf("Open gave %q", got)
	}
}

// stuck is a provider that answers when its context ends.
type stuck struct{ memKey }

func (*stuck) Key(ctx context.Context, _ vault.Slot) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestProviderHangs: Open returns at the deadline of its context, and a read
// that has none after 30 seconds.
func TestProviderHangs(t *testing.T) {
	_, dir := create(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := vault.Open(ctx, dir, &stuck{*goodKey}, nil)
		wantCode(t, "Open", err, vault.CodeLocked)
		if took := time.Since(start); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it took %v and gave %v", took, err)
		}
	})
	later := &latch{memKey: *goodKey}
	v, err := vault.Open(t.Context(), dir, later, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := open(t, dir).AddSlot(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	later.hangs = true
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := v.Profiles()
		wantCode(t, "Profiles", err, vault.CodeLocked)
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %v, want 30s", took)
		}
	})
}

// latch is a provider that can be made to hang.
type latch struct {
	memKey
	hangs bool
}

func (l *latch) Key(ctx context.Context, s vault.Slot) ([]byte, error) {
	if l.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.memKey.Key(ctx, s)
}
