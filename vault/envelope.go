package vault

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The format that is written.
const (
	format  = "mcpcontract-vault"
	version = 1
)

// Limits of a vault.
const (
	maxFile     = 16 << 20
	maxSealed   = 11 << 20 // of all profiles; in base64, and with all else, a file has less than maxFile
	maxSlots    = 8
	maxProfiles = 256
	maxAbove    = 8    // profiles above one
	maxEntries  = 4096 // secrets, and records, of one profile
	maxProfile  = 64
	maxKind     = 32
	maxName     = 256
	maxValue    = 64 << 10
	maxRecord   = 256 << 10
	maxLevels   = 128 // of objects and lists in a record; encoding/json reads 10,000, and some of its readers fewer
)

// Bounds of the costs of argon2id, which are checked before it runs: a file
// can ask for any, and one that asks for too little was not written here.
const (
	minMemory, maxMemory = 19 << 10, 1 << 20 // KiB
	maxTime, maxThreads  = 16, 16
)

// An envelope is the content of the vault's file, JSON with two spaces for
// each level and a line end. It is not changed after it was decoded.
//
// All keys are 32 bytes, derived with HKDF-SHA256 from another key, a salt, and
// an info text that names the one use of the result; "mcpcontract-vault|1|"
// stands before each. All boxes are a random nonce of 12 bytes and the
// ciphertext and tag of AES-256-GCM. What is bound together is a row of byte
// strings, each after its length in 8 bytes, big-endian, as are all numbers.
//
//   - A slot's box holds the data key. Its key comes from that of the provider,
//     with the slot's salt, for "slot|" and the kind. It is bound to format,
//     version and id of the vault, and id, kind, salt and costs of the slot, so
//     that no other costs can be put to a passphrase.
//   - A profile's box holds the JSON of a slice, with spaces after it up to a
//     multiple of 256 bytes. Its key comes from the data key, with the vault's
//     id as salt, for "slice|" and the profile's name. It is bound to format,
//     version, id and that name, so that it opens in no other place.
//   - The code is HMAC-SHA256 under a key from the data key, with the vault's
//     id as salt, for "mac". It covers the head with the number of slots, each
//     slot with its box, and each profile with its name, parent and box, in the
//     order of the names, so that parts of two states do not mix.
//
// The format has one form only, see decode.
type envelope struct {
	Format string         `json:"format"`
	V      int            `json:"v"`
	ID     []byte         `json:"id"`
	Gen    uint64         `json:"gen"` // grows with every save
	Slots  []slot         `json:"slots"`
	Slices map[string]box `json:"slices"`
	MAC    []byte         `json:"mac"`
}

// A slot has the data key, sealed under the key of a provider.
type slot struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Salt    []byte `json:"salt"`
	Time    uint32 `json:"t,omitempty"`
	Memory  uint32 `json:"m,omitempty"` // KiB
	Threads uint8  `json:"p,omitempty"`
	Wrapped []byte `json:"wrapped"`
}

// A box is a sealed profile.
type box struct {
	Parent string `json:"parent,omitempty"`
	Sealed []byte `json:"ct"`
}

// encode returns the one form of e.
func (e *envelope) encode() ([]byte, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	return append(data, '\n'), err
}

// decode reads an envelope. It accepts what encode returns, byte for byte, and
// nothing else: a text in another form that means the same would be a way to
// change a file without its key. Nothing is decrypted, and no key derived.
func decode(data []byte) (*envelope, error) {
	var head struct {
		Format string `json:"format"`
		V      int    `json:"v"`
	}
	// The version is looked at first: a later one may have any form.
	if len(data) == 0 {
		return nil, fault(CodeDamaged, "open", "it is empty")
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Format != format {
		return nil, fault(CodeDamaged, "open", "it has no envelope")
	}
	if head.V != version {
		return nil, fault(CodeVersion, "open", "the file has version %d, this program reads %d", head.V, version)
	}
	e := &envelope{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if dec.Decode(e) != nil {
		return nil, fault(CodeDamaged, "open", "its envelope has an unknown part")
	}
	if same, err := e.encode(); err != nil || !bytes.Equal(same, data) {
		return nil, fault(CodeDamaged, "open", "its envelope is not in the form that is written")
	}
	if what := e.fault(); what != "" {
		return nil, fault(CodeDamaged, "open", "%s", what)
	}
	return e, nil
}

// fault says what is wrong with e, or returns "".
func (e *envelope) fault() string {
	switch {
	case len(e.ID) != idSize || len(e.MAC) != macSize || e.Gen == 0:
		return "its head is not well formed"
	case len(e.Slots) == 0 || len(e.Slots) > maxSlots:
		return "it has no key slots, or too many"
	case len(e.Slices) > maxProfiles:
		return "it has too many profiles"
	}
	seen := map[string]bool{}
	for i := range e.Slots {
		s := &e.Slots[i]
		if seen[s.ID] || !s.valid() {
			return "a key slot is not well formed"
		}
		seen[s.ID] = true
	}
	if _, ok := e.Slices[Default]; !ok {
		return "it lacks the profile " + Default
	}
	for name := range e.Slices {
		if what := e.faultOf(name); what != "" {
			return what
		}
	}
	return ""
}

// faultOf says what is wrong with a profile, or returns "".
func (e *envelope) faultOf(profile string) string {
	b := e.Slices[profile]
	n := len(b.Sealed) - overhead
	if !validProfile(profile) || n <= 0 || n%padding != 0 {
		return "a profile is not well formed"
	}
	// No profile has the name "", so that default has no parent and all others
	// have one that is there.
	if _, ok := e.Slices[b.Parent]; ok == (profile == Default) {
		return "a profile has no parent, or one that is missing"
	}
	if len(e.above(profile)) > maxAbove+1 {
		return "a profile has too many above it, or itself"
	}
	return ""
}

// above returns the profile and those above it, nearest first, and stops when
// it is clear that there are too many.
func (e *envelope) above(profile string) []string {
	list := []string{profile}
	for len(list) <= maxAbove+1 {
		b, ok := e.Slices[profile]
		if !ok || b.Parent == "" {
			break
		}
		profile = b.Parent
		list = append(list, profile)
	}
	return list
}

// names returns the names of the profiles in order.
func (e *envelope) names() []string { return slices.Sorted(maps.Keys(e.Slices)) }

// valid reports whether the slot is well formed. Only a passphrase has costs.
func (s *slot) valid() bool {
	costs := s.Time > 0 && s.Time <= maxTime && s.Threads > 0 && s.Threads <= maxThreads &&
		s.Memory >= minMemory && s.Memory <= maxMemory
	if s.Kind != kindPassphrase {
		costs = s.Time == 0 && s.Memory == 0 && s.Threads == 0
	}
	return costs && validSlotID(s.ID) && validKind(s.Kind) &&
		len(s.Salt) == saltSize && len(s.Wrapped) == keySize+overhead
}

// validSlotID reports whether id has the form that newSlot gives it.
func validSlotID(id string) bool {
	return len(id) == slotIDSize && strings.Trim(id, "0123456789abcdef") == ""
}

// validKind reports whether a kind is a lower-case word.
func validKind(kind string) bool {
	return kind != "" && len(kind) <= maxKind && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// validProfile reports whether a profile may have that name.
func validProfile(name string) bool {
	if name == "" || len(name) > maxProfile || strings.ContainsAny(name[:1], "._-") {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	}) < 0
}

// validName reports whether a secret or record may have that name.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) &&
		strings.IndexFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || blank(r) }) < 0
}

// blank reports whether a graphic character shows nothing, so that names could
// look empty, or like each other: fillers, selectors of a variant, the empty
// pattern of Braille.
func blank(r rune) bool {
	const emptyBraille = '\u2800'
	return r == emptyBraille || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
