package registry

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// assembly makes one registry of the files that were read, the first of which includes the others.
type assembly struct {
	readers []*reader
	all     []member // the entries of all files
}

// member is an entry with the reader of its file.
type member struct {
	*entry
	from  *reader
	index int
}

func (m *member) field(name string) string { return entryField(m.from.top.overlay, m.index, name) }

// assemble judges files and builds the registry, or gives all their problems.
func assemble(readers []*reader) (*Registry, error) {
	a := assembly{readers: readers}
	root, err := a.root()
	if err != nil {
		return nil, fail(readers[0].opts.File, Unreadable, err, "the current folder is not known: "+err.Error())
	}
	if !slices.ContainsFunc(readers, func(r *reader) bool { return !r.complete }) {
		a.overlay()
		for _, r := range readers {
			r.finish(root)
		}
		a.collect()
		a.checkIDs()
		a.checkFolders()
	}
	var problems []Problem
	good := true
	for _, r := range readers {
		problems = append(problems, r.problems(r.loc)...)
		good = good && r.complete && r.rejects == 0
	}
	if !good {
		return nil, &Error{Problems: problems}
	}
	return a.build(root, problems), nil
}

// root gives the absolute path of the workspace. An overlay may say where it is on this machine.
func (a *assembly) root() (string, error) {
	first := a.readers[0]
	for _, r := range slices.Backward(a.readers) {
		if r.top.overlay && r.top.workspaceRoot != "" {
			return r.root()
		}
	}
	return first.root()
}

func (a *assembly) collect() {
	for _, r := range a.readers {
		for i := range r.entries {
			if e := &r.entries[i]; !e.removed {
				a.all = append(a.all, member{e, r, i})
			}
		}
	}
	if len(a.all) > maxRepos {
		a.readers[0].reportAt(0, -1, streamed, TooManyItems, Reject, "more than %d repos", maxRepos)
	}
}

// place says where an entry stands, as seen from a file.
func (m *member) place(from *reader) string {
	if m.from == from {
		return m.field("")
	}
	line, column := m.from.loc.Position(m.mark)
	return fmt.Sprintf("the entry at %s:%d:%d", cmp.Or(m.from.opts.File, "registry"), line, column)
}

// checkIDs checks that no two repos can be taken for each other, and that successors exist.
func (a *assembly) checkIDs() {
	ids := make(map[string]int, len(a.all)) // folded
	for i := range a.all {
		m := &a.all[i]
		if m.ID == "" {
			continue
		}
		key := strings.ToLower(m.ID)
		if first, taken := ids[key]; taken {
			m.from.reportAt(m.idMark, m.index, m.field(".repo_id"), IDDuplicate, Reject,
				"%s is the id of %s already%s", quote(m.ID), a.all[first].place(m.from), caseHint(m.ID, a.all[first].ID))
			continue
		}
		ids[key] = i
	}
	for i := range a.all {
		a.checkFormer(i, ids)
	}
	for i := range a.all {
		m := &a.all[i]
		switch id := m.SupersededBy; {
		case id == "":
		case id == m.ID:
			m.from.reportAt(m.successor, m.index, m.field(".superseded_by"), InvalidValue, Reject, "a repo cannot supersede itself")
		case !a.finds(ids, id):
			m.from.reportAt(m.successor, m.index, m.field(".superseded_by"), SuccessorUnknown, Warn, "%s is no repo of this registry", quote(id))
		}
	}
}

// finds reports whether Lookup would find an id.
func (a *assembly) finds(ids map[string]int, id string) bool {
	i, known := ids[strings.ToLower(id)]
	return known && (a.all[i].ID == id || slices.Contains(a.all[i].FormerIDs, id))
}

// checkFormer adds the former ids of an entry to the ids that are taken.
func (a *assembly) checkFormer(i int, ids map[string]int) {
	m := &a.all[i]
	for j, id := range m.FormerIDs {
		key := strings.ToLower(id)
		if owner, taken := ids[key]; taken {
			m.from.reportAt(m.former[j], m.index, m.field(".former_ids["+strconv.Itoa(j)+"]"), FormerIDDuplicate, Reject,
				"%s is an id or a former id of %s already", quote(id), a.all[owner].place(m.from))
			continue
		}
		ids[key] = i
	}
}

func caseHint(a, b string) string {
	if a != b {
		return " but for the case of letters"
	}
	return ""
}

// checkFolders warns of two repos in one folder.
func (a *assembly) checkFolders() {
	folders := make(map[string]int, len(a.all))
	for i := range a.all {
		m := &a.all[i]
		if m.Path == "" {
			continue
		}
		if first, taken := folders[m.Path]; taken {
			m.from.reportAt(m.pathMark, m.index, m.field(".path"), PathDuplicate, Warn,
				"%s is the folder of %s too", quote(m.Path), a.all[first].place(m.from))
			continue
		}
		folders[m.Path] = i
	}
}

// build makes the registry of entries without faults.
func (a *assembly) build(root string, warnings []Problem) *Registry {
	first := a.readers[0]
	reg := &Registry{
		file: first.opts.File, root: root, digest: a.digest(), warnings: warnings, extensions: first.top.extensions,
		defaults: first.defaults.Repo,
		entries:  make([]located, len(a.all)), index: make(map[string]int32, len(a.all)),
	}
	for i := range a.all {
		m := &a.all[i]
		line, column := m.from.loc.Position(m.mark)
		reg.entries[i] = located{m.Repo, int32(line), int32(column), int32(m.index), m.from.opts.File, m.from.top.overlay}
	}
	for _, r := range a.readers {
		for _, e := range r.entries {
			if e.removed {
				reg.removed = append(reg.removed, cmp.Or(e.Path, e.ID))
			}
		}
	}
	slices.SortFunc(reg.entries, func(a, b located) int { return cmp.Compare(a.ID, b.ID) })
	for i, e := range reg.entries {
		reg.index[e.ID] = int32(i)
		for _, former := range e.FormerIDs {
			reg.index[former] = int32(i)
		}
	}
	return reg
}

// digest identifies the content of all files, and where they are relative to the first.
func (a *assembly) digest() string {
	first := a.readers[0]
	if len(a.readers) == 1 {
		return first.sum
	}
	var parts [][]byte
	for _, r := range a.readers {
		name := strings.TrimPrefix(filepath.ToSlash(r.opts.File), path.Dir(filepath.ToSlash(first.opts.File))+"/")
		parts = append(parts, []byte(name), []byte(r.sum))
	}
	return canon.Digest("mcpcontract/registry/files", parts...)
}
