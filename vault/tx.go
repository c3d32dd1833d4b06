package vault

import (
	"bytes"
	"context"
	"encoding/json"
)

// A Tx is a change to a vault under way, see [Vault.Update]. What it reads
// includes what it changed. It is not safe for concurrent use, and ends with
// the function it was given to: later calls fail with vault_closed.
type Tx struct {
	view *view // nil when it has ended
}

// Update is the one way to change what a vault holds. It waits for the lock
// until ctx ends, or 10 seconds if ctx has no deadline, reads what others saved, calls fn, and saves all that fn did
// at once and durably, or nothing if fn fails or panics. What fn returns is
// returned as it is. A fn that changes nothing saves nothing. Once fn runs, ctx
// is not looked at any more.
//
// The lock is held while fn runs, so do not wait in it for anything, and do not
// call Update in it. Vault and [Profile] may be read meanwhile; they show the
// state before.
func (v *Vault) Update(ctx context.Context, fn func(*Tx) error) error {
	return v.change(ctx, "update", func(w *view) error {
		tx := &Tx{view: w}
		defer func() { tx.view = nil }()
		return fn(tx)
	})
}

// change calls fn with the present state under the lock, and saves it if fn
// changed it.
func (v *Vault) change(ctx context.Context, op string, fn func(*view) error) error {
	unlock, err := v.lock(ctx, op)
	if err != nil {
		return err
	}
	defer unlock()
	// Only what is read under the lock may be built upon.
	now, err := v.view(ctx)
	if err != nil {
		return err
	}
	w := now.writable()
	defer w.close()
	if err := fn(w); err != nil || !w.dirty {
		return err
	}
	b := backupKeep
	if w.revoked {
		b = backupDrop
	}
	return v.save(w, b)
}

// in calls fn with the content of a profile to be changed, and completes the
// error.
func (tx *Tx) in(op, profile, name string, fn func(s *slice) error) error {
	if tx.view == nil {
		return &Error{Code: CodeClosed, Op: op}
	}
	if !validName(name) {
		return fault(CodeInvalid, op, "a name has 1 to %d bytes of visible UTF-8 and no spaces", maxName)
	}
	s, err := tx.view.slice(profile)
	if err == nil {
		err = fn(s)
	}
	if err == nil { // a refused call changes nothing
		tx.view.touch(profile)
	}
	return named(op, err)
}

// CreateProfile makes an empty profile below parent; "" means [Default]. The
// name has 1 to 64 ASCII letters, digits, ".", "_" and "-", and begins with a
// letter or digit. At most 8 profiles may be above it.
func (tx *Tx) CreateProfile(name, parent string) error {
	const op = "create"
	if tx.view == nil {
		return &Error{Code: CodeClosed, Op: op}
	}
	if parent == "" {
		parent = Default
	}
	env := tx.view.env
	if !validProfile(name) {
		return fault(CodeInvalid, op, "a profile's name has 1 to %d ASCII letters, digits, \".\", \"_\" and \"-\", and begins with a letter or digit", maxProfile)
	}
	if _, ok := env.Slices[name]; ok {
		return &Error{Code: CodeProfileExists, Op: op, Profile: name}
	}
	if _, ok := env.Slices[parent]; !ok {
		return &Error{Code: CodeProfileMissing, Op: op, Profile: parent}
	}
	if len(env.Slices) >= maxProfiles || len(env.above(parent)) > maxAbove {
		return &Error{Code: CodeLimit, Op: op, Profile: name, Detail: "a vault has at most 256 profiles, and a profile 8 above it"}
	}
	env.Slices[name] = box{Parent: parent}
	tx.view.opened[name] = newSlice()
	tx.view.touch(name)
	return nil
}

// DeleteProfile removes a profile and all that is in it. It must not be the
// parent of another.
func (tx *Tx) DeleteProfile(name string) error {
	const op = "delete"
	if tx.view == nil {
		return &Error{Code: CodeClosed, Op: op}
	}
	env := tx.view.env
	if _, ok := env.Slices[name]; !ok {
		return &Error{Code: CodeProfileMissing, Op: op, Profile: name}
	}
	for _, b := range env.Slices {
		if b.Parent == name || name == Default {
			return &Error{Code: CodeProfileInUse, Op: op, Profile: name}
		}
	}
	delete(env.Slices, name)
	delete(tx.view.opened, name)
	delete(tx.view.changed, name)
	tx.view.dirty = true
	return nil
}

// Get finds a secret as [Profile.Get] does.
func (tx *Tx) Get(profile, name string) (Secret, Origin, error) {
	if tx.view == nil {
		return Secret{}, Origin{}, &Error{Code: CodeClosed, Op: "get"}
	}
	secret, origin, err := tx.view.secret(profile, name)
	return secret, origin, named("get", err)
}

// Set gives a secret of the profile a value of at most 64 KiB of any bytes. The
// name has 1 to 256 bytes of visible UTF-8 without spaces; a profile has at
// most 4,096.
func (tx *Tx) Set(profile, name, value string) error {
	return tx.put("set", profile, name, secretEntry{Value: []byte(value)})
}

// Hide makes a secret that the profile inherits missing in it and in those
// below. [Tx.Set] and [Tx.Delete] end that.
func (tx *Tx) Hide(profile, name string) error {
	return tx.put("hide", profile, name, secretEntry{Hidden: true})
}

// put stores an entry within the limits.
func (tx *Tx) put(op, profile, name string, e secretEntry) error {
	return tx.in(op, profile, name, func(s *slice) error {
		_, there := s.Secrets[name]
		if len(e.Value) > maxValue || !there && len(s.Secrets) >= maxEntries {
			return &Error{
				Code: CodeLimit, Profile: profile, Name: name,
				Detail: "a profile has at most 4096 secrets of at most 65536 bytes",
			}
		}
		s.Secrets[name] = e
		return nil
	})
}

// Delete removes the profile's own secret, or what hides one, of that name.
// One that it inherits shows again. The code is vault_secret_missing if it has
// none. The value stays in the sealed vault.bak until the next save.
func (tx *Tx) Delete(profile, name string) error {
	return tx.in("delete", profile, name, func(s *slice) error {
		if _, ok := s.Secrets[name]; !ok {
			return &Error{Code: CodeSecretMissing, Profile: profile, Name: name}
		}
		delete(s.Secrets, name)
		return nil
	})
}

// Record finds a record as [Profile.Record] does.
func (tx *Tx) Record(profile, name string) (Record, error) {
	if tx.view == nil {
		return Record{}, &Error{Code: CodeClosed, Op: "get"}
	}
	r, err := tx.view.record(profile, name)
	return r, named("get", err)
}

// SetRecord stores a record in the profile with its switch, in place of one of that
// name and its switch: to change the data alone, take the record from [Tx.Record].
// The code is vault_invalid if Data is not one JSON value, and vault_limit if it is
// too large or too deep; a profile has at most 4,096 records.
func (tx *Tx) SetRecord(profile string, r Record) error {
	return tx.in("set", profile, r.Name, func(s *slice) error {
		_, there := s.Records[r.Name]
		if len(r.Data) > maxRecord || !there && len(s.Records) >= maxEntries {
			return &Error{
				Code: CodeLimit, Profile: profile, Name: r.Name,
				Detail: "a profile has at most 4096 records of at most 262144 bytes",
			}
		}
		if deep(r.Data) {
			return &Error{
				Code: CodeLimit, Profile: profile, Name: r.Name,
				Detail: "the data of a record has at most 128 levels of objects and lists",
			}
		}
		var data bytes.Buffer
		if json.Compact(&data, r.Data) != nil {
			return &Error{Code: CodeInvalid, Profile: profile, Name: r.Name, Detail: "the data is not one JSON value"}
		}
		s.Records[r.Name] = recordEntry{Data: data.Bytes(), Enabled: r.Enabled}
		return nil
	})
}

// SetEnabled sets the switch of a record for the profile and those below. If
// the record is inherited, only the switch is stored here, so that a profile
// can be without what the others use, and its data stays in one place.
func (tx *Tx) SetEnabled(profile, name string, on bool) error {
	return tx.in("enable", profile, name, func(s *slice) error {
		if _, err := tx.view.record(profile, name); err != nil {
			return err
		}
		e := s.Records[name]
		e.Enabled = on
		s.Records[name] = e
		return nil
	})
}

// DeleteRecord removes the profile's own record, or its own switch, of that
// name. The code is vault_record_missing if it has neither.
func (tx *Tx) DeleteRecord(profile, name string) error {
	return tx.in("delete", profile, name, func(s *slice) error {
		if _, ok := s.Records[name]; !ok {
			return &Error{Code: CodeRecordMissing, Profile: profile, Name: name}
		}
		delete(s.Records, name)
		return nil
	})
}
