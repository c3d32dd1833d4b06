package docgraph

import (
	"errors"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// A Code says in one stable word why a call was refused or failed. Callers
// branch on it; messages may change.
type Code string

// The codes of this package. Each has one cause.
const (
	// CodeOptions means that the Options break their rules.
	CodeOptions Code = "docgraph_options_invalid"
	// CodeDocs means that the project's root or its docs folder is missing, no
	// directory, or cannot be listed.
	CodeDocs Code = "docs_unreadable"
	// CodeFile means that a file cannot be read: it is gone, a link, or denied.
	CodeFile Code = "file_unreadable"
	// CodeNode means that no node has that id.
	CodeNode Code = "node_unknown"
	// CodeQuery means that a search has no words, too many, or too long ones.
	CodeQuery Code = "query_invalid"
	// CodeBudget means that a context read asks for pages that are too small or
	// too large.
	CodeBudget Code = "budget_invalid"
	// CodePosition means that a position does not belong to the read.
	CodePosition Code = "position_invalid"
	// CodeChanged means that the project changed since the page before. Read
	// again from the start; what is still the same can be given as known.
	CodeChanged Code = "snapshot_changed"
	// CodeTooMany means that there are more files, or known sections, than
	// allowed.
	CodeTooMany Code = "too_many"
	// CodeTooLarge means that a file, or all of them together, have more bytes
	// than Options allow.
	CodeTooLarge Code = "too_large"
	// CodeIO means that the operating system failed.
	CodeIO Code = "docgraph_io"
)

// Error is the only error type this package returns, except for the errors of
// a context, which are passed on as they are. No message holds the text of a
// document.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// Op is the operation, one lower-case word such as "search".
	Op string
	// ID is the node at fault, or "".
	ID string
	// Path is the file or folder at fault, or "": of a document relative to the
	// docs folder.
	Path string
	// Detail is a sentence about what is wrong and what to do; it may be empty.
	Detail string
	// Err is the cause, or nil.
	Err error
}

// Error returns the operation, what it happened to and why.
func (e *Error) Error() string {
	return wording.Fault(e.Op, []string{e.ID, e.Path}, e.Code.text(), e.Detail, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// errorDetails is what a caller on the wire is told.
type errorDetails struct {
	// ID is the node at fault.
	ID string `json:"id,omitempty"`
	// Path is the file at fault.
	Path string `json:"path,omitempty"`
}

// ErrorDetails returns the node and the path; nil if there is neither.
func (e *Error) ErrorDetails() any {
	if d := (errorDetails{e.ID, e.Path}); d != (errorDetails{}) {
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
		CodeOptions:  "the options are not valid",
		CodeDocs:     "the documents cannot be listed",
		CodeFile:     "the file cannot be read",
		CodeNode:     "no node has that id; search for it",
		CodeQuery:    "the query is not valid",
		CodeBudget:   "the page size is not valid",
		CodePosition: "the position is not one of this read",
		CodeChanged:  "the project changed; read again from the start",
		CodeTooMany:  "too many",
		CodeTooLarge: "too many bytes",
		CodeIO:       "input or output failed",
	}
	return texts[c]
}

// wrap turns a failure of the file system at one document into an *Error. It
// leaves nil and the errors of a context as they are.
func wrap(op, path string, err error) error {
	code := CodeFile
	switch rootfs.CodeOf(err) {
	case "":
		return err
	case rootfs.TooLarge:
		code = CodeTooLarge
	case rootfs.IO:
		code = CodeIO
	}
	return &Error{Code: code, Op: op, Path: path, Err: err}
}
