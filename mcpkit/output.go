package mcpkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

// encodeResult returns the JSON of what a handler returned, once it is known to match the schema.
func (c *contract) encodeResult(out any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // < is one byte for a model to read, not six
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if bytes.Contains(raw, []byte("null")) {
		var err error
		if raw, err = rewrite(c.schema, raw, fillNull); err != nil {
			return nil, fmt.Errorf("encoding the result: %w", err)
		}
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	if c.resolved.Validate(tree) != nil {
		return nil, errors.New("the result does not match the output schema: " + c.explain(tree))
	}
	return raw, nil
}

// fillNull replaces a null that stands for a nil slice, map or []byte by the empty value that the schema promises: the
// schema allows no null there, and clients that validate refuse the whole result for one.
func fillNull(s *jsonschema.Schema, token json.Token) string {
	if token != nil {
		return ""
	}
	switch {
	case s.Type == "array":
		return "[]"
	case s.Type == "object" && !isFalse(s.AdditionalProperties):
		return "{}"
	case s.Type == "string":
		return `""`
	}
	return ""
}

// rewrite returns raw with some of its values replaced. edit is asked for each value that is neither an object nor a
// list, with the schema that describes it; it returns the new text, or nothing to keep the value.
//
// It works on the bytes, so that neither the order of the names nor the text of any other value changes, and so that a
// Go value which a handler shares between calls is never written to.
func rewrite(s *jsonschema.Schema, raw []byte, edit func(*jsonschema.Schema, json.Token) string) ([]byte, error) {
	r := rewriter{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw)), edit: edit}
	r.dec.UseNumber()
	if err := r.value(s); err != nil {
		return nil, err
	}
	return append(r.out, raw[r.done:]...), nil
}

type rewriter struct {
	dec  *json.Decoder
	edit func(*jsonschema.Schema, json.Token) string
	raw  []byte
	out  []byte
	done int // bytes of raw that are already in out
}

// value reads one value that the schema s describes; nil says that nothing is known about it.
func (r *rewriter) value(s *jsonschema.Schema) error {
	before := r.dec.InputOffset()
	token, err := r.dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return r.list(s)
	case json.Delim('{'):
		return r.object(s)
	}
	if s == nil {
		return nil
	}
	if text := r.edit(s, token); text != "" {
		end := r.dec.InputOffset()
		// What stands between two values is punctuation and space, which belongs to neither.
		start := end - int64(len(bytes.TrimLeft(r.raw[before:end], " \t\r\n:,")))
		r.out = append(append(r.out, r.raw[r.done:start]...), text...)
		r.done = int(end)
	}
	return nil
}

func (r *rewriter) list(s *jsonschema.Schema) error {
	var items *jsonschema.Schema
	if s != nil {
		items = s.Items
	}
	for r.dec.More() {
		if err := r.value(items); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *rewriter) object(s *jsonschema.Schema) error {
	for r.dec.More() {
		token, err := r.dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return errors.New("a name is not a string")
		}
		var sub *jsonschema.Schema
		if s != nil {
			if sub = s.Properties[name]; sub == nil {
				sub = s.AdditionalProperties
			}
		}
		if err := r.value(sub); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}
