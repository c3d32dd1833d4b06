package normalize

import (
	"maps"
	"slices"
)

// duplicates notes records that have the name of an earlier one.
func (r *reader) duplicates() {
	byName := map[string][]int{}
	for i := range r.paste.Servers {
		s := &r.paste.Servers[i]
		earlier := byName[s.Name]
		byName[s.Name] = append(earlier, i)
		for _, j := range earlier {
			if o := &r.paste.Servers[j]; o.Scope != s.Scope {
				addNote(o, DuplicateAcrossScopes)
				addNote(s, DuplicateAcrossScopes)
			}
		}
		r.sameScope(s, earlier)
	}
}

func (r *reader) sameScope(s *Server, earlier []int) {
	same, other := false, false
	for _, j := range earlier {
		o := &r.paste.Servers[j]
		if o.Scope != s.Scope || o.Choice != s.Choice {
			continue
		}
		if sameContent(o, s) {
			same = true
		} else {
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
