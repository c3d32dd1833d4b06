package docgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/internal/cycle"
	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The codes of problems, beside those of page.
const (
	codeUnreadable = "file_unreadable"
	codeLarge      = "file_too_large"
	codeDuplicate  = "duplicate_id"
	codeCollision  = "path_collision"
	codeDangling   = "dangling_reference"
	codeSection    = "dangling_section"
	codeCycle      = "dependency_cycle"
	codeTooMany    = "too_many_problems"
)

// Limits of problems: of one graph, and of one file's references.
const (
	maxProblems = 10_000
	maxDangling = 100
)

// Validate returns the problems of the project, by path; the slice is the
// caller's. The codes are
//
//   - front_matter_invalid, an error: the front matter is not closed, no
//     mapping, or breaks a rule of YAML.
//   - field_invalid, a warning: a field has the wrong type or form; the message
//     says what was read in its place.
//   - not_utf8, a warning: the file is not UTF-8.
//   - duplicate_id, an error: another file, earlier by path, has the id; this
//     one is no node.
//   - dangling_reference: no node has an id that a file depends on (an error)
//     or links to (a warning); at most 100 for one file.
//   - dangling_section, a warning: a file links to a section that the node does
//     not have, see [Section]; at most 100 for one file. A node in which one
//     cannot be sure of the headings, as when a fence is not closed, has any.
//   - dependency_cycle, an error: nodes depend on each other.
//   - path_collision, a warning: two paths differ in case or composition only,
//     and are one file on some systems.
//   - file_unreadable and file_too_large, warnings: a file or folder is left
//     out, because it is a link, has a name that is not portable, cannot be
//     read, or is larger than allowed.
//   - too_many_problems, a warning, stands for those beyond 10,000.
func (g *Graph) Validate() []changeset.Problem {
	return slices.Clone(g.snapshot.Problems)
}

// problem makes a problem of a file.
func problem(code, severity, path, message string) changeset.Problem {
	return changeset.Problem{Code: code, Severity: severity, Path: path, Message: message}
}

// fileProblem makes the problem of a file or folder that cannot be read.
func fileProblem(path string, err error) *changeset.Problem {
	why := map[rootfs.Code]string{
		rootfs.Link:        "it is a symbolic link",
		rootfs.HardLink:    "it has a second name (a hard link)",
		rootfs.NotRegular:  "it is no regular file",
		rootfs.CrossDevice: "it is on another file system",
		rootfs.PathInvalid: "its name is not portable",
		rootfs.Permission:  "access is denied",
		rootfs.Changed:     "it changed while it was read",
		rootfs.TooLarge:    "it grew while it was read",
	}[rootfs.CodeOf(err)]
	p := problem(codeUnreadable, changeset.SeverityWarning, path, "left out: "+cmp.Or(why, "reading it failed"))
	return &p
}

// largeProblem makes the problem of a file that is too large.
func largeProblem(path string, size, limit int64) changeset.Problem {
	return problem(codeLarge, changeset.SeverityWarning, path, fmt.Sprintf("left out: it has %d bytes, the limit is %d", size, limit))
}

// pageProblems returns the faults of one document.
func pageProblems(d *doc, id string) []changeset.Problem {
	list := make([]changeset.Problem, 0, len(d.page.Problems))
	for _, f := range d.page.Problems {
		severity := changeset.SeverityWarning
		if f.Code == page.CodeFront {
			severity = changeset.SeverityError
		}
		p := problem(f.Code, severity, d.path, fmt.Sprintf("line %d: %s", f.Line, f.Message))
		p.ID = id
		list = append(list, p)
	}
	return list
}

// check collects the problems that the graph as a whole has.
func (g *Graph) check() []changeset.Problem {
	var list []changeset.Problem
	folds := make(map[string]string, len(g.nodes))
	names := make(sectionNames)
	for _, n := range g.byPath() {
		list = append(list, pageProblems(n.doc, n.ID)...)
		list = append(list, dangling(n)...)
		list = append(list, g.danglingSections(n, names)...)
		key := rootfs.FoldKey(n.Path)
		if first, ok := folds[key]; ok {
			p := problem(codeCollision, changeset.SeverityWarning, n.Path, fmt.Sprintf("the path is %.160q on systems that do not tell case or composition apart", first))
			p.ID = n.ID
			list = append(list, p)
			continue
		}
		folds[key] = n.Path
	}
	return append(list, g.cycles()...)
}

// byPath returns the nodes sorted by path.
func (g *Graph) byPath() []*node {
	list := slices.Clone(g.nodes)
	slices.SortFunc(list, func(a, b *node) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// dangling returns the references of a node that lead nowhere.
func dangling(n *node) []changeset.Problem {
	var list []changeset.Problem
	add := func(lost []string, severity, words string) {
		for _, id := range lost[:min(len(lost), maxDangling-len(list))] {
			p := problem(codeDangling, severity, n.Path, fmt.Sprintf("%s %.160q, which is no node", words, id))
			p.ID = n.ID
			list = append(list, p)
		}
	}
	add(n.lostDeps, changeset.SeverityError, "it depends on")
	add(n.lostLinks, changeset.SeverityWarning, "it links to")
	return list
}

// sectionNames has the names of the sections of documents, as far as somebody
// asked for them.
type sectionNames map[*doc]map[string]bool

// of returns the names of the sections of a document.
func (s sectionNames) of(d *doc) map[string]bool {
	names := s[d]
	if names == nil {
		names = make(map[string]bool, len(d.page.Sections))
		for _, section := range d.page.Sections {
			names[section.Name] = true
		}
		s[d] = names
	}
	return names
}

// danglingSections returns the links of a node to sections that are not there.
func (g *Graph) danglingSections(n *node, names sectionNames) []changeset.Problem {
	var list []changeset.Problem
	for _, l := range n.doc.page.SectionLinks {
		to := g.byID[l.ID]
		if to == nil || to.doc.page.Ambiguous || len(list) == maxDangling {
			continue
		}
		if !names.of(to.doc)[page.Anchor(l.Section)] {
			p := problem(codeSection, changeset.SeverityWarning, n.Path, fmt.Sprintf("it links to the section %.160q of %.160q, which has none of that name", l.Section, l.ID))
			p.ID = n.ID
			list = append(list, p)
		}
	}
	return list
}

// sortProblems puts problems in order and bounds them.
func sortProblems(list []changeset.Problem) []changeset.Problem {
	slices.SortStableFunc(list, func(a, b changeset.Problem) int { return strings.Compare(a.Path, b.Path) })
	if over := len(list) - maxProblems; over > 0 {
		list = append(list[:maxProblems:maxProblems], problem(codeTooMany, changeset.SeverityWarning, "", fmt.Sprintf("%d problems more are not listed", over)))
	}
	return list
}

// cycles returns a problem for each group of nodes that depend on each other.
func (g *Graph) cycles() []changeset.Problem {
	place := make(map[*node]int, len(g.nodes))
	for i, n := range g.nodes {
		place[n] = i
	}
	deps := make([][]int, len(g.nodes))
	for i, n := range g.nodes {
		for _, d := range n.deps {
			deps[i] = append(deps[i], place[d])
		}
	}
	var list []changeset.Problem
	for _, group := range cycle.Groups(deps) {
		nodes := make([]*node, len(group))
		for i, n := range group {
			nodes[i] = g.nodes[n]
		}
		list = append(list, cycleProblem(nodes))
	}
	return list
}

// cycleProblem names the nodes of a group, at the first by id.
func cycleProblem(group []*node) changeset.Problem {
	slices.SortFunc(group, func(a, b *node) int { return strings.Compare(a.ID, b.ID) })
	var names []string
	for _, n := range group[:min(len(group), 8)] {
		names = append(names, fmt.Sprintf("%.80q", n.ID))
	}
	message := "it depends on itself"
	if len(group) > 1 {
		message = fmt.Sprintf("%d nodes depend on each other: %s", len(group), strings.Join(names, ", "))
	}
	p := problem(codeCycle, changeset.SeverityError, group[0].Path, message)
	p.ID = group[0].ID
	return p
}
