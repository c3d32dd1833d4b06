package vault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/vault"
)

// TestInheritance: a profile finds what it lacks above it, and says where.
func TestInheritance(t *testing.T) {
	v, _ := create(t)
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("work", ""),
			tx.CreateProfile("ci", "work"),
			tx.CreateProfile("home", vault.Default),
			tx.Set(vault.Default, "BASE", "b0"),
			tx.Set(vault.Default, "BOTH", "d"),
			tx.Set("work", "BOTH", "w"),
			tx.Set("work", "ONLY", "o"),
			tx.Set("ci", "EMPTY", ""),
			tx.Hide("ci", "BASE"),
		)
	})
	ci := profile(t, v, "ci")
	if ci.Name() != "ci" {
		t.Errorf("the name is %q", ci.Name())
	}
	wantGet(t, ci, "BOTH", "w", "vault:work")
	wantGet(t, ci, "EMPTY", "", "vault:ci")
	wantGet(t, profile(t, v, "home"), "BOTH", "d", "vault:default")
	for _, tt := range []struct{ profile, name string }{{"ci", "BASE"}, {"home", "ONLY"}, {"work", "EMPTY"}, {"ci", "NONE"}} {
		_, _, err := profile(t, v, tt.profile).Get(tt.name)
		wantCode(t, "Get of "+tt.name+" in "+tt.profile, err, vault.CodeSecretMissing)
	}
	want := map[string][]string{
		"default": {"BASE", "BOTH"}, "work": {"BASE", "BOTH", "ONLY"},
		"ci": {"BOTH", "EMPTY", "ONLY"}, "home": {"BASE", "BOTH"},
	}
	got := map[string][]string{}
	list, err := v.Profiles()
	for _, name := range list {
		names, err := profile(t, v, name).Names()
		if err != nil {
			t.Fatal(err)
		}
		got[name] = names
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Names, %v (-want +got):\n%s", err, diff)
	}
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(tx.Delete("ci", "BASE"), tx.Delete("work", "BOTH"))
	})
	wantGet(t, ci, "BASE", "b0", "vault:default")
	wantGet(t, ci, "BOTH", "d", "vault:default")
}

// TestRecords: data comes from where it is, the switch from the nearest.
func TestRecords(t *testing.T) {
	v, dir := create(t)
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("work", ""),
			tx.SetRecord(vault.Default, vault.Record{Name: "notes", Data: []byte(` { "url" : "https://a.example/?x=<1>&y" } `), Enabled: true}),
			tx.SetRecord("work", vault.Record{Name: "tickets", Data: []byte("[1]"), Profile: "ignored"}),
			tx.SetEnabled("work", "notes", false),
		)
	})
	const data = `{"url":"https://a.example/?x=<1>&y"}`
	check := func(name string, want []vault.Record) {
		t.Helper()
		got, err := profile(t, open(t, dir), name).Records()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Records of %s, %v (-want +got):\n%s", name, err, diff)
		}
	}
	notes := vault.Record{Name: "notes", Data: json.RawMessage(data), Enabled: true, Profile: "default"}
	tickets := vault.Record{Name: "tickets", Data: json.RawMessage("[1]"), Profile: "work"}
	check("default", []vault.Record{notes})
	notes.Enabled = false
	check("work", []vault.Record{notes, tickets})
	got, err := profile(t, v, "work").Record("notes")
	if diff := cmp.Diff(notes, got); err != nil || diff != "" {
		t.Errorf("Record, %v (-want +got):\n%s", err, diff)
	}

	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(tx.SetEnabled("work", "tickets", true), tx.DeleteRecord("work", "notes"))
	})
	tickets.Enabled, notes.Enabled = true, true
	check("work", []vault.Record{notes, tickets})

	// The nearest data counts, also where the switch is another profile's.
	update(t, v, func(tx *vault.Tx) error {
		return tx.SetRecord(vault.Default, vault.Record{Name: "tickets", Data: []byte("[0]")})
	})
	check("work", []vault.Record{notes, tickets})
	update(t, v, func(tx *vault.Tx) error { return tx.DeleteRecord(vault.Default, "tickets") })

	// A record that is stored anew has the switch that it is stored with.
	update(t, v, func(tx *vault.Tx) error {
		return tx.SetRecord("work", vault.Record{Name: "tickets", Data: []byte("[1]")})
	})
	tickets.Enabled = false
	check("work", []vault.Record{notes, tickets})

	// A switch whose record is gone shows nothing.
	update(t, v, func(tx *vault.Tx) error {
		return errors.Join(tx.SetEnabled("work", "notes", false), tx.DeleteRecord(vault.Default, "notes"))
	})
	check("work", []vault.Record{tickets})
	_, err = profile(t, v, "work").Record("notes")
	wantCode(t, "Record", err, vault.CodeRecordMissing)
}

// TestTxReadsItsWrites: a Tx sees what it changed, others see nothing before
// it is saved, and a Tx that fails changes nothing.
func TestTxReadsItsWrites(t *testing.T) {
	v, dir := create(t)
	set(t, v, "A", "1")
	before := read(t, dir, "vault.json")
	stop := errors.New("changed my mind")
	err := v.Update(t.Context(), func(tx *vault.Tx) error {
		if err := errors.Join(
			tx.CreateProfile("new", ""), tx.Set("new", "A", "2"), tx.Delete(vault.Default, "A"),
			tx.SetRecord("new", vault.Record{Name: "r", Data: []byte("0")}),
		); err != nil {
			return err
		}
		secret, origin, err := tx.Get("new", "A")
		record, errRecord := tx.Record("new", "r")
		if err != nil || errRecord != nil || secret.Reveal() != "2" || origin.Profile != "new" || string(record.Data) != "0" {
			t.Errorf("the Tx reads %q from %v and %v; %v %v", secret.Reveal(), origin, record, err, errRecord)
		}
		wantGet(t, profile(t, v, vault.Default), "A", "1", "vault:default")
		return stop
	})
	if !errors.Is(err, stop) || vault.CodeOf(err) != "" {
		t.Errorf("Update gave %v, want the function's own error", err)
	}
	if diff := cmp.Diff(string(before), string(read(t, dir, "vault.json"))); diff != "" {
		t.Errorf("the file changed (-want +got):\n%s", diff)
	}
	update(t, v, func(tx *vault.Tx) error { _, _, err := tx.Get(vault.Default, "A"); return err })
	if diff := cmp.Diff(string(before), string(read(t, dir, "vault.json"))); diff != "" {
		t.Errorf("reading saved (-want +got):\n%s", diff)
	}
}

// TestPanicReleasesTheLock: a function that panics changes nothing and keeps
// nobody out.
func TestPanicReleasesTheLock(t *testing.T) {
	v, _ := create(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = v.Update(t.Context(), func(tx *vault.Tx) error {
			if err := tx.Set(vault.Default, "A", "lost"); err != nil {
				return err
			}
			panic("boom")
		})
	}()
	set(t, v, "B", "kept")
	names, err := profile(t, v, vault.Default).Names()
	if diff := cmp.Diff([]string{"B"}, names); err != nil || diff != "" {
		t.Errorf("Names, %v (-want +got):\n%s", err, diff)
	}
}

// TestTxRefuses has every refusal of a Tx; none saves anything.
func TestTxRefuses(t *testing.T) {
	v, dir := create(t)
	update(t, v, func(tx *vault.Tx) error {
		err := errors.Join(tx.CreateProfile("p0", ""), tx.SetRecord(vault.Default, vault.Record{Name: "r", Data: []byte("1")}))
		for i := range 7 {
			err = errors.Join(err, tx.CreateProfile(fmt.Sprint("p", i+1), fmt.Sprint("p", i)))
		}
		return err
	})
	long := strings.Repeat("n", 257)
	tests := []struct {
		name string
		do   func(tx *vault.Tx) error
		want vault.Code
	}{
		{"empty name", func(tx *vault.Tx) error { return tx.Set(vault.Default, "", "v") }, vault.CodeInvalid},
		{"name with a space", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A B", "v") }, vault.CodeInvalid},
		{"name with a line end", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A\n", "v") }, vault.CodeInvalid},
		{"name that is no UTF-8", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A\xff", "v") }, vault.CodeInvalid},
		{"name of a filler", func(tx *vault.Tx) error { return tx.Set(vault.Default, "\u3164", "v") }, vault.CodeInvalid},
		{"name of a half-width filler", func(tx *vault.Tx) error { return tx.Hide(vault.Default, "\uffa0") }, vault.CodeInvalid},
		{"name of an empty pattern", func(tx *vault.Tx) error { return tx.Set(vault.Default, "\u2800", "v") }, vault.CodeInvalid},
		{"name of a selector", func(tx *vault.Tx) error { return tx.SetRecord("p0", vault.Record{Name: "\ufe0f", Data: []byte("1")}) }, vault.CodeInvalid},
		{"name of a joiner", func(tx *vault.Tx) error { return tx.Set(vault.Default, "\u034f", "v") }, vault.CodeInvalid},
		{"name that looks like another", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A\ufe0e", "v") }, vault.CodeInvalid},
		{"name with a selector of the supplement", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A\U000e0100", "v") }, vault.CodeInvalid},
		{"long name", func(tx *vault.Tx) error { return tx.Hide(vault.Default, long) }, vault.CodeInvalid},
		{"long value", func(tx *vault.Tx) error { return tx.Set(vault.Default, "A", strings.Repeat("v", 64<<10+1)) }, vault.CodeLimit},
		{"unknown profile", func(tx *vault.Tx) error { return tx.Set("no", "A", "v") }, vault.CodeProfileMissing},
		{"get from an unknown profile", func(tx *vault.Tx) error { _, _, err := tx.Get("no", "A"); return err }, vault.CodeProfileMissing},
		{"get", func(tx *vault.Tx) error { _, _, err := tx.Get("p0", "A"); return err }, vault.CodeSecretMissing},
		{"delete", func(tx *vault.Tx) error { return tx.Delete("p0", "A") }, vault.CodeSecretMissing},
		{"record that is no JSON", func(tx *vault.Tx) error { return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte("{")}) }, vault.CodeInvalid},
		{"record of two values", func(tx *vault.Tx) error { return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte("1 2")}) }, vault.CodeInvalid},
		{"record without data", func(tx *vault.Tx) error { return tx.SetRecord("p0", vault.Record{Name: "q"}) }, vault.CodeInvalid},
		{"large record", func(tx *vault.Tx) error {
			return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte(`"` + strings.Repeat("d", 256<<10) + `"`)})
		}, vault.CodeLimit},
		{"deep record", func(tx *vault.Tx) error {
			return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte(nested(129, `"a"`))})
		}, vault.CodeLimit},
		{"record as deep as JSON goes", func(tx *vault.Tx) error {
			return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte(nested(9998, ""))})
		}, vault.CodeLimit},
		{"record that is deeper", func(tx *vault.Tx) error {
			return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte(nested(50_000, ""))})
		}, vault.CodeLimit},
		{"deep record of objects", func(tx *vault.Tx) error {
			data := strings.Repeat(`{"a\"]}":`, 129) + "1" + strings.Repeat("}", 129)
			return tx.SetRecord("p0", vault.Record{Name: "q", Data: []byte(data)})
		}, vault.CodeLimit},
		{"record", func(tx *vault.Tx) error { _, err := tx.Record("p0", "q"); return err }, vault.CodeRecordMissing},
		{"switch of no record", func(tx *vault.Tx) error { return tx.SetEnabled("p0", "q", true) }, vault.CodeRecordMissing},
		{"delete an inherited record", func(tx *vault.Tx) error { return tx.DeleteRecord("p0", "r") }, vault.CodeRecordMissing},
		{"profile with a bad name", func(tx *vault.Tx) error { return tx.CreateProfile(".x", "") }, vault.CodeInvalid},
		{"profile with a letter that is not ASCII", func(tx *vault.Tx) error { return tx.CreateProfile("é", "") }, vault.CodeInvalid},
		{"profile with a long name", func(tx *vault.Tx) error { return tx.CreateProfile(strings.Repeat("p", 65), "") }, vault.CodeInvalid},
		{"profile that is there", func(tx *vault.Tx) error { return tx.CreateProfile("p0", "") }, vault.CodeProfileExists},
		{"profile that is its own parent", func(tx *vault.Tx) error { return tx.CreateProfile("me", "me") }, vault.CodeProfileMissing},
		{"profile too deep", func(tx *vault.Tx) error { return tx.CreateProfile("p8", "p7") }, vault.CodeLimit},
		{"delete an unknown profile", func(tx *vault.Tx) error { return tx.DeleteProfile("no") }, vault.CodeProfileMissing},
		{"delete a parent", func(tx *vault.Tx) error { return tx.DeleteProfile("p6") }, vault.CodeProfileInUse},
		{"delete default", func(tx *vault.Tx) error { return tx.DeleteProfile(vault.Default) }, vault.CodeProfileInUse},
	}
	before := read(t, dir, "vault.json")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := v.Update(t.Context(), func(tx *vault.Tx) error {
				wantCode(t, "the Tx", tt.do(tx), tt.want)
				return nil
			})
			if err != nil {
				t.Errorf("Update gave %v", err)
			}
			if diff := cmp.Diff(string(before), string(read(t, dir, "vault.json"))); diff != "" {
				t.Errorf("the file changed (-want +got):\n%s", diff)
			}
		})
	}
	update(t, v, func(tx *vault.Tx) error { return tx.DeleteProfile("p7") })
	if _, err := v.Profile("p7"); vault.CodeOf(err) != vault.CodeProfileMissing {
		t.Errorf("a removed profile gave %v", err)
	}
}

// nested returns a JSON value within that many lists.
func nested(levels int, value string) string {
	return strings.Repeat("[", levels) + value + strings.Repeat("]", levels)
}

// TestRecordDepth: what SetRecord takes can be saved and read again; levels are
// counted where they nest, and not in texts.
func TestRecordDepth(t *testing.T) {
	v, dir := create(t)
	for name, data := range map[string]string{
		"lists":      nested(128, `"]"`),
		"objects":    strings.Repeat(`{"a":`, 128) + "1" + strings.Repeat("}", 128),
		"side":       "[" + strings.Repeat("[],{},", 5000) + "1]",
		"texts":      `["` + strings.Repeat("[{", 5000) + `"]`,
		"escapes":    `["\"` + strings.Repeat("[", 5000) + `\\",[]]`,
		"more texts": nested(127, `"\\","[[[","\"[[["`),
	} {
		update(t, v, func(tx *vault.Tx) error {
			return tx.SetRecord(vault.Default, vault.Record{Name: "r", Data: []byte(data)})
		})
		r, err := profile(t, open(t, dir), vault.Default).Record("r")
		if diff := cmp.Diff(data, string(r.Data)); err != nil || diff != "" {
			t.Errorf("%s: Record, %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestCounts: one too many of everything is refused, and the rest is kept.
func TestCounts(t *testing.T) {
	v, _ := create(t)
	err := v.Update(t.Context(), func(tx *vault.Tx) error {
		for i := range 4096 {
			name := fmt.Sprint("n", i)
			if err := errors.Join(tx.Set(vault.Default, name, ""), tx.SetRecord(vault.Default, vault.Record{Name: name, Data: []byte("0")})); err != nil {
				return err
			}
		}
		wantCode(t, "another secret", tx.Set(vault.Default, "more", ""), vault.CodeLimit)
		wantCode(t, "another record", tx.SetRecord(vault.Default, vault.Record{Name: "more", Data: []byte("0")}), vault.CodeLimit)
		wantCode(t, "a secret in place of one", tx.Set(vault.Default, "n7", "x"), "")
		for i := range 255 {
			if err := tx.CreateProfile(fmt.Sprint("p", i), ""); err != nil {
				return err
			}
		}
		wantCode(t, "another profile", tx.CreateProfile("more", ""), vault.CodeLimit)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names, err := profile(t, v, "p254").Names()
	if err != nil || len(names) != 4096 {
		t.Errorf("there are %d names and %v, want 4096", len(names), err)
	}
	wantGet(t, profile(t, v, "p0"), "n7", "x", "vault:default")
}

// TestFileLimit: a change that would make the file too large is refused as a
// whole.
func TestFileLimit(t *testing.T) {
	v, dir := create(t)
	set(t, v, "n7", "x")
	before := read(t, dir, "vault.json")
	big := strings.Repeat("v", 64<<10)
	err := v.Update(t.Context(), func(tx *vault.Tx) error {
		for i := range 150 {
			if err := tx.Set(vault.Default, fmt.Sprint("n", i), big); err != nil {
				return err
			}
		}
		return nil
	})
	wantCode(t, "a file over the limit", err, vault.CodeLimit)
	if !bytes.Equal(before, read(t, dir, "vault.json")) {
		t.Error("the file changed")
	}
	wantGet(t, profile(t, v, vault.Default), "n7", "x", "vault:default")
}

// TestOthersChanges: every read sees what another vault saved.
func TestOthersChanges(t *testing.T) {
	a, dir := create(t)
	b := open(t, dir)
	pa, pb := profile(t, a, vault.Default), profile(t, b, vault.Default)
	for i := range 20 {
		value := fmt.Sprint("v", i)
		set(t, a, "A", value)
		wantGet(t, pb, "A", value, "vault:default")
		set(t, b, "A", value+"!")
		wantGet(t, pa, "A", value+"!", "vault:default")
	}
	gen, err := b.Generation()
	if err != nil || gen != 41 {
		t.Errorf("the generation is %d and %v, want 41", gen, err)
	}
}

// TestClosed: nothing works after Close, and closing again is no error.
func TestClosed(t *testing.T) {
	v, dir := create(t)
	p := profile(t, v, vault.Default)
	var kept *vault.Tx
	update(t, v, func(tx *vault.Tx) error { kept = tx; return nil })
	_, _, errGet := kept.Get(vault.Default, "A")
	_, errRecord := kept.Record(vault.Default, "A")
	calls := map[string]error{
		"Tx.Get": errGet, "Tx.Record": errRecord, "Tx.Set": kept.Set(vault.Default, "A", ""),
		"Tx.CreateProfile": kept.CreateProfile("a", ""), "Tx.DeleteProfile": kept.DeleteProfile("a"),
	}
	if err := errors.Join(v.Close(), v.Close()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, _, calls["Get"] = p.Get("A")
	_, calls["Names"] = p.Names()
	_, calls["Record"] = p.Record("A")
	_, calls["Records"] = p.Records()
	_, calls["Profile"] = v.Profile(vault.Default)
	_, calls["Profiles"] = v.Profiles()
	_, calls["Slots"] = v.Slots()
	_, calls["Generation"] = v.Generation()
	calls["Update"] = v.Update(ctx, func(*vault.Tx) error { return nil })
	calls["Rotate"] = v.Rotate(ctx, goodKey)
	calls["AddSlot"] = v.AddSlot(ctx, goodKey)
	calls["RemoveSlot"] = v.RemoveSlot(ctx, "x")
	calls["Verify"] = v.Verify(ctx)
	calls["Export"] = v.Export(ctx, filepath.Join(dir, "x"), goodKey)
	for name, err := range calls {
		wantCode(t, name, err, vault.CodeClosed)
	}
}

// TestWriterGivesUp: a writer whose context has no deadline waits 10 seconds for
// a lock that is never free, and readers do not.
func TestWriterGivesUp(t *testing.T) {
	v, dir := create(t)
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	held, err := root.Lock(t.Context(), "vault.lock")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := v.AddSlot(context.Background(), otherKey)
		wantCode(t, "AddSlot", err, vault.CodeBusy)
		if took := time.Since(start); took < 10*time.Second || took > 11*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it took %v and gave %v", took, err)
		}
		start = time.Now()
		if _, err := open(t, dir).Profiles(); err != nil || time.Since(start) > 0 {
			t.Errorf("a reader waited %v, %v", time.Since(start), err)
		}
	})
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	set(t, v, "A", "1")
}

// TestUpdateWaits: Update gives up when its context ends, in a call that holds
// the lock already as well.
func TestUpdateWaits(t *testing.T) {
	v, _ := create(t)
	update(t, v, func(*vault.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		err := v.Update(ctx, func(*vault.Tx) error { t.Error("both hold the lock"); return nil })
		wantCode(t, "Update", err, vault.CodeBusy)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context's error is lost in %v", err)
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, "Update", v.Update(ctx, func(*vault.Tx) error { t.Error("it ran"); return nil }), vault.CodeBusy)
	_, err := vault.Create(ctx, filepath.Join(t.TempDir(), "w"), goodKey)
	wantCode(t, "Create", err, vault.CodeBusy)
}
