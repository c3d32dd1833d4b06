package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/vault"
)

// filled makes a vault with two profiles of equal size.
func filled(t *testing.T) (*vault.Vault, string) {
	t.Helper()
	v, dir := create(t)
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("ci", ""), tx.CreateProfile("work", ""),
			tx.Set("ci", "SHARED", "of ci"), tx.Set("work", "SHARED", "of work"),
			tx.Set("work", "CANARY_NAME", canary),
		)
	})
	return v, dir
}

// TestFileShowsNothing: neither names nor values nor their number are in any
// file, and a value more does not change the size.
func TestFileShowsNothing(t *testing.T) {
	v, dir := filled(t)
	size := len(read(t, dir, "vault.json"))
	update(t, v, func(tx *vault.Tx) error { return tx.Set("work", "B", "b") })
	if got := len(read(t, dir, "vault.json")); got != size {
		t.Errorf("the size went from %d to %d", size, got)
	}
	all := dirText(t, dir)
	wantClean(t, "the directory", all)
	for _, name := range []string{"CANARY_NAME", "SHARED", "of ci", "of work"} {
		if strings.Contains(all, name) {
			t.Errorf("%q is in clear", name)
		}
	}
	if !strings.Contains(all, `"work"`) {
		t.Error("the search finds nothing at all, not even what is in clear")
	}
}

// TestNoExpansion: a value is a value, whatever it looks like.
func TestNoExpansion(t *testing.T) {
	v, _ := filled(t)
	wantGet(t, profile(t, v, "work"), "CANARY_NAME", canary, "vault:work")
}

// TestAltered: whatever is changed in an envelope that stays well formed, the
// vault does not open, and nothing replaces the file.
func TestAltered(t *testing.T) {
	v, dir := filled(t)
	if err := v.AddSlot(t.Context(), otherKey); err != nil {
		t.Fatal(err)
	}
	older := decode(t, read(t, dir, "vault.json"))
	set(t, v, "NEW", "1")
	whole := read(t, dir, "vault.json")
	tests := []struct {
		name string
		edit func(e *vault.Envelope)
		want vault.Code
	}{
		{"boxes swapped", func(e *vault.Envelope) { e.Slices["ci"], e.Slices["work"] = e.Slices["work"], e.Slices["ci"] }, vault.CodeTampered},
		{"profile dropped", func(e *vault.Envelope) { delete(e.Slices, "ci") }, vault.CodeTampered},
		{"profile renamed", func(e *vault.Envelope) { e.Slices["cj"] = e.Slices["ci"]; delete(e.Slices, "ci") }, vault.CodeTampered},
		{"profile copied", func(e *vault.Envelope) { e.Slices["cj"] = e.Slices["ci"] }, vault.CodeTampered},
		{"given another parent", func(e *vault.Envelope) { b := e.Slices["ci"]; b.Parent = "work"; e.Slices["ci"] = b }, vault.CodeTampered},
		{"box of an older generation", func(e *vault.Envelope) { e.Slices["default"] = older.Slices["default"] }, vault.CodeTampered},
		{"older code", func(e *vault.Envelope) { e.MAC = older.MAC }, vault.CodeTampered},
		{"older generation", func(e *vault.Envelope) { e.Gen-- }, vault.CodeTampered},
		{"later generation", func(e *vault.Envelope) { e.Gen++ }, vault.CodeTampered},
		{"slot dropped", func(e *vault.Envelope) { e.Slots = e.Slots[:1] }, vault.CodeTampered},
		{"slots in another order", func(e *vault.Envelope) { slices.Reverse(e.Slots) }, vault.CodeTampered},
		{"slot added", func(e *vault.Envelope) {
			s := e.Slots[0]
			s.ID = strings.Repeat("0", 16)
			e.Slots = append(e.Slots, s)
		}, vault.CodeTampered},
		{"slot of another kind", func(e *vault.Envelope) { e.Slots[0].Kind = "other"; e.Slots[1].Kind = "test" }, vault.CodeWrongKey},
		{"slot with another id", func(e *vault.Envelope) { e.Slots[0].ID = strings.Repeat("0", 16) }, vault.CodeWrongKey},
		{"slot with another salt", func(e *vault.Envelope) { e.Slots[0].Salt[3] ^= 1 }, vault.CodeWrongKey},
		{"slot with another box", func(e *vault.Envelope) { e.Slots[0].Wrapped = e.Slots[1].Wrapped }, vault.CodeWrongKey},
		{"another vault's id", func(e *vault.Envelope) { e.ID[0] ^= 1 }, vault.CodeWrongKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := decode(t, whole)
			tt.edit(e)
			data := encode(t, e)
			write(t, dir, "vault.json", data)
			wantRefused(t, dir, goodKey, tt.want)
			err := v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set("ci", "X", "x") })
			if code := vault.CodeOf(err); code != vault.CodeTampered && code != vault.CodeWrongKey && code != vault.CodeRollback {
				t.Errorf("Update in an open vault gave %v", err)
			}
			if !bytes.Equal(data, read(t, dir, "vault.json")) {
				t.Error("Update changed the file")
			}
		})
	}
	write(t, dir, "vault.json", whole)
	if got := opens(t, dir, goodKey); got != "" {
		t.Errorf("the file as it was gave %q", got)
	}
}

// TestBoxesAreBound: even with a code that fits, a box is good only for the
// profile and the vault it was sealed for.
func TestBoxesAreBound(t *testing.T) {
	v, dir := filled(t)
	for name, edit := range map[string]func(e *vault.Envelope){
		"swapped": func(e *vault.Envelope) { e.Slices["ci"], e.Slices["work"] = e.Slices["work"], e.Slices["ci"] },
		"cut": func(e *vault.Envelope) {
			b := e.Slices["ci"]
			b.Sealed = append([]byte(nil), b.Sealed...)
			b.Sealed[40] ^= 1
			e.Slices["ci"] = b
		},
	} {
		e := decode(t, read(t, dir, "vault.json"))
		edit(e)
		v.MACForTest(e)
		other := filepath.Join(t.TempDir(), "v")
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, other, "vault.json", encode(t, e))
		o := open(t, other)
		_, _, err := profile(t, o, "ci").Get("SHARED")
		wantCode(t, name+": Get", err, vault.CodeTampered)
		wantCode(t, name+": Verify", o.Verify(t.Context()), vault.CodeTampered)
		wantCode(t, name+": Export", o.Export(t.Context(), filepath.Join(t.TempDir(), "x"), goodKey), vault.CodeTampered)
		wantCode(t, name+": Rotate", o.Rotate(t.Context(), goodKey), vault.CodeTampered)
		_, err = profile(t, o, "ci").Names()
		wantCode(t, name+": Names", err, vault.CodeTampered)
		_, err = profile(t, o, "ci").Records()
		wantCode(t, name+": Records", err, vault.CodeTampered)
	}
}

// TestEveryByte: three flips of every byte, and every length that is too
// short, never open and never give a code of another kind.
func TestEveryByte(t *testing.T) {
	v, dir := create(t)
	set(t, v, "A", "1")
	whole := read(t, dir, "vault.json")
	if err := vault.AcceptForTest(v, whole, goodKey); err != nil {
		t.Fatalf("the file as it is: %v", err)
	}
	codes := map[vault.Code]int{}
	check := func(what string, data []byte) {
		err := vault.AcceptForTest(v, data, goodKey)
		if err == nil {
			t.Fatalf("%s: it opens", what)
		}
		codes[vault.CodeOf(err)]++
	}
	for i := range whole {
		for _, flip := range []byte{1, 0x20, 0xff} {
			data := bytes.Clone(whole)
			data[i] ^= flip
			check(fmt.Sprintf("byte %d flipped by %#x", i, flip), data)
		}
		check(fmt.Sprintf("cut to %d bytes", i), whole[:i])
	}
	for code := range codes {
		if !slices.Contains([]vault.Code{vault.CodeDamaged, vault.CodeTampered, vault.CodeWrongKey, vault.CodeVersion}, code) {
			t.Errorf("%d of the files gave %q", codes[code], code)
		}
	}
	t.Logf("%d bytes: %v", len(whole), codes)
}

// TestDamaged: what is no envelope is damage, an unknown version is not.
func TestDamaged(t *testing.T) {
	v, dir := filled(t)
	whole := string(read(t, dir, "vault.json"))
	tests := map[string]struct {
		data string
		want vault.Code
	}{
		"empty":               {"", vault.CodeDamaged},
		"zeros":               {strings.Repeat("\x00", 512), vault.CodeDamaged},
		"text":                {"nothing", vault.CodeDamaged},
		"null":                {"null", vault.CodeDamaged},
		"another format":      {strings.Replace(whole, "mcpcontract-vault", "another-vault", 1), vault.CodeDamaged},
		"spaces":              {whole + " ", vault.CodeDamaged},
		"twice":               {whole + whole, vault.CodeDamaged},
		"key in capitals":     {strings.Replace(whole, `"gen"`, `"GEN"`, 1), vault.CodeDamaged},
		"key twice":           {strings.Replace(whole, `"gen": 2`, `"gen": 1,`+"\n"+`  "gen": 2`, 1), vault.CodeDamaged},
		"unknown key":         {strings.Replace(whole, `"gen"`, `"more": 1,`+"\n"+`  "gen"`, 1), vault.CodeDamaged},
		"generation 0":        {strings.Replace(whole, `"gen": 2`, `"gen": 0`, 1), vault.CodeDamaged},
		"a later version":     {strings.Replace(whole, `"v": 1`, `"v": 2`, 1), vault.CodeVersion},
		"no version":          {strings.Replace(whole, `"v": 1`, `"v": 0`, 1), vault.CodeVersion},
		"only a head":         {`{"format":"mcpcontract-vault","v":1}`, vault.CodeDamaged},
		"more than it allows": {strings.Repeat("x", 16<<20+1), vault.CodeDamaged},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, dir, "vault.json", []byte(tt.data))
			wantRefused(t, dir, goodKey, tt.want)
			wantCode(t, "Update", v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set("ci", "X", "x") }), tt.want)
		})
	}
	if err := os.Remove(filepath.Join(dir, "vault.json")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Update without a file", v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set("ci", "X", "x") }), vault.CodeMissing)
	if _, err := os.Stat(filepath.Join(dir, "vault.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a vault was made anew: %v", err)
	}
	// What the text of the error says to do works.
	if err := os.Rename(filepath.Join(dir, "vault.bak"), filepath.Join(dir, "vault.json")); err != nil {
		t.Fatal(err)
	}
	if got := opens(t, dir, goodKey); got != "" {
		t.Errorf("the backup gave %q", got)
	}
}

// TestEnvelopeBounds: a shape that is never written is refused before any key
// is asked for.
func TestEnvelopeBounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "v")
	ask, asked := asks("correct horse")
	v, err := vault.Create(t.Context(), dir, ask)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	update(t, v, func(tx *vault.Tx) error { return tx.CreateProfile("ci", "") })
	whole := read(t, dir, "vault.json")
	*asked = 0
	parent := func(e *vault.Envelope, name, parent string) {
		b := e.Slices["ci"]
		b.Parent = parent
		e.Slices[name] = b
	}
	tests := map[string]func(e *vault.Envelope){
		"2 TiB of memory":          func(e *vault.Envelope) { e.Slots[0].Memory = 1 << 31 },
		"8 KiB of memory":          func(e *vault.Envelope) { e.Slots[0].Memory = 8 },
		"no passes":                func(e *vault.Envelope) { e.Slots[0].Time = 0 },
		"17 passes":                func(e *vault.Envelope) { e.Slots[0].Time = 17 },
		"17 lanes":                 func(e *vault.Envelope) { e.Slots[0].Threads = 17 },
		"costs without passphrase": func(e *vault.Envelope) { e.Slots[0].Kind = "test" },
		"short salt":               func(e *vault.Envelope) { e.Slots[0].Salt = e.Slots[0].Salt[1:] },
		"short slot":               func(e *vault.Envelope) { e.Slots[0].Wrapped = e.Slots[0].Wrapped[1:] },
		"bad slot id":              func(e *vault.Envelope) { e.Slots[0].ID = "0123456789ABCDEF" },
		"no slots":                 func(e *vault.Envelope) { e.Slots = nil },
		"one slot twice":           func(e *vault.Envelope) { e.Slots = append(e.Slots, e.Slots[0]) },
		"short id":                 func(e *vault.Envelope) { e.ID = e.ID[1:] },
		"no code":                  func(e *vault.Envelope) { e.MAC = nil },
		"no default":               func(e *vault.Envelope) { parent(e, "ci", "ci"); delete(e.Slices, "default") },
		"parent of default":        func(e *vault.Envelope) { parent(e, "default", "ci") },
		"own parent":               func(e *vault.Envelope) { parent(e, "ci", "ci") },
		"circle":                   func(e *vault.Envelope) { parent(e, "ci", "cj"); parent(e, "cj", "ci") },
		"missing parent":           func(e *vault.Envelope) { parent(e, "ci", "none") },
		"bad profile name":         func(e *vault.Envelope) { parent(e, "../ci", "default") },
		"box of a wrong size":      func(e *vault.Envelope) { b := e.Slices["ci"]; b.Sealed = b.Sealed[1:]; e.Slices["ci"] = b },
		"empty box":                func(e *vault.Envelope) { b := e.Slices["ci"]; b.Sealed = nil; e.Slices["ci"] = b },
		"too deep": func(e *vault.Envelope) {
			parent(e, "p0", "default")
			for i := range 8 {
				parent(e, fmt.Sprint("p", i+1), fmt.Sprint("p", i))
			}
		},
		"257 profiles": func(e *vault.Envelope) {
			for i := range 255 {
				parent(e, fmt.Sprint("p", i), "default")
			}
		},
		"9 slots": func(e *vault.Envelope) {
			for i := range 8 {
				s := e.Slots[0]
				s.ID = fmt.Sprintf("%016x", i)
				e.Slots = append(e.Slots, s)
			}
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			e := decode(t, whole)
			edit(e)
			if e.MAC != nil {
				v.MACForTest(e)
			}
			write(t, dir, "vault.json", encode(t, e))
			wantRefused(t, dir, ask, vault.CodeDamaged)
		})
	}
	if *asked != 0 {
		t.Errorf("the passphrase was asked for %d times", *asked)
	}
}

// TestPermissions: modes and owners of the directory and the file.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not looked at on Windows")
	}
	v, dir := create(t)
	file := filepath.Join(dir, "vault.json")
	for _, tt := range []struct {
		path      string
		bad, good os.FileMode
	}{{file, 0o644, 0o600}, {file, 0o660, 0o600}, {dir, 0o777, 0o700}, {dir, 0o750, 0o700}} {
		if err := os.Chmod(tt.path, tt.bad); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, dir, goodKey, vault.CodePermissions)
		if err := os.Chmod(tt.path, tt.good); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"vault.bak", "vault.lock"} {
		set(t, v, "A", name)
		for _, mode := range []os.FileMode{0o644, 0o666, 0o640} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
			err := v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", "1") })
			wantCode(t, name+" open to others: Update", err, vault.CodePermissions)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
			wantCode(t, name+" open to others: Rotate", v.Rotate(t.Context(), goodKey), vault.CodePermissions)
			if got := opens(t, dir, goodKey); got != "" {
				t.Errorf("Open beside %s gave %q", name, got)
			}
		}
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loose := t.TempDir()
	if err := os.Chmod(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := vault.Create(t.Context(), loose, goodKey)
	wantCode(t, "Create in a directory of all", err, vault.CodePermissions)
	if list, err := os.ReadDir(loose); err != nil || len(list) != 0 {
		t.Errorf("something was made there: %v, %v", list, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	for _, path := range []string{file, dir} {
		if err := os.Chown(path, 54321, -1); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, dir, goodKey, vault.CodePermissions)
		if err := os.Chown(path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := errors.Join(vault.MakeKeyFile(key), os.Chown(key, 54321, -1)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, vault.KeyFile(key), vault.CodeWrongKey)
	wantCode(t, "a key of another user", v.AddSlot(t.Context(), vault.KeyFile(key)), vault.CodeKeyUnsafe)
}

// TestPlanted: a link or a second name in the place of a file of the vault
// leads nowhere; what it names stays as it is.
func TestPlanted(t *testing.T) {
	type plant func(outside, at string) error
	swap := func(link plant) plant {
		return func(outside, at string) error {
			_ = os.Remove(at) // it may not be there
			return link(outside, at)
		}
	}
	tests := []struct {
		name, file string
		plant      plant
		open       vault.Code
		update     vault.Code
	}{
		{"link for the vault", "vault.json", swap(os.Symlink), vault.CodePermissions, vault.CodePermissions},
		{"second name of the vault", "vault.json", swap(os.Link), vault.CodePermissions, vault.CodePermissions},
		{"link for the backup", "vault.bak", swap(os.Symlink), "", vault.CodePermissions},
		{"second name of the backup", "vault.bak", swap(os.Link), "", vault.CodePermissions},
		{"link for the lock", "vault.lock", swap(os.Symlink), "", vault.CodePermissions},
		{"second name of the lock", "vault.lock", swap(os.Link), "", vault.CodePermissions},
		{"link for a temporary file", ".x-tmp-planted", swap(os.Symlink), "", ""},
		{"directory for the vault", "vault.json", func(_, at string) error { return errors.Join(os.Remove(at), os.Mkdir(at, 0o700)) }, vault.CodePermissions, vault.CodePermissions},
		{"directory for the backup", "vault.bak", func(_, at string) error { return os.Mkdir(at, 0o700) }, "", vault.CodePermissions},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, dir := create(t)
			outside := filepath.Join(t.TempDir(), "outside")
			before := string(read(t, dir, "vault.json"))
			if err := os.WriteFile(outside, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.plant(outside, filepath.Join(dir, tt.file)); err != nil {
				t.Skip("this cannot be planted here: ", err)
			}
			if got := opens(t, dir, goodKey); got != tt.open {
				t.Errorf("Open gave %q, want %q", got, tt.open)
			}
			wantCode(t, "Update", v.Update(t.Context(), func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", "1") }), tt.update)
			after, err := os.ReadFile(outside)
			if diff := cmp.Diff(before, string(after)); err != nil || diff != "" {
				t.Errorf("the file outside changed, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// decode and encode read and write an envelope.
func decode(t *testing.T, data []byte) *vault.Envelope {
	t.Helper()
	e, err := vault.Decode(data)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	return e
}

func encode(t *testing.T, e *vault.Envelope) []byte {
	t.Helper()
	data, err := vault.Encode(e)
	if err != nil {
		t.Fatalf("Encode: %v", err)
	}
	return data
}
