package lookup

import (
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
	if paste := s.parse(step, source, text); paste != nil {
		s.takeAll(paste.Servers, candidate{source: step}, source, keep)
	}
}

// maxText bounds a text that is read for servers. Reading cannot be stopped, so
// this is by how much a lookup may pass its time.
const maxText = 256 << 10

// parse reads the text of a source, or notes why it cannot be read.
func (s *session) parse(step, source, text string) *normalize.Paste {
	if len(text) > maxText {
		s.note(step, source, fmt.Sprintf("left out, since it has more than %d bytes", maxText))
		return nil
	}
	// The step is the file's name, which names a server that nothing else names.
	// There is no ReadFile: a stranger's text must not choose what is read here.
	paste, err := normalize.Parse([]byte(text), &normalize.ParseOptions{Name: step})
	if err != nil {
		s.note(step, source, "cannot be read: "+clip(err.Error()))
		return nil
	}
	return paste
}

// takeAll makes records candidates that are like another one but for the record.
func (s *session) takeAll(servers []normalize.Server, like candidate, source string, keep func(target) bool) {
	var kept, left []string
	for _, server := range servers {
		c := like
		c.server, c.target = server, targetOf(&server)
		if why := unusable(&c, keep); why != "" {
			left = appendNew(left, why)
			continue
		}
		c.opened = noValues(&c.server)
		if c.target.tail != nil { // which messages show
			c.target.tail = tailOf(&c.server)
		}
		s.found = append(s.found, c)
		kept = appendNew(kept, c.target.String())
	}
	s.note(like.source, source, outcome(kept, left))
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
	if why := refusal(&c.server, c.source == stepReference, c.derived); why != "" {
		return c.target.String() + " with " + why
	}
	return ""
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
