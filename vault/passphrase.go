package vault

import (
	"bytes"
	"context"
	"sync"

	"golang.org/x/crypto/argon2"
)

// Costs of a new passphrase slot: the second recommendation of RFC 9106, a
// quarter of a second or so.
const (
	newTime    = 3
	newMemory  = 64 << 10 // KiB
	newThreads = 4
)

// Bounds of a passphrase, in bytes.
const (
	minPassphrase = 8
	maxPassphrase = 1024
)

// passphrase is the provider of a passphrase. The costs are those of new slots.
type passphrase struct {
	ask     func(ctx context.Context) ([]byte, error)
	time    uint32
	memory  uint32
	threads uint8
}

// Passphrase returns a provider whose key is derived from a passphrase of 8 to
// 1,024 bytes with argon2id (RFC 9106: 3 passes over 64 MiB in 4 lanes; a file
// can ask for 19 MiB to 1 GiB, and at most 16 passes and lanes). It calls ask
// for the passphrase, once to open a vault however many slots it has, and clears
// what that returns. The package itself never
// prompts: if ask is nil, or fails because there is no terminal, the code is
// vault_locked at once. A person who sets a passphrase should type it twice;
// that is up to ask.
func Passphrase(ask func(ctx context.Context) ([]byte, error)) KeyProvider {
	return &passphrase{ask: ask, time: newTime, memory: newMemory, threads: newThreads}
}

// once returns a provider that asks at most once, whatever comes of it, and what
// clears the answer.
func (p *passphrase) once(ctx context.Context) (q *passphrase, forget func()) {
	q = &passphrase{time: p.time, memory: p.memory, threads: p.threads}
	if p.ask == nil {
		return q, func() {}
	}
	var text []byte
	answer := sync.OnceValue(func() (err error) {
		text, err = p.ask(ctx)
		return err
	})
	q.ask = func(context.Context) ([]byte, error) {
		err := answer()
		return bytes.Clone(text), err // who gets it clears it
	}
	return q, func() { clear(text) }
}

// Kind returns "passphrase".
func (*passphrase) Kind() string { return kindPassphrase }

// Enroll asks for a passphrase that is to open the slot.
func (p *passphrase) Enroll(ctx context.Context, s Slot) ([]byte, error) { return p.Key(ctx, s) }

// Key asks, and derives the key with the salt and the costs of the slot. The
// costs were bounded when the file was decoded.
func (p *passphrase) Key(ctx context.Context, s Slot) ([]byte, error) {
	const op = "key"
	if p.ask == nil {
		return nil, fault(CodeLocked, op, "nobody can be asked for the passphrase")
	}
	if s.slot == nil {
		return nil, fault(CodeKey, op, "the slot is not one of a vault")
	}
	text, err := p.ask(ctx)
	defer clear(text)
	if err != nil {
		return nil, &Error{Code: CodeLocked, Op: op, Err: err}
	}
	if len(text) < minPassphrase || len(text) > maxPassphrase {
		return nil, fault(CodeKey, op, "a passphrase has %d to %d bytes", minPassphrase, maxPassphrase)
	}
	// The derivation cannot be interrupted.
	if err := ctx.Err(); err != nil {
		return nil, &Error{Code: CodeLocked, Op: op, Err: err}
	}
	return argon2.IDKey(text, s.slot.Salt, s.slot.Time, s.slot.Memory, s.slot.Threads, keySize), nil
}
