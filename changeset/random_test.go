package changeset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/textdiff"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// FuzzPropose makes proposals of any bytes. Whatever was accepted, each node
// has one operation, no problem but a reference that leads nowhere, and a diff
// that gives what was proposed; whatever was refused changed nothing; and the
// project is as it was.
func FuzzPropose(f *testing.F) {
	for _, seed := range []string{
		"\x00\x01\x02", "\x10\x21\x32\x23\x14", "\x30\x31\x32\x33\x34\x35", "\x20\x25\x2a\x21\x22\x23",
		"\x00\x05\x0a\x10\x15\x1a\x20\x25\x2a\x30\x35\x3a", "\x23\x23\x2c\x02\x32\x02", "\x01\x21\x31\x01\x11\x21",
		"\x2b\x2c\x1b\x1c\x3b\x3c\x0b\x0c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		p := newProject(t, options(), handbook())
		w := p.writer(t, "ada")
		id := begin(t, w)
		before := treetest.Read(t, p.dir, ".mcpdocs")
		for _, b := range []byte(script[:min(len(script), 12)]) {
			was := p.get(t, id)
			if _, err := propose(t, w, id, stepOf(b)); err != nil {
				if diff := cmp.Diff(was, p.get(t, id)); diff != "" {
					t.Errorf("%s was refused, %v, and changed (-before +after):\n%s", stepOf(b), err, diff)
				}
			}
		}
		p.wantSound(t, id)
		if diff := cmp.Diff(before, treetest.Read(t, p.dir, ".mcpdocs")); diff != "" {
			t.Errorf("the project changed (-before +after):\n%s", diff)
		}
	})
}

// stepOf makes a proposal of a byte.
func stepOf(b byte) string {
	nodes := []string{"setup", "limits", "terms", "notes/plain", "new", "b"}
	paths := []string{"setup.md", "b.md", "new.md", "spec/terms.md", "Setup.md", "notes/plain.md", "b.md/c.md"}
	node, path := nodes[int(b)%len(nodes)], paths[int(b>>1)%len(paths)]
	switch b >> 4 & 3 {
	case 0:
		return "create " + node + " " + path
	case 1:
		return fmt.Sprintf("update %s Text %d\n", node, b>>6)
	case 2:
		return "move " + node + " " + path
	}
	return "delete " + node
}

// wantSound checks a changeset on a project that did not change since.
func (p *project) wantSound(t *testing.T, id string) {
	t.Helper()
	for _, problem := range p.problems(t, id) {
		if !strings.HasPrefix(problem, "dangling_reference ") {
			t.Errorf("problem %s", problem)
		}
	}
	diffs, err := p.store.Diff(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, o := range p.get(t, id).Operations {
		old := []byte(handbook()["docs/"+o.OldPath])
		raw, err := textdiff.Apply(old, []byte(diffs[i].Unified))
		switch {
		case err != nil:
			t.Errorf("%+v: %v", o, err)
		case seen[o.ID]:
			t.Errorf("two operations on %s", o.ID)
		case o.OldPath != "" && canon.Sum(old) != o.BaseHash, o.NewPath != "" && canon.Sum(raw) != o.NewHash:
			t.Errorf("%+v does not fit its diff %q", o, diffs[i].Unified)
		case o.Op == changeset.Update && o.BaseHash == o.NewHash:
			t.Errorf("%+v does nothing", o)
		}
		seen[o.ID] = true
	}
}
