// Package page reads and edits a Markdown file with optional front matter, as
// bytes.
//
//	p := page.Parse("guides/setup.md", raw)
//	for _, s := range p.Sections {
//		fmt.Printf("%s: %s", s.Title, raw[s.Start:s.End])
//	}
//	title := "Set-up"
//	raw, err := page.Edit("guides/setup.md", raw, page.Fields{Title: &title})
//
// # Reading
//
// [Parse] never refuses a file. What it cannot make sense of becomes a
// [Problem], and the file is still a page: its id is the path without ".md",
// its kind "page" and its title the first heading. Front matter is a YAML
// mapping between two lines "---", of which the first begins the file; a byte
// order mark before it and any kind of line end are accepted. The keys are id,
// kind, title, status, depends_on and tags; all others are left to whoever put
// them there.
//
// # Structure
//
// The [Section] list tiles the file: each byte is in exactly one. A heading
// begins one wherever CommonMark sees a heading at the top level, and nowhere
// in fenced code, HTML blocks, lists and quotes. Where that takes more than
// reading the lines one by one, where programs disagree, and where a fence is
// never closed, [Page.Ambiguous] is set.
//
// # Editing
//
// [Edit] replaces the values of the fields it is given and touches no other
// byte: comments, unknown keys, order and line ends stay. It reads what it
// wrote, and fails rather than return a page that says anything else.
//
// # Limits, errors and concurrency
//
// Front matter has at most [MaxFront] bytes and an id at most [MaxID]; the
// caller bounds the file. The work is linear in its size. Edit and [New] return
// an [*Error]. All functions may be called at the same time.
package page

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// Limits of a page.
const (
	// MaxFront is the largest front matter, in bytes.
	MaxFront = 64 << 10
	// MaxSections is how many headings of a page are told apart; a page with
	// more is ambiguous, and its last section holds the rest.
	MaxSections = 10_000
	// MaxID is the longest id and the longest title made from a heading, in
	// bytes.
	MaxID = 1024
)

// DefaultKind is the kind of a page that states none.
const DefaultKind = "page"

// A Page is what [Parse] read. It is a value without hidden state; Body shares
// memory with the text that was parsed.
type Page struct {
	// ID names the page in the project; see [Parse] for where it comes from.
	ID string
	// Kind is what the front matter says, else DefaultKind.
	Kind string
	// Title is what the front matter says, else the first heading, else ID.
	Title string
	// Status is what the front matter says, else empty.
	Status string
	// DependsOn and Tags are the lists of the front matter without empty and
	// repeated items, in order; nil if there are none.
	DependsOn, Tags []string
	// Front reports that the file has front matter, readable or not.
	Front bool
	// Body is what follows the front matter and its line end.
	Body []byte
	// Links are the targets of [[id]], [[id|label]] and [[id#section]] outside
	// code, in order, without repeats.
	Links []string
	// SectionLinks are the links that name a section, in order, without repeats.
	SectionLinks []SectionLink
	// Sections tile the file, in order. An empty file has none.
	Sections []Section
	// Ambiguous reports that the sections may not be what another reader of
	// Markdown sees. Who quotes the page should quote all of it.
	Ambiguous bool
	// FencedHeading reports that fenced code has a line that would be a heading
	// outside, such as a comment of a script. It is none, but a program that
	// looks at lines only takes it for one.
	FencedHeading bool
	// Problems are the faults of the file, in order of the lines.
	Problems []Problem
}

// A SectionLink is a link of the form [[id#section]].
type SectionLink struct {
	// ID is the target, and one of Page.Links.
	ID string
	// Section is what stands behind the "#": the name of a section, or its
	// title, of which [Anchor] makes the name.
	Section string
}

// A Section is a part of the file from one heading to the next of any level.
type Section struct {
	// Name is made from the title: lower case, words joined by "-", and a
	// number behind it where the page has the name already. It is empty for
	// what precedes the first heading, front matter included, and for nothing
	// else.
	Name string
	// Title is the text of the heading, markup included.
	Title string
	// Level is 1 to 6, and 0 before the first heading.
	Level int
	// Start and End are offsets in the file: raw[Start:End].
	Start, End int
}

// The codes of a [Problem] and of an [Error].
const (
	// CodeFront means that the front matter cannot be read: it is not closed,
	// not a YAML mapping, too large, or breaks a rule of strict YAML.
	CodeFront = "front_matter_invalid"
	// CodeField means that a value has the wrong type or form. A Problem with
	// this code says what was read in its place.
	CodeField = "field_invalid"
	// CodeUTF8 means that the file is not UTF-8.
	CodeUTF8 = "not_utf8"
	// CodeEdit means that the fields cannot be set without changing something
	// else. The page has to be edited by hand.
	CodeEdit = "edit_refused"
)

// A Problem is one fault of a file.
type Problem struct {
	// Code is CodeFront, CodeField or CodeUTF8.
	Code string
	// Message says what is wrong and quotes no more than a few words.
	Message string
	// Line is where, from 1.
	Line int
}

// Parse reads the file at path, in slash form. An id in the front matter is
// used if [CheckID] accepts it, else the path without ".md" is the id.
func Parse(path string, raw []byte) Page {
	p := Page{ID: pathID(path), Kind: DefaultKind}
	src := split(raw)
	p.Front, p.Body = src.fenced, raw[src.body:]
	if !utf8.Valid(raw) {
		p.Ambiguous = true
		p.addProblem(CodeUTF8, invalidLine(raw), "the file is not UTF-8")
	}
	if src.fault != "" {
		p.Ambiguous = !src.fenced
		p.addProblem(CodeFront, 1, src.fault)
	} else if src.fenced {
		p.readFront(raw[src.start:src.end])
	}
	s := scanner{raw: raw, pos: src.body}
	s.run()
	p.Sections, p.Links, p.SectionLinks = s.sections, s.links, s.sectionLinks
	p.Ambiguous, p.FencedHeading = p.Ambiguous || s.ambiguous, s.fenced
	if p.Title == "" {
		p.Title = firstTitle(p.Sections, p.ID)
	}
	return p
}

// CheckID reports, as a sentence, why a text cannot be the id of a page, and
// returns "" if it can: an id is 1 to MaxID bytes of UTF-8 without control,
// format and line break characters, "[", "]", "|" and "#", and has no space at
// either end, so that [[id]] can name it.
func CheckID(id string) string {
	switch {
	case id == "":
		return "an id is not empty"
	case len(id) > MaxID:
		return "an id has at most 1024 bytes"
	case strings.TrimSpace(id) != id:
		return "an id has no space at its ends"
	case strings.ContainsAny(id, "[]|#"):
		return "an id has none of [ ] | #"
	}
	if strings.IndexFunc(id, isJoiner) >= 0 { // two ids that look the same are a trap
		return "an id has no joiner"
	}
	return checkLine(id)
}

// pathID is the id of a page that states none.
func pathID(name string) string {
	id := strings.TrimSuffix(name, path.Ext(name))
	if !strings.EqualFold(path.Ext(name), ".md") || id == "" {
		return name
	}
	return id
}

// firstTitle is the text of the first heading that has any, else id.
func firstTitle(sections []Section, id string) string {
	for _, s := range sections {
		if s.Title != "" {
			return s.Title
		}
	}
	return id
}

// addProblem appends a problem.
func (p *Page) addProblem(code string, line int, message string) {
	p.Problems = append(p.Problems, Problem{Code: code, Message: message, Line: line})
}

// invalidLine is the line of the first byte that is not UTF-8.
func invalidLine(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return 1 + bytes.Count(raw[:i], []byte{'\n'})
		}
		i += n
	}
	return 1
}
