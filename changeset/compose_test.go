package changeset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// A step is one proposal, written as "create id path", "update id text",
// "move id path" or "delete id".
func propose(tb testing.TB, w *changeset.Writer, id, step string) (changeset.Operation, error) {
	tb.Helper()
	words := strings.SplitN(step, " ", 3)
	switch words[0] {
	case "create":
		return w.ProposeCreate(tb.Context(), id, changeset.NewNode{ID: words[1], Kind: "guide", Title: "New", Path: words[2], Text: "New text.\n"})
	case "update":
		return w.ProposeUpdate(tb.Context(), id, words[1], changeset.NodeEdit{Text: &words[2]})
	case "depend": // on all words that follow
		on := strings.Fields(strings.Join(words[2:], ""))
		return w.ProposeUpdate(tb.Context(), id, words[1], changeset.NodeEdit{DependsOn: &on})
	case "move":
		return w.ProposeMove(tb.Context(), id, words[1], words[2])
	case "delete":
		return w.ProposeDelete(tb.Context(), id, words[1])
	}
	tb.Fatalf("step %q", step)
	return changeset.Operation{}, nil
}

// TestCompose checks what several operations of one changeset come to.
func TestCompose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []string
		code  changeset.Code // of the last step
		want  []string       // the operations in the end
	}{
		{name: "create", steps: []string{"create new a/new.md"}, want: []string{"create new: -> a/new.md"}},
		{name: "update", steps: []string{"update setup Text"}, want: []string{"update setup: setup.md -> setup.md, edited"}},
		{name: "move", steps: []string{"move setup a/b.md"}, want: []string{"move setup: setup.md -> a/b.md"}},
		{name: "delete", steps: []string{"delete setup"}, want: []string{"delete setup: setup.md ->"}},
		{name: "update twice", steps: []string{"update setup One", "update setup Two"}, want: []string{"update setup: setup.md -> setup.md, edited"}},
		{
			name:  "update twice the same",
			steps: []string{"update setup One", "update setup One"}, want: []string{"update setup: setup.md -> setup.md, edited"},
		},
		{
			name:  "update back",
			steps: []string{"update terms One", "update terms Words.\n"},
		},
		{
			name:  "update changes nothing",
			steps: []string{"update terms Words.\n"}, code: changeset.CodeProposal,
		},
		{name: "create, update", steps: []string{"create new new.md", "update new Text"}, want: []string{"create new: -> new.md"}},
		{name: "create, move", steps: []string{"create new new.md", "move new other.md"}, want: []string{"create new: -> other.md"}},
		{name: "create, delete", steps: []string{"create new new.md", "delete new"}},
		{name: "create, delete, create", steps: []string{"create new new.md", "delete new", "create new new.md"}, want: []string{"create new: -> new.md"}},
		{name: "move, update", steps: []string{"move setup b.md", "update setup Text"}, want: []string{"move setup: setup.md -> b.md, edited"}},
		{name: "update, move", steps: []string{"update setup Text", "move setup b.md"}, want: []string{"move setup: setup.md -> b.md, edited"}},
		{name: "move twice", steps: []string{"move setup b.md", "move setup c.md"}, want: []string{"move setup: setup.md -> c.md"}},
		{name: "move back", steps: []string{"move setup b.md", "move setup setup.md"}},
		{name: "update, move, move back", steps: []string{"update setup Text", "move setup b.md", "move setup setup.md"}, want: []string{"update setup: setup.md -> setup.md, edited"}},
		{name: "update, delete", steps: []string{"update setup Text", "delete setup"}, want: []string{"delete setup: setup.md ->"}},
		{name: "move, delete", steps: []string{"move setup b.md", "delete setup"}, want: []string{"delete setup: setup.md ->"}},
		{name: "delete, update", steps: []string{"delete setup", "update setup Text"}, code: changeset.CodeConflict, want: []string{"delete setup: setup.md ->"}},
		{name: "delete, move", steps: []string{"delete setup", "move setup b.md"}, code: changeset.CodeConflict, want: []string{"delete setup: setup.md ->"}},
		{name: "delete twice", steps: []string{"delete setup", "delete setup"}, code: changeset.CodeConflict, want: []string{"delete setup: setup.md ->"}},
		{name: "delete, create", steps: []string{"delete setup", "create setup b.md"}, code: changeset.CodeConflict, want: []string{"delete setup: setup.md ->"}},
		{name: "onto a vacated path", steps: []string{"move setup b.md", "create new setup.md"}, want: []string{"move setup: setup.md -> b.md", "create new: -> setup.md"}},
		{name: "onto a deleted path", steps: []string{"delete setup", "create new setup.md"}, want: []string{"delete setup: setup.md ->", "create new: -> setup.md"}},
		{
			name:  "swap",
			steps: []string{"move setup c.md", "move terms setup.md", "move setup spec/terms.md"},
			want:  []string{"move setup: setup.md -> spec/terms.md", "move terms: spec/terms.md -> setup.md"},
		},
		{name: "other case of its own path", steps: []string{"move setup Setup.md"}, want: []string{"move setup: setup.md -> Setup.md"}},
		{name: "without front matter", steps: []string{"move notes/plain other/plain.md"}, want: []string{"move notes/plain (other/plain): notes/plain.md -> other/plain.md"}},
		{
			name:  "without front matter, then by the new id",
			steps: []string{"move notes/plain other/plain.md", "update other/plain Text"},
			want:  []string{"move notes/plain (other/plain): notes/plain.md -> other/plain.md, edited"},
		},
		{
			name:  "without front matter, onto a taken id",
			steps: []string{"create other/plain x.md", "move notes/plain other/plain.md"}, code: changeset.CodeIDTaken,
			want: []string{"create other/plain: -> x.md"},
		},
		{
			name:  "an id that moved away",
			steps: []string{"move notes/plain b.md", "create notes/plain c.md"}, code: changeset.CodeConflict,
			want: []string{"move notes/plain (b): notes/plain.md -> b.md"},
		},
		{name: "taken id", steps: []string{"create setup b.md"}, code: changeset.CodeIDTaken},
		{name: "taken id, other case", steps: []string{"create SetUp b.md"}, code: changeset.CodeIDTaken},
		{name: "taken path", steps: []string{"create new setup.md"}, code: changeset.CodePathTaken},
		{name: "taken path, other case", steps: []string{"create new SETUP.md"}, code: changeset.CodePathTaken},
		{name: "taken folder, other case", steps: []string{"create new Spec/new.md"}, code: changeset.CodePathTaken},
		{name: "folder where a file is", steps: []string{"create new setup.md/new.md"}, code: changeset.CodePathTaken},
		{name: "file where a folder is", steps: []string{"create new a.md/b.md", "create newer a.md"}, code: changeset.CodePathTaken, want: []string{"create new: -> a.md/b.md"}},
		{name: "taken in the changeset", steps: []string{"create new new.md", "create new b.md"}, code: changeset.CodeIDTaken, want: []string{"create new: -> new.md"}},
		{name: "path taken in the changeset", steps: []string{"create caf\u00e9 caf\u00e9.md", "create new cafe\u0301.md"}, code: changeset.CodePathTaken, want: []string{"create caf\u00e9: -> caf\u00e9.md"}},
		{name: "id taken in the changeset", steps: []string{"create caf\u00e9 a.md", "create cafe\u0301 b.md"}, code: changeset.CodeIDTaken, want: []string{"create caf\u00e9: -> a.md"}},
		{name: "move onto a taken path", steps: []string{"move setup spec/terms.md"}, code: changeset.CodePathTaken},
		{name: "move onto itself", steps: []string{"move setup setup.md"}, code: changeset.CodePathTaken},
		{name: "move onto a moved one", steps: []string{"move setup b.md", "move terms B.md"}, code: changeset.CodePathTaken, want: []string{"move setup: setup.md -> b.md"}},
		{name: "file that is no node", steps: []string{"create new picture.md"}, code: changeset.CodePathTaken},
		{name: "file that is no node where a folder is needed", steps: []string{"create new plain/new.md"}, code: changeset.CodePathTaken},
		{name: "file that is no node high above", steps: []string{"move setup plain/a/b/new.md"}, code: changeset.CodePathTaken},
		{name: "folder where a file was", steps: []string{"move setup b.md", "create new setup.md/new.md"}, want: []string{"move setup: setup.md -> b.md", "create new: -> setup.md/new.md"}},
		{name: "unknown", steps: []string{"update nothing Text"}, code: changeset.CodeNode},
		{name: "unknown after it moved", steps: []string{"move notes/plain a.md", "delete notes"}, code: changeset.CodeNode, want: []string{"move notes/plain (a): notes/plain.md -> a.md"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			p.write(t, "docs/picture.md/.keep", "")
			p.write(t, "docs/plain", "no folder")
			w := p.writer(t, "ada")
			id := begin(t, w)
			before := treetest.Read(t, p.dir, ".mcpdocs")
			for i, step := range test.steps {
				want := changeset.Code("")
				if i == len(test.steps)-1 {
					want = test.code
				}
				_, err := propose(t, w, id, step)
				wantCode(t, err, want)
			}
			if diff := cmp.Diff(test.want, summary(p.get(t, id))); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, treetest.Read(t, p.dir, ".mcpdocs")); diff != "" {
				t.Errorf("the project changed (-before +after):\n%s", diff)
			}
		})
	}
}

// summary describes the operations of a changeset.
func summary(c changeset.Changeset) []string {
	var all []string
	for _, o := range c.Operations {
		s := fmt.Sprintf("%s %s", o.Op, o.ID)
		if o.NewID != "" {
			s += " (" + o.NewID + ")"
		}
		s = strings.TrimSpace(strings.ReplaceAll(fmt.Sprintf("%s: %s -> %s", s, o.OldPath, o.NewPath), ":  ->", ": ->"))
		if o.OldPath != "" && o.NewPath != "" && o.BaseHash != o.NewHash {
			s += ", edited"
		}
		all = append(all, s)
	}
	return all
}

// A caseless file system finds files by names in capitals too.
type caseless struct{ changeset.Files }

func (c caseless) Stat(p string) (rootfs.Info, error) {
	info, err := c.Files.Stat(p)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return c.Files.Stat(strings.ToLower(p))
	}
	return info, err
}

// TestCaseless proposes where a file is found under names that are not its own.
func TestCaseless(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []string
		code  changeset.Code // of the last step
	}{
		{"rename in case", []string{"move setup Setup.md"}, ""},
		{"onto a deleted one", []string{"delete setup", "create new SETUP.md"}, ""},
		{"onto a node", []string{"create new SETUP.md"}, changeset.CodePathTaken},
		{"onto what is no node", []string{"create new PICTURE.md"}, changeset.CodePathTaken},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			p.write(t, "docs/picture.md/.keep", "")
			s, err := changeset.OpenOn(caseless{changeset.FilesOf(p.store)}, p.source(), options(), func() string { return fixedID })
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.Bind("ada", everything())
			if err != nil {
				t.Fatal(err)
			}
			id := begin(t, w)
			for i, step := range test.steps {
				want := changeset.Code("")
				if i == len(test.steps)-1 {
					want = test.code
				}
				_, err := propose(t, w, id, step)
				wantCode(t, err, want)
			}
			if v, err := s.Validate(t.Context(), id); err != nil || !v.Valid {
				t.Errorf("validation %+v, %v", v, err)
			}
		})
	}
}

// Who deleted by mistake is told the way out, and it leads there.
func TestWithdrawDeletion(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	steps := []string{"delete setup", "update setup Text", "move setup b.md", "delete setup", "create setup b.md"}
	for i, step := range steps {
		_, err := propose(t, w, id, step)
		if i > 0 && (err == nil || !strings.Contains(err.Error(), "to withdraw that, propose the rest in a new changeset")) {
			t.Errorf("%s: %v", step, err)
		}
	}
	again := begin(t, w)
	if _, err := propose(t, w, again, "update setup Text"); err != nil || len(p.problems(t, again)) > 0 {
		t.Errorf("in a new changeset: %v, %v", err, p.problems(t, again))
	}
}
