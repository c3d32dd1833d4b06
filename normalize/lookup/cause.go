package lookup

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// failed wraps an error of the network. One that a redirect caused is already
// an [*Error].
func failed(ctx context.Context, host string, err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if ctx.Err() != nil {
		return ctxError(ctx)
	}
	// After a redirect it is another source that did not answer.
	if e, ok := errors.AsType[*url.Error](err); ok {
		if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
			host = u.Host
		}
	}
	return &Error{Code: CodeIncomplete, Message: clip(host) + " could not be asked: " + causeOf(err), Err: err}
}

// ctxError tells a lookup that ran out of time from one that nobody waits for.
func ctxError(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Code: CodeCanceled, Message: "the lookup was canceled", Err: ctx.Err()}
	}
	if own, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return own
	}
	return &Error{Code: CodeTimeout, Message: "the caller's time was over before the lookup", Err: ctx.Err()}
}

// tooSlow is the cause of a context whose time is the resolver's own.
func tooSlow(limit time.Duration) *Error {
	return &Error{
		Code:    CodeTimeout,
		Message: fmt.Sprintf("the lookup took more than %v; try again, or paste a configuration", limit),
		Err:     context.DeadlineExceeded,
	}
}

// The numbers by which Windows says that a connection was refused or reset, and
// that there is no way to a network or host. No other system has errors of these
// numbers, and package syscall's names are other ones there.
const (
	errWSANetUnreachable  = syscall.Errno(10051)
	errWSAReset           = syscall.Errno(10054)
	errWSARefused         = syscall.Errno(10061)
	errWSAHostUnreachable = syscall.Errno(10065)
)

// noTLS is the cause where the other side does not prove who it is.
const noTLS = "it does not speak TLS as it should: something may be between"

// causeOf says in words of its own why a request failed, and what to look at. It
// repeats nothing of the error: that may hold the address of a proxy, with its
// password, or what the other side wrote.
func causeOf(err error) string {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		switch e.Op {
		case "proxyconnect":
			return "the proxy of this machine cannot be used: look at HTTPS_PROXY and NO_PROXY"
		case "remote error", "local error": // an alert of package crypto/tls, whose type is its own
			return noTLS
		}
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return causeOfDNS(e)
	}
	if cause := causeOfTLS(err); cause != "" {
		return cause
	}
	timed, ok := errors.AsType[net.Error](err)
	switch {
	case ok && timed.Timeout():
		return "it did not answer in time: try again later"
	case isAny(err, syscall.ECONNREFUSED, errWSARefused):
		return "it refused the connection: nothing listens there, or a firewall is between"
	case isAny(err, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, errWSANetUnreachable, errWSAHostUnreachable):
		return "there is no way to it from this machine: look whether it is online"
	case isAny(err, syscall.ECONNRESET, syscall.EPIPE, errWSAReset, io.EOF, io.ErrUnexpectedEOF):
		return "it closed the connection before its answer was complete: try again later"
	}
	return "the connection failed: look at the network of this machine, and try again later"
}

// causeOfDNS tells a name that does not exist from one that nobody could look up.
func causeOfDNS(e *net.DNSError) string {
	if e.IsNotFound {
		return "its name is not known (DNS): look whether this machine is online"
	}
	return "its name could not be looked up (DNS): look at the network of this machine"
}

// causeOfTLS says what is wrong with the other side's proof of who it is, or
// returns "" if it is not that.
func causeOfTLS(err error) string {
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return "its certificate (TLS) is not valid now: look at the clock of this machine"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate (TLS) is that of another host: something may be between"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate (TLS) is from nobody this machine trusts: something may be between"
	}
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	if verify || record || errors.Is(err, http.ErrSchemeMismatch) {
		return noTLS
	}
	return ""
}

// isAny reports whether one of the errors is in err's chain.
func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// statusOf says what a status that is no answer means for a lookup.
func statusOf(code int) string {
	text := fmt.Sprintf(" answered %d", code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	}
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusProxyAuthRequired:
		return text + ": it wants credentials, and a lookup sends none"
	case code >= http.StatusInternalServerError:
		return text + ": try again later"
	}
	return text
}
