package lookup

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// namedPackage looks a package up. The reference itself says how it is run; the
// registry may know what else it needs.
func (s *session) namedPackage(ctx context.Context) {
	id := bareID(s.ref.eco, s.ref.name)
	holds := func(e *entry) bool { return e.hasPackage(s.ref.eco, id) }
	for _, e := range s.searchRegistry(ctx, lastWord(id), "hold the package", holds) {
		s.takeEntry(e, func(t target) bool { return t.kind == s.ref.eco && t.id == id })
	}
	if len(s.found) > 0 {
		s.pin()
		return
	}
	s.note("package", s.ref.String(), "is run as it is named, and whether it exists was not asked")
	s.take("package", s.ref.String(), packageLine(s.ref), nil)
}

// lastWord is the part of a package's name that a name of the registry is
// likely to have.
func lastWord(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// packageLine is the usual command line of a package.
func packageLine(r reference) string {
	switch r.eco {
	case kindPyPI:
		return "uvx " + r.versioned()
	case kindOCI:
		return "docker run -i --rm " + r.name
	case kindNuGet:
		return "dnx " + r.versioned() + " --yes"
	}
	return "npx -y " + r.versioned()
}

// pin puts the version, tag or digest of the reference in place of the
// registry's.
func (s *session) pin() {
	wanted := s.ref.versioned()
	if s.ref.version == "" && (s.ref.eco != kindOCI || bareImage(wanted) == wanted) {
		return
	}
	for i := range s.found {
		server := &s.found[i].server
		for j, arg := range server.Args {
			if bareID(s.ref.eco, arg) == s.found[i].target.id && !strings.HasPrefix(arg, "-") {
				server.Args = slices.Clone(server.Args)
				server.Args[j] = wanted
				break
			}
		}
		if server.Image != "" {
			server.Image = wanted
		}
	}
}

// barePackage looks up a name that may be a package of several ecosystems. Only
// the registry can tell which; a guess could run a stranger's package of the
// same name.
func (s *session) barePackage(ctx context.Context) {
	entries := s.searchRegistry(ctx, lastWord(s.ref.name), mayBe, anyEntry)
	for _, kind := range []string{kindNPM, kindPyPI, kindNuGet} {
		id := bareID(kind, s.ref.name)
		for _, e := range entries {
			if e.hasPackage(kind, id) {
				s.takeEntry(e, func(t target) bool { return t.kind == kind && t.id == id })
			}
		}
	}
	if owner, name, ok := strings.Cut(strings.TrimPrefix(s.ref.name, "@"), "/"); ok {
		s.smitheryEntries(entries, owner, name)
	}
	if len(s.found) == 0 {
		s.offer(entries)
		return
	}
	var ways []string
	for _, c := range s.found {
		ways = appendNew(ways, c.target.String())
	}
	if len(ways) > 1 {
		s.several = ambiguous(ways...)
		return
	}
	s.ref.eco = s.found[0].target.kind
	s.pin()
}

// mayBe is what a search for a name that may mean several things finds.
const mayBe = "may be meant"

// anyEntry lets all entries pass, where a person has to choose.
func anyEntry(*entry) bool { return true }

// offer writes down what a reference may mean, for a person to choose from.
func (s *session) offer(entries []*entry) {
	var may []string
	for _, e := range entries {
		may = appendNew(may, clip(e.Name))
	}
	if s.ref.kind == refBare {
		for _, eco := range []string{kindNPM, kindPyPI} {
			if eco == kindNPM || !strings.Contains(s.ref.name, "/") {
				may = append(may, eco+":"+s.ref.versioned())
			}
		}
		if strings.HasPrefix(s.ref.name, "@") && s.ref.version == "" {
			may = append(may, "smithery:"+s.ref.name)
		}
	}
	if len(may) == 0 {
		return
	}
	s.offered = ambiguous(may...)
	s.note(stepDecision, stepRegistry, s.offered.Message)
}

// maxWord is the length of a word of a description that is searched for.
const maxWord = 20

// search asks the registry for the longest words of a description. What it
// finds is a choice for a person and never taken.
func (s *session) search(ctx context.Context) {
	// Only plain words leave the machine: a description can hold anything.
	words := slices.DeleteFunc(telling(s.told()), func(w string) bool {
		return len(w) > maxWord || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
	})
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	var entries []*entry
	for _, word := range words[:min(2, len(words))] {
		entries = append(entries, s.searchRegistry(ctx, word, mayBe, anyEntry)...)
	}
	s.offer(entries)
}

// smithery looks a server of Smithery up in the registry. Where that does not
// know it, the program of Smithery runs it by its name.
func (s *session) smithery(ctx context.Context) {
	s.smitheryEntries(s.searchRegistry(ctx, s.ref.repo, mayBe, anyEntry), s.ref.owner, s.ref.repo)
	if len(s.found) > 0 {
		return
	}
	line := "npx -y @smithery/cli@latest run @" + s.ref.owner + "/" + s.ref.repo
	s.note("smithery", s.ref.String(), "is run by Smithery's own program, and whether it exists was not asked")
	s.take("smithery", s.ref.String(), line, nil)
	for i := range s.found {
		s.found[i].server.Name = s.ref.repo
	}
}

// smitheryEntries takes the entries that are served from Smithery's own host
// under this name.
func (s *session) smitheryEntries(entries []*entry, owner, name string) {
	want := "/@" + owner + "/" + name
	served := func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && strings.EqualFold(u.Hostname(), "server.smithery.ai") &&
			(strings.EqualFold(u.Path, want) || strings.HasPrefix(strings.ToLower(u.Path), strings.ToLower(want)+"/"))
	}
	for _, e := range entries {
		if slices.ContainsFunc(e.Remotes, func(r entryRemote) bool { return served(r.URL) }) {
			s.takeEntry(e, func(t target) bool { return t.kind == kindRemote && served(t.id) })
		}
	}
}

// hasVariables tells whether a source already named variables for a record.
func hasVariables(server *normalize.Server) bool { return len(server.Env)+len(server.EnvFrom) > 0 }
