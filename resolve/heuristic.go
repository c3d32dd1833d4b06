package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// ladder is where entrypoints usually lie, in the order in which they help a
// reader. Names are compared without case, because both README.md and Readme.md
// are common and a disk that folds case would lie about either.
var ladder = [...]string{
	"docs/agent/start-here.md",
	"AGENTS.md",
	"README.md",
	"README.rst",
	"README.txt",
	"README",
	"docs/index.md",
	"docs/README.md",
	"docs/context/capabilities.md",
	"docs/context/workflows.md",
	"docs/context/contracts.md",
	"CLAUDE.md",
	".claude/CLAUDE.md",
	".github/copilot-instructions.md",
	"GEMINI.md",
	"llms.txt",
	"mkdocs.yml",
	"mkdocs.yaml",
	"properdocs.yml",
	"properdocs.yaml",
	"catalog-info.yaml",
}

// maxGuesses bounds the entrypoints of one unregistered repo, for folders that
// hold one name in many spellings.
const maxGuesses = 30

// unregistered answers for an id that the registry does not know.
func (r *Resolver) unregistered(ctx context.Context, reg *registry.Registry, id string) (*Repo, error) {
	if r.opts.NoHeuristics {
		return nil, unknown(reg, id, ProbeForbidden, "is not in the registry, and looking for repos elsewhere is switched off")
	}
	if !validID(id) || rootfs.Check(id) != nil {
		return nil, unknown(reg, id, RepoUnknown, "is not in the registry and cannot be the id of a repo")
	}
	taken := registeredFolders(reg)
	if other := cmp.Or(taken[id], taken["."]); other != "" {
		e := unknown(reg, id, ProbeForbidden, fmt.Sprintf("is not in the registry, and the folder of that name belongs to the registered repo %s", quote(other)))
		e.Details.Nearest = []string{other}
		return nil, e
	}
	repo := &Repo{
		ID: id, Root: id, Mode: Heuristic,
		resolver: r, registry: reg,
	}
	repo.step("registry", "unknown")
	if err := repo.guess(ctx, taken); err != nil {
		_ = repo.Close()
		return nil, err
	}
	repo.step("heuristic", "found")
	repo.notice(RepoUnregistered, "", "the registry does not list this repo; what is given was found by listing folders, so add it to the registry")
	return repo, nil
}

// unknown makes the error for an id without a repo.
func unknown(reg *registry.Registry, id string, code Code, reason string) *Error {
	near := nearest(reg, id)
	hint := "list the repos to see the ids"
	if len(near) > 0 {
		hint = "nearest ids: " + sample(near)
	}
	return &Error{
		Code:    code,
		Message: fmt.Sprintf("repo %s %s; %s", quote(id), reason, hint),
		Details: Details{RepoID: clip(id), Nearest: near},
	}
}

// registeredFolders maps the folders of the registered repos, relative to the
// workspace root, to their ids.
func registeredFolders(reg *registry.Registry) map[string]string {
	folders := make(map[string]string, reg.Len())
	for repo := range reg.Repos() {
		folders[repo.Path] = repo.ID
	}
	return folders
}

// guess finds the folder and its usual entrypoints. It lists folders and never
// asks for a name, so nothing it does can fail for want of a file. Folders of
// registered repos inside are left alone.
func (r *Repo) guess(ctx context.Context, taken map[string]string) error {
	root, err := r.open(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return unknown(r.registry, r.ID, RepoUnknown, "is not in the registry, and the workspace root cannot be opened to look for it")
	}
	top, err := root.ReadDir(".", r.resolver.opts.MaxEntries)
	if err != nil {
		return fileError(r.ID, "the workspace root", int64(r.resolver.opts.MaxEntries), err)
	}
	isRepo := func(info rootfs.Info) bool { return info.Path == r.ID && info.Mode.IsDir() && info.Err == nil }
	if !slices.ContainsFunc(top, isRepo) {
		return unknown(r.registry, r.ID, RepoUnknown, "is not in the registry, and no folder of that name is directly under the workspace root")
	}
	seen := newListing(r)
	for folder := range taken {
		if inside, ok := strings.CutPrefix(folder, r.Root+"/"); ok {
			seen.folders[inside] = nil
		}
	}
	for _, step := range ladder {
		dir, base := path.Split(step)
		names := seen.descend(ctx, path.Clean(dir))
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if names[name] == isFile && strings.EqualFold(name, base) && len(r.Entrypoints) < maxGuesses {
				r.Entrypoints = append(r.Entrypoints, Entrypoint{Path: path.Join(dir, name)})
			}
		}
	}
	r.guessSignals(ctx, seen)
	return ctx.Err()
}

// guessSignals says of the signals what the listed folders show. It looks no
// deeper than that, so a signal may be missing and is never wrong.
func (r *Repo) guessSignals(ctx context.Context, seen *listing) {
	holds := func(folder string, match func(name string) bool) bool {
		for name, is := range seen.descend(ctx, folder) {
			if is == isFile && match(strings.ToLower(name)) {
				return true
			}
		}
		return false
	}
	isDoc := func(name string) bool { return strings.HasSuffix(name, ".md") }
	isRecord := func(name string) bool {
		return isDoc(name) && name != "index.md" && name != "readme.md" && !strings.Contains(name, "template")
	}
	isSite := func(name string) bool {
		return slices.Contains([]string{"mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml"}, name)
	}
	r.Entry.Signals = registry.Signals{
		HasDocs:    holds("docs", isDoc),
		HasMkdocs:  holds(".", isSite),
		HasADR:     holds("docs/adr", isRecord),
		HasIntents: holds("docs/intents", isDoc),
	}
}

// descend lists a folder, if each folder on the way to it is there.
func (l *listing) descend(ctx context.Context, folder string) map[string]kind {
	if folder == "." {
		return l.list(ctx, folder)
	}
	parent, name := path.Split(folder)
	if l.descend(ctx, path.Clean(parent))[name] != isFolder {
		return nil
	}
	return l.list(ctx, folder)
}
