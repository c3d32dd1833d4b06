package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"
)

// The form of a token's text: x1_<kind>_<43 characters>.
const (
	prefix     = "x1_"
	secretSize = 32 // random bytes
	secretLen  = 43 // the same in base64url without padding
	maxKind    = 32
)

// redacted stands for a token wherever one is printed.
const redacted = "[token]"

// A Token is a new approval token. Its text opens the approved action to
// whoever sends it, so a Token prints, logs and marshals as "[token]"; Reveal
// is the one way to the text. The zero Token has no text.
//
// A Token is safe for concurrent use.
type Token struct {
	// A pointer, because package fmt prints the fields of an unexported field
	// without asking their String methods.
	text    *string
	hash    string
	expires time.Time
}

// newToken makes the text of a token from 32 bytes of the system's randomness.
func newToken(kind string, expires time.Time) Token {
	var secret [secretSize]byte
	rand.Read(secret[:])
	text := prefix + kind + "_" + base64.RawURLEncoding.EncodeToString(secret[:])
	return Token{text: &text, hash: hashOf(text), expires: expires}
}

// Reveal returns the text to send to the caller: "x1_", the kind, "_", and 43
// characters of base64url. It matches
// ^x1_[a-z][a-z0-9_-]{0,31}_[A-Za-z0-9_-]{43}$.
func (t Token) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// Hash returns the SHA-256 of the text as 64 lower-case hexadecimal digits. It
// names the record and may be shown: nobody can get the text from it.
func (t Token) Hash() string { return t.hash }

// Expires returns when the token stops being valid unless it was begun before.
func (t Token) Expires() time.Time { return t.expires }

// String returns "[token]".
func (t Token) String() string { return redacted }

// GoString returns "[token]".
func (t Token) GoString() string { return redacted }

// MarshalText returns "[token]", so that encoders do not show the text.
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[token]" for package slog.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// hashOf returns the hash under which the token with this text is kept.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// wellFormed reports whether text has the form of a token.
func wellFormed(text string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	cut := len(rest) - secretLen - 1
	if !ok || cut < 1 || rest[cut] != '_' || !validKind(rest[:cut]) {
		return false
	}
	// Strict, so that no two texts have the same bytes.
	secret, err := base64.RawURLEncoding.Strict().DecodeString(rest[cut+1:])
	return err == nil && len(secret) == secretSize
}

// validKind reports whether kind matches ^[a-z][a-z0-9_-]{0,31}$.
func validKind(kind string) bool {
	if kind == "" || len(kind) > maxKind || kind[0] < 'a' || kind[0] > 'z' {
		return false
	}
	return strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// same compares two digests in constant time.
func same(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
