package stage

import (
	"errors"
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Code says in one stable word why a call was refused or failed. Callers
// branch on it; messages may change.
type Code string

// The codes of this package. Each has one cause.
const (
	// CodeOptions means that the Options break their rules.
	CodeOptions Code = "stage_options_invalid"
	// CodeCandidate means that a candidate id does not match
	// ^[a-z0-9]+(-[a-z0-9]+)*$ or is longer than 64 bytes.
	CodeCandidate Code = "candidate_invalid"
	// CodeUnknown means that no candidate of that id was prepared.
	CodeUnknown Code = "candidate_unknown"
	// CodeIncomplete means that declared files are not in the candidate.
	CodeIncomplete Code = "candidate_incomplete"
	// CodeUndeclared means that the candidate has files that were not declared.
	CodeUndeclared Code = "candidate_undeclared"
	// CodeUnsafe means that the candidate, or the way to it, has something else
	// than regular files with one name and directories: a link, a hard link, a
	// pipe, a device. The cause says which.
	CodeUnsafe Code = "candidate_unsafe"
	// CodePath means that a path breaks the rules for relative paths.
	CodePath Code = "path_invalid"
	// CodeCollision means that two paths are the same where names are compared
	// without regard to case or composition, or that one path needs a directory
	// where another has a file.
	CodeCollision Code = "path_collision"
	// CodeNotAllowed means that no pattern of Options.Allow covers a path.
	CodeNotAllowed Code = "path_not_allowed"
	// CodeTooLarge means that a file, or all of them together, have more bytes
	// than Options allow.
	CodeTooLarge Code = "too_large"
	// CodeTooMany means that there are more files, levels or candidates than
	// Options allow.
	CodeTooMany Code = "too_many"
	// CodePlan means that a Plan is not complete or contradicts itself.
	CodePlan Code = "plan_invalid"
	// CodeChanged means that the candidate is no longer what the plan says.
	// Nothing was changed.
	CodeChanged Code = "stage_changed"
	// CodeStale means that files to be replaced or removed are no longer what
	// the plan says. Nothing was changed.
	CodeStale Code = "proposal_stale"
	// CodeTarget means that a path to be written leads over something that is
	// neither a regular file with one name nor a directory. Nothing was changed.
	CodeTarget Code = "target_unsafe"
	// CodeApproval means that the approval of the plan was used for another
	// plan. Nothing was changed.
	CodeApproval Code = "approval_reused"
	// CodeConflict means that an operation cannot be finished or undone, because
	// somebody changed what it was to write or what it needs for that. All
	// promotions wait. Put the named paths into the state before or after it
	// and call Recover, or call Abort.
	CodeConflict Code = "operation_conflict"
	// CodeUnfinished means that a failure of the system met an operation after
	// its commit point. The next Lock or Recover finishes it, if Abort does not
	// undo it before.
	CodeUnfinished Code = "operation_unfinished"
	// CodeNoOperation means that no operation of that id can be aborted.
	CodeNoOperation Code = "operation_unknown"
	// CodeFinished means that the operation to be aborted has its receipt.
	CodeFinished Code = "operation_finished"
	// CodeDamaged means that a file of the area itself has other bytes than
	// were written. The path says which; remove it to go on without.
	CodeDamaged Code = "stage_damaged"
	// CodeLocked means that another process held the lock until
	// Options.LockTimeout was over or the context ended. Nothing was changed.
	CodeLocked Code = "stage_locked"
	// CodeReleased means that the Lock was unlocked before.
	CodeReleased Code = "stage_unlocked"
	// CodeIO means that the operating system failed. Nothing was changed.
	CodeIO Code = "stage_io"
)

// Error is the only error type this package returns, except for the errors of
// a context, which are passed on as they are. No message holds the content of a
// file.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// Op is the operation, one lower-case word such as "promote".
	Op string
	// Subject is the candidate or operation it happened to, or "".
	Subject string
	// Paths has the paths at fault, sorted by bytes. They are relative to the
	// candidate and so to the root, except that a path below Options.Dir is a
	// file of the area itself.
	Paths []string
	// Detail is a sentence about what happened; it may be empty.
	Detail string
	// Err is the cause, or nil.
	Err error
}

// Error returns the operation, what it happened to, why, and the first paths.
func (e *Error) Error() string {
	what := e.Code.text()
	if len(e.Paths) > 0 {
		what += ": " + wording.QuoteAll(e.Paths, shown, 160)
	}
	return wording.Fault(e.Op, []string{e.Subject}, what, e.Detail, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// maxNamed bounds how many paths an error repeats to a caller.
const maxNamed = 20

// pathDetails is what a caller on the wire is told of paths at fault.
type pathDetails struct {
	// Subject is the candidate or operation.
	Subject string `json:"subject,omitempty"`
	// Count is how many paths are at fault.
	Count int `json:"count"`
	// Paths has the first of them.
	Paths []string `json:"paths"`
}

// ErrorDetails returns the candidate or operation, how many paths are at fault
// and the first 20 of them; nil if there are none of these.
func (e *Error) ErrorDetails() any {
	if len(e.Paths) == 0 && e.Subject == "" {
		return nil
	}
	named := e.Paths[:min(len(e.Paths), maxNamed)]
	return pathDetails{Subject: e.Subject, Count: len(e.Paths), Paths: append([]string{}, named...)}
}

// CodeOf returns the code of the first [*Error] in err's chain, and "" if err
// is nil or holds none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// text is the part of a message that the code decides.
func (c Code) text() string {
	texts := map[Code]string{
		CodeOptions:     "the options are not valid",
		CodeCandidate:   "the candidate id does not match ^[a-z0-9]+(-[a-z0-9]+)*$ in at most 64 characters",
		CodeUnknown:     "no such candidate; prepare it first",
		CodeIncomplete:  "declared files are missing; write them or prepare again without them",
		CodeUndeclared:  "there are files that were not declared; prepare again with or without them",
		CodeUnsafe:      "only regular files with one name can be staged",
		CodePath:        "path refused",
		CodeCollision:   "paths collide",
		CodeNotAllowed:  "promotion may not write there",
		CodeTooLarge:    "too many bytes",
		CodeTooMany:     "too many",
		CodePlan:        "the plan is not valid",
		CodeChanged:     "the staged files are not those of the plan; inspect and plan again",
		CodeStale:       "files to be replaced changed since the plan was made; plan again",
		CodeTarget:      "only regular files with one name can be replaced",
		CodeApproval:    "the approval was used for another plan",
		CodeConflict:    "the operation can be neither finished nor undone as it is; restore the files and recover, or abort it",
		CodeUnfinished:  "the operation was interrupted after its commit point; recover or abort it",
		CodeNoOperation: "no such operation is under way",
		CodeFinished:    "the operation is finished and has a receipt",
		CodeDamaged:     "a file of the stage is damaged; remove it to go on without",
		CodeLocked:      "another process holds the stage; try again",
		CodeReleased:    "the lock was released",
		CodeIO:          "input or output failed",
	}
	return texts[c]
}

// shown is how many paths a message repeats.
const shown = 3

// refuse returns an error about paths.
func refuse(c Code, op string, paths ...string) *Error {
	return &Error{Code: c, Op: op, Paths: paths}
}

// refusef returns an error with a sentence.
func refusef(c Code, op, format string, args ...any) *Error {
	return &Error{Code: c, Op: op, Detail: fmt.Sprintf(format, args...)}
}

// about sets what err happened to, unless it is known or not an *Error.
func about(subject string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Subject == "" {
		e.Subject = subject
	}
	return err
}

// wrap turns a failure of the file system into an *Error with code c if the
// entry at path is at fault, else with code stage_io. It returns nil for nil
// and leaves other errors as they are.
func wrap(c Code, op, path string, err error) error {
	if CodeOf(err) != "" {
		return err
	}
	switch rootfs.CodeOf(err) {
	case "":
		return err // nil, or of a context
	case rootfs.IO, rootfs.Permission:
		return &Error{Code: CodeIO, Op: op, Err: err}
	case rootfs.TooLarge:
		c = CodeTooLarge
	case rootfs.TooMany:
		c = CodeTooMany
	}
	e := &Error{Code: c, Op: op, Err: err}
	if path != "" {
		e.Paths = []string{path}
	}
	return e
}

// first returns the first error that is not nil. An error that matters is not
// joined with that of an Unlock after it, which says nothing more.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
