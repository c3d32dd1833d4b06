package normalize_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// FuzzParse checks what holds for any bytes: an error has a code and, for text
// that cannot be read, a place in the text; a paste without servers says so;
// each record runs, connects, or says why not; notes are bounded by the text;
// the same text gives the same paste, and a record survives being stored.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"configs", "clients"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*"))
		if err != nil {
			f.Fatal(err)
		}
		for i, name := range files {
			if strings.HasSuffix(name, ".want") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, uint8(i))
		}
	}
	ids := normalize.Dialects()
	f.Fuzz(func(t *testing.T, text []byte, dialect uint8) {
		opts := &normalize.ParseOptions{Dialect: ids[int(dialect)%len(ids)], MaxBytes: 1 << 16}
		paste, err := normalize.Parse(text, opts)
		if err != nil {
			checkError(t, text, err)
			return
		}
		checkPaste(t, text, paste)
		again, err := normalize.Parse(text, opts)
		if err != nil {
			t.Fatalf("the second time: %v", err)
		}
		if diff := cmp.Diff(paste, again, cmpopts.IgnoreUnexported(normalize.Server{})); diff != "" {
			t.Errorf("the same text gives another paste (-first +second):\n%s", diff)
		}
	})
}

func checkError(t *testing.T, text []byte, err error) {
	t.Helper()
	var e *normalize.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	switch e.Code {
	case normalize.TooLarge, normalize.TooMany:
	case normalize.Unreadable, normalize.TooDeep:
		if e.Line < 1 || e.Column < 1 || e.Line > strings.Count(string(text), "\n")+2 {
			t.Errorf("%v is at line %d, column %d", e, e.Line, e.Column)
		}
		if len(e.Message) > 400 {
			t.Errorf("the message has %d bytes", len(e.Message))
		}
	default:
		t.Errorf("code %q: %v", e.Code, e)
	}
}

func checkPaste(t *testing.T, text []byte, paste *normalize.Paste) {
	t.Helper()
	notes := len(paste.Notes)
	for _, s := range paste.Servers {
		notes += len(s.Notes)
		checkServer(t, s)
	}
	if most := 100 + 12*len(text); notes > most {
		t.Errorf("%d notes for %d bytes", notes, len(text))
	}
	if len(paste.Servers) == 0 && len(paste.Notes) == 0 {
		t.Error("no server and no note that says so")
	}
}

func checkServer(t *testing.T, s normalize.Server) {
	t.Helper()
	switch {
	case s.Err != nil:
		if s.Transport != "" && s.Command == "" && s.URL == "" && s.Err.Code == "" {
			t.Errorf("%q has an error without a code", s.Name)
		}
	case s.Command == "" && s.URL == "":
		t.Errorf("%q has neither command, url nor error", s.Name)
	case s.Transport == normalize.Stdio && s.Command == "", s.Transport != normalize.Stdio && s.URL == "", s.Transport == "":
		t.Errorf("%q with transport %q has command %q and url %q", s.Name, s.Transport, s.Command, s.URL)
	}
	if s.Name == "" && !hasNote(s.Notes, normalize.NameGenerated) && s.Err == nil {
		t.Logf("a server without a name: %+v", s)
	}
	stored, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	var back normalize.Server
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatalf("Unmarshal of %s: %v", stored, err)
	}
	opts := cmp.Options{
		cmpopts.IgnoreUnexported(normalize.Server{}), cmpopts.IgnoreFields(normalize.Note{}, "Dropped"),
		cmpopts.IgnoreFields(normalize.Error{}, "Err"),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Extra" }, cmp.Comparer(sameJSON)),
		cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() != ".Extra" && p.Last().String() != ".AllowTools" && p.Last().String() != ".Default"
		}, cmpopts.EquateEmpty()),
	}
	if diff := cmp.Diff(s, back, opts); diff != "" {
		t.Errorf("a stored record comes back different (-want +got):\n%s", diff)
	}
}

func hasNote(notes []normalize.Note, code normalize.Code) bool {
	for _, n := range notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}
