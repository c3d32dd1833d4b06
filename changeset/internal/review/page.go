package review

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

var (
	//go:embed style.css
	style string
	//go:embed page.html
	layout string
)

// Limits of a page. Together they stay below MaxPage; what is beyond them is
// counted, and the page says so.
const (
	maxText     = 600       // bytes of one text that is no document
	maxProse    = 16 << 10  // bytes of the description
	maxProblems = 512 << 10 // bytes of HTML, as the next two
	maxContents = 1 << 20
	maxArticles = 6 << 20
	maxRendered = 4 << 20 // bytes of Markdown
	maxListed   = 5_000   // problems, changes or nodes
	maxMisses   = 5       // pieces to render in vain
	maxIDs      = 50      // ids in one list of a node, and kinds of nodes
)

// A pageView is what the layout shows.
type pageView struct {
	Renderer, Policy   string
	Style              template.CSS
	Heading            string
	Description        string
	Facts              []fact
	Errors, Warnings   int
	Totals             []total // changes by what they do, or nodes by kind
	Added, Removed     int
	NodeCount, Missing int // for the outline; Missing counts references that lead nowhere
	Problems, Contents list
	Articles           list
	rendered           int // bytes of Markdown so far
}

type fact struct {
	Name, Value string
	Code        bool // a digest or an id
}

type total struct {
	Name  string
	Count int
}

// A list is pieces of HTML that together have at most so many bytes.
type list struct {
	Items  []template.HTML
	Cut    int // pieces that were left out
	left   int // bytes
	misses int // pieces that were rendered and did not fit
}

// add renders v with a template of the layout. It reports whether the piece is
// on the page. One that does not fit leaves room for smaller ones behind it.
func (l *list) add(t *template.Template, name string, v any) (bool, error) {
	if l.full() {
		l.Cut++
		return false, nil
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, v); err != nil {
		return false, err
	}
	if b.Len() > l.left {
		l.Cut++
		l.misses++
		return false, nil
	}
	l.left -= b.Len()
	l.Items = append(l.Items, template.HTML(b.String())) //nolint:gosec // made by a template
	return true, nil
}

func (l *list) full() bool { return l.misses >= maxMisses || len(l.Items) >= maxListed }

// render returns the page that renderer makes of m.
func render(renderer string, m *Model) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"count": count, "opWord": opWord}).Parse(layout)
	if err != nil {
		return nil, err
	}
	p := newPage(renderer, m)
	anchors := map[string]string{}
	if renderer == "review" {
		anchors, err = p.addChanges(t, m.Changes)
	} else {
		err = p.addNodes(t, m.Nodes)
	}
	if err != nil {
		return nil, err
	}
	if err := p.addProblems(t, m.Problems, anchors); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func newPage(renderer string, m *Model) *pageView {
	sum := sha256.Sum256([]byte(style))
	p := &pageView{
		Renderer: renderer,
		Policy: fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'",
			base64.StdEncoding.EncodeToString(sum[:])),
		Style:       template.CSS(style), //nolint:gosec // our own file
		Heading:     clip(cmp.Or(m.Title, m.ChangesetID, m.Project)),
		Description: visible(shorten(m.Description, maxProse), "\n\t"),
		Problems:    list{left: maxProblems},
		Contents:    list{left: maxContents},
		Articles:    list{left: maxArticles},
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

// A problemView is a problem and where the change is that it is about, if it is
// about one.
type problemView struct {
	Problem

	Anchor string
}

// addProblems lists errors before others. It is given where changes are, by the
// paths of their files.
func (p *pageView) addProblems(t *template.Template, problems []Problem, anchors map[string]string) error {
	isError := func(q Problem) bool { return q.Severity == "error" }
	for _, errors := range []bool{true, false} {
		for _, q := range problems {
			if isError(q) != errors {
				continue
			}
			if errors {
				p.Errors++
			} else {
				p.Warnings++
			}
			v := problemView{Problem{clip(q.Code), clip(q.Severity), clip(q.ID), clip(q.Path), clip(q.Message)}, anchors[q.Path]}
			if _, err := p.Problems.add(t, "problem", v); err != nil {
				return err
			}
		}
	}
	return nil
}

// addChanges returns where the changes are that are shown, by the path of the
// file, for a deleted node the one it had.
func (p *pageView) addChanges(t *template.Template, changes []Change) (map[string]string, error) {
	counts, anchors := map[string]int{}, map[string]string{}
	for i := range changes {
		v := newChange(i, &changes[i])
		counts[v.Op]++
		if p.Articles.full() {
			v.Diff.Added, v.Diff.Removed = textdiff.Stat(textdiff.Lines(changes[i].Old, changes[i].New))
		} else {
			p.fill(v, &changes[i])
		}
		p.Added += v.Diff.Added
		p.Removed += v.Diff.Removed
		shown, err := p.Articles.add(t, "change", v)
		if err != nil {
			return nil, err
		}
		if !shown {
			v.Anchor = ""
		}
		if at := cmp.Or(changes[i].NewPath, changes[i].OldPath); changes[i].NewPath != "" || anchors[at] == "" {
			anchors[at] = v.Anchor // a path that one node leaves to another is the other's
		}
		if _, err := p.Contents.add(t, "entry", v); err != nil {
			return nil, err
		}
	}
	for _, op := range []string{"create", "update", "move", "delete"} {
		if counts[op] > 0 {
			p.Totals = append(p.Totals, total{opWord(op), counts[op]})
		}
	}
	return anchors, nil
}
