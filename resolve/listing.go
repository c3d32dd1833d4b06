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
	folders map[string]map[string]kind // by folder and the name of an entry
}

// kind is what an entry of a folder is.
type kind int

const (
	isAbsent kind = iota
	isFile
	isFolder
	isOther // what can be neither read nor entered, such as a link
)

func newListing(r *Repo) *listing {
	return &listing{repo: r, folders: map[string]map[string]kind{}}
}

// status says what is at a path that the registry routes, as far as the registry
// and the folders tell. The registry is taken at its word.
func (l *listing) status(ctx context.Context, p string) registry.EntrypointStatus {
	if status := l.repo.Entry.EntrypointStatus[p]; status != "" {
		return status
	}
	if slices.Contains(l.repo.Entry.Entrypoints, p) {
		return registry.StatusPresent
	}
	folder, ok := l.repo.rootOf(p)
	switch {
	case !ok || l.repo.recorded(folder) != nil:
		return registry.StatusMissing
	case folder == p:
		return registry.StatusNotAFile
	}
	for rest := p[len(folder)+1:]; ; {
		name, deeper, isPath := strings.Cut(rest, "/")
		is := l.list(ctx, folder)[name]
		switch {
		case is == isAbsent, isPath && is == isFile:
			return registry.StatusMissing
		case !isPath && is == isFile:
			return registry.StatusPresent
		case !isPath || is == isOther:
			return registry.StatusNotAFile
		}
		folder, rest = path.Join(folder, name), deeper
	}
}

// list returns what is in a folder; nil if it cannot be
// listed, which makes what it may hold absent.
func (l *listing) list(ctx context.Context, folder string) map[string]kind {
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
	names := make(map[string]kind, len(infos))
	for _, info := range infos {
		is := isOther
		switch {
		case info.Err != nil:
		case info.Mode.IsDir():
			is = isFolder
		case info.Mode.IsRegular():
			is = isFile
		}
		names[path.Base(info.Path)] = is
	}
	l.folders[folder] = names
	return names
}
