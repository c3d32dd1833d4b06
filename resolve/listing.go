package resolve

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/registry"
)

// listing answers whether a file is there by listing folders from a known one
// down, each at most once. Asking for the file itself would be a failed
// operation whenever it is not there.
type listing struct {
	repo    *Repo
	folders map[string]map[string]bool // folder, then the name of an entry: is it a folder?
}

func newListing(r *Repo) *listing {
	return &listing{repo: r, folders: map[string]map[string]bool{}}
}

// has reports whether a path that the registry routes is there, as far as the
// registry and the folders tell. The registry is taken at its word.
func (l *listing) has(ctx context.Context, p string) bool {
	if status := l.repo.Entry.EntrypointStatus[p]; status != "" {
		return status == registry.StatusPresent
	}
	if slices.Contains(l.repo.Entry.Entrypoints, p) {
		return true
	}
	folder, ok := l.repo.rootOf(p)
	if !ok || folder == p || l.repo.recorded(folder) != nil {
		return false
	}
	for rest := p[len(folder)+1:]; ; {
		name, deeper, isPath := strings.Cut(rest, "/")
		isFolder, ok := l.list(ctx, folder)[name]
		if !ok || isFolder != isPath {
			return false
		}
		if !isPath {
			return true
		}
		folder, rest = path.Join(folder, name), deeper
	}
}

// list returns the plain files and folders of a folder; nil if it cannot be
// listed, which makes what it may hold absent.
func (l *listing) list(ctx context.Context, folder string) map[string]bool {
	if names, ok := l.folders[folder]; ok {
		return names
	}
	l.folders[folder] = nil
	dir, err := l.repo.open(ctx)
	if err != nil {
		return nil
	}
	infos, err := dir.ReadDir(l.repo.below(folder), l.repo.resolver.opts.MaxEntries)
	if err != nil {
		return nil
	}
	names := make(map[string]bool, len(infos))
	for _, info := range infos {
		if info.Err == nil {
			names[path.Base(info.Path)] = info.Mode.IsDir()
		}
	}
	l.folders[folder] = names
	return names
}
