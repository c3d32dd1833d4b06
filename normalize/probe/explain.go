package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errTooLarge stops a reader. What is told is the error that ends the probe.
var errTooLarge = errors.New("too much was sent")

// errorf makes an error of the current phase. The arguments are the server's
// or the launch's, and go through the redactor.
func (p *probe) errorf(code Code, format string, args ...any) *Error {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = p.show(v)
		case error:
			args[i] = p.show(v.Error())
		}
	}
	return &Error{
		Code:    code,
		Server:  p.show(p.launch.Name),
		Phase:   p.now().phase,
		Message: fmt.Sprintf(format, args...),
	}
}

// explain turns what ended a probe into the error that Check returns.
func (p *probe) explain(work context.Context, err error) error {
	e, ok := errors.AsType[*Error](err)
	if cause, found := errors.AsType[*Error](context.Cause(work)); found {
		// What ended the probe explains more than what broke because of it.
		e, ok = cause, true
	}
	switch {
	case ok:
	case work.Err() != nil:
		e = p.timedOut()
	case p.now().denied:
		e = p.errorf(Failed, "the server answered %s: it wants credentials, or others than the headers of this configuration give", p.now().status)
	default:
		e = p.refused(err)
	}
	told := *e // goroutines of the SDK may still read the error that ended the probe
	told.Stderr = p.stderr
	return &told
}

// timedOut is the error of a probe whose time is over.
func (p *probe) timedOut() *Error {
	var e *Error
	s := p.now()
	switch {
	case s.noise.lines > 0 && !s.noise.spoke:
		return p.onlyNoise()
	case s.denied:
		e = p.errorf(Timeout, "the server answered %s and then did not finish within %v: it may want credentials", s.status, p.budget.Round(time.Millisecond))
	case p.budget <= 0:
		e = p.errorf(Timeout, "the time was over before the server was started or reached")
	case s.phase == Start:
		e = p.errorf(Timeout, "the server could not be reached within %v", p.budget.Round(time.Millisecond))
	default:
		e = p.errorf(Timeout, "the server did not finish within %v", p.budget.Round(time.Millisecond))
	}
	e.Err = context.DeadlineExceeded
	return e
}

// onlyNoise is the error of a program that writes what is no message.
func (p *probe) onlyNoise() *Error {
	return p.errorf(Failed, "the server writes text to stdout that is no MCP message: %q", p.now().noise.first)
}

// rejected is the code by which the SDK says that a request was not sent or was
// answered with a status that is an error. The reason stands beside it.
const rejected = -32005

// refused is the error of a server that answered, and not well.
func (p *probe) refused(err error) *Error {
	if werr, ok := errors.AsType[*jsonrpc.Error](err); ok && werr.Code != rejected {
		return p.errorf(Failed, "the server answered with error %d: %q", werr.Code, werr.Message)
	}
	status := p.now().status
	if strings.HasPrefix(status, "5") {
		return p.errorf(Failed, "the server answered %s: it is broken or busy", status)
	}
	if status != "" {
		return p.errorf(Failed, "the server answered %s: check the address and the transport", status)
	}
	if uerr, ok := errors.AsType[*url.Error](err); ok {
		return p.errorf(Failed, "the server cannot be reached: %s", uerr.Err)
	}
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return p.errorf(Failed, "the server closed the connection before it had answered")
	}
	return p.errorf(Failed, "the exchange with the server broke off: %s", err)
}

// answered reports whether an error is the server's, or one that this package
// found in an answer.
func answered(err error) bool {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[*Error](err)
	return ok
}

// spawnError is the error of a program that could not be started.
func (p *probe) spawnError(program string, err error) *Error {
	e := p.errorf(SpawnFailed, "cannot start %q: %s", program, err)
	for _, cause := range []error{exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, cause) {
			e.Err = cause
			break
		}
	}
	return e
}
