package token_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/token/tokentest"
)

// FuzzLog reads any bytes as a log. It opens or is damaged; what opens was
// written by frames whose bytes are exactly those in the file, and opens again
// with the same content.
func FuzzLog(f *testing.F) {
	f.Add([]byte{})
	f.Add(token.BuildLog([]byte(`[{"hash":"aa","version":1,"state":"approved"}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newModelDisk()
		d.named = &modelFile{data: bytes.Clone(data)}
		s, err := token.OpenOn(d, 1<<20, nil)
		if err != nil {
			wantCode(t, "Open", err, token.CodeDamaged)
			return
		}
		got := content(t, s)
		if frame, again := token.CheckFrame(data); !bytes.Equal(frame, again) || frame == nil && got != "" {
			t.Errorf("from %x came\n%s", data, got)
		}
		if again, code := reopen(t, bytes.Clone(d.named.data)); again != got || code != "" {
			t.Errorf("read again: code %q and\n%s\nnot\n%s", code, again, got)
		}
	})
}

// FuzzChanges reads any text as the payload of a frame whose checksum is
// right. What is accepted is the same after the log was written anew.
func FuzzChanges(f *testing.F) {
	f.Add([]byte(`[{"hash":"aa","version":1,"state":"approved"},{"hash":"aa","version":2,"state":"used","receipt":"AP8="}]`))
	f.Add([]byte(`[{"hash":"aa","version":1,"state":"pending","bound":"b"},{"hash":"aa","version":2,"state":"approved","keep":true}]`))
	f.Add([]byte(`[{"hash":"aa","version":1,"state":"pending"},{"hash":"aa","version":2}]`))
	f.Add([]byte(`[{"hash":"aa","version":2,"state":"pending"}]`))
	f.Add([]byte(`[{"hash":"aa","version":1,"state":"pending","claim":{"base":{"a":"\ud800"}}}]`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		d := newModelDisk()
		d.named = &modelFile{data: token.BuildLog(payload)}
		s, err := token.OpenOn(d, 0, nil)
		if err != nil {
			wantCode(t, "Open", err, token.CodeDamaged)
			return
		}
		// Whatever dates the records have, one change writes the log anew.
		if err := token.LogBackend(s).Swap(t.Context(), &token.Record{Hash: "new", State: token.StateUsed}); err != nil {
			if code := token.CodeOf(err); code != token.CodeConflict {
				t.Errorf("Swap: %v", err)
			}
			return
		}
		want := content(t, s)
		if got, code := reopen(t, d.named.data); got != want || code != "" {
			t.Errorf("read again: code %q and\n%s\nnot\n%s", code, got, want)
		}
	})
}

// FuzzBegin sends any text as a token. Only the one that was issued opens
// anything.
func FuzzBegin(f *testing.F) {
	f.Add("")
	f.Add("x1_candidate_apply_" + strings.Repeat("A", 43))
	f.Add("x1__" + strings.Repeat("-", 43))
	s, err := token.Open("", &token.Options{Backend: &tokentest.Memory{}})
	if err != nil {
		f.Fatal(err)
	}
	tok, err := s.Issue(f.Context(), newClaim())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == tok.Reveal() {
			return
		}
		_, err := s.Begin(t.Context(), text, newClaim())
		wantInvalid(t, err)
		_, err = s.Lookup(t.Context(), text, newClaim())
		wantInvalid(t, err)
	})
}

// FuzzSealed opens any text with any bound. Only the pair that was sealed
// opens.
func FuzzSealed(f *testing.F) {
	dir := f.TempDir()
	s, err := token.OpenSigner(dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	sealed, err := s.Seal([]byte("plain"), []byte("bound"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed, []byte("other"))
	f.Add("s1_", []byte(nil))
	f.Add(sealed+"\n", []byte("bound"))
	f.Fuzz(func(t *testing.T, text string, bound []byte) {
		if text == sealed && string(bound) == "bound" {
			return
		}
		wantRefused(t, s, text, string(bound))
	})
}

// FuzzKeyFile reads any bytes as a key file. It is damaged, or seals and opens.
func FuzzKeyFile(f *testing.F) {
	f.Add([]byte(`{"keys":[{"id":"00112233","key":"` + base64Of(strings.Repeat("k", 32)) + `","made":"2031-01-02T03:04:05Z"}]}`))
	f.Add([]byte(`{"keys":[{"id":"00112233","key":"AAAA"}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "seal.keys"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := token.OpenSigner(dir, nil)
		if err != nil {
			if code := token.CodeOf(err); code != token.CodeDamaged && code != token.CodeIO {
				t.Errorf("OpenSigner: %v", err)
			}
			return
		}
		defer s.Close()
		wantSealed(t, s, mustSeal(t, s, "plain", "bound"), "bound", "plain")
	})
}
