package token

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The form of a sealed text: s1_ and base64url of key id, nonce, and the
// AES-256-GCM of expiry and plain text.
const (
	sealPrefix = "s1_"
	idSize     = 4
	nonceSize  = 12
	expirySize = 8
	gcmTagSize = 16
	maxPlain   = 64 << 10
	maxSealed  = len(sealPrefix) + (idSize+nonceSize+expirySize+maxPlain+gcmTagSize)*4/3 + 2
)

// lookAgain is how long a Signer trusts the keys it read.
const lookAgain = time.Second

// A Signer seals texts that a client keeps and sends back: a cursor, the state
// of a request. A sealed text can be neither read nor changed, expires, and
// opens only together with the bytes it was bound to. It may be opened any
// number of times; what must happen once needs a [Store]. OpenSigner makes one.
//
// Its Seal and Open are those that package result wants of a Sealer. It is
// safe for concurrent use, and several processes may use one directory.
type Signer struct {
	root  *rootfs.Root
	clock *clock
	ttl   time.Duration
	wait  time.Duration // for a lock
	log   *slog.Logger

	mu     sync.Mutex
	ring   *ring
	looked time.Time // when the file was last looked at
}

// OpenSigner opens the signer whose keys are in the directory dir, which is
// made with mode 0700 if it is missing, as are the keys. A key older than 30
// days is rotated. It waits for a lock only to make a key. Of opts it uses TTL,
// LockTimeout, Now and Logger. The error's code is store_damaged, store_exposed,
// store_locked or store_io.
func OpenSigner(dir string, opts *Options) (*Signer, error) {
	if opts == nil {
		opts = &Options{}
	}
	root, err := rootfs.OpenOrMake(dir, 0o700, nil)
	if err != nil {
		return nil, ioError("open", err)
	}
	s := &Signer{
		root: root, clock: newClock(opts.Now),
		ttl: positive(opts.TTL, defaultTTL), wait: positive(opts.LockTimeout, defaultLockWait),
		log: orDiscard(opts.Logger),
	}
	now, _ := s.clock.read()
	s.looked = now
	old := func(r *ring) bool { return len(r.Keys) == 0 || now.Sub(r.Keys[0].Made) >= maxKeyAge }
	// A file that cannot be read may be one that is being replaced.
	if s.ring, err = s.load(nil); err != nil || old(s.ring) {
		s.ring, err = s.change(context.Background(), old)
	}
	if err != nil {
		_ = root.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// Close releases the directory. A Signer that is closed goes on with the keys
// it has.
func (s *Signer) Close() error { return ioError("close", s.root.Close()) }

// Rotate makes a new key, with which all processes on the directory seal from
// now on, or within a second. The last seven before it open for one TTL more. If
// ctx has no deadline, it waits for the lock for as long as Options.LockTimeout says.
func (s *Signer) Rotate(ctx context.Context) error {
	r, err := s.change(ctx, func(*ring) bool { return true })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring = r
	return nil
}

// Seal returns plain, at most 64 KiB, in a text of ASCII letters, digits, "-"
// and "_" that Open opens for one TTL, and only with the same bound. Put into
// bound all that the text depends on, such as a digest of the query and the
// snapshot, or of principal, method and arguments, each with its length, so
// that bytes cannot move from one to the next.
func (s *Signer) Seal(plain, bound []byte) (string, error) {
	if len(plain) > maxPlain {
		return "", tooLarge("seal", "the text has %d bytes, the limit is %d", len(plain), maxPlain)
	}
	now, _ := s.clock.read()
	k := s.keys(now, false).Keys[0]
	b := make([]byte, idSize+nonceSize, idSize+nonceSize+expirySize+len(plain)+gcmTagSize)
	copy(b, k.id[:])
	rand.Read(b[idSize:])
	text := make([]byte, 0, expirySize+len(plain))
	text = binary.BigEndian.AppendUint64(text, uint64(now.Add(s.ttl).UnixMilli()))
	text = append(text, plain...)
	b = k.aead.Seal(b, b[idSize:], text, sealedWith(bound))
	out := make([]byte, len(sealPrefix), len(sealPrefix)+base64.RawURLEncoding.EncodedLen(len(b)))
	copy(out, sealPrefix)
	return string(base64.RawURLEncoding.AppendEncode(out, b)), nil
}

// Open returns the text that was sealed. The error's code is always
// sealed_invalid, whatever is wrong.
func (s *Signer) Open(sealed string, bound []byte) ([]byte, error) {
	now, _ := s.clock.read()
	plain, reason := s.unseal(sealed, bound, now)
	if reason != "" {
		s.log.Info("sealed text refused", "reason", reason)
		return nil, &Error{Code: CodeSealed}
	}
	return plain, nil
}

func (s *Signer) unseal(sealed string, bound []byte, now time.Time) (plain []byte, reason string) {
	rest, ok := strings.CutPrefix(sealed, sealPrefix)
	if !ok || len(sealed) > maxSealed || strings.ContainsAny(rest, "\r\n") {
		return nil, "malformed" // base64 would skip line ends
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) < idSize+nonceSize+expirySize+gcmTagSize {
		return nil, "malformed"
	}
	k := s.keys(now, false).find(b[:idSize])
	if k == nil {
		k = s.keys(now, true).find(b[:idSize])
	}
	if k == nil || !k.opens(now, s.ttl) {
		return nil, "no such key"
	}
	text, err := k.aead.Open(nil, b[idSize:][:nonceSize], b[idSize+nonceSize:], sealedWith(bound))
	if err != nil {
		return nil, "altered, or bound to something else"
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(text)))
	switch {
	case !now.Before(expires):
		return nil, "expired"
	case expires.Sub(now) > s.ttl+maxSkew:
		return nil, "sealed in the future"
	}
	return text[expirySize:], ""
}

// sealedWith returns the data that a text is authenticated with.
func sealedWith(bound []byte) []byte {
	const domain = "mcpcontract/token/seal/1\x00"
	return append(append(make([]byte, 0, len(domain)+len(bound)), domain...), bound...)
}

// keys returns the key ring. It looks at the file again if the last look was a
// while ago, or at once if a key is missed; it reads it only if it changed. If
// that fails, the keys known so far remain in use.
func (s *Signer) keys(now time.Time, missed bool) *ring {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.looked); age < 0 || age >= lookAgain || missed {
		s.looked = now
		r, err := s.load(s.ring)
		if err != nil {
			s.log.Warn("sealing keys not read again", "error", err)
		} else if len(r.Keys) > 0 {
			s.ring = r
		}
	}
	return s.ring
}
