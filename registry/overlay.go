package registry

import (
	"maps"
	"slices"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// verb is what an overlay does to one entry that is there before.
type verb struct {
	name  string
	entry entry // only the id if the verb is remove
	field string
}

// verb reads a list of an overlay. New entries are entries of its file.
func (r *reader) verb(n *tree.Node) {
	if !r.included {
		r.reject(n.KeyMark, UnknownField, "%s belongs to a file of kind %s, which a registry includes", quote(n.Key), overlayKind)
		return
	}
	items := r.list(n)
	for i := range items {
		if r.hopeless() {
			return
		}
		r.path.PushItem(i)
		r.verbItem(n.Key, &items[i])
		r.path.Pop()
	}
}

func (r *reader) verbItem(name string, n *tree.Node) {
	e := r.newEntry()
	if name == "remove" {
		e.mark = n.Mark
		e.ID, _ = r.id(n)
	} else {
		r.entry(&e, n, false)
		if !r.states(&e, "repo_id") && !e.broken {
			r.reject(n.Mark, MissingField, "an entry needs a repo_id")
		}
	}
	e.local = r.local
	if name == "add" {
		r.entries = append(r.entries, e)
		return
	}
	field, _ := r.path.Field()
	r.verbs = append(r.verbs, verb{name, e, field})
}

// overlay does what the overlays say, in the order of the files.
func (a *assembly) overlay() {
	first := a.readers[0]
	known := make(map[string]*entry)
	add := func(r *reader) {
		for i := range r.entries {
			known[r.entries[i].ID] = &r.entries[i]
		}
	}
	for _, r := range a.readers {
		a.checkKind(r)
		if r != first {
			r.inheritDefaults(&first.defaults)
		}
		if !r.top.overlay {
			add(r)
		}
	}
	for _, r := range a.readers {
		if r.top.overlay {
			add(r)
		}
		for i := range r.verbs {
			v := &r.verbs[i]
			target := known[v.entry.ID]
			switch {
			case v.entry.ID == "":
			case target == nil || target.removed:
				r.reportAt(v.entry.mark, -1, v.field, OverlayUnknown, Reject, "%s is no entry of the files before this one, so there is nothing to %s", quote(v.entry.ID), v.name)
			case v.name == "remove":
				target.removed = true
			default:
				r.extend(target, &v.entry)
			}
		}
	}
}

// checkKind checks that a file has what its kind has.
func (a *assembly) checkKind(r *reader) {
	first := r == a.readers[0]
	switch {
	case r.top.overlay && (r.top.hasRepos || r.defaults.has != 0 || len(r.includes) > 0):
		r.reportAt(0, -1, "kind", WrongKind, Reject, "an overlay has no repos, defaults or include; write its entries under add or extend")
	case !r.top.overlay && (len(r.verbs) > 0 || r.local):
		r.reportAt(0, -1, "kind", WrongKind, Reject, "a file that changes entries is of kind %s", overlayKind)
	case !first && !r.top.overlay && r.top.workspaceRoot != "":
		r.reportAt(r.top.rootMark, -1, "workspace_root", InvalidValue, Reject, "the file that includes this one says where the workspace is; remove this")
	}
}

// inheritDefaults takes the defaults of the first file for what the file has no defaults of its own.
func (r *reader) inheritDefaults(from *entry) {
	for i, f := range r.fields {
		bit := uint32(1) << i
		if f.take != nil && r.defaults.has&bit == 0 && from.has&bit != 0 {
			f.take(&r.defaults, from.Repo)
			r.defaults.has |= bit
		}
	}
	if !r.states(&r.defaults, "manifest_path") {
		r.defaults.ManifestPath = from.ManifestPath
	}
}

// extend gives an entry the fields that an overlay states. Problems with them are told at the entry.
func (r *reader) extend(e, with *entry) {
	for i, f := range r.fields {
		bit := uint32(1) << i
		if with.has&bit == 0 {
			continue
		}
		e.has |= bit
		if f.take != nil {
			f.take(e, with.Repo)
			continue
		}
		e.own(f.name, with.Repo)
	}
	if r.states(with, "path") || r.states(with, "manifest_path") {
		e.local = with.local
	}
	e.pathMark, e.manifestMark, e.sourceMark, e.successor = e.mark, e.mark, e.mark, e.mark
	e.former = slices.Repeat([]tree.Mark{e.mark}, len(e.FormerIDs))
	if len(with.Extensions) > 0 {
		all := maps.Clone(with.Extensions)
		for name, value := range e.Extensions {
			if _, replaced := all[name]; !replaced {
				all[name] = value
			}
		}
		e.Extensions = all
	}
}

// own takes a field that is particular to one repo.
func (e *entry) own(name string, from *Repo) {
	switch name {
	case "path":
		e.Path = from.Path
	case "former_ids":
		e.FormerIDs = from.FormerIDs
	case "superseded_by":
		e.SupersededBy = from.SupersededBy
	case "manifest_path":
		e.ManifestPath = from.ManifestPath
	case "evidence":
		e.Evidence = from.Evidence
	case "entrypoint_status":
		e.EntrypointStatus = from.EntrypointStatus
	case "components":
		e.Components = from.Components
	case "locked":
		e.Locked = from.Locked
	}
}
