package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// asCommand makes the test program behave as the command, so that the tests run
// real processes without building another program.
const asCommand = "CONNECTIONS_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	// A registered server gets no variables that are not its own.
	if os.Getenv(asCommand) != "" || len(os.Args) > 1 && os.Args[1] == sampleCommand {
		os.Exit(cli.Main(func(ctx context.Context) error { return run(ctx, os.Args[1:], std()) }))
	}
	os.Exit(m.Run())
}

const canary = "c4n4ry-of-the-paste"

// A home is the folder of a user, with a vault.
type home struct {
	dir string
	env []string // more variables for the commands
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{dir: t.TempDir()}
	out, msgs, code := h.command(t, "", "init")
	if code != 0 || !strings.Contains(out, "made the vault") {
		t.Fatalf("init ended with %d: %s%s", code, out, msgs)
	}
	return h
}

func (h *home) vault() string {
	return filepath.Join(h.dir, "config", "mcpcontract", "connections", "vault")
}

// process prepares a command of that user.
func (h *home) process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+h.dir, "XDG_CONFIG_HOME="+filepath.Join(h.dir, "config"), "AppData="+filepath.Join(h.dir, "config"))
	cmd.Env = append(cmd.Env, h.env...)
	return cmd
}

// command runs a command to its end.
func (h *home) command(t *testing.T, stdin string, args ...string) (out, msgs string, code int) {
	t.Helper()
	cmd := h.process(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// says is what a process has written so far, which a test may read while it runs.
type says struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *says) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *says) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// server is a process that serves stdio, with a client.
type server struct {
	*peer.Peer
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr says
	heard  strings.Builder // all replies
}

func (h *home) start(t *testing.T, id peer.Identity, args ...string) *server {
	t.Helper()
	s := &server{cmd: h.process(t, args...)}
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr, s.stdin = &s.stderr, stdin
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.Peer = peer.New(stdin, stdout, id)
	if _, err := s.Start(); err != nil {
		t.Fatalf("%v; stderr: %s", err, &s.stderr)
	}
	return s
}

// end closes the server's input, and waits.
func (s *server) end(t *testing.T) {
	t.Helper()
	_ = s.stdin.Close()
	if err := s.cmd.Wait(); err != nil || strings.Count(s.stderr.String(), "\n") != 1 {
		t.Errorf("ended with %v; stderr: %s", err, &s.stderr)
	}
}

// answer has the fields of all replies.
type answer struct {
	CommandStatus, ProposalToken, ApprovalCommand string
	Proposal                                      struct{ Refs, Unresolved []string }
	Receipt                                       struct{ Probe struct{ Name string } }
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
		t.Fatalf("%v; stderr: %s", err, &s.stderr)
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

var eras = []peer.Identity{
	{Name: "claude-code", Version: "2.1.332"},
	{Name: "claude-code", Version: "2.1.332", PerRequest: true},
	{Name: "Zed", Version: "0.210.0"},
	{Name: "Zed", Version: "0.210.0", PerRequest: true},
}

// TestWholePath registers a real server over stdio, with all processes real, from
// the paste to the removal, and looks for the secret everywhere.
func TestWholePath(t *testing.T) {
	for _, id := range eras {
		t.Run(fmt.Sprintf("%s, per request %v", id.Name, id.PerRequest), func(t *testing.T) {
			h := newHome(t)
			root := filepath.Join(h.dir, "workspace")
			if err := copySample(root); err != nil {
				t.Fatal(err)
			}
			h.env = []string{sampleRoot + "=" + root}
			s := h.start(t, id)
			proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
			if proposed.CommandStatus != "approval_required" || len(proposed.Proposal.Refs) != 2 || len(proposed.Proposal.Unresolved) != 0 {
				t.Fatal(raw)
			}
			s.end(t)

			s = h.start(t, id) // another process
			done, raw := s.call(t, "register_server", apply(proposed.ProposalToken))
			if done.CommandStatus != "applied" || done.Receipt.Probe.Name != "sample-workspace" {
				t.Fatal(raw)
			}
			s.end(t)

			h.env = nil // the value was captured
			s = h.start(t, id)
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
			if strings.Contains(s.heard.String()+s.stderr.String(), canary) {
				t.Errorf("the secret was told: %s%s", s.heard.String(), &s.stderr)
			}
			if files, hits, err := search(h.dir, canary); err != nil || hits > 0 || files < 5 {
				t.Errorf("%d of %d files have the secret, %v", hits, files, err)
			}
		})
	}
}

// With an approver that this client cannot serve, another process approves.
func TestApproveInATerminal(t *testing.T) {
	for _, how := range []string{"command", "elicit"} {
		t.Run(how, func(t *testing.T) {
			h := newHome(t)
			root := filepath.Join(h.dir, "workspace")
			if err := copySample(root); err != nil {
				t.Fatal(err)
			}
			h.env = []string{sampleRoot + "=" + root}
			s := h.start(t, eras[1], "-approve", how)
			proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
			words := strings.Fields(proposed.ApprovalCommand)
			if len(words) != 3 || words[0] != "connections" {
				t.Fatal(raw)
			}
			if early, raw := s.call(t, "register_server", apply(proposed.ProposalToken)); early.Error.Code != "approval_pending" {
				t.Error(raw)
			}
			listed, msgs, code := h.command(t, "", "approve")
			if code != 0 || !strings.Contains(listed, words[2]) || !strings.Contains(listed, sampleCommand) {
				t.Errorf("approve ended with %d: %s%s", code, listed, msgs)
			}
			out, msgs, code := h.command(t, "", words[1:]...)
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
	for _, id := range eras {
		t.Run(fmt.Sprintf("%s, per request %v", id.Name, id.PerRequest), func(t *testing.T) {
			h := newHome(t)
			cmd := h.process(t, "-http", "127.0.0.1:0")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			var url string
			if _, err := fmt.Fscanf(stderr, "serving %s\n", &url); err != nil {
				t.Fatal(err)
			}
			s := &server{Peer: peer.NewHTTP(t.Context(), url, id)}
			if _, err := s.Start(); err != nil {
				t.Fatal(err)
			}
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
	}
}

// TestDemo runs the demo as a command, and reads what it shows.
func TestDemo(t *testing.T) {
	h := newHome(t)
	out, msgs, code := h.command(t, "", "demo")
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
