package connections

import (
	"encoding/json"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// WithoutText does to arguments what the middleware does, with a given id.
func WithoutText(raw json.RawMessage, id string) (args json.RawMessage, text string, found bool) {
	at := findText(raw)
	if !at.prepare || at.end == 0 {
		return raw, "", false
	}
	out := append(append(append(json.RawMessage{}, raw[:at.start]...), '"'), id...)
	return append(append(out, '"'), raw[at.end:]...), at.text, true
}

// RewriteStrings is rewriteStrings.
func RewriteStrings(raw json.RawMessage, change func(key, value string) string) json.RawMessage {
	return rewriteStrings(raw, change)
}

// Lift is lift for a store that knows no names, with what it found by name.
func Lift(s *normalize.Server) (normalize.Server, map[string]string) {
	out, found := lift(s, func(string, string) bool { return true })
	values := make(map[string]string)
	for _, f := range found {
		values[f.name] = f.value
	}
	return out, values
}
