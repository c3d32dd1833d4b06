// Package canon gives data one byte form and digests that cannot be confused.
//
//	text, err := canon.Marshal(record)
//	if err != nil {
//		return err
//	}
//	id := canon.Digest("mcpcontract/record/1", text)
//
// # Canonical JSON
//
// [Marshal] writes the same value the same way every time: object keys sorted
// by their bytes, no white space, one way to escape, numbers as encoding/json
// gives them. Values that encoding/json would write alike up to the order of
// keys and the escapes get the same bytes, and no others do.
//
// # Digests
//
// [Digest] is SHA-256 over a domain and a list of parts, each preceded by its
// length, so that a digest made for one purpose never fits another, and moving
// bytes from one part to the next changes it. [Sum] is the plain SHA-256 of a
// file's bytes, as other tools print it. Both hash the bytes they are given:
// text is never decoded, normalised or trimmed first.
//
// # Limits
//
// The functions take what the caller has in memory anyway; their own need for
// memory is a small multiple of it. JSON nests at most 10,000 levels deep, as
// encoding/json has it.
//
// # Concurrency and errors
//
// All functions are safe for concurrent use. Only [Marshal] fails.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNotUTF8 means that a string to be marshalled is not valid UTF-8.
// encoding/json would replace the bad bytes, and two values would get one form.
var ErrNotUTF8 = errors.New("a string is not valid UTF-8")

// Marshal returns v as canonical JSON: what [json.Marshal] would write, with
// the keys of every object sorted by bytes, no white space, and in strings only
// the escapes that JSON demands, the short ones where there are some. The text
// of a number is kept.
//
// It fails where json.Marshal does, and on what can have no single form: text
// that is not valid UTF-8, which a surrogate alone is not either
// ([ErrNotUTF8]), and an object with a key twice. Both can only come from a
// string, a [json.RawMessage] or a Marshaler of v. The escape \ufffd in raw JSON
// counts as bad text.
func Marshal(v any) ([]byte, error) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("canonical form of %T: %w", v, err)
	}
	given := strings.Count(raw.String(), replacement)
	r := reader{dec: json.NewDecoder(&raw)}
	r.dec.UseNumber()
	tree, err := r.value()
	if err == nil && r.replacements > given {
		// More than there were to begin with: some stand for bad bytes.
		err = ErrNotUTF8
	}
	if err != nil {
		return nil, fmt.Errorf("canonical form of %T: %w", v, err)
	}
	return tree.append(nil), nil
}

// replacement is what encoding/json puts in place of bad text.
const replacement = "\ufffd"

// A value is what JSON text says, in order.
type value struct {
	open    json.Delim // '[' or '{'; 0 for what has no members
	text    string     // if it has none
	members []member
}

// A member belongs to an object, or without key to an array.
type member struct {
	key   string
	value value
}

// A reader builds values from JSON text.
type reader struct {
	dec          *json.Decoder
	replacements int // in strings so far
}

// value reads the next value.
func (r *reader) value() (value, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return value{}, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		return r.members(tok)
	case string:
		r.replacements += strings.Count(tok, replacement)
		return value{text: string(appendString(nil, tok))}, nil
	case json.Number:
		return value{text: tok.String()}, nil
	case bool:
		return value{text: strconv.FormatBool(tok)}, nil
	default:
		return value{text: "null"}, nil
	}
}

// members reads the rest of an array or object.
func (r *reader) members(open json.Delim) (value, error) {
	v := value{open: open}
	for r.dec.More() {
		var m member
		if open == '{' {
			tok, err := r.dec.Token()
			if err != nil {
				return value{}, err
			}
			m.key, _ = tok.(string)
			r.replacements += strings.Count(m.key, replacement)
		}
		var err error
		if m.value, err = r.value(); err != nil {
			return value{}, err
		}
		v.members = append(v.members, m)
	}
	if _, err := r.dec.Token(); err != nil {
		return value{}, err
	}
	if open == '{' {
		slices.SortFunc(v.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		for i := 1; i < len(v.members); i++ {
			if key := v.members[i].key; key == v.members[i-1].key {
				return value{}, fmt.Errorf("the key %.40q is there twice", key)
			}
		}
	}
	return v, nil
}

// append appends the canonical form of v to out.
func (v *value) append(out []byte) []byte {
	if v.open == 0 {
		return append(out, v.text...)
	}
	out = append(out, byte(v.open))
	for i := range v.members {
		if i > 0 {
			out = append(out, ',')
		}
		if v.open == '{' {
			out = appendString(out, v.members[i].key)
			out = append(out, ':')
		}
		out = v.members[i].value.append(out)
	}
	return append(out, byte(v.open)+2) // ']' and '}' come two after
}

// appendString appends s as a JSON string.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, b := range []byte(s) {
		switch i := strings.IndexByte("\"\\\b\f\n\r\t", b); {
		case i >= 0:
			out = append(out, '\\', `"\bfnrt`[i])
		case b < ' ':
			out = fmt.Appendf(out, `\u%04x`, b)
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}

// Digest returns the SHA-256 of domain and parts as 64 lower-case hexadecimal
// digits. Each is preceded by its length, so different lists never have the
// same input. A domain names a purpose and a version, such as
// "mcpcontract/manifest/1", and is used for nothing else.
func Digest(domain string, parts ...[]byte) string {
	h := sha256.New()
	var size [8]byte
	add := func(n int) {
		binary.BigEndian.PutUint64(size[:], uint64(n))
		h.Write(size[:])
	}
	add(len(domain))
	h.Write([]byte(domain))
	for _, part := range parts {
		add(len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Sum returns the SHA-256 of data as 64 lower-case hexadecimal digits.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
