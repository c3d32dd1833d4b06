package registry

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// finish does what needs the whole document: it fills in defaults and checks what entries say about each
// other.
func (r *reader) finish(root string) {
	if r.top.foreign != nil {
		r.found, r.rejects, r.dropped = []finding{*r.top.foreign}, 1, 0
		return
	}
	r.checkTop()
	for i := range r.entries {
		if e := &r.entries[i]; !e.broken && !e.removed {
			r.inherit(e)
			r.checkEntry(i, e, filepath.ToSlash(root))
		}
	}
	if r.top.newer {
		r.forgiveUnknown()
	}
}

func (r *reader) checkTop() {
	missing := func(field, write string) {
		r.reportAt(0, -1, field, MissingField, Reject, "%s is missing; write %s", field, write)
	}
	if !r.top.hasVersion {
		missing("schema_version", strconv.Quote(version))
	}
	if !r.top.hasKind {
		missing("kind", registryKind)
	}
	if !r.top.hasRepos && !r.top.overlay && len(r.includes) == 0 {
		missing(streamed, "a list, [] if there are none")
	}
}

// inherit fills in the fields that an entry does not state.
func (r *reader) inherit(e *entry) {
	for i, f := range r.fields {
		bit := uint32(1) << i
		if f.take != nil && e.has&bit == 0 && r.defaults.has&bit != 0 {
			f.take(e, r.defaults.Repo)
			e.has |= bit
		}
	}
	// A default manifest path is for the repos that have a manifest.
	if !r.states(e, "manifest_path") && e.ManifestSource == SourceRepo {
		e.ManifestPath = r.defaults.ManifestPath
	}
	e.Lifecycle = cmp.Or(e.Lifecycle, Active)
}

func (r *reader) states(e *entry, field string) bool { return e.has&(1<<r.index[field]) != 0 }

// checkEntry checks what the fields of one entry say together.
func (r *reader) checkEntry(i int, e *entry, root string) {
	at := func(mark tree.Mark, field string, code Code, severity Severity, format string, args ...any) {
		r.reportAt(mark, i, entryField(r.top.overlay, i, field), code, severity, format, args...)
	}
	if !r.states(e, "manifest_source") {
		at(e.mark, ".manifest_source", MissingField, Reject,
			"an entry needs a manifest_source: repo if the repo has a manifest, generated if not")
	}
	if !r.states(e, "path") {
		e.Path = e.ID
		if code, why := pathFault(e.ID); e.ID != "" && code != "" {
			at(e.idMark, ".path", code, Reject, "the id %s is no name of a folder, so a path is needed: it %s", quote(e.ID), why)
		}
	}
	r.rebaseEntry(e, root, at)
	r.checkManifest(e, at)
	if e.ManifestSource != SourceRepo && e.ManifestPath == "" && len(e.Entrypoints) == 0 && !r.states(e, "entrypoints") {
		at(e.mark, ".entrypoints", NoEntrypoints, Warn, "there is neither a manifest nor an entrypoint, so nothing can be read")
	}
	for _, p := range undeclared(e.Repo) {
		at(e.mark, ".entrypoint_status."+tree.Quote(p), StatusUndeclared, Warn, "%s is not declared in this entry", quote(p))
	}
}

// entryField gives the path of a field of an entry.
func entryField(overlay bool, i int, field string) string {
	list := streamed
	if overlay {
		list = "add"
	}
	return list + "[" + strconv.Itoa(i) + "]" + field
}

type reportFunc func(mark tree.Mark, field string, code Code, severity Severity, format string, args ...any)

// rebaseEntry makes absolute paths relative.
func (r *reader) rebaseEntry(e *entry, root string, at reportFunc) {
	if isAbsolute(e.Path) {
		rel, code, why := rebase(e.Path, root)
		if code != "" {
			at(e.pathMark, ".path", code, Reject, "%s %s", quote(e.Path), why)
			e.Path, e.ManifestPath = "", ""
			return
		}
		if !e.local {
			at(e.pathMark, ".path", Nonportable, Warn, "%s is right on one machine only; write %s", quote(e.Path), quote(rel))
		}
		e.Path = rel
	}
	if isAbsolute(e.ManifestPath) {
		rel, code, why := rebase(e.ManifestPath, path.Join(root, e.Path))
		if rel == "." {
			code, why = PathInvalid, "is the folder of the repo"
		}
		if code != "" {
			at(e.manifestMark, ".manifest_path", code, Reject, "%s %s", quote(e.ManifestPath), why)
			e.ManifestPath = ""
			return
		}
		if !e.local {
			at(e.manifestMark, ".manifest_path", Nonportable, Warn, "%s is right on one machine only; write %s", quote(e.ManifestPath), quote(rel))
		}
		e.ManifestPath = r.keep(rel)
	}
}

func (r *reader) checkManifest(e *entry, at reportFunc) {
	switch {
	case e.ManifestSource == SourceRepo && e.ManifestPath == "" && !r.states(e, "manifest_path"):
		at(e.sourceMark, ".manifest_path", ManifestContradicts, Reject,
			"manifest_source is repo, so manifest_path is needed; without a manifest write generated")
	case e.ManifestSource == SourceGenerated && e.ManifestPath != "":
		at(e.manifestMark, ".manifest_path", ManifestContradicts, Warn,
			"manifest_source is generated, but the manifest at this path will be loaded; write repo, or remove the path")
	}
}

// undeclared gives the paths whose status is recorded though the entry does not declare them.
func undeclared(e *Repo) []string {
	if len(e.EntrypointStatus) == 0 {
		return nil
	}
	declared := map[string]bool{e.ManifestPath: true}
	for _, p := range e.Entrypoints {
		declared[p] = true
	}
	for _, p := range e.Views {
		declared[p] = true
	}
	roots := slices.Clone(e.ResourceRoots)
	for _, c := range e.Components {
		roots = append(roots, c.Roots...)
	}
	for _, root := range roots {
		for _, p := range root.Paths {
			declared[p] = true
		}
	}
	var out []string
	for p := range e.EntrypointStatus {
		if !declared[p] {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// forgiveUnknown makes unknown fields warnings: a newer minor version may have fields that can be left out.
func (r *reader) forgiveUnknown() {
	for i := range r.found {
		if f := &r.found[i]; f.Code == UnknownField {
			f.Severity = Warn
			r.rejects--
		}
	}
}
