package registry

import (
	"errors"
	"path"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// file reads the path of a file in the repo.
func (r *reader) file(n *tree.Node) (string, bool) {
	s, ok := r.text(n)
	if !ok {
		return "", false
	}
	return r.declare(n.Mark, s)
}

// folder reads the path of a folder in the repo; it may end in a slash.
func (r *reader) folder(n *tree.Node) (string, bool) {
	s, ok := r.text(n)
	if !ok {
		return "", false
	}
	return r.declare(n.Mark, strings.TrimSuffix(s, "/"))
}

// declare checks a path, and remembers where a manifest declares it.
func (r *reader) declare(mark tree.Mark, s string) (string, bool) {
	good, ok := r.checked(mark, s)
	if ok && r.manifest {
		field, _ := r.path.Field()
		r.declared = append(r.declared, declared{path: good, field: field, mark: mark})
	}
	return good, ok
}

// checked gives the copy of a path to keep, after the checks that hold for every path.
func (r *reader) checked(mark tree.Mark, s string) (string, bool) {
	if good, ok := r.paths[s]; ok {
		return good, true
	}
	if code, why := pathFault(s); code != "" {
		r.reject(mark, code, "%s %s", quote(s), why)
		return "", false
	}
	good := strings.Clone(s)
	if len(r.paths) < maxKept {
		r.paths[good] = good
	}
	return good, true
}

// pathFault says what is wrong with a path that must be relative; the code is empty if nothing is.
func pathFault(s string) (code Code, why string) {
	switch {
	case isWindows(s):
		return PathWindows, "is a Windows path; write it relative, with forward slashes"
	case strings.HasPrefix(s, "/"):
		return PathOutside, "is absolute; write it relative to the repo"
	}
	clean := path.Clean(s)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return PathOutside, "leads out of the repo"
	}
	if s != "" && clean != s && rootfs.Check(clean) == nil {
		return PathInvalid, "is not clean; write " + quote(clean)
	}
	if err := rootfs.Check(s); err != nil {
		return PathInvalid, reason(err)
	}
	return "", ""
}

// reason gives the sentence of a path check without the operation and the path.
func reason(err error) string {
	var e *rootfs.Error
	if errors.As(err, &e) && e.Err != nil {
		return "cannot be used: " + e.Err.Error()
	}
	return "cannot be used as a path"
}

// isWindows reports whether a path has a form that only Windows gives a meaning to. It is the same on every
// system, because the path functions of Go take such paths for relative ones elsewhere.
func isWindows(s string) bool {
	if strings.Contains(s, `\`) || strings.HasPrefix(s, "//") {
		return true
	}
	return len(s) >= 2 && s[1] == ':' && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

// rebase makes an absolute path relative to an absolute folder that it must lie in; "." is the folder itself.
// Both have slashes. The code is empty if that worked.
func rebase(abs, folder string) (rel string, code Code, why string) {
	if clean := path.Clean(abs); clean != abs {
		return "", PathInvalid, "is not clean; write " + quote(clean)
	}
	folder = strings.TrimSuffix(folder, "/")
	if abs == folder {
		return ".", "", ""
	}
	rel, inside := strings.CutPrefix(abs, folder+"/")
	if !inside {
		return "", PathOutside, "is outside " + quote(folder)
	}
	code, why = pathFault(rel)
	return rel, code, why
}
