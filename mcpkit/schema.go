package mcpkit

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/result"
)

// direction says which way the values of a schema travel.
type direction int

const (
	arguments direction = iota // from the client: every field says what it is for
	results                    // to the client: nothing may encode as null
)

// anyValue describes what has no schema of its own. A description keeps the schema an object on the wire: the empty
// schema is written as the boolean true, which some clients refuse.
const anyValue = "any JSON value"

// timePattern is RFC 3339 as time.Time writes it.
const timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`

// contract is one published schema together with what checks values against it.
type contract struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	wire     json.RawMessage
}

// infer returns the schema of the struct type t: closed, inlined, without null, with the constraints of the fields' tags.
func infer(t reflect.Type, dir direction) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct: wrap it in one, since the root has to be a JSON object", t)
	}
	in := inference{dir: dir, wire: make(map[reflect.Type]*jsonschema.Schema), seen: make(map[reflect.Type]bool)}
	if err := in.findWireTypes(t); err != nil {
		return nil, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: in.wire})
	if err != nil {
		return nil, err
	}
	return s, in.tighten(s, t)
}

// seal checks that s keeps the rules of a published schema after a hook may have changed it, and prepares it for use.
func seal(s *jsonschema.Schema) (*contract, error) {
	if s.Type != "object" {
		return nil, errors.New(`the root has to be of type "object"`)
	}
	if err := walkSchemas(s, checkSchema); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	wire, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return &contract{schema: s, resolved: resolved, wire: wire}, nil
}

// checkSchema refuses what clients are known to drop or misread, and names what would be written as a bare true.
func checkSchema(s *jsonschema.Schema) error {
	switch {
	case s.Ref != "" || s.DynamicRef != "" || s.Defs != nil || s.Definitions != nil:
		return errors.New("$ref and $defs are not allowed: several clients drop them, so the schema has to be inlined")
	case s.Default != nil:
		return errors.New("default is not allowed: nothing applies it, so let the description say what an absent field means")
	case s.Type == "object" && s.AdditionalProperties == nil:
		return errors.New("every object has to be closed: set additionalProperties")
	case reflect.ValueOf(*s).IsZero():
		s.Description = anyValue
	case s.Type == "object" && s.Properties == nil && isFalse(s.AdditionalProperties):
		s.Properties = make(map[string]*jsonschema.Schema)
	}
	return nil
}

// isFalse reports whether s refuses every value, which is what additionalProperties: false decodes to.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}

// walkSchemas calls fn for s and for every schema below it.
func walkSchemas(s *jsonschema.Schema, fn func(*jsonschema.Schema) error) error {
	if s == nil || isFalse(s) {
		return nil
	}
	if err := fn(s); err != nil {
		return err
	}
	for _, v := range reflect.ValueOf(*s).Fields() {
		switch field := v.Interface().(type) {
		case *jsonschema.Schema:
			if err := walkSchemas(field, fn); err != nil {
				return err
			}
		case []*jsonschema.Schema:
			for _, sub := range field {
				if err := walkSchemas(sub, fn); err != nil {
					return err
				}
			}
		case map[string]*jsonschema.Schema:
			for name, sub := range field {
				if err := walkSchemas(sub, fn); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// inference is one run over a Go type.
type inference struct {
	dir  direction
	wire map[reflect.Type]*jsonschema.Schema // types whose JSON is not what their Go shape says
	seen map[reflect.Type]bool
}

// findWireTypes fills in.wire from t and everything below it.
func (in *inference) findWireTypes(t reflect.Type) error {
	if in.seen[t] {
		return nil
	}
	in.seen[t] = true
	s, err := wireSchema(t)
	if err != nil {
		return err
	}
	if s != nil {
		in.wire[t] = s
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return in.findWireTypes(t.Elem())
	case reflect.Struct:
		for f, name := range jsonFields(t) {
			if err := in.findWireTypes(f.Type); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// wireSchema returns the schema of a type that encoding/json does not write by its Go shape, or nil for all others.
func wireSchema(t reflect.Type) (*jsonschema.Schema, error) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Pattern: timePattern}, nil
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Description: anyValue}, nil
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}, nil
	case reflect.TypeFor[result.Provenance]():
		return result.ProvenanceSchema(), nil
	}
	switch {
	case t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer:
		return nil, nil
	case isList(t):
		return nil, nil // it only differs from its slice in not being null
	case implements[json.Marshaler](t) || implements[json.Unmarshaler](t):
		return nil, fmt.Errorf("%v encodes itself, so its schema cannot be inferred: use a plain type on the wire", t)
	case implements[encoding.TextMarshaler](t) || implements[encoding.TextUnmarshaler](t):
		return &jsonschema.Schema{Type: "string"}, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, nil
	}
	return nil, nil
}

// isList reports whether t is a [result.List].
func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.PkgPath() == reflect.TypeFor[result.Provenance]().PkgPath()
}

func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

// tighten turns the inferred schema of t into one that every client reads alike.
func (in *inference) tighten(s *jsonschema.Schema, t reflect.Type) error {
	dropNull(s)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if in.wire[t] != nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return in.tightenStruct(s, t)
	case reflect.Slice, reflect.Array:
		return in.tighten(s.Items, t.Elem())
	case reflect.Map:
		return in.tighten(s.AdditionalProperties, t.Elem())
	case reflect.Interface:
		if s.Description == "" {
			s.Description = anyValue
		}
	}
	return nil
}

func (in *inference) tightenStruct(s *jsonschema.Schema, t reflect.Type) error {
	if s.Properties == nil {
		s.Properties = make(map[string]*jsonschema.Schema)
	}
	for f, name := range jsonFields(t) {
		p := s.Properties[name]
		err := in.checkField(f, p)
		if err == nil {
			err = in.tighten(p, f.Type)
		}
		if tag, ok := f.Tag.Lookup("schema"); ok && err == nil {
			err = constrain(p, tag)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkField refuses a field that would break the contract at run time.
func (in *inference) checkField(f reflect.StructField, p *jsonschema.Schema) error {
	_, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	options := strings.Split(opts, ",")
	optional := slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
	switch {
	case p == nil:
		return errors.New("the field has no schema: embedded structs may not carry a json name")
	case slices.Contains(options, "string"):
		return errors.New(`the json option "string" is not supported`)
	case in.dir == arguments && p.Description == "":
		return errors.New("an argument needs a description: add a jsonschema tag")
	case in.dir == results && f.Type.Kind() == reflect.Pointer && !optional:
		return errors.New("a pointer would encode as null: add omitempty")
	}
	return nil
}

// dropNull leaves one type: absent is how a value is left out, and several clients refuse a list of types.
func dropNull(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
}
