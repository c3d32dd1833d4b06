package token

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Limits of a key ring.
const (
	maxKeyAge  = 30 * 24 * time.Hour
	maxKeys    = 8
	maxKeyFile = 16 << 10
	keySize    = 32
)

// A ring is the content of the key file: the key that seals, then older ones,
// newest first. It is never modified.
type ring struct {
	Keys []*key `json:"keys"`
	// file is what the ring was read from.
	file rootfs.Info
}

// A key seals until it is retired, and opens for a while longer.
type key struct {
	ID      string    `json:"id"`
	Secret  []byte    `json:"key"`
	Made    time.Time `json:"made"`
	Retired time.Time `json:"retired,omitzero"`

	id   [idSize]byte
	aead cipher.AEAD
}

// newKey makes a key whose id none of the others has.
func newKey(others []*key, now time.Time) (*key, error) {
	k := &key{Secret: make([]byte, keySize), Made: now}
	rand.Read(k.Secret)
	for {
		rand.Read(k.id[:])
		k.ID = hex.EncodeToString(k.id[:])
		if !slices.ContainsFunc(others, func(o *key) bool { return o.ID == k.ID }) {
			break
		}
	}
	return k, k.ready()
}

// ready checks the key and makes its cipher.
func (k *key) ready() (err error) {
	id, err := hex.DecodeString(k.ID)
	if err != nil || len(id) != idSize || len(k.Secret) != keySize {
		return errors.New("a key is not well formed")
	}
	k.id = [idSize]byte(id)
	block, err := aes.NewCipher(k.Secret)
	if err == nil {
		k.aead, err = cipher.NewGCM(block)
	}
	return err
}

// opens reports whether texts of the key are still accepted. Others may have
// sealed with it for a moment after it was retired.
func (k *key) opens(now time.Time, ttl time.Duration) bool {
	return k.Retired.IsZero() || now.Before(k.Retired.Add(ttl+maxSkew))
}

// find returns the key with that id, or nil.
func (r *ring) find(id []byte) *key {
	for _, k := range r.Keys {
		if string(k.id[:]) == string(id) {
			return k
		}
	}
	return nil
}

// load reads the key file, unless it is the one that old was read from. A
// missing file is an empty ring.
func (s *Signer) load(old *ring) (*ring, error) {
	info, err := s.root.Stat(keyName)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return &ring{}, nil
	}
	if err != nil {
		return nil, ioError("read", err)
	}
	if runtime.GOOS != "windows" && info.Mode.Perm()&0o077 != 0 {
		return nil, &Error{Code: CodeExposed, Op: "read", Detail: keyName}
	}
	if old != nil && info == old.file {
		return old, nil
	}
	data, err := s.root.ReadFile(keyName, maxKeyFile)
	if err != nil {
		return nil, ioError("read", err)
	}
	r := &ring{file: info}
	if err := json.Unmarshal(data, r); err != nil || len(r.Keys) == 0 || len(r.Keys) > maxKeys {
		return nil, badKeys("it is not a key file")
	}
	for _, k := range r.Keys {
		if k == nil || k.ready() != nil {
			return nil, badKeys("a key is not well formed")
		}
	}
	return r, nil
}

// badKeys makes the error for a key file that cannot be used. Its content is
// secret, so that the cause is not told.
func badKeys(detail string) error {
	return &Error{Code: CodeDamaged, Op: "read", Detail: keyName + ": " + detail}
}

// change reads the key file under its lock and, if need says so, puts a new
// key first and drops those that open nothing any more.
func (s *Signer) change(ctx context.Context, need func(*ring) bool) (*ring, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = timed(ctx, s.wait)
		defer cancel()
	}
	lock, err := s.root.Lock(ctx, keyLock)
	if err != nil {
		return nil, ioError("lock", err)
	}
	defer func() { _ = lock.Unlock() }()
	r, err := s.load(nil)
	if err != nil || !need(r) {
		return r, err
	}
	now, _ := s.clock.read()
	first, err := newKey(r.Keys, now)
	if err != nil {
		return nil, ioError("make", err)
	}
	keys := []*key{first}
	for _, k := range r.Keys {
		old := *k
		if old.Retired.IsZero() {
			old.Retired = now
		}
		if old.opens(now, s.ttl) && len(keys) < maxKeys {
			keys = append(keys, &old)
		}
	}
	data, err := json.MarshalIndent(ring{Keys: keys}, "", "  ")
	if err != nil {
		return nil, ioError("write", err)
	}
	if err := s.root.WriteFile(keyName, append(data, '\n'), 0o600); err != nil {
		return nil, ioError("write", err)
	}
	return s.load(nil)
}
