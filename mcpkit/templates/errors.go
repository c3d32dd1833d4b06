package templates

import (
	"errors"
	"strings"
)

// Code says in one stable word why a set or a request was refused. Callers branch on it; messages may change.
type Code string

const (
	// CodeInvalid means that templates.yaml breaks its rules.
	CodeInvalid Code = "templates_invalid"
	// CodeUnreadable means that templates.yaml or a file it names cannot be read, is too large, or is not UTF-8 text.
	CodeUnreadable Code = "templates_unreadable"
	// CodeChanged means that a file does not have the SHA-256 that templates.yaml gives.
	CodeChanged Code = "templates_changed"
	// CodeUnknown means that the set has no template of a requested id.
	CodeUnknown Code = "template_unknown"
)

// Error is the only error type of this package.
type Error struct {
	// Code says why. It is never empty.
	Code Code
	// ID is the logical id of the template it is about, or "".
	ID string
	// Detail says what is wrong and what to do.
	Detail string
	// Err is the cause, or nil.
	Err error
}

// Error returns the template, what is wrong and the cause.
func (e *Error) Error() string {
	var parts []string
	if e.ID != "" {
		parts = append(parts, "template "+e.ID)
	}
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first [*Error] in err's chain, and "" if err is nil or holds none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
