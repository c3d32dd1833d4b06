package token

import (
	"errors"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Code says in one stable word why a call was refused or failed. Callers
// branch on it; messages may change.
type Code string

// The codes of this package. Each has one cause, except CodeInvalid, which
// hides its causes on purpose.
const (
	// CodeInvalid answers a token that does not open this call: malformed,
	// unknown, expired, evicted, revoked, of another project, subject, kind,
	// tool or arguments, or used with another claim. A caller cannot tell
	// which; code, text and length of the error are always the same. The
	// reason goes to Options.Logger.
	CodeInvalid Code = "approval_invalid"
	// CodePending answers a valid token that nobody has approved yet.
	CodePending Code = "approval_pending"
	// CodeDeclined answers a valid token that a person declined. Nothing was
	// changed, and the same token is never of use again.
	CodeDeclined Code = "approval_declined"
	// CodeBusy answers a valid token whose action was begun and neither
	// committed nor aborted.
	CodeBusy Code = "approval_busy"
	// CodeUsed answers a token that was used with this very claim. It is no
	// failure: Error.Receipt has what Commit was given.
	CodeUsed Code = "approval_used"
	// CodeStale means that what was approved is no longer what would be done.
	// Error.Changed names the paths. Nothing was consumed.
	CodeStale Code = "proposal_stale"
	// CodeUnknown means that no proposal with that id waits for a decision.
	CodeUnknown Code = "proposal_unknown"
	// CodeClaim means that a claim lacks a field or has one that breaks its
	// rules.
	CodeClaim Code = "claim_invalid"
	// CodeTooLarge means that a value is over a limit of this package.
	CodeTooLarge Code = "too_large"
	// CodeFull means that there is no room for another token because every
	// older one is being applied.
	CodeFull Code = "store_full"
	// CodeConflict means that a record is no longer at the version the caller
	// saw. Backends return it from Swap; Commit and Abort do when another
	// process took the token over.
	CodeConflict Code = "record_conflict"
	// CodeLocked means that another process kept the store's lock until the
	// context ended, or for as long as Options.LockTimeout says.
	CodeLocked Code = "store_locked"
	// CodeDamaged means that bytes of the log that were durable have changed.
	// Nothing is read from it or written to it until a person removes the
	// file, which voids all tokens.
	CodeDamaged Code = "store_damaged"
	// CodeExposed means that a file of the store may be read or written by
	// other users of the machine.
	CodeExposed Code = "store_exposed"
	// CodeIO means that the operating system failed. The change is not
	// acknowledged; after a crash it may turn out to be made all the same,
	// which can cost a token and never makes one usable twice.
	CodeIO Code = "store_io"
	// CodeClosed means that the store was closed.
	CodeClosed Code = "store_closed"
	// CodeSealed answers every sealed text that a Signer does not open:
	// malformed, altered, expired, bound to something else, or sealed with a
	// key that is gone. Code, text and length are always the same.
	CodeSealed Code = "sealed_invalid"
	// CodeRetained answers every context token that a Retained does not know
	// in that scope.
	CodeRetained Code = "retained_invalid"
)

// Error is the only error type this package returns, except for the errors of
// a context and of a foreign [Backend], which are passed on as they are. No
// message holds a token, an argument or a receipt.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// Op is the operation, one lower-case word such as "issue". It is empty
	// where it would tell failures apart that must look alike.
	Op string
	// Detail is a sentence about what happened; it may be empty.
	Detail string
	// Changed has the paths that differ from what was approved, sorted by
	// bytes; with CodeStale only. It is empty if only the manifest differs.
	Changed []string
	// Receipt is what Commit was given, byte for byte; with CodeUsed only.
	Receipt []byte
	// Err is the cause, or nil. It is nil where it would tell failures apart
	// that must look alike.
	Err error
}

// Error returns the operation, what happened and the cause.
func (e *Error) Error() string {
	return wording.Fault(e.Op, nil, texts[e.Code], e.Detail, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// maxNamed bounds how many paths an error repeats to a caller.
const maxNamed = 20

// staleDetails is what a caller on the wire is told of a stale proposal.
type staleDetails struct {
	// Count is how many paths changed.
	Count int `json:"count"`
	// Changed has the first of them.
	Changed []string `json:"changed"`
}

// ErrorDetails returns, for CodeStale, how many paths changed and the first 20
// of them, and nil for all other codes.
func (e *Error) ErrorDetails() any {
	if e.Code != CodeStale {
		return nil
	}
	named := e.Changed[:min(len(e.Changed), maxNamed)]
	return staleDetails{Count: len(e.Changed), Changed: append([]string{}, named...)}
}

// CodeOf returns the code of the first [*Error] in err's chain, and "" if err
// is nil or holds none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// texts has the part of a message that the code decides. It never changes.
var texts = map[Code]string{
	CodeInvalid:  "the approval token is not valid for this call; prepare again and use the new one",
	CodePending:  "nobody has approved this proposal yet; ask the person in charge, then send the same token again",
	CodeDeclined: "the person in charge declined this proposal; nothing was changed, do not ask again without a new reason",
	CodeBusy:     "this approval is being applied; wait and send the same token again",
	CodeUsed:     "this approval was used; its receipt is kept",
	CodeStale:    "what would be done now is not what was proposed; prepare again",
	CodeUnknown:  "no proposal with that id waits for a decision; list them again",
	CodeClaim:    "the claim is not complete or not well formed",
	CodeTooLarge: "over the limit",
	CodeFull:     "no room for another token, all others are being applied; finish or abort some",
	CodeConflict: "the record was changed by somebody else",
	CodeLocked:   "another process kept the store locked; try again",
	CodeDamaged:  "the log of the store is damaged; remove it to void all tokens and start anew",
	CodeExposed:  "a file of the store is open to other users; set its mode to 0600",
	CodeClosed:   "the store is closed",
	CodeSealed:   "the text was not sealed here, has expired, or belongs to another request; start again",
	CodeRetained: "the context token is not known here or has expired; read the context again",
	CodeIO:       "input or output failed",
}

// stale describes a proposal of which the named paths changed.
func stale(op string, changed []string) *Error {
	e := &Error{Code: CodeStale, Op: op, Changed: changed}
	const shown = 3
	e.Detail = wording.QuoteAll(changed, shown, 160)
	if len(changed) == 0 {
		e.Detail = "what would be written differs"
	}
	return e
}
