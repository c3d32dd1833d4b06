package vault_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
)

// printed returns what fmt, slog, encoding/json and TOML make of a value.
func printed(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range "vsdxXqbeoUTtpcgG" {
		for _, flags := range []string{"", "+", "#", "40", "-", " ", "0", "+#"} {
			fmt.Fprintf(&b, "%"+flags+string(verb)+"\n", value)
		}
	}
	fmt.Fprintln(&b, value, []any{value}, map[string]any{"k": value}, struct{ V any }{value}, struct{ v any }{value}, &value)
	opts := &slog.HandlerOptions{Level: slog.LevelDebug}
	slog.New(slog.NewTextHandler(&b, opts)).Info("m", "k", value)
	slog.New(slog.NewJSONHandler(&b, opts)).Info("m", "k", value, slog.Group("g", "k", value))
	if data, err := json.Marshal(map[string]any{"k": value}); err == nil {
		b.Write(data)
	}
	_ = toml.NewEncoder(&b).Encode(map[string]any{"k": value}) // what it refuses it does not show
	return b.String()
}

func TestSecretIsRedacted(t *testing.T) {
	v, _ := create(t)
	set(t, v, "A", canary)
	secret, _, err := profile(t, v, vault.Default).Get("A")
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Public vault.Secret
		hidden vault.Secret
	}
	for _, value := range []any{secret, &secret, holder{secret, secret}, &holder{secret, secret}, []vault.Secret{secret}, fmt.Errorf("bad %v", secret)} {
		wantClean(t, fmt.Sprintf("a %T", value), printed(t, value))
	}
	const want = "[redacted]"
	marshaled, err := json.Marshal(secret)
	text, errText := encoding.TextMarshaler(secret).MarshalText()
	if err != nil || errText != nil || string(marshaled) != `"`+want+`"` || string(text) != want {
		t.Errorf("it marshals as %s and %s; %v %v", marshaled, text, err, errText)
	}
	for _, got := range []string{
		fmt.Sprintf("%v", secret), fmt.Sprintf("%#v", secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%d", secret),
		secret.String(), secret.GoString(), secret.LogValue().String(),
	} {
		if got != want {
			t.Errorf("it prints as %q, want %q", got, want)
		}
	}
	if secret.Reveal() != canary {
		t.Errorf("Reveal gave %q", secret.Reveal())
	}
	if got := (vault.Secret{}).Reveal(); got != "" {
		t.Errorf("the zero Secret reveals %q", got)
	}
}

// TestNothingShows prints every value and every error that the package gives,
// and reads every file, and looks for the value, the key and the passphrase in
// them.
func TestNothingShows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	ctx := t.Context()
	key := &memKey{kind: "test", key: "canary-4f1c-canary-4f1c-canary-4"}
	v, err := vault.Create(ctx, dir, key)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var errs []error
	keep := func(err error) {
		if err == nil {
			t.Error("a call that was to fail did not")
		}
		errs = append(errs, err)
	}
	update(t, v, func(tx *vault.Tx) error {
		wantClean(t, "the Tx", printed(t, tx))
		err := errors.Join(
			tx.CreateProfile("work", ""), tx.Set("work", "A", canary), tx.Set("work", "canary-4f1c-name", "x"),
			tx.SetRecord("work", vault.Record{Name: "r", Data: []byte(`"canary-4f1c"`)}),
		)
		wantClean(t, "the Tx", printed(t, tx))
		keep(tx.Set("work", "", canary))
		keep(tx.Set("work", "B", strings.Repeat(canary, 4000)))
		keep(tx.Set("none", "B", canary))
		keep(tx.SetRecord("work", vault.Record{Name: "q", Data: []byte(canary)}))
		return err
	})
	work := profile(t, v, "work")
	slots, err := v.Slots()
	if err != nil {
		t.Fatal(err)
	}
	_, origin, err := work.Get("A")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{v, *v, work, *work, slots, origin} {
		wantClean(t, fmt.Sprintf("a %T", value), printed(t, value))
	}
	_, _, err = work.Get("B")
	keep(err)
	_, err = vault.Open(ctx, dir, &memKey{kind: "test", key: canary}, nil)
	keep(err)
	_, err = vault.Open(ctx, dir, &memKey{kind: "test", key: strings.Repeat("canary-4", 4)}, nil)
	keep(err)
	wantClean(t, "the directory", dirText(t, dir))

	whole := read(t, dir, "vault.json")
	for _, bad := range [][]byte{nil, []byte(canary), whole[:len(whole)-9], bytes.Replace(whole, []byte(`"gen": 2`), []byte(`"gen": 3`), 1)} {
		write(t, dir, "vault.json", bad)
		_, err := vault.Open(ctx, dir, key, nil)
		keep(err)
		_, _, err = work.Get("A")
		keep(err)
		keep(v.Update(ctx, func(tx *vault.Tx) error { return tx.Set("work", "A", canary) }))
	}
	for _, err := range errs {
		wantClean(t, "an error", printed(t, err)+err.Error())
		e, ok := errors.AsType[*vault.Error](err)
		if !ok {
			t.Errorf("%v is no *vault.Error", err)
			continue
		}
		wantClean(t, "its details", printed(t, e.ErrorDetails())+e.ErrorCode())
	}
}

// TestErrorText: an error says what to do, what it is about, and has details
// for the wire.
func TestErrorText(t *testing.T) {
	v, _ := create(t)
	_, _, err := profile(t, v, vault.Default).Get(strings.Repeat("N", 200))
	want := `get: no such secret; list those there are, or set it: profile "default": name "` + strings.Repeat("N", 80) + `"`
	if err == nil || err.Error() != want {
		t.Errorf("the text is %v, want %s", err, want)
	}
	e, ok := errors.AsType[*vault.Error](err)
	if !ok {
		t.Fatalf("%v is no *vault.Error", err)
	}
	details, errJSON := json.Marshal(e.ErrorDetails())
	if errJSON != nil || string(details) != `{"profile":"default","name":"`+strings.Repeat("N", 200)+`"}` {
		t.Errorf("the details are %s, %v", details, errJSON)
	}
	long := strings.Repeat("é", 1<<19)
	_, err = v.Profile(long)
	if e, ok = errors.AsType[*vault.Error](err); !ok {
		t.Fatalf("%v is no *vault.Error", err)
	}
	e.Name = long
	details, errJSON = json.Marshal(e.ErrorDetails())
	cut := strings.Repeat("é", 128) + "..."
	if errJSON != nil || string(details) != `{"profile":"`+cut+`","name":"`+cut+`"}` || len(e.Error()) > 1000 {
		t.Errorf("the details of long names are %.600s, %v; the text has %d bytes", details, errJSON, len(e.Error()))
	}
	if got := (&vault.Error{Code: vault.CodeIO}).ErrorDetails(); got != nil {
		t.Errorf("an error about nothing has details %v", got)
	}
	if vault.CodeOf(nil) != "" || vault.CodeOf(errors.New("x")) != "" {
		t.Error("an error of others has a code")
	}
}

// TestMessagesSayWhere: a message names the file, variable or folder that a person
// has to look at.
func TestMessagesSayWhere(t *testing.T) {
	_, dir := create(t)
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VAULT_TEST_KEY", canaryForms[0])
	for want, p := range map[string]vault.KeyProvider{
		fmt.Sprintf("key: this is no key for a vault: the key file %q does not hold 32 bytes in base64", path): vault.KeyFile(path),
		`key: this is no key for a vault: the variable "VAULT_TEST_KEY" does not hold 32 bytes in base64`:      vault.Env("VAULT_TEST_KEY"),
	} {
		_, err := vault.Create(t.Context(), filepath.Join(t.TempDir(), "v"), p)
		wantCode(t, "Create", err, vault.CodeKey)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		wantClean(t, "Create", fmt.Sprint(err))
	}
	if runtime.GOOS == "windows" {
		return // modes do not say who may read
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // it is to be refused
		t.Fatal(err)
	}
	_, err := vault.Open(t.Context(), dir, goodKey, nil)
	wantCode(t, "Open", err, vault.CodePermissions)
	if err == nil || !strings.HasSuffix(err.Error(), ": its directory: other users have access to it") {
		t.Errorf("Open gave %v", err)
	}
}
