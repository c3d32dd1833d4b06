// Package review renders a changeset, or the project a changeset would make, as
// one HTML page for the person who decides about it.
//
//	html, err := review.Render("review", &review.Model{
//		Project: "handbook", ChangesetID: "cs-1", Title: "Correct the setup",
//		Changes: []review.Change{{Op: "update", ID: "setup", OldPath: "setup.md", NewPath: "setup.md", Old: was, New: will}},
//	})
//
// # What a page is
//
// A page is self-contained and inert. It has no script, loads nothing, links
// nowhere but to itself, and a Content-Security-Policy that stands first in its
// head forbids what it does not have. Text of documents reaches it in two ways
// only: through html/template, and through goldmark in its safe mode, where raw
// HTML is shown as text, images are their alternative text and path, and links are
// their text and address. Characters that cannot be seen or that reorder others,
// in all text, are written out as [U+202E], and invalid bytes as [0xFF].
//
// The same model gives the same bytes: nothing of the clock, the machine or the
// order of a map is in a page.
//
// # Limits
//
// A page has at most [MaxPage] bytes, whatever the model holds, and says where
// something was left out: a change shows at most 3,000 lines and 256 KiB of diff,
// a long line is shortened around what changed in it, Markdown is rendered up to
// 128 KiB a document and 4 MiB a page, changes that no longer fit keep their line
// in the table of contents, and of nodes the first 5,000 are shown. In one block
// of Markdown the first 400 markers of emphasis, links and code count, the others
// are text. Work grows with what the page shows and the size of the texts.
//
// # Concurrency and errors
//
// Render is pure and safe for concurrent use; it does not change the model. It
// fails for a renderer that does not exist.
package review

import (
	"fmt"
	"slices"
	"time"
)

// MaxPage is the most bytes that a page has.
const MaxPage = 8 << 20

// A Model is what a page shows. Empty fields are left out of the page.
type Model struct {
	// Project names the project and Revision its state, a digest.
	Project, Revision string
	// ChangesetID, Title, Description and Writer are those of the changeset; a
	// model without ChangesetID shows the project alone.
	ChangesetID, Title, Description, Writer string
	// View is the declared view that is rendered.
	View string
	// Digest covers the whole changeset.
	Digest string
	// Created is when the changeset began; the zero time is left out.
	Created time.Time
	// Problems are what validation found, in the order to show them; errors are
	// shown before warnings.
	Problems []Problem
	// Changes are the changed nodes, in the order to show them.
	Changes []Change
	// Nodes are the nodes of the project with the changes, for the outline.
	Nodes []Node
}

// A Problem is one finding of the validation.
type Problem struct {
	// Code is the machine code, Severity "error" or "warning".
	Code, Severity string
	// ID and Path say what it is about, if it is about one node.
	ID, Path string
	// Message is the sentence to show.
	Message string
}

// A Change is what a changeset does to one node.
type Change struct {
	// Op is "create", "update", "move" or "delete".
	Op string
	// ID, Kind and Title are those of the node, after the change if it is there
	// then.
	ID, Kind, Title string
	// OldPath is empty for a new node, NewPath for a deleted one. If both are
	// given and differ, the node moves, whatever Op says.
	OldPath, NewPath string
	// Old and New are the bytes of the file before and after.
	Old, New []byte
	// BaseHash and NewHash are the digests of Old and New.
	BaseHash, NewHash string
}

// A Node is one node of the project, for the outline.
type Node struct {
	// ID, Kind, Title, Status and Path are those of the node.
	ID, Kind, Title, Status, Path string
	// DependsOn and Links are the ids of other nodes, which may be missing.
	DependsOn, Tags, Links []string
	// Op is what the changeset does to the node; empty means nothing.
	Op string
}

// Renderers returns the names that [Render] accepts, sorted.
func Renderers() []string { return []string{"outline", "review"} }

// Render returns the page that renderer makes of the model: "review" shows the
// changes one by one, "outline" the nodes by folder.
func Render(renderer string, m *Model) ([]byte, error) {
	if !slices.Contains(Renderers(), renderer) {
		return nil, fmt.Errorf("renderer %.40q does not exist: use one of %q", renderer, Renderers())
	}
	return render(renderer, m)
}
