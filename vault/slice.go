package vault

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// A slice is the content of one profile.
type slice struct {
	Secrets map[string]secretEntry `json:"secrets"`
	Records map[string]recordEntry `json:"records"`
}

// A secretEntry is a value, or hides one of a profile above.
type secretEntry struct {
	Value  []byte `json:"value,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

// A recordEntry is a record. Without data it is the flag of one above.
type recordEntry struct {
	Data    json.RawMessage `json:"data,omitempty"`
	Enabled bool            `json:"enabled"`
}

// newSlice returns an empty one.
func newSlice() *slice {
	return &slice{Secrets: map[string]secretEntry{}, Records: map[string]recordEntry{}}
}

// valid reports whether s keeps the limits.
func (s *slice) valid() bool {
	if s.Secrets == nil || s.Records == nil || len(s.Secrets) > maxEntries || len(s.Records) > maxEntries {
		return false
	}
	for name, e := range s.Secrets {
		if !validName(name) || len(e.Value) > maxValue {
			return false
		}
	}
	for name, e := range s.Records {
		if !validName(name) || len(e.Data) > maxRecord {
			return false
		}
	}
	return true
}

// A Record is an opaque JSON value with a switch, kept by name in a profile
// beside the secrets. It is sealed like them, but is not hidden from logs: put
// references to secrets into it, never values.
type Record struct {
	// Name is its name in the profile: 1 to 256 bytes of visible UTF-8 without
	// spaces.
	Name string
	// Data is one JSON value of at most 256 KiB, with at most 128 objects and
	// lists around anything in it. It is stored in compact form.
	Data json.RawMessage
	// Enabled is the switch. The zero value is off, also where the record takes
	// the place of one that was on: what is stored is not in use before somebody
	// says so. A profile can set it for a record that it inherits, see
	// [Tx.SetEnabled].
	Enabled bool
	// Profile is the profile that Data comes from. Reading sets it; writing
	// ignores it.
	Profile string
}

// deep reports whether data has more levels than a record may have. It may be
// anything: what is no JSON is refused elsewhere.
func deep(data []byte) bool {
	levels, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++ // the next byte ends nothing
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if levels++; levels > maxLevels {
				return true
			}
		case c == ']' || c == '}':
			levels--
		}
	}
	return false
}

// A view is one state of a vault with its data key, for one call. It is not
// safe for concurrent use.
type view struct {
	env     *envelope
	dek     []byte
	opened  map[string]*slice
	changed map[string]bool // profiles to seal again
	dirty   bool            // anything changed
	revoked bool            // a key is to open nothing any more

	provider KeyProvider // to be asked from now on, if not nil
}

// close forgets the key. Values that were opened are left to the garbage
// collector: encoding/json made copies of them that nobody can reach.
func (w *view) close() { clear(w.dek) }

// slice returns the content of a profile, opened once.
func (w *view) slice(profile string) (*slice, error) {
	if s := w.opened[profile]; s != nil {
		return s, nil
	}
	b, ok := w.env.Slices[profile]
	if !ok {
		return nil, &Error{Code: CodeProfileMissing, Profile: profile}
	}
	s, err := openSlice(w.env.ID, w.dek, profile, b.Sealed)
	if err != nil {
		return nil, &Error{Code: CodeTampered, Profile: profile, Err: err}
	}
	w.opened[profile] = s
	return s, nil
}

// each calls fn for the profile and those above it, nearest first, until it
// returns false.
func (w *view) each(profile string, fn func(name string, s *slice) bool) error {
	for _, name := range w.env.above(profile) {
		s, err := w.slice(name)
		if err != nil {
			return err
		}
		if !fn(name, s) {
			break
		}
	}
	return nil
}

// secret finds a secret.
func (w *view) secret(profile, name string) (Secret, Origin, error) {
	var found secretEntry
	var origin Origin
	err := w.each(profile, func(at string, s *slice) bool {
		e, ok := s.Secrets[name]
		if ok && !e.Hidden {
			found, origin.Profile = e, at
		}
		return !ok
	})
	// One that is hidden looks like one that is missing.
	if err == nil && origin.Profile == "" {
		err = &Error{Code: CodeSecretMissing, Profile: profile, Name: name}
	}
	if err != nil {
		return Secret{}, Origin{}, err
	}
	return newSecret(found.Value), origin, nil
}

// names lists the secrets that can be found from the profile.
func (w *view) names(profile string) ([]string, error) {
	seen := map[string]bool{} // whether it is visible
	err := w.each(profile, func(_ string, s *slice) bool {
		for name, e := range s.Secrets {
			if _, ok := seen[name]; !ok {
				seen[name] = !e.Hidden
			}
		}
		return true
	})
	maps.DeleteFunc(seen, func(_ string, visible bool) bool { return !visible })
	return slices.Sorted(maps.Keys(seen)), err
}

// records returns the records that can be found from the profile, by name. The
// nearest entry decides the switch, the nearest with data the rest.
func (w *view) records(profile string) (map[string]Record, error) {
	found := map[string]Record{}
	err := w.each(profile, func(at string, s *slice) bool {
		for name, e := range s.Records {
			r, ok := found[name]
			if !ok {
				r = Record{Name: name, Enabled: e.Enabled}
			}
			if r.Profile == "" && e.Data != nil {
				r.Data, r.Profile = bytes.Clone(e.Data), at
			}
			found[name] = r
		}
		return true
	})
	// A switch may outlive the record it was for.
	maps.DeleteFunc(found, func(_ string, r Record) bool { return r.Profile == "" })
	return found, err
}

// record finds a record.
func (w *view) record(profile, name string) (Record, error) {
	all, err := w.records(profile)
	if err != nil {
		return Record{}, err
	}
	r, ok := all[name]
	if !ok {
		return Record{}, &Error{Code: CodeRecordMissing, Profile: profile, Name: name}
	}
	return r, nil
}

// writable returns a view of the same state that can be changed.
func (w *view) writable() *view {
	env := *w.env
	env.Slices, env.Slots = maps.Clone(env.Slices), slices.Clone(env.Slots)
	return &view{env: &env, dek: w.dek, opened: w.opened, changed: map[string]bool{}}
}

// touch says that the content of a profile was changed.
func (w *view) touch(profile string) { w.changed[profile], w.dirty = true, true }

// reseal seals again what was changed, within the limit.
func (w *view) reseal() error {
	for profile := range w.changed {
		b := w.env.Slices[profile]
		var err error
		if b.Sealed, err = sealSlice(w.env.ID, w.dek, profile, w.opened[profile]); err != nil {
			return failed("save", err)
		}
		w.env.Slices[profile] = b
	}
	sealed := 0
	for _, b := range w.env.Slices {
		sealed += len(b.Sealed)
	}
	if sealed > maxSealed {
		return fault(CodeLimit, "save", "there would be %d bytes of sealed content, the limit is %d", sealed, maxSealed)
	}
	return nil
}

// seal returns the file of the next generation. It is opened again before it
// is trusted: nothing replaces a vault that does not open.
func (w *view) seal() (*envelope, []byte, error) {
	if err := w.reseal(); err != nil {
		return nil, nil, err
	}
	next := *w.env
	next.Gen++
	var err error
	if next.MAC, err = next.mac(w.dek); err != nil {
		return nil, nil, failed("save", err)
	}
	data, err := next.encode()
	if err != nil {
		return nil, nil, failed("save", err)
	}
	again, err := decode(data)
	if err == nil {
		err = verify(again, w.dek)
	}
	if err != nil {
		// Nobody altered anything: what was read before was authentic.
		return nil, nil, &Error{Code: CodeInvalid, Op: "save", Detail: "what would be saved could not be read again"}
	}
	return again, data, nil
}

// verify opens everything in e.
func verify(e *envelope, dek []byte) error {
	if !e.authentic(dek) {
		return &Error{Code: CodeTampered, Op: "verify"}
	}
	w := &view{env: e, dek: dek, opened: map[string]*slice{}}
	for profile := range e.Slices {
		if _, err := w.slice(profile); err != nil {
			return err
		}
	}
	return nil
}
