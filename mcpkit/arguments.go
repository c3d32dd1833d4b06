package mcpkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
)

// maxDepth bounds how deep arguments may nest. Real arguments nest a handful of levels.
const maxDepth = 64

// decodeArguments checks raw against the schema and stores it in the struct that into points to.
//
// Its errors have the code invalid_arguments and name the field, the fault and what is allowed. They never repeat a
// value, which may be large or secret.
func (c *contract) decodeArguments(raw json.RawMessage, into any) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	tree, err := parseTree(raw)
	if err != nil {
		return invalid(err.Error())
	}
	if c.resolved.Validate(tree) != nil {
		return invalid(c.explain(tree))
	}
	return c.store(raw, into)
}

// store puts arguments that match the schema into the struct that into points to.
func (c *contract) store(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		if plain, plainErr := rewrite(c.schema, raw, plainInteger); plainErr == nil {
			err = json.Unmarshal(plain, into)
		}
	}
	return argumentError(err)
}

// plainInteger writes an integer such as 20.0 or 2e1 without fraction and exponent. JSON Schema and several clients make
// no difference, encoding/json does.
func plainInteger(s *jsonschema.Schema, token json.Token) string {
	number, ok := token.(json.Number)
	if !ok || s.Type != "integer" {
		return ""
	}
	if _, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return ""
	}
	f, err := number.Float64()
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// argumentError gives an error of encoding/json the right code. An error with a code of its own, from an UnmarshalText
// method, passes unchanged.
func argumentError(err error) error {
	var coded interface{ ErrorCode() string }
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case errors.As(err, &mismatch):
		return invalid(fmt.Sprintf("%q does not fit: want %v", clip(mismatch.Field), mismatch.Type))
	}
	return &result.Error{Code: result.CodeInvalidArguments, Message: "invalid arguments: a value has the wrong form", Err: err}
}

func invalid(faults string) error {
	return &result.Error{Code: result.CodeInvalidArguments, Message: "invalid arguments: " + faults}
}

// parseTree decodes raw like json.Unmarshal into an any, but refuses what that accepts in silence: a name that is given
// twice, of which a client and a server may each read a different one, and text that is not Unicode, of which it would
// make another text. The transport has made sure of one value.
func parseTree(raw json.RawMessage) (any, error) {
	if !unicodeText(raw) {
		return nil, errors.New("a text in them is not Unicode: bytes that are not UTF-8, or half of a surrogate pair")
	}
	return parseValue(json.NewDecoder(bytes.NewReader(raw)), nil)
}

// unicodeText reports whether every string in the JSON raw is Unicode.
func unicodeText(raw json.RawMessage) bool {
	if !utf8.Valid(raw) {
		return false
	}
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return true // no surrogates: nearly all there is
	}
	_, err := canon.Marshal(raw)
	return !errors.Is(err, canon.ErrNotUTF8)
}

func parseValue(dec *json.Decoder, at path) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON, or a number out of range", at)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if len(at) > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	if delim == '{' {
		return parseObject(dec, at)
	}
	list := []any{}
	for dec.More() {
		item, err := parseValue(dec, append(at, strconv.Itoa(len(list))))
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err = dec.Token()
	return list, err
}

func parseObject(dec *json.Decoder, at path) (any, error) {
	object := make(map[string]any)
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("%s is not JSON, or a number out of range", at)
		}
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("%s is given twice", append(at, name))
		}
		if object[name], err = parseValue(dec, append(at, name)); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return object, err
}
