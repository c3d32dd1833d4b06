package normalize

import "context"

// A Ref is a variable or prompt that a record refers to.
type Ref struct {
	// Name is what [Vars] are asked for; that of a prompt begins with "input:".
	Name string
	// Field is where the reference stands, such as "env.TOKEN" or "args[2]".
	Field string
	// Windows is set for the spelling %NAME%, a reference only where the target
	// is Windows.
	Windows bool
}

// Refs says what [Server.Expand] could ask for, without asking: each name once
// for each field, defaults included, in the order in which Expand goes. Left
// out are names that the surroundings of the launch answer, and bare $NAME, of
// which only the existence is ever looked at. A record that cannot run has no
// references; one that passes a bound of Expand has those up to there.
func (s *Server) Refs() []Ref {
	if s.Err != nil {
		return nil
	}
	var refs []Ref
	seen := make(map[Ref]bool)
	f := newFields(context.Background(), s, nil, &ExpandOptions{GOOS: "windows", Home: "/"})
	f.scope.dry = func(r Ref) {
		if !seen[r] {
			seen[r] = true
			refs = append(refs, r)
		}
	}
	f.launch()
	if s.Equivalent != nil {
		for _, r := range s.Equivalent.Refs() {
			r.Field = "equivalent." + r.Field
			refs = append(refs, r)
		}
	}
	return refs
}
