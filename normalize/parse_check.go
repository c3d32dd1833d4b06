package normalize

import (
	"slices"
	"strings"
)

// badName says whether no process takes a variable of that name.
func badName(name string) bool { return name == "" || strings.ContainsAny(name, "=\x00") }

// badHeader says whether no request can hold a header of that name or value. A
// reference in a name is text.
func badHeader(name, value string) bool {
	if name == "" || strings.Contains(name, ":") {
		return true
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] == 0x7f {
			return true
		}
	}
	return checkText("", "", value, true) != nil
}

// dropBadPairs drops the variables and headers that no process takes and no
// request can hold, each with a note.
func (e *draft) dropBadPairs() {
	drop := func(field string, bad func(name, value string) bool) func(named) bool {
		return func(v named) bool {
			if !bad(v.name, v.text) {
				return false
			}
			e.note(BadValue, fieldPath{field: field, name: clip(v.name)}.String(), v.off)
			e.s.Notes[len(e.s.Notes)-1].Dropped = v.name + "=" + v.text
			return true
		}
	}
	e.envAt, e.headerAt = places{}, places{}
	e.env = slices.DeleteFunc(e.env, drop("env", badVariable))
	e.headers = slices.DeleteFunc(e.headers, drop("headers", badHeader))
	names := func(field string, list []string) []string {
		return slices.DeleteFunc(list, func(name string) bool {
			if badName(name) {
				e.note(BadValue, fieldPath{field: field, name: clip(name)}.String(), e.off)
			}
			return badName(name)
		})
	}
	e.s.EnvFrom, e.s.EnvUnset = names("env_from", e.s.EnvFrom), names("env_unset", e.s.EnvUnset)
}

func badVariable(name, value string) bool {
	return badName(name) || checkText("", "", value, false) != nil
}

// checkValues makes a record one that cannot run where a field without which it
// would be another one cannot be passed on.
func (e *draft) checkValues() {
	if field := badField(&e.s); field != "" {
		e.fail(BadValue, field)
	}
}

// badField gives the first field of a record that no process or request can
// take, or "". Pairs have checks of their own.
func badField(s *Server) string {
	for _, f := range []struct{ field, text string }{
		{"command", s.Command}, {"cwd", s.Cwd}, {"env_file", s.EnvFile}, {"url", s.URL},
	} {
		if checkText(f.field, "", f.text, f.field == "url") != nil {
			return f.field
		}
	}
	for i, arg := range s.Args {
		if checkText("args", "", arg, false) != nil {
			return argField(i)
		}
	}
	return ""
}
