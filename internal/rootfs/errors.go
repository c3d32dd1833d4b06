package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A Code says in one stable word why an operation was refused or failed.
// Callers branch on it; messages may change.
type Code string

// The codes of this package. Each has one cause.
const (
	PathInvalid Code = "path_invalid" // the path breaks the lexical policy, see [Check]; nothing was opened
	NotFound    Code = "not_found"    // no entry has that name
	NotRegular  Code = "not_regular"  // a directory, pipe, socket or device where a file is wanted
	NotDir      Code = "not_dir"      // something else where a directory is wanted
	Link        Code = "link"         // the path goes through a symbolic link or is one
	HardLink    Code = "hard_link"    // the file has another name, which may lie outside the root
	CrossDevice Code = "cross_device" // the path crosses a mount point
	Escape      Code = "escape"       // the path was led out of the root while it was being opened
	TooLarge    Code = "too_large"    // the file has more bytes than the caller accepts
	TooMany     Code = "too_many"     // more entries or levels than the caller accepts
	Changed     Code = "changed"      // the entry was replaced or modified while it was in use
	Exists      Code = "exists"       // the name is taken
	NotEmpty    Code = "not_empty"    // the directory to remove still has entries
	Permission  Code = "permission"   // the operating system denies access
	Locked      Code = "locked"       // another holder kept the lock until the context ended
	IO          Code = "io"           // any other failure of the operating system
)

// Error is the only error type this package returns, except for the errors
// of a context and of a caller's own function, which are passed on as they are.
type Error struct {
	// Op is the operation, one lower-case word such as "read" or "rename".
	Op string
	// Path is the path as the caller gave it, or the entry below it that is at fault.
	Path string
	// Code says why. It is never empty.
	Code Code
	// Err is the cause: an error of the operating system, of a context, or a
	// sentence about the path. It may be nil where Code says everything.
	Err error
}

// maxQuoted bounds how much of a path a message repeats.
const maxQuoted = 160

// Error returns operation, path and reason. The path is quoted, and shortened
// when it is long.
func (e *Error) Error() string {
	p := e.Path
	if len(p) > maxQuoted {
		p = p[:maxQuoted] + "..."
	}
	msg := e.Op + " " + strconv.Quote(p) + ": " + e.Code.text()
	// The system's own word for a code that has a cause adds nothing, and
	// differs between systems.
	_, system := errors.AsType[syscall.Errno](e.Err)
	if e.Err != nil && (e.Code == IO || !system) {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) and the
// like work on failures of the operating system.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code as plain text.
func (e *Error) ErrorCode() string { return string(e.Code) }

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
	switch c {
	case PathInvalid:
		return "path refused"
	case NotRegular:
		return "not a regular file"
	case NotDir:
		return "not a directory"
	case Link:
		return "a symbolic link, which is never followed"
	case HardLink:
		return "the file has more than one name; copy it to give it one of its own"
	case CrossDevice:
		return "on another mount than the root"
	case Escape:
		return "led out of the root"
	case Changed:
		return "changed while it was in use; try again"
	case Permission:
		return "permission denied"
	case Locked:
		return "locked by another holder"
	case IO:
		return "input or output failed"
	default:
		return strings.ReplaceAll(string(c), "_", " ")
	}
}

// A refusal is an error of this package's inner functions, which know neither
// operation nor path.
type refusal struct {
	code Code
	why  error // may be nil
}

func (r *refusal) Error() string { return r.code.text() }

// refuse returns a refusal without a further reason.
func refuse(c Code) error { return &refusal{code: c} }

// refusef returns a refusal with a reason.
func refusef(c Code, format string, args ...any) error {
	return &refusal{c, fmt.Errorf(format, args...)}
}

// fail turns any error of an inner function into the *Error a caller sees. It
// returns nil for nil, and an *Error as it is.
func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return &Error{Op: op, Path: path, Code: r.code, Err: r.why}
	}
	err = bare(err)
	return &Error{Op: op, Path: path, Code: codeOfOS(err), Err: err}
}

// bare removes what the os package wraps around an errno: an operation, and a
// path that may be absolute or a mere part.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Err
	}
	return err
}

// codeOfOS classifies an error of the operating system.
func codeOfOS(err error) Code {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, syscall.ENOTEMPTY):
		// Asked before fs.ErrExist, which ENOTEMPTY also counts as.
		return NotEmpty
	case errors.Is(err, fs.ErrExist):
		return Exists
	case errors.Is(err, fs.ErrPermission):
		return Permission
	case errors.Is(err, syscall.ELOOP):
		return Link
	case errors.Is(err, syscall.EXDEV):
		return CrossDevice
	case errors.Is(err, syscall.ENOTDIR):
		return NotDir
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		return NotRegular
	case errors.Is(err, syscall.ENAMETOOLONG):
		return PathInvalid
	default:
		return IO
	}
}
