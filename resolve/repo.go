package resolve

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// Mode says on what an answer rests.
type Mode string

// The modes, from the firmest to the weakest.
const (
	// ManifestBacked: the registry declares a manifest and it was read.
	ManifestBacked Mode = "manifest-backed"
	// RegistryFallback: the registry's own declarations are all there is.
	RegistryFallback Mode = "registry-fallback"
	// Heuristic: the registry does not know the repo; folders were listed.
	Heuristic Mode = "heuristic"
)

// Entrypoint is a file to read first.
type Entrypoint struct {
	// Path is relative to the repo.
	Path string
	// Status is what the registry records, empty where it records nothing.
	// [Repo.Inspect] replaces it by what is on disk.
	Status registry.EntrypointStatus
	// Size is in bytes. Only Inspect sets it.
	Size int64
	// SHA256 is 64 lower-case hex digits. Only Inspect sets it.
	SHA256 string
}

// Notice is something a reader of the repo should know. It is never an error.
type Notice struct {
	Code    Code
	Message string // one sentence
	Path    string // relative to the repo, empty where no path is concerned
}

// Step is one step of a resolution.
type Step struct {
	// Name is registry, manifest, entrypoints or heuristic. The first step is
	// always registry.
	Name string
	// Outcome is one word or two that say how it went, such as found, renamed,
	// unknown, loaded, not declared, missing, invalid.
	Outcome string
}

// Repo is a resolved repo: what may be read in it, in which order and on whose
// authority. Its fields describe one moment and are not to be changed; slices
// and maps may be shared with the registry. A Repo is safe for concurrent use.
// Close it when it is no longer needed.
type Repo struct {
	// ID is the registered id, which may differ from a former id asked for. In
	// heuristic mode it is the name of the folder.
	ID string
	// Root is the folder of the repo, slash-separated and relative to the
	// workspace root; "." if the workspace is the repo.
	Root string
	// Mode says on what the answer rests.
	Mode Mode
	// Class and Owner are the manifest's, where it gives them, else the
	// registry's.
	Class, Owner string
	// AuthorityOrder lists what outranks what, first wins: the manifest's, or
	// the registry's where the manifest gives none.
	AuthorityOrder []string
	// Entrypoints are the files to read first, in order: the manifest's, or the
	// registry's where the manifest gives none that may be served.
	Entrypoints []Entrypoint
	// ResourceRoots are the folders that [Repo.Scan] lists, sorted by type: the
	// registry's, each type replaced by the manifest's paths where it has some.
	ResourceRoots []registry.ResourceRoot
	// Views maps the name of each view that [Repo.View] gives to its path.
	Views map[string]string
	// Manifest is the manifest as parsed, nil unless the mode is
	// [ManifestBacked]. ManifestFile is the file it came from.
	Manifest     *registry.Manifest
	ManifestFile *File
	// Entry is the registry's entry. In heuristic mode it holds nothing but
	// the signals that were seen.
	Entry registry.Repo
	// Notices says what is wrong or unusual, at most 41 of them.
	Notices []Notice
	// Steps says what was done, in order.
	Steps []Step

	steps    [3]Step // the memory of Steps
	resolver *Resolver
	registry *registry.Registry
	folder   string                               // the folder that root opens, relative to the workspace; "" is the workspace itself
	prefix   string                               // the path of the repo below that folder, "" if it is the repo
	absent   map[string]registry.EntrypointStatus // paths of the manifest that its folders do not show

	mu     sync.Mutex
	root   *rootfs.Root
	closed bool
}

// File is one file as it was read.
type File struct {
	// Path is relative to the repo.
	Path string
	// Data is the whole content; the caller may keep and change it, except for
	// [Repo.ManifestFile], which views share.
	Data []byte
	// SHA256 is the digest of Data, 64 lower-case hex digits.
	SHA256 string
}

// Entry is one file of a resource root.
type Entry struct {
	Path string // relative to the repo
	Size int64  // in bytes
}

// Close releases the folder of the repo. Later reads fail with repo_closed.
// Closing twice is fine.
func (r *Repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.root == nil {
		return nil
	}
	err := r.root.Close()
	r.root = nil
	return err
}

// Revision identifies the declarations this repo was resolved by: 64 lower-case
// hex digits over the registry, the id and the manifest. Two repos with the
// same revision were declared alike; the files may still differ.
func (r *Repo) Revision() string {
	manifest := ""
	if r.ManifestFile != nil {
		manifest = r.ManifestFile.SHA256
	}
	return canon.Digest("mcpcontract/resolve/revision/v1", []byte(r.registry.Digest()), []byte(r.ID), []byte(manifest))
}

// Open reads one file: a declared entrypoint, or any file below a declared
// resource root. It reads nothing else, whatever the file system holds. In
// heuristic mode the entrypoints that were found are all there is.
//
// The error is an [*Error] with the code path_not_declared, repo_missing,
// repo_closed, file_missing, file_too_large, file_refused, file_unreadable or
// file_changed, or the error of ctx.
func (r *Repo) Open(ctx context.Context, path string) (*File, error) {
	if rootfs.Check(path) != nil || !r.declares(path) {
		return nil, r.notDeclared(path)
	}
	return r.read(ctx, path, r.resolver.opts.MaxFile)
}

// View reads the file behind a view; [Repo.Views] has the names. The usual ones
// are manifest, start-here, capabilities, workflows and contracts.
//
// The error is an [*Error] with the code view_not_declared, or one of
// [Repo.Open].
func (r *Repo) View(ctx context.Context, name string) (*File, error) {
	path, ok := r.Views[name]
	if !ok {
		names := slices.Sorted(maps.Keys(r.Views))
		return nil, &Error{
			Code:    ViewNotDeclared,
			Message: fmt.Sprintf("repo %s has no view %s; it has: %s", quote(r.ID), quote(name), sample(names)),
			Details: Details{RepoID: r.ID, Path: clip(name), Views: r.Views},
		}
	}
	if r.ManifestFile != nil && path == r.ManifestFile.Path {
		return r.ManifestFile, nil
	}
	return r.read(ctx, path, r.resolver.opts.MaxFile)
}

// Scan lists the files below the resource roots of one type, sorted by the
// bytes of their paths. Links, other things that are no plain files, and files
// whose names the path policy refuses are left out. A root that is not there
// contributes nothing, unless all of them are missing.
//
// The error is an [*Error] with the code root_not_declared, repo_missing,
// repo_closed, file_missing, file_refused, file_unreadable or too_many_entries,
// or the error of ctx.
func (r *Repo) Scan(ctx context.Context, kind string) ([]Entry, error) {
	var roots []string
	for _, root := range r.ResourceRoots {
		if root.Type == kind {
			roots = root.Paths
		}
	}
	if roots == nil {
		return nil, r.rootNotDeclared(kind)
	}
	found := map[string]int64{}
	var missing *Error
	present := 0
	for _, root := range roots {
		err := r.walk(ctx, root, found)
		switch e := (*Error)(nil); {
		case err == nil:
			present++
		case errors.As(err, &e) && e.Code == FileMissing:
			missing = e
		default:
			return nil, err
		}
	}
	if present == 0 {
		return nil, missing
	}
	entries := make([]Entry, 0, len(found))
	for _, p := range slices.Sorted(maps.Keys(found)) {
		entries = append(entries, Entry{Path: p, Size: found[p]})
	}
	return entries, nil
}

// walk adds the files below one root.
func (r *Repo) walk(ctx context.Context, root string, found map[string]int64) error {
	if err := r.recorded(root); err != nil {
		return err
	}
	dir, err := r.open(ctx)
	if err != nil {
		return err
	}
	err = dir.Walk(ctx, r.below(root), &rootfs.Limits{Entries: r.resolver.opts.MaxEntries}, func(info rootfs.Info) error {
		if !info.Mode.IsRegular() || info.Err != nil {
			return nil
		}
		if found[r.relative(info.Path)] = info.Size; len(found) > r.resolver.opts.MaxEntries {
			return &rootfs.Error{Op: "walk", Path: root, Code: rootfs.TooMany}
		}
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fileError(r.ID, root, err)
	}
	return nil
}

// Inspect looks at every entrypoint and returns them in the same order, with
// status, size and digest as they are on disk now. What the registry records as
// anything but present is passed on as recorded and not touched. The notices
// name the entrypoints that the registry is wrong about.
//
// The error is an [*Error] with the code repo_closed, or the error of ctx.
func (r *Repo) Inspect(ctx context.Context) ([]Entrypoint, []Notice, error) {
	found := slices.Clone(r.Entrypoints)
	var notices []Notice
	for i := range found {
		e := &found[i]
		if e.Status != "" && e.Status != registry.StatusPresent {
			continue
		}
		err := r.inspect(ctx, e)
		if err == nil {
			continue
		}
		var fault *Error
		if !errors.As(err, &fault) || fault.Code == RepoClosed {
			return nil, nil, err
		}
		n := Notice{Code: EntrypointUnusable, Path: e.Path, Message: fault.Message}
		if e.Status = statusOf(fault.Code); e.Status == registry.StatusMissing {
			n.Code = EntrypointMissing
		}
		notices = append(notices, n)
	}
	return found, notices, nil
}

// inspect hashes one entrypoint.
func (r *Repo) inspect(ctx context.Context, e *Entrypoint) error {
	dir, err := r.open(ctx)
	if err != nil {
		return err
	}
	sum, size, err := dir.Hash(r.below(e.Path), r.resolver.opts.MaxFile)
	if err != nil {
		return fileError(r.ID, e.Path, err)
	}
	e.Status, e.Size, e.SHA256 = registry.StatusPresent, size, hex.EncodeToString(sum[:])
	return nil
}

// statusOf names a fault the way a registry records it.
func statusOf(code Code) registry.EntrypointStatus {
	switch code {
	case FileMissing, RepoMissing:
		return registry.StatusMissing
	case FileTooLarge:
		return registry.StatusTooLarge
	case FileRefused:
		return registry.StatusNotAFile
	}
	return registry.StatusUnreadable
}

// read reads a path that was found to be declared.
func (r *Repo) read(ctx context.Context, path string, limit int64) (*File, error) {
	if err := r.recorded(path); err != nil {
		return nil, err
	}
	dir, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	data, err := dir.ReadFile(r.below(path), limit)
	if err != nil {
		return nil, fileError(r.ID, path, err)
	}
	return &File{Path: path, Data: data, SHA256: canon.Sum(data)}, nil
}

// recorded refuses a path that is known not to be there: the registry records it
// as anything but present, or the listing of its folder did not show it. Such a
// path is not touched, so that what is known beforehand never becomes a failed
// file operation.
func (r *Repo) recorded(path string) error {
	status, advice := r.Entry.EntrypointStatus[path], "according to the registry; generate it anew if that has changed"
	if status == "" {
		status, advice = r.absent[path], "although the manifest names it"
	}
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
		Message: fmt.Sprintf("repo %s: %s is %s %s", quote(r.ID), quote(path), status, advice),
		Details: Details{RepoID: r.ID, Path: clip(path)},
	}
}

// open returns the open folder of the repo.
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
	root, err := rootfs.Open(filepath.Join(r.registry.Root(), filepath.FromSlash(r.folder)), &r.resolver.rootfs)
	if err != nil {
		e := fileError(r.ID, r.Root, err)
		if e.Code == FileMissing || e.Code == FileRefused {
			e.Code = RepoMissing
			e.Message = fmt.Sprintf("repo %s: its folder %s is not there; run check on the registry", quote(r.ID), quote(r.Root))
		}
		return nil, e
	}
	r.root = root
	return root, nil
}

// below turns a path of the repo into one of the opened folder.
func (r *Repo) below(p string) string { return path.Join(r.prefix, p) }

// relative is the reverse of below.
func (r *Repo) relative(p string) string {
	if r.prefix == "" {
		return p
	}
	return strings.TrimPrefix(p, r.prefix+"/")
}

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
			if path == root || len(path) > len(root) && path[len(root)] == '/' && strings.HasPrefix(path, root) {
				return root, true
			}
		}
	}
	return "", false
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

// Text returns the content as text. Where it is not UTF-8 or holds a NUL byte,
// which no text does, the error is an [*Error] with the code not_text.
func (f *File) Text() (string, error) {
	if !utf8.Valid(f.Data) || bytes.IndexByte(f.Data, 0) >= 0 {
		return "", &Error{
			Code:    NotText,
			Message: fmt.Sprintf("the file %s is not UTF-8 text (%d bytes); this server gives text only", quote(f.Path), len(f.Data)),
			Details: Details{Path: clip(f.Path)},
		}
	}
	return string(f.Data), nil
}
