package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// entry is an entry while its document is read.
type entry struct {
	*Repo
	has          uint32 // bit i: the field i of the table is stated, even if wrongly
	broken       bool   // not a mapping
	removed      bool   // by an overlay
	local        bool   // changed for this machine only
	mark         tree.Mark
	idMark       tree.Mark
	pathMark     tree.Mark
	manifestMark tree.Mark // of manifest_path, or of the entry
	sourceMark   tree.Mark // of manifest_source, or of the entry
	successor    tree.Mark
	former       []tree.Mark
}

// field is one field of an entry.
type field struct {
	name string
	read func(r *reader, e *entry, n *tree.Node)
	take func(e *entry, from *Repo) // takes the default; nil for a field particular to one repo
}

// repoFields gives the fields of an entry.
func repoFields() []field {
	return []field{
		{"repo_id", (*reader).repoID, nil},
		{"path", (*reader).repoPath, nil},
		{"former_ids", (*reader).formerIDs, nil},
		{"superseded_by", (*reader).supersededBy, nil},
		{"manifest_source", (*reader).manifestSource, func(e *entry, d *Repo) { e.ManifestSource = d.ManifestSource }},
		{"manifest_path", (*reader).manifestPath, nil}, // has a default too, see inherit
		{
			"entrypoints", func(r *reader, e *entry, n *tree.Node) { e.Entrypoints = r.words(r.list(n), r.file) },
			func(e *entry, d *Repo) { e.Entrypoints = d.Entrypoints },
		},
		{
			"resource_roots", func(r *reader, e *entry, n *tree.Node) { e.ResourceRoots = r.roots(n) },
			func(e *entry, d *Repo) { e.ResourceRoots = d.ResourceRoots },
		},
		{
			"authority_order", func(r *reader, e *entry, n *tree.Node) { e.AuthorityOrder = r.words(r.list(n), r.name) },
			func(e *entry, d *Repo) { e.AuthorityOrder = d.AuthorityOrder },
		},
		{
			"repo_class", func(r *reader, e *entry, n *tree.Node) { e.Class = r.class(n) },
			func(e *entry, d *Repo) { e.Class = d.Class },
		},
		{"lifecycle", (*reader).lifecycle, func(e *entry, d *Repo) { e.Lifecycle = d.Lifecycle }},
		{
			"views", func(r *reader, e *entry, n *tree.Node) { e.Views = r.views(n) },
			func(e *entry, d *Repo) { e.Views = d.Views },
		},
		{
			"owner", func(r *reader, e *entry, n *tree.Node) { e.Owner, _ = r.optional(n) },
			func(e *entry, d *Repo) { e.Owner = d.Owner },
		},
		{
			"signals", func(r *reader, e *entry, n *tree.Node) { e.Signals = r.signals(n) },
			func(e *entry, d *Repo) { e.Signals = d.Signals },
		},
		{"evidence", func(r *reader, e *entry, n *tree.Node) { e.Evidence = mapping(r, n, r.optional) }, nil},
		{
			"safe_to_probe", func(r *reader, e *entry, n *tree.Node) { e.SafeToProbe = r.boolean(n) },
			func(e *entry, d *Repo) { e.SafeToProbe = d.SafeToProbe },
		},
		{"entrypoint_status", func(r *reader, e *entry, n *tree.Node) { e.EntrypointStatus = r.statuses(n) }, nil},
		{"components", func(r *reader, e *entry, n *tree.Node) { e.Components = r.components(n) }, nil},
		{"origin", (*reader).origin, func(e *entry, d *Repo) { e.Origin = d.Origin }},
		{"fingerprint", func(r *reader, _ *entry, n *tree.Node) { r.text(n) }, nil}, // for Generate, which reads it itself
		{"locked", func(r *reader, e *entry, n *tree.Node) { e.Locked = r.words(r.list(n), r.fieldName) }, nil},
	}
}

// isID reports whether a text matches ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$.
func isID(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// entry reads the members of an entry, or of the defaults.
func (r *reader) entry(e *entry, n *tree.Node, defaults bool) {
	e.mark, e.idMark, e.pathMark, e.manifestMark, e.sourceMark = n.Mark, n.Mark, n.Mark, n.Mark, n.Mark
	e.broken = n.Kind != tree.Map
	items := r.members(n)
	for i := range items {
		m := &items[i]
		r.path.Push(m.Key)
		r.field(e, m, defaults)
		r.path.Pop()
	}
}

func (r *reader) field(e *entry, m *tree.Node, defaults bool) {
	at, known := r.index[m.Key]
	switch {
	case known && defaults && r.fields[at].take == nil && m.Key != "manifest_path",
		defaults && strings.HasPrefix(m.Key, "x-"):
		r.reject(m.KeyMark, NotADefault, "%s is particular to each repo; move it to the entries", quote(m.Key))
	case known && isAbsent(m):
	case known:
		r.fields[at].read(r, e, m)
		e.has |= 1 << at
	case strings.HasPrefix(m.Key, "x-"):
		if e.Extensions == nil {
			e.Extensions = make(map[string]json.RawMessage)
		}
		e.Extensions[strings.Clone(m.Key)] = r.extension(m)
	default:
		r.unknown(m, r.names, topFields(), "belongs at the top of the file, before the repos")
	}
}

// isAbsent reports whether a field is written down as having no value.
func isAbsent(m *tree.Node) bool {
	return m.Kind == tree.Null || m.Key == "manifest_path" && m.Kind == tree.String && m.Text == ""
}

// unknown reports a field that is not part of the format here; elsewhere says where some names belong.
func (r *reader) unknown(n *tree.Node, here, other []string, elsewhere string) {
	if slices.Contains(other, n.Key) {
		r.reject(n.KeyMark, UnknownField, "%s %s", quote(n.Key), elsewhere)
		return
	}
	hint := didYouMean(n.Key, here)
	if hint == "" && elsewhere != "" {
		hint = "; a field of your own starts with x-"
	}
	r.reject(n.KeyMark, UnknownField, "unknown field %s%s", quote(n.Key), hint)
}

func (r *reader) repoID(e *entry, n *tree.Node) {
	e.idMark = n.Mark
	if id, ok := r.id(n); ok {
		e.ID = strings.Clone(id)
	}
}

// id reads a repo id.
func (r *reader) id(n *tree.Node) (string, bool) {
	id, ok := r.text(n)
	if !ok {
		return "", false
	}
	if !isID(id) {
		r.reject(n.Mark, IDInvalid, "%s is no repo id: a letter or digit, then up to 99 letters, digits, dots, underscores or hyphens", quote(id))
		return "", false
	}
	return id, true
}

func (r *reader) formerIDs(e *entry, n *tree.Node) {
	items := r.list(n)
	for i := range items {
		r.path.PushItem(i)
		if id, ok := r.id(&items[i]); ok {
			e.FormerIDs = append(e.FormerIDs, strings.Clone(id))
			e.former = append(e.former, items[i].Mark)
		}
		r.path.Pop()
	}
}

func (r *reader) supersededBy(e *entry, n *tree.Node) {
	e.successor = n.Mark
	if id, ok := r.id(n); ok {
		e.SupersededBy = r.keep(id)
	}
}

// repoPath reads the folder of the repo. An absolute one is made relative when the workspace root is known.
func (r *reader) repoPath(e *entry, n *tree.Node) {
	e.pathMark = n.Mark
	s, ok := r.text(n)
	if !ok {
		return
	}
	if s = strings.TrimSuffix(s, "/"); s == "." || isAbsolute(s) {
		e.Path = strings.Clone(s)
		return
	}
	if code, why := pathFault(s); code != "" {
		why = strings.ReplaceAll(why, "the repo", "the workspace")
		r.reject(n.Mark, code, "%s %s", quote(s), why)
		return
	}
	e.Path = strings.Clone(s)
}

func (r *reader) manifestSource(e *entry, n *tree.Node) {
	e.sourceMark = n.Mark
	e.ManifestSource, _ = choice(r, n, SourceRepo, SourceGenerated)
}

// manifestPath reads the path of the manifest; like repoPath it leaves an absolute one for later.
func (r *reader) manifestPath(e *entry, n *tree.Node) {
	e.manifestMark = n.Mark
	s, ok := r.text(n)
	switch {
	case !ok:
	case isAbsolute(s):
		e.ManifestPath = strings.Clone(s)
	default:
		e.ManifestPath, _ = r.checked(n.Mark, s)
	}
}

func (r *reader) lifecycle(e *entry, n *tree.Node) {
	e.Lifecycle, _ = choice(r, n, Active, Transitional, Archived)
}

func (r *reader) origin(e *entry, n *tree.Node) {
	e.Origin, _ = choice(r, n, "generated", "manual", "overridden")
}

func isAbsolute(s string) bool { return strings.HasPrefix(s, "/") && !isWindows(s) }

func (r *reader) class(n *tree.Node) string {
	s, ok := r.optional(n)
	if !ok || s == "" || r.opts.Classes == nil || slices.Contains(r.opts.Classes, s) {
		return s
	}
	r.reject(n.Mark, ClassUnknown, "%s is none of the classes of this workspace: %s%s", quote(s),
		wording.Clip(strings.Join(r.opts.Classes, ", "), 200), didYouMean(s, r.opts.Classes))
	return ""
}

// views reads the views. The view named manifest is the manifest itself and has no path of its own.
func (r *reader) views(n *tree.Node) map[string]string {
	return mapping(r, n, func(n *tree.Node) (string, bool) {
		if n.Key == "manifest" {
			r.reject(n.KeyMark, InvalidValue, "the view \"manifest\" is always the file at manifest_path; remove it")
			return "", false
		}
		return r.file(n)
	})
}

func (r *reader) signals(n *tree.Node) Signals {
	var s Signals
	items := r.members(n)
	for i := range items {
		m := &items[i]
		r.path.Push(m.Key)
		if to := s.named(m.Key); to != nil && m.Kind != tree.Null {
			*to = r.boolean(m)
		} else if to == nil {
			r.unknown(m, []string{"has_docs", "has_mkdocs", "has_adr", "has_intents"}, nil, "")
		}
		r.path.Pop()
	}
	return s
}

func (s *Signals) named(name string) *bool {
	switch name {
	case "has_docs":
		return &s.HasDocs
	case "has_mkdocs":
		return &s.HasMkdocs
	case "has_adr":
		return &s.HasADR
	case "has_intents":
		return &s.HasIntents
	}
	return nil
}

// statuses reads the map of a path to its status; the keys are paths.
func (r *reader) statuses(n *tree.Node) map[string]EntrypointStatus {
	items := r.members(n)
	if len(items) == 0 {
		return nil
	}
	out := make(map[string]EntrypointStatus, len(items))
	for i := range items {
		m := &items[i]
		r.path.Push(m.Key)
		p, ok := r.checked(m.KeyMark, strings.TrimSuffix(m.Key, "/"))
		status, known := choice(r, m, StatusPresent, StatusMissing, StatusNotAFile, StatusOutsideRoot, StatusTooLarge, StatusUnreadable)
		if ok && known {
			out[p] = status
		}
		r.path.Pop()
	}
	return out
}

func (r *reader) components(n *tree.Node) []Component {
	items := r.list(n)
	if len(items) == 0 {
		return nil
	}
	out := make([]Component, 0, len(items))
	for i := range items {
		r.path.PushItem(i)
		if c := r.component(&items[i]); c.ID != "" {
			out = append(out, c)
		}
		r.path.Pop()
	}
	return out
}

func (r *reader) component(n *tree.Node) Component {
	var c Component
	before := r.rejects
	items := r.members(n)
	for i := range items {
		m := &items[i]
		r.path.Push(m.Key)
		absent := m.Kind == tree.Null
		switch {
		case m.Key == "id" && !absent:
			c.ID, _ = r.name(m)
		case m.Key == "labels" && !absent:
			c.Labels = r.words(r.list(m), r.name)
		case m.Key == "paths" && !absent:
			c.Roots = r.roots(m)
		case m.Key != "id" && m.Key != "labels" && m.Key != "paths":
			r.unknown(m, []string{"id", "labels", "paths"}, nil, "")
		}
		r.path.Pop()
	}
	if c.ID == "" && r.rejects == before {
		r.reject(n.Mark, MissingField, "a component needs an id")
	}
	return c
}

// fieldName reads the name of a field of an entry.
func (r *reader) fieldName(n *tree.Node) (string, bool) {
	s, ok := r.text(n)
	if _, known := r.index[s]; ok && !known {
		r.reject(n.Mark, InvalidValue, "%s is no field%s", quote(s), didYouMean(s, r.names))
		return "", false
	}
	return r.keep(s), ok
}
