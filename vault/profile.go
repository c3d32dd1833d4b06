package vault

import (
	"maps"
	"slices"
)

// A Profile reads the secrets and records of one profile, and those it
// inherits. [Vault.Profile] makes one. It is safe for concurrent use, and ends
// with its vault.
type Profile struct {
	vault *Vault
	name  string
}

// Profile returns the profile of that name, or fails with code
// vault_profile_missing.
func (v *Vault) Profile(name string) (*Profile, error) {
	err := v.read(func(w *view) error {
		if _, ok := w.env.Slices[name]; !ok {
			return &Error{Code: CodeProfileMissing, Op: "read", Profile: name}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Profile{vault: v, name: name}, nil
}

// Profiles lists the names of all profiles, sorted by bytes.
func (v *Vault) Profiles() ([]string, error) {
	var list []string
	err := v.read(func(w *view) error {
		list = w.env.names()
		return nil
	})
	return list, err
}

// Name returns the profile's name.
func (p *Profile) Name() string { return p.name }

// Get finds a secret in the profile, else in its parent, and so on; the origin
// says where. The code is vault_secret_missing if none has it or one hides it.
func (p *Profile) Get(name string) (Secret, Origin, error) {
	var secret Secret
	var origin Origin
	err := p.vault.read(func(w *view) (err error) {
		secret, origin, err = w.secret(p.name, name)
		return named("get", err)
	})
	return secret, origin, err
}

// Names lists the secrets that Get finds, sorted by bytes.
func (p *Profile) Names() ([]string, error) {
	var list []string
	err := p.vault.read(func(w *view) (err error) {
		list, err = w.names(p.name)
		return named("list", err)
	})
	return list, err
}

// Record finds a record as Get does a secret. The code is
// vault_record_missing if there is none.
func (p *Profile) Record(name string) (Record, error) {
	var record Record
	err := p.vault.read(func(w *view) (err error) {
		record, err = w.record(p.name, name)
		return named("get", err)
	})
	return record, err
}

// Records lists the records that Record finds, sorted by the bytes of their
// names.
func (p *Profile) Records() ([]Record, error) {
	var list []Record
	err := p.vault.read(func(w *view) error {
		all, err := w.records(p.name)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, all[name])
		}
		return named("list", err)
	})
	return list, err
}

// named completes an error of a view with the operation.
func named(op string, err error) error {
	if e, ok := err.(*Error); ok && e.Op == "" { //nolint:errorlint // views return it bare
		e.Op = op
	}
	return err
}
