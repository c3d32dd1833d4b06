package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

const width = 110 // columns within which a value stays on one line

// value writes JSON the way a person reads it: what is short on one line, the
// rest a member or an element a line, text of several lines as a block.
func (t *writer) value(raw json.RawMessage, indent string) {
	members, isObject := split(raw)
	for _, m := range members {
		if isObject {
			t.member(m.name, m.value, indent)
			continue
		}
		if short := line(m.value); !strings.Contains(short, "\n") {
			t.printf("%s- %s\n", indent, short)
			continue
		}
		t.printf("%s-\n", indent)
		t.value(m.value, indent+"  ")
	}
	if members == nil {
		t.printf("%s%s\n", indent, line(raw))
	}
}

func (t *writer) member(name string, raw json.RawMessage, indent string) {
	var text string
	short := line(raw)
	if name == "provenance" {
		if bytes.Equal(raw, t.provenance) {
			t.printf("%s%s: as before\n", indent, name)
			return
		}
		t.provenance = raw
	}
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil && strings.Contains(text, "\n"):
		t.printf("%s%s:\n", indent, name)
		t.block(text, indent+"   ")
	case len(indent)+len(name)+len(short) <= width || raw[0] != '{' && raw[0] != '[':
		t.printf("%s%s: %s\n", indent, name, short)
	default:
		t.printf("%s%s:\n", indent, name)
		t.value(raw, indent+"   ")
	}
}

// block writes text as it is, marked at the left.
func (t *writer) block(text, indent string) {
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		t.printf("%s\n", strings.TrimRight(indent+"| "+l, " \n"))
	}
}

// member is one member of an object or, without a name, one element of a list.
type member struct {
	name  string
	value json.RawMessage
}

// split takes an object or list apart in its own order. It returns nil for
// anything else and for what is empty.
func split(raw json.RawMessage) (members []member, isObject bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	token, err := dec.Token()
	if err != nil || token != json.Delim('{') && token != json.Delim('[') {
		return nil, false
	}
	isObject = token == json.Delim('{')
	for dec.More() {
		var m member
		if isObject {
			key, err := dec.Token()
			if err != nil {
				return nil, false
			}
			m.name, _ = key.(string)
		}
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		members = append(members, m)
	}
	return members, isObject
}

// line writes a value on one line, with digests and cursors cut: they say
// nothing to a reader.
func line(raw json.RawMessage) string {
	members, isObject := split(raw)
	if members == nil {
		return scalar(raw)
	}
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = line(m.value)
		if isObject {
			parts[i] = m.name + ": " + parts[i]
		}
	}
	if isObject {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func scalar(raw json.RawMessage) string {
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	if len(text) >= 64 && !strings.ContainsAny(text, " /") {
		return text[:12] + "..."
	}
	if text == "" {
		return `""`
	}
	return text
}
