package vault

import (
	"context"
	"slices"
)

// AddSlot makes the provider another way to open the vault.
func (v *Vault) AddSlot(ctx context.Context, provider KeyProvider) error {
	return v.change(ctx, "enroll", func(w *view) error {
		if len(w.env.Slots) >= maxSlots {
			return fault(CodeLimit, "enroll", "a vault has at most %d key slots", maxSlots)
		}
		list, err := newSlots(ctx, w.env.ID, w.dek, v.root.Dir(), []KeyProvider{provider})
		if err != nil {
			return err
		}
		w.env.Slots, w.dirty = append(w.env.Slots, list...), true
		return nil
	})
}

// RemoveSlot removes the slot of that id, which must not be the last, and,
// before that, the backup, which its key opens too: a file without the slot
// never has a backup with it, even after a crash. The code is
// vault_slot_missing if there is none. Who has its key and an old copy of the
// file can read the present one as well: [Vault.Rotate] is for keys that others
// may know.
func (v *Vault) RemoveSlot(ctx context.Context, id string) error {
	return v.change(ctx, "remove", func(w *view) error {
		i := slices.IndexFunc(w.env.Slots, func(s slot) bool { return s.ID == id })
		if i < 0 {
			return &Error{Code: CodeSlotMissing, Op: "remove", Name: id}
		}
		if len(w.env.Slots) == 1 {
			return fault(CodeInvalid, "remove", "the last key slot must stay")
		}
		w.env.Slots = slices.Delete(w.env.Slots, i, i+1)
		w.dirty, w.revoked = true, true
		return nil
	})
}

// Rotate seals everything under a new data key, which the given providers open
// and nobody else: all slots are made anew, the others are gone, and so is, as in
// [Vault.RemoveSlot], the backup. Other processes that have the vault open ask their provider again.
// Copies of the old file open with the old keys as before; change what is in
// them where those are known to others.
func (v *Vault) Rotate(ctx context.Context, providers ...KeyProvider) error {
	return v.change(ctx, "rotate", func(w *view) error {
		for profile := range w.env.Slices {
			if _, err := w.slice(profile); err != nil {
				return named("rotate", err)
			}
			w.touch(profile)
		}
		dek := randomBytes(keySize)
		list, err := newSlots(ctx, w.env.ID, dek, v.root.Dir(), providers)
		if err != nil {
			return err
		}
		clear(w.dek)
		w.dek, w.env.Slots, w.revoked = dek, list, true
		w.provider = providers[0] // the one that opened the vault may be left out
		return nil
	})
}

// Verify reads the file and opens everything in it.
func (v *Vault) Verify(ctx context.Context) error {
	w, err := v.view(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	return named("verify", verify(w.env, w.dek))
}

// Export makes a vault in the directory dir, under the conditions of [Create],
// with all profiles, secrets and records of this one, for a backup or another
// machine. It is sealed as every vault is, under a new id, a new data key and
// the given providers, such as a [Passphrase] that is kept in a safe. There is
// no export in clear.
func (v *Vault) Export(ctx context.Context, dir string, providers ...KeyProvider) error {
	w, err := v.view(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	for profile := range w.env.Slices {
		if _, err := w.slice(profile); err != nil {
			return named("export", err)
		}
	}
	out, err := create(ctx, dir, w.env.Slices, w.opened, providers)
	if err != nil {
		return err
	}
	return out.Close()
}
