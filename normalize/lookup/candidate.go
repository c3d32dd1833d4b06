package lookup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// A candidate is one way to run a server that one source gives. What two
// candidates have in common is told by their targets, never by their names: a
// README and the registry rarely call a server the same.
type candidate struct {
	source string           // the step that gave it
	server normalize.Server // without values that a stranger should not give
	target target           // what it runs, without the version
	opened []string         // the names that stand in place of values
	// derived is set where the source only names the package, and the command
	// line is the usual one for such a package.
	derived bool
}

// take parses the text of a source as any paste is parsed and keeps the records
// that can be run elsewhere than in a working copy and that keep lets pass; nil
// lets all pass.
func (s *session) take(step, source, text string, keep func(target) bool) {
	// The step is the file's name, which names a server that nothing else names.
	// There is no ReadFile: a stranger's text must not choose what is read here.
	paste, err := normalize.Parse([]byte(text), &normalize.ParseOptions{Name: step})
	if err != nil {
		s.note(step, source, "cannot be read: "+clip(err.Error()))
		return
	}
	var kept, left []string
	for _, server := range paste.Servers {
		c := candidate{source: step, server: server, target: targetOf(&server)}
		if why := unusable(&c, keep); why != "" {
			left = appendNew(left, why)
			continue
		}
		c.opened = noValues(&c.server)
		s.found = append(s.found, c)
		kept = appendNew(kept, c.target.String())
	}
	s.note(step, source, outcome(kept, left))
}

// outcome words what a text gave.
func outcome(kept, left []string) string {
	switch {
	case len(kept) == 0 && len(left) == 0:
		return "declares no server"
	case len(kept) == 0:
		return "nothing to take: " + listed(left)
	case len(left) == 0:
		return "gives " + listed(kept)
	}
	return "gives " + listed(kept) + "; left out: " + listed(left)
}

// unusable says why a record cannot be taken, or "". A program of a working copy
// is what developers of a server run; here, the same words would run whatever
// lies in the folder that the caller happens to be in.
func unusable(c *candidate, keep func(target) bool) string {
	switch {
	case c.server.Err != nil:
		return clip(c.server.Err.Message)
	case c.target.kind == kindLocal:
		return "a program of a working copy"
	case c.target.kind != kindRemote && strings.ContainsAny(c.target.spec, "${}<>"):
		return c.target.kind + " with a placeholder for the name or the version"
	case slices.ContainsFunc(c.server.Notes, func(n normalize.Note) bool { return n.Code == normalize.Placeholder && n.Subject == "url" }):
		return "an address to be filled in"
	case keep != nil && !keep(c.target):
		return c.target.String() + ", which nothing ties to the reference"
	}
	return ""
}

// noValues puts references in place of the values that a stranger's text should
// not give: secrets in clear, values still to be filled in, and what an entry of
// the registry says beside a name, which becomes the default.
func noValues(server *normalize.Server) (opened []string) {
	server.Notes = slices.DeleteFunc(server.Notes, func(n normalize.Note) bool {
		return n.Code == normalize.DuplicateName || n.Code == normalize.DuplicateSame // of a text that stays behind
	})
	opened = openArgs(server)
	for i := range server.Env {
		v := &server.Env[i]
		if open := dropNote(server, "env."+v.Name); open {
			v.Value = "${" + v.Name + "}"
			opened = appendNew(opened, v.Name)
		} else if server.Dialect == normalize.RegistryServer && !strings.ContainsAny(v.Value, "${}") && v.Value != "" {
			v.Value = "${" + v.Name + ":-" + v.Value + "}"
		}
	}
	for i := range server.Headers {
		v := &server.Headers[i]
		if open := dropNote(server, "headers."+v.Name); open {
			scheme, _, ok := strings.Cut(v.Value, " ") // such as "Bearer"
			name := strings.ToUpper(strings.ReplaceAll(v.Name, "-", "_"))
			if v.Value = "${" + name + "}"; ok {
				v.Value = scheme + " " + v.Value
			}
			opened = appendNew(opened, name)
		}
	}
	return opened
}

// openArgs moves secrets and values to be filled in from the command line of a
// container, where the normalizer does not look for them, to its variables.
func openArgs(server *normalize.Server) (opened []string) {
	if server.Image == "" {
		return nil
	}
	server.Args = slices.Clone(server.Args)
	for i := range server.Args {
		value, joined := strings.CutPrefix(server.Args[i], "--env=")
		if !joined && (i == 0 || server.Args[i-1] != "-e" && server.Args[i-1] != "--env") {
			continue
		}
		name, value, ok := strings.Cut(value, "=")
		if !ok || !envName.MatchString(name) || !hasNote(name, value, normalize.SecretInline, normalize.Placeholder) {
			continue
		}
		server.Args[i] = name
		if joined {
			server.Args[i] = "--env=" + name
		}
		dropNote(server, fmt.Sprintf("args[%d]", i))
		server.Env = append(server.Env, normalize.Pair{Name: name, Value: "${" + name + "}"})
		opened = appendNew(opened, name)
	}
	return opened
}

// hasNote asks the normalizer what it says of a variable, so that there is one
// opinion on what a secret or a danger is. What it cannot read counts as noted.
func hasNote(name, value string, codes ...normalize.Code) bool {
	text, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		return true
	}
	paste, err := normalize.Parse(fmt.Appendf(nil, `{"mcpServers":{"x":{"command":"x","env":%s}}}`, text), nil)
	if err != nil || len(paste.Servers) != 1 {
		return true
	}
	return slices.ContainsFunc(paste.Servers[0].Notes, func(n normalize.Note) bool { return slices.Contains(codes, n.Code) })
}

// dropNote drops the notes on a value that is a secret in clear or has to be
// filled in, and reports whether there was one.
func dropNote(server *normalize.Server, field string) bool {
	n := len(server.Notes)
	server.Notes = slices.DeleteFunc(server.Notes, func(note normalize.Note) bool {
		return note.Subject == field && (note.Code == normalize.SecretInline || note.Code == normalize.Placeholder)
	})
	return len(server.Notes) < n
}

// decide chooses the one record. The first source of the chain that gives
// anything decides how the server is run; every later source that knows this
// kind of way has to name the same program or address.
func (s *session) decide() (*normalize.Server, *Error) {
	switch {
	case s.several != nil:
		s.note(stepDecision, stepRegistry, s.several.Message)
		return nil, s.several
	case len(s.found) == 0:
		return nil, s.nothing()
	}
	first := s.found[0].source
	kind := s.bestKind(first)
	var mine []candidate
	var others []string
	for _, c := range s.found {
		switch {
		case c.target.kind != kind:
			others = appendNew(others, c.target.String())
		case c.source == first:
			mine = append(mine, c)
		}
	}
	chosen, failure := plainest(mine)
	if failure != nil {
		s.note(stepDecision, first, failure.Message)
		return nil, failure
	}
	agreed, failure := s.compare(chosen)
	if failure != nil {
		s.note(stepDecision, first, failure.Message)
		return nil, failure
	}
	out := chosen.target.String()
	if chosen.derived {
		if chosen, failure = s.asShown(chosen); failure != nil {
			s.note(stepDecision, first, failure.Message)
			return nil, failure
		}
		if !chosen.derived {
			out += ", run as " + chosen.source + " shows"
		}
	}
	if len(agreed) > 0 {
		out += ", as " + listed(agreed) + " says too"
	}
	if len(others) > 0 {
		out += "; other ways not taken: " + listed(others)
	}
	s.note(stepDecision, first, out+openedNote(chosen.opened)+"; a claim until a probe agrees")
	return &chosen.server, nil
}

// asShown gives the record of the first source that shows how to run what the
// chosen one only names, or that one where there is none.
func (s *session) asShown(chosen candidate) (candidate, *Error) {
	var list []candidate
	for _, c := range s.found {
		same := c.target.kind == chosen.target.kind && c.target.id == chosen.target.id
		if same && !c.derived && (len(list) == 0 || list[0].source == c.source) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return chosen, nil
	}
	return plainest(list)
}

// openedNote says which values were not taken.
func openedNote(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; references in place of secrets or open values: " + clip(listed(names))
}

// nothing is the failure of a chain that found no way.
func (s *session) nothing() *Error {
	switch {
	case s.offered != nil:
		return s.offered
	case s.ref.kind == refAddress:
		return &Error{Code: CodeHostRefused, Message: "lookup asks GitHub, the registry and Glama only; paste the address of a server itself as a configuration"}
	}
	return &Error{Code: CodeNotFound, Message: "no source says how to run it; paste a configuration or name the package, as npm:NAME, pypi:NAME or oci:IMAGE"}
}

// bestKind gives the preferred kind among those that a source gives. Several
// kinds of one source are no contradiction: a publisher offers them for the
// same server, so a fixed order is a choice and no guess.
func (s *session) bestKind(source string) string {
	for _, kind := range preferred {
		for _, c := range s.found {
			if c.source == source && c.target.kind == kind {
				return kind
			}
		}
	}
	return ""
}

// plainest chooses among the records of one source and kind. They have to run
// the same thing; where they differ in arguments, the one that the others only
// add to stands for them, and among equals one without a bridge, then the one
// that names most values.
func plainest(list []candidate) (candidate, *Error) {
	best := list[0]
	for _, c := range list[1:] {
		if c.target.id != best.target.id {
			return best, ambiguous(best.target.String(), c.target.String())
		}
		if c.plainer(&best) {
			best = c
		}
	}
	for _, c := range list {
		if n := len(best.target.tail); !slices.Equal(c.target.tail[:n], best.target.tail) {
			return best, ambiguous(best.target.withTail(), c.target.withTail())
		}
	}
	return best, nil
}

// plainer tells whether a record of the same target is to be taken before
// another one.
func (c *candidate) plainer(than *candidate) bool {
	a, b := len(c.target.tail), len(than.target.tail)
	if a != b {
		return a < b
	}
	if bridged := than.server.Equivalent != nil; bridged != (c.server.Equivalent != nil) {
		return bridged // what can be reached directly needs no program between
	}
	return names(&c.server) > names(&than.server)
}

// withTail shows a target with its arguments.
func (t target) withTail() string { return clip(t.String() + " " + strings.Join(t.tail, " ")) }

// names counts the values that a record names, for a choice among equals.
func names(s *normalize.Server) int { return len(s.Env) + len(s.EnvFrom) + len(s.Headers) }

// ambiguous is the failure of a reference that may mean several things. All of
// them are in the message, each in a spelling that is a reference of its own or
// names what would be run.
func ambiguous(what ...string) *Error {
	return &Error{Code: CodeAmbiguous, Message: "it may be any of " + listed(what) + "; name the one that you mean"}
}

// compare holds the chosen record against every other source. Versions are not
// compared, since a registry and a repository are rarely at the same one, and
// neither are other kinds of ways, which say nothing about this one.
func (s *session) compare(chosen candidate) (agreed []string, failure *Error) {
	var against []candidate
	for _, c := range s.found {
		if c.source == chosen.source || c.target.kind != chosen.target.kind {
			continue
		}
		if c.target.id == chosen.target.id {
			agreed = appendNew(agreed, c.source)
		} else {
			against = append(against, c)
		}
	}
	for _, c := range against {
		// A source that names several servers, this one among them, agrees.
		if !slices.Contains(agreed, c.source) {
			return nil, &Error{Code: CodeDisagree, Message: fmt.Sprintf("%s says %s, but %s says %s; name the one that you mean",
				chosen.source, chosen.target, c.source, c.target)}
		}
	}
	return agreed, nil
}

// appendNew adds a text that the list does not have yet.
func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// maxListed is how many things one sentence lists.
const maxListed = 8

// listed joins texts for a message, and counts those that are too many for it.
func listed(list []string) string {
	if len(list) > maxListed {
		return strings.Join(list[:maxListed], ", ") + fmt.Sprintf(" and %d more", len(list)-maxListed)
	}
	return strings.Join(list, ", ")
}
