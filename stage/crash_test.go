package stage_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/stage"
)

// A scenario is a promotion on a model file system.
type scenario struct {
	name     string
	base     *model // before it
	plan     stage.Plan
	old, new map[string]string // the project before and after
}

// scenarios returns promotions of 1, 5 and 12 files.
func scenarios(tb testing.TB) []*scenario {
	tb.Helper()
	one := newScenario(tb, "1 file", map[string]string{"docs/plan.md": "old"},
		map[string]string{"docs/plan.md": "the new plan"}, nil, nil)
	five := newScenario(tb, "5 files",
		map[string]string{"docs/a.md": "old a", "docs/b.md": "old b", "index.md": "old index", "docs/gone.md": "gone", "docs/stays.md": "stays"},
		map[string]string{"docs/a.md": "new a", "docs/b.md": "new b", "docs/sub/new.md": "new"},
		map[string]string{"index.md": "new index"}, []string{"docs/gone.md"})
	old, staged := map[string]string{}, map[string]string{}
	for i := range 9 {
		p := fmt.Sprintf("docs/%d/%d.md", i%3, i)
		staged[p] = fmt.Sprintf("new %d", i)
		if i%2 == 0 {
			old[p] = fmt.Sprintf("old %d", i)
		}
	}
	old["docs/same.md"], staged["docs/same.md"] = "same", "same"
	old["docs/0/x.md"], old["docs/y.md"] = "x", "y"
	twelve := newScenario(tb, "12 files", old, staged, nil, []string{"docs/0/x.md", "docs/y.md"})
	return []*scenario{one, five, twelve}
}

func newScenario(tb testing.TB, name string, old, staged, generated map[string]string, remove []string) *scenario {
	tb.Helper()
	s := &scenario{name: name, base: newModel(), old: old, new: maps.Clone(old)}
	for p, text := range old {
		s.base.set(p, text)
	}
	area := open(tb, s.base)
	var names []string
	for p := range staged {
		names = append(names, p)
	}
	prepared, err := area.Prepare(tb.Context(), "candidate", names)
	if err != nil {
		tb.Fatal(err)
	}
	for p, text := range staged {
		s.base.set(prepared.Dir+"/"+p, text)
		s.new[p] = text
	}
	m, err := area.Inspect(tb.Context(), "candidate")
	if err != nil {
		tb.Fatal(err)
	}
	var files []stage.Generated
	for p, text := range generated {
		files = append(files, stage.Generated{Path: p, Data: []byte(text)})
		s.new[p] = text
	}
	for _, p := range remove {
		delete(s.new, p)
	}
	if s.plan, err = area.Plan(tb.Context(), m, files, remove); err != nil {
		tb.Fatal(err)
	}
	s.plan.Approval = approval(7)
	s.base = s.base.crash(choice{func(change) bool { return true }, func(*inode) int { return 1 }})
	return s
}

// open opens an area on a model.
func open(tb testing.TB, m *model) *stage.Area {
	tb.Helper()
	area, err := stage.OpenOn(m, allowDocs())
	if err != nil {
		tb.Fatal(err)
	}
	return area
}

// record returns the file system before each change that fn makes, and after
// the last.
func record(m *model, fn func()) []*model {
	var points []*model
	m.before = func(call) { points = append(points, m.clone()) }
	fn()
	m.before = nil
	return append(points, m.clone())
}

// An outcome is what a project may be.
type outcome string

const (
	either  outcome = "either"
	isOld   outcome = "old"
	isNew   outcome = "new"
	mixed   outcome = "mixed"
	damaged outcome = "damaged"
	lost    outcome = "lost"
	stuck   outcome = "stuck"
)

// A tally counts what crashes lead to.
type tally struct {
	points, states, distinct int
	bad                      map[outcome]int
	first, why               string // the first bad one, and an error that led there
}

// A judge decides what crashes of one scenario lead to.
type judge struct {
	*scenario
	t      testing.TB
	broken breakage
	limits []int // how many states of a crash are tried, by how often it crashed before
	known  map[string]outcome
	retry  map[string]bool
	tally
}

func newJudge(tb testing.TB, s *scenario, broken breakage, limits ...int) *judge {
	tb.Helper()
	return &judge{
		scenario: s, t: tb, broken: broken, limits: limits, known: map[string]outcome{}, retry: map[string]bool{},
		tally: tally{bad: map[outcome]int{}},
	}
}

// crash tries what a crash at each of points leaves. After the last one the
// caller was told what happened: it must be want.
func (j *judge) crash(points []*model, depth int, want outcome) {
	for i, point := range points {
		expect := either
		if i == len(points)-1 {
			expect = want
		}
		j.points++
		for _, after := range point.crashes(j.limits[depth], uint64(j.points)) {
			j.states++
			j.try(after, depth, expect)
		}
	}
}

// try recovers from one state.
func (j *judge) try(after *model, depth int, want outcome) {
	key := after.fingerprint()
	got, ok := j.known[key]
	if !ok {
		j.distinct++
		got = j.recover(after, depth)
		j.known[key] = got
	}
	if got == isOld && want == isNew || got == isNew && want == isOld {
		got = lost
	}
	if got != isOld && got != isNew {
		j.bad[got]++
		if j.first == "" {
			j.first = fmt.Sprintf("%s: %s, expected %s, after recovery: %v", j.name, got, want, after.tree())
		}
	}
}

// recover says what a project is after recovery, and lets that crash as well.
func (j *judge) recover(after *model, depth int) outcome {
	m := after // nobody else needs it
	var err error
	again := func() { _, err = open(j.t, m).Recover(context.Background()) }
	var points []*model
	if depth+1 < len(j.limits) && j.distinct%nestEvery == 0 {
		points = record(m, again)
	} else {
		again()
	}
	if err != nil {
		j.note(after, err)
		return stuck
	}
	got := j.judge(m)
	if got != isOld && got != isNew {
		return got
	}
	if len(points) > 1 {
		j.crash(points, depth+1, got)
	}
	if !j.retries(m, got) {
		return stuck
	}
	return got
}

// judge says what the project is.
func (j *judge) judge(m *model) outcome {
	tree := m.tree()
	receipt, ok, err := open(j.t, m).Receipt(j.plan.Approval)
	switch {
	case err != nil || ok && receipt.Digest != j.plan.Digest():
		return damaged
	case maps.Equal(tree, j.new) && ok:
		return isNew
	case maps.Equal(tree, j.old) && !ok:
		return isOld
	}
	for p, text := range tree {
		if text != j.old[p] && text != j.new[p] {
			return damaged
		}
	}
	return mixed
}

// retries reports whether the same plan can be promoted once more, to the same
// end.
func (j *judge) retries(m *model, got outcome) bool {
	key := m.fingerprint()
	if done, ok := j.retry[key]; ok {
		return done
	}
	area := open(j.t, m)
	before, _, _ := area.Receipt(j.plan.Approval)
	r, err := area.Promote(context.Background(), j.plan)
	ok := err == nil && maps.Equal(m.tree(), j.new) && leftovers(m) == ""
	if got == isNew {
		ok = ok && cmp.Equal(before, r, cmpopts.IgnoreUnexported(stage.Change{}))
	}
	if !ok {
		j.note(m, fmt.Errorf("promoted again: %w, leftovers %q", err, leftovers(m)))
	}
	j.retry[key] = ok
	return ok
}

// note keeps the first error that must not be.
func (j *judge) note(m *model, err error) {
	if j.why == "" {
		j.why = fmt.Sprintf("%s: %v", j.name, err)
	}
}

// leftovers names a file that only an operation under way has.
func leftovers(m *model) string {
	for p := range m.all() {
		if strings.Contains(p, ".x-tmp-") || strings.HasPrefix(p, areaDir+"/undo/") || p == areaDir+"/journal" {
			return p
		}
	}
	return ""
}

// promote lets a promotion crash everywhere.
func (j *judge) promote() {
	m := j.base.clone()
	m.broken = j.broken
	var err error
	points := record(m, func() { _, err = open(j.t, m).Promote(context.Background(), j.plan) })
	if err != nil {
		j.t.Fatal(err)
	}
	j.crash(points, 0, isNew)
}

// abort lets an abort crash everywhere, at several times after the commit
// point of a promotion.
func (j *judge) abort() {
	m := j.base.clone()
	points := record(m, func() { _, _ = open(j.t, m).Promote(context.Background(), j.plan) })
	every := max(1, len(points)/12)
	for i := 0; i < len(points); i += every {
		m := points[i].crash(choice{func(change) bool { return true }, func(*inode) int { return 1 }})
		var err error
		aborted := record(m, func() { _, err = open(j.t, m).Abort(context.Background(), firstOperation) })
		switch stage.CodeOf(err) {
		case "":
			j.crash(aborted, 0, isOld)
		case stage.CodeNoOperation, stage.CodeFinished:
		default:
			j.t.Fatalf("%s: abort at point %d: %v", j.name, i, err)
		}
	}
}

// firstOperation is the id of the first operation on a model.
const firstOperation = "op-0000000001-aaaaaaaa"

// TestCrash lets promotions and aborts crash before every change of the file
// system, and within the recovery from that, and within that.
func TestCrash(t *testing.T) {
	t.Parallel()
	all := tally{bad: map[outcome]int{}}
	for _, s := range scenarios(t) {
		j := newJudge(t, s, whole, crashLimits...)
		j.promote()
		promoted := j.points
		j.abort()
		t.Logf("%s: points %d, %d of them in aborts and recoveries, states %d, distinct %d", s.name, j.points, j.points-promoted, j.states, j.distinct)
		all.points += j.points
		all.states += j.states
		all.distinct += j.distinct
		for what, n := range j.bad {
			all.bad[what] += n
		}
		if j.first != "" {
			t.Error(j.first, j.why)
		}
	}
	t.Logf("points %d, states %d in all (%d distinct), lost %d, mixed %d, damaged %d, stuck %d",
		all.points, all.states, all.distinct, all.bad[lost], all.bad[mixed], all.bad[damaged], all.bad[stuck])
	if all.points < 150 || all.states < minStates {
		t.Errorf("too few points or states to prove anything")
	}
}

// TestBrokenProtocols shows that the judge would notice.
func TestBrokenProtocols(t *testing.T) {
	t.Parallel()
	s := scenarios(t)[1]
	caught := 0
	protocols := []breakage{noFileSync, noDirSync, noJournalSync, noJournal, inPlace, earlyEnd}
	for _, broken := range protocols {
		j := newJudge(t, s, broken, 24)
		j.promote()
		t.Logf("%s: lost %d, mixed %d, damaged %d, stuck %d of %d", broken, j.bad[lost], j.bad[mixed], j.bad[damaged], j.bad[stuck], j.states)
		if len(j.bad) == 0 {
			t.Errorf("%s: not caught", broken)
			continue
		}
		caught++
	}
	t.Logf("%d of %d broken protocols caught", caught, len(protocols))
}
