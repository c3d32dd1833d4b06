package vault

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands for a secret wherever one is printed.
const redacted = "[redacted]"

// A Secret is a value that was sealed. It prints as "[redacted]" with every
// verb of package fmt, and so it logs and marshals; [Secret.Reveal] is the one
// way to the value. The zero Secret holds the empty text.
//
// A Secret is safe for concurrent use.
type Secret struct {
	// A pointer, because package fmt prints the fields of an unexported field
	// without asking their String methods.
	text *string
}

// newSecret returns a Secret with a copy of value.
func newSecret(value []byte) Secret {
	text := string(value)
	return Secret{text: &text}
}

// Reveal returns the value. It is an ordinary string from then on: whoever
// prints it shows it, and a process that gets it in its environment shows it to
// all that may look there.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]", whatever the verb and its flags.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redacted) // package fmt reports the failures of its writer itself
}

// MarshalJSON returns "[redacted]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// An Origin says where a value was found.
type Origin struct {
	// Profile is the profile that holds the value: the one that was asked, or
	// one above it.
	Profile string
}

// String returns "vault:" and the profile.
func (o Origin) String() string { return "vault:" + o.Profile }
