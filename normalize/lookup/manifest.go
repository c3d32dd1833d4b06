package lookup

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// packageJSON reads what a repository builds for npm. A package is taken for a
// server if it claims a name of the registry, or uses a library for servers or
// says "mcp" of itself, and has one program to run.
func (s *session) packageJSON(f repositoryFile, source, text string) {
	var file struct {
		Name         string                     `json:"name"`
		MCPName      string                     `json:"mcpName"`
		Private      bool                       `json:"private"`
		Bin          json.RawMessage            `json:"bin"`
		Keywords     []string                   `json:"keywords"`
		Dependencies map[string]json.RawMessage `json:"dependencies"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		s.note(f.path, source, "cannot be read as the file of a package")
		return
	}
	if registryName.MatchString(file.MCPName) && s.aboutAnother(f.path, source, file.MCPName) {
		return
	}
	uses := slices.Clone(file.Keywords)
	for name := range file.Dependencies {
		uses = append(uses, name)
	}
	p := built{kind: kindNPM, name: file.Name, programs: npmPrograms(file.Name, file.Bin), uses: uses, claimed: file.MCPName != ""}
	if file.Private {
		p.hindrance = "the package is private"
	}
	s.takeBuilt(f, source, p)
}

// npmPrograms lists the programs of a package: a map, or one text for a program
// with the name of the package.
func npmPrograms(name string, bin json.RawMessage) []string {
	var one string
	if json.Unmarshal(bin, &one) == nil && one != "" {
		return []string{unscoped(name)}
	}
	var many map[string]string
	if json.Unmarshal(bin, &many) != nil {
		return nil
	}
	var out []string
	for program := range many {
		out = append(out, program)
	}
	slices.Sort(out) // a map has no order, and the evidence should
	return out
}

// unscoped is the name that npm gives the program of a package with a scope.
func unscoped(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// pyproject reads what a repository builds for PyPI.
func (s *session) pyproject(f repositoryFile, source, text string) {
	root, _, err := syntax.TOML(text)
	if err != nil {
		s.note(f.path, source, "cannot be read as TOML")
		return
	}
	project := root.Get("project")
	if !project.IsObject() {
		project = root.Get("tool").Get("poetry")
	}
	p := built{kind: kindPyPI}
	if name := project.Get("name"); name.Scalar() {
		p.name = name.Text
	}
	if scripts := project.Get("scripts"); scripts.IsObject() {
		for _, m := range scripts.Members {
			p.programs = append(p.programs, m.Name)
		}
	}
	switch needs := project.Get("dependencies"); {
	case needs.IsObject():
		for _, m := range needs.Members {
			p.uses = append(p.uses, m.Name)
		}
	case needs != nil:
		for _, item := range needs.Items {
			name := strings.FieldsFunc(item.Text, func(r rune) bool { return strings.ContainsRune(" [<>=!~;@(", r) })
			if len(name) > 0 {
				p.uses = append(p.uses, name[0])
			}
		}
	}
	s.takeBuilt(f, source, p)
}

// built is a package that a repository builds.
type built struct {
	kind, name string
	programs   []string
	uses       []string // libraries and keywords
	claimed    bool     // it claims a name of the registry
	hindrance  string   // why it cannot be run from its ecosystem
}

// saysMCP finds the protocol's name as a word of its own, or the library that
// is named after it.
var saysMCP = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:fast)?mcp(?:$|[^a-z])|modelcontextprotocol`)

// words gives the command line that runs the package, or why there is none. The
// name goes into a command line, so it has to be a package's name to the letter.
func (p *built) words() (line, why string) {
	mentions := append(slices.Clone(p.uses), p.name)
	switch {
	case !packageText.MatchString(p.name):
		return "", "names no package"
	case p.hindrance != "":
		return "", p.hindrance
	case len(p.programs) == 0:
		return "", "the package " + clip(p.name) + " has no program"
	case !p.claimed && !slices.ContainsFunc(mentions, saysMCP.MatchString):
		return "", "nothing says that the package " + clip(p.name) + " is an MCP server"
	case len(p.programs) > 1 && !slices.Contains(p.programs, unscoped(p.name)):
		return "", "the package " + clip(p.name) + " has several programs: " + clip(listed(p.programs))
	}
	if p.kind == kindNPM {
		return "npx -y " + p.name, ""
	}
	// uvx runs the program with the package's name, whatever others there are.
	if slices.Contains(p.programs, p.name) {
		return "uvx " + p.name, ""
	}
	if !packageText.MatchString(p.programs[0]) {
		return "", "the package " + clip(p.name) + " has no program that can be named"
	}
	return "uvx --from " + p.name + " " + p.programs[0], ""
}

// takeBuilt makes a package that can be run a candidate.
func (s *session) takeBuilt(f repositoryFile, source string, p built) {
	if packageText.MatchString(p.name) && p.hindrance == "" {
		s.repo.packages = append(s.repo.packages, target{kind: p.kind, id: barePackage(p.kind, p.name)})
	}
	line, why := p.words()
	if why != "" {
		s.note(f.path, source, why)
		return
	}
	if paste := s.parse(f.path, source, line); paste != nil {
		s.takeAll(paste.Servers, candidate{source: f.path, derived: true}, source, nil)
	}
	s.note("package", p.kind+":"+p.name, "is named by the repository that builds it, and whether it is published was not asked")
}
