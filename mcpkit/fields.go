package mcpkit

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// kindPattern returns the pattern that kind=name of the schema tag stands for.
func kindPattern(name string) (string, bool) {
	switch name {
	case "id":
		return `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`, true
	case "sha256":
		return `^[0-9a-f]{64}$`, true
	case "time":
		return timePattern, true
	}
	return "", false
}

// jsonFields yields the fields that encoding/json reads and writes for the struct type t, with their names.
func jsonFields(t reflect.Type) iter.Seq2[reflect.StructField, string] {
	return func(yield func(reflect.StructField, string) bool) {
		for _, f := range reflect.VisibleFields(t) {
			tag := f.Tag.Get("json")
			name, _, _ := strings.Cut(tag, ",")
			if tag == "-" || f.Anonymous && name == "" && isStruct(f.Type) || !f.IsExported() {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(f, name) {
				return
			}
		}
	}
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// constrain adds the keywords of one schema tag to the schema of its field. Everything but minItems and maxItems goes to
// the values inside lists and maps.
func constrain(s *jsonschema.Schema, tag string) error {
	value := s
	for value.Items != nil || value.Type == "object" && value.AdditionalProperties != nil && !isFalse(value.AdditionalProperties) {
		if value.Items != nil {
			value = value.Items
		} else {
			value = value.AdditionalProperties
		}
	}
	for rest := strings.TrimSpace(tag); rest != ""; {
		keyword, arg, ok := strings.Cut(rest, "=")
		if !ok {
			return fmt.Errorf("schema tag: %q is not keyword=value", rest)
		}
		rest = ""
		if keyword != "pattern" { // a pattern may hold spaces, so it comes last and takes what is left
			arg, rest, _ = strings.Cut(arg, " ")
			rest = strings.TrimSpace(rest)
		}
		target := value
		if keyword == "minItems" || keyword == "maxItems" {
			target = s
		}
		if err := setKeyword(target, keyword, arg); err != nil {
			return fmt.Errorf("schema tag: %s: %w", keyword, err)
		}
	}
	return nil
}

// setKeyword sets one keyword of the schema tag. A keyword that says nothing about the type of s is a mistake.
func setKeyword(s *jsonschema.Schema, keyword, arg string) error {
	switch keyword {
	case "minimum":
		return setNumber(s, &s.Minimum, arg)
	case "maximum":
		return setNumber(s, &s.Maximum, arg)
	case "minItems":
		return setCount(s, "array", &s.MinItems, arg)
	case "maxItems":
		return setCount(s, "array", &s.MaxItems, arg)
	case "minLength":
		return setCount(s, "string", &s.MinLength, arg)
	case "maxLength":
		return setCount(s, "string", &s.MaxLength, arg)
	}
	return setText(s, keyword, arg)
}

func setText(s *jsonschema.Schema, keyword, arg string) error {
	switch keyword {
	case "pattern":
		s.Pattern = arg
	case "kind":
		pattern, ok := kindPattern(arg)
		if !ok {
			return fmt.Errorf("unknown kind %q (known: id, sha256, time)", arg)
		}
		s.Pattern = pattern
	case "enum":
		for value := range strings.SplitSeq(arg, "|") {
			s.Enum = append(s.Enum, value)
		}
	default:
		return errors.New("unknown keyword")
	}
	return checkType(s, "string")
}

func setNumber(s *jsonschema.Schema, to **float64, arg string) error {
	n, err := strconv.ParseFloat(arg, 64)
	if err != nil {
		return err
	}
	*to = &n
	if s.Type == "integer" {
		return nil
	}
	return checkType(s, "number")
}

func setCount(s *jsonschema.Schema, want string, to **int, arg string) error {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	*to = &n
	return checkType(s, want)
}

func checkType(s *jsonschema.Schema, want string) error {
	if s.Type != want {
		return fmt.Errorf("does not fit the type %q", s.Type)
	}
	return nil
}
