package changeset_test

import (
	"os"
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset"
)

// An operation whose file moved on can be proposed anew: on the file as it is.
func TestRepairStale(t *testing.T) {
	t.Parallel()
	const other = "---\nid: setup\nkind: guide\ntitle: Set-up\nowner: ada\n---\nOther.\n"
	for _, test := range []struct {
		name, before, after string
		remove              bool // the file, between the two
		op                  changeset.Op
		left                int // operations in the end
	}{
		{"update", "update setup Text.\n", "update setup Better.\n", false, changeset.Update, 1},
		{"move", "move setup a.md", "move setup b.md", false, changeset.Move, 1},
		{"delete again", "delete setup", "delete setup", false, changeset.Delete, 1},
		{"update in place of a deletion", "delete setup", "update setup Better.\n", false, changeset.Update, 1},
		{"of a node that is gone", "update setup Text.\n", "delete setup", true, changeset.Delete, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			w := p.writer(t, "ada")
			id := begin(t, w)
			if _, err := propose(t, w, id, test.before); err != nil {
				t.Fatal(err)
			}
			if test.remove {
				if err := os.Remove(p.path("docs/setup.md")); err != nil {
					t.Fatal(err)
				}
			} else {
				p.write(t, "docs/setup.md", other)
			}
			if got := p.problems(t, id); len(got) != 1 || got[0] != "base_stale setup" {
				t.Fatalf("problems %v, want base_stale", got)
			}
			o, err := propose(t, w, id, test.after)
			if err != nil {
				t.Fatal(err)
			}
			if o.Op != test.op {
				t.Errorf("operation %+v, want %s", o, test.op)
			}
			if got := p.problems(t, id); len(got) != 0 {
				t.Errorf("problems %v after proposing again", got)
			}
			c, err := p.store.Get(t.Context(), id)
			if err != nil || len(c.Operations) != test.left {
				t.Fatalf("%d operations, %v, want %d", len(c.Operations), err, test.left)
			}
			if test.left == 0 {
				return
			}
			diffs, err := p.store.Diff(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if test.op == changeset.Update && diffs[0].Unified == "" {
				t.Error("no diff")
			}
		})
	}
}

// So can one whose file somebody moved: it goes on where the file is.
func TestRepairMoved(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	if _, err := propose(t, w, id, "update setup Text.\n"); err != nil {
		t.Fatal(err)
	}
	p.write(t, "docs/moved/setup.md", handbook()["docs/setup.md"])
	if err := os.Remove(p.path("docs/setup.md")); err != nil {
		t.Fatal(err)
	}
	o, err := propose(t, w, id, "update setup Better.\n")
	if err != nil || o.Op != changeset.Update || o.OldPath != "moved/setup.md" || o.NewPath != o.OldPath {
		t.Errorf("operation %+v, %v", o, err)
	}
	if got := p.problems(t, id); got != nil {
		t.Errorf("problems %v after proposing again", got)
	}
}
