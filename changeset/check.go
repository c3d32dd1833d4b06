package changeset

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Limits of what a writer says, in bytes. They keep lists of changesets, and
// the pages that show them, readable; the documentation names all of them.
const (
	maxTitle       = 200
	maxDescription = 4000
	maxWriter      = 100
	maxNodeID      = 200 // stricter than what may already be in a project
	maxWord        = 64  // a kind, a status, a tag, the id of a view
	maxDepends     = 256 // entries
	maxTags        = 64  // entries
)

// checkLine reports whether text can stand on one line: what a title, a kind
// and the like must be. Characters that cannot be seen are let through where
// languages need them; the pages for reviewers write them out.
func checkLine(op, field, text string, limit int) error {
	switch {
	case len(text) > limit:
		return refusef(CodeTooLarge, op, "the %s has %d bytes, the limit is %d", field, len(text), limit)
	case strings.TrimSpace(text) == "":
		return refusef(CodeProposal, op, "the %s is empty", field)
	case strings.TrimSpace(text) != text:
		return refusef(CodeProposal, op, "the %s begins or ends with a space", field)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable):
		return refusef(CodeProposal, op, "the %s has a line end, a control character, or is not UTF-8", field)
	case page.StrayJoiner(text):
		return refusef(CodeProposal, op, "the %s has a joiner that is not between visible characters", field)
	}
	return nil
}

// unprintable reports whether r would break a line or be swallowed.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// checkText reports whether text of several lines can be stored.
func checkText(op, field, text string, limit int64) error {
	switch {
	case int64(len(text)) > limit:
		return refusef(CodeTooLarge, op, "the %s has %d bytes, the limit is %d", field, len(text), limit)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return refusef(CodeProposal, op, "the %s has a NUL or is not UTF-8", field)
	}
	return nil
}

// checkNodeID reports whether id can name a new node.
func checkNodeID(id string) error {
	if len(id) > maxNodeID {
		return refusef(CodeTooLarge, opPropose, "the id has %d bytes, the limit is %d", len(id), maxNodeID)
	}
	if fault := page.CheckID(id); fault != "" {
		return refusef(CodeProposal, opPropose, "the id %.80q: %s", id, fault)
	}
	return nil
}

// checkList reports whether a list of the front matter can be stored.
func checkList(field string, list []string, most, limit int) error {
	if len(list) > most {
		return refusef(CodeTooMany, opPropose, "%s has %d entries, the limit is %d", field, len(list), most)
	}
	for _, item := range list {
		if err := checkLine(opPropose, "entry of "+field, item, limit); err != nil {
			return err
		}
	}
	return nil
}

// checkEdit reports whether all fields that are set can be stored.
func (s *Store) checkEdit(e NodeEdit) error {
	if e.Text != nil {
		if err := checkText(opPropose, "text", *e.Text, s.opts.MaxFileBytes); err != nil {
			return err
		}
		// It would stand below the front matter that the file gets or has, where
		// nothing reads it: who wrote it means something else.
		if page.Fronted([]byte(*e.Text)) {
			return refusef(CodeProposal, opPropose, "the text begins with front matter; leave that out and set its fields beside the text, or begin the text with an empty line if it is none")
		}
	}
	return first(
		checkWord("title", e.Title, maxTitle, false),
		checkWord("kind", e.Kind, maxWord, false),
		checkWord("status", e.Status, maxWord, true),
		checkDepends(e.DependsOn),
		checkTags(e.Tags),
	)
}

// checkWord reports whether a field of the front matter, if it is set, can be
// stored.
func checkWord(field string, text *string, limit int, empty bool) error {
	if text == nil || *text == "" && empty {
		return nil
	}
	return checkLine(opPropose, field, *text, limit)
}

// checkDepends reports whether the dependencies, if they are set, can be ids.
// They may be longer than the id of a new node: they may name an old one.
func checkDepends(list *[]string) error {
	if list == nil {
		return nil
	}
	if err := checkList("depends_on", *list, maxDepends, page.MaxID); err != nil {
		return err
	}
	for _, id := range *list {
		if fault := page.CheckID(id); fault != "" {
			return refusef(CodeProposal, opPropose, "depends_on has %.80q: %s", id, fault)
		}
	}
	return nil
}

// checkTags reports whether the tags, if they are set, can be stored.
func checkTags(list *[]string) error {
	if list == nil {
		return nil
	}
	return checkList("tags", *list, maxTags, maxWord)
}

// checkPath reports whether a node may be at p, whatever is there now. Names
// that begin with a dot are refused, because a project does not look there: the
// node would be gone as soon as it was carried out.
func (s *Store) checkPath(p string) error {
	if err := rootfs.Check(p); err != nil {
		if e, ok := errors.AsType[*rootfs.Error](err); ok && e.Err != nil {
			err = e.Err // which path it is, and that it is refused, is said anyway
		}
		return &Error{Code: CodePath, Op: opPropose, Path: p, Err: err}
	}
	detail := ""
	switch hidden := func(part string) bool { return strings.HasPrefix(part, ".") }; {
	case path.Ext(p) != ".md":
		detail = "it does not end in .md"
	case slices.ContainsFunc(strings.Split(p, "/"), hidden):
		detail = "a part begins with a dot"
	case rootfs.Check(path.Join(s.opts.Docs, p)) != nil:
		detail = "it is too long or too deep below the docs folder"
	default:
		return nil
	}
	return &Error{Code: CodePath, Op: opPropose, Path: p, Detail: detail}
}

// fields gives the page package what e sets.
func (e NodeEdit) fields() page.Fields {
	f := page.Fields{Kind: e.Kind, Title: e.Title, Status: e.Status, DependsOn: e.DependsOn, Tags: e.Tags}
	if e.Text != nil {
		body := []byte(*e.Text)
		f.Body = &body
	}
	return f
}
