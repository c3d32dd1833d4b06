package result

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The codes that this package gives. Every other code comes from the error of
// a handler.
const (
	// CodeInternal is an error without a code of its own, a panic, or a
	// result that cannot be sent.
	CodeInternal = "internal"
	// CodeCanceled is a call whose context was canceled.
	CodeCanceled = "canceled"
	// CodeDeadlineExceeded is a call that ran out of time.
	CodeDeadlineExceeded = "deadline_exceeded"
	// CodeInvalidArguments is a call whose arguments do not match the tool's
	// input schema. Its details, where the places are known, are {count,
	// paths}: how many values are wrong and where the first ones are, as JSON
	// Pointers.
	CodeInvalidArguments = "invalid_arguments"
	// CodeInputUnavailable is a call that needed an answer from the person at
	// the client and got none: the client cannot ask, or the session's
	// protocol cannot carry the question.
	CodeInputUnavailable = "input_unavailable"
	// CodeResultTooLarge is a success larger than [Options.MaxResult].
	CodeResultTooLarge = "result_too_large"
	// CodeCatalogTooLarge is a tool list larger than [Options.MaxCatalog].
	CodeCatalogTooLarge = "catalog_too_large"
	// CodeDiagnosticUnknown is a diagnostic id that this process does not
	// hold: expired, displaced, never issued, or issued by another replica.
	CodeDiagnosticUnknown = "diagnostic_unknown"
	// CodeCursorInvalid is a cursor that does not open: expired, altered, or
	// made for another query. One code for all, so that a caller learns
	// nothing by guessing.
	CodeCursorInvalid = "cursor_invalid"
)

// An Error is a failure with a code that a client can act on. Code, Message
// and Details go to the client; Err does not.
//
// A handler need not use this type: any error in its chain with a method
// ErrorCode() string, and optionally ErrorDetails() any, is treated alike, so
// that a package can have its own error type without importing this one.
//
// An Error must not be changed once it is returned.
type Error struct {
	// Code is lower_snake_case. Empty means [CodeInternal].
	Code string
	// Message says what happened and what to do, for a model or a person.
	// Empty: the code stands in.
	Message string
	// Details is encoded as JSON beside the message. Nil, and what cannot be
	// encoded, is left out.
	Details any
	// Err is the cause, for the server's own use.
	Err error
}

// Error returns the message, or the code where there is none.
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

// A coder is what the middleware looks for in the chain of a handler's error.
type coder interface {
	error
	ErrorCode() string
}

func findCoder(err error) (coder, bool) {
	var c coder
	ok := errors.As(err, &c) && c.ErrorCode() != ""
	return c, ok
}

// inputPrefix starts every error of the SDK's own asking.
const inputPrefix = "multi-round-trip: "

// coerce returns the error that goes to the client. An error with a code
// keeps its own message, and what was wrapped around it stays here. Of an
// error without one, text goes out, as the SDK itself would send it.
func coerce(err error, text string) *Error {
	if c, ok := findCoder(err); ok {
		e := &Error{Code: c.ErrorCode(), Message: c.Error(), Err: err}
		if d, ok := c.(interface{ ErrorDetails() any }); ok {
			e.Details = d.ErrorDetails()
		}
		return e
	}
	code := CodeInternal
	switch {
	case strings.HasPrefix(err.Error(), inputPrefix):
		code = CodeInputUnavailable
	case errors.Is(err, context.Canceled):
		code = CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		code = CodeDeadlineExceeded
	}
	return &Error{Code: code, Message: text, Err: err}
}

// wireError returns the protocol error that err is or wraps: an error that
// the SDK or a handler chose to send as such. An error with a code of its own
// is none, nor is what a client answered when it was asked for input.
func wireError(err error) (*jsonrpc.Error, bool) {
	//nolint:errorlint // bare is what the SDK sends as it is, data included
	if w, ok := err.(*jsonrpc.Error); ok {
		return w, w != nil && w.Code != 0
	}
	var w *jsonrpc.Error
	if !errors.As(err, &w) || w == nil || w.Code == 0 || strings.HasPrefix(err.Error(), inputPrefix) {
		return nil, false
	}
	if _, ok := findCoder(err); ok {
		return nil, false
	}
	return &jsonrpc.Error{Code: w.Code, Message: err.Error()}, true
}

// protocolCode returns the JSON-RPC code of e where no result can carry it.
func protocolCode(e *Error) int64 {
	switch e.ErrorCode() {
	case CodeInternal, CodeCanceled, CodeDeadlineExceeded, CodeInputUnavailable, CodeCatalogTooLarge:
		return jsonrpc.CodeInternalError
	}
	return jsonrpc.CodeInvalidParams
}
