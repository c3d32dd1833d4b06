package stage

import (
	"context"
	"errors"
)

// Recovery says what became of an operation that was under way.
type Recovery struct {
	// Operation is its id, "" if there was none.
	Operation string
	// Candidate is the id of the candidate it promotes.
	Candidate string
	// Undone is true if nothing of the operation is left, because it had not
	// passed its commit point or was aborted, and false if it was finished and
	// has a receipt.
	Undone bool
	// Files has the paths the operation was about, sorted by bytes.
	Files []string
	// Kept has those that an abort left as they are, because somebody changed
	// them since.
	Kept []string
}

// Recover finishes what a crash interrupted, or clears it away if it had not
// passed its commit point. Lock and Promote do so as well; calling it again, or
// in the middle of another one's work, for which it waits, is harmless. The
// errors are those of [Area.Lock].
func (a *Area) Recover(ctx context.Context) (Recovery, error) {
	held, err := a.lock(ctx, "recover")
	if err != nil {
		return Recovery{}, err
	}
	r, err := a.recover()
	return r, first(err, unlock("recover", held))
}

// Unfinished returns the id of the operation that is under way, or "" if none
// is: one that a crash interrupted, or that somebody carries out at this moment.
// It waits for nobody and changes nothing. The error's code is stage_damaged or
// stage_io.
func (a *Area) Unfinished() (string, error) {
	in, err := a.lookAtJournal()
	if in == nil || err != nil {
		if errors.Is(err, errTorn) {
			err = nil // it belongs to nothing; the next holder of the lock removes it
		}
		return "", err
	}
	return in.Operation, nil
}

// recover is Recover under the lock.
func (a *Area) recover() (Recovery, error) {
	in, err := a.readJournal()
	if in == nil || err != nil {
		return Recovery{}, err
	}
	switch in.Phase {
	case preparing:
		return in.report(nil), about(in.Operation, a.clearAway(in))
	case undoing:
		return a.goBack(in)
	default:
		return a.goOn(in)
	}
}

// report describes what became of in.
func (in *intent) report(kept []string) Recovery {
	r := Recovery{Operation: in.Operation, Candidate: in.Candidate, Undone: in.Phase != applying, Kept: kept}
	for _, s := range in.Steps {
		r.Files = append(r.Files, s.Path)
	}
	return r
}

// goOn finishes an operation that passed its commit point.
func (a *Area) goOn(in *intent) (Recovery, error) {
	name, err := a.operationReceipt(in.Operation)
	if err != nil {
		return Recovery{}, err
	}
	// Whoever wrote the receipt or journal that is there may have failed to
	// make it durable, so it is written anew before anything rests on it.
	if name != "" {
		_, err := a.writeReceipt(in)
		if err == nil {
			err = a.end(in)
		}
		if err != nil {
			return Recovery{}, a.unfinished(in, err)
		}
		return in.report(nil), nil
	}
	if _, err := a.writeJournal(in); err != nil {
		return Recovery{}, a.unfinished(in, err)
	}
	if _, err := a.finish(in, true); err != nil {
		return Recovery{}, err
	}
	return in.report(nil), nil
}

// Abort undoes the operation of that id, if it is under way: it restores the
// files that were there before from the copies that are kept until the receipt,
// and removes what was new. A file that somebody changed since stays as it is.
// The abort itself can be interrupted; Recover finishes it. What has a receipt
// cannot be aborted.
//
// The error's code is operation_unknown, operation_finished,
// operation_conflict, operation_unfinished, or one of those of [Area.Lock].
func (a *Area) Abort(ctx context.Context, operation string) (Recovery, error) {
	held, err := a.lock(ctx, "abort")
	if err != nil {
		return Recovery{}, err
	}
	r, err := a.abort(operation)
	return r, first(about(operation, err), unlock("abort", held))
}

// abort is Abort under the lock.
func (a *Area) abort(operation string) (Recovery, error) {
	const op = "abort"
	if !isOperation(operation) {
		return Recovery{}, refuse(CodeNoOperation, op)
	}
	in, err := a.readJournal()
	if err != nil {
		return Recovery{}, err
	}
	name, err := a.operationReceipt(operation)
	if err != nil {
		return Recovery{}, err
	}
	switch {
	case name != "":
		return Recovery{}, refuse(CodeFinished, op)
	case in == nil || in.Operation != operation:
		return Recovery{}, refuse(CodeNoOperation, op)
	case in.Phase == preparing:
		return in.report(nil), a.clearAway(in)
	}
	return a.goBack(in)
}

// goBack undoes an operation.
func (a *Area) goBack(in *intent) (Recovery, error) {
	in.Phase = undoing
	if _, err := a.writeJournal(in); err != nil {
		return Recovery{}, a.unfinished(in, err)
	}
	kept, err := a.revert(in)
	if err == nil {
		err = a.clearAway(in)
	}
	if err != nil {
		return Recovery{}, a.unfinished(in, err)
	}
	return in.report(kept), nil
}
