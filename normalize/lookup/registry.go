package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Bounds of one search in the registry: the pages that are read, and the entries
// of each, which are as many as are asked for.
const (
	maxPages   = 3
	maxEntries = 100
)

// An entry is a server of the registry. The fields with underscores are those
// of its first schemas.
type entry struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Status     string `json:"status"`
	Repository struct {
		URL       string `json:"url"`
		Subfolder string `json:"subfolder"`
	} `json:"repository"`
	Packages []entryPackage `json:"packages"`
	Remotes  []entryRemote  `json:"remotes"`

	raw    json.RawMessage // the entry's own text, which the normalizer reads
	latest bool            // the registry calls this version the latest
	source string          // the address that it came from
}

// An entryPackage is what is needed of a package to compare it; the normalizer
// reads the rest.
type entryPackage struct {
	Type       string          `json:"registryType"`
	OldType    string          `json:"registry_type"`
	Identifier string          `json:"identifier"`
	OldName    string          `json:"name"`
	Env        []entryVariable `json:"environmentVariables"`
	OldEnv     []entryVariable `json:"environment_variables"`
}

// An entryRemote is the address of a server.
type entryRemote struct {
	URL string `json:"url"`
}

// An entryVariable tells whether a variable is a secret.
type entryVariable struct {
	Name      string `json:"name"`
	Secret    bool   `json:"isSecret"`
	OldSecret bool   `json:"is_secret"`
}

// kind is the ecosystem of the package.
func (p *entryPackage) kind() string {
	if kind := cmp.Or(p.Type, p.OldType); kind != "docker" {
		return kind
	}
	return kindOCI
}

// id is the package's name in its ecosystem, without a version.
func (p *entryPackage) id() string { return bareID(p.kind(), cmp.Or(p.Identifier, p.OldName)) }

// decodeEntry reads an entry: an object with the server and what the registry
// says about it, or, in older answers, the server itself.
func decodeEntry(raw json.RawMessage) (*entry, error) {
	var outer struct {
		Server json.RawMessage `json:"server"`
		Meta   struct {
			Official struct {
				Status string `json:"status"`
				Latest bool   `json:"isLatest"`
			} `json:"io.modelcontextprotocol.registry/official"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &outer); err != nil {
		return nil, err
	}
	if outer.Server == nil {
		outer.Server = raw
	}
	e := &entry{raw: outer.Server}
	if err := json.Unmarshal(outer.Server, e); err != nil {
		return nil, err
	}
	e.Status = cmp.Or(outer.Meta.Official.Status, e.Status)
	e.latest = outer.Meta.Official.Latest
	return e, nil
}

// namesRepository tells whether an entry claims a repository.
func (e *entry) namesRepository(r reference) bool {
	claimed, err := parseReference(e.Repository.URL)
	return err == nil && claimed.kind == refGitHub && claimed.sameRepository(r)
}

// sameRepository compares without case, as GitHub does.
func (r reference) sameRepository(other reference) bool {
	return strings.EqualFold(r.owner, other.owner) && strings.EqualFold(r.repo, other.repo)
}

// hasPackage tells whether an entry runs a package.
func (e *entry) hasPackage(kind, id string) bool {
	return slices.ContainsFunc(e.Packages, func(p entryPackage) bool {
		return p.kind() == kind && p.id() == id
	})
}

// bareID is what a package is called where versions do not matter.
func bareID(kind, id string) string {
	if kind == kindOCI {
		return bareImage(id)
	}
	return barePackage(kind, id)
}

// searchRegistry lists the entries whose name holds a word and that fit, the
// newest version of each, without those that are deleted. What says in the
// evidence what fitting means.
func (s *session) searchRegistry(ctx context.Context, word, what string, fits func(*entry) bool) []*entry {
	all, ok := s.searchPages(ctx, word)
	if !ok {
		return nil
	}
	total := len(all)
	source := s.r.registry + "/v0.1/servers?" + url.Values{"search": {word}}.Encode()
	all = slices.DeleteFunc(all, func(e *entry) bool { return !fits(e) })
	s.note(stepRegistry, source, fmt.Sprintf("of %d entries with %q in the name, %d %s", total, word, len(all), what))
	return all
}

// searchPages reads the pages of a search. It reports false where none could be
// read.
func (s *session) searchPages(ctx context.Context, word string) ([]*entry, bool) {
	var found []*entry
	cursor := ""
	for page := 1; ; page++ {
		query := url.Values{"search": {word}, "version": {"latest"}, "limit": {"100"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		address := s.r.registry + "/v0.1/servers?" + query.Encode()
		a, ok := s.ask(ctx, stepRegistry, address, "has no list of servers there")
		if !ok {
			if s.trouble == nil { // the list is always there, so this is no registry that we know
				s.trouble = &Error{Code: CodeIncomplete, Message: "the registry has no list of servers at its address"}
			}
			return newest(found), page > 1
		}
		var list struct {
			Servers  []json.RawMessage `json:"servers"`
			Metadata struct {
				Next    string `json:"nextCursor"`
				OldNext string `json:"next_cursor"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(a.body, &list); err != nil {
			s.unreadable(stepRegistry, address, err)
			return newest(found), page > 1
		}
		for _, raw := range list.Servers[:min(len(list.Servers), maxEntries)] {
			if e, err := decodeEntry(raw); err == nil && e.Status != "deleted" {
				e.source = address
				found = append(found, e)
			}
		}
		cursor = cmp.Or(list.Metadata.Next, list.Metadata.OldNext)
		if cursor == "" || page == maxPages {
			break
		}
	}
	if cursor != "" {
		s.note(stepRegistry, s.r.registry, fmt.Sprintf("has more than %d pages for %q, which were not read", maxPages, word))
	}
	return newest(found), true
}

// unreadable notes an answer in no form that can be read, which is not the same
// as one without servers.
func (s *session) unreadable(step, address string, err error) {
	s.note(step, address, "the answer cannot be read")
	if s.trouble == nil {
		s.trouble = &Error{Code: CodeIncomplete, Message: "an answer cannot be read, of the step " + step, Err: err}
	}
}

// newest keeps one version of each name: the one marked as the latest, or the
// last of the list.
func newest(list []*entry) []*entry {
	var out []*entry
	for _, e := range list {
		i := slices.IndexFunc(out, func(o *entry) bool { return o.Name == e.Name })
		switch {
		case i < 0:
			out = append(out, e)
		case !out[i].latest:
			out[i] = e
		}
	}
	return out
}

// entryNamed asks for one name of the registry; an empty version is the latest.
func (s *session) entryNamed(ctx context.Context, name, version string) *entry {
	address := s.r.registry + "/v0.1/servers/" + url.PathEscape(name) + "/versions/" + url.PathEscape(cmp.Or(version, "latest"))
	a, ok := s.ask(ctx, stepRegistry, address, "does not know the name")
	if !ok {
		return nil
	}
	e, err := decodeEntry(a.body)
	switch {
	case err != nil:
		s.unreadable(stepRegistry, address, err)
		return nil
	case e.Name != name:
		s.note(stepRegistry, address, "answered with another name, "+clip(e.Name))
		return nil
	case e.Status == "deleted":
		s.note(stepRegistry, address, "the entry is deleted")
		return nil
	case version != "" && e.Version != version:
		message := "the registry answered with version " + strconv.Quote(clip(e.Version)) + " where " + strconv.Quote(version) + " was asked for"
		s.note(stepRegistry, address, message)
		s.several = &Error{Code: CodeDisagree, Message: message + "; name a version that it has"}
		return nil
	}
	e.source = address
	return e
}

// takeEntry makes the records of an entry candidates.
func (s *session) takeEntry(e *entry, keep func(target) bool) {
	about := clip(e.Name)
	if e.Version != "" {
		about += " " + clip(e.Version)
	}
	if e.Status == "deprecated" {
		about += ", which is deprecated"
	}
	s.note(stepRegistry, e.source, about+": a hint until a probe agrees")
	before := len(s.found)
	s.take(stepRegistry, e.source, string(e.raw), func(t target) bool {
		// A hint at the program may turn one ecosystem's package into another's.
		declared := t.kind == kindRemote || e.hasPackage(t.kind, t.id)
		return declared && (keep == nil || keep(t))
	})
	for i := range s.found[before:] {
		e.hideSecrets(&s.found[before+i].server)
	}
}

// hideSecrets takes the defaults from variables that the entry marks as
// secrets.
func (e *entry) hideSecrets(server *normalize.Server) {
	for _, p := range e.Packages {
		for _, v := range append(p.Env, p.OldEnv...) {
			if !v.Secret && !v.OldSecret {
				continue
			}
			for i := range server.Env {
				if server.Env[i].Name == v.Name {
					server.Env[i].Value = "${" + v.Name + "}"
				}
			}
		}
	}
}

// registryName looks a name of the registry up, and holds it against the
// repository that the entry gives.
func (s *session) registryName(ctx context.Context) {
	e := s.entryNamed(ctx, s.ref.name, s.ref.version)
	if e == nil {
		return
	}
	s.takeEntry(e, nil)
	repo, err := parseReference(e.Repository.URL)
	if err != nil || repo.kind != refGitHub {
		return
	}
	if sub := strings.Trim(e.Repository.Subfolder, "/"); sub != "" && len(repo.rest) == 0 {
		parts := strings.Split(sub, "/")
		if !isPathParts(parts) {
			s.note(stepRegistry, e.source, "the folder that it names is none")
			return
		}
		repo.rest = append([]string{"HEAD"}, parts...)
	}
	s.readRepository(ctx, repo)
}

// repositoryEntries asks the registry for the entries of a repository: by the
// repository's name, then by the owner's part of a name.
func (s *session) repositoryEntries(ctx context.Context) []*entry {
	claims := func(e *entry) bool { return e.namesRepository(s.ref) }
	mine := s.searchRegistry(ctx, s.ref.repo, "claim the repository", claims)
	if len(mine) == 0 {
		mine = s.searchRegistry(ctx, "io.github."+s.ref.owner+"/", "claim the repository", claims)
	}
	return mine
}
