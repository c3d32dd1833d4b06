package changeset

import (
	"errors"
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Code says in one stable word why a call was refused or failed. Callers
// branch on it; messages may change. The codes marked with a P are those of a
// [Problem] too.
type Code string

const (
	// CodeOptions means that the Options, or what Bind was given, break their
	// rules.
	CodeOptions Code = "changeset_options_invalid"
	// CodeUnknown means that there is no changeset of that id.
	CodeUnknown Code = "changeset_unknown"
	// CodeNotYours means that the changeset belongs to another writer.
	CodeNotYours Code = "changeset_not_yours"
	// CodeDamaged means that the file of a changeset has other bytes than were
	// written. The path says which; a person may remove it.
	CodeDamaged Code = "changeset_damaged"
	// CodeNode means that no node has that id, in the project or the changeset.
	CodeNode Code = "node_unknown"
	// CodeIDTaken means that another node has the id, or one that differs only
	// in case or composition (P).
	CodeIDTaken Code = "id_taken"
	// CodePathTaken means that another file has the path, or one that differs
	// only in case or composition, or that a file is where a folder is needed
	// (P).
	CodePathTaken Code = "path_taken"
	// CodeStale means that the project is no longer what an operation was
	// proposed on: the node changed, moved or is gone (P).
	CodeStale Code = "base_stale"
	// CodeConflict means that two operations of one changeset cannot both be
	// meant (P).
	CodeConflict Code = "operation_conflict"
	// CodeOperation means that the policy does not allow that kind of operation
	// (P).
	CodeOperation Code = "operation_not_allowed"
	// CodeKind means that the policy does not allow the kind of the node (P).
	CodeKind Code = "kind_not_allowed"
	// CodePathNotAllowed means that the policy does not allow the path (P).
	CodePathNotAllowed Code = "path_not_allowed"
	// CodePathRepeats means that a path begins with the docs folder that it is
	// relative to, as if it were relative to the root. It is the code of a
	// [Problem] only, and a warning.
	CodePathRepeats Code = "path_repeats_docs"
	// CodePath means that the path of a node breaks the rules for paths, or
	// does not end in .md.
	CodePath Code = "path_invalid"
	// CodeDangling means that the project would have a link or a dependency
	// to an id that no node has, because of the changeset (P).
	CodeDangling Code = "dangling_reference"
	// CodeSection means that a link would name a section that its target has not,
	// because of the changeset. It is the code of a [Problem] only, and a warning.
	CodeSection Code = "dangling_section"
	// CodeCycle means that nodes would depend on each other, or one on itself,
	// because of the changeset (P).
	CodeCycle Code = "dependency_cycle"
	// CodeProposal means that a field of a proposal breaks its rules; the
	// detail says which.
	CodeProposal Code = "proposal_invalid"
	// CodeView means that no view of that id is declared.
	CodeView Code = "view_unknown"
	// CodeTooLarge means that a text, or a changeset in all, has more bytes than
	// Options allow (P).
	CodeTooLarge Code = "too_large"
	// CodeTooMany means that there are more changesets, operations or other
	// things than Options allow (P).
	CodeTooMany Code = "too_many"
	// CodeValidator means that a validator of the integration panicked (P).
	CodeValidator Code = "validator_failed"
	// CodeSource means that the Source failed; the cause is its error.
	CodeSource Code = "source_failed"
	// CodeLocked means that another process wrote until Options.LockTimeout was
	// over or the context ended. Nothing was changed.
	CodeLocked Code = "changeset_locked"
	// CodeIO means that the operating system failed. A proposal that ended
	// with it is stored as a whole or not at all; Get tells.
	CodeIO Code = "changeset_io"
)

// Error is the only error type this package returns, except for the errors of
// a context, which are passed on as they are. No message holds the text of a
// document.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// Op is the operation, one lower-case word such as "create".
	Op string
	// Changeset is the id of the changeset it happened to, or "".
	Changeset string
	// ID is the node at fault, or "".
	ID string
	// Path is the path at fault, or "": that of a node relative to the docs
	// folder, that of a file of the store relative to the root.
	Path string
	// Detail is a sentence about what happened; it may be empty.
	Detail string
	// Err is the cause, or nil.
	Err error
}

// Error returns the operation, what it happened to and why.
func (e *Error) Error() string {
	return wording.Fault(e.Op, []string{e.Changeset, e.ID, e.Path}, e.Code.text(), e.Detail, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// errorDetails is what a caller on the wire is told.
type errorDetails struct {
	// Changeset is the id of the changeset.
	Changeset string `json:"changesetId,omitempty"`
	// ID is the node at fault.
	ID string `json:"id,omitempty"`
	// Path is the path at fault.
	Path string `json:"path,omitempty"`
}

// ErrorDetails returns the changeset, the node and the path; nil if there are
// none of these.
func (e *Error) ErrorDetails() any {
	if d := (errorDetails{e.Changeset, e.ID, e.Path}); d != (errorDetails{}) {
		return d
	}
	return nil
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
		CodeOptions:        "the options are not valid",
		CodeUnknown:        "no such changeset; list them or create one",
		CodeNotYours:       "the changeset belongs to another writer; create one of your own",
		CodeDamaged:        "the file of the changeset is damaged; remove it to go on without",
		CodeNode:           "no node has that id",
		CodeIDTaken:        "the id is taken; update that node or take another id",
		CodePathTaken:      "the path is taken; take another path",
		CodeStale:          "the project changed since; read the node again and propose in a new changeset",
		CodeConflict:       "an earlier operation of the changeset rules it out; to withdraw that, propose the rest in a new changeset",
		CodeOperation:      "the policy does not allow the operation",
		CodeKind:           "the policy does not allow the kind",
		CodePathNotAllowed: "the policy does not allow the path",
		CodePathRepeats:    "the path repeats the docs folder, which it is relative to anyway",
		CodePath:           "path refused",
		CodeDangling:       "a reference leads nowhere",
		CodeSection:        "a link names a section that is not there",
		CodeCycle:          "nodes depend on each other",
		CodeProposal:       "the proposal is not valid",
		CodeView:           "no such view is declared",
		CodeTooLarge:       "too many bytes",
		CodeTooMany:        "too many",
		CodeValidator:      "a validator failed",
		CodeSource:         "the project could not be read",
		CodeLocked:         "another process holds the store; try again",
		CodeIO:             "input or output failed",
	}
	return texts[c]
}

// refusef returns an error with a sentence.
func refusef(c Code, op, format string, args ...any) *Error {
	return &Error{Code: c, Op: op, Detail: fmt.Sprintf(format, args...)}
}

// in sets the changeset that err happened to, unless it is known or err is not
// an *Error.
func in(id string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Changeset == "" {
		e.Changeset = id
	}
	return err
}

// wrap turns a failure of the file system at one of the store's own files into
// an *Error. It returns nil for nil and leaves other errors as they are.
func wrap(op, path string, err error) error {
	c := CodeIO
	switch rootfs.CodeOf(err) {
	case "":
		return err // nil, of a context, or an *Error
	case rootfs.Locked:
		c = CodeLocked
	case rootfs.TooMany:
		c = CodeTooMany
	}
	return &Error{Code: c, Op: op, Path: path, Err: err}
}

// spelled says how a taken name is spelled if it differs from name.
func spelled(name, taken string) string {
	if name == taken {
		return ""
	}
	return fmt.Sprintf("%.160q is there", taken)
}
