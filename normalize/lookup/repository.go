package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// A repository is what is known of the one that is read.
type repository struct {
	ref      reference
	branch   string // as in the reference; empty for the default one
	dir      []string
	files    []string // of the folder
	folders  []string
	names    []string // names of the registry that its files claim
	packages []target // packages that its files build
	foreign  bool     // its files are about another server than the reference
}

// A repositoryFile is a file that may say how a server is run.
type repositoryFile struct {
	path string
	read func(s *session, f repositoryFile, source string, text string)
}

// repositoryFiles are looked at in this order. The first that gives a record
// decides, so what was written for machines stands before the prose.
var repositoryFiles = [...]repositoryFile{
	{"server.json", (*session).serverJSON},
	{"package.json", (*session).packageJSON},
	{"pyproject.toml", (*session).pyproject},
	{"manifest.json", (*session).tied},
	{"smithery.yaml", (*session).tied},
	{"gemini-extension.json", (*session).tied},
	{".mcp.json", (*session).tied},
	{".vscode/mcp.json", (*session).tied},
	{".cursor/mcp.json", (*session).tied},
}

// gitHub looks a repository up: the registry first, then the repository itself,
// which has to agree with what the registry claims.
func (s *session) gitHub(ctx context.Context) {
	entries := s.repositoryEntries(ctx)
	if !s.readRepository(ctx, s.ref) {
		return // what the registry says of a folder that is not there is no answer
	}
	// A search finds names that hold the repository's; its files may claim others.
	for _, name := range s.repo.names {
		known := slices.ContainsFunc(entries, func(e *entry) bool { return e.Name == name })
		if known {
			continue
		}
		switch e := s.entryNamed(ctx, name, ""); {
		case e == nil:
		case e.namesRepository(s.ref):
			entries = append(entries, e)
		default:
			s.note(stepRegistry, e.source, "left out, since it is about another repository")
		}
	}
	// The registry was asked first, but could only be believed after its claims
	// were held against the files; its record still stands first.
	ofFiles := s.found
	s.found = nil
	s.takeOnly(s.confirmed(entries))
	s.found = append(s.found, ofFiles...)
}

// takeOnly takes the one entry of the repository. Several are several servers.
func (s *session) takeOnly(entries []*entry) {
	var list []string
	for _, e := range entries {
		list = append(list, clip(e.Name))
	}
	switch len(entries) {
	case 0:
	case 1:
		s.takeEntry(entries[0], nil)
	default:
		s.several = ambiguous(list...)
	}
}

// confirmed keeps the entries that belong to the repository. Anyone can publish
// an entry that claims a repository, so it has to be of its owner's namespace or
// be named by the repository.
func (s *session) confirmed(entries []*entry) []*entry {
	var mine []*entry
	var foreign, unnamed []string
	for _, e := range entries {
		namespace, _, _ := strings.Cut(e.Name, "/")
		owner, isGitHub := strings.CutPrefix(strings.ToLower(namespace), "io.github.")
		switch {
		case isGitHub && owner != strings.ToLower(s.ref.owner):
			foreign = append(foreign, clip(e.Name))
		case !isGitHub && !s.repo.vouches(e):
			unnamed = append(unnamed, clip(e.Name))
		default:
			mine = append(mine, e)
		}
	}
	if len(foreign) > 0 {
		s.note(stepRegistry, entries[0].source, "left out, since they claim the repository but belong to another owner: "+listed(foreign))
	}
	if len(unnamed) > 0 {
		s.note(stepRegistry, entries[0].source, "left out, since they claim the repository, which does not name them: "+listed(unnamed))
	}
	return s.narrowed(mine)
}

// vouches tells whether files of the repository name an entry, or build its
// package.
func (r *repository) vouches(e *entry) bool {
	return slices.Contains(r.names, e.Name) || slices.ContainsFunc(r.packages, func(t target) bool { return e.hasPackage(t.kind, t.id) })
}

// narrowed chooses, where a repository holds several servers, those of the
// folder that the reference names, and then those that the folder's files name.
func (s *session) narrowed(entries []*entry) []*entry {
	here := strings.Join(s.repo.dir, "/")
	for _, fits := range []func(*entry) bool{
		func(e *entry) bool { return here != "" && strings.Trim(e.Repository.Subfolder, "/") == here },
		func(e *entry) bool { return slices.Contains(s.repo.names, e.Name) },
	} {
		if slices.ContainsFunc(entries, fits) {
			entries = slices.DeleteFunc(entries, func(e *entry) bool { return !fits(e) })
		}
	}
	if here != "" {
		entries = slices.DeleteFunc(entries, func(e *entry) bool {
			sub := strings.Trim(e.Repository.Subfolder, "/")
			return sub != "" && sub != here
		})
	}
	return entries
}

// readRepository lists a folder of a repository and reads the files that may
// say how the server is run. It reports whether the folder could be read.
func (s *session) readRepository(ctx context.Context, ref reference) bool {
	s.repo = repository{ref: ref}
	if !s.listFolder(ctx) {
		return false
	}
	for _, f := range repositoryFiles {
		folder, _, nested := strings.Cut(f.path, "/")
		if nested && slices.Contains(s.repo.folders, folder) || slices.Contains(s.repo.files, f.path) {
			s.readFile(ctx, f, f.path)
		}
	}
	if name := s.readmeName(); name != "" {
		s.readFile(ctx, repositoryFile{"README", (*session).readme}, name)
	} else {
		s.note("README", s.folderURL(), "the folder has none")
	}
	return true
}

// readmeName finds the README, the one in the usual form and without a language
// in its name first.
func (s *session) readmeName() string {
	for _, want := range []string{"readme.md", "readme", "readme.markdown", "readme.rst", "readme.txt", "readme.en.md"} {
		for _, name := range s.repo.files {
			if strings.ToLower(name) == want {
				return name
			}
		}
	}
	return ""
}

// maxBranchParts is how many parts a branch with slashes may have.
const maxBranchParts = 4

// listFolder finds out which part of the reference's path is the branch, since
// a branch may have slashes, and lists the folder.
func (s *session) listFolder(ctx context.Context) bool {
	rest := s.repo.ref.rest
	for n := min(1, len(rest)); n <= min(len(rest), maxBranchParts); n++ {
		s.repo.branch, s.repo.dir = strings.Join(rest[:n], "/"), rest[n:]
		troubled := s.repoTrouble
		a, ok := s.ask(ctx, stepRepository, s.folderURL(), "not there: no such repository, branch or folder, or not a public one")
		switch {
		case ok:
			return s.readListing(a)
		case s.repoTrouble != troubled:
			return false
		}
		if len(rest) == 0 {
			break
		}
	}
	return false
}

// folderURL is the address of the folder's listing, which is also what evidence
// about the folder names. HEAD is the default branch, which needs no name.
func (s *session) folderURL() string {
	r := s.repo.ref
	address := s.r.api + "/repos/" + r.owner + "/" + r.repo + "/contents" + escaped(s.repo.dir)
	if s.repo.branch != "" && s.repo.branch != "HEAD" {
		address += "?" + url.Values{"ref": {s.repo.branch}}.Encode()
	}
	return address
}

// readListing reads the names of a folder. Links and modules are left out.
func (s *session) readListing(a answer) bool {
	var list []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		s.unreadable(stepRepository, s.folderURL(), err)
		return false
	}
	for _, item := range list {
		switch item.Type {
		case "file":
			s.repo.files = append(s.repo.files, item.Name)
		case "dir":
			s.repo.folders = append(s.repo.folders, item.Name)
		}
	}
	outcome := "the folder can be read"
	if a.url != s.folderURL() {
		outcome += "; it has moved to " + clip(a.url)
	}
	s.note(stepRepository, s.folderURL(), outcome)
	return true
}

// readFile fetches one file and lets its reader look at it.
func (s *session) readFile(ctx context.Context, f repositoryFile, name string) {
	r := s.repo.ref
	branch := strings.Split(cmp.Or(s.repo.branch, "HEAD"), "/")
	address := s.r.raw + "/" + r.owner + "/" + r.repo + escaped(slices.Concat(branch, s.repo.dir, strings.Split(name, "/")))
	a, ok := s.ask(ctx, f.path, address, "not there")
	if !ok {
		return
	}
	s.documents = append(s.documents, Document{Source: address, Text: string(a.body)})
	f.read(s, f, address, string(a.body))
}

// serverJSON reads the registry's own file, which also names the entry.
func (s *session) serverJSON(f repositoryFile, source, text string) {
	var file struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil || !registryName.MatchString(file.Name) {
		s.tied(f, source, text) // some other file of this name
		return
	}
	if s.aboutAnother(f.path, source, file.Name) {
		return
	}
	s.take(f.path, source, text, nil)
}

// aboutAnother notes the registry's name that a file claims, and tells whether
// the reference is another such name.
func (s *session) aboutAnother(step, source, name string) bool {
	if s.ref.kind == refRegistry && name != s.ref.name {
		s.note(step, source, "is about another server, "+clip(name))
		s.repo.foreign = true
		return true
	}
	s.repo.names = appendNew(s.repo.names, name)
	return false
}

// isForeign notes that a file stands beside one that is about another server,
// and so says nothing about the reference.
func (s *session) isForeign(step, source string) bool {
	if s.repo.foreign {
		s.note(step, source, "left out, since the folder is about another server")
	}
	return s.repo.foreign
}

// tied reads a file that can hold a server of the repository as well as those
// that its authors use, and takes only what is tied to the repository.
func (s *session) tied(f repositoryFile, source, text string) {
	if s.isForeign(f.path, source) {
		return
	}
	s.take(f.path, source, text, func(t target) bool { return s.repo.builds(t) || s.repo.sharesName(t) })
}

// mcpName is the line by which a README claims a name of the registry.
var mcpName = regexp.MustCompile(`(?m)\bmcp-name:\s*([a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+)`)

// readme reads the blocks that a README shows. Where one runs a package that
// the repository builds, the others are about other servers.
func (s *session) readme(f repositoryFile, source, text string) {
	if s.isForeign(f.path, source) {
		return
	}
	for _, m := range mcpName.FindAllStringSubmatch(text, maxListed) {
		s.repo.names = appendNew(s.repo.names, m[1])
	}
	if len(text) > maxText { // servers are shown at its beginning, if at all
		text = text[:strings.LastIndexByte(text[:maxText], '\n')+1]
		s.note(f.path, source, fmt.Sprintf("is read up to %d bytes", maxText))
	}
	paste := s.parse(f.path, source, text)
	if paste == nil {
		return
	}
	built := slices.ContainsFunc(paste.Servers, func(r normalize.Server) bool {
		return s.repo.builds(targetOf(&r)) && refusal(&r, false, false) == ""
	})
	s.takeAll(paste.Servers, candidate{source: f.path}, source, func(t target) bool {
		packaged := t.kind != kindRemote && t.kind != kindOCI
		if built && packaged {
			return s.repo.builds(t)
		}
		return s.repo.builds(t) || s.repo.sharesName(t)
	})
}

// builds tells whether the repository builds what a record runs.
func (r *repository) builds(t target) bool {
	if slices.ContainsFunc(r.packages, func(p target) bool { return p.kind == t.kind && p.id == t.id }) {
		return true
	}
	if !strings.Contains(t.id, ":") {
		return false
	}
	ref, err := parseReference(specAddress(t.id)) // a package that is named by its repository
	return err == nil && ref.kind == refGitHub && ref.sameRepository(r.ref)
}

// sharesName tells whether the name of what a record runs has a telling word of
// the repository's name.
func (r *repository) sharesName(t target) bool {
	if isRepository := strings.Contains(t.id, ":"); isRepository && (t.kind == kindNPM || t.kind == kindPyPI) {
		return false // whose name anybody can give to one of their own
	}
	id := strings.ToLower(t.id)
	words := telling(r.ref.repo)
	if len(words) == 0 {
		words = []string{strings.ToLower(r.ref.owner)}
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(id, w) })
}

// telling gives the words of a name that are not in every name. Words of one or
// two letters stand in too many names to tie anything.
func telling(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(w string) bool {
		return len(w) < 3 || slices.Contains([]string{"mcp", "server", "servers", "the", "client", "official"}, w)
	})
}
