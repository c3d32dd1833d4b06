package lookup

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// attribution goes with everything that comes from Glama, whose terms ask for
// it.
const attribution = "data from the Glama MCP directory, https://glama.ai/mcp/servers"

// A glamaServer is a server of Glama's directory.
type glamaServer struct {
	Namespace  string `json:"namespace"`
	Slug       string `json:"slug"`
	Repository *struct {
		URL string `json:"url"`
	} `json:"repository"`
	Env *struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	} `json:"environmentVariablesJsonSchema"`
}

// followGlama turns a page of Glama into the repository that it is about.
func (s *session) followGlama(ctx context.Context) {
	address := s.r.glama + "/v1/servers" + escaped([]string{s.ref.owner, s.ref.repo})
	a, ok := s.ask(ctx, stepGlama, address, "has no such page")
	if !ok {
		return
	}
	var server glamaServer
	if err := json.Unmarshal(a.body, &server); err != nil {
		s.unreadable(stepGlama, address, err)
		return
	}
	if server.Repository != nil {
		if ref, err := parseReference(server.Repository.URL); err == nil && ref.kind == refGitHub {
			s.note(stepGlama, address, "is about "+ref.String()+"; "+attribution)
			s.ref = ref
			return
		}
	}
	s.note(stepGlama, address, "names no repository on GitHub; "+attribution)
}

// glamaNames asks Glama which variables a server needs, where nothing else said
// so. It gives names and never values, and only those that are required are
// taken: a reference that nobody resolves would reach the server as text.
func (s *session) glamaNames(ctx context.Context, server *normalize.Server) {
	ref := s.repo.ref
	if server.Transport != normalize.Stdio || ref.repo == "" || hasVariables(server) {
		return
	}
	address := s.r.glama + "/v1/servers?" + url.Values{"query": {ref.repo}, "first": {"20"}}.Encode()
	a, ok := s.ask(ctx, stepGlama, address, "has no list of servers there")
	if !ok {
		return
	}
	var list struct {
		Servers []glamaServer `json:"servers"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		s.note(stepGlama, address, "the answer cannot be read")
		return
	}
	var mine []glamaServer
	for _, g := range list.Servers {
		if g.isAbout(ref) {
			mine = append(mine, g)
		}
	}
	// Two servers of one repository may need different variables.
	if len(mine) != 1 || mine[0].Env == nil {
		s.note(stepGlama, address, "names no variables for the repository; "+attribution)
		return
	}
	s.addNames(address, server, mine[0])
}

// isAbout tells whether a server of the directory has this repository. Names are
// not enough: the directory has many servers of one name.
func (g *glamaServer) isAbout(r reference) bool {
	if g.Repository == nil {
		return false
	}
	ref, err := parseReference(g.Repository.URL)
	return err == nil && ref.kind == refGitHub && ref.sameRepository(r)
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// maxNames bounds the variables that are taken from Glama.
const maxNames = 50

// addNames adds references to the required variables, and writes the others
// down.
func (s *session) addNames(address string, server *normalize.Server, g glamaServer) {
	var added, optional, refused []string
	required := make(map[string]bool)
	for _, name := range g.Env.Required {
		switch {
		case required[name]:
		case !envName.MatchString(name) || isDangerous(name) || len(added) == maxNames:
			refused = append(refused, clip(name))
		default:
			added = append(added, name)
			server.Env = append(server.Env, normalize.Pair{Name: name, Value: "${" + name + "}"})
			passToContainer(server, name)
		}
		required[name] = true
	}
	for name := range g.Env.Properties {
		if envName.MatchString(name) && !required[name] {
			optional = append(optional, name)
		}
	}
	slices.Sort(optional)
	outcome := "requires no variables"
	if len(added) > 0 {
		outcome = "requires " + listed(added)
	}
	if len(optional) > 0 {
		outcome += "; knows " + listed(optional)
	}
	if len(refused) > 0 {
		outcome += "; not taken: " + listed(refused)
	}
	s.note(stepGlama, address, outcome+"; "+attribution)
}

// passToContainer names a variable on the command line of a container, which
// sees no other.
func passToContainer(server *normalize.Server, name string) {
	i := slices.Index(server.Args, server.Image)
	if server.Image == "" || i < 0 {
		return
	}
	server.Args = slices.Insert(slices.Clone(server.Args), i, "-e", name)
}
