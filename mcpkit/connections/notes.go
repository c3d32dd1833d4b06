package connections

import (
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// openNotes returns the notes of a lifted record without those that warn of a secret
// in clear where a reference stands by now. before is the record that was lifted.
func openNotes(before, lifted *normalize.Server) []normalize.Note {
	out := make([]normalize.Note, 0, len(lifted.Notes))
	for i, n := range lifted.Notes {
		place := before.Notes[i] // the subject may have been lifted, too
		if noted(before, &place) == noted(lifted, &place) {
			out = append(out, n)
		}
	}
	return out
}

// noted returns what stands at the place of a secret that a note is about, in a
// record and in its simpler form; "" for any other note.
func noted(s *normalize.Server, n *normalize.Note) string {
	text := ""
	switch n.Code {
	case normalize.SecretInline:
		text = fieldText(s, n.Subject)
	case normalize.SecretInURL:
		text = addressPart(s.URL, n.Subject)
	default:
		return ""
	}
	if s.Equivalent != nil {
		text += "\n" + noted(s.Equivalent, n)
	}
	return text
}

// fieldText returns the text of a field, by its name in notes.
func fieldText(s *normalize.Server, field string) string {
	kind, name, _ := strings.Cut(field, ".")
	switch kind {
	case "env":
		return pairText(s.Env, name)
	case "headers":
		return pairText(s.Headers, name)
	case "oauth":
		if s.OAuth != nil {
			return s.OAuth.ClientSecret
		}
	}
	return ""
}

// pairText returns the value under a name.
func pairText(list []normalize.Pair, name string) string {
	if i := slices.IndexFunc(list, func(p normalize.Pair) bool { return p.Name == name }); i >= 0 {
		return list[i].Value
	}
	return ""
}

// addressPart returns what stands before the host of an address for "userinfo", or
// else the parameters of that name.
func addressPart(address, part string) string {
	_, rest, _ := strings.Cut(address, "://")
	authority, query := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, query = rest[:i], rest[i:]
	}
	if part == "userinfo" {
		return authority[:strings.LastIndexByte(authority, '@')+1]
	}
	var values []string
	for param := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune("?&#", r) }) {
		if name, value, _ := strings.Cut(param, "="); name == part {
			values = append(values, value)
		}
	}
	return strings.Join(values, "\n")
}
