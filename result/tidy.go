package result

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// encode returns v as compact JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// untidy reports whether tidy could change s. It is the fast path: output of
// an encoder has none of these unless its strings hold spaces. White space of
// tabs alone is not worth a look.
func untidy(s string) bool {
	return strings.IndexByte(s, ' ') >= 0 || strings.IndexByte(s, '\n') >= 0 || strings.Contains(s, `\u00`)
}

// tidy returns JSON text without the white space between its tokens and with
// <, > and & written as themselves. The SDK escapes these three for browsers,
// and a model would read the escapes as text. The value stays the same.
func tidy(s string) string {
	if !untidy(s) {
		return s
	}
	var b strings.Builder
	kept := 0 // s[:kept] is written or dropped
	drop := func(from, to int, with string) {
		b.WriteString(s[kept:from])
		b.WriteString(with)
		kept = to
	}
	for i := 0; i < len(s); {
		switch s[i] {
		case ' ', '\n', '\t', '\r':
			drop(i, i+1, "")
			i++
		case '"':
			i = tidyString(s, i+1, drop)
		default:
			i++
		}
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// tidyString passes over one string literal and returns the index behind it.
func tidyString(s string, i int, drop func(from, to int, with string)) int {
	for i < len(s) {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			if plain := htmlEscape(s[i:]); plain != "" {
				drop(i, i+6, plain)
				i += 6
				continue
			}
			i += 2 // an escaped quote does not end the literal
		default:
			i++
		}
	}
	return i
}

func htmlEscape(s string) string {
	if len(s) < 6 {
		return ""
	}
	switch s[:6] {
	case `\u003c`, `\u003C`:
		return "<"
	case `\u003e`, `\u003E`:
		return ">"
	case `\u0026`:
		return "&"
	}
	return ""
}

// root returns the first byte of a JSON value, 0 if there is none.
func root(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// sameJSON reports whether text is raw in another spelling: indented, or with
// its keys in another order.
func sameJSON(text string, raw []byte) bool {
	if r := root([]byte(text[:min(len(text), 64)])); r != root(raw) || r != '{' && r != '[' {
		return false
	}
	var a, b any
	return json.Unmarshal([]byte(text), &a) == nil && json.Unmarshal(raw, &b) == nil && reflect.DeepEqual(a, b)
}

// fit returns as much of s as takes at most limit bytes on the wire, where
// the text of an envelope is escaped twice: once as a string in the envelope,
// once as the text block that holds it.
func fit(s string, limit int) string {
	size := 0
	for i, r := range s {
		if size += wireSize(r); size > limit {
			return s[:i] + "…"
		}
	}
	return s
}

func wireSize(r rune) int {
	switch r {
	case '"', '\\':
		return 4 // \\\"
	case '\n', '\r', '\t', '\b', '\f':
		return 3 // \\n
	case '<', '>', '&':
		return 6 // \u003c, escaped by the SDK only
	case '\u2028', '\u2029':
		return 7
	}
	if r < ' ' {
		return 7 // \\u0001
	}
	return utf8.RuneLen(r)
}

// isNil reports whether v is nil or an interface that holds a nil pointer.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	rv := reflect.ValueOf(v)
	return rv.Kind() == reflect.Pointer && rv.IsNil()
}

// mustEncode encodes our own types, which always can be encoded.
func mustEncode(v any) []byte {
	data, err := encode(v)
	if err != nil {
		panic(err)
	}
	return data
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
