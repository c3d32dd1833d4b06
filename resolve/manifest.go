package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/registry"
)

// View names with a default path, which counts for a repo with a manifest when
// the registry declares that path and the file is there.
var defaultViews = [...]struct{ name, path string }{
	{"start-here", "docs/agent/start-here.md"},
	{"capabilities", "docs/context/capabilities.md"},
	{"workflows", "docs/context/workflows.md"},
	{"contracts", "docs/context/contracts.md"},
}

const manifestView = "manifest"

// loadManifest reads the manifest if, and only if, the registry declares one.
// Its error is that of ctx.
func (r *Repo) loadManifest(ctx context.Context) error {
	declared := r.Entry.ManifestPath
	if r.Entry.ManifestSource != registry.SourceRepo || declared == "" {
		r.step("manifest", "not declared")
		return nil
	}
	file, err := r.read(ctx, declared, r.resolver.opts.MaxManifest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var fault *Error
	switch {
	case errors.As(err, &fault) && (fault.Code == FileMissing || fault.Code == RepoMissing):
		r.step("manifest", "missing")
		r.notice(ManifestMissing, declared, "the registry declares a manifest that is not there; its own entrypoints are used")
		return nil
	case err != nil:
		r.step("manifest", "invalid")
		r.notice(ManifestInvalid, declared, "%s", err.Error())
		return nil
	}
	manifest, problems, err := registry.ParseManifest(file.Data, &registry.ParseOptions{File: declared})
	if err != nil {
		r.step("manifest", "invalid")
		r.notice(ManifestInvalid, declared, "the manifest cannot be read: %s", wording.Clip(err.Error(), maxReason))
		return nil
	}
	r.step("manifest", "loaded")
	r.Mode, r.Manifest, r.ManifestFile = ManifestBacked, manifest, file
	if manifest.ID != r.Entry.ID {
		r.notice(ManifestIDDiffers, declared, "the manifest says repo_id %s; the registry's %s counts", quote(manifest.ID), quote(r.Entry.ID))
	}
	for _, p := range problems {
		if p.Field == "repo_id" {
			continue // the notice above says it
		}
		code := ManifestProblem
		switch p.Code {
		case registry.PathInvalid, registry.PathWindows, registry.PathOutside:
			code = ManifestPathRefused
		}
		place := fmt.Sprintf("line %d", p.Line)
		if p.Field != "" {
			place += ", " + clip(p.Field)
		}
		r.notice(code, declared, "%s: %s", place, wording.Clip(p.Message, maxReason))
	}
	return r.applyManifest(ctx)
}

// applyManifest lets the manifest decide about content, within what the
// registry routes.
func (r *Repo) applyManifest(ctx context.Context) error {
	m := r.Manifest
	if m.Class != "" {
		r.Class = m.Class
	}
	if m.Owner != "" {
		r.Owner = m.Owner
	}
	if len(m.AuthorityOrder) > 0 {
		r.AuthorityOrder = m.AuthorityOrder
	}
	r.ResourceRoots = r.mergeRoots(m.ResourceRoots)
	seen := newListing(r)
	for _, p := range m.Entrypoints {
		if r.accept(ctx, seen, p, "entrypoint") {
			r.Entrypoints = append(r.Entrypoints, Entrypoint{Path: p})
		}
	}
	r.mergeViews(ctx, seen)
	return ctx.Err()
}

// accept reports whether a path of the manifest may be served, and records when
// it is not there, or no file.
func (r *Repo) accept(ctx context.Context, seen *listing, p, what string) bool {
	if !r.routes(p) {
		r.refuse(p, what)
		return false
	}
	status := seen.status(ctx, p)
	if status == registry.StatusPresent {
		return true
	}
	if r.absent == nil {
		r.absent = map[string]registry.EntrypointStatus{}
	}
	r.absent[p] = status
	if status == registry.StatusMissing {
		r.notice(EntrypointMissing, p, "the manifest names the %s %s, which is not there", what, quote(p))
	} else {
		r.notice(EntrypointUnusable, p, "the manifest names the %s %s, which is %s", what, quote(p), status)
	}
	return true
}

func (r *Repo) refuse(p, what string) {
	r.notice(ManifestPathRefused, p, "the manifest's %s %s is no entrypoint of the registry and below none of its resource roots", what, quote(p))
}

// mergeRoots replaces the folders of each type for which the manifest names
// some that the registry allows.
func (r *Repo) mergeRoots(roots []registry.ResourceRoot) []registry.ResourceRoot {
	merged := map[string][]string{}
	for _, root := range r.Entry.ResourceRoots {
		merged[root.Type] = root.Paths
	}
	for _, root := range roots {
		var paths []string
		for _, p := range root.Paths {
			if _, ok := r.rootOf(p); ok {
				paths = append(paths, p)
			} else {
				r.refuse(p, "resource root")
			}
		}
		if paths != nil {
			merged[root.Type] = paths
		}
	}
	var result []registry.ResourceRoot
	for _, kind := range slices.Sorted(maps.Keys(merged)) {
		result = append(result, registry.ResourceRoot{Type: kind, Paths: merged[kind]})
	}
	return result
}

// mergeViews completes the views of a repo with a manifest: the registry's, over
// them the manifest's, then the default paths, and the manifest itself.
func (r *Repo) mergeViews(ctx context.Context, seen *listing) {
	views := map[string]string{}
	maps.Copy(views, r.Entry.Views)
	for _, name := range slices.Sorted(maps.Keys(r.Manifest.Views)) {
		if p := r.Manifest.Views[name]; r.accept(ctx, seen, p, "view") {
			views[name] = p
		}
	}
	for _, view := range defaultViews {
		if _, ok := views[view.name]; !ok && r.routes(view.path) && seen.status(ctx, view.path) == registry.StatusPresent {
			views[view.name] = view.path
		}
	}
	views[manifestView] = r.ManifestFile.Path
	r.Views = views
}

// settle puts the entrypoints in place and says whose they are.
func (r *Repo) settle() {
	whose := string(ManifestBacked)
	if len(r.Entrypoints) == 0 {
		whose = string(RegistryFallback)
		r.Entrypoints = make([]Entrypoint, len(r.Entry.Entrypoints))
		for i, p := range r.Entry.Entrypoints {
			r.Entrypoints[i].Path = p
		}
	}
	for i := range r.Entrypoints {
		e := &r.Entrypoints[i]
		if e.Status = r.Entry.EntrypointStatus[e.Path]; e.Status == "" {
			e.Status = r.absent[e.Path]
		}
	}
	r.step("entrypoints", whose)
	for _, root := range r.ResourceRoots {
		for _, p := range root.Paths {
			if r.Entry.EntrypointStatus[p] == registry.StatusMissing {
				r.notice(RootMissing, p, "the resource root %s of type %s is recorded as missing", quote(p), quote(root.Type))
			}
		}
	}
}
