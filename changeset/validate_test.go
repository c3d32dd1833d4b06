package changeset_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// problems validates a changeset and returns its problems as "code id", those
// that are only warnings in brackets.
func (p *project) problems(tb testing.TB, id string) []string {
	tb.Helper()
	v, err := p.store.Validate(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	valid := true
	var all []string
	for _, problem := range v.Problems {
		s := strings.TrimSpace(problem.Code + " " + problem.ID)
		if problem.Severity == changeset.SeverityError {
			valid = false
		} else {
			s = "(" + s + ")"
		}
		if problem.Message == "" {
			tb.Errorf("%s has no message", s)
		}
		all = append(all, s)
	}
	if v.Valid != valid {
		tb.Errorf("valid is %t with %v", v.Valid, all)
	}
	return all
}

// TestValidate lets the project change after a proposal, and proposals break
// references.
func TestValidate(t *testing.T) {
	t.Parallel()
	remove := func(name string) func(testing.TB, *project) {
		return func(tb testing.TB, p *project) {
			tb.Helper()
			if err := os.Remove(p.path(name)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	write := func(name, text string) func(testing.TB, *project) {
		return func(tb testing.TB, p *project) { tb.Helper(); p.write(tb, name, text) }
	}
	const other = "---\nid: setup\nkind: guide\ntitle: Set-up\n---\nOther.\n"
	for _, test := range []struct {
		name  string
		steps []string
		then  func(testing.TB, *project)
		want  []string
	}{
		{name: "empty"},
		{name: "sound", steps: []string{"create new new.md", "update setup See [[new]].", "move terms spec/words.md"}},
		{name: "node changed", steps: []string{"update setup Text"}, then: write("docs/setup.md", other), want: []string{"base_stale setup"}},
		{name: "node gone", steps: []string{"move setup b.md"}, then: remove("docs/setup.md"), want: []string{"base_stale setup"}},
		{name: "deleted node changed", steps: []string{"delete setup"}, then: write("docs/setup.md", other), want: []string{"base_stale setup"}},
		{name: "node moved", steps: []string{"update setup Text"}, then: func(tb testing.TB, p *project) {
			tb.Helper()
			if err := os.Rename(p.path("docs/setup.md"), p.path("docs/moved.md")); err != nil {
				tb.Fatal(err)
			}
		}, want: []string{"base_stale setup"}},
		{name: "another node changed", steps: []string{"update terms Text"}, then: write("docs/setup.md", other)},
		{name: "path taken since", steps: []string{"create new new.md"}, then: write("docs/NEW.md", "---\nid: else\n---\n"), want: []string{"path_taken new"}},
		{name: "id taken since", steps: []string{"create new new.md"}, then: write("docs/b.md", "---\nid: New\n---\n"), want: []string{"id_taken new"}},
		{name: "both taken since", steps: []string{"create new new.md"}, then: write("docs/new.md", "---\nid: new\n---\n"), want: []string{"id_taken new", "path_taken new"}},
		{name: "moved path taken since", steps: []string{"move setup a/b.md"}, then: write("docs/a/b.md", "# B"), want: []string{"path_taken setup"}},
		{name: "path taken since by no node", steps: []string{"create new new.md"}, then: write("docs/new.md/x", ""), want: []string{"path_taken new"}},
		{name: "folder taken since", steps: []string{"create new a/b.md"}, then: write("docs/a.md/x.md", "# X")},
		{name: "file where a folder is needed since", steps: []string{"create new a.md/b.md"}, then: write("docs/A.md", "# A"), want: []string{"path_taken new"}},
		{name: "file that is no node where a folder is needed since", steps: []string{"create new a/b/c.md"}, then: write("docs/a", "no folder"), want: []string{"path_taken new"}},
		{name: "delete what others refer to", steps: []string{"delete limits"}, want: []string{"dangling_reference setup"}},
		{name: "delete with those who refer to it", steps: []string{"delete limits", "update setup Text"}},
		{name: "delete what front matter depends on", steps: []string{"delete terms"}, want: []string{"dangling_reference limits"}},
		{name: "update with a bad link", steps: []string{"update terms See [[nowhere]] and [[setup|Set-up]]."}, want: []string{"dangling_reference terms"}},
		{name: "link in code", steps: []string{"update terms See `[[nowhere]]`."}},
		{name: "move that changes an id", steps: []string{"update terms See [[notes/plain]].", "move notes/plain b.md"}, want: []string{"dangling_reference terms"}},
		{name: "move that changes an id, with its links", steps: []string{"move notes/plain b.md", "update terms See [[b]]."}},
		{name: "two that depend on each other", steps: []string{"depend terms limits"}, want: []string{"dependency_cycle terms"}},
		{name: "dependency on itself", steps: []string{"depend setup terms setup"}, want: []string{"dependency_cycle setup"}},
		{name: "new node that closes a cycle", steps: []string{"create new new.md", "depend new limits", "depend terms new"}, want: []string{"dependency_cycle new"}},
		{name: "node that others waited for", steps: []string{"create wanted new.md", "depend wanted waiting"}, want: []string{"dependency_cycle waiting"}},
		{name: "chain", steps: []string{"depend setup limits terms", "create new new.md", "depend new setup"}},
		{name: "cycle that was there", steps: []string{"update hen Still an [[egg]].", "move egg nest/egg.md", "depend setup hen"}},
		{name: "cycle that was there, under other ids", steps: []string{"move notes/x notes/z.md", "depend notes/y notes/z", "update notes/y Text"}},
		{name: "cycle that was there, and a dependency out of it", steps: []string{"depend hen egg terms"}},
		{name: "cycle that was there, and goes", steps: []string{"depend hen"}},
		{name: "cycle that was there, and another", steps: []string{"depend hen egg setup", "depend setup egg"}, want: []string{"dependency_cycle hen"}},
		{
			name:  "broken before, and not by the changeset",
			steps: []string{"update broken Still [[gone]].", "move broken c.md"},
		},
		{name: "broken before, and more broken", steps: []string{"update broken Now [[gone]] and [[away]]."}, want: []string{"dangling_reference broken"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := handbook()
			files["docs/waiting.md"] = "---\nid: waiting\ndepends_on: [wanted]\n---\n"
			files["docs/hen.md"] = "---\nid: hen\ndepends_on: [egg]\n---\n"
			files["docs/egg.md"] = "---\nid: egg\ndepends_on: [hen]\n---\n"
			files["docs/notes/x.md"] = "---\ndepends_on: [notes/y]\n---\n"
			files["docs/notes/y.md"] = "---\ndepends_on: [notes/x]\n---\n"
			files["docs/broken.md"] = "---\nid: broken\n---\nSee [[gone]].\n"
			p := newProject(t, options(), files)
			w := p.writer(t, "ada")
			id := begin(t, w)
			for _, step := range test.steps {
				if _, err := propose(t, w, id, step); err != nil {
					t.Fatal(err)
				}
			}
			if test.then != nil {
				if got := p.problems(t, id); got != nil && test.name != "folder taken since" {
					t.Fatalf("problems before the project changed: %v", got)
				}
				test.then(t, p)
			}
			if diff := cmp.Diff(test.want, p.problems(t, id)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestValidateCarriedOut checks the words for a change that a person has made
// by hand already.
func TestValidateCarriedOut(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	o, err := w.ProposeUpdate(t.Context(), id, "terms", changeset.NodeEdit{Title: new("Words")})
	if err != nil {
		t.Fatal(err)
	}
	carried := strings.Replace(handbook()["docs/spec/terms.md"], "title: Terms", "title: Words", 1)
	if canon.Sum([]byte(carried)) != o.NewHash {
		t.Fatalf("the proposal is not the one edit: %+v", o)
	}
	p.write(t, "docs/spec/terms.md", carried)
	v, err := p.store.Validate(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := changeset.Validation{Problems: []changeset.Problem{{
		Code: "base_stale", Severity: "error", ID: "terms", Path: "spec/terms.md", Message: "the file has the proposed content already",
	}}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("validation (-want +got):\n%s", diff)
	}
}

// TestValidateNarrowed reopens the store with narrower options and policies.
func TestValidateNarrowed(t *testing.T) {
	t.Parallel()
	narrow := func(change func(*changeset.Options)) *changeset.Options {
		o := options()
		change(o)
		return o
	}
	all := everything().Allow
	for _, test := range []struct {
		name string
		opts *changeset.Options
		bind []changeset.Policy
		want []string
	}{
		{name: "as before", opts: options()},
		{name: "bound as before", opts: options(), bind: []changeset.Policy{everything()}},
		{
			name: "bound narrower", opts: options(), bind: []changeset.Policy{{Allow: all[:1]}},
			want: []string{"operation_not_allowed setup"},
		},
		{
			name: "bound narrower, then wider", opts: options(), bind: []changeset.Policy{{Allow: all[:1]}, everything()},
			want: []string{"operation_not_allowed setup"},
		},
		{
			name: "project policy on kinds", opts: narrow(func(o *changeset.Options) { o.Policy = &changeset.Policy{Allow: all, Kinds: []string{"spec"}} }),
			want: []string{"kind_not_allowed new", "kind_not_allowed setup"},
		},
		{
			name: "project policy on paths", opts: narrow(func(o *changeset.Options) { o.Policy = &changeset.Policy{Allow: all, Paths: []string{"*.md"}} }),
			bind: []changeset.Policy{{Allow: all, Paths: []string{"*.md"}}},
			want: []string{"path_not_allowed setup"},
		},
		{
			name: "limits", opts: narrow(func(o *changeset.Options) { o.MaxOperations, o.MaxFileBytes, o.MaxBytes = 1, 40, 100 }),
			want: []string{"too_large", "too_many", "too_large new", "too_large setup"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			w := p.writer(t, "ada")
			id := begin(t, w)
			for _, step := range []string{"create new new.md", "move setup guides/setup.md"} {
				if _, err := propose(t, w, id, step); err != nil {
					t.Fatal(err)
				}
			}
			p.store = p.open(t, test.opts)
			for _, policy := range test.bind {
				if _, err := p.store.Bind("ada", policy); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, p.problems(t, id)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// A judge is a validator.
type judge func(changeset.Proposal) []changeset.Problem

func (j judge) Validate(_ context.Context, p changeset.Proposal) []changeset.Problem { return j(p) }

// TestValidators checks that validators see the proposal, and can only add.
func TestValidators(t *testing.T) {
	t.Parallel()
	var seen changeset.Proposal
	opts := options()
	opts.Validators = []changeset.Validator{
		judge(func(p changeset.Proposal) []changeset.Problem {
			seen = p
			return nil
		}),
		judge(func(p changeset.Proposal) []changeset.Problem { // tries to hide everything
			for i := range p.Changeset.Operations {
				p.Changeset.Operations[i] = changeset.Operation{}
			}
			for i := range p.After.Nodes {
				p.After.Nodes[i].Links = append(p.After.Nodes[i].Links[:0], "limits")
				p.After.Nodes[i] = changeset.Node{ID: "limits"}
			}
			for i := range p.Before.Nodes {
				p.Before.Nodes[i].Hash = strings.Repeat("0", 64)
			}
			for id, raw := range p.Files {
				clear(raw)
				delete(p.Files, id)
			}
			return []changeset.Problem{{Severity: "fine", Message: "all is well"}, {Code: "spelling", Severity: "warning", ID: "new", Message: "a word"}}
		}),
		judge(func(changeset.Proposal) []changeset.Problem { panic("out of order") }),
		judge(func(changeset.Proposal) []changeset.Problem {
			many := make([]changeset.Problem, 105)
			for i := range many {
				many[i] = changeset.Problem{Code: "noise", Severity: "warning", Message: strings.Repeat("long ", 400) + fmt.Sprint(i)}
			}
			return many
		}),
	}
	p := newProject(t, opts, handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	for _, step := range []string{"create new new.md", "delete limits", "move notes/plain b.md"} {
		if _, err := propose(t, w, id, step); err != nil {
			t.Fatal(err)
		}
	}
	before := p.get(t, id)
	got := p.problems(t, id)
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	want := map[string]int{
		"dangling_reference setup": 1, "validator_problem": 1, "(spelling new)": 1,
		"validator_failed": 1, "(noise)": 100, "too_many": 1,
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, p.get(t, id)); diff != "" {
		t.Errorf("the changeset changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Operations, seen.Changeset.Operations); diff != "" {
		t.Errorf("operations shown (-want +got):\n%s", diff)
	}
	var after []string
	for _, n := range seen.After.Nodes {
		after = append(after, n.ID+" "+n.Path)
	}
	if diff := cmp.Diff([]string{"b b.md", "new new.md", "setup setup.md", "terms spec/terms.md"}, after); diff != "" {
		t.Errorf("nodes shown (-want +got):\n%s", diff)
	}
	if n := len(seen.Before.Nodes); n != 4 || string(seen.Files["new"]) == "" || len(seen.Files) != 2 {
		t.Errorf("shown are %d nodes before and the files %q", n, seen.Files)
	}
}

// TestValidateMany bounds what is returned, and still knows about errors.
func TestValidateMany(t *testing.T) {
	t.Parallel()
	files := handbook()
	for i := range 1100 {
		files[fmt.Sprintf("docs/many/%d.md", i)] = "See [[terms]].\n"
	}
	p := newProject(t, options(), files)
	w := p.writer(t, "ada")
	id := begin(t, w)
	if _, err := w.ProposeDelete(t.Context(), id, "terms"); err != nil {
		t.Fatal(err)
	}
	v, err := p.store.Validate(t.Context(), id)
	if err != nil || v.Valid || len(v.Problems) != 1001 {
		t.Fatalf("valid %t with %d problems, %v; want false with 1001", v.Valid, len(v.Problems), err)
	}
	if last := v.Problems[1000]; last.Code != "too_many" || last.Message != "101 more problems are left out" {
		t.Errorf("the last problem is %+v", last)
	}
}

// TestRepeatsDocs proposes paths as if they were relative to the root.
func TestRepeatsDocs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, docs string
		file       string // of the project
		step       string
		want       []string
	}{
		{"a new node", "docs", "old.md", "create new docs/new.md", []string{"(path_repeats_docs new)"}},
		{"in other case", "docs", "old.md", "create new Docs/a/new.md", []string{"(path_repeats_docs new)"}},
		{"a move", "docs", "old.md", "move old docs/old.md", []string{"(path_repeats_docs old)"}},
		{"a folder in a folder", "a/docs", "old.md", "move old a/docs/old.md", []string{"(path_repeats_docs old)"}},
		{"a part of the folder", "a/docs", "old.md", "move old docs/old.md", nil},
		{"a longer name", "docs", "old.md", "create new docs2/new.md", nil},
		{"further below", "docs", "old.md", "create new a/docs/new.md", nil},
		{"a folder that is there", "docs", "docs/old.md", "create new docs/new.md", nil},
		{"the root", ".", "old.md", "create new docs/new.md", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := &project{dir: dir}
			p.write(t, path.Join(test.docs, test.file), "---\nid: old\n---\nOld.\n")
			store, err := changeset.Open(dir, folder(filepath.Join(dir, filepath.FromSlash(test.docs))), &changeset.Options{Docs: test.docs})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			p.store = store
			w := p.writer(t, "ada")
			id := begin(t, w)
			if _, err := propose(t, w, id, test.step); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, p.problems(t, id)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRepeatsDocsMessage reads which path would do, and no other as the cure.
func TestRepeatsDocsMessage(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	if _, err := propose(t, w, id, "create new Docs/spec/new.md"); err != nil {
		t.Fatal(err)
	}
	v, err := p.store.Validate(t.Context(), id)
	if err != nil || len(v.Problems) != 1 {
		t.Fatal(v, err)
	}
	const want = `the path repeats the docs folder, which it is relative to anyway, so that the file would go to "docs/Docs/spec/new.md"; ` +
		`propose the path "spec/new.md" to have it at "docs/spec/new.md"`
	if got := v.Problems[0].Message; got != want {
		t.Errorf("the message is\n%s, want\n%s", got, want)
	}
}

// TestValidateTotal holds a changeset against the very limit of its bytes.
func TestValidateTotal(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	total := int64(0)
	for _, step := range []string{"update setup Text", "delete terms", "create new new.md"} {
		o, err := propose(t, w, id, step)
		if err != nil {
			t.Fatal(err)
		}
		total += o.OldSize + o.NewSize
	}
	for _, limit := range []int64{total, total - 1} {
		opts := options()
		opts.MaxBytes = limit
		v, err := p.open(t, opts).Validate(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(v.Problems), "too_large"); got != (limit < total) {
			t.Errorf("%d bytes with a limit of %d: %+v", total, limit, v.Problems)
		}
	}
}
