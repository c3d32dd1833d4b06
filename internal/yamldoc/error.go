package yamldoc

import (
	"errors"
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// Code tells faults apart. Codes are stable.
type Code string

// The codes of an [Error].
const (
	Syntax           Code = "syntax"            // the text is not well-formed YAML
	Empty            Code = "empty"             // there is no document
	TooLarge         Code = "too_large"         // more than MaxBytes
	TooDeep          Code = "too_deep"          // nested deeper than MaxDepth
	TooManyNodes     Code = "too_many_nodes"    // more than MaxNodes, also while aliases are expanded
	TooManyKeys      Code = "too_many_keys"     // a mapping with more than MaxKeys keys
	ByteOrderMark    Code = "byte_order_mark"   // the text starts with a byte order mark
	InvalidUTF8      Code = "invalid_utf8"      // a byte sequence that is not UTF-8
	ControlCharacter Code = "control_character" // NUL or another control character
	SecondDocument   Code = "second_document"   // strict mode: more than one document
	Alias            Code = "alias"             // strict mode: an anchor or alias; lenient mode: one that holds itself
	Merge            Code = "merge"             // strict mode: a merge key; lenient mode: one without a mapping
	UnknownTag       Code = "unknown_tag"       // strict mode: a tag outside the core schema
	KeyNotScalar     Code = "key_not_scalar"    // strict mode: a list, a mapping or null as a key
	DuplicateKey     Code = "duplicate_key"     // strict mode: a key that the same mapping has already
)

// Error is one fault in a text.
type Error struct {
	Line   int    // from 1
	Column int    // from 1, in characters
	Code   Code   // the kind of fault
	Msg    string // what is wrong and what to do, without the position
}

// Error gives the position and the message.
func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg) }

// ErrorCode gives the code as text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// Faults gives the single faults of an error returned by this package, in the order they were found. It is
// nil for nil and for foreign errors.
func Faults(err error) []*Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Error
		for _, e := range joined.Unwrap() {
			out = append(out, Faults(e)...)
		}
		return out
	}
	if one, ok := errors.AsType[*Error](err); ok {
		return []*Error{one}
	}
	return nil
}

// maxQuoted is how many bytes of the text a message repeats.
const maxQuoted = 60

func quote(s string) string { return wording.Quote(s, maxQuoted) }
