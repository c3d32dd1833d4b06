package review

import (
	"fmt"
	"html/template"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
)

// A changeView is one change: its line in the contents and its article.
type changeView struct {
	Anchor            string
	Op, ID            string
	Kind, Title       string
	OldPath, NewPath  string
	Moved             bool
	BaseHash, NewHash string
	OldSize, NewSize  string // empty where there is no file
	Diff              comparison
	Rendered          template.HTML
	NotRendered       string // why Rendered is empty
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

// fill adds what makes the article of v.
func (p *pageView) fill(v *changeView, c *Change) {
	if c.OldPath != "" || c.Old != nil {
		v.OldSize = count(len(c.Old)) + " bytes"
	}
	if c.Op == "delete" {
		v.Diff = compare(c.Old, nil)
		return
	}
	v.NewSize = count(len(c.New)) + " bytes"
	v.Diff = compare(c.Old, c.New)
	if p.rendered += len(c.New); p.rendered > maxRendered {
		v.NotRendered = "The document is not rendered: the page has rendered enough already."
		return
	}
	v.Rendered, v.NotRendered = renderMarkdown(page.Parse(c.NewPath, c.New).Body)
}
