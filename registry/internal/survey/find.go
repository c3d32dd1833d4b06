package survey

import (
	"context"
	"fmt"
	"path"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// maxSkipped is how many skipped parts are named.
const maxSkipped = 20

// Search looks for repos in a workspace.
type Search struct {
	Root     *rootfs.Root
	Markers  []string // paths in a folder that make it a repo
	Depth    int      // levels below the root that are listed
	Entries  int      // entries listed in all, outside repos
	Progress func(repos, entries int)

	Skipped []string // the first parts that were not searched, and why
	More    int      // how many others there are
	repos   int
	entries int
	found   func(path string, f *Folder)
}

// Run calls found for each repo, in the byte order of their paths. It does not look for repos inside a repo.
// The root itself is a repo only if it has a marker and no folder below it has. The error is that of ctx.
func (s *Search) Run(ctx context.Context, found func(path string, f *Folder)) error {
	s.found = found
	if err := s.folder(ctx, ".", 0); err != nil {
		return err
	}
	if top := NewFolder(s.Root, "."); s.repos == 0 && s.marked(top) {
		s.take(".", top)
	}
	s.tell()
	return nil
}

// folder takes a folder as a repo or looks at the folders in it.
func (s *Search) folder(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	infos, err := s.Root.ReadDir(dir, s.Entries-s.entries)
	if err != nil {
		s.skip(dir, err)
		return nil
	}
	f := NewFolder(s.Root, dir)
	f.know(infos)
	if depth > 0 && s.marked(f) {
		s.take(dir, f)
		return nil
	}
	s.entries += len(infos)
	for _, info := range infos {
		name := path.Base(info.Path)
		switch {
		case !info.Mode.IsDir() || name == ".git" || name == "node_modules":
		case info.Err != nil:
			s.skip(path.Join(dir, name), info.Err)
		case depth == s.Depth:
			s.skip(path.Join(dir, name), fmt.Errorf("deeper than %d levels", s.Depth))
		default:
			if err := s.folder(ctx, path.Join(dir, name), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Search) take(path string, f *Folder) {
	s.repos++
	s.found(path, f)
	s.tell()
}

func (s *Search) tell() {
	if s.Progress != nil {
		s.Progress(s.repos, s.entries)
	}
}

func (s *Search) skip(dir string, why error) {
	if len(s.Skipped) == maxSkipped {
		s.More++
		return
	}
	s.Skipped = append(s.Skipped, fmt.Sprintf("%q: %v", dir, why))
}

// marked reports whether a folder has one of the markers. The name is enough: .git is a folder in a clone
// and a file in a worktree, and the path policy lets neither be opened.
func (s *Search) marked(f *Folder) bool {
	for _, m := range s.Markers {
		if info, ok := f.Find(m); ok && (info.Mode.IsRegular() || info.Mode.IsDir()) {
			return true
		}
	}
	return false
}
