package vault

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"
)

// slotIDSize is the length of a slot's id, in hexadecimal digits.
const slotIDSize = 16

// A KeyProvider gets a 32-byte key from somewhere: a file, the environment, a
// person, a keyring. [KeyFile], [Env] and [Passphrase] make the usual ones;
// package vault/keyring has the one for the operating system's keyring.
//
// A vault has a slot for every key that opens it, and asks a provider only for
// the slots of its kind; it never tries another source. All methods must be
// safe for concurrent use, return when the context ends, and put nothing secret
// into an error.
type KeyProvider interface {
	// Kind names the sort of provider: at most 32 lower-case ASCII letters,
	// digits, "-" and "_". It is written to the file.
	Kind() string
	// Enroll returns the key for a slot that is being made, and makes it if
	// need be. The slot's id is new, so that a new key never takes the place
	// of an old one. The vault clears the key after use.
	Enroll(ctx context.Context, s Slot) ([]byte, error)
	// Key returns the key that Enroll returned for the slot. The vault clears
	// it after use.
	Key(ctx context.Context, s Slot) ([]byte, error)
}

// A Slot describes one way to open a vault. It holds no secret.
type Slot struct {
	// Vault is the id of the vault, 32 hexadecimal digits.
	Vault string
	// ID names the slot within the vault, 16 hexadecimal digits.
	ID string
	// Kind is that of the provider whose key opens it.
	Kind string

	dir  string // of the vault, where no key may lie
	slot *slot  // with the salt and the costs of a passphrase
}

// describe returns the slot as providers see it.
func (s *slot) describe(id []byte, dir string) Slot {
	return Slot{Vault: hex.EncodeToString(id), ID: s.ID, Kind: s.Kind, dir: dir, slot: s}
}

// newSlots makes a slot for each of the providers.
func newSlots(ctx context.Context, id, dek []byte, dir string, providers []KeyProvider) ([]slot, error) {
	if len(providers) == 0 {
		return nil, fault(CodeInvalid, "enroll", "give at least one key provider")
	}
	if len(providers) > maxSlots {
		return nil, fault(CodeLimit, "enroll", "a vault has at most %d key slots", maxSlots)
	}
	// A key is not made for one if another is none.
	if slices.Contains(providers, nil) {
		return nil, fault(CodeInvalid, "enroll", "a key provider is nil")
	}
	var list []slot
	for _, p := range providers {
		s, err := newSlot(ctx, id, dek, dir, p)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// newSlot makes a slot in which the data key is sealed for the provider.
func newSlot(ctx context.Context, id, dek []byte, dir string, p KeyProvider) (slot, error) {
	s := slot{ID: hex.EncodeToString(randomBytes(slotIDSize / 2)), Kind: p.Kind(), Salt: randomBytes(saltSize)}
	if pass, ok := p.(*passphrase); ok {
		s.Time, s.Memory, s.Threads = pass.time, pass.memory, pass.threads
	}
	// Only a passphrase has costs, and only its kind says so in the file.
	if !validKind(s.Kind) || (s.Kind == kindPassphrase) != (s.Time > 0) {
		return s, fault(CodeKey, "enroll", "the kind %.80q is not well formed, or taken", s.Kind)
	}
	key, err := p.Enroll(ctx, s.describe(id, dir))
	defer clear(key)
	if err := checkKey("enroll", key, err); err != nil {
		return s, err
	}
	s.Wrapped, err = seal(key, s.Salt, "slot|"+s.Kind, dek, s.bound(id))
	return s, failed("enroll", err)
}

// checkKey completes what a provider returned.
func checkKey(op string, key []byte, err error) error {
	switch {
	case err != nil && CodeOf(err) != "":
		return err
	case err != nil:
		return &Error{Code: CodeLocked, Op: op, Err: err}
	case len(key) != keySize:
		return fault(CodeKey, op, "the provider gave %d bytes, not %d", len(key), keySize)
	}
	return nil
}

// unlock returns the data key. If several slots are of the provider's kind, one
// whose key it lacks does not stand in the way of the others.
func (e *envelope) unlock(ctx context.Context, dir string, p KeyProvider) ([]byte, error) {
	if pass, ok := p.(*passphrase); ok {
		once, forget := pass.once(ctx)
		defer forget()
		p = once
	}
	var first error
	found := false
	for i := range e.Slots {
		s := &e.Slots[i]
		if s.Kind != p.Kind() {
			continue
		}
		found = true
		key, err := p.Key(ctx, s.describe(e.ID, dir))
		if err := checkKey("open", key, err); err != nil {
			clear(key)
			if first == nil {
				first = err
			}
			continue
		}
		dek, err := unseal(key, s.Salt, "slot|"+s.Kind, s.Wrapped, s.bound(e.ID))
		clear(key)
		if err == nil {
			return dek, nil
		}
	}
	switch {
	case first != nil:
		return nil, first
	case !found:
		return nil, fault(CodeWrongKey, "open", "it has no key slot of the kind %q", p.Kind())
	}
	return nil, &Error{Code: CodeWrongKey, Op: "open"}
}

// sameSlots reports whether both have the very same slots.
func sameSlots(a, b []slot) bool {
	return slices.EqualFunc(a, b, func(x, y slot) bool {
		return x.ID == y.ID && bytes.Equal(x.bound(nil), y.bound(nil)) && bytes.Equal(x.Wrapped, y.Wrapped)
	})
}
