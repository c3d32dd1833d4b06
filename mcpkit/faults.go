package mcpkit

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// Bounds of a message about arguments, so that thousands of bad values give a short reply.
const (
	maxFaults  = 5  // faults told in full, the rest are counted
	maxAllowed = 30 // allowed names or values listed
	maxName    = 60 // bytes of a name that the caller chose
)

// path leads from the top level to one value.
type path []string

// String returns the path as a caller would write it, bounded: every name in it may be the caller's.
func (p path) String() string {
	if len(p) == 0 {
		return "the top level"
	}
	const shown = 6
	var b strings.Builder
	for i, name := range p[:min(len(p), shown)] {
		if _, err := strconv.Atoi(name); err == nil {
			fmt.Fprintf(&b, "[%s]", clip(name))
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clip(name))
	}
	if len(p) > shown {
		b.WriteString("...")
	}
	return strconv.Quote(b.String())
}

// clip shortens a name to maxName bytes.
func clip(s string) string { return wording.Clip(s, maxName) }

// explain says what keeps tree from matching the schema. The validator has already refused it; its own message repeats
// whole values, so this one is made here from the schema alone.
func (c *contract) explain(tree any) string {
	var f faults
	f.check(c.schema, tree, nil)
	switch {
	case len(f.list) == 0:
		return "they do not match the input schema of the tool"
	case f.count > len(f.list):
		return fmt.Sprintf("%s; and %d more", strings.Join(f.list, "; "), f.count-len(f.list))
	}
	return strings.Join(f.list, "; ")
}

// faults collects what is wrong, in a stable order.
type faults struct {
	list  []string
	count int
}

func (f *faults) add(format string, args ...any) {
	if f.count++; len(f.list) < maxFaults {
		f.list = append(f.list, fmt.Sprintf(format, args...))
	}
}

func (f *faults) check(s *jsonschema.Schema, v any, at path) {
	if s.Type != "" && !hasType(v, s.Type) {
		f.add("%s: want %s, got %s%s", at, s.Type, typeOf(v), hint(s.Type, v))
		return
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return jsonschema.Equal(e, v) }) {
		f.add("%s: want one of %s", at, allowed(s.Enum))
		return
	}
	if s.Const != nil && !jsonschema.Equal(*s.Const, v) {
		f.add("%s: want %s", at, allowed([]any{*s.Const}))
		return
	}
	switch v := v.(type) {
	case string:
		f.checkString(s, v, at)
	case float64:
		f.checkNumber(s, v, at)
	case []any:
		f.checkList(s, v, at)
	case map[string]any:
		f.checkObject(s, v, at)
	}
}

func (f *faults) checkString(s *jsonschema.Schema, v string, at path) {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		f.add("%s: want at least %d characters, got %d", at, *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		f.add("%s: want at most %d characters, got %d", at, *s.MaxLength, n)
	case s.Pattern != "":
		// Compiled here again, since the validator keeps its own to itself; this runs only for arguments already refused.
		if ok, err := regexp.MatchString(s.Pattern, v); !ok && err == nil {
			f.add("%s: want text that matches %s", at, s.Pattern)
		}
	}
}

func (f *faults) checkNumber(s *jsonschema.Schema, v float64, at path) {
	switch {
	case s.Minimum != nil && v < *s.Minimum:
		f.add("%s: want at least %v", at, *s.Minimum)
	case s.Maximum != nil && v > *s.Maximum:
		f.add("%s: want at most %v", at, *s.Maximum)
	}
}

func (f *faults) checkList(s *jsonschema.Schema, v []any, at path) {
	switch {
	case s.MinItems != nil && len(v) < *s.MinItems:
		f.add("%s: want at least %d items, got %d", at, *s.MinItems, len(v))
	case s.MaxItems != nil && len(v) > *s.MaxItems:
		f.add("%s: want at most %d items, got %d", at, *s.MaxItems, len(v))
	case s.UniqueItems:
		f.checkUnique(v, at)
	}
	if s.Items != nil {
		for i, item := range v {
			f.check(s.Items, item, append(at, strconv.Itoa(i)))
		}
	}
}

// checkUnique names the items that repeat an earlier one. It looks at strings only, of which real lists without
// duplicates are made.
func (f *faults) checkUnique(v []any, at path) {
	seen := make(map[string]bool)
	for i, item := range v {
		text, ok := item.(string)
		if ok && seen[text] {
			f.add("%s repeats an earlier item", append(at, strconv.Itoa(i)))
		}
		seen[text] = seen[text] || ok
	}
}

func (f *faults) checkObject(s *jsonschema.Schema, v map[string]any, at path) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			f.add("%s is required", append(at, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		sub := s.Properties[name]
		if sub == nil {
			sub = s.AdditionalProperties
		}
		switch {
		case isFalse(sub):
			f.add("%s is unexpected (allowed: %s)", append(at, name), names(s))
		case sub != nil:
			f.check(sub, v[name], append(at, name))
		}
	}
}

// names lists the properties of s as they are declared.
func names(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return "none"
	}
	list := s.PropertyOrder
	if len(list) != len(s.Properties) {
		list = slices.Sorted(maps.Keys(s.Properties))
	}
	if len(list) > maxAllowed {
		return strings.Join(list[:maxAllowed], ", ") + ", ..."
	}
	return strings.Join(list, ", ")
}

// allowed lists the values of an enum.
func allowed(values []any) string {
	texts := make([]string, 0, min(len(values), maxAllowed))
	for _, v := range values[:cap(texts)] {
		texts = append(texts, clip(fmt.Sprint(v)))
	}
	if len(values) > len(texts) {
		texts = append(texts, "...")
	}
	return strings.Join(texts, ", ")
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func hasType(v any, want string) bool {
	got := typeOf(v)
	return got == want || want == "number" && got == "integer"
}

// hint names two mistakes of models: null for an absent value, and an object or list sent as the text of its JSON.
func hint(want string, v any) string {
	if v == nil {
		return " (leave it out)"
	}
	text, _ := v.(string)
	text = strings.TrimSpace(text)
	if want == "object" && strings.HasPrefix(text, "{") || want == "array" && strings.HasPrefix(text, "[") {
		return " (send the value itself, not its JSON as a string)"
	}
	return ""
}
