package stage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mcpcontract/mcpcontract/stage"
)

// failAt makes the nth call fail.
func failAt(n int, how fault) (func(call) fault, *call) {
	var at call
	return func(c call) fault {
		n--
		if n != 0 {
			return works
		}
		at = c
		return how
	}, &at
}

// calls counts the calls that fn makes.
func calls(m *model, fn func()) int {
	n := 0
	m.fail = func(call) fault { n++; return works }
	fn()
	m.fail = nil
	return n
}

// worst is a crash that leaves nothing that is not certain.
func worst(m *model) *model {
	return m.crash(choice{func(change) bool { return false }, func(*inode) int { return 0 }})
}

// settle says what a project is after a failure: as it is found, after
// recovery without a crash, and after a crash that follows that at once. It
// must be the same.
func (j *judge) settle(m *model) outcome {
	if _, err := open(j.t, m).Recover(context.Background()); err != nil {
		return stuck
	}
	got := j.judge(m)
	after := worst(m)
	if _, err := open(j.t, after).Recover(context.Background()); err != nil {
		return stuck
	}
	if again := j.judge(after); again != got {
		return lost
	}
	return got
}

// TestFaults lets every call of a promotion and of an abort fail in every way.
// What is reported as done must be done, also after a crash; what is reported
// as failed must be undone or finished, as a whole, by the next recovery.
func TestFaults(t *testing.T) {
	t.Parallel()
	tried, silent := 0, 0
	check := func(j *judge, m *model, err error, success outcome, where string) {
		tried++
		after := worst(m)
		if err == nil {
			if got := j.settle(after); got != success {
				silent++
				t.Errorf("%s: no error, but after a crash the project is %s", where, got)
			}
		}
		got := j.settle(m)
		if got != isOld && got != isNew {
			t.Errorf("%s: the project is %s after %v", where, got, err)
		}
		if code := stage.CodeOf(err); success == isNew && got == isNew && err != nil && code != stage.CodeUnfinished {
			t.Errorf("%s: promoted in spite of code %q: %v", where, code, err)
		}
		if left := leftovers(m); left != "" {
			t.Errorf("%s: %s is left", where, left)
		}
	}
	for _, s := range scenarios(t) {
		j := newJudge(t, s, whole)
		promote := func(m *model) error {
			_, err := open(t, m).Promote(context.Background(), j.plan)
			return err
		}
		m := j.base.clone()
		n := calls(m, func() { _ = promote(m) })
		for k := 1; k <= n; k += faultEvery {
			for how := failsEIO; how <= failsLate; how++ {
				m := j.base.clone()
				var at *call
				m.fail, at = failAt(k, how)
				err := promote(m)
				m.fail = nil
				check(j, m, err, isNew, fmt.Sprintf("%s: promote, call %d (%s %s), fault %d", s.name, k, at.op, at.path, how))
			}
		}
		halfway := j.halfway()
		abort := func(m *model) error {
			_, err := open(t, m).Abort(context.Background(), firstOperation)
			return err
		}
		m = halfway.clone()
		n = calls(m, func() { _ = abort(m) })
		for k := 1; k <= n; k += faultEvery {
			for how := failsEIO; how <= failsLate; how++ {
				m := halfway.clone()
				var at *call
				m.fail, at = failAt(k, how)
				err := abort(m)
				m.fail = nil
				check(j, m, err, isOld, fmt.Sprintf("%s: abort, call %d (%s %s), fault %d", s.name, k, at.op, at.path, how))
			}
		}
	}
	t.Logf("calls x errors %d, silent %d", tried, silent)
}

// halfway is the project in the middle of a promotion that passed its commit
// point.
func (j *judge) halfway() *model {
	m := j.base.clone()
	renames := 0
	var at *model
	m.before = func(c call) {
		if c.op == "rename" && c.path[0] != '.' {
			if renames++; renames == (len(j.plan.Base)+1)/2 {
				at = m.clone()
			}
		}
	}
	if _, err := open(j.t, m).Promote(context.Background(), j.plan); err != nil || at == nil {
		j.t.Fatal(err)
	}
	return at
}
