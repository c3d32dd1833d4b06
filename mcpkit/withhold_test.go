package mcpkit_test

import (
	"bytes"
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
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

const withheld = "the server failed inside this call"

// machineErrors are errors that name something of the machine: each has the word marrow in its text.
func machineErrors(t *testing.T) map[string]error {
	t.Helper()
	_, open := os.Open(filepath.Join(t.TempDir(), "marrow"))
	rename := os.Rename(filepath.Join(t.TempDir(), "marrow"), filepath.Join(t.TempDir(), "b"))
	run := exec.CommandContext(t.Context(), "marrow-that-nobody-has").Run()
	refused := &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: "/run/marrow.sock"}, Err: errors.New("refused")}
	return map[string]error{
		"path":           open,
		"link":           rename,
		"syscall":        os.NewSyscallError("marrow", errors.New("denied")),
		"network":        refused,
		"resolver":       &net.DNSError{Err: "no such host", Name: "marrow.internal", Server: "192.0.2.1:53"},
		"url":            &url.Error{Op: "Get", URL: "https://marrow.internal/?key=1", Err: errors.New("refused")},
		"command":        run,
		"address":        &net.AddrError{Err: "no suitable address", Addr: "marrow.internal"},
		"odd address":    net.InvalidAddrError("marrow.internal"),
		"parsed address": &net.ParseError{Type: "IP address", Text: "marrow.internal"},
		"host":           x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"marrow.internal"}}, Host: "example.com"},
		"certificate":    &tls.CertificateVerificationError{Err: errors.New("marrow.internal is another")},
		"wrapped":        fmt.Errorf("reading marrow: %w", fmt.Errorf("once more: %w", open)),
		"joined command": fmt.Errorf("marrow: %w", errors.Join(errors.New("first"), run)),
		"joined":         errors.Join(errors.New("marrow"), &fs.PathError{Op: "stat", Path: "/srv/marrow", Err: fs.ErrPermission}),
	}
}

// failing returns features in every place of which a handler fails with what err returns.
func failing(t *testing.T, err func() error) []mcpkit.Feature {
	t.Helper()
	command := func(name, at string) mcpkit.Feature {
		s := newShelf()
		c := s.command(newApprovals(t, mcpkit.Token))
		c.Name = name
		c.Plan = func(ctx context.Context, in putArgs) (mcpkit.Proposal[putPlan], error) {
			if at == "plan" {
				return mcpkit.Proposal[putPlan]{}, err()
			}
			return s.plan(ctx, in)
		}
		c.Authorize = func(context.Context, putArgs, putPlan) (bool, error) {
			if at == "authorize" {
				return false, err()
			}
			return true, nil
		}
		c.Apply = func(context.Context, putPlan) (putReceipt, error) { return putReceipt{}, err() }
		if at == "disabled" {
			c.Disabled = err()
		}
		return c.Install
	}
	return []mcpkit.Feature{
		mcpkit.Tool[nothing, nothing]{
			Name: "tool", Description: "Fail.", Effect: mcpkit.ReadOnly,
			Run: func(context.Context, nothing) (nothing, error) { return nothing{}, err() },
		}.Install,
		command("plan", "plan"), command("authorize", "authorize"), command("apply", "apply"), command("disabled", "disabled"),
		mcpkit.ResourceTemplate{
			URI: "x://{a}", Name: "x",
			Read:     func(context.Context, string) ([]*mcp.ResourceContents, error) { return nil, err() },
			Complete: func(context.Context, string) ([]string, error) { return nil, err() },
		}.Install,
	}
}

// failures sends one request to each place of failing, and returns the replies as they came, by target.
func failures(t *testing.T, p *peer) map[string]string {
	t.Helper()
	replies := make(map[string]string)
	send := func(target, method, params string) {
		r := p.send(t, method, params)
		replies[target] += string(r.Result) + string(r.Error)
	}
	send("tool", "tools/call", `{"name":"tool","arguments":{}}`)
	for _, name := range []string{"plan", "authorize", "apply", "disabled"} {
		send(name, "tools/call", `{"name":"`+name+`","arguments":`+prepareArgs("a", "one")+`}`)
	}
	send("x://{a}", "resources/read", `{"uri":"x://a"}`)
	send("x://{a} completed", "completion/complete", `{"ref":{"type":"ref/resource","uri":"x://{a}"},"argument":{"name":"a","value":""}}`)
	return replies
}

// No handler tells a client what the operating system said about the machine; the log has it, whole and once.
func TestMachineErrorsAreWithheld(t *testing.T) {
	for _, e := range eras {
		for name, err := range machineErrors(t) {
			t.Run(e.String()+"/"+name, func(t *testing.T) {
				var log bytes.Buffer
				opts := &mcpkit.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}
				p := dial(t, newServer(t, opts, failing(t, func() error { return err })...), e)
				for target, reply := range failures(t, p) {
					if strings.Contains(reply, "marrow") || !strings.Contains(reply, withheld) || !strings.Contains(reply, "internal") {
						t.Errorf("%s: got %s, want the code internal and %q", target, reply, withheld)
					}
				}
				for target, want := range map[string]int{"tool": 1, "plan": 1, "authorize": 1, "apply": 1, "disabled": 1, "x://{a}": 2} {
					record := fmt.Sprintf(`"level":"ERROR","msg":"error withheld from the client","target":%q,"reason":%q`, target, err.Error())
					if got := strings.Count(log.String(), record); got != want {
						t.Errorf("%s: %d records %s, want %d, in\n%s", target, got, record, want, log.String())
					}
				}
			})
		}
	}
}

// Errors that somebody wrote for a client reach it, whatever is below them.
func TestWrittenErrorsAreSent(t *testing.T) {
	machine := &fs.PathError{Op: "open", Path: "/srv/marrow", Err: fs.ErrNotExist}
	tests := []struct {
		name          string
		err           error
		code, message string
	}{
		{"plain", errors.New("b must not be zero"), "internal", "b must not be zero"},
		{"wrapped plain", fmt.Errorf("dividing: %w", errors.New("b must not be zero")), "internal", "dividing: b must not be zero"},
		{"bare condition", fs.ErrNotExist, "internal", "file does not exist"},
		{"coded over a path", &result.Error{Code: "note_gone", Message: "the note is gone", Err: machine}, "note_gone", "the note is gone"},
		{"a path over coded", &fs.PathError{Op: "open", Path: "/srv/marrow", Err: &brokenError{"docs/a.md"}}, "file_broken", "the file docs/a.md is broken"},
		{"own code internal", &result.Error{Message: "the index is gone", Err: machine}, "internal", "the index is gone"},
		{"own text", fmt.Errorf("no note: %v", fs.ErrNotExist), "internal", "no note: file does not exist"},
		{"canceled at the machine", &url.Error{Op: "Get", URL: "https://marrow.internal/", Err: context.Canceled}, "canceled", withheld},
		{"too late at the machine", &url.Error{Op: "Get", URL: "https://marrow.internal/", Err: context.DeadlineExceeded}, "deadline_exceeded", withheld},
	}
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			var err error
			p := dial(t, newServer(t, nil, failing(t, func() error { return err })...), e) // and nothing to log to
			for _, test := range tests {
				err = test.err
				if code, message := p.callError(t, "tool", `{}`); code != test.code || message != test.message {
					t.Errorf("%s: got %s: %s, want %s: %s", test.name, code, message, test.code, test.message)
				}
				if code, message := p.callError(t, "plan", prepareArgs("a", "one")); code != test.code || message != test.message {
					t.Errorf("%s, as a plan: got %s: %s, want %s: %s", test.name, code, message, test.code, test.message)
				}
			}
		})
	}
}

// An operator who gives package result a logger of its own finds the text there, and no record of what was sent.
func TestWithheldLogger(t *testing.T) {
	var log bytes.Buffer
	opts := &mcpkit.Options{Result: &result.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	machine := &fs.PathError{Op: "open", Path: "/srv/marrow", Err: fs.ErrNotExist}
	var err error
	p := dial(t, newServer(t, opts, failing(t, func() error { return err })...), handshake)
	err = &result.Error{Code: "note_gone", Err: machine}
	if code, _ := p.callError(t, "tool", `{}`); code != "note_gone" || log.Len() > 0 {
		t.Errorf("with a code: got %s, log %q, want an empty log", code, log.String())
	}
	err = machine
	if _, message := p.callError(t, "tool", `{}`); message != withheld || !strings.Contains(log.String(), "/srv/marrow") {
		t.Errorf("without: got %s, log %q", message, log.String())
	}
}
