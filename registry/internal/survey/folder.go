package survey

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

const (
	maxEntries = 2000      // entries listed in one repo
	maxDepth   = 4         // levels below a repo that are listed
	maxFile    = 256 << 10 // bytes of one file that is read
)

// Folder looks into one repo by listing folders, each at most once. Listing tells the exact spelling of a
// name, which asking for the name does not on a file system that folds case, and makes no failed operation.
// It is not safe for concurrent use.
type Folder struct {
	root   *rootfs.Root
	path   string // of the repo below root, "." for root itself
	listed map[string][]rootfs.Info
	left   int
	// Incomplete holds the folders that could not be listed, or not within the limits.
	Incomplete []string
}

// NewFolder gives the repo at a path below root; "." is root itself.
func NewFolder(root *rootfs.Root, path string) *Folder {
	return &Folder{root: root, path: path, listed: make(map[string][]rootfs.Info), left: maxEntries}
}

// List gives the entries of a folder in the repo, "." for the repo itself; none if it is not there. The
// paths of the entries are relative to the repo.
func (f *Folder) List(dir string) []rootfs.Info {
	if have, ok := f.listed[dir]; ok {
		return have
	}
	f.listed[dir] = nil
	if dir != "." {
		if info, ok := f.Find(dir); !ok || !info.Mode.IsDir() || info.Err != nil || strings.Count(dir, "/") >= maxDepth {
			return nil
		}
	}
	infos, err := f.root.ReadDir(path.Join(f.path, dir), f.left)
	if err != nil {
		f.Incomplete = append(f.Incomplete, dir)
		return nil
	}
	f.left -= len(infos)
	for i := range infos {
		infos[i].Path = path.Join(dir, path.Base(infos[i].Path))
	}
	f.listed[dir] = infos
	return infos
}

// know hands over a listing of the repo itself. The entries are changed.
func (f *Folder) know(infos []rootfs.Info) {
	for i := range infos {
		infos[i].Path = path.Base(infos[i].Path)
	}
	f.listed["."] = infos
}

// Find gives the entry at a path in the repo, spelt exactly so.
func (f *Folder) Find(p string) (rootfs.Info, bool) {
	for _, info := range f.List(path.Dir(p)) {
		if info.Path == p {
			return info, true
		}
	}
	return rootfs.Info{}, false
}

// IsFile reports whether a path is a regular file that may be read.
func (f *Folder) IsFile(p string) bool {
	info, ok := f.Find(p)
	return ok && info.Err == nil && info.Mode.IsRegular()
}

// IsDir reports whether a path is a folder that may be listed.
func (f *Folder) IsDir(p string) bool {
	info, ok := f.Find(p)
	return ok && info.Err == nil && info.Mode.IsDir()
}

// Sees reports whether it is known what is in a folder: it was listed, or is known not to be there.
func (f *Folder) Sees(dir string) bool {
	f.List(dir)
	return strings.Count(dir, "/") < maxDepth && !slices.Contains(f.Incomplete, dir)
}

// FindFold gives the path of the regular file whose last part matches whatever its case; the exact spelling
// comes first.
func (f *Folder) FindFold(p string) (string, bool) {
	if f.IsFile(p) {
		return p, true
	}
	for _, info := range f.List(path.Dir(p)) {
		if info.Err == nil && info.Mode.IsRegular() && strings.EqualFold(info.Path, p) {
			return info.Path, true
		}
	}
	return "", false
}

// Read gives the content of a small regular file that Find has seen.
func (f *Folder) Read(p string) ([]byte, bool) {
	info, ok := f.Find(p)
	if !ok || info.Err != nil || !info.Mode.IsRegular() || info.Size > maxFile {
		return nil, false
	}
	data, err := f.root.ReadFile(path.Join(f.path, p), maxFile)
	return data, err == nil
}

// Markdown gives the first Markdown file below a folder, nearest first, at most three levels down.
func (f *Folder) Markdown(dir string) (string, bool) {
	level := []string{dir}
	for range 3 {
		var next []string
		for _, d := range level {
			for _, info := range f.List(d) {
				switch {
				case info.Err != nil:
				case info.Mode.IsDir():
					next = append(next, info.Path)
				case info.Mode.IsRegular() && isMarkdown(info.Path):
					return info.Path, true
				}
			}
		}
		level = next
	}
	return "", false
}

func isMarkdown(p string) bool { return strings.EqualFold(path.Ext(p), ".md") }
