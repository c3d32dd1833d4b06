package normalize

import (
	"errors"
	"strconv"
)

// Error says why a text, an entry or a value cannot be used. Its message never
// holds a value of the text beyond a short quotation of the place that failed,
// and no value of a variable.
type Error struct {
	// Code is one of the error codes of this package.
	Code Code `json:"code"`
	// Subject is what the error is about: a field path, a kind of entry, a
	// reference; empty for the text as a whole.
	Subject string `json:"subject,omitempty"`
	// Message says what is wrong and what to do.
	Message string `json:"message,omitempty"`
	// Line and Column are where in the text, both from 1 and the column in
	// characters; 0 when the error is about no place.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Err is the cause, or nil.
	Err error `json:"-"`
}

// Error gives position, subject and message on one line.
func (e *Error) Error() string {
	s := e.Message
	if s == "" {
		s = string(e.Code)
	}
	if e.Subject != "" {
		s = e.Subject + ": " + s
	}
	if e.Line > 0 {
		s = "line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": " + s
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode gives the stable machine code.
func (e *Error) ErrorCode() string { return string(e.Code) }

// CodeOf gives the code of the first [*Error] in err's chain, and "" when
// there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
