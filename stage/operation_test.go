package stage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/stage"
)

// interrupted is a project of five files whose promotion stopped halfway after
// its commit point.
func interrupted(t *testing.T) (*judge, *model) {
	t.Helper()
	j := newJudge(t, scenarios(t)[1], whole)
	return j, j.halfway()
}

// drop removes a file that has the text somewhere outside the stage.
func drop(t *testing.T, m *model, text string) {
	t.Helper()
	for p, n := range m.clone().all() {
		if string(n.data) == text && strings.Contains(p, ".x-tmp-") {
			must(t, m.Remove(p))
			return
		}
	}
	t.Fatalf("no unfinished file has %q", text)
}

func TestConflict(t *testing.T) {
	j, m := interrupted(t)
	m.set("docs/b.md", "edited meanwhile")
	area := open(t, m)
	_, err := area.Recover(t.Context())
	wantCode(t, err, stage.CodeConflict)
	want := &stage.Error{Code: stage.CodeConflict, Op: "promote", Subject: firstOperation, Paths: []string{"docs/b.md"}}
	if diff := cmp.Diff(want.Error(), err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	_, err = area.Promote(t.Context(), j.plan)
	wantCode(t, err, stage.CodeConflict)
	_, err = area.Abort(t.Context(), "op-0000000002-aaaaaaaa")
	wantCode(t, err, stage.CodeNoOperation)

	r, err := area.Abort(t.Context(), firstOperation)
	must(t, err)
	wantR := stage.Recovery{
		Operation: firstOperation, Candidate: "candidate", Undone: true, Kept: []string{"docs/b.md"},
		Files: []string{"docs/a.md", "docs/b.md", "docs/gone.md", "docs/sub/new.md", "index.md"},
	}
	if diff := cmp.Diff(wantR, r); diff != "" {
		t.Errorf("abort (-want +got):\n%s", diff)
	}
	j.old["docs/b.md"] = "edited meanwhile"
	if diff := cmp.Diff(j.old, m.tree()); diff != "" {
		t.Errorf("project after abort (-want +got):\n%s", diff)
	}
	if left := leftovers(m); left != "" {
		t.Errorf("%s is left", left)
	}
}

func TestConflictResolved(t *testing.T) {
	j, m := interrupted(t)
	m.set("docs/b.md", "edited meanwhile")
	_, err := open(t, m).Lock(t.Context())
	wantCode(t, err, stage.CodeConflict)
	m.set("docs/b.md", j.old["docs/b.md"])
	r, err := open(t, m).Recover(t.Context())
	must(t, err)
	if r.Undone || r.Operation != firstOperation || j.judge(m) != isNew {
		t.Errorf("recovery %+v, the project is %s", r, j.judge(m))
	}
	_, err = open(t, m).Abort(t.Context(), firstOperation)
	wantCode(t, err, stage.CodeFinished)
}

// TestAbortRestores: an aborted operation leaves the old files with their modes,
// and a file that somebody put into a directory that it made.
func TestAbortRestores(t *testing.T) {
	j, m := interrupted(t)
	m.set("docs/sub/mine.md", "mine")
	r, err := open(t, m).Abort(t.Context(), firstOperation)
	must(t, err)
	if !r.Undone || r.Kept != nil {
		t.Errorf("abort gave %+v", r)
	}
	j.old["docs/sub/mine.md"] = "mine"
	if diff := cmp.Diff(j.old, m.tree()); diff != "" {
		t.Errorf("project after abort (-want +got):\n%s", diff)
	}
	for p := range j.old {
		if info, err := m.Stat(p); err != nil || info.Mode != 0o644 {
			t.Errorf("%s has mode %v, %v", p, info.Mode, err)
		}
	}
}

// TestLaterJournal: a whole journal with a field of another version is not
// finished by halves, but left to a person.
func TestLaterJournal(t *testing.T) {
	_, m := interrupted(t)
	data, err := m.ReadFile(areaDir+"/journal", 1<<20)
	must(t, err)
	_, text, _ := strings.Cut(string(data), "\n")
	text, _, _ = strings.Cut(text, "\n")
	m.set(areaDir+"/journal", stage.SealJournal(text))
	before := m.clone()
	_, err = open(t, m.clone()).Recover(t.Context())
	must(t, err) // what was written as it was is good
	m.set(areaDir+"/journal", stage.SealJournal(strings.Replace(text, "{", `{"later":1,`, 1)))
	_, err = open(t, m).Recover(t.Context())
	wantCode(t, err, stage.CodeDamaged)
	if diff := cmp.Diff(before.tree(), m.tree()); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
}

// TestSameContent: a file that was replaced by one with the same bytes needs
// nothing any more, not even the candidate.
func TestSameContent(t *testing.T) {
	old := map[string]string{"docs/a.md": "same", "docs/b.md": "old b", "docs/c.md": "old c"}
	staged := map[string]string{"docs/a.md": "same", "docs/b.md": "new b", "docs/c.md": "new c"}
	j := newJudge(t, newScenario(t, "same", old, staged, nil, nil), whole)
	m := j.halfway()
	must(t, m.Remove(areaDir+"/stage/candidate/docs/a.md"))
	_, err := open(t, m).Recover(t.Context())
	must(t, err)
	if got := j.judge(m); got != isNew {
		t.Errorf("the project is %s, want %s", got, isNew)
	}
}

// TestLostFiles removes what an interrupted operation needs. A staged file is
// copied once more; a generated one is gone, and the operation can be aborted.
func TestLostFiles(t *testing.T) {
	t.Run("staged", func(t *testing.T) {
		j, m := interrupted(t)
		drop(t, m, "new")
		_, err := open(t, m).Recover(t.Context())
		must(t, err)
		if got := j.judge(m); got != isNew {
			t.Errorf("the project is %s", got)
		}
	})
	for name, spoil := range map[string]func(*model){
		"generated": func(m *model) { drop(t, m, "new index") },
		"staged and discarded": func(m *model) {
			drop(t, m, "new")
			_, err := open(t, m).Discard(t.Context(), "candidate")
			must(t, err)
		},
		"staged and changed": func(m *model) {
			drop(t, m, "new")
			m.set(areaDir+"/stage/candidate/docs/sub/new.md", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, m := interrupted(t)
			spoil(m)
			_, err := open(t, m).Recover(t.Context())
			wantCode(t, err, stage.CodeConflict)
			_, err = open(t, m).Abort(t.Context(), firstOperation)
			must(t, err)
			if got := j.judge(m); got != isOld {
				t.Errorf("the project is %s", got)
			}
		})
	}
	t.Run("copy of an old file", func(t *testing.T) {
		_, m := interrupted(t)
		m.set(areaDir+"/undo/"+firstOperation+"/0", "spoiled")
		_, err := open(t, m).Abort(t.Context(), firstOperation)
		wantCode(t, err, stage.CodeConflict)
		m.set("docs/a.md", "old a")
		r, err := open(t, m).Abort(t.Context(), firstOperation)
		must(t, err)
		if len(r.Kept) > 0 {
			t.Errorf("kept %q", r.Kept)
		}
	})
}

func TestAbortUnknown(t *testing.T) {
	p := newProject(t, nil, nil)
	for _, id := range []string{"", "x", firstOperation, "op-0000000000-aaaaaaaa", "../journal"} {
		_, err := p.area.Abort(t.Context(), id)
		wantCode(t, err, stage.CodeNoOperation)
	}
	r, err := p.area.Recover(t.Context())
	if diff := cmp.Diff(stage.Recovery{}, r); diff != "" || err != nil {
		t.Errorf("recovery of nothing: %v (-want +got):\n%s", err, diff)
	}
}

func TestApprovals(t *testing.T) {
	p := newProject(t, &stage.Options{Allow: []string{"**"}, MaxReceipts: 3}, nil)
	promote := func(i int, text string) (stage.Receipt, error) {
		p.prepare(t, "one", map[string]string{"a.md": text})
		plan := p.plan(t, "one", nil, nil)
		plan.Approval = approval(i)
		return p.area.Promote(t.Context(), plan)
	}
	for i := range 5 {
		r, err := promote(i, fmt.Sprint("text ", i))
		must(t, err)
		if want := fmt.Sprintf("op-%010d-", i+1); !strings.HasPrefix(r.Operation, want) {
			t.Errorf("operation %s, want %s", r.Operation, want)
		}
	}
	_, err := promote(4, "another text")
	wantCode(t, err, stage.CodeApproval)
	for i := range 5 {
		_, ok, err := p.area.Receipt(approval(i))
		if want := i >= 2; ok != want || err != nil {
			t.Errorf("receipt %d: %t, %v; want %t", i, ok, err, want)
		}
	}
	names, err := filepath.Glob(p.path(".mcpcontract/receipts/*"))
	if err != nil || len(names) != 3 {
		t.Fatalf("receipts %q, %v", names, err)
	}
	renamed := strings.Replace(names[2], approval(4), approval(9), 1)
	must(t, os.Rename(names[2], renamed))
	_, _, err = p.area.Receipt(approval(9)) // nobody's decision
	wantCode(t, err, stage.CodeDamaged)
	must(t, os.Rename(renamed, names[2]))
	must(t, os.WriteFile(names[2], []byte("spoiled"), 0o600))
	_, _, err = p.area.Receipt(approval(4))
	wantCode(t, err, stage.CodeDamaged)
	for _, bad := range []string{"", "a/b", "a.b", strings.Repeat("a", 129)} {
		_, _, err := p.area.Receipt(bad)
		wantCode(t, err, stage.CodePlan)
	}
}

func TestBadPlans(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*stage.Plan)
		want   stage.Code
	}{
		{"nothing", func(p *stage.Plan) { p.Manifest.Files, p.Base = nil, nil }, stage.CodePlan},
		{"no candidate", func(p *stage.Plan) { p.Manifest.Candidate = "" }, stage.CodeCandidate},
		{"another digest", func(p *stage.Plan) { p.Manifest.Digest = strings.Repeat("0", 64) }, stage.CodePlan},
		{"not sorted", func(p *stage.Plan) { f := p.Manifest.Files; f[0], f[1] = f[1], f[0] }, stage.CodePlan},
		{"no hash", func(p *stage.Plan) { p.Manifest.Files[0].SHA256 = "x" }, stage.CodePlan},
		{"a path that leads out", func(p *stage.Plan) { p.Manifest.Files[0].Path = "../a" }, stage.CodePath},
		{"no base", func(p *stage.Plan) { p.Base = nil }, stage.CodePlan},
		{"a base of another path", func(p *stage.Plan) { delete(p.Base, "docs/a.md"); p.Base["docs/x.md"] = "" }, stage.CodePlan},
		{"a base that is no hash", func(p *stage.Plan) { p.Base["docs/a.md"] = "x" }, stage.CodePlan},
		{"an approval with a path", func(p *stage.Plan) { p.Approval = "../x" }, stage.CodePlan},
		{"a context that is text", func(p *stage.Plan) { p.Context = "all well" }, stage.CodePlan},
		{"a generated file not allowed", func(p *stage.Plan) { p.Generated = []stage.Generated{{Path: "src/x.go"}} }, stage.CodeNotAllowed},
		{"a generated file that is staged", func(p *stage.Plan) { p.Generated = []stage.Generated{{Path: "docs/a.md"}} }, stage.CodeCollision},
		{"a generated file too large", func(p *stage.Plan) { p.Generated = []stage.Generated{{Path: "docs/x.md", Data: make([]byte, 101)}} }, stage.CodeTooLarge},
		{"removing what is not allowed", func(p *stage.Plan) { p.Remove = []string{"src/x.go"} }, stage.CodeNotAllowed},
		{"removing what is not there", func(p *stage.Plan) { p.Remove, p.Base["docs/x.md"] = []string{"docs/x.md"}, "" }, stage.CodePlan},
		{"too many", func(p *stage.Plan) { p.Remove = make([]string, 9) }, stage.CodeTooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, &stage.Options{Allow: []string{"docs/**"}, MaxFileBytes: 100, MaxFiles: 10}, nil)
			p.prepare(t, "one", map[string]string{"docs/a.md": "a", "docs/b.md": "b"})
			plan := p.plan(t, "one", nil, nil)
			tt.change(&plan)
			_, err := p.area.Promote(t.Context(), plan)
			wantCode(t, err, tt.want)
			if diff := cmp.Diff(map[string]string{}, p.tree(t)); diff != "" {
				t.Errorf("project (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLastOperation: the numbers of operations do not begin again.
func TestLastOperation(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
	plan := p.plan(t, "one", nil, nil)
	last := ".mcpcontract/receipts/op-9999999998-aaaaaaaa.receipt"
	p.write(t, last, "")
	r, err := p.area.Promote(t.Context(), plan)
	must(t, err)
	if !strings.HasPrefix(r.Operation, "op-9999999999-") {
		t.Errorf("the operation is %s", r.Operation)
	}
	p.write(t, ".mcpcontract/stage/one/docs/a.md", "b")
	_, err = p.area.Promote(t.Context(), p.plan(t, "one", nil, nil))
	wantCode(t, err, stage.CodeDamaged)
	if diff := cmp.Diff(map[string]string{"docs/a.md": "a"}, p.tree(t)); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
}

// TestDigestCovers: no two plans that differ in anything have one digest, and
// the approval is in none.
func TestDigestCovers(t *testing.T) {
	const staged = ".mcpcontract/stage/one/docs/a.md"
	fresh := func() *project {
		p := newProject(t, allowDocs(), map[string]string{"docs/a.md": "old", "docs/b.md": "old"})
		for _, id := range []string{"one", "two"} {
			p.prepare(t, id, map[string]string{"docs/a.md": "new"})
		}
		return p
	}
	index := func(path, text string) []stage.Generated {
		return []stage.Generated{{Path: path, Data: []byte(text)}}
	}
	digests := map[string]string{}
	for _, tt := range []struct {
		name string
		plan func(p *project) stage.Plan
	}{
		{"the first", func(p *project) stage.Plan { return p.plan(t, "one", index("index.md", "index"), nil) }},
		{"a staged byte", func(p *project) stage.Plan {
			p.write(t, staged, "neW")
			return p.plan(t, "one", index("index.md", "index"), nil)
		}},
		{"a staged mode", func(p *project) stage.Plan {
			must(t, os.Chmod(p.path(staged), 0o755))
			return p.plan(t, "one", index("index.md", "index"), nil)
		}},
		{"a target", func(p *project) stage.Plan {
			p.write(t, "docs/a.md", "oLd")
			return p.plan(t, "one", index("index.md", "index"), nil)
		}},
		{"no target", func(p *project) stage.Plan {
			must(t, os.Remove(p.path("docs/a.md")))
			return p.plan(t, "one", index("index.md", "index"), nil)
		}},
		{"an index before", func(p *project) stage.Plan {
			p.write(t, "index.md", "")
			return p.plan(t, "one", index("index.md", "index"), nil)
		}},
		{"another candidate", func(p *project) stage.Plan { return p.plan(t, "two", index("index.md", "index"), nil) }},
		{"no index", func(p *project) stage.Plan { return p.plan(t, "one", nil, nil) }},
		{"a generated byte", func(p *project) stage.Plan { return p.plan(t, "one", index("index.md", "indeX"), nil) }},
		{"another place of it", func(p *project) stage.Plan { return p.plan(t, "one", index("docs/index.md", "index"), nil) }},
		{"a removal", func(p *project) stage.Plan {
			return p.plan(t, "one", index("index.md", "index"), []string{"docs/b.md"})
		}},
	} {
		plan := tt.plan(fresh())
		if other, ok := digests[plan.Digest()]; ok {
			t.Errorf("%s has the digest of %s", tt.name, other)
		}
		digests[plan.Digest()] = tt.name
	}
	again := fresh().plan(t, "one", index("index.md", "index"), nil)
	again.Approval = approval(1)
	if got := digests[again.Digest()]; got != "the first" {
		t.Errorf("the first plan in another project, with an approval, has the digest of %q", got)
	}
}

// TestPlanRefuses: what could not be promoted is refused when it is planned.
func TestPlanRefuses(t *testing.T) {
	p := newProject(t, allowDocs(), map[string]string{"docs/Other.md": "other"})
	p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
	m, err := p.area.Inspect(t.Context(), "one")
	must(t, err)
	for _, tt := range []struct {
		name      string
		generated []stage.Generated
		remove    []string
		want      stage.Code
		paths     []string
	}{
		{"removing what is not there", nil, []string{"docs/none.md"}, stage.CodePlan, []string{"docs/none.md"}},
		{"another spelling of what is there", []stage.Generated{{Path: "docs/other.md"}}, nil, stage.CodeCollision, []string{"docs/Other.md", "docs/other.md"}},
		{"removing what is written", nil, []string{"docs/a.md"}, stage.CodeCollision, []string{"docs/a.md"}},
	} {
		_, err := p.area.Plan(t.Context(), m, tt.generated, tt.remove)
		e, ok := errors.AsType[*stage.Error](err)
		if !ok || e.Code != tt.want || e.Subject != "one" || !cmp.Equal(e.Paths, tt.paths) {
			t.Errorf("%s: got %v, want %s with %q", tt.name, err, tt.want, tt.paths)
		}
	}
}

// TestContext: what else a decision rests on is part of the digest, so an
// approval of one context does not promote another.
func TestContext(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
	plan := p.plan(t, "one", nil, nil)
	plan.Approval = approval(1)
	none := plan.Digest()
	plan.Context = "two-links"
	if plan.Digest() == none {
		t.Error("the context is not part of the digest")
	}
	r, err := p.area.Promote(t.Context(), plan)
	must(t, err)
	if r.Digest != plan.Digest() {
		t.Errorf("the receipt has the digest %s, want %s", r.Digest, plan.Digest())
	}
	plan.Context = "three-links"
	_, err = p.area.Promote(t.Context(), plan)
	wantCode(t, err, stage.CodeApproval)
}

func TestUnfinished(t *testing.T) {
	_, m := interrupted(t)
	area := open(t, m)
	for range 2 { // looking changes nothing
		id, err := area.Unfinished()
		must(t, err)
		if id != firstOperation {
			t.Errorf("unfinished is %q, want %q", id, firstOperation)
		}
	}
	_, err := area.Recover(t.Context())
	must(t, err)
	if id, err := area.Unfinished(); id != "" || err != nil {
		t.Errorf("unfinished after recovery is %q, %v", id, err)
	}
	m.set(areaDir+"/journal", "torn") // as before its operation began
	if id, err := area.Unfinished(); id != "" || err != nil {
		t.Errorf("unfinished with a torn journal is %q, %v", id, err)
	}
	if _, err := m.Stat(areaDir + "/journal"); err != nil {
		t.Errorf("looking removed the torn journal: %v", err)
	}
	_, err = area.Recover(t.Context())
	must(t, err)
	if _, err := m.Stat(areaDir + "/journal"); err == nil {
		t.Error("recovery left the torn journal")
	}
}
