package lookup_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

// TestCause holds that a source that could not be asked is told with its host and
// the reason, in the message and in the evidence, and with nothing that the
// error itself says: that may hold the password of a proxy.
func TestCause(t *testing.T) {
	const canary = "hunter2-canary"
	said := errors.New("http://me:" + canary + "@proxy.example:3128")
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "it refused the connection: nothing listens there, or a firewall is between"},
		{"no such name", &net.DNSError{Name: canary, IsNotFound: true}, "its name is not known (DNS): look whether this machine is online"},
		{"no name server", &net.DNSError{Name: canary, IsTemporary: true}, "its name could not be looked up (DNS): look at the network of this machine"},
		{"slow name server", &net.DNSError{Name: canary, IsTimeout: true}, "its name could not be looked up (DNS): look at the network of this machine"},
		{"slow", &net.OpError{Op: "read", Err: timeout{}}, "it did not answer in time: try again later"},
		{"no route", &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, "there is no way to it from this machine: look whether it is online"},
		{"no network", &net.OpError{Op: "dial", Err: syscall.ENETUNREACH}, "there is no way to it from this machine: look whether it is online"},
		{"network down", &net.OpError{Op: "dial", Err: syscall.ENETDOWN}, "there is no way to it from this machine: look whether it is online"},
		{"broken pipe", &net.OpError{Op: "write", Err: syscall.EPIPE}, "it closed the connection before its answer was complete: try again later"},
		{"cut off", io.ErrUnexpectedEOF, "it closed the connection before its answer was complete: try again later"},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, "it closed the connection before its answer was complete: try again later"},
		{"closed", io.EOF, "it closed the connection before its answer was complete: try again later"},
		{"proxy", &net.OpError{Op: "proxyconnect", Err: fmt.Errorf("%w: %w", said, syscall.ECONNREFUSED)}, "the proxy of this machine cannot be used: look at HTTPS_PROXY and NO_PROXY"},
		{"no TLS", tls.RecordHeaderError{Msg: canary}, "it does not speak TLS as it should: something may be between"},
		{"alert", &net.OpError{Op: "remote error", Err: said}, "it does not speak TLS as it should: something may be between"},
		{"plain HTTP", http.ErrSchemeMismatch, "it does not speak TLS as it should: something may be between"},
		{"stranger's certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "its certificate (TLS) is from nobody this machine trusts: something may be between"},
		{"another's certificate", x509.HostnameError{Certificate: &x509.Certificate{}, Host: canary}, "its certificate (TLS) is that of another host: something may be between"},
		{"old certificate", x509.CertificateInvalidError{Reason: x509.Expired, Detail: canary}, "its certificate (TLS) is not valid now: look at the clock of this machine"},
		{"odd certificate", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}}, "it does not speak TLS as it should: something may be between"},
		{"anything else", said, "the connection failed: look at the network of this machine, and try again later"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt := &transport{answer: func(*http.Request) (*http.Response, error) { return nil, tt.err }}
			_, evidence, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
			want := "registry.modelcontextprotocol.io could not be asked: " + tt.want
			if lookup.CodeOf(err) != lookup.CodeIncomplete || !errors.Is(err, tt.err) {
				t.Errorf("code %q, error %v", lookup.CodeOf(err), err)
			}
			if diff := cmp.Diff(`lookup: "io.github.acme/notes": `+want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !strings.HasSuffix(evidence.String(), "not answered: "+want) {
				t.Errorf("evidence: %v", evidence)
			}
			if strings.Contains(err.Error()+evidence.String(), canary) {
				t.Errorf("it says what the error does: %v\n%v", err, evidence)
			}
		})
	}
}

// timeout is the error of a deadline of package net.
type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// TestCauseOfRealConnections holds the same for what a network does.
func TestCauseOfRealConnections(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler())
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the handshake that is to fail
	stranger.StartTLS()
	defer stranger.Close()
	hangsUp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{") // and no more, which ends the connection
	}))
	defer hangsUp.Close()
	for base, want := range map[string]string{
		closed.URL: "it refused the connection",
		strings.Replace(plain.URL, "http:", "https:", 1): "it does not speak TLS as it should",
		stranger.URL: "its certificate (TLS) is from nobody this machine trusts",
		hangsUp.URL:  "it closed the connection before its answer was complete",
	} {
		_, _, err := lookup.New(&lookup.Options{Registry: base, Client: &http.Client{Transport: new(http.Transport)}}).Resolve(t.Context(), "io.github.acme/notes")
		u, parseErr := url.Parse(base)
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		if err == nil || !strings.Contains(err.Error(), u.Host+" could not be asked: "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestCauseAfterRedirect holds that the host which did not answer is named, and
// not the one that points to it.
func TestCauseAfterRedirect(t *testing.T) {
	rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "glama.ai" {
			return nil, syscall.ECONNREFUSED
		}
		return reply(302, "", "Location", "https://glama.ai/x"), nil
	}}
	_, _, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
	if err == nil || !strings.Contains(err.Error(), "glama.ai could not be asked: it refused") {
		t.Errorf("error %v", err)
	}
}

// TestNothingThere holds that both statuses for nothing are an answer.
func TestNothingThere(t *testing.T) {
	for _, code := range []int{404, 410} {
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return reply(code, ""), nil }}
		if _, _, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes"); lookup.CodeOf(err) != lookup.CodeNotFound {
			t.Errorf("status %d: error %v", code, err)
		}
	}
}

// TestLargeFileIsLeftOut holds that a file which is over the limit does not keep a
// repository from being read, and is told.
func TestLargeFileIsLeftOut(t *testing.T) {
	rt := repositoryOf(map[string]string{"package.json": `{"name": "notes-mcp", "bin": "cli.js"}`, "README.md": strings.Repeat("x", 2000)})
	server, evidence, err := resolver(rt, lookup.Options{MaxBytes: 1000}).Resolve(t.Context(), "acme/notes")
	if err != nil || server.Command != "npx" || !strings.Contains(evidence.String(), "is over 1000 bytes") {
		t.Errorf("%v: %+v\n%v", err, server, evidence)
	}
}

func TestStatusOf(t *testing.T) {
	for code, want := range map[int]string{
		401: "answered 401 Unauthorized: it wants credentials, and a lookup sends none",
		403: "answered 403 Forbidden: it wants credentials, and a lookup sends none",
		418: "answered 418 I'm a teapot",
		499: "answered 499",
		502: "answered 502 Bad Gateway: try again later",
	} {
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return reply(code, ""), nil }}
		_, _, err := resolver(rt, lookup.Options{}).Resolve(t.Context(), "io.github.acme/notes")
		if err == nil || !strings.HasSuffix(err.Error(), "registry.modelcontextprotocol.io "+want) {
			t.Errorf("status %d: error %v, want %q", code, err, want)
		}
	}
}

// TestWhoseTime holds that the time of the lookup and that of the caller are told
// apart.
func TestWhoseTime(t *testing.T) {
	for _, tt := range []struct {
		own, callers time.Duration
		want         string
	}{
		{time.Second, time.Minute, "the lookup took more than 1s; try again, or paste a configuration"},
		{time.Minute, time.Second, "the caller's time was over before the lookup"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.callers)
			defer cancel()
			rt := &transport{answer: func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}}
			_, _, err := resolver(rt, lookup.Options{Timeout: tt.own}).Resolve(ctx, "io.github.acme/notes")
			if lookup.CodeOf(err) != lookup.CodeTimeout || !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
