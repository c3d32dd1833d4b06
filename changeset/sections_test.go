package changeset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
)

// linked are documents that link to sections of each other.
func linked() map[string]string {
	return map[string]string{
		"docs/boat.md":   "---\nid: boat\n---\n# Boat\n\n## The hull\n\nWood.\n\n## Sails\n",
		"docs/trip.md":   "---\nid: trip\n---\nMend the [[boat#the-hull]], see [[boat# The hull |it]].\n",
		"docs/old.md":    "---\nid: old\n---\nSee [[boat#anchor]].\n",
		"docs/plain.md":  "# Plain\n\nSee [[boat#sails]].\n",
		"docs/code.md":   "---\nid: code\n---\n# Code\n\n```\n# Not closed\n",
		"docs/quiet.md":  "---\nid: quiet\n---\nNo links.\n",
		"docs/naming.md": "---\nid: naming\n---\nSee [[plain#plain]].\n",
	}
}

// TestSections checks links to sections that are there before or afterwards.
func TestSections(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []string
		want  []string
	}{
		{"by name", []string{"update quiet [[boat#sails]]"}, nil},
		{"by title", []string{"update quiet [[boat#The hull]]"}, nil},
		{"none of that name", []string{"update quiet [[boat#mast]] and [[boat#Oars|oars]]"}, []string{"(dangling_section quiet)", "(dangling_section quiet)"}},
		{"before the first heading", []string{"update quiet [[boat#!]]"}, []string{"(dangling_section quiet)"}},
		{"no such node", []string{"update quiet [[ship#mast]]"}, []string{"dangling_reference quiet"}},
		{"one cannot be sure", []string{"update quiet [[code#not-closed]]"}, nil},
		{"that the changeset adds", []string{"update quiet [[boat#mast]]", "update boat ## The hull\n\n## Sails\n\n## Mast\n"}, nil},
		{"of a new node", []string{"create new new.md", "update new # New\n\n[[new#new]] [[new#other]]"}, []string{"(dangling_section new)"}},
		{"that goes", []string{"update boat # Boat\n\n## Sails\n"}, []string{"(dangling_section trip)", "(dangling_section trip)"}},
		{"that goes with the link", []string{"update boat # Boat\n\n## Sails\n", "update trip Text"}, nil},
		{"that goes with the node", []string{"delete boat"}, []string{"dangling_reference old", "dangling_reference plain", "dangling_reference trip"}},
		{"that goes as the node gets unsure", []string{"update boat ```\n## Sails\n"}, nil},
		{"that stays in a node that moves", []string{"move boat a/boat.md"}, nil},
		{"that was not there", []string{"update old Still [[boat#anchor]]."}, nil},
		{"that was not there, and another", []string{"update old Still [[boat#anchor]], [[boat#mast]]."}, []string{"(dangling_section old)"}},
		{"from a node whose id moves", []string{"update plain Still [[boat#sails]], [[boat#mast]].", "move plain a/plain.md"}, []string{"dangling_reference naming", "(dangling_section a/plain)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), linked())
			w := p.writer(t, "ada")
			id := begin(t, w)
			for _, step := range test.steps {
				if _, err := propose(t, w, id, step); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, p.problems(t, id)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManySections checks that links to sections are looked up and not searched
// for, and that one file does not fill the list.
func TestManySections(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), linked())
	w := p.writer(t, "ada")
	id := begin(t, w)
	var headings, links strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&headings, "## Part %d\n", i)
		fmt.Fprintf(&links, "[[boat#part-%d]] ", 2*i)
	}
	for name, text := range map[string]string{"boat": headings.String(), "quiet": links.String(), "trip": "Text", "old": links.String()} {
		if _, err := w.ProposeUpdate(t.Context(), id, name, changeset.NodeEdit{Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(p.problems(t, id)); got != 201 { // and that of plain
		t.Errorf("%d problems, want 201", got)
	}
}

// unreadable is a source that fails to read one file.
type unreadable struct {
	folder

	path string
	err  error
}

func (u unreadable) Read(ctx context.Context, p string) ([]byte, error) {
	if p == u.path {
		return nil, u.err
	}
	return u.folder.Read(ctx, p)
}

// TestSectionsUnread checks that a target that cannot be read is no problem of
// the changeset.
func TestSectionsUnread(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), linked())
	w := p.writer(t, "ada")
	id := begin(t, w)
	if _, err := propose(t, w, id, "update quiet [[boat#mast]]"); err != nil {
		t.Fatal(err)
	}
	s, err := changeset.Open(p.dir, unreadable{p.source(), "boat.md", errors.New("gone")}, options())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := (&project{p.dir, s}).problems(t, id); got != nil {
		t.Errorf("problems: %v", got)
	}
}
