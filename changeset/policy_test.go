package changeset_test

import (
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/changeset"
)

// TestPolicy checks each rule of a policy against each operation.
func TestPolicy(t *testing.T) {
	t.Parallel()
	all := everything().Allow
	for _, test := range []struct {
		name   string
		policy changeset.Policy
		steps  []string
		want   changeset.Code // of the last step
	}{
		{"zero", changeset.Policy{}, []string{"update setup Text"}, changeset.CodeOperation},
		{"only create", changeset.Policy{Allow: all[:1]}, []string{"create new new.md"}, ""},
		{"only create, update", changeset.Policy{Allow: all[:1]}, []string{"create new new.md", "update new Text"}, changeset.CodeOperation},
		{"only create, move", changeset.Policy{Allow: all[:1]}, []string{"create new new.md", "move new b.md"}, changeset.CodeOperation},
		{"only create, take it back", changeset.Policy{Allow: all[:1]}, []string{"create new new.md", "delete new"}, changeset.CodeOperation},
		{"only update", changeset.Policy{Allow: all[1:2]}, []string{"create new new.md"}, changeset.CodeOperation},
		{"only move", changeset.Policy{Allow: all[2:3]}, []string{"move setup b.md"}, ""},
		{"only move, update", changeset.Policy{Allow: all[2:3]}, []string{"move setup b.md", "update setup Text"}, changeset.CodeOperation},
		{"no delete", changeset.Policy{Allow: all[:3]}, []string{"delete setup"}, changeset.CodeOperation},
		{"kind", changeset.Policy{Allow: all, Kinds: []string{"guide"}}, []string{"update setup Text"}, ""},
		{"kind of a new node", changeset.Policy{Allow: all, Kinds: []string{"spec"}}, []string{"create new new.md"}, changeset.CodeKind},
		{"kind of a deleted node", changeset.Policy{Allow: all, Kinds: []string{"guide"}}, []string{"delete terms"}, changeset.CodeKind},
		{"kind of an updated node", changeset.Policy{Allow: all, Kinds: []string{"guide"}}, []string{"update terms Text"}, changeset.CodeKind},
		{"path", changeset.Policy{Allow: all, Paths: []string{"spec/**"}}, []string{"update terms Text"}, ""},
		{"path of a new node", changeset.Policy{Allow: all, Paths: []string{"spec/**"}}, []string{"create new new.md"}, changeset.CodePathNotAllowed},
		{"path it moves from", changeset.Policy{Allow: all, Paths: []string{"spec/**"}}, []string{"move setup spec/setup.md"}, changeset.CodePathNotAllowed},
		{"path it moves to", changeset.Policy{Allow: all, Paths: []string{"*.md"}}, []string{"move setup spec/setup.md"}, changeset.CodePathNotAllowed},
		{"stars cross folders", changeset.Policy{Allow: all, Paths: []string{"**/*.md"}}, []string{"create new a/b/c.md"}, ""},
		{"stars stand for none", changeset.Policy{Allow: all, Paths: []string{"**/*.md"}}, []string{"create new a.md"}, ""},
		{"stars within", changeset.Policy{Allow: all, Paths: []string{"a/**/z.md"}}, []string{"create new a/b/c/z.md"}, ""},
		{"a star stays in its folder", changeset.Policy{Allow: all, Paths: []string{"*/c.md"}}, []string{"create new a/b/c.md"}, changeset.CodePathNotAllowed},
		{"case counts", changeset.Policy{Allow: all, Paths: []string{"Spec/*"}}, []string{"update terms Text"}, changeset.CodePathNotAllowed},
		{"many stars", changeset.Policy{Allow: all, Paths: []string{strings.Repeat("**/", 300) + "x"}}, []string{"create new a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b.md"}, changeset.CodePathNotAllowed},
	} {
		for _, where := range []string{"writer", "project"} {
			t.Run(test.name+"/"+where, func(t *testing.T) {
				t.Parallel()
				opts, policy := options(), test.policy
				if where == "project" {
					opts.Policy, policy = &test.policy, everything()
				}
				p := newProject(t, opts, handbook())
				w, err := p.store.Bind("ada", policy)
				if err != nil {
					t.Fatal(err)
				}
				id := begin(t, w)
				for i, step := range test.steps {
					want := changeset.Code("")
					if i == len(test.steps)-1 {
						want = test.want
					}
					_, err := propose(t, w, id, step)
					wantCode(t, err, want)
				}
				if got := p.problems(t, id); got != nil {
					t.Errorf("what was accepted has problems: %v", got)
				}
			})
		}
	}
}

// TestPolicyOfKinds checks that an update cannot lead out of the kinds.
func TestPolicyOfKinds(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	policy := everything()
	policy.Kinds = []string{"guide"}
	w, err := p.store.Bind("ada", policy)
	if err != nil {
		t.Fatal(err)
	}
	// Who made the policy cannot widen it afterwards.
	policy.Kinds[0], policy.Allow[0] = "spec", changeset.Delete
	id := begin(t, w)
	_, err = w.ProposeUpdate(t.Context(), id, "setup", changeset.NodeEdit{Kind: new("spec")})
	wantCode(t, err, changeset.CodeKind)
	if !strings.HasSuffix(err.Error(), `: "spec"; it allows "guide"`) {
		t.Errorf("%v does not say what is allowed", err)
	}
	_, err = w.ProposeCreate(t.Context(), id, changeset.NewNode{ID: "new", Kind: "guide", Title: "New", Path: "new.md"})
	wantCode(t, err, "")
}
