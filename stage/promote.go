package stage

import (
	"context"
	"encoding/hex"
	"path"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A Lock is the right to promote, which one holder has at a time among all
// processes that have an area on the root. Use it where a decision, such as the
// use of a token, and the promotion must not be torn apart: what the holder
// sees of receipts and operations stays so until Unlock, which comes last. The
// operating system releases it when the process dies.
//
// A Lock is not safe for concurrent use.
type Lock struct {
	area *Area
	held rootfs.Unlocker // nil after Unlock
}

// Lock waits for the lock, and then finishes what a crash interrupted. The
// error's code is stage_locked, operation_conflict, operation_unfinished,
// stage_damaged, candidate_unsafe, or stage_io; then the lock is not held.
func (a *Area) Lock(ctx context.Context) (*Lock, error) {
	held, err := a.lock(ctx, "lock")
	if err != nil {
		return nil, err
	}
	if _, err := a.recover(); err != nil {
		return nil, first(err, unlock("lock", held))
	}
	return &Lock{area: a, held: held}, nil
}

// Unlock releases the lock. Calling it again does nothing.
func (l *Lock) Unlock() error {
	if l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	return unlock("unlock", held)
}

// Promote is [Area.Promote] under the lock.
func (l *Lock) Promote(ctx context.Context, plan Plan) (Receipt, error) {
	if l.held == nil {
		return Receipt{}, &Error{Code: CodeReleased, Op: "promote", Subject: plan.Manifest.Candidate}
	}
	r, err := l.area.promote(ctx, plan)
	return r, about(plan.Manifest.Candidate, err)
}

// Promote carries out a plan: all of its files are written, and all that it
// removes are gone, and there is a receipt; or nothing happened. This holds
// whenever the process or the machine stops: the next Lock, Promote or Recover
// finishes what passed the commit point and clears away what did not. The
// bytes that are written are hashed as they are, so what is promoted is what
// the plan says even if somebody changes the candidate at the same time.
//
// If plan.Approval was used for the same plan before, Promote changes nothing
// and returns the receipt of that time.
//
// An error with code operation_unfinished or operation_conflict came after the
// commit point, and its Subject is the operation: it is not undone, but waits
// to be finished or aborted. No other error changes anything: plan_invalid,
// path_invalid, path_not_allowed, path_collision, too_many, too_large,
// approval_reused, stage_changed, proposal_stale, target_unsafe, those of
// [Area.Inspect] and [Area.Lock], and that of ctx, which is obeyed up to the
// commit point.
func (a *Area) Promote(ctx context.Context, plan Plan) (Receipt, error) {
	l, err := a.Lock(ctx)
	if err != nil {
		return Receipt{}, err
	}
	r, err := l.Promote(ctx, plan)
	return r, first(err, l.Unlock())
}

// promote is Promote under the lock.
func (a *Area) promote(ctx context.Context, plan Plan) (Receipt, error) {
	if _, err := a.recover(); err != nil { // of an earlier call under this lock
		return Receipt{}, err
	}
	changes, err := a.changes("promote", plan)
	if err != nil {
		return Receipt{}, err
	}
	if err := checkBase(plan, changes); err != nil {
		return Receipt{}, err
	}
	if !isApproval(plan.Approval) || !isApproval(plan.Context) {
		return Receipt{}, refusef(CodePlan, "promote", "the approval or the context has no valid form")
	}
	if plan.Approval != "" {
		r, ok, err := a.Receipt(plan.Approval)
		if err == nil && ok && r.Digest != plan.Digest() {
			err = refuse(CodeApproval, "promote")
		}
		if err != nil || ok {
			return r, err
		}
	}
	if err := a.checkCandidate(ctx, plan.Manifest); err != nil {
		return Receipt{}, err
	}
	in, err := a.newIntent(plan, changes)
	if err != nil {
		return Receipt{}, err
	}
	return a.run(ctx, in, changes)
}

// checkCandidate reports whether the candidate has the files of m, by all but
// their content, which is compared as it is copied.
func (a *Area) checkCandidate(ctx context.Context, m Manifest) error {
	files, err := a.listing(ctx, "promote", m.Candidate)
	if err != nil {
		return err
	}
	approved := make(map[string]File, len(m.Files))
	for _, f := range m.Files {
		approved[f.Path] = f
	}
	var differ []string
	for _, f := range files {
		if was, ok := approved[f.Path]; !ok || was.Size != f.Size || was.Mode != f.Mode {
			differ = append(differ, f.Path)
		}
		delete(approved, f.Path)
	}
	for p := range approved {
		differ = append(differ, p)
	}
	if len(differ) > 0 {
		slices.Sort(differ)
		return refuse(CodeChanged, "promote", differ...)
	}
	return nil
}

// newIntent makes the record of a new operation, after it checked that every
// target is what the plan says.
func (a *Area) newIntent(plan Plan, changes []Change) (*intent, error) {
	operation, err := a.nextOperation()
	if err != nil {
		return nil, err
	}
	if err := a.checkSpelling("promote", changes); err != nil {
		return nil, err
	}
	in := &intent{
		Operation: operation, Candidate: plan.Manifest.Candidate, Approval: plan.Approval,
		Digest: plan.Digest(), Manifest: plan.Manifest.Digest, Phase: preparing,
	}
	var stale []string
	for _, c := range changes {
		now, err := a.current(c.Path)
		if err != nil {
			return nil, wrap(CodeTarget, "promote", c.Path, err)
		}
		s := step{Change: c, Mode: c.mode, Staged: c.staged}
		if now != c.Before {
			stale = append(stale, c.Path)
		} else if now != "" {
			info, err := a.files.Stat(c.Path)
			if err != nil {
				return nil, wrap(CodeTarget, "promote", c.Path, err)
			}
			s.OldMode = info.Mode.Perm()
		}
		in.Steps = append(in.Steps, s)
	}
	if len(stale) > 0 {
		return nil, refuse(CodeStale, "promote", stale...)
	}
	in.Dirs, err = a.missingDirs(in)
	return in, err
}

// missingDirs returns the directories that the steps need and that are not
// there, each after the one it is in.
func (a *Area) missingDirs(in *intent) ([]string, error) {
	known := map[string]bool{".": true}
	var missing []string
	for _, dir := range in.targetDirs() {
		var below []string
		for ; !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			_, err := a.files.Stat(dir)
			if rootfs.CodeOf(err) == rootfs.NotFound {
				below = append(below, dir)
			} else if err != nil {
				return nil, wrap(CodeTarget, "promote", dir, err)
			}
		}
		slices.Reverse(below)
		missing = append(missing, below...)
	}
	return missing, nil
}

// run takes a new operation through its phases.
func (a *Area) run(ctx context.Context, in *intent, changes []Change) (Receipt, error) {
	_, err := a.writeJournal(in)
	if err == nil {
		err = a.makeFiles(ctx, in, changes)
	}
	if err == nil {
		var placed bool
		in.Phase = applying
		if placed, err = a.writeJournal(in); err != nil && placed {
			// It may or may not be on disk: only a look at it can tell.
			return Receipt{}, a.unfinished(in, err)
		}
	}
	if err != nil {
		// If this fails as well, the journal stays, and the next holder of the
		// lock clears up.
		return Receipt{}, first(wrap(CodeIO, "promote", "", err), a.clearAway(in))
	}
	return a.finish(in, false)
}

// unfinished describes a failure after the commit point.
func (a *Area) unfinished(in *intent, err error) error {
	if CodeOf(err) == CodeConflict {
		return about(in.Operation, err)
	}
	return &Error{Code: CodeUnfinished, Op: "promote", Subject: in.Operation, Err: err}
}

// makeFiles makes the new files under temporary names beside their targets, and
// copies of the old ones. All are durable when it returns without error.
func (a *Area) makeFiles(ctx context.Context, in *intent, changes []Change) error {
	for _, dir := range in.targetDirs() {
		if dir == "." {
			continue
		}
		if err := a.files.MkdirAll(dir, 0o755); err != nil {
			return wrap(CodeTarget, "promote", dir, err)
		}
	}
	undo := a.below(undoDir, in.Operation)
	if err := a.files.MkdirAll(undo, 0o700); err != nil {
		return wrap(CodeUnsafe, "promote", undo, err)
	}
	for i := range in.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.makeNew(in, i, changes[i].generated); err != nil {
			return err
		}
		if err := a.keepOld(in, i); err != nil {
			return err
		}
	}
	for _, dir := range append(in.targetDirs(), undo) {
		if err := a.files.SyncDir(dir); err != nil {
			return wrap(CodeTarget, "promote", dir, err)
		}
	}
	return nil
}

// makeNew makes the new file of step i.
func (a *Area) makeNew(in *intent, i int, generated []byte) error {
	s := in.Steps[i]
	if s.SHA256 == "" {
		return nil
	}
	if s.Staged {
		return a.copyStaged(in, i)
	}
	f, err := a.files.Create(in.temp(i), s.Mode)
	if err == nil {
		err = rootfs.Fill(f, generated)
	}
	return wrap(CodeTarget, "promote", s.Path, err)
}

// copyStaged makes the new file of step i from the candidate, if that still has
// the content it is to have.
func (a *Area) copyStaged(in *intent, i int) error {
	s := in.Steps[i]
	sum, _, err := a.files.Copy(a.candidateDir(in.Candidate)+"/"+s.Path, in.temp(i), a.opts.MaxFileBytes, s.Mode)
	if err == nil && hex.EncodeToString(sum[:]) != s.SHA256 {
		err = refuse(CodeChanged, "promote", s.Path)
	}
	return wrap(CodeChanged, "promote", s.Path, err)
}

// keepOld copies the file that step i replaces or removes.
func (a *Area) keepOld(in *intent, i int) error {
	s := in.Steps[i]
	if s.Before == "" {
		return nil
	}
	sum, _, err := a.files.Copy(s.Path, a.undo(in, i), a.opts.MaxFileBytes, 0o600)
	if err == nil && hex.EncodeToString(sum[:]) != s.Before {
		err = refuse(CodeStale, "promote", s.Path)
	}
	return wrap(CodeStale, "promote", s.Path, err)
}
