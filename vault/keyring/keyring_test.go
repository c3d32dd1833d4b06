package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
	"github.com/mcpcontract/mcpcontract/vault/keyring"
	"github.com/mcpcontract/mcpcontract/vault/vaulttest"
)

// memory is a keyring that may hang or fail.
type memory struct {
	mu    sync.Mutex
	items map[string]string
	calls int
	err   error
	hang  chan struct{} // if not nil, every call waits until it is closed
}

func (m *memory) begin() (unlock func(), err error) {
	m.mu.Lock()
	m.calls++
	hang, err := m.hang, m.err
	m.mu.Unlock()
	if hang != nil {
		<-hang
	}
	m.mu.Lock()
	return m.mu.Unlock, err
}

func (m *memory) Get(service, account string) (string, error) {
	unlock, err := m.begin()
	defer unlock()
	text, ok := m.items[service+" "+account]
	if err == nil && !ok {
		err = errors.New("no such item")
	}
	return text, err
}

func (m *memory) Set(service, account, text string) error {
	unlock, err := m.begin()
	defer unlock()
	if err != nil {
		return err
	}
	if m.items == nil {
		m.items = map[string]string{}
	}
	m.items[service+" "+account] = text
	return nil
}

func (m *memory) Delete(service, account string) error {
	unlock, err := m.begin()
	defer unlock()
	delete(m.items, service+" "+account)
	return err
}

func wantCode(t *testing.T, what string, err error, want vault.Code) {
	t.Helper()
	if got := vault.CodeOf(err); got != want {
		t.Errorf("%s gave code %q (%v), want %q", what, got, err, want)
	}
}

func ExampleNew() {
	// In a test, a fake takes the place of the operating system's keyring.
	p := keyring.New(&keyring.Options{Backend: &memory{}})
	ctx := context.Background()
	slot := vault.Slot{Vault: "5ad1", ID: "07", Kind: p.Kind()}
	made, err := p.Enroll(ctx, slot)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := p.Key(ctx, slot)
	fmt.Println(len(made), string(made) == string(got), err)
	// Output: 32 true <nil>
}

// TestVault: a vault's life with keys in a keyring. Each slot has an item of
// its own, and no secret is in any.
func TestVault(t *testing.T) {
	m := &memory{}
	p := keyring.New(&keyring.Options{Service: "atlas", Backend: m})
	dir := filepath.Join(t.TempDir(), "v")
	v, err := vault.Create(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", "canary-7312") }); err != nil {
		t.Fatal(err)
	}
	before, err := v.Slots()
	if err != nil || len(before) != 1 {
		t.Fatalf("Slots gave %v and %v, want one", before, err)
	}
	if err := v.Rotate(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if len(m.items) != 2 {
		t.Errorf("the keyring has %d items, want the old and the new one", len(m.items))
	}
	if err := p.Forget(t.Context(), before[0]); err != nil {
		t.Fatal(err)
	}
	for name, text := range m.items {
		if !strings.HasPrefix(name, "atlas "+before[0].Vault+"/") || strings.Contains(text, "canary") || len(text) != 44 {
			t.Errorf("an item %q of %d characters is filed", name, len(text))
		}
	}
	other, err := vault.Open(t.Context(), dir, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	profile, err := other.Profile(vault.Default)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := profile.Get("A")
	if diff := cmp.Diff("canary-7312", secret.Reveal()); err != nil || diff != "" {
		t.Errorf("Get gave %v (-want +got):\n%s", err, diff)
	}
}

// TestHangs: calls return at the deadline, and no more than one hangs.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{hang: make(chan struct{})}
		p := keyring.New(&keyring.Options{Backend: m, Timeout: 2 * time.Second})
		for i := range 3 {
			start := time.Now()
			_, err := p.Key(t.Context(), vault.Slot{})
			wantCode(t, "Key", err, vault.CodeLocked)
			if took := time.Since(start); took != 2*time.Second {
				t.Errorf("call %d took %v, want 2s", i, took)
			}
		}
		close(m.hang)
		synctest.Wait()
		if m.calls != 1 {
			t.Errorf("%d calls were made, want 1", m.calls)
		}
		m.hang = nil
		_, err := p.Enroll(t.Context(), vault.Slot{})
		wantCode(t, "Enroll afterwards", err, "")
	})
}

// TestDefaultTimeout: without options the wait is 3 seconds, and a context
// that ends earlier ends it.
func TestDefaultTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{hang: make(chan struct{})}
		defer close(m.hang)
		p := keyring.New(&keyring.Options{Backend: m})
		start := time.Now()
		_, err := p.Enroll(t.Context(), vault.Slot{})
		wantCode(t, "Enroll", err, vault.CodeLocked)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %v, want 3s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = p.Key(ctx, vault.Slot{})
		if took := time.Since(start); took != 4*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it took %v and gave %v, want 4s in all and the context's error", took, err)
		}
	})
}

func TestRefused(t *testing.T) {
	broken := errors.New("the collection is locked")
	slot := vault.Slot{Vault: "ab", ID: "cd"}
	tests := []struct {
		name string
		m    *memory
		want vault.Code
	}{
		{"absent item", &memory{}, vault.CodeLocked},
		{"failing keyring", &memory{err: broken}, vault.CodeLocked},
		{"item that is no base64", &memory{items: map[string]string{"mcpcontract-vault ab/cd": "canary!"}}, vault.CodeKey},
		{"item that is too short", &memory{items: map[string]string{"mcpcontract-vault ab/cd": "Y2FuYXJ5"}}, vault.CodeKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := keyring.New(&keyring.Options{Backend: tt.m}).Key(t.Context(), slot)
			wantCode(t, "Key", err, tt.want)
			if text := fmt.Sprintf("%v %#v", err, err); strings.Contains(text, "canary") || strings.Contains(text, "Y2Fu") {
				t.Errorf("the error repeats the item: %s", text)
			}
			if tt.m.err != nil && !errors.Is(err, broken) {
				t.Errorf("the cause is lost in %v", err)
			}
		})
	}
	_, err := keyring.New(&keyring.Options{Backend: &memory{err: broken}}).Enroll(t.Context(), slot)
	wantCode(t, "Enroll", err, vault.CodeLocked)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := &memory{}
	_, err = keyring.New(&keyring.Options{Backend: m}).Key(ended, slot)
	wantCode(t, "Key with an ended context", err, vault.CodeLocked)
	if m.calls != 0 {
		t.Errorf("the keyring was called %d times", m.calls)
	}
}

// TestConformance runs the checks of all providers on this one.
func TestConformance(t *testing.T) {
	vaulttest.Run(t, keyring.New(&keyring.Options{Backend: &memory{}}))
}

// TestSystem: without a session bus the operating system's keyring fails
// within the deadline, and nothing else is tried.
func TestSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the bus of Linux can be taken away from one process")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	p := keyring.New(nil)
	ctx, slot := t.Context(), vault.Slot{Vault: "ab", ID: "cd"}
	_, err := p.Enroll(ctx, slot)
	wantCode(t, "Enroll", err, vault.CodeLocked)
	_, err = p.Key(ctx, slot)
	wantCode(t, "Key", err, vault.CodeLocked)
	wantCode(t, "Forget", p.Forget(ctx, slot), vault.CodeLocked)
}
