package review

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

var (
	//go:embed style.css
	style string
	//go:embed page.html
	layout string
)

// Limits of the lists of a page.
const (
	maxProblems = 500
	maxNodes    = 5_000
	maxIDs      = 50       // ids in one list of a node
	maxText     = 4 << 10  // bytes of one text that is not a document
	maxFrame    = 12 << 20 // bytes of all changes or nodes together; the rest of MaxPage is for what surrounds them
)

// A pageView is what the layout shows.
type pageView struct {
	Renderer string
	Policy   string
	Style    template.CSS
	Heading  string
	Model
	Facts     []fact
	Problems  []Problem
	Errors    int
	Warnings  int
	Unlisted  int // problems left out
	Changes   []*changeView
	Totals    []total
	Added     int
	Removed   int
	Folders   []folder
	NodeCount int
	NodesCut  int
	Missing   int // references to nodes that are not there
	Kinds     []total
}

type fact struct {
	Name, Value string
	Code        bool // a digest or an id
}

type total struct {
	Name  string
	Count int
}

// A changeView is one change: its line in the contents, and its article.
type changeView struct {
	Anchor           string
	Op, Title, ID    string
	Kind             string
	OldPath, NewPath string
	Moved            bool
	BaseHash         string
	NewHash          string
	OldSize, NewSize string
	Diff             comparison
	Rendered         template.HTML
	NotRendered      string
	Article          template.HTML
}

func newPage(renderer string, m *Model) *pageView {
	p := &pageView{Renderer: renderer, Style: template.CSS(style), Model: *m} //nolint:gosec // our own file
	sum := sha256.Sum256([]byte(style))
	p.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(sum[:]))
	p.Title, p.Description = clip(m.Title), visible(shorten(m.Description, maxText), "\n\t")
	p.Heading = p.Title
	if p.Heading == "" {
		p.Heading = clip(m.Project)
	}
	for _, f := range []fact{
		{"Project", m.Project, false},
		{"Changeset", m.ChangesetID, true},
		{"Writer", m.Writer, false},
		{"Created", created(m), false},
		{"View", m.View, false},
		{"Changeset digest", m.Digest, true},
		{"Base revision", m.Revision, true},
	} {
		if f.Value = clip(f.Value); f.Value != "" {
			p.Facts = append(p.Facts, f)
		}
	}
	p.addProblems(m.Problems)
	return p
}

func created(m *Model) string {
	if m.Created.IsZero() {
		return ""
	}
	return m.Created.UTC().Format("2006-01-02 15:04:05 UTC")
}

// clip makes a text of one line safe to show.
func clip(s string) string { return visible(shorten(s, maxText), "") }

func (p *pageView) addProblems(problems []Problem) {
	p.Problems = nil
	for _, severity := range []bool{true, false} {
		for _, q := range problems {
			if (q.Severity == "error") != severity {
				continue
			}
			if severity {
				p.Errors++
			} else {
				p.Warnings++
			}
			if len(p.Problems) < maxProblems {
				p.Problems = append(p.Problems, Problem{
					clip(q.Code), clip(q.Severity), clip(q.ID), clip(q.Path), clip(q.Message),
				})
			}
		}
	}
	p.Unlisted = len(problems) - len(p.Problems)
}

func (p *pageView) render() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"count": count, "opWord": opWord}).Parse(layout)
	if err != nil {
		return nil, err
	}
	changes := p.Model.Changes
	if p.Renderer == "review" {
		if err := p.addChanges(t, changes); err != nil {
			return nil, err
		}
	} else {
		p.addNodes()
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (p *pageView) addChanges(t *template.Template, changes []Change) error {
	left := maxFrame
	counts := map[string]int{}
	for i := range changes {
		v := newChange(i, &changes[i])
		counts[v.Op]++
		if left > 0 {
			v.fill(&changes[i])
			var b bytes.Buffer
			if err := t.ExecuteTemplate(&b, "change", v); err != nil {
				return err
			}
			if b.Len() <= left {
				v.Article = template.HTML(b.String()) //nolint:gosec // made by the template
			}
			left -= b.Len()
		}
		p.Added += v.Diff.Added
		p.Removed += v.Diff.Removed
		p.Changes = append(p.Changes, v)
	}
	for _, op := range []string{"create", "update", "move", "delete"} {
		if counts[op] > 0 {
			p.Totals = append(p.Totals, total{opWord(op), counts[op]})
		}
	}
	return nil
}

// opWord returns the word for what a change did.
func opWord(op string) string {
	switch op {
	case "create":
		return "created"
	case "update":
		return "updated"
	case "move":
		return "moved"
	case "delete":
		return "deleted"
	}
	return op
}

func newChange(i int, c *Change) *changeView {
	v := &changeView{
		Anchor: fmt.Sprintf("change-%d", i+1),
		Op:     clip(c.Op), ID: clip(c.ID), Kind: clip(c.Kind), Title: clip(c.Title),
		OldPath: clip(c.OldPath), NewPath: clip(c.NewPath),
		BaseHash: clip(c.BaseHash), NewHash: clip(c.NewHash),
	}
	v.Moved = c.OldPath != "" && c.NewPath != "" && c.OldPath != c.NewPath
	if v.Title == "" {
		v.Title = v.ID
	}
	return v
}

// fill adds what makes the article.
func (v *changeView) fill(c *Change) {
	if c.OldPath != "" || c.Old != nil {
		v.OldSize = count(len(c.Old)) + " bytes"
	}
	if c.Op == "delete" {
		v.Diff = compare(c.Old, nil)
		return
	}
	v.NewSize = count(len(c.New)) + " bytes"
	v.Diff = compare(c.Old, c.New)
	v.Rendered, v.NotRendered = renderMarkdown(page.Parse(c.NewPath, c.New).Body)
}

// A folder is the nodes below one path.
type folder struct {
	Anchor, Path string
	Nodes        []nodeView
}

type nodeView struct {
	Anchor string
	Node
	Depends, Linked []reference
	DependsMore     int
	LinkedMore      int
}

// A reference names another node; Anchor is empty where it is not there.
type reference struct{ ID, Anchor string }

func (p *pageView) addNodes() {
	nodes := slices.Clone(p.Nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int {
		if c := strings.Compare(dir(a.Path), dir(b.Path)); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	p.NodeCount = len(nodes)
	p.NodesCut = max(len(nodes)-maxNodes, 0)
	nodes = nodes[:len(nodes)-p.NodesCut]
	anchors := map[string]string{}
	for i, n := range nodes {
		anchors[n.ID] = fmt.Sprintf("node-%d", i+1)
	}
	kinds := map[string]int{}
	for i, n := range nodes {
		kinds[clip(n.Kind)]++
		if last := len(p.Folders) - 1; last < 0 || p.Folders[last].Path != clip(dir(n.Path)) {
			p.Folders = append(p.Folders, folder{Anchor: fmt.Sprintf("folder-%d", len(p.Folders)+1), Path: clip(dir(n.Path))})
		}
		f := &p.Folders[len(p.Folders)-1]
		f.Nodes = append(f.Nodes, p.newNode(fmt.Sprintf("node-%d", i+1), n, anchors))
	}
	for kind, n := range kinds {
		p.Kinds = append(p.Kinds, total{kind, n})
	}
	slices.SortFunc(p.Kinds, func(a, b total) int { return strings.Compare(a.Name, b.Name) })
}

func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func (p *pageView) newNode(anchor string, n Node, anchors map[string]string) nodeView {
	v := nodeView{Anchor: anchor, Node: Node{
		ID: clip(n.ID), Kind: clip(n.Kind), Title: clip(n.Title), Status: clip(n.Status), Path: clip(n.Path), Op: clip(n.Op),
	}}
	for _, tag := range n.Tags[:min(len(n.Tags), maxIDs)] {
		v.Tags = append(v.Tags, clip(tag))
	}
	v.Depends, v.DependsMore = p.references(n.DependsOn, anchors)
	v.Linked, v.LinkedMore = p.references(n.Links, anchors)
	return v
}

func (p *pageView) references(ids []string, anchors map[string]string) (refs []reference, more int) {
	for i, id := range ids {
		anchor, ok := anchors[id]
		if !ok && p.NodesCut == 0 {
			p.Missing++
		}
		if i < maxIDs {
			refs = append(refs, reference{clip(id), anchor})
		}
	}
	return refs, max(len(ids)-maxIDs, 0)
}
