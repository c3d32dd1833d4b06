package resolve

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// read reads a path that was found to be declared.
func (r *Repo) read(ctx context.Context, path string, limit int64) (*File, error) {
	if err := r.recorded(path); err != nil {
		return nil, err
	}
	if err := r.known(path, r.absent[path], "although the manifest names it"); err != nil {
		return nil, err
	}
	dir, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	data, err := dir.ReadFile(r.below(path), limit)
	if err != nil {
		return nil, r.fault(dir, path, limit, err)
	}
	return &File{Path: path, Data: data, SHA256: canon.Sum(data)}, nil
}

// recorded refuses a path that the registry records as anything but present.
// Such a path is not touched, so that what is known beforehand never becomes a
// failed file operation.
func (r *Repo) recorded(path string) error {
	return r.known(path, r.Entry.EntrypointStatus[path], "according to the registry; generate it anew if that has changed")
}

// known refuses a path of which the status is known.
func (r *Repo) known(path string, status registry.EntrypointStatus, source string) error {
	code := FileRefused
	switch status {
	case "", registry.StatusPresent:
		return nil
	case registry.StatusMissing:
		code = FileMissing
	case registry.StatusTooLarge:
		code = FileTooLarge
	case registry.StatusUnreadable:
		code = FileUnreadable
	}
	return &Error{
		Code:    code,
		Message: fmt.Sprintf("repo %s: %s is %s %s", quote(r.ID), quote(path), status, source),
		Details: Details{RepoID: r.ID, Path: clip(path)},
	}
}

// open returns the open workspace folder. Repos are reached through it, so that
// links are refused on the way to a repo as they are inside it.
func (r *Repo) open(ctx context.Context) (*rootfs.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, &Error{Code: RepoClosed, Message: fmt.Sprintf("repo %s was closed", quote(r.ID)), Err: fs.ErrClosed}
	}
	if r.root != nil {
		return r.root, nil
	}
	root, err := rootfs.Open(r.registry.Root(), &r.resolver.rootfs)
	if err != nil {
		return nil, r.missing(err)
	}
	r.root = root
	return root, nil
}

// fault turns an error of the file layer into one of ours, and looks whether
// the repo itself, or a folder where a file belongs, is the reason.
func (r *Repo) fault(dir *rootfs.Root, path string, limit int64, err error) *Error {
	e := fileError(r.ID, path, limit, err)
	if e.Code == FileMissing || e.Code == FileRefused {
		if info, statErr := dir.Stat(r.Root); statErr != nil || !info.Mode.IsDir() {
			return r.missing(err)
		}
	}
	if rootfs.CodeOf(err) == rootfs.NotRegular {
		if info, statErr := dir.Stat(r.below(path)); statErr == nil && info.Mode.IsDir() {
			return r.isFolder(path, err)
		}
	}
	return e
}

// isFolder refuses to read a folder, and says by which types it can be listed.
func (r *Repo) isFolder(path string, err error) *Error {
	var kinds []string
	roots := map[string][]string{}
	for _, kind := range r.ResourceRoots {
		for _, root := range kind.Paths {
			if within(path, root) && len(kinds) < maxDeclared {
				kinds = append(kinds, kind.Type)
				roots[kind.Type] = []string{root}
				break
			}
		}
	}
	advice := "none of its resource types lists it"
	if len(kinds) > 0 {
		advice = "what is in it is listed by its resource type: " + sample(kinds)
	}
	return &Error{
		Code:    FileRefused,
		Message: fmt.Sprintf("repo %s: %s is a folder, not a file; %s", quote(r.ID), quote(path), advice),
		Details: Details{RepoID: clip(r.ID), Path: clip(path), ResourceRoots: roots},
		Err:     err,
	}
}

func (r *Repo) missing(err error) *Error {
	return &Error{
		Code:    RepoMissing,
		Message: fmt.Sprintf("repo %s: its folder %s is not there, or behind a link; run check on the registry", quote(r.ID), quote(r.Root)),
		Details: Details{RepoID: clip(r.ID)},
		Err:     err,
	}
}

// below turns a path of the repo into one of the workspace.
func (r *Repo) below(p string) string { return path.Join(r.Root, p) }

// relative is the reverse of below.
func (r *Repo) relative(p string) string { return strings.TrimPrefix(p, r.Root+"/") }

// declares reports whether path may be served: an entrypoint of the registry or
// of the manifest, or anything below a resource root of the registry, inside
// which those of a manifest lie.
//
// What the registry declares stays served when a manifest lists less: the
// manifest orders and adds, it takes nothing back.
func (r *Repo) declares(path string) bool {
	for _, e := range r.Entrypoints {
		if e.Path == path {
			return true
		}
	}
	return r.routes(path)
}

// routes reports whether the registry itself declares path.
func (r *Repo) routes(path string) bool {
	if slices.Contains(r.Entry.Entrypoints, path) {
		return true
	}
	_, ok := r.rootOf(path)
	return ok
}

// rootOf returns a resource root of the registry that is path or above it.
func (r *Repo) rootOf(path string) (root string, ok bool) {
	for _, kind := range r.Entry.ResourceRoots {
		for _, root := range kind.Paths {
			if within(path, root) {
				return root, true
			}
		}
	}
	return "", false
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	return path == folder || len(path) > len(folder) && path[len(folder)] == '/' && strings.HasPrefix(path, folder)
}

func (r *Repo) notDeclared(path string) error {
	var files, folders []string
	for _, e := range r.Entrypoints[:min(len(r.Entrypoints), maxDeclared)] {
		files = append(files, e.Path)
	}
	for _, root := range r.ResourceRoots {
		folders = append(folders, root.Paths...)
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	return &Error{
		Code: PathNotDeclared,
		Message: fmt.Sprintf("repo %s does not declare the path %s; entrypoints: %s; folders: %s",
			quote(r.ID), quote(path), sample(files), sample(folders)),
		Details: Details{RepoID: r.ID, Path: clip(path), Entrypoints: files, ResourceRoots: r.rootsByType()},
	}
}

func (r *Repo) rootNotDeclared(kind string) error {
	var kinds []string
	for _, root := range r.ResourceRoots {
		kinds = append(kinds, root.Type)
	}
	return &Error{
		Code: RootNotDeclared,
		Message: fmt.Sprintf("repo %s has no resource root of type %s; it has: %s",
			quote(r.ID), quote(kind), sample(kinds)),
		Details: Details{RepoID: r.ID, Path: clip(kind), ResourceRoots: r.rootsByType()},
	}
}

func (r *Repo) rootsByType() map[string][]string {
	roots := map[string][]string{}
	for _, root := range r.ResourceRoots[:min(len(r.ResourceRoots), maxDeclared)] {
		roots[root.Type] = root.Paths[:min(len(root.Paths), maxDeclared)]
	}
	return roots
}

// someViews returns as many views as details may hold.
func (r *Repo) someViews(names []string) map[string]string {
	views := map[string]string{}
	for _, name := range names[:min(len(names), maxDeclared)] {
		views[name] = r.Views[name]
	}
	return views
}
