package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/token"
)

// sealer is what package result wants.
type sealer interface {
	Seal(plain, bound []byte) (string, error)
	Open(sealed string, bound []byte) ([]byte, error)
}

var _ sealer = (*token.Signer)(nil)

func openSigner(t *testing.T, dir string, opts *token.Options) *token.Signer {
	t.Helper()
	s, err := token.OpenSigner(dir, opts)
	if err != nil {
		t.Fatalf("OpenSigner: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustSeal(t *testing.T, s *token.Signer, plain, bound string) string {
	t.Helper()
	sealed, err := s.Seal([]byte(plain), []byte(bound))
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	return sealed
}

// wantSealed checks that a text opens.
func wantSealed(t *testing.T, s *token.Signer, sealed, bound, want string) {
	t.Helper()
	got, err := s.Open(sealed, []byte(bound))
	if err != nil || string(got) != want {
		t.Errorf("Open gave %q and %v, want %q", got, err, want)
	}
}

// wantRefused checks that a text does not open, and that the answer tells
// nothing.
func wantRefused(t *testing.T, s *token.Signer, sealed, bound string) {
	t.Helper()
	got, err := s.Open(sealed, []byte(bound))
	var e *token.Error
	if !errors.As(err, &e) || got != nil {
		t.Fatalf("Open of %.40q gave %q and %v", sealed, got, err)
	}
	if diff := cmp.Diff(&token.Error{Code: token.CodeSealed}, e); diff != "" {
		t.Errorf("the answer tells more than it should (-want +got):\n%s", diff)
	}
}

func TestSealRoundTrip(t *testing.T) {
	s := openSigner(t, t.TempDir(), nil)
	for _, plain := range []string{"", "p", "{\"offset\":20}", strings.Repeat("\x00\xff", 32<<10)} {
		for _, bound := range []string{"", "query and snapshot"} {
			sealed := mustSeal(t, s, plain, bound)
			wantSealed(t, s, sealed, bound, plain)
			wantSealed(t, s, sealed, bound, plain) // any number of times
			if strings.Trim(sealed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Errorf("sealed text %.40q is not plain ASCII", sealed)
			}
		}
	}
	if a, b := mustSeal(t, s, "x", ""), mustSeal(t, s, "x", ""); a == b {
		t.Error("the same text was sealed the same way twice")
	}
	_, err := s.Seal(make([]byte, 64<<10+1), nil)
	wantCode(t, "Seal of too much", err, token.CodeTooLarge)
}

// TestSealTamper changes every character, every bit, and the length.
func TestSealTamper(t *testing.T) {
	s := openSigner(t, t.TempDir(), nil)
	sealed := mustSeal(t, s, "the state of a request", "principal, method, arguments")
	const bound = "principal, method, arguments"
	tries := 0
	for i := range sealed {
		for _, c := range []byte("A_x0 \x00.") {
			if sealed[i] != c {
				wantRefused(t, s, sealed[:i]+string(c)+sealed[i+1:], bound)
				tries++
			}
		}
		wantRefused(t, s, sealed[:i], bound)
		wantRefused(t, s, sealed[i:][1:], bound)
	}
	raw, err := base64.RawURLEncoding.DecodeString(sealed[3:])
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			flipped := bytes.Clone(raw)
			flipped[i] ^= 1 << bit
			wantRefused(t, s, "s1_"+base64.RawURLEncoding.EncodeToString(flipped), bound)
			tries++
		}
	}
	for i := range bound {
		wantRefused(t, s, sealed, bound[:i]+"?"+bound[i+1:])
		tries++
	}
	for _, text := range []string{sealed + "A", sealed + "=", sealed + "\n", strings.Repeat(sealed, 2), "", "s1_", strings.Repeat("A", 1<<20)} {
		wantRefused(t, s, text, bound)
	}
	wantSealed(t, s, sealed, bound, "the state of a request")
	t.Logf("0 of %d alterations opened", tries)
}

// TestRequestState binds a text as the state of a request that goes over
// several calls is bound, and swaps each part.
func TestRequestState(t *testing.T) {
	dir := t.TempDir()
	s := openSigner(t, dir, nil)
	bind := func(principal, method, tool, arguments string) string {
		return fmt.Sprintf("%d:%s%d:%s%d:%s%s", len(principal), principal, len(method), method, len(tool), tool, sum(arguments))
	}
	sealed := mustSeal(t, s, "asked", bind("ann", "tools/call", "candidate_apply", `{"id":"intro"}`))
	swaps := map[string]string{
		"principal": bind("bob", "tools/call", "candidate_apply", `{"id":"intro"}`),
		"method":    bind("ann", "prompts/get", "candidate_apply", `{"id":"intro"}`),
		"tool":      bind("ann", "tools/call", "candidate_discard", `{"id":"intro"}`),
		"arguments": bind("ann", "tools/call", "candidate_apply", `{"id":"outro"}`),
		"nothing":   "",
	}
	for name, bound := range swaps {
		t.Run(name, func(t *testing.T) { wantRefused(t, s, sealed, bound) })
	}
	other := openSigner(t, t.TempDir(), nil)
	wantRefused(t, other, sealed, bind("ann", "tools/call", "candidate_apply", `{"id":"intro"}`))
	again := openSigner(t, dir, nil)
	wantSealed(t, again, sealed, bind("ann", "tools/call", "candidate_apply", `{"id":"intro"}`), "asked")
}

func TestSealExpires(t *testing.T) {
	cases := []struct {
		name   string
		move   time.Duration
		opens  bool
		reason string
	}{
		{"at once", 0, true, ""},
		{"last moment", 10*time.Minute - time.Millisecond, true, ""},
		{"over", 10 * time.Minute, false, "expired"},
		{"clock back by a correction", -60 * time.Second, true, ""},
		{"clock back", -61 * time.Second, false, "sealed in the future"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var logs logBuffer
			clock := newTestClock()
			s := openSigner(t, t.TempDir(), &token.Options{TTL: 10 * time.Minute, Now: clock.Now, Logger: logs.logger()})
			sealed := mustSeal(t, s, "x", "b")
			clock.Add(c.move)
			if c.opens {
				wantSealed(t, s, sealed, "b", "x")
				return
			}
			wantRefused(t, s, sealed, "b")
			if !strings.Contains(logs.String(), c.reason) {
				t.Errorf("the log says %s, want %q", logs.String(), c.reason)
			}
		})
	}
}

// TestRotation: the new key seals everywhere within a second, the old one
// opens for one TTL more and is then forgotten.
func TestRotation(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	opts := &token.Options{TTL: 10 * time.Minute, Now: clock.Now}
	a, b := openSigner(t, dir, opts), openSigner(t, dir, opts)
	keyOf := func(sealed string) string { return sealed[3:8] }
	old := mustSeal(t, a, "old", "")
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := mustSeal(t, a, "new", "")
	if keyOf(fresh) == keyOf(old) {
		t.Error("the rotated signer seals with the old key")
	}
	wantSealed(t, b, fresh, "", "new")
	clock.Add(time.Second)
	if got := mustSeal(t, b, "x", ""); keyOf(got) != keyOf(fresh) {
		t.Error("after a second the other signer seals with the old key")
	}
	clock.Add(10*time.Minute - 2*time.Second)
	for _, s := range []*token.Signer{a, b, openSigner(t, dir, opts)} {
		wantSealed(t, s, old, "", "old")
	}
	clock.Add(time.Second)
	wantRefused(t, a, old, "")

	// Retired keys leave the file once nothing of theirs can be open.
	clock.Add(time.Hour)
	for range 20 {
		if err := b.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := keyCount(t, dir); n > 8 {
		t.Errorf("the file has %d keys", n)
	}
	clock.Add(time.Hour)
	if err := b.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := keyCount(t, dir); n != 2 {
		t.Errorf("the file has %d keys, want the new and the last", n)
	}
}

// TestRotationElsewhere: what another process sealed with the old key, before it
// noticed the new one, opens for as long as all else.
func TestRotationElsewhere(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	opts := &token.Options{TTL: 10 * time.Minute, Now: clock.Now}
	a, b := openSigner(t, dir, opts), openSigner(t, dir, opts)
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Second - time.Millisecond)
	late := mustSeal(t, b, "late", "")
	if fresh := mustSeal(t, a, "", ""); late[3:8] == fresh[3:8] {
		t.Fatal("the other signer noticed the new key at once")
	}
	clock.Add(10*time.Minute - time.Millisecond)
	wantSealed(t, a, late, "", "late")
	clock.Add(time.Millisecond)
	wantRefused(t, a, late, "")
}

// keyCount reads the key file.
func keyCount(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "seal.keys"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return len(file.Keys)
}

func TestKeyIsRotatedAfterAMonth(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	opts := &token.Options{Now: clock.Now, TTL: 2 * time.Hour}
	openSigner(t, dir, opts)
	clock.Add(30*24*time.Hour - time.Millisecond)
	s := openSigner(t, dir, opts)
	if n := keyCount(t, dir); n != 1 {
		t.Errorf("%d keys before a month is over", n)
	}
	sealed := mustSeal(t, s, "x", "")
	clock.Add(time.Millisecond)
	wantSealed(t, openSigner(t, dir, opts), sealed, "", "x")
	if n := keyCount(t, dir); n != 2 {
		t.Errorf("%d keys after a month, want 2", n)
	}
}

func TestKeyFile(t *testing.T) {
	fresh := func(t *testing.T) (dir, name string) {
		t.Helper()
		dir = t.TempDir()
		openSigner(t, dir, nil)
		return dir, filepath.Join(dir, "seal.keys")
	}
	dir, name := fresh(t)
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v and error %v, want 0600", info.Mode(), err)
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		data string
		want token.Code
	}{
		{"empty", "", token.CodeDamaged},
		{"no keys", `{"keys":[]}`, token.CodeDamaged},
		{"null key", `{"keys":[null]}`, token.CodeDamaged},
		{"short key", `{"keys":[{"id":"00112233","key":"AAAA"}]}`, token.CodeDamaged},
		{"bad id", `{"keys":[{"id":"0011","key":"` + base64Of(strings.Repeat("k", 32)) + `"}]}`, token.CodeDamaged},
		{"cut off", string(good[:len(good)/2]), token.CodeDamaged},
		{"many keys", `{"keys":[` + strings.Repeat(`{"id":"00112233","key":"`+base64Of(strings.Repeat("k", 32))+`"},`, 8) +
			`{"id":"00112233","key":"` + base64Of(strings.Repeat("k", 32)) + `"}]}`, token.CodeDamaged},
		{"huge", strings.Repeat(" ", 17<<10), token.CodeIO},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(name, []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := token.OpenSigner(dir, nil)
			wantCode(t, "OpenSigner", err, c.want)
			if err != nil && strings.Contains(err.Error(), base64Of(strings.Repeat("k", 32))) {
				t.Errorf("the error shows a key: %v", err)
			}
		})
	}
	t.Run("open to others", func(t *testing.T) {
		dir, name := fresh(t)
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := token.OpenSigner(dir, nil)
		wantCode(t, "OpenSigner", err, token.CodeExposed)
	})
	t.Run("no directory", func(t *testing.T) {
		_, err := token.OpenSigner(name, nil)
		wantCode(t, "OpenSigner", err, token.CodeIO)
	})
}

// TestKeyFileLostInService: a signer keeps the keys it has, says so, and takes
// up the file again when it is back.
func TestKeyFileLostInService(t *testing.T) {
	var logs logBuffer
	dir, clock := t.TempDir(), newTestClock()
	s := openSigner(t, dir, &token.Options{Now: clock.Now, Logger: logs.logger()})
	sealed := mustSeal(t, s, "x", "")
	if err := os.WriteFile(filepath.Join(dir, "seal.keys"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Second)
	wantSealed(t, s, sealed, "", "x")
	if !strings.Contains(logs.String(), "sealing keys not read again") {
		t.Errorf("the log says %s", logs.String())
	}
	wantCode(t, "Rotate", s.Rotate(t.Context()), token.CodeDamaged)
	if err := os.Remove(filepath.Join(dir, "seal.keys")); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Second)
	wantSealed(t, s, sealed, "", "x")
	if err := s.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSealed(t, s, mustSeal(t, s, "y", ""), "", "y")
}

// TestSealAllocs: a seal is on the path of every page.
func TestSealAllocs(t *testing.T) {
	clock := newTestClock()
	s := openSigner(t, t.TempDir(), &token.Options{Now: clock.Now})
	bound := []byte("query")
	plain := []byte("position")
	sealed := mustSeal(t, s, string(plain), string(bound))
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Seal(plain, bound); err != nil {
			t.Fatal(err)
		}
	}); n > 6 {
		t.Errorf("Seal allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Open(sealed, bound); err != nil {
			t.Fatal(err)
		}
	}); n > 5 {
		t.Errorf("Open allocates %v times", n)
	}
}
