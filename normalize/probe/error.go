package probe

import (
	"errors"
	"strconv"
	"strings"
)

// Code is the stable machine code of an [Error].
type Code string

// The codes.
const (
	// Failed is a server that was reached and does not do: it ended, refused,
	// wants credentials, or answered what is no MCP.
	Failed Code = "probe_failed"
	// Timeout is a server that did not finish in time.
	Timeout Code = "probe_timeout"
	// SpawnFailed is a program that could not be started.
	SpawnFailed Code = "spawn_failed"
	// TooLarge is a server that sent more than a limit allows.
	TooLarge Code = "probe_too_large"
	// Unsupported is a launch with a transport that cannot be probed, or with
	// none.
	Unsupported Code = "transport_unsupported"
)

// Phase is how far a probe came.
type Phase string

// The phases, in order.
const (
	Start     Phase = "start"      // starting the program, or finding it at its address
	Handshake Phase = "handshake"  // server/discover or initialize
	ListTools Phase = "tools/list" // reading the catalog
)

// Error says why a probe did not succeed. None of its texts holds a secret of
// the launch.
type Error struct {
	// Code is one of the codes of this package.
	Code Code
	// Server is the name of the launch.
	Server string
	// Phase is what the probe was doing.
	Phase Phase
	// Message says what went wrong and what to do.
	Message string
	// Stderr is the end of what the program wrote to standard error, at most 8
	// KiB, without control characters but for line breaks and tabs. Empty for
	// remote servers.
	Stderr string
	// Err is the cause where it is one of the errors that other packages
	// declare and that hold no text of the server: [context.DeadlineExceeded],
	// [os/exec.ErrNotFound], [io/fs.ErrNotExist], [io/fs.ErrPermission]. Else nil.
	Err error
}

// shownStderr is how much of Stderr is part of the one-line text.
const shownStderr = 1 << 10

// Error gives server, phase, message and the end of stderr on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("probe of ")
	b.WriteString(strconv.Quote(e.Server))
	b.WriteString(", ")
	b.WriteString(string(e.Phase))
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Stderr != "" {
		b.WriteString("; stderr: ")
		b.WriteString(strconv.Quote(lastBytes(e.Stderr, shownStderr)))
	}
	return b.String()
}

// Unwrap gives the cause, if there is one to give.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode gives the stable machine code.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorDetails gives the phase and, where there is some, the end of stderr.
func (e *Error) ErrorDetails() any {
	return struct {
		Phase  Phase  `json:"phase"`
		Stderr string `json:"stderr,omitempty"`
	}{e.Phase, e.Stderr}
}

// CodeOf gives the code of the first [*Error] in err's chain, and "" when there
// is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
