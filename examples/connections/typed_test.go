package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// typed runs a command line as a person types it into a shell, in another folder.
func typed(t *testing.T, line, stdin string) (out string, err error) {
	t.Helper()
	cmd := clitest.Command(t)
	script := `connections() { "$0" "$@"; }; ` + line
	cmd.Path, cmd.Args, cmd.Dir = "/bin/sh", []string{"sh", "-c", script, cmd.Path}, t.TempDir()
	cmd.Stdin = strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// What a reply tells a person to type works in any folder, whatever the folders of
// the vault and of its key are called, and however the server was told of them.
func TestTypedInAnotherFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
	h := newHome(t)
	t.Chdir(h.dir)
	const relative = "it's $HOME; \u00fc"
	flags := []string{"-vault", filepath.Join(relative, "v"), "-key-file", filepath.Join(relative, "k", "key"), "-profile", "work"}
	if out, msgs, code := runCommand(t, "", append(flags, "init")...); code != 0 {
		t.Fatalf("init ended with %d: %s%s", code, out, msgs)
	}
	_, msgs, code := runCommand(t, "", append(flags[:4:4], "-profile", "play", "list")...)
	_, line, _ := strings.Cut(msgs, "`")
	line, _, _ = strings.Cut(line, "`")
	if out, err := typed(t, line, ""); code != 1 || err != nil || !strings.Contains(out, "made the profile play\n") {
		t.Errorf("%s: %v, %s", msgs, err, out)
	}
	s := start(t, peer.Identity{Name: "codex", Version: "1"}, append(flags, "-approve", "command")...)
	proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
	if len(proposed.Proposal.Unresolved) != 1 || proposed.ApprovalCommand == "" {
		t.Fatal(raw)
	}
	var advice string
	for _, note := range proposed.Proposal.Notes {
		if _, line, ok := strings.Cut(note, "a person can set it with `"); ok {
			advice = strings.TrimSuffix(line, "`")
		}
	}
	h.workspace(t)
	if out, err := typed(t, advice, os.Getenv(sampleRoot)); err != nil || out != "stored SAMPLE_WORKSPACE in the profile work\n" {
		t.Errorf("%s: %v, %s", advice, err, out)
	}
	if out, err := typed(t, proposed.ApprovalCommand, ""); err != nil || !strings.HasPrefix(out, "approved ") {
		t.Errorf("%s: %v, %s", proposed.ApprovalCommand, err, out)
	}
	if done, raw := s.call(t, "register_server", apply(proposed.ProposalToken)); done.CommandStatus != "applied" {
		t.Error(raw)
	}
	s.end(t)
}

// TestApproveStale: a person is told that what they are to approve would not be
// done any more, by a program that sees another environment than the server.
func TestApproveStale(t *testing.T) {
	h := newHome(t)
	h.workspace(t)
	s := start(t, peer.Identity{Name: "codex", Version: "1"}, "-approve", "command")
	var ids, tokens []string
	for _, name := range []string{"a", "b", "a"} {
		proposed, raw := s.call(t, "register_server", prepare(args{"text": strings.Replace(pasteSample(t), canary, canary+name+strings.Repeat("x", len(ids)), 1), "name": name}))
		if proposed.ApprovalCommand == "" {
			t.Fatal(raw)
		}
		ids, tokens = append(ids, strings.Fields(proposed.ApprovalCommand)[2]), append(tokens, proposed.ProposalToken)
	}
	if err := os.Unsetenv(sampleRoot); err != nil { // here, and not for the server
		t.Fatal(err)
	}
	if out, msgs, code := runCommand(t, "", "approve"); code != 0 || strings.Contains(out, "CANNOT BE APPROVED") {
		t.Errorf("the list ended with %d: %s%s", code, out, msgs)
	}
	if out, msgs, code := runCommand(t, "", "approve", ids[0]); code != 0 {
		t.Errorf("approve ended with %d: %s%s", code, out, msgs)
	}
	if done, raw := s.call(t, "register_server", apply(tokens[0])); done.CommandStatus != "applied" {
		t.Error(raw)
	}
	// The vault has by now what the one for b would have kept.
	if out, msgs, code := runCommand(t, "", "approve"); code != 0 || strings.Count(out, "CANNOT BE APPROVED") != 2 {
		t.Errorf("the list ended with %d: %s%s", code, out, msgs)
	}
	gone, raw := s.call(t, "remove_server", prepare(args{"name": "a"}))
	if gone.ApprovalCommand == "" {
		t.Fatal(raw)
	}
	if out, msgs, code := runCommand(t, "", "disable", "a"); code != 0 {
		t.Errorf("disable ended with %d: %s%s", code, out, msgs)
	}
	for _, id := range []string{ids[2], strings.Fields(gone.ApprovalCommand)[2]} {
		if out, msgs, code := runCommand(t, "", "approve", id); code != 1 || !strings.Contains(msgs, `"server/a"`) || out != "" {
			t.Errorf("approve %s ended with %d: %s%s", id, code, out, msgs)
		}
	}
	if out, msgs, code := runCommand(t, "", "approve", "reject", ids[2]); code != 0 || !strings.HasPrefix(out, "rejected ") {
		t.Errorf("reject ended with %d: %s%s", code, out, msgs)
	}
	s.end(t)
}

// A secret that a connection refers to is removed all the same, and the person is
// told what now lacks it.
func TestRemoveUsedSecret(t *testing.T) {
	h := newHome(t)
	h.workspace(t)
	s := start(t, peer.Identity{Name: "codex", Version: "1"})
	proposed, raw := s.call(t, "register_server", prepare(args{"text": pasteSample(t)}))
	if done, raw := s.call(t, "register_server", apply(proposed.ProposalToken)); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	s.end(t)
	out, msgs, code := runCommand(t, "", "secret", "rm", "SAMPLE_TOKEN")
	if want := "removed SAMPLE_TOKEN from the profile default\nconnections that refer to it: handbook\n"; code != 0 || out != "" || msgs != want {
		t.Errorf("ended with %d: %s%s, want %s\n%s", code, out, msgs, want, raw)
	}
	if out, _, _ := runCommand(t, "", "secret", "list"); strings.Contains(out, "SAMPLE_TOKEN") {
		t.Errorf("it is still there: %s", out)
	}
}
