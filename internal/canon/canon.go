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
// by their bytes, no white space, strings with the fewest escapes, numbers as
// encoding/json gives them. Two values that encoding/json would write alike up
// to the order of keys get the same bytes.
//
// # Digests
//
// [Digest] is SHA-256 over a domain and a list of parts, each preceded by its
// length, so that a digest made for one purpose never fits another, and moving
// bytes from one part to the next changes it. [Sum] is the plain SHA-256 of a
// file's bytes, as other tools print it. Both hash the bytes they are given:
// text is never decoded, normalised or trimmed first.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// ErrNotUTF8 means that a string to be marshalled is not valid UTF-8.
// encoding/json would replace the bad bytes, and two values would get one form.
var ErrNotUTF8 = errors.New("a string is not valid UTF-8")

// Marshal returns v as canonical JSON: what [json.Marshal] would write, with
// the keys of every object sorted by bytes, no white space, and only those
// escapes in strings that JSON demands. The text of a number is kept. It fails
// where json.Marshal does, on text that is not valid UTF-8 ([ErrNotUTF8]), and
// on an object that has a key twice, which a [json.RawMessage] can.
func Marshal(v any) ([]byte, error) {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("marshal %T: %w", v, err)
	}
	// The encoder writes this escape for bad bytes only; U+FFFD itself it
	// writes as it is.
	if bytes.Contains(raw.Bytes(), []byte(`\ufffd`)) || !utf8.Valid(raw.Bytes()) {
		return nil, fmt.Errorf("marshal %T: %w", v, ErrNotUTF8)
	}
	dec := json.NewDecoder(&raw)
	dec.UseNumber()
	var out bytes.Buffer
	if err := rewrite(&out, dec); err != nil {
		return nil, fmt.Errorf("marshal %T: %w", v, err)
	}
	return out.Bytes(), nil
}

// rewrite copies the next value of dec to out in canonical form.
func rewrite(out *bytes.Buffer, dec *json.Decoder) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return rewriteArray(out, dec)
		}
		return rewriteObject(out, dec)
	case string:
		quote(out, tok)
	case json.Number:
		out.WriteString(tok.String())
	case bool:
		fmt.Fprint(out, tok)
	case nil:
		out.WriteString("null")
	}
	return nil
}

func rewriteArray(out *bytes.Buffer, dec *json.Decoder) error {
	out.WriteByte('[')
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if err := rewrite(out, dec); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := dec.Token()
	return err
}

func rewriteObject(out *bytes.Buffer, dec *json.Decoder) error {
	members := map[string][]byte{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string)
		if _, twice := members[key]; twice {
			return fmt.Errorf("key %.40q is there twice", key)
		}
		var value bytes.Buffer
		if err := rewrite(&value, dec); err != nil {
			return err
		}
		members[key] = value.Bytes()
	}
	out.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			out.WriteByte(',')
		}
		quote(out, key)
		out.WriteByte(':')
		out.Write(members[key])
	}
	out.WriteByte('}')
	_, err := dec.Token()
	return err
}

// quote writes s as a JSON string with only the escapes that JSON demands.
func quote(out *bytes.Buffer, s string) {
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(out, `\u%04x`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
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
