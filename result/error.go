package result

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The codes that this package gives. Every other code comes from the error of
// a handler.
const (
	// CodeInternal is an error without a code of its own, a panic, or a
	// result that cannot be encoded.
	CodeInternal = "internal"
	// CodeInvalidArguments is a call whose arguments do not match the tool's
	// input schema.
	CodeInvalidArguments = "invalid_arguments"
	// CodeResultTooLarge is a success larger than [Options.MaxResult].
	CodeResultTooLarge = "result_too_large"
	// CodeCatalogTooLarge is a tool list larger than [Options.MaxCatalog].
	CodeCatalogTooLarge = "catalog_too_large"
	// CodeDiagnosticUnknown is a diagnostic id that this process does not
	// hold: expired, evicted, never issued, or issued by another replica.
	CodeDiagnosticUnknown = "diagnostic_unknown"
	// CodeCursorInvalid is a cursor that does not open: expired, altered, or
	// made for another query. One code for all, so that a caller learns
	// nothing by guessing.
	CodeCursorInvalid = "cursor_invalid"
	// CodeCanceled is a call whose context was canceled.
	CodeCanceled = "canceled"
	// CodeDeadlineExceeded is a call that ran out of time.
	CodeDeadlineExceeded = "deadline_exceeded"
)

// An Error is a failure with a code that a client can act on. Code, Message
// and Details go to the client; Err does not.
//
// A handler need not use this type: any error in its chain with a method
// ErrorCode() string, and optionally ErrorDetails() any, is treated alike, so
// that packages can define their own without importing this one.
type Error struct {
	// Code is lower_snake_case. Empty means [CodeInternal].
	Code string
	// Message says what happened and what to do, for a model or a person.
	Message string
	// Details is encoded as JSON below the message. Nil: left out.
	Details any
	// Err is the cause, for the server's own use.
	Err error
}

// Error returns the message, and the code where there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.ErrorCode()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code, never empty.
func (e *Error) ErrorCode() string {
	if e.Code == "" {
		return CodeInternal
	}
	return e.Code
}

// ErrorDetails returns the details.
func (e *Error) ErrorDetails() any { return e.Details }

// coded is what the middleware looks for in the chain of a handler's error.
type coded interface {
	error
	ErrorCode() string
}

// coerce returns the error that goes to the client. An error with a code
// keeps its own message: what was wrapped around it is for the server. Of an
// error without a code the whole text goes out, as the SDK would send it.
func coerce(err error, text string) *Error {
	var c coded
	if errors.As(err, &c) && c.ErrorCode() != "" {
		e := &Error{Code: c.ErrorCode(), Message: c.Error(), Err: err}
		if d, ok := c.(interface{ ErrorDetails() any }); ok {
			e.Details = d.ErrorDetails()
		}
		return e
	}
	code := CodeInternal
	switch {
	case errors.Is(err, context.Canceled):
		code = CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		code = CodeDeadlineExceeded
	}
	return &Error{Code: code, Message: text, Err: err}
}

// wire returns the protocol error in err's chain that carries a code, unless
// an error with a code of its own is in front of it.
func wire(err error) (*jsonrpc.Error, bool) {
	var w *jsonrpc.Error
	if !errors.As(err, &w) || w == nil || w.Code == 0 {
		return nil, false
	}
	if error(w) == err {
		return w, true
	}
	var c coded
	if errors.As(err, &c) && c.ErrorCode() != "" {
		return nil, false
	}
	return &jsonrpc.Error{Code: w.Code, Message: err.Error()}, true
}
