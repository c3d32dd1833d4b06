package normalize

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// duplicates notes records that have the name of an earlier one.
func (r *reader) duplicates() {
	servers := r.paste.Servers
	last := make(map[string]int, len(servers))  // the latest record of a name
	earlier := make([]int, len(servers))        // the one before it, or -1
	contents := make(map[int][sha256.Size]byte) // of the records whose name is not alone
	for i := range servers {
		s := &servers[i]
		j, ok := last[s.Name]
		if !ok {
			j = -1
		}
		earlier[i], last[s.Name] = j, i
		for _, k := range []int{i, j} {
			if _, known := contents[k]; j >= 0 && !known {
				contents[k] = contentOf(&servers[k])
			}
		}
		same, other := false, false
		for ; j >= 0; j = earlier[j] {
			o := &servers[j]
			switch {
			case o.Scope != s.Scope:
				addNote(o, DuplicateAcrossScopes)
				addNote(s, DuplicateAcrossScopes)
			case o.Choice != s.Choice:
			case contents[j] == contents[i]:
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

// contentOf sums up what a record starts or reaches, and how: two records do the
// same where it is equal. It is made once for each record, since many may have
// one name.
func contentOf(s *Server) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %v %q %q %q %q %d %d %v",
		s.Transport, s.Command, s.Args, sortedPairs(s.Env), s.URL, sortedPairs(s.Headers), s.Cwd, s.EnvFile, s.Disabled,
		s.EnvUnset, s.EnvFrom, s.AllowTools, s.DenyTools, s.StartTimeout, s.CallTimeout, s.Err == nil))
}

// sortedPairs gives pairs in the order of their names, which no process and no
// request cares for.
func sortedPairs(pairs []Pair) []Pair {
	return slices.SortedFunc(slices.Values(pairs), func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
}
