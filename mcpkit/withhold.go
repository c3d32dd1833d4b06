package mcpkit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
)

// withheldError stands for an error whose text is not for a client. Package result finds the code of what it wraps.
type withheldError struct{ err error }

// Error returns what a client is told of a panic, too.
func (e *withheldError) Error() string { return "the server failed inside this call" }

func (e *withheldError) Unwrap() error { return e.err }

// withhold returns the error of a handler as it may go to a client. An error with a code, and one that the handler wrote
// itself, are meant to be read. What the operating system says is not: it names paths, hosts and programs of the machine.
// That goes to the log, under the name of the tool or resource that it is the target of.
func (in *Installer) withhold(ctx context.Context, target string, err error) error {
	if err == nil || hasCode(err) || !fromSystem(err) {
		return err
	}
	if logger := in.opts.resultOptions().Logger; logger != nil {
		logger.ErrorContext(ctx, "error withheld from the client", slog.String("target", target), slog.String("reason", err.Error()))
	}
	return &withheldError{err}
}

// hasCode reports whether err has a code and a text of its own, by the rule of package result.
func hasCode(err error) bool {
	var coded interface {
		error
		ErrorCode() string
	}
	return errors.As(err, &coded) && coded.ErrorCode() != ""
}

// fromSystem reports whether err holds an error that the standard library makes of the operating system's, or of what
// the network said.
func fromSystem(err error) bool {
	return holds[*fs.PathError](err) || holds[*os.LinkError](err) || holds[*os.SyscallError](err) || holdsExec(err) ||
		holds[*url.Error](err) || fromNetwork(err) || fromCertificate(err)
}

func fromNetwork(err error) bool {
	return holds[*net.OpError](err) || holds[*net.DNSError](err) || holds[*net.AddrError](err) ||
		holds[net.InvalidAddrError](err) || holds[*net.ParseError](err)
}

func fromCertificate(err error) bool {
	return holds[*tls.CertificateVerificationError](err) || holds[x509.HostnameError](err) ||
		holds[x509.UnknownAuthorityError](err) || holds[x509.CertificateInvalidError](err)
}

func holds[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// holdsExec reports whether err holds an exec.Error. It goes by the name: importing os/exec would make each server that
// uses this package look as if it could start programs.
func holdsExec(err error) bool {
	if fmt.Sprintf("%T", err) == "*exec.Error" {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // this walks the chain itself
	case interface{ Unwrap() error }:
		return holdsExec(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), holdsExec)
	}
	return false
}
