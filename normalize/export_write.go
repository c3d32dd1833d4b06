package normalize

import (
	"bytes"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// writeJSON writes a document with an indent of two spaces. Lists of plain
// values stay on one line.
func writeJSON(n *syntax.Node) []byte {
	var b bytes.Buffer
	jsonValue(&b, n, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

// jsonValue writes a value whose lines begin with nl.
func jsonValue(b *bytes.Buffer, n *syntax.Node, nl string) {
	switch {
	case n.Kind == syntax.Object && len(n.Members) > 0:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(nl + "  ")
			quote(b, m.Name)
			b.WriteString(": ")
			jsonValue(b, m.Value, nl+"  ")
		}
		b.WriteString(nl + "}")
	case n.Kind == syntax.Array && !plainList(n):
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(nl + "  ")
			jsonValue(b, item, nl+"  ")
		}
		b.WriteString(nl + "]")
	default:
		inline(b, n)
	}
}

// plainList reports whether a list holds nothing that takes several lines.
func plainList(n *syntax.Node) bool {
	for _, item := range n.Items {
		if !item.Scalar() && item.Kind != syntax.Null {
			return false
		}
	}
	return true
}

// inline writes a value on one line, which JSON and YAML read alike.
func inline(b *bytes.Buffer, n *syntax.Node) {
	switch n.Kind {
	case syntax.String:
		quote(b, n.Text)
	case syntax.Bool, syntax.Number:
		b.Write(n.AppendJSON(nil))
	case syntax.Array:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			inline(b, item)
		}
		b.WriteByte(']')
	case syntax.Object:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			quote(b, m.Name)
			b.WriteString(": ")
			inline(b, m.Value)
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

// quote writes a string between double quotes, in a spelling that means the
// same in JSON, YAML and TOML.
func quote(b *bytes.Buffer, s string) {
	const hex = "0123456789abcdef"
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ', 0x7f <= r && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&15])
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

// writeYAML writes a document in block style.
func writeYAML(n *syntax.Node) []byte {
	var b bytes.Buffer
	yamlMembers(&b, n, "")
	if b.Len() == 0 {
		b.WriteString("{}\n")
	}
	return b.Bytes()
}

func yamlMembers(b *bytes.Buffer, n *syntax.Node, indent string) {
	for i, m := range n.Members {
		if i > 0 {
			b.WriteString(indent)
		}
		if len(m.Name) > 200 { // a key on the line of its value has a bound
			b.WriteString("? ")
			quote(b, m.Name)
			b.WriteString("\n" + indent)
		} else {
			yamlText(b, m.Name)
		}
		b.WriteByte(':')
		yamlValue(b, m.Value, indent)
	}
}

// yamlValue writes what follows a key or the sign of an item.
func yamlValue(b *bytes.Buffer, n *syntax.Node, indent string) {
	switch {
	case n.Kind == syntax.Object && len(n.Members) > 0:
		b.WriteString("\n" + indent + "  ")
		yamlMembers(b, n, indent+"  ")
	case n.Kind == syntax.Array && len(n.Items) > 0:
		b.WriteByte('\n')
		for _, item := range n.Items {
			b.WriteString(indent + "  -")
			if item.Kind == syntax.Object && len(item.Members) > 0 {
				b.WriteByte(' ')
				yamlMembers(b, item, indent+"    ")
			} else {
				yamlValue(b, item, indent+"    ")
			}
		}
	case n.Kind == syntax.String:
		b.WriteByte(' ')
		yamlText(b, n.Text)
		b.WriteByte('\n')
	default:
		b.WriteByte(' ')
		inline(b, n)
		b.WriteByte('\n')
	}
}

// yamlText writes a string, without quotes where no reader of any version of
// YAML could take it for something else.
func yamlText(b *bytes.Buffer, s string) {
	plain := s != "" && len(s) <= 64 && isNameStart(s[0])
	for i := 0; plain && i < len(s); i++ {
		c := s[i]
		plain = isNameStart(c) || c-'0' <= 9 || strings.IndexByte("-./", c) >= 0
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		plain = false
	}
	if plain {
		b.WriteString(s)
	} else {
		quote(b, s)
	}
}

// writeTOML writes a document: of each table first what fits on a line, then
// the tables in it.
func writeTOML(n *syntax.Node) []byte {
	var b bytes.Buffer
	tomlTable(&b, n, "")
	return b.Bytes()
}

func tomlTable(b *bytes.Buffer, n *syntax.Node, path string) {
	for _, m := range n.Members {
		if m.Value.Kind == syntax.Null || isTOMLTable(m.Value) {
			continue // TOML has no null
		}
		tomlKey(b, m.Name)
		b.WriteString(" = ")
		tomlInline(b, m.Value)
		b.WriteByte('\n')
	}
	for _, m := range n.Members {
		if !isTOMLTable(m.Value) {
			continue
		}
		var key bytes.Buffer
		tomlKey(&key, m.Name)
		inner := path + key.String()
		if m.Value.Kind == syntax.Object {
			tomlHeader(b, "["+inner+"]", m.Value)
			tomlTable(b, m.Value, inner+".")
			continue
		}
		for _, item := range m.Value.Items {
			tomlHeader(b, "[["+inner+"]]", nil)
			tomlTable(b, item, inner+".")
		}
	}
}

// tomlHeader starts a table. One that holds nothing but tables needs no line of
// its own.
func tomlHeader(b *bytes.Buffer, header string, n *syntax.Node) {
	if n != nil && len(n.Members) > 0 {
		only := true
		for _, m := range n.Members {
			only = only && isTOMLTable(m.Value)
		}
		if only {
			return
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(header + "\n")
}

// isTOMLTable reports whether a value is written under headers of its own.
func isTOMLTable(n *syntax.Node) bool {
	if n.Kind != syntax.Array {
		return n.Kind == syntax.Object
	}
	for _, item := range n.Items {
		if item.Kind != syntax.Object {
			return false
		}
	}
	return len(n.Items) > 0
}

func tomlKey(b *bytes.Buffer, s string) {
	bare := s != ""
	for i := 0; bare && i < len(s); i++ {
		bare = isNameStart(s[i]) || s[i]-'0' <= 9 || s[i] == '-'
	}
	if bare {
		b.WriteString(s)
	} else {
		quote(b, s)
	}
}

func tomlInline(b *bytes.Buffer, n *syntax.Node) {
	switch n.Kind {
	case syntax.Array:
		b.WriteByte('[')
		first := true
		for _, item := range n.Items {
			if item.Kind == syntax.Null {
				continue
			}
			if !first {
				b.WriteString(", ")
			}
			first = false
			tomlInline(b, item)
		}
		b.WriteByte(']')
	case syntax.Object:
		b.WriteByte('{')
		first := true
		for _, m := range n.Members {
			if m.Value.Kind == syntax.Null {
				continue
			}
			if !first {
				b.WriteString(", ")
			}
			first = false
			tomlKey(b, m.Name)
			b.WriteString(" = ")
			tomlInline(b, m.Value)
		}
		b.WriteByte('}')
	default:
		inline(b, n)
	}
}
