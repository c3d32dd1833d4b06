package resolve

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	absent   map[string]registry.EntrypointStatus // paths of the manifest at which its folders show no file

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

// FileInfo is one file of a resource root, as [Repo.Scan] lists it.
type FileInfo struct {
	Path string // relative to the repo
	Size int64  // in bytes
}

// Close releases the workspace folder, which the first read opened. Later reads fail with repo_closed.
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
			Details: Details{RepoID: r.ID, Path: clip(name), Views: r.someViews(names)},
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
func (r *Repo) Scan(ctx context.Context, kind string) ([]FileInfo, error) {
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
	files := make([]FileInfo, 0, len(found))
	for _, p := range slices.Sorted(maps.Keys(found)) {
		files = append(files, FileInfo{Path: p, Size: found[p]})
	}
	return files, nil
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
		return r.fault(dir, root, int64(r.resolver.opts.MaxEntries), err)
	}
	return nil
}

// Inspect looks at every entrypoint and returns them in the same order, with
// status, size and digest as they are on disk now. What the registry records as
// anything but present is passed on as recorded and not touched. After the first
// 64 files that were hashed the rest comes without digests. The notices name the
// entrypoints that are not as the registry says.
//
// The error is an [*Error] with the code repo_closed, or the error of ctx.
func (r *Repo) Inspect(ctx context.Context) ([]Entrypoint, []Notice, error) {
	found := slices.Clone(r.Entrypoints)
	var notices []Notice
	hashed := 0
	for i := range found {
		e := &found[i]
		if e.Status != "" && e.Status != registry.StatusPresent {
			continue
		}
		err := r.inspect(ctx, e, hashed < maxHashed)
		if hashed++; err == nil {
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

const maxHashed = 64

// inspect looks at one entrypoint.
func (r *Repo) inspect(ctx context.Context, e *Entrypoint, hash bool) error {
	dir, err := r.open(ctx)
	if err != nil {
		return err
	}
	size, digest := int64(0), ""
	if hash {
		var sum [32]byte
		sum, size, err = dir.Hash(r.below(e.Path), r.resolver.opts.MaxFile)
		digest = hex.EncodeToString(sum[:])
	} else {
		size, err = statFile(dir, r.below(e.Path))
	}
	if err != nil {
		return r.fault(dir, e.Path, r.resolver.opts.MaxFile, err)
	}
	e.Status, e.Size, e.SHA256 = registry.StatusPresent, size, digest
	return nil
}

// statFile returns the size of a file that can be read.
func statFile(dir *rootfs.Root, path string) (int64, error) {
	info, err := dir.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case info.Err != nil:
		return 0, info.Err
	case !info.Mode.IsRegular():
		return 0, &rootfs.Error{Op: "stat", Path: path, Code: rootfs.NotRegular}
	}
	return info.Size, nil
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
