package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// Sizes in the format, in bytes.
const (
	keySize   = 32 // of every key
	idSize    = 16 // of a vault's id
	saltSize  = 16
	macSize   = sha256.Size
	overhead  = 12 + 16        // the nonce and the tag of AES-256-GCM
	padding   = 256            // the step in which the content of a profile grows
	keyPrefix = format + "|1|" // of what a derived key is for
)

// errUnsealed says that a box does not open. It tells nothing else on purpose.
var errUnsealed = errors.New("the seal does not fit")

// randomBytes returns n bytes of the system's randomness.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// derive returns a key that is good for one use only.
func derive(key, salt []byte, use string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, salt, keyPrefix+use, keySize)
}

// bind joins parts with their lengths, so that no byte can move from one to
// the next.
func bind(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}

// number returns n in a fixed size.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// aead returns the cipher under the key for one use.
func aead(key, salt []byte, use string) (cipher.AEAD, error) {
	k, err := derive(key, salt, use)
	if err != nil {
		return nil, err
	}
	defer clear(k)
	block, err := aes.NewCipher(k)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal returns a nonce and the sealed text. Nonces are random, which is safe for
// 2^32 texts under one key; a slot's key seals one, a profile's one each save.
func seal(key, salt []byte, use string, plain, bound []byte) ([]byte, error) {
	c, err := aead(key, salt, use)
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, plain, bound), nil
}

// unseal returns the text in a box, which the caller clears. The error is the
// same whatever is wrong.
func unseal(key, salt []byte, use string, box, bound []byte) ([]byte, error) {
	c, err := aead(key, salt, use)
	if err != nil {
		return nil, err
	}
	plain, err := c.Open(nil, nil, box, bound)
	if err != nil {
		return nil, errUnsealed
	}
	return plain, nil
}

// sliceUse names the use of a profile's key.
func sliceUse(profile string) string { return "slice|" + profile }

// sliceBound returns what a profile's box is bound to.
func sliceBound(id []byte, profile string) []byte {
	return bind([]byte(format), number(version), id, []byte(profile))
}

// sealSlice seals the content of a profile. Spaces after the JSON hide its
// length to within one step.
func sealSlice(id, dek []byte, profile string, s *slice) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // records keep their bytes
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	plain := b.Bytes()
	if n := len(plain) % padding; n != 0 {
		plain = append(plain, bytes.Repeat([]byte{' '}, padding-n)...)
	}
	defer clear(plain)
	return seal(dek, id, sliceUse(profile), plain, sliceBound(id, profile))
}

// openSlice opens the content of a profile. An error says nothing about it.
func openSlice(id, dek []byte, profile string, sealed []byte) (*slice, error) {
	plain, err := unseal(dek, id, sliceUse(profile), sealed, sliceBound(id, profile))
	if err != nil {
		return nil, err
	}
	defer clear(plain)
	s := newSlice()
	// An error of encoding/json may quote the text.
	if err := json.Unmarshal(plain, s); err != nil || !s.valid() {
		return nil, errUnsealed
	}
	return s, nil
}

// slotBound returns what a slot's box is bound to.
func (s *slot) bound(id []byte) []byte {
	return bind([]byte(format), number(version), id, []byte(s.ID), []byte(s.Kind), s.Salt,
		number(uint64(s.Time)), number(uint64(s.Memory)), number(uint64(s.Threads)))
}

// mac returns the code over everything in e but the code itself.
func (e *envelope) mac(dek []byte) ([]byte, error) {
	key, err := derive(dek, e.ID, "mac")
	if err != nil {
		return nil, err
	}
	defer clear(key)
	h := hmac.New(sha256.New, key)
	h.Write(bind([]byte(e.Format), number(uint64(e.V)), e.ID, number(e.Gen), number(uint64(len(e.Slots)))))
	for i := range e.Slots {
		s := &e.Slots[i]
		h.Write(bind(s.bound(e.ID), s.Wrapped))
	}
	for _, name := range e.names() {
		b := e.Slices[name]
		h.Write(bind([]byte(name), []byte(b.Parent), b.Sealed))
	}
	return h.Sum(nil), nil
}

// authentic reports whether e was written by somebody with the data key. It
// takes the same time wherever the code differs.
func (e *envelope) authentic(dek []byte) bool {
	want, err := e.mac(dek)
	return err == nil && hmac.Equal(want, e.MAC)
}
