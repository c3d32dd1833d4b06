package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// Manifest is what a repo says about itself, in a file such as docs/agent/manifest.yaml. It has authority
// over the content of its repo, not over what may be read: that the registry says. Paths are as those of
// [Repo]. Absent lists and maps are nil; slices and maps may be shared and must not be changed.
type Manifest struct {
	ID             string                     // the repo's own idea of its id, often "" or out of date
	Class          string                     // as Repo.Class
	Owner          string                     // as Repo.Owner
	AuthorityOrder []string                   // as Repo.AuthorityOrder
	Entrypoints    []string                   // as Repo.Entrypoints
	ResourceRoots  []ResourceRoot             // as Repo.ResourceRoots
	Views          map[string]string          // as Repo.Views
	Components     []Component                // as Repo.Components
	FrameworkRepo  string                     // id of the repo that this one builds on, "" if there is none
	Notes          []string                   // for people
	Extensions     map[string]json.RawMessage // the x- fields as JSON
}

// ParseManifest reads the manifest of a repo, in any of the formats of a registry. It is more forgiving than
// [Parse]: an entry that cannot be used is left out and becomes a problem, and a single text is taken where
// a list is usual. Only a text that cannot be read, or is no manifest of version 1, gives an error, which is
// an [*Error]; then the other results are nil. Problems come in the order of the text.
func ParseManifest(data []byte, opts *ParseOptions) (*Manifest, []Problem, error) {
	var o ParseOptions
	if opts != nil {
		o = *opts
	}
	m, _, problems, err := readManifest(data, o)
	return m, problems, err
}

// declared is a path that a manifest declares.
type declared struct {
	path, field string
	mark        tree.Mark
}

// readManifest is [ParseManifest], and gives the reader, which knows the places of what is declared.
func readManifest(data []byte, o ParseOptions) (*Manifest, *reader, []Problem, error) {
	limit := cmp.Or(max(o.MaxBytes, 0), maxManifestBytes)
	if int64(len(data)) > limit {
		return nil, nil, nil, fail(o.File, TooLarge, nil, fmt.Sprintf("the text has %d bytes, more than the limit of %d", len(data), limit))
	}
	r := newReader(o)
	r.manifest, r.places = true, make(map[string]tree.Mark)
	m := new(Manifest)
	loc, complete := tree.Read(data, o.format(data), tree.Handler{
		Member: func(n *tree.Node) bool { r.manifestMember(m, n); return !r.hopeless() },
		Item:   func(int, *tree.Node) bool { return true },
		Fault:  r.fault,
	})
	r.loc = loc
	if complete && !r.top.hasManifestField {
		r.reportAt(0, -1, "kind", WrongKind, Reject, "no field of a manifest is there; write kind: %s and what may be read, as entrypoints", manifestKind)
		r.top.foreign = &r.found[len(r.found)-1]
	}
	if r.top.foreign != nil {
		r.found = []finding{*r.top.foreign}
	}
	if !complete || r.top.foreign != nil {
		return nil, nil, nil, &Error{Problems: r.problems(loc)}
	}
	if !r.top.hasID {
		r.reportAt(0, -1, "repo_id", MissingField, Warn, "the manifest gives no repo_id; the registry's counts")
	}
	return m, r, r.problems(loc), nil
}

func (r *reader) manifestMember(m *Manifest, n *tree.Node) {
	r.path.Push(n.Key)
	defer r.path.Pop()
	isField := slices.Contains(manifestFields(), n.Key)
	r.top.hasManifestField = r.top.hasManifestField || isField
	r.places[n.Key] = n.Mark
	if n.Kind == tree.Null && isField || n.Key == "repo_id" && n.Kind == tree.String && n.Text == "" {
		return // written down as absent
	}
	switch n.Key {
	case "schema_version":
		r.schemaVersion(n)
	case "kind":
		r.manifestKind(n)
	case "repo_id":
		r.top.hasID = true
		id, _ := r.id(n)
		m.ID = strings.Clone(id)
	case "repo_class":
		m.Class = r.class(n)
	case "owner":
		m.Owner, _ = r.optional(n)
	case "framework_repo":
		id, _ := r.id(n)
		m.FrameworkRepo = strings.Clone(id)
	default:
		r.manifestContent(m, n)
	}
}

func (r *reader) manifestContent(m *Manifest, n *tree.Node) {
	switch n.Key {
	case "authority_order":
		m.AuthorityOrder = r.words(r.list(n), r.name)
	case "entrypoints":
		m.Entrypoints = r.words(r.list(n), r.file)
	case "resource_roots":
		m.ResourceRoots = r.roots(n)
	case "views":
		m.Views = r.views(n)
	case "components":
		m.Components = r.components(n)
	case "notes":
		m.Notes = r.words(r.list(n), r.note)
	case "$schema": // for editors
		r.text(n)
	default:
		if strings.HasPrefix(n.Key, "x-") {
			if m.Extensions == nil {
				m.Extensions = make(map[string]json.RawMessage)
			}
			m.Extensions[strings.Clone(n.Key)] = r.extension(n)
			return
		}
		r.report(n.KeyMark, UnknownField, Warn, "unknown field %s%s", quote(n.Key), didYouMean(n.Key, manifestFields()))
	}
}

func manifestFields() []string {
	return []string{
		"schema_version", "kind", "repo_id", "repo_class", "owner", "authority_order", "entrypoints",
		"resource_roots", "views", "components", "framework_repo", "notes",
	}
}

// manifestKind ends reading, as far as the caller can see, where the file is something else.
func (r *reader) manifestKind(n *tree.Node) {
	before := len(r.found)
	r.kind(n, manifestKind)
	if len(r.found) > before && n.Kind == tree.String {
		foreign := r.found[before]
		r.top.foreign = &foreign
	}
}

// note reads a text of any form.
func (r *reader) note(n *tree.Node) (string, bool) {
	s, ok := r.text(n)
	return strings.Clone(s), ok
}
