package normalize

import (
	"maps"
	"slices"
)

// duplicates notes records that have the name of an earlier one.
func (r *reader) duplicates() {
	servers := r.paste.Servers
	last := make(map[string]int, len(servers)) // the latest record of a name
	earlier := make([]int, len(servers))       // the one before it, or -1
	for i := range servers {
		s := &servers[i]
		j, ok := last[s.Name]
		if !ok {
			j = -1
		}
		earlier[i], last[s.Name] = j, i
		same, other := false, false
		for ; j >= 0; j = earlier[j] {
			o := &servers[j]
			switch {
			case o.Scope != s.Scope:
				addNote(o, DuplicateAcrossScopes)
				addNote(s, DuplicateAcrossScopes)
			case o.Choice != s.Choice:
			case sameContent(o, s):
				same = true
			default:
				other = true
			}
		}
		switch {
		case same:
			addNote(s, DuplicateSame)
		case other:
			addNote(s, DuplicateName)
		}
	}
}

func addNote(s *Server, code Code) {
	if !slices.ContainsFunc(s.Notes, func(n Note) bool { return n.Code == code }) {
		s.Notes = append(s.Notes, parseNote(code, ""))
	}
}

// sameContent tells whether two records of one name start or reach the same
// thing in the same way.
func sameContent(a, b *Server) bool {
	return a.Transport == b.Transport && a.Command == b.Command && slices.Equal(a.Args, b.Args) &&
		samePairs(a.Env, b.Env) && a.URL == b.URL && samePairs(a.Headers, b.Headers) &&
		a.Cwd == b.Cwd && a.EnvFile == b.EnvFile && a.Disabled == b.Disabled &&
		slices.Equal(a.EnvUnset, b.EnvUnset) && slices.Equal(a.EnvFrom, b.EnvFrom) &&
		slices.Equal(a.AllowTools, b.AllowTools) && slices.Equal(a.DenyTools, b.DenyTools) &&
		a.StartTimeout == b.StartTimeout && a.CallTimeout == b.CallTimeout && (a.Err == nil) == (b.Err == nil)
}

func samePairs(a, b []Pair) bool {
	return len(a) == len(b) && maps.Equal(pairMap(a), pairMap(b))
}

func pairMap(pairs []Pair) map[string]string {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		m[p.Name] = p.Value
	}
	return m
}
