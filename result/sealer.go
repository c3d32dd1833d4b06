package result

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"
)

// Limits of the default sealer.
const (
	defaultSealTTL = 30 * time.Minute
	maxSealPlain   = 4 << 10
	maxSealed      = 6 << 10 // base64 of the plain text and what sealing adds
)

// A Sealer turns the state behind a cursor into opaque text and back.
// Implementations are safe for concurrent use.
type Sealer interface {
	// Seal encrypts plain. The text opens only with the same bound bytes,
	// which name what the cursor is for: the tool, its arguments and the
	// snapshot they were answered from.
	Seal(plain, bound []byte) (string, error)
	// Open returns what was sealed, or an error with the code
	// [CodeCursorInvalid] for any text that it does not accept.
	Open(sealed string, bound []byte) ([]byte, error)
}

// NewSealer returns a sealer with a key of its own: what it seals opens only
// in this process and for ttl, by default (zero) 30 minutes. It seals up to
// 4 KiB, and the text is at most 6 KiB.
func NewSealer(ttl time.Duration) Sealer {
	if ttl <= 0 {
		ttl = defaultSealTTL
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails: it ends the program instead
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // unreachable: 32 bytes are a valid key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // unreachable: AES has the block size that GCM wants
	}
	return &sealer{aead: aead, ttl: ttl}
}

type sealer struct {
	aead cipher.AEAD
	ttl  time.Duration
}

func (s *sealer) Seal(plain, bound []byte) (string, error) {
	if len(plain) > maxSealPlain {
		return "", &Error{Code: CodeInternal, Message: "the cursor's state is larger than 4 KiB"}
	}
	stamped := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(s.ttl).UnixNano()))
	stamped = append(stamped, plain...)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, stamped, bound)), nil
}

func (s *sealer) Open(sealed string, bound []byte) ([]byte, error) {
	invalid := &Error{Code: CodeCursorInvalid, Message: "the cursor is not valid for this call or has expired: start again without a cursor"}
	if len(sealed) > maxSealed || strings.ContainsAny(sealed, "\r\n") { // which decoding would skip
		return nil, invalid
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return nil, invalid
	}
	stamped, err := s.aead.Open(nil, nil, data, bound)
	if err != nil || len(stamped) < 8 {
		return nil, invalid
	}
	if time.Now().UnixNano() >= int64(binary.BigEndian.Uint64(stamped)) {
		return nil, invalid
	}
	return stamped[8:], nil
}
