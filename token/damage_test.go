package token_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
)

const logFile = "approvals.log"

// smallLog makes a log with tokens in every state and returns it, and what a
// store on it holds.
func smallLog(t *testing.T) (data []byte, want string) {
	t.Helper()
	dir := t.TempDir()
	// A clock that stands, so that two such logs have the same length.
	s := open(t, dir, &token.Options{Now: newTestClock().Now})
	small := func(approved bool) token.Claim {
		return token.Claim{Project: "p", Kind: "k", Subject: "s", Tool: "t", Approved: approved}
	}
	issue(t, s, small(false))
	issue(t, s, small(true))
	begin(t, s, issue(t, s, small(true)), small(true))
	use(t, s, issue(t, s, small(true)), small(true), "receipt")
	data, err := os.ReadFile(filepath.Join(dir, logFile))
	if err != nil {
		t.Fatal(err)
	}
	return data, content(t, s)
}

// content is all that a store holds, as text.
func content(t *testing.T, s *token.Store) string {
	t.Helper()
	var b bytes.Buffer
	for rec, err := range token.LogBackend(s).Range(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// reopen opens a store on a log with that content, and returns what it holds
// or the code of the error.
func reopen(t *testing.T, data []byte) (string, token.Code) {
	t.Helper()
	d := newModelDisk()
	d.named = &modelFile{data: data}
	s, err := token.OpenOn(d, 1<<20, &token.Options{Now: newTestClock().Now})
	if err != nil {
		return "", token.CodeOf(err)
	}
	return content(t, s), ""
}

// TestEveryTruncation: a log that lost acknowledged bytes is refused, wherever
// it ends. A consumed token would be usable again otherwise.
func TestEveryTruncation(t *testing.T) {
	data, _ := smallLog(t)
	for n := range data {
		if got, code := reopen(t, bytes.Clone(data[:n])); code != token.CodeDamaged {
			t.Errorf("cut to %d of %d bytes: code %q, holds\n%s", n, len(data), code, got)
		}
	}
	t.Logf("%d truncations, 0 accepted", len(data))
}

// TestEveryFlip: a log in which a byte changed is refused, or holds exactly
// what it did, because the byte was one of a spare mark.
func TestEveryFlip(t *testing.T) {
	data, want := smallLog(t)
	refused, harmless := 0, 0
	for i := range data {
		for _, mask := range []byte{0x01, 0x20, 0x80, 0xff} {
			flipped := bytes.Clone(data)
			flipped[i] ^= mask
			got, code := reopen(t, flipped)
			switch {
			case code == token.CodeDamaged:
				refused++
			case code == "" && got == want:
				harmless++
			default:
				t.Errorf("byte %d xor %#x: code %q, holds\n%s", i, mask, code, got)
			}
		}
	}
	if harmless > 4*2*16 {
		t.Errorf("%d flips were harmless, more than the marks have bytes", harmless)
	}
	t.Logf("%d flips refused, %d harmless, 0 accepted wrongly", refused, harmless)
}

// TestTornTail: what an unfinished append can leave behind the mark is cut
// off, and nothing else is lost; after that the log works.
func TestTornTail(t *testing.T) {
	data, want := smallLog(t)
	other, _ := smallLog(t)
	d := newModelDisk()
	d.named = &modelFile{data: bytes.Clone(other)}
	s, err := token.OpenOn(d, 1<<20, &token.Options{Now: newTestClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	use(t, s, issue(t, s, newClaim()), newClaim(), "")
	if len(other) != len(data) {
		t.Fatalf("two small logs have %d and %d bytes", len(data), len(other))
	}
	tails := map[string][]byte{
		"one byte":        {0},
		"zeros":           make([]byte, 5000),
		"half a length":   {0, 0},
		"a length":        {0, 0, 1, 0},
		"start of frame":  append([]byte{0, 0, 1, 0}, `[{"hash":"00"`...),
		"an older frame":  bytes.Clone(data[72:]),
		"the file itself": data,
		"another log's":   d.named.data[len(other):],
		"text":            bytes.Repeat([]byte("no frame at all "), 1000),
	}
	for name, tail := range tails {
		t.Run(name, func(t *testing.T) {
			d := newModelDisk()
			d.named = &modelFile{data: append(bytes.Clone(data), tail...)}
			s, err := token.OpenOn(d, 1<<20, &token.Options{Now: newTestClock().Now})
			if err != nil {
				t.Fatal(err)
			}
			if got := content(t, s); got != want {
				t.Errorf("holds\n%s\nwant\n%s", got, want)
			}
			if len(d.named.data) != len(data) {
				t.Errorf("the file has %d bytes, want %d", len(d.named.data), len(data))
			}
			use(t, s, issue(t, s, newClaim()), newClaim(), "")
			if _, code := reopen(t, d.named.data); code != "" {
				t.Errorf("after that it is refused with %s", code)
			}
		})
	}
}

// TestNoMark: after a power cut that took both marks, the frames speak for
// themselves: a bad one that others follow is damage, a bad last one is torn.
func TestNoMark(t *testing.T) {
	data, want := smallLog(t)
	clear(data[40:72])
	if got, code := reopen(t, bytes.Clone(data)); got != want || code != "" {
		t.Fatalf("without marks: code %q, holds\n%s", code, got)
	}
	last := 72
	for next := last; next < len(data); {
		last = next
		next += 4 + int(binary.BigEndian.Uint32(data[last:])) + 32
	}
	for i := 72; i < len(data); i++ {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		got, code := reopen(t, flipped)
		switch {
		case i < last && code != token.CodeDamaged:
			t.Errorf("byte %d, frames follow: code %q, holds\n%s", i, code, got)
		case i >= last && (code != "" || got == want || strings.Count(got, "\n") != 4):
			t.Errorf("byte %d of the last frame: code %q, holds\n%s", i, code, got)
		}
	}
}

// TestTailTooLong: no unfinished change leaves this much.
func TestTailTooLong(t *testing.T) {
	data, _ := smallLog(t)
	if _, code := reopen(t, append(data, make([]byte, 9<<20)...)); code != token.CodeDamaged {
		t.Errorf("code %q, want %s", code, token.CodeDamaged)
	}
}

// TestCutInService: a log that became shorter below an open store is not
// written on.
func TestCutInService(t *testing.T) {
	d := newModelDisk()
	s, err := token.OpenOn(d, 1<<20, &token.Options{Now: newTestClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	text := issue(t, s, newClaim())
	issue(t, s, newClaim())
	d.named.data = d.named.data[:len(d.named.data)-1]
	wantBegin(t, s, text, newClaim(), token.CodeDamaged)
	_, err = s.Issue(t.Context(), newClaim())
	wantCode(t, "Issue", err, token.CodeDamaged)
}

// TestDamageIsSeenInService: a store that is open notices, too, and refuses all
// work; removing the file voids the tokens and starts anew.
func TestDamageIsSeenInService(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	text := issue(t, s, newClaim())
	other := open(t, dir, nil)
	issue(t, other, newClaim())
	name := filepath.Join(dir, logFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-40] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, s, text, newClaim(), token.CodeDamaged)
	_, err = s.Pending(t.Context())
	wantCode(t, "Pending", err, token.CodeDamaged)
	_, err = s.Issue(t.Context(), newClaim())
	wantCode(t, "Issue", err, token.CodeDamaged)

	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, s, text, newClaim(), token.CodeInvalid)
	use(t, s, issue(t, s, newClaim()), newClaim(), "")
}

// TestSyncsPerChange counts: one for a change, two when the log is written
// anew.
func TestSyncsPerChange(t *testing.T) {
	disk := &countingDisk{modelDisk: newModelDisk()}
	s, err := token.OpenOn(disk, smallSlack, nil)
	if err != nil {
		t.Fatal(err)
	}
	most, changes, total := 0, 0, 0
	step := func(change func()) {
		before := disk.syncs
		change()
		most = max(most, disk.syncs-before)
		total += disk.syncs - before
		changes++
	}
	for range 100 {
		var text string
		var lease *token.Lease
		step(func() { text = issue(t, s, newClaim()) })
		step(func() { lease = begin(t, s, text, newClaim()) })
		step(func() {
			if err := lease.Commit(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if most > 2 || total > changes*11/10 {
		t.Errorf("%d changes took %d syncs, at most %d in one", changes, total, most)
	}
	t.Logf("%d changes took %d syncs, at most %d in one", changes, total, most)
}

// countingDisk counts syncs; a replacement has two.
type countingDisk struct {
	*modelDisk
	syncs int
}

func (d *countingDisk) Replace(data []byte) error { d.syncs += 2; return d.modelDisk.Replace(data) }
func (d *countingDisk) SyncDir() error            { d.syncs++; return d.modelDisk.SyncDir() }

func (d *countingDisk) Open() (token.TestFile, error) {
	f, err := d.modelDisk.Open()
	return &countingFile{f, d}, err
}

type countingFile struct {
	token.TestFile
	d *countingDisk
}

func (f *countingFile) Sync() error { f.d.syncs++; return f.TestFile.Sync() }

// TestPayloads reads frames whose checksum is right. One that cannot have been
// written makes the log damaged, whatever it says.
func TestPayloads(t *testing.T) {
	const first = `{"hash":"aa","version":1,"state":"approved","bound":"b","claim":{"project":"p"}}`
	cases := []struct {
		name, payload string
		want          token.Code
	}{
		{"a record", `[` + first + `]`, ""},
		{"a change", `[` + first + `,{"hash":"aa","version":2,"state":"applying","keep":true}]`, ""},
		{"a deletion", `[` + first + `,{"hash":"aa","version":2}]`, ""},
		{"nothing", `[]`, ""},
		{"not JSON", `[` + first, token.CodeDamaged},
		{"no hash", `[{"version":1,"state":"approved"}]`, token.CodeDamaged},
		{"no version", `[{"hash":"aa","state":"approved"}]`, token.CodeDamaged},
		{"a change is missing", `[` + first + `,{"hash":"aa","version":3,"state":"used"}]`, token.CodeDamaged},
		{"a change twice", `[` + first + `,` + first + `]`, token.CodeDamaged},
		{"the first is missing", `[{"hash":"aa","version":2,"state":"used"}]`, token.CodeDamaged},
		{"keeps nothing", `[{"hash":"aa","version":1,"state":"used","keep":true}]`, token.CodeDamaged},
		{"deletes nothing", `[{"hash":"aa","version":1}]`, token.CodeDamaged},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, code := reopen(t, token.BuildLog([]byte(c.payload))); code != c.want {
				t.Errorf("code %q, want %q; holds\n%s", code, c.want, got)
			}
		})
	}
}
