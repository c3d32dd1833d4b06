package token_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
)

// A history is what a caller was told about one token.
type history struct {
	text string
	// begun and done tell what was tried (1) and what was acknowledged (2);
	// aborted whether an abort was tried, after which both are open.
	begun, done int
	aborted     bool
	receipt     string
}

// A script is a run of calls that goes on after errors and notes what was
// acknowledged. It uses two stores in turn, as two processes would.
type script struct {
	t       *testing.T
	stores  []*token.Store
	tokens  []*history
	steps   int
	errs    int // calls that failed
	success int
}

// smallSlack makes the log be written anew every few changes.
const smallSlack = 3 << 10

// openScript opens two stores on a disk. Errors are part of the run.
func openScript(t *testing.T, d *modelDisk) *script {
	t.Helper()
	sc := &script{t: t}
	for range 2 {
		s, err := token.OpenOn(d, smallSlack, nil)
		if sc.note(err) {
			sc.stores = append(sc.stores, s)
		}
	}
	return sc
}

// note counts an outcome and reports success.
func (sc *script) note(err error) bool {
	if err != nil {
		sc.errs++
		return false
	}
	sc.success++
	return true
}

// store returns the next store in turn.
func (sc *script) store() *token.Store {
	sc.steps++
	return sc.stores[sc.steps%len(sc.stores)]
}

// run issues tokens, and leaves some of them approved, begun, aborted or used.
func (sc *script) run(rounds int) {
	if len(sc.stores) == 0 {
		return
	}
	for i := range rounds {
		tok, err := sc.store().Issue(sc.t.Context(), newClaim())
		if !sc.note(err) {
			continue
		}
		h := &history{text: tok.Reveal(), receipt: fmt.Sprint("receipt ", i)}
		sc.tokens = append(sc.tokens, h)
		if i%4 != 3 {
			sc.use(h, i%4)
		}
	}
}

// use begins a token, and then leaves (0), aborts (1) or commits (2) it.
func (sc *script) use(h *history, how int) {
	h.begun = 1
	lease, err := sc.store().Begin(sc.t.Context(), h.text, newClaim())
	if !sc.note(err) {
		return
	}
	h.begun = 2
	switch how {
	case 1:
		h.aborted = true
		sc.note(lease.Abort(sc.t.Context()))
	case 2:
		h.done = 1
		if sc.note(lease.Commit(sc.t.Context(), []byte(h.receipt))) {
			h.done = 2
		}
	}
	lease.Release()
}

// check says what is wrong with the store after the run, or "". It uses up
// tokens.
func (sc *script) check(s *token.Store) string {
	for i, h := range sc.tokens {
		lease, err := s.Begin(sc.t.Context(), h.text, newClaim())
		var e *token.Error
		errors.As(err, &e)
		code := token.CodeOf(err)
		switch {
		case code == "" && h.begun == 2 && !h.aborted:
			return fmt.Sprintf("token %d was consumed and can be used again", i)
		case code == token.CodeUsed && (h.done == 0 || string(e.Receipt) != h.receipt):
			return fmt.Sprintf("token %d has the receipt %q", i, e.Receipt)
		case code != token.CodeUsed && h.done == 2:
			return fmt.Sprintf("token %d lost its receipt: %v", i, err)
		case code == token.CodeBusy && h.begun == 0:
			return fmt.Sprintf("token %d is being applied by nobody", i)
		case code != "" && code != token.CodeBusy && code != token.CodeUsed:
			return fmt.Sprintf("token %d: %v", i, err)
		}
		if lease != nil {
			lease.Release()
			if again, err := s.Begin(sc.t.Context(), h.text, newClaim()); err == nil {
				again.Release()
				return fmt.Sprintf("token %d can be used twice", i)
			}
		}
	}
	if tok, err := s.Issue(sc.t.Context(), newClaim()); err != nil {
		return fmt.Sprintf("no new token: %v", err)
	} else if _, err := s.Begin(sc.t.Context(), tok.Reveal(), newClaim()); err != nil {
		return fmt.Sprintf("a new token is refused: %v", err)
	}
	return ""
}

// checkDisk opens a store on a disk and checks it.
func (sc *script) checkDisk(d *modelDisk) string {
	s, err := token.OpenOn(d, 1<<20, nil)
	if err != nil {
		return fmt.Sprintf("stuck: %v", err)
	}
	return sc.check(s)
}

// nestEvery thins out the crashes within a recovery.
const nestEvery = 8

// tally is what a crash run found.
type tally struct {
	points, states, bad int
	first               string
}

func (c *tally) add(bad string) {
	c.states++
	if bad != "" {
		c.bad++
		if c.first == "" {
			c.first = bad
		}
	}
}

// crashAll cuts the power at every call of a run, and checks everything the
// disk can be afterwards. Nested, it cuts the power again at every call of the
// recovery from every nestEvery-th cut. A broken protocol is not tried further
// once it was caught.
func crashAll(t *testing.T, how breakage, rounds int, nested bool) tally {
	t.Helper()
	step := 1
	if how == nothingBroken {
		step = thin
	}
	var c tally
	for point := 0; ; point += step {
		d := newModelDisk()
		d.broken = how
		d.faults[point] = fault{off: true}
		sc := openScript(t, d)
		sc.run(rounds)
		if !d.dead || how != nothingBroken && c.bad > 0 {
			return c
		}
		c.points++
		for _, next := range d.after() {
			next.broken = how
			if nested && c.points%nestEvery == 0 {
				crashRecovery(t, sc, next, &c)
			}
			c.add(sc.checkDisk(next))
		}
	}
}

// crashRecovery cuts the power at every call of opening the store and of the
// first change after it.
func crashRecovery(t *testing.T, sc *script, d *modelDisk, c *tally) {
	t.Helper()
	for point := 0; ; point++ {
		again := d.clone()
		again.faults[point] = fault{off: true}
		if s, err := token.OpenOn(again, smallSlack, nil); err == nil {
			_, err := s.Issue(t.Context(), newClaim())
			_ = err // the power goes off in it, or it works
		}
		if !again.dead {
			return
		}
		for _, next := range again.after() {
			next.broken = d.broken
			c.add(sc.checkDisk(next))
		}
	}
}

// clone copies a disk on which everything is durable.
func (d *modelDisk) clone() *modelDisk {
	next := newModelDisk()
	next.broken = d.broken
	if d.named != nil {
		next.named = &modelFile{data: d.named.data, durable: d.named.durable}
		next.kept = next.named
	}
	return next
}

// TestPowerCut: whatever call the power goes off in, and whatever of the
// unsynced writes survives, no acknowledged token is lost, no consumed one can
// be used again, and the store opens.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	c := crashAll(t, nothingBroken, 12, true)
	t.Logf("points %d, states %d in all, bad %d", c.points, c.states, c.bad)
	if c.bad != 0 {
		t.Errorf("%d of %d states are bad, the first: %s", c.bad, c.states, c.first)
	}
	if c.points < 150/thin || c.states < 10_000/thin/thin {
		t.Errorf("points %d, states %d: too few to prove anything", c.points, c.states)
	}
}

// TestBrokenProtocolsAreCaught: the same run finds every protocol that is
// broken on purpose.
func TestBrokenProtocolsAreCaught(t *testing.T) {
	t.Parallel()
	broken := map[string]breakage{
		"no file sync": noFileSync, "no temp sync": noTempSync,
		"no directory sync": noDirSync, "in place": inPlace,
	}
	for name, how := range broken {
		if c := crashAll(t, how, 12, false); c.bad == 0 {
			t.Errorf("%s: not one of %d states is bad", name, c.states)
		} else {
			t.Logf("%s: %d of %d states are bad, the first: %s", name, c.bad, c.states, c.first)
		}
	}
}

// TestFaults makes every call of a run fail in every way. What was
// acknowledged holds in the same process, in the next one, and after a power
// cut that loses all that was not made durable.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			calls, silent, failed := 0, 0, 0
			for point := 0; ; point += thin {
				d := newModelDisk()
				d.faults[point] = f
				if f.twice {
					d.faults[point+1] = f
				}
				sc := openScript(t, d)
				sc.run(12)
				if d.calls <= point {
					break
				}
				calls++
				failed += min(sc.errs, 1)
				clear(d.faults)
				for i, next := range append(d.after(), d.clone()) {
					if bad := sc.checkDisk(next); bad != "" {
						silent++
						t.Errorf("call %d, state %d: %s", point, i, bad)
					}
				}
				if len(sc.stores) > 0 {
					if bad := sc.check(sc.stores[0]); bad != "" {
						silent++
						t.Errorf("call %d, same process: %s", point, bad)
					}
				}
			}
			t.Logf("%d calls failed once, %d of them were reported, %d silent", calls, failed, silent)
		})
	}
}

// A modelProcess is a process on a disk that others use, too. It dies at a
// call: from then on it has no effect, and its lock is free.
type modelProcess struct {
	*modelDisk
	left int
	done float64 // how much of a write is done when the process dies in it
	gone bool
	torn bool // it died in a write
}

// alive counts a call.
func (p *modelProcess) alive() bool {
	p.gone = p.gone || p.left == 0
	p.left--
	return !p.gone
}

func (p *modelProcess) Lock(ctx context.Context) (func() error, error) {
	if !p.alive() {
		return nil, errPower
	}
	return p.modelDisk.Lock(ctx)
}

func (p *modelProcess) Open() (token.TestFile, error) {
	if !p.alive() {
		return nil, errPower
	}
	f, err := p.modelDisk.Open()
	if err != nil {
		return nil, err
	}
	return &processFile{f, p}, nil
}

func (p *modelProcess) Replace(data []byte) error {
	if !p.alive() {
		return errPower
	}
	return p.modelDisk.Replace(data)
}

func (p *modelProcess) SyncDir() error {
	if !p.alive() {
		return errPower
	}
	return p.modelDisk.SyncDir()
}

type processFile struct {
	token.TestFile
	p *modelProcess
}

func (f *processFile) WriteAt(b []byte, off int64) (int, error) {
	was := f.p.gone
	if f.p.alive() {
		return f.TestFile.WriteAt(b, off)
	}
	if !was {
		f.p.torn = true
		_, _ = f.TestFile.WriteAt(b[:int(f.p.done*float64(len(b)))], off)
	}
	return 0, errPower
}

func (f *processFile) Truncate(size int64) error {
	if !f.p.alive() {
		return errPower
	}
	return f.TestFile.Truncate(size)
}

func (f *processFile) Sync() error {
	if !f.p.alive() {
		return errPower
	}
	return f.TestFile.Sync()
}

// TestKilledBeforePowerCut: a process dies, leaving a change that is there,
// half or whole, and not durable. The next one meets it, and then a failure, or
// the power goes off.
func TestKilledBeforePowerCut(t *testing.T) {
	t.Parallel()
	var c tally
	for kill := 0; ; kill += thin {
		_, _, first := killed(t, kill, 1)
		if !first.gone {
			break
		}
		meetKilled(t, kill, 1, &c)
		if first.torn {
			meetKilled(t, kill, 0.5, &c)
		}
	}
	t.Logf("points %d, states %d, bad %d", c.points, c.states, c.bad)
	if c.bad != 0 || c.points < 500/thin {
		t.Errorf("%d of %d states after %d points are bad, the first: %s", c.bad, c.states, c.points, c.first)
	}
}

// meetKilled lets a second process go on where one was killed, with a fault at
// every call.
func meetKilled(t *testing.T, kill int, done float64, c *tally) {
	t.Helper()
	for _, f := range []fault{{off: true}, {err: syscall.EIO, lost: true}} {
		for point := 0; ; point++ {
			sc, d, _ := killed(t, kill, done)
			before := d.calls
			d.faults[before+point] = f
			sc.stores = nil
			for range 2 { // the first try may meet the fault
				if s, err := token.OpenOn(d, 1<<20, nil); sc.note(err) {
					sc.stores = append(sc.stores, s)
				}
			}
			sc.run(1)
			if d.calls-before <= point {
				break
			}
			c.points++
			for _, next := range d.after() {
				c.add(sc.checkDisk(next))
			}
		}
	}
}

// killed runs a process on a new disk until it dies at a call.
func killed(t *testing.T, kill int, done float64) (*script, *modelDisk, *modelProcess) {
	t.Helper()
	d := newModelDisk()
	p := &modelProcess{modelDisk: d, left: kill, done: done}
	sc := &script{t: t}
	if s, err := token.OpenOn(p, 1<<20, nil); sc.note(err) {
		sc.stores = append(sc.stores, s)
	}
	sc.run(3)
	return sc, d, p
}
