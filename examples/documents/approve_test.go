package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// With an approver that this client cannot serve, or that is a command anyway, a
// person approves in another process, by the command that the reply tells.
func TestApproveInATerminal(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"command", "elicit"} {
		t.Run(how, func(t *testing.T) {
			clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
				t.Helper()
				f := sampleProject(t)
				s := f.serve(t, id, "--proposal-writer", "agent", "-approve", how)
				s.stage(t, f, "bulbs", "plans/bulbs.md", "# Plan\n")
				proposed := s.good(t, "candidate_apply", prepare("bulbs"))
				words := strings.Fields(proposed.ApprovalCommand)
				if proposed.CommandStatus != "approval_required" || len(words) != 5 || words[0] != "documents" {
					t.Fatalf("proposed %+v", proposed)
				}
				s.refused(t, "approval_pending", "candidate_apply", apply(proposed.ProposalToken))
				if got := s.good(t, "project_status", nil).Approvals.Pending; got != 1 {
					t.Errorf("%d approvals wait, want 1", got)
				}
				listed, stderr, code := clitest.Output(t, words[1:4]...)
				if code != 0 || !strings.Contains(listed, words[4]) || !strings.Contains(listed, "plans/bulbs.md (new, 7 bytes") {
					t.Errorf("approve ended with %d: %s%s", code, listed, stderr)
				}
				out, stderr, code := clitest.Output(t, words[1:]...)
				if code != 0 || !strings.Contains(out, "approved "+words[4]) {
					t.Errorf("approve ended with %d: %s%s", code, out, stderr)
				}
				if got := s.good(t, "project_status", nil).Approvals.Pending; got != 0 {
					t.Errorf("%d approvals wait after the decision", got)
				}
				if done := s.good(t, "candidate_apply", apply(proposed.ProposalToken)); done.CommandStatus != "applied" || f.read(t, "plans/bulbs.md") != "# Plan\n" {
					t.Errorf("applied %+v", done)
				}
				s.stop(t)
			})
		})
	}
}

// What a person rejects is never applied.
func TestReject(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	s := f.serve(t, structured, "--proposal-writer", "agent", "-approve", "command")
	defer s.stop(t)
	s.stage(t, f, "bulbs", "plans/bulbs.md", "# Plan\n")
	before := f.tree(t, ".mcpdocs")
	proposed := s.good(t, "candidate_apply", prepare("bulbs"))
	words := strings.Fields(proposed.ApprovalCommand)
	out, stderr, code := clitest.Output(t, "--project-root", string(f), "approve", "reject", words[len(words)-1])
	if code != 0 || !strings.Contains(out, "rejected ") {
		t.Errorf("ended with %d: %s%s", code, out, stderr)
	}
	if got := s.good(t, "project_status", nil).Approvals.Pending; got != 0 {
		t.Errorf("%d approvals wait after the decision", got)
	}
	s.refused(t, "approval_declined", "candidate_apply", apply(proposed.ProposalToken))
	if _, _, code := clitest.Output(t, words[1:]...); code != 1 {
		t.Errorf("approving what was rejected ended with %d, want 1", code)
	}
	s.refused(t, "approval_declined", "candidate_apply", apply(proposed.ProposalToken))
	if len(before) != len(f.tree(t, ".mcpdocs")) {
		t.Error("a rejected candidate was promoted")
	}
}

// A person is told before deciding that a candidate, or what it replaces, is no
// longer what was proposed.
func TestApproveChanged(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	s := f.serve(t, structured, "--proposal-writer", "agent", "-approve", "command")
	defer s.stop(t)
	s.stage(t, f, "bulbs", "plans/painting.md", "# Plan\n")
	proposed := s.good(t, "candidate_apply", prepare("bulbs"))
	list := []string{"--project-root", string(f), "approve"}
	approve := strings.Fields(proposed.ApprovalCommand)[1:]
	for _, name := range []string{".mcpdocs/stage/bulbs/plans/painting.md", "plans/painting.md"} {
		before := f.read(t, name)
		f.write(t, name, "# Changed since\n")
		out, stderr, code := clitest.Output(t, list...)
		if code != 0 || !strings.Contains(out, "CANNOT BE APPROVED") || !strings.Contains(out, "plans/painting.md") {
			t.Errorf("%s changed: approve ended with %d: %s%s", name, code, out, stderr)
		}
		if out, stderr, code := clitest.Output(t, approve...); code != 1 || out != "" || !strings.Contains(stderr, "plans/painting.md") {
			t.Errorf("%s changed: approve ended with %d: %s%s", name, code, out, stderr)
		}
		f.write(t, name, before)
		s.refused(t, "approval_pending", "candidate_apply", apply(proposed.ProposalToken))
	}
	if out, stderr, code := clitest.Output(t, list...); code != 0 || strings.Contains(out, "CANNOT") {
		t.Errorf("as proposed: approve ended with %d: %s%s", code, out, stderr)
	}
	if _, stderr, code := clitest.Output(t, approve...); code != 0 {
		t.Errorf("as proposed: approve ended with %d: %s", code, stderr)
	}
	if done := s.good(t, "candidate_apply", apply(proposed.ProposalToken)); done.CommandStatus != "applied" || f.read(t, "plans/painting.md") != "# Plan\n" {
		t.Errorf("applied %+v", done)
	}
}

// A token stands for the bytes that were proposed: other bytes are refused, and
// nothing of the approval is used up.
func TestApprovedBytes(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	s := f.serve(t, structured, "--proposal-writer", "agent")
	defer s.stop(t)
	s.stage(t, f, "bulbs", "plans/painting.md", "# Plan\n")
	token := s.good(t, "candidate_apply", prepare("bulbs")).ProposalToken
	f.write(t, ".mcpdocs/stage/bulbs/plans/painting.md", "# Another plan\n")
	s.refused(t, "proposal_stale", "candidate_apply", apply(token))
	f.write(t, ".mcpdocs/stage/bulbs/plans/painting.md", "# Plan\n")
	before := f.read(t, "plans/painting.md")
	f.write(t, "plans/painting.md", "# Edited meanwhile\n")
	s.refused(t, "proposal_stale", "candidate_apply", apply(token))
	f.write(t, "plans/painting.md", before)
	if s.good(t, "candidate_apply", apply(token)).CommandStatus != "applied" || f.read(t, "plans/painting.md") != "# Plan\n" {
		t.Error("the token did not apply what it was made for")
	}
	s.refused(t, "invalid_arguments", "candidate_apply", args{"request": args{"op": "prepare", "candidateId": "bulbs", "autoApprove": true}})
}

// Where the project says so nobody is asked, whoever approves the rest, and only
// there.
func TestAuthorized(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"token", "elicit", "command"} {
		t.Run(how, func(t *testing.T) {
			f := sampleProject(t)
			s := f.serve(t, structured, "--proposal-writer", "agent", "-approve", how)
			defer s.stop(t)
			s.stage(t, f, "draft", "plans/drafts/bulbs.md", "# Draft\n")
			if got := s.good(t, "candidate_apply", prepare("draft")); got.CommandStatus != "applied" || got.ProposalToken != "" {
				t.Errorf("got %+v, want it applied at once", got)
			}
			if f.read(t, "plans/drafts/bulbs.md") != "# Draft\n" {
				t.Error("it is not there")
			}
			s.stage(t, f, "plan", "plans/bulbs.md", "# Plan\n")
			if got := s.good(t, "candidate_apply", prepare("plan")); got.CommandStatus != "approval_required" {
				t.Errorf("got %+v, want a question", got)
			}
		})
	}
}

// TestElicit answers the dialog of a client of the SDK, in both eras.
func TestElicit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer mcp.ElicitResult
		want   string // in the payload
		writes bool
	}{
		{"accept", mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "apply"}}, `"commandStatus":"applied"`, true},
		{"accept without a decision", mcp.ElicitResult{Action: "accept"}, `"commandStatus":"approval_required"`, false},
		{"accept with the other decision", mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "reject"}}, `"error"`, false},
		{"decline", mcp.ElicitResult{Action: "decline"}, `"error"`, false},
		{"cancel", mcp.ElicitResult{Action: "cancel"}, `"error"`, false},
	}
	for _, tt := range tests {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				f := sampleProject(t)
				asked := ""
				client := mcp.NewClient(&mcp.Implementation{Name: "any", Version: "1"}, &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked = req.Params.Message
						answer := tt.answer
						return &answer, nil
					},
				})
				cmd := clitest.Command(t, "--project-root", string(f), "--proposal-writer", "agent", "-approve", "elicit")
				session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				call := func(tool string, arguments args) string {
					t.Helper()
					res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
					if err != nil {
						t.Fatal(err)
					}
					return res.Content[len(res.Content)-1].(*mcp.TextContent).Text
				}
				var prepared struct{ StagePath string }
				if err := json.Unmarshal([]byte(call("candidate_prepare", args{"candidateId": "bulbs", "expectedFiles": []string{"plans/bulbs.md"}})), &prepared); err != nil {
					t.Fatal(err)
				}
				f.write(t, prepared.StagePath+"/plans/bulbs.md", "# Plan\n")
				got := call("candidate_apply", prepare("bulbs"))
				if !strings.Contains(got, tt.want) {
					t.Errorf("got %s, want %s in it", got, tt.want)
				}
				if !strings.Contains(asked, "plans/bulbs.md") {
					t.Errorf("the person was asked %q", asked)
				}
				if _, written := f.tree(t)["plans/bulbs.md"]; written != tt.writes {
					t.Errorf("written: %v, want %v", written, tt.writes)
				}
				if err := session.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// The command that a reply tells can be typed in a shell, in any folder, whatever
// the project's folder is called.
func TestApprovalCommandInAShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
	f := folder(filepath.Join(t.TempDir(), "it's $HOME; `x` \"a\" \u00fc"))
	if err := os.CopyFS(string(f), os.DirFS(string(sampleProject(t)))); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, string(f))
	if err != nil {
		t.Fatal(err)
	}
	s := folder(relative).serve(t, structured, "--proposal-writer", "agent", "-approve", "command")
	defer s.stop(t)
	s.stage(t, f, "bulbs", "plans/bulbs.md", "# Plan\n")
	proposed := s.good(t, "candidate_apply", prepare("bulbs"))
	cmd := clitest.Command(t)
	script := `documents() { "$0" "$@"; }; ` + proposed.ApprovalCommand
	cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", script, cmd.Path}, t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "approved ") {
		t.Errorf("%s: %v, %s", proposed.ApprovalCommand, err, out)
	}
	s.good(t, "candidate_apply", apply(proposed.ProposalToken))
}
