package vault

import (
	"bytes"
	"context"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The tests are black-box but for what is here: a file system that fails, and
// the envelope, which they alter.
type (
	Files    = files
	Envelope = envelope
)

// Decode and Encode read and write an envelope.
func Decode(data []byte) (*Envelope, error) { return decode(data) }
func Encode(e *Envelope) ([]byte, error)    { return e.encode() }

// MACForTest authenticates e again with the data key of v, as nobody can who
// lacks it.
func (v *Vault) MACForTest(e *Envelope) {
	sum, err := e.mac(v.state.dek)
	if err != nil {
		panic(err)
	}
	e.MAC = sum
}

// KeyForTest returns a copy of the data key.
func (v *Vault) KeyForTest() []byte { return bytes.Clone(v.state.dek) }

// OpenOn opens the vault in other files.
func OpenOn(ctx context.Context, root Files, p KeyProvider) (*Vault, error) {
	return openOn(ctx, root, p, nil)
}

// Traced opens a directory and reports every operation on it.
func Traced(dir string, trace func(rootfs.Event)) (Files, error) {
	return rootfs.Open(dir, &rootfs.Options{Trace: trace})
}

// CreateTraced makes a vault in a directory that is there.
func CreateTraced(ctx context.Context, root Files, p KeyProvider) (*Vault, error) {
	w, err := newView(ctx, root.Dir(), map[string]box{Default: {}}, map[string]*slice{Default: newSlice()}, []KeyProvider{p})
	if err != nil {
		return nil, err
	}
	v := &Vault{root: root, state: &state{dek: w.dek}}
	return v, v.fill(ctx, w)
}

// CheapPassphrase is Passphrase with the lowest costs that are accepted.
func CheapPassphrase(ask func(ctx context.Context) ([]byte, error)) KeyProvider {
	return &passphrase{ask: ask, time: 1, memory: minMemory, threads: 1}
}

// ProfileForTest returns a profile without a look at the file.
func ProfileForTest(v *Vault, name string) *Profile { return &Profile{vault: v, name: name} }

// UnlockForTest returns the data key of a file, or nil.
func UnlockForTest(data []byte, p KeyProvider) []byte {
	e, err := decode(data)
	if err != nil {
		return nil
	}
	dek, err := e.unlock(context.Background(), "", p)
	if err != nil {
		return nil
	}
	return dek
}

// OpensForTest reports whether all of e opens with the data key.
func OpensForTest(e *Envelope, dek []byte) bool { return verify(e, dek) == nil }

// AcceptForTest opens data as if it were the file of v.
func AcceptForTest(v *Vault, data []byte, p KeyProvider) error {
	other := &Vault{root: v.root, state: &state{provider: p}}
	return other.accept(context.Background(), data)
}
