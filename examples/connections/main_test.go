package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

func TestMain(m *testing.M) {
	command := func(ctx context.Context) error { return run(ctx, os.Args[1:], std()) }
	// A registered server gets no variables that are not its own.
	if len(os.Args) > 1 && os.Args[1] == sampleCommand {
		os.Exit(cli.Main(command))
	}
	clitest.Main(m, command)
}

const canary = "c4n4ry-of-the-paste"

// A home is the folder of a user with a vault, for as long as the test.
type home struct{ dir string }

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{dir: t.TempDir()}
	t.Setenv("HOME", h.dir)
	for _, name := range []string{"XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, filepath.Join(h.dir, "config"))
	}
	out, msgs, code := runCommand(t, "", "init")
	if code != 0 || !strings.Contains(out, "made the vault") {
		t.Fatalf("init ended with %d: %s%s", code, out, msgs)
	}
	return h
}

func (h *home) vault() string {
	return filepath.Join(h.dir, "config", "mcpcontract", "connections", "vault")
}

// workspace makes the sample workspace, and the variable that names it.
func (h *home) workspace(t *testing.T) {
	t.Helper()
	root := filepath.Join(h.dir, "workspace")
	if err := copySample(root); err != nil {
		t.Fatal(err)
	}
	t.Setenv(sampleRoot, root)
}

// runCommand runs a command to its end.
func runCommand(t *testing.T, stdin string, args ...string) (out, msgs string, code int) {
	t.Helper()
	cmd := clitest.Command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// server is a process that serves, with a client.
type server struct {
	*clitest.Server
	heard strings.Builder // all replies
}

func start(t *testing.T, id peer.Identity, args ...string) *server {
	t.Helper()
	return &server{Server: clitest.Start(t, id, args...)}
}

// end closes the server's input, and waits.
func (s *server) end(t *testing.T) {
	t.Helper()
	s.Close()
	s.End(t)
}

// answer has the fields of all replies.
type answer struct {
	CommandStatus, ProposalToken, ApprovalCommand string
	Proposal                                      struct{ Refs, Unresolved, Notes []string }
	Probe                                         struct{ Name string }
	Items                                         []struct {
		Name    string
		Enabled bool
		Tools   int
	}
	CatalogChanged *bool
	Text           string
	Error          struct{ Code string }
}

// call calls a tool, and remembers what came back.
func (s *server) call(t *testing.T, tool string, arguments args) (answer, string) {
	t.Helper()
	reply, err := s.Call(tool, arguments)
	if err != nil {
		t.Fatalf("%v; stderr: %s", err, s.Stderr())
	}
	payload, _, _ := reply.Payload()
	s.heard.Write(payload)
	var a answer
	if err := json.Unmarshal(payload, &a); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, reply.Result)
	}
	return a, string(payload)
}

func prepare(fields args) args {
	fields["op"] = "prepare"
	return args{"request": fields}
}

func apply(token string) args { return args{"request": args{"op": "apply", "proposalToken": token}} }

// pasteSample is the sample server as somebody would paste it, with a secret.
func pasteSample(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"mcpServers": {"handbook": {"command": "cmd", "args": ["/c", %q, %q], "env": {"SAMPLE_TOKEN": %q, "SAMPLE_WORKSPACE": "${SAMPLE_WORKSPACE}"}}}}`,
		exe, sampleCommand, canary)
}

// TestWholePath registers a real server over stdio, with all processes real, from
// the paste to the removal, and looks for the secret everywhere.
func TestWholePath(t *testing.T) {
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		h := newHome(t)
		h.workspace(t)
		s := start(t, id)
		proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
		if proposed.CommandStatus != "approval_required" || len(proposed.Proposal.Refs) != 2 || len(proposed.Proposal.Unresolved) != 0 {
			t.Fatal(raw)
		}
		s.end(t)

		s = start(t, id) // another process
		done, raw := s.call(t, "register_server", apply(proposed.ProposalToken))
		if done.CommandStatus != "applied" || done.Probe.Name != "sample-workspace" {
			t.Fatal(raw)
		}
		s.end(t)

		if err := os.Unsetenv(sampleRoot); err != nil { // the value was captured
			t.Fatal(err)
		}
		s = start(t, id)
		if list, raw := s.call(t, "list_servers", nil); len(list.Items) != 1 || !list.Items[0].Enabled || list.Items[0].Tools != 7 {
			t.Error(raw)
		}
		if probed, raw := s.call(t, "probe_server", args{"name": "handbook"}); probed.CatalogChanged == nil || *probed.CatalogChanged {
			t.Error(raw)
		}
		if out, raw := s.call(t, "export_config", args{"dialect": "claude-desktop"}); !strings.Contains(out.Text, "${SAMPLE_TOKEN}") {
			t.Error(raw)
		}
		gone, raw := s.call(t, "remove_server", prepare(args{"name": "handbook"}))
		if gone.ProposalToken == "" {
			t.Fatal(raw)
		}
		if gone, raw = s.call(t, "remove_server", apply(gone.ProposalToken)); gone.CommandStatus != "applied" {
			t.Fatal(raw)
		}
		s.end(t)
		if strings.Contains(s.heard.String()+s.Stderr(), canary) {
			t.Errorf("the secret was told: %s%s", s.heard.String(), s.Stderr())
		}
		if files, hits, err := search(h.dir, canary); err != nil || hits > 0 || files < 5 {
			t.Errorf("%d of %d files have the secret, %v", hits, files, err)
		}
	})
}

// With an approver that this client cannot serve, another process approves.
func TestApproveInATerminal(t *testing.T) {
	for _, how := range []string{"command", "elicit"} {
		t.Run(how, func(t *testing.T) {
			h := newHome(t)
			h.workspace(t)
			s := start(t, peer.Identity{Name: "claude-code", Version: "2.1.332", PerRequest: true}, "-approve", how)
			proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
			words := strings.Fields(proposed.ApprovalCommand)
			if len(words) != 3 || words[0] != "connections" {
				t.Fatal(raw)
			}
			if early, raw := s.call(t, "register_server", apply(proposed.ProposalToken)); early.Error.Code != "approval_pending" {
				t.Error(raw)
			}
			listed, msgs, code := runCommand(t, "", "approve")
			if code != 0 || !strings.Contains(listed, words[2]) || !strings.Contains(listed, sampleCommand) {
				t.Errorf("approve ended with %d: %s%s", code, listed, msgs)
			}
			out, msgs, code := runCommand(t, "", words[1:]...)
			if code != 0 || !strings.Contains(out, "approved") {
				t.Errorf("approve ended with %d: %s%s", code, out, msgs)
			}
			if done, raw := s.call(t, "register_server", apply(proposed.ProposalToken)); done.CommandStatus != "applied" {
				t.Error(raw)
			}
			s.end(t)
			if strings.Contains(listed+out+msgs+s.heard.String(), canary) {
				t.Errorf("the secret was told: %s%s%s", listed, out, msgs)
			}
		})
	}
}

func TestHTTP(t *testing.T) {
	newHome(t)
	listening, url := clitest.Listen(t)
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		s := &server{Server: listening.Dial(t, url, id)}
		proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
		if len(proposed.Proposal.Unresolved) != 1 || strings.Contains(raw, canary) {
			t.Fatal(raw)
		}
		// The literal stays, and the probe decides.
		failed, raw := s.call(t, "register_server", apply(proposed.ProposalToken))
		if failed.Error.Code != "probe_failed" || strings.Contains(raw, canary) {
			t.Error(raw)
		}
	})
	listening.Stop(t)
}

// TestDemo runs the demo as a command, and reads what it shows.
func TestDemo(t *testing.T) {
	newHome(t)
	out, msgs, code := runCommand(t, "", "demo")
	if code != 0 || msgs != "" {
		t.Fatalf("ended with %d: %s", code, msgs)
	}
	for _, want := range []string{
		"cmd_wrapper_removed", "trailing_commas_removed", "type_inferred:http", "code: name_required", "unresolved: [SAMPLE_THEME]",
		"commandStatus: approval_required", "commandStatus: applied", "catalogChanged: false", "${env:SAMPLE_WORKSPACE}", "code: server_unknown",
		" 0 hits",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the transcript lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
