package stage

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// maxID is the longest candidate id.
const maxID = 64

// The fixed names in Options.Dir. Candidate ids have no dots, so the list of
// declared files lies beside the candidate.
const (
	ignoreName  = ".gitignore"
	lockName    = "lock"
	journalName = "journal"
	stageDir    = "stage"
	undoDir     = "undo"
	receiptDir  = "receipts"
	listSuffix  = ".files.json"
)

// below returns a path in the area's directory.
func (a *Area) below(parts ...string) string {
	return a.opts.Dir + "/" + strings.Join(parts, "/")
}

// candidateDir is where the files of a candidate are.
func (a *Area) candidateDir(id string) string { return a.below(stageDir, id) }

// checkID reports whether id can name a candidate.
func checkID(op, id string) error {
	ok := id != "" && len(id) <= maxID
	for part := range strings.SplitSeq(id, "-") {
		ok = ok && part != "" && !strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
	}
	if !ok {
		return &Error{Code: CodeCandidate, Op: op, Detail: fmt.Sprintf("%.80q", id)}
	}
	return nil
}

// checkPath reports whether p may be staged under the candidate id and
// promoted.
func (a *Area) checkPath(op, id, p string) error {
	if err := rootfs.Check(p); err != nil {
		return &Error{Code: CodePath, Op: op, Paths: []string{p}, Err: err}
	}
	if strings.HasPrefix(path.Base(p), rootfs.TempPrefix) {
		return &Error{Code: CodePath, Op: op, Paths: []string{p}, Detail: "the name is that of an unfinished file"}
	}
	if !fits(a.candidateDir(id)+"/"+p) || !fits(path.Join(path.Dir(p), tempName(anyOperation, mostFiles))) {
		return &Error{Code: CodePath, Op: op, Paths: []string{p}, Detail: "the path is too long or too deep to be staged"}
	}
	if !a.opts.allowed(p) {
		return refuse(CodeNotAllowed, op, p)
	}
	return nil
}

// fits reports whether a path of the area, or a temporary one, whose parts are
// in order is short enough.
func fits(p string) bool {
	return len(p) <= rootfs.MaxPath && strings.Count(p, "/") < rootfs.MaxDepth
}

// checkPaths reports whether all of paths may be staged under the candidate id
// together.
func (a *Area) checkPaths(op, id string, paths []string) error {
	if n := len(paths); n > a.opts.MaxFiles {
		return refusef(CodeTooMany, op, "%d files, the limit is %d", n, a.opts.MaxFiles)
	}
	for _, p := range paths {
		if err := a.checkPath(op, id, p); err != nil {
			return err
		}
	}
	return checkCollisions(op, paths)
}

// checkCollisions reports whether some file system would take two of paths, or
// of the directories in them, for one, or one for a file and a directory.
func checkCollisions(op string, paths []string) error {
	seen := make(map[string]string, 2*len(paths)) // by fold key: how it is spelled
	isFile := make(map[string]bool, len(paths))
	for _, p := range paths {
		key := rootfs.FoldKey(p)
		if other, ok := seen[key]; ok {
			return collision(op, p, other)
		}
		seen[key], isFile[key] = p, true
	}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			key := rootfs.FoldKey(dir)
			other, ok := seen[key]
			if ok && (isFile[key] || other != dir) {
				return collision(op, p, other)
			}
			seen[key] = dir
		}
	}
	return nil
}

func collision(op string, paths ...string) error {
	slices.Sort(paths)
	return refuse(CodeCollision, op, slices.Compact(paths)...)
}

// A spelling finds entries on disk that are spelled otherwise than a path and
// yet are what some file system takes the path for. It lists each directory
// once.
type spelling struct {
	files files
	dirs  map[string]map[string][]string // by directory and fold key: the names
}

// maxEntries bounds the directories that files are promoted to.
const maxEntries = 100_000

// check reports an entry that collides with p or a directory in it.
func (s *spelling) check(op, p string) error {
	at := "."
	for part := range strings.SplitSeq(p, "/") {
		names, err := s.list(at)
		if err != nil {
			return wrap(CodeTarget, op, p, err)
		}
		alike := names[rootfs.FoldKey(part)]
		for _, name := range alike {
			if name != part {
				return collision(op, p, path.Join(at, name))
			}
		}
		if len(alike) == 0 {
			return nil
		}
		at = path.Join(at, part)
	}
	return nil
}

// list returns the names in dir by fold key; none if it is not a directory,
// which is for others to refuse.
func (s *spelling) list(dir string) (map[string][]string, error) {
	if names, ok := s.dirs[dir]; ok {
		return names, nil
	}
	infos, err := s.files.ReadDir(dir, maxEntries)
	if code := rootfs.CodeOf(err); err != nil && code != rootfs.NotFound && code != rootfs.NotDir && code != rootfs.Link {
		return nil, err
	}
	names := make(map[string][]string, len(infos))
	for _, info := range infos {
		name := path.Base(info.Path)
		key := rootfs.FoldKey(name)
		names[key] = append(names[key], name)
	}
	s.dirs[dir] = names
	return names, nil
}
