package vault

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Default is the profile that every vault has, and that all others inherit
// from in the end.
const Default = "default"

// lockWait bounds how long a writer waits for the lock if his context has no
// deadline: who holds it may have been stopped.
const lockWait = 10 * time.Second

// keyWait bounds how long a provider is asked where the caller gave no context:
// after another process changed the key slots.
const keyWait = 30 * time.Second

// Options changes how a vault is opened. Nil and the zero value are the
// default.
type Options struct {
	// MinGeneration refuses an older state of the vault with code
	// vault_rollback. An old file that was put back is whole and cannot be
	// told from the present one otherwise, except by a [Vault] that has seen a
	// newer one, or another one of the same generation; one that is opened later
	// knows nothing of it, not even in the same process. Keep
	// [Vault.Generation] elsewhere to notice it. 0 accepts all.
	MinGeneration uint64
}

// A Vault is an open vault. [Create] and [Open] make one.
//
// It is safe for concurrent use, and several processes may have one vault open:
// every read sees what others saved before. Close it when it is no longer
// needed.
type Vault struct {
	root files
	// A pointer, so that printing a Vault cannot show the key.
	state *state
}

// state is what changes when the file does.
type state struct {
	mu       sync.Mutex
	provider KeyProvider
	oldest   uint64    // generation that is still accepted
	raw      []byte    // the file that env was read from, to tell whether it changed
	env      *envelope // verified
	dek      []byte    // the data key; nil after Close
}

// Create makes a vault in the directory dir that any of the providers opens,
// with the profile [Default] and nothing in it, and opens it. The directory is
// made with mode 0700, together with those above it, if it is missing; one that
// is there must be private. Without providers the code is vault_invalid;
// vault_exists says that the directory has a vault, be it a damaged one. Nothing
// is made before the providers gave their keys.
func Create(ctx context.Context, dir string, providers ...KeyProvider) (*Vault, error) {
	return create(ctx, dir, map[string]box{Default: {}}, map[string]*slice{Default: newSlice()}, providers)
}

// create makes a vault with the given profiles.
func create(ctx context.Context, dir string, parents map[string]box, content map[string]*slice, providers []KeyProvider) (*Vault, error) {
	place, err := vacant(ctx, dir)
	if err != nil {
		return nil, err
	}
	w, err := newView(ctx, place, parents, content, providers)
	if err != nil {
		return nil, err
	}
	root, err := rootfs.OpenOrMake(dir, 0o700, nil)
	if err != nil {
		return nil, failed("create", err)
	}
	v := &Vault{root: root, state: &state{dek: w.dek}}
	if err := v.fill(ctx, w); err != nil {
		_ = root.Close() // the first error says more
		return nil, err
	}
	return v, nil
}

// vacant refuses a directory that cannot take a vault, before anybody is asked
// for a key, and returns its name. That of one which is missing is empty: no key
// lies in it.
func vacant(ctx context.Context, dir string) (string, error) {
	if err := ended(ctx, "create"); err != nil {
		return "", err
	}
	root, err := rootfs.Open(dir, nil)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return "", nil
	}
	if err != nil {
		return "", failed("create", err)
	}
	if err = checkPrivate(root, "."); err == nil {
		err = checkVacant(root)
	}
	_ = root.Close() // nothing was written
	return root.Dir(), err
}

// checkVacant refuses a directory that has a vault. Whatever has the name, damaged
// or not, may be somebody's only copy.
func checkVacant(root files) error {
	if _, err := root.Stat(fileName); rootfs.CodeOf(err) != rootfs.NotFound {
		return &Error{Code: CodeExists, Op: "create", Name: fileName, Err: err}
	}
	return nil
}

// newView returns what a new vault in the directory is to hold.
func newView(ctx context.Context, dir string, parents map[string]box, content map[string]*slice, providers []KeyProvider) (*view, error) {
	env := &envelope{Format: format, V: version, ID: randomBytes(idSize), Slices: maps.Clone(parents)}
	w := &view{env: env, dek: randomBytes(keySize), opened: content, changed: map[string]bool{}}
	var err error
	if env.Slots, err = newSlots(ctx, env.ID, w.dek, dir, providers); err != nil {
		return nil, err
	}
	w.provider = providers[0]
	for profile := range parents {
		w.changed[profile] = true
	}
	return w, nil
}

// fill writes the first generation.
func (v *Vault) fill(ctx context.Context, w *view) error {
	if err := checkPrivate(v.root, "."); err != nil {
		return err
	}
	unlock, err := v.lock(ctx, "create")
	if err != nil {
		return err
	}
	defer unlock()
	if err := checkVacant(v.root); err != nil { // somebody may have been faster
		return err
	}
	return v.save(w, backupNone)
}

// Open opens the vault in the directory dir with the key of the provider. The
// error's code says what is wrong: vault_missing, vault_locked,
// vault_wrong_key, vault_tampered, vault_damaged, vault_version,
// vault_rollback, vault_permissions, or one of a key. Nothing is written.
func Open(ctx context.Context, dir string, provider KeyProvider, opts *Options) (*Vault, error) {
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		return nil, failed("open", err)
	}
	v, err := openOn(ctx, root, provider, opts)
	if err != nil {
		_ = root.Close() // the first error says more
		return nil, err
	}
	return v, nil
}

// openOn opens the vault in root, which the vault closes.
func openOn(ctx context.Context, root files, provider KeyProvider, opts *Options) (*Vault, error) {
	if provider == nil {
		return nil, fault(CodeInvalid, "open", "give a key provider")
	}
	if err := checkPrivate(root, "."); err != nil {
		return nil, err
	}
	v := &Vault{root: root, state: &state{provider: provider}}
	if opts != nil {
		v.state.oldest = opts.MinGeneration
	}
	data, err := readFile(root)
	if err != nil {
		return nil, err
	}
	return v, v.accept(ctx, data)
}

// Close forgets the keys and releases the directory. Later calls fail with
// vault_closed; closing again does nothing. Values that were revealed stay
// where they are.
func (v *Vault) Close() error {
	s := v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dek == nil {
		return nil
	}
	// Calls under way have a copy of the key, which they clear themselves.
	clear(s.dek)
	s.dek = nil
	return failed("close", v.root.Close())
}

// accept makes data the present state if it is authentic. The caller holds mu,
// or is the only one to know v.
func (v *Vault) accept(ctx context.Context, data []byte) error {
	s := v.state
	env, err := decode(data)
	if err != nil {
		return err
	}
	dek := s.dek
	switch {
	case s.env == nil:
	case !bytes.Equal(env.ID, s.env.ID):
		return fault(CodeTampered, "read", "another vault is in its place")
	case !sameSlots(env.Slots, s.env.Slots):
		// The data key may be a new one. If the slots are as they were, it is
		// not, and nobody is asked: what does not fit is tampering.
		dek = nil
	}
	if dek == nil {
		if dek, err = env.unlock(ctx, v.root.Dir(), s.provider); err != nil {
			return err
		}
	}
	if !env.authentic(dek) {
		return &Error{Code: CodeTampered, Op: "open"}
	}
	// Only now is the number worth anything.
	if env.Gen < s.oldest {
		return fault(CodeRollback, "open", "it has generation %d, %d was seen", env.Gen, s.oldest)
	}
	// An older state that was put back and changed catches up.
	if s.env != nil && env.Gen == s.env.Gen && !bytes.Equal(data, s.raw) {
		return fault(CodeRollback, "open", "it has generation %d, which was seen with other content", env.Gen)
	}
	s.hold(env, data, dek)
	return nil
}

// hold makes an authentic state the present one.
func (s *state) hold(env *envelope, data, dek []byte) {
	if !bytes.Equal(s.dek, dek) {
		clear(s.dek)
	}
	s.env, s.raw, s.dek, s.oldest = env, data, dek, env.Gen
}

// view returns the present state of the file. It is read every time, because
// neither its time nor its size tells that it was replaced; only what differs
// is decoded.
func (v *Vault) view(ctx context.Context) (*view, error) {
	s := v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dek == nil {
		return nil, &Error{Code: CodeClosed, Op: "read"}
	}
	data, err := readFile(v.root)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(data, s.raw) {
		if err := v.accept(ctx, data); err != nil {
			return nil, err
		}
	}
	return &view{env: s.env, dek: bytes.Clone(s.dek), opened: map[string]*slice{}}, nil
}

// read calls fn with the present state.
func (v *Vault) read(fn func(w *view) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), keyWait)
	defer cancel()
	w, err := v.view(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	return fn(w)
}

// lock waits for the lock that all writers share.
func (v *Vault) lock(ctx context.Context, op string) (unlock func(), err error) {
	if err := ended(ctx, op); err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, lockWait, fmt.Errorf("waited %v: %w", lockWait, context.DeadlineExceeded))
		defer cancel()
	}
	l, err := v.root.Lock(ctx, lockName)
	if err != nil {
		return nil, failed(op, err)
	}
	// The system releases it with the descriptor, whatever closing says.
	unlock = func() { _ = l.Unlock() }
	if err := checkWriter(v.root, op); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// save writes what w holds and makes it the present state. The caller holds
// the lock.
func (v *Vault) save(w *view, b backup) error {
	env, data, err := w.seal()
	if err != nil {
		return err
	}
	if err := replaceFile(v.root, data, b); err != nil {
		return err
	}
	s := v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dek != nil { // not closed meanwhile
		s.hold(env, data, bytes.Clone(w.dek))
		if w.provider != nil {
			s.provider = w.provider
		}
	}
	return nil
}

// Generation returns the number of the present state. It grows by one with
// every save.
func (v *Vault) Generation() (uint64, error) {
	var gen uint64
	err := v.read(func(w *view) error {
		gen = w.env.Gen
		return nil
	})
	return gen, err
}

// Slots lists the ways to open the vault, in the order they were added.
func (v *Vault) Slots() ([]Slot, error) {
	var list []Slot
	err := v.read(func(w *view) error {
		for i := range w.env.Slots {
			list = append(list, w.env.Slots[i].describe(w.env.ID, v.root.Dir()))
		}
		return nil
	})
	return list, err
}
