package lookup

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Code is the stable machine code of an [Error].
type Code string

// Codes of errors.
const (
	CodeInvalid     Code = "reference_invalid"   // the text is no reference; the message says what is wrong with it
	CodeNotFound    Code = "reference_not_found" // every source was asked and none knows how to run it
	CodeAmbiguous   Code = "reference_ambiguous" // it names several servers, or one that is run in several ways; the message lists them
	CodeDisagree    Code = "sources_disagree"    // two sources name different programs or addresses, or the registry answers with another version than the one asked for; the message shows both
	CodeIncomplete  Code = "lookup_incomplete"   // a source that matters could not be asked or read, so "not found" would be no answer
	CodeRateLimited Code = "rate_limited"        // a source wants no more requests before [Error.Reset]
	CodeHostRefused Code = "host_refused"        // a host, or a redirect to one, that is not asked
	CodeTooLarge    Code = "too_large"           // an answer, or what one lookup may fetch, is over its limit
	CodeTimeout     Code = "lookup_timeout"      // the time of the lookup, or of the caller, is over
	CodeCanceled    Code = "lookup_canceled"     // the caller gave up
	CodeAgentFailed Code = "agent_failed"        // the agent did not run, or its answer is none that can be taken
	CodeDeclined    Code = "agent_declined"      // the agent answered that it cannot tell; the message is its own
)

// An Error says why a reference became no record. It holds no credentials: the
// parts of an address that could be one are cut before anything is written down.
type Error struct {
	// Code is one of the codes of this package.
	Code Code
	// Reference is the reference in its canonical spelling, shortened; empty
	// where the text is none.
	Reference string
	// Message says what happened and what to do, in lower case.
	Message string
	// Evidence are the steps up to the failure.
	Evidence Evidence
	// Reset is when a source may be asked again; zero where it did not say, and
	// for all codes but [CodeRateLimited].
	Reset time.Time
	// Err is the cause, or nil: a context's error, a network error, or a
	// [normalize.Error].
	Err error
}

// Error gives the code's subject and the message on one line.
func (e *Error) Error() string {
	s := "lookup: "
	if e.Reference != "" {
		s += strconv.Quote(e.Reference) + ": "
	}
	return s + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode gives the stable machine code.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorDetails gives the evidence, and the time of the reset where there is one.
func (e *Error) ErrorDetails() any {
	return struct {
		Evidence Evidence  `json:"evidence"`
		Reset    time.Time `json:"reset,omitzero"`
	}{e.Evidence, e.Reset}
}

// CodeOf gives the code of the first [Error] in err's chain, and "" when there
// is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// maxQuote is the length of a piece of a source's text in messages and evidence.
const maxQuote = 120

// clip makes text of a stranger fit for a message: short and on one line, and
// without characters that move a terminal's cursor or turn the text around.
func clip(s string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s))
	if len(r) <= maxQuote {
		return string(r)
	}
	return string(r[:maxQuote-1]) + "…"
}
