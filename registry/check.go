package registry

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/survey"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// Codes of [Check]. Those marked reject are where a reader of the registry would fail; for an archived repo
// they are warnings too.
const (
	RepoMissing        Code = "repo_missing"        // the folder of the repo is gone, or cannot be entered (reject)
	ManifestMissing    Code = "manifest_missing"    // the declared manifest is not there, or no regular file (reject)
	ManifestInvalid    Code = "manifest_invalid"    // the declared manifest cannot be read as one (reject)
	ManifestUndeclared Code = "manifest_undeclared" // there is a manifest, but the entry declares none
	ManifestIDDiffers  Code = "manifest_id_differs" // the manifest gives another repo id, or none
	FrameworkUnknown   Code = "framework_unknown"   // framework_repo of the manifest is no entry
	PathMissing        Code = "path_missing"        // a declared path is not there (reject)
	PathUnusable       Code = "path_unusable"       // a declared path is a link, or of the wrong kind (reject)
	StatusStale        Code = "status_stale"        // entrypoint_status says otherwise
	OwnerMissing       Code = "owner_missing"       // nobody owns the repo
	OwnerPlaceholder   Code = "owner_placeholder"   // the owner ends in -tbd
	OwnerDiffers       Code = "owner_differs"       // CODEOWNERS gives another owner
)

// Check compares a registry with the workspace and reports where they differ, sorted by repo id. It looks at
// what the registry and the manifests declare, and beyond that only in repos that are safe to probe. It
// changes nothing, whatever it finds.
//
// Problems point to the entry in the registry, or to the manifest where the fault is there. The error is that of
// ctx, or an [*Error] if the workspace cannot be opened.
func Check(ctx context.Context, reg *Registry, opts *ScanOptions) ([]Problem, error) {
	o := opts.withDefaults()
	root, err := rootfs.Open(reg.root, nil)
	if err != nil {
		return nil, fail(reg.file, Unreadable, err, "the workspace: "+err.Error())
	}
	defer root.Close() //nolint:errcheck // nothing is written
	c := checker{reg: reg, root: root}
	for i := range reg.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.entry(reg.entries[i])
		if o.Progress != nil {
			o.Progress(i+1, 0)
		}
	}
	if c.dropped > 0 {
		c.problems = append(c.problems, Problem{
			Code: TooManyProblems, Severity: Warn, File: reg.file, Message: fmt.Sprintf("%d more problems are not listed", c.dropped),
		})
	}
	return c.problems, nil
}

type checker struct {
	reg      *Registry
	root     *rootfs.Root
	problems []Problem
	dropped  int

	at located // the current entry
}

// report notes a problem with a field of the current entry.
func (c *checker) report(field string, code Code, severity Severity, format string, args ...any) {
	c.add(Problem{
		Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), File: c.at.file,
		Line: int(c.at.line), Column: int(c.at.column),
		Field: entryField(c.at.overlay, int(c.at.item), field),
	})
}

func (c *checker) add(p Problem) {
	if len(c.problems) == maxProblems {
		c.dropped++
		return
	}
	p.RepoID = c.at.ID
	if c.at.Lifecycle == Archived {
		p.Severity = Warn
	}
	c.problems = append(c.problems, p)
}

func (c *checker) entry(at located) {
	repo := at.Repo
	c.at = at
	if info, err := c.root.Stat(repo.Path); err != nil || !info.Mode.IsDir() {
		c.report(".path", RepoMissing, Reject, "the folder %s %s", quote(repo.Path), absence(err))
		return
	}
	folder := survey.NewFolder(c.root, repo.Path)
	c.declared(repo)
	if repo.ManifestPath != "" {
		c.manifest(repo)
	} else if repo.SafeToProbe && folder.IsFile(survey.ManifestPath) {
		c.report(".manifest_source", ManifestUndeclared, Warn,
			"there is a manifest at %s, but the entry declares none; write manifest_source: repo and its path", survey.ManifestPath)
	}
	c.owner(repo, folder)
}

// absence says why something is not as it should be.
func absence(err error) string {
	switch rootfs.CodeOf(err) {
	case "":
		return "is of the wrong kind"
	case rootfs.NotFound:
		return "is not there"
	case rootfs.Link:
		return "is a link, or behind one"
	}
	return "cannot be used: " + string(rootfs.CodeOf(err))
}

// declared checks the paths of the entry itself.
func (c *checker) declared(repo *Repo) {
	for i, p := range repo.Entrypoints {
		c.path(".entrypoints["+strconv.Itoa(i)+"]", p, false)
	}
	for _, name := range slices.Sorted(maps.Keys(repo.Views)) {
		c.path(".views."+name, repo.Views[name], false)
	}
	c.roots(".resource_roots.", repo.ResourceRoots)
	for i, part := range repo.Components {
		c.roots(".components["+strconv.Itoa(i)+"].paths.", part.Roots)
	}
}

func (c *checker) roots(field string, roots []ResourceRoot) {
	for _, root := range roots {
		for _, p := range root.Paths {
			c.path(field+root.Type, p, true)
		}
	}
}

// Limits of what package resolve serves by default.
const (
	maxServed         = 4 << 20   // of a file
	maxServedManifest = 256 << 10 // of a manifest
)

// path compares a declared path with what is there and with its recorded status.
func (c *checker) path(field, p string, dir bool) {
	info, err := c.root.Stat(path.Join(c.at.Path, p))
	good := err == nil && info.Err == nil && info.Mode.IsDir() == dir && (dir || info.Mode.IsRegular())
	status, recorded := c.at.EntrypointStatus[p]
	if good && !dir {
		c.size(field, p, info.Size, status)
	}
	switch missing := rootfs.CodeOf(err) == rootfs.NotFound; {
	case good && recorded && status != StatusPresent && status != StatusTooLarge:
		c.report(field, StatusStale, Warn, "%s is there, but its status is %s", quote(p), status)
	case good || recorded && status != StatusPresent:
	case missing:
		c.report(field, PathMissing, Reject, "%s is not there; remove it, or give it the status missing", quote(p))
	default:
		c.report(field, PathUnusable, Reject, "%s %s", quote(p), absence(err))
	}
}

// size reports a file that no reader gets.
func (c *checker) size(field, p string, size int64, status EntrypointStatus) {
	if size > maxServed && status != StatusTooLarge {
		c.report(field, PathUnusable, Reject, "%s has %d bytes, more than the %d that are served; give it the status %s",
			quote(p), size, int64(maxServed), StatusTooLarge)
	}
}

// manifest checks the manifest, and that what it declares is there.
func (c *checker) manifest(repo *Repo) {
	if status := repo.EntrypointStatus[repo.ManifestPath]; status != "" && status != StatusPresent {
		c.report(".manifest_path", ManifestMissing, Reject, "the manifest %s has the status %s", quote(repo.ManifestPath), status)
		return
	}
	file := path.Join(repo.Path, repo.ManifestPath)
	data, err := c.root.ReadFile(file, maxServedManifest)
	if rootfs.CodeOf(err) == rootfs.TooLarge {
		c.report(".manifest_path", ManifestInvalid, Reject, "the manifest %s has more than %d bytes, the most that is read; split what it holds",
			quote(repo.ManifestPath), maxServedManifest)
		return
	}
	if err != nil {
		c.report(".manifest_path", ManifestMissing, Reject, "the manifest %s %s", quote(repo.ManifestPath), absence(err))
		return
	}
	m, r, problems, err := readManifest(data, ParseOptions{File: file})
	if err != nil {
		c.report(".manifest_path", ManifestInvalid, Reject, "the manifest cannot be read: %v", err)
		return
	}
	for _, p := range problems {
		if p.Field == "repo_id" && p.Code == MissingField {
			continue // told below
		}
		p.Severity = Warn
		c.add(p)
	}
	c.manifestContent(repo, m, r)
}

// manifestContent checks a manifest against the registry and the disk. Nothing of it is worse than a warning,
// as readers fall back on the registry.
func (c *checker) manifestContent(repo *Repo, m *Manifest, r *reader) {
	warn := func(mark tree.Mark, field string, code Code, format string, args ...any) {
		p := Problem{Code: code, Severity: Warn, File: r.opts.File, Field: field, Message: fmt.Sprintf(format, args...)}
		p.Line, p.Column = r.loc.Position(mark)
		c.add(p)
	}
	if m.ID != repo.ID {
		warn(r.places["repo_id"], "repo_id", ManifestIDDiffers,
			"the manifest gives the repo id %s, the registry %s; the registry's counts", quote(m.ID), quote(repo.ID))
	}
	if _, known := c.reg.Lookup(m.FrameworkRepo); m.FrameworkRepo != "" && !known {
		warn(r.places["framework_repo"], "framework_repo", FrameworkUnknown, "%s is no repo of the registry", quote(m.FrameworkRepo))
	}
	told := make(map[declared]bool) // of a list, once for each path
	for _, d := range r.declared {
		list, _, _ := strings.Cut(d.field, "[")
		if _, recorded := repo.EntrypointStatus[d.path]; recorded || told[declared{path: d.path, field: list}] {
			continue
		}
		if _, err := c.root.Stat(path.Join(repo.Path, d.path)); err != nil {
			told[declared{path: d.path, field: list}] = true
			warn(d.mark, d.field, PathMissing, "%s %s", quote(d.path), absence(err))
		}
	}
}

// owner checks that somebody owns the repo. CODEOWNERS is only a hint: the registry's owner counts.
func (c *checker) owner(repo *Repo, f *survey.Folder) {
	var hint, other string
	if repo.SafeToProbe {
		if owner, file := survey.Owner(f); owner != "" {
			hint, other = "; "+file+" gives "+quote(owner), owner
		}
	}
	switch {
	case repo.Owner == "":
		c.report(".owner", OwnerMissing, Warn, "the repo has no owner%s", hint)
	case strings.HasSuffix(strings.ToLower(repo.Owner), placeholder):
		c.report(".owner", OwnerPlaceholder, Warn, "%s is a placeholder%s", quote(repo.Owner), hint)
	case other != "" && !sameOwner(repo.Owner, other):
		c.report(".owner", OwnerDiffers, Warn, "the owner is %s%s", quote(repo.Owner), hint)
	}
}

// sameOwner compares names of teams: @acme/platform is platform.
func sameOwner(a, b string) bool {
	short := func(s string) string { return strings.ToLower(path.Base(strings.TrimPrefix(s, "@"))) }
	return short(a) == short(b)
}
