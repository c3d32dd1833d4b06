package docgraph

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// Limits of a context read.
const (
	// MinPage and MaxPage bound ContextRequest.MaxBytes, and DefaultPage stands
	// for 0.
	MinPage     = 256
	DefaultPage = 12 << 10
	MaxPage     = 1 << 20

	maxKnown  = 65_536
	pieceCost = 160 // bytes of JSON around the texts of a piece
)

// wholeFile is the name of the section that is a whole file.
const wholeFile = "*"

// A Section names a part of a node and the bytes that it has.
type Section struct {
	// ID is the node.
	ID string
	// Name is the name of the section within the file: made from its heading,
	// "" for what precedes the first one, and "*" for a whole file, where
	// programs may disagree on what is a heading: where fenced code has lines
	// like headings, a fence is not closed, the text is not UTF-8, and so on.
	// A heading is in lower case there, with "-" for each space and without other
	// signs than "-" and "_"; what repeats a name of the file has "-1", "-2" and
	// so on behind it.
	Name string
	// SHA256 is that of the section's bytes in lower-case hexadecimal digits.
	SHA256 string
}

// A ContextRequest asks for one page of a context read.
type ContextRequest struct {
	// ID is the node to read.
	ID string
	// MaxBytes bounds the pieces of a page, written as JSON: MinPage to
	// MaxPage, 0 means DefaultPage. It covers the pieces and their names, not
	// what a reply has beside them.
	MaxBytes int
	// Known are sections that the caller still holds; those that are unchanged
	// are not sent again. At most 65,536.
	Known []Section
	// From is where to go on: Context.Next of the page before. The zero
	// Position is the start.
	From Position
}

// A Position is a place in a context read. It has no secrets but must not be
// made up: a server that hands it out seals it.
type Position struct {
	// Revision is that of the graph.
	Revision string `json:"revision"`
	// ID is the node that is read.
	ID string `json:"id"`
	// Node, Section and Offset count nodes of the read, sections of the node
	// and bytes of the section.
	Node    int `json:"node"`
	Section int `json:"section"`
	Offset  int `json:"offset"`
}

// A Piece is a section, or a part of one, as it is delivered.
type Piece struct {
	Section
	// Text is the text. Bytes that are not UTF-8 are replaced in it, and not in
	// the digest. It is empty if Reused is set.
	Text string
	// Reused reports that the caller holds the section already.
	Reused bool
	// Offset is where the text starts in the section, and Size the length of
	// the section, both in bytes: Partial tells whether that is all of it.
	Offset, Size int
	// Partial reports that the text is not the whole section; the pieces before
	// and after it have the rest.
	Partial bool
}

// A Context is one page of a context read.
type Context struct {
	// Pieces are the sections, in the order of the read.
	Pieces []Piece
	// Complete reports that this is the last page.
	Complete bool
	// Next is where the next page starts, zero if Complete.
	Next Position
}

// Context returns a page of a node and all that it depends on, directly or not:
// the node first, then the nearest, then in the order of depends_on. Each page
// has at least one piece, so that reading on comes to an end. A section that
// does not fit begins the next page; one that no page can hold is delivered in
// parts that end at a character, and after a line where there is one.
//
// A page belongs to one graph. If the graph has another revision than the page
// before, the error's code is snapshot_changed; other codes are node_unknown,
// budget_invalid, position_invalid and too_many.
func (g *Graph) Context(r ContextRequest) (*Context, error) {
	nodes, err := g.contextNodes(r.ID)
	if err != nil {
		return nil, err
	}
	p, err := g.newPager(&r, nodes)
	if err != nil {
		return nil, err
	}
	for ; p.at.Node < len(nodes); p.at.Node, p.at.Section = p.at.Node+1, 0 {
		d := nodes[p.at.Node].doc
		spans := d.spans()
		for ; p.at.Section < len(spans); p.at.Section, p.at.Offset = p.at.Section+1, 0 {
			if !p.add(d, spans[p.at.Section]) {
				p.page.Next = p.at
				return p.page, nil
			}
		}
	}
	p.page.Complete = true
	return p.page, nil
}

// Sections returns all that a complete context read of a node delivers, in the
// order of the read. The error's code is node_unknown.
func (g *Graph) Sections(id string) ([]Section, error) {
	nodes, err := g.contextNodes(id)
	if err != nil {
		return nil, err
	}
	var list []Section
	for _, n := range nodes {
		for _, s := range n.doc.spans() {
			list = append(list, n.doc.section(s))
		}
	}
	return list, nil
}

// contextNodes returns a node and what it depends on, nearest first.
func (g *Graph) contextNodes(id string) ([]*node, error) {
	start, err := g.find("context", id)
	if err != nil {
		return nil, err
	}
	list := []*node{start}
	met := map[*node]bool{start: true}
	for i := 0; i < len(list); i++ {
		for _, d := range list[i].deps {
			if !met[d] {
				met[d] = true
				list = append(list, d)
			}
		}
	}
	return list, nil
}

// A span is a section of a document.
type span struct {
	name       string
	start, end int
}

// spans returns the sections of a document; they tile it. A document has at
// least one, which may be empty.
func (d *doc) spans() []span {
	switch {
	case d.page.Ambiguous || d.page.FencedHeading:
		// Doubt widens a read, and never narrows it: whoever holds sections of
		// the file may have cut them otherwise.
		return []span{{wholeFile, 0, len(d.raw)}}
	case len(d.page.Sections) == 0:
		return []span{{}}
	}
	list := make([]span, len(d.page.Sections))
	for i, s := range d.page.Sections {
		list[i] = span{s.Name, s.Start, s.End}
	}
	return list
}

// section returns the identity of a span.
func (d *doc) section(s span) Section {
	return Section{ID: d.page.ID, Name: s.name, SHA256: canon.Sum(d.raw[s.start:s.end])}
}

// A pager fills one page.
type pager struct {
	page  *Context
	at    Position
	max   int
	left  int
	known map[Section]bool
}

// newPager checks a request and returns the pager for it.
func (g *Graph) newPager(r *ContextRequest, nodes []*node) (*pager, error) {
	size := orDefault(r.MaxBytes, DefaultPage)
	if size < MinPage || size > MaxPage {
		return nil, &Error{Code: CodeBudget, Op: "context", ID: r.ID, Detail: fmt.Sprintf("a page has %d to %d bytes", MinPage, MaxPage)}
	}
	if len(r.Known) > maxKnown {
		return nil, tooMany("context", "known sections", maxKnown)
	}
	p := &pager{page: &Context{}, at: r.From, max: size, left: size, known: make(map[Section]bool, len(r.Known))}
	for _, s := range r.Known {
		p.known[s] = true
	}
	if p.at == (Position{}) {
		p.at = Position{Revision: g.snapshot.Revision, ID: r.ID}
		return p, nil
	}
	if p.at.ID == r.ID && p.at.Revision != g.snapshot.Revision {
		return nil, &Error{Code: CodeChanged, Op: "context", ID: r.ID}
	}
	if !p.at.valid(r.ID, nodes) {
		return nil, &Error{Code: CodePosition, Op: "context", ID: r.ID}
	}
	return p, nil
}

// valid reports whether a position is one in the read of those nodes.
func (p Position) valid(id string, nodes []*node) bool {
	if p.ID != id || p.Node < 0 || p.Node >= len(nodes) {
		return false
	}
	spans := nodes[p.Node].doc.spans()
	if p.Section < 0 || p.Section >= len(spans) {
		return false
	}
	return p.Offset >= 0 && p.Offset <= spans[p.Section].end-spans[p.Section].start
}

// add adds a section, from p.at.Offset on, to the page. It reports whether the
// read can go on with the next one.
func (p *pager) add(d *doc, s span) bool {
	text := d.raw[s.start+p.at.Offset : s.end]
	piece := Piece{Section: d.section(s), Offset: p.at.Offset, Size: s.end - s.start}
	names := pieceCost + jsonSize(piece.ID) + jsonSize(piece.Name)
	piece.Reused = p.at.Offset == 0 && p.known[piece.Section]
	if piece.Reused {
		text = nil
	}
	fits := fitting(text, p.left-names)
	whole := fits == len(text) && names <= p.left
	if !whole && len(p.page.Pieces) > 0 {
		return false
	}
	if !whole {
		fits = goodCut(text, fits)
	}
	piece.Partial = p.at.Offset > 0 || fits < len(text)
	piece.Text = strings.ToValidUTF8(string(text[:fits]), "\ufffd")
	p.page.Pieces = append(p.page.Pieces, piece)
	p.left -= names + jsonSize(piece.Text)
	p.at.Offset += fits
	return fits == len(text)
}

// goodCut moves the cut of a text back to the end of a line if that does not
// lose more than half, and on to the first character if it is at the start.
func goodCut(text []byte, cut int) int {
	if i := bytes.LastIndexByte(text[:cut], '\n') + 1; i > cut/2 {
		return i
	}
	if cut == 0 && len(text) > 0 {
		_, cut = utf8.DecodeRune(text)
	}
	return cut
}

// fitting returns how much of a text, in whole characters, is written in at
// most size bytes of JSON.
func fitting(text []byte, size int) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if size -= runeCost(r, n); size < 0 {
			return i
		}
		i += n
	}
	return len(text)
}

// jsonSize returns the length of a text in JSON, without the quotes.
func jsonSize(s string) int {
	total := 0
	for i, r := range s {
		n := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		total += runeCost(r, n)
	}
	return total
}

// runeCost returns the length in JSON, as encoding/json writes it by default,
// of a character that has n bytes.
func runeCost(r rune, n int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return 6
	case r == utf8.RuneError:
		return 3 // as it is replaced
	}
	return n
}
