// Package keyring keeps the key of a vault in the operating system's keyring:
// the Keychain of macOS, the Credential Manager of Windows, the Secret Service
// of Linux and the BSDs.
//
//	v, err := vault.Open(ctx, dir, keyring.New(nil), nil)
//
// Only the vault's 32-byte key goes there, never a secret, because keyrings
// limit the size of an item in different ways. Every slot of every vault has an
// item of its own: making a new slot never replaces the key of an old one.
//
// # Waiting
//
// A keyring may not answer: it is locked and shows a dialog that nobody sees,
// or its service is gone. Every call ends at [Options].Timeout or when its
// context does. What hangs cannot be stopped, so a [Provider] has at most one
// call under way; while that one hangs, others fail at their deadline and start
// nothing.
//
// # Errors
//
// All errors are of type [vault.Error] with code vault_locked, if the keyring
// does not answer, has no such item, or is not there, and vault_key_invalid if
// the item is not a key. There is no fallback to a file.
//
// # Concurrency
//
// A [Provider] is safe for concurrent use.
package keyring

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	gokeyring "github.com/zalando/go-keyring"

	"github.com/mcpcontract/mcpcontract/vault"
)

// Defaults of the options.
const (
	defaultService = "mcpcontract-vault"
	defaultTimeout = 3 * time.Second
)

// keySize is the size of a vault's key in bytes.
const keySize = 32

// Options changes how a [Provider] works. Nil and the zero value are the
// default.
type Options struct {
	// Service is the name under which the items are filed,
	// "mcpcontract-vault" if it is empty.
	Service string
	// Timeout bounds every call, 3 seconds if it is not positive. Give it more
	// where a person may have to unlock the keyring first.
	Timeout time.Duration
	// Backend takes the place of the operating system's keyring, in tests for
	// example. If it is nil, that is used.
	Backend Backend
}

// A Backend is a keyring: texts by service and account. Its methods may block
// and are called one at a time by each [Provider]. Their errors must not repeat
// a value. Get and Delete fail if there is no such item.
type Backend interface {
	// Get returns the text of an item.
	Get(service, account string) (string, error)
	// Set makes an item, or replaces its text.
	Set(service, account, text string) error
	// Delete removes an item.
	Delete(service, account string) error
}

// A Provider is a [vault.KeyProvider] of the kind "keyring". [New] makes one.
type Provider struct {
	service string
	timeout time.Duration
	backend Backend
	busy    chan struct{} // holds one element while a call is under way
}

// New returns a provider. It touches the keyring only when it is used, and only
// for slots that the vault has for it.
func New(opts *Options) *Provider {
	p := &Provider{service: defaultService, timeout: defaultTimeout, backend: system{}, busy: make(chan struct{}, 1)}
	if opts == nil {
		return p
	}
	if opts.Service != "" {
		p.service = opts.Service
	}
	if opts.Timeout > 0 {
		p.timeout = opts.Timeout
	}
	if opts.Backend != nil {
		p.backend = opts.Backend
	}
	return p
}

// Kind returns "keyring".
func (*Provider) Kind() string { return "keyring" }

// Enroll makes a random key, files it, and reads it back, so that no vault is
// sealed with a key that the keyring lost.
func (p *Provider) Enroll(ctx context.Context, s vault.Slot) ([]byte, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	text := base64.StdEncoding.EncodeToString(key)
	clear(key)
	_, err := p.call(ctx, func() (string, error) {
		return "", p.backend.Set(p.service, account(s), text)
	})
	if err != nil {
		return nil, err
	}
	return p.Key(ctx, s)
}

// Key returns the key in the slot's item.
func (p *Provider) Key(ctx context.Context, s vault.Slot) ([]byte, error) {
	text, err := p.call(ctx, func() (string, error) { return p.backend.Get(p.service, account(s)) })
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != keySize {
		clear(key)
		return nil, &vault.Error{Code: vault.CodeKey, Op: "keyring", Detail: "the item does not hold 32 bytes in base64"}
	}
	return key, nil
}

// Forget removes the item of a slot that the vault no longer has, after
// [vault.Vault.RemoveSlot] or [vault.Vault.Rotate]. Copies of the vault that
// have the slot cannot be opened with it any more.
func (p *Provider) Forget(ctx context.Context, s vault.Slot) error {
	_, err := p.call(ctx, func() (string, error) { return "", p.backend.Delete(p.service, account(s)) })
	return err
}

// account names the item of a slot.
func account(s vault.Slot) string { return s.Vault + "/" + s.ID }

// An answer is what a call to the keyring returned.
type answer struct {
	text string
	err  error
}

// call runs fn and waits for it until the deadline. The goroutine of a call
// that hangs stays until it returns, because nothing can end it, and keeps busy
// until then.
func (p *Provider) call(ctx context.Context, fn func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errNoAnswer)
	defer cancel()
	if ctx.Err() != nil {
		return "", locked(context.Cause(ctx))
	}
	select {
	case p.busy <- struct{}{}:
	case <-ctx.Done():
		return "", locked(context.Cause(ctx))
	}
	done := make(chan answer, 1)
	go func() {
		text, err := fn()
		<-p.busy
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		if a.err != nil {
			return "", locked(a.err)
		}
		return a.text, nil
	case <-ctx.Done():
		return "", locked(context.Cause(ctx))
	}
}

// errNoAnswer is the cause of a deadline of ours.
var errNoAnswer = errors.New("the keyring did not answer in time; unlock it, or use another key")

// locked makes the error of a keyring that gives no key.
func locked(err error) error {
	return &vault.Error{Code: vault.CodeLocked, Op: "keyring", Err: err}
}

// system is the keyring of the operating system.
type system struct{}

func (system) Get(service, account string) (string, error) { return gokeyring.Get(service, account) }

func (system) Set(service, account, text string) error {
	return gokeyring.Set(service, account, text)
}

func (system) Delete(service, account string) error { return gokeyring.Delete(service, account) }
