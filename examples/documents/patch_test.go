package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
)

// A person carries a changeset out with the patch that is printed, and the server
// sees that it is done.
func TestPatch(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	f := sampleProject(t)
	s := f.serve(t, structured, "--proposal-writer", "agent")
	id := s.changeset(t)
	before := f.tree(t, "docs", ".mcpdocs")
	stdout := f.patch(t, id)
	apply := exec.CommandContext(t.Context(), git, "apply")
	apply.Dir, apply.Stdin = string(f), strings.NewReader(stdout)
	apply.Env = append(apply.Environ(), "GIT_CEILING_DIRECTORIES="+string(f)+"/..")
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, stdout)
	}
	if diff := cmp.Diff(before, f.tree(t, "docs", ".mcpdocs")); diff != "" {
		t.Errorf("files beside the documents (-before +after)\n%s", diff)
	}
	if got := f.read(t, "docs/lamp.md"); !strings.Contains(got, "See the [[library]].") {
		t.Errorf("the update is not there: %s", got)
	}
	s.good(t, "get_node", args{"id": "library"})
	s.refused(t, "node_unknown", "get_node", args{"id": "visitors"})
	if got := s.good(t, "search", args{"query": "logbook"}); len(got.Items) == 0 {
		t.Error("the moved document is not found")
	}
	s.stop(t)
	for _, test := range []struct{ name, args string }{
		{"no id", "patch"},
		{"two ids", "patch " + id + " " + id},
	} {
		if _, stderr, code := clitest.Output(t, append([]string{"--project-root", string(f)}, strings.Fields(test.args)...)...); code != 2 {
			t.Errorf("%s: ended with %d: %s", test.name, code, stderr)
		}
	}
	if _, stderr, code := clitest.Output(t, "--project-root", string(f), "patch", "cs-aaaaaaaaaaaaaaaaaaaaaaaaaa"); code != 1 || !strings.Contains(stderr, "no such changeset") {
		t.Errorf("an unknown id: ended with %d: %s", code, stderr)
	}
}

// In a folder of a repository git apply does nothing, so the help says what does.
func TestPatchInRepository(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	f := sampleProject(t)
	s := f.serve(t, structured, "--proposal-writer", "agent")
	id := s.changeset(t)
	s.stop(t)
	patch := f.patch(t, id)
	top, sub := filepath.Split(string(f))
	for _, args := range [][]string{{"init", "--quiet"}, {"apply", "--directory=" + sub}} {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir, cmd.Stdin = top, strings.NewReader(patch)
		cmd.Env = append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if got := f.read(t, "docs/lamp.md"); !strings.Contains(got, "See the [[library]].") {
		t.Errorf("the update is not there: %s", got)
	}
	_, help, _ := clitest.Output(t, "-h")
	for _, want := range []string{`"git apply"`, `"git apply --directory=SUB"`} {
		if !strings.Contains(help, want) {
			t.Errorf("the help does not name %s:\n%s", want, help)
		}
	}
}

// patch is what the command prints for a changeset.
func (f folder) patch(t *testing.T, id string) string {
	t.Helper()
	stdout, stderr, code := clitest.Output(t, "--project-root", string(f), "patch", id)
	if code != 0 || stderr != "" {
		t.Fatalf("patch ended with %d: %s", code, stderr)
	}
	return stdout
}
