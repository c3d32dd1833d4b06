package main

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostileValues are what a tool may be sent for any argument.
func hostileValues() []any {
	return []any{
		"../../docs/lamp.md", "/etc/passwd", "docs/lamp.md", "docs", "mcpdocs.yaml", "lamp", "lamp.md", "review", "outline", "site/outline.html",
		"templates/plan.md", ".mcpdocs/tokens/approvals.log", ".git/hooks/pre-commit", "plans/../docs/lamp.md", "plans//x.md", "plans/x.md",
		"a\x00b", `C:\x`, `\\host\share`, "file:///etc/passwd", "$(touch pwned)", "`touch pwned`", "; touch pwned", "{{.}}", "\u202e", "",
		strings.Repeat("x", 5000), strings.Repeat("../", 400) + "x", "apply", 0, -1, 1e300, true, nil,
		[]any{"x"},
		[]any{"../x"},
		[]any{},
		map[string]any{"apply": true},
		map[string]any{},
	}
}

// hostileCalls are the arguments to call a tool with: every value alone in every
// place, beside good ones.
func hostileCalls(tool *listedTool, good args) []args {
	names := slices.Sorted(maps.Keys(tool.InputSchema.Properties))
	calls := []args{{}, {"unknown": 1}}
	for _, value := range hostileValues() {
		all := args{}
		for _, name := range names {
			all[name] = value
			one := args{name: value}
			for other := range tool.InputSchema.Properties {
				if g, ok := good[other]; ok && other != name && slices.Contains(tool.InputSchema.Required, other) {
					one[other] = g
				}
			}
			calls = append(calls, one)
		}
		calls = append(calls, all)
		if tool.Name == "candidate_apply" {
			for _, request := range []args{
				{"op": value},
				{"op": "prepare", "candidateId": value},
				{"op": "apply", "proposalToken": value},
				{"op": "apply", "proposalToken": good["proposalToken"], "candidateId": value},
				{"op": "prepare", "candidateId": "sly", "path": value},
			} {
				calls = append(calls, args{"request": request})
			}
		}
	}
	return calls
}

// TestNothingCanonicalChanges calls every tool of a real server with hostile
// arguments and compares all files but those that the server keeps, inside the
// project and around it.
func TestNothingCanonicalChanges(t *testing.T) {
	t.Parallel()
	around := folder(t.TempDir())
	f := folder(around.path("project"))
	if err := os.CopyFS(string(f), os.DirFS(string(sampleProject(t)))); err != nil {
		t.Fatal(err)
	}
	f.replace(t, "mcpdocs.yaml", `"plans/**/*.md"`, `"plans/**/*.md", ".git/**"`)
	f.write(t, ".git/config", "[core]\n")
	f.write(t, "site/outline.html", "<p>old</p>\n")
	around.write(t, "outside.md", "# Outside\n")
	if err := os.Symlink(around.path("outside.md"), f.path("docs/link.md")); err != nil {
		t.Fatal(err)
	}
	before := around.tree(t, "project/.mcpdocs")
	s := f.serve(t, structured, "--proposal-writer", "agent")
	id := s.changeset(t)
	s.stageLinks(t, f)
	s.stage(t, f, "bulbs", "plans/bulbs.md", "# Plan\n")
	token := s.good(t, "candidate_apply", prepare("bulbs")).ProposalToken
	good := args{
		"changesetId": id, "id": "night-watch", "view": "review", "candidateId": "sly", "expectedFiles": []string{"plans/x.md"}, "ids": []string{"plan"},
		"title": "T", "kind": "guide", "path": "new.md", "text": "# T\n", "query": "lamp", "proposalToken": token,
	}
	list, _ := s.tools(t)
	calls, accepted := 0, 0
	for i := range list {
		for _, arguments := range hostileCalls(&list[i], good) {
			reply, err := s.Call(list[i].Name, arguments)
			if err != nil {
				t.Fatalf("%s %.300v: %v; stderr: %s", list[i].Name, arguments, err, s.Stderr())
			}
			if _, _, failed := reply.Payload(); !failed && reply.Error == nil {
				accepted++
			}
			if reply.Bytes > 40_000 {
				t.Errorf("%s %.100v: a reply of %d bytes", list[i].Name, arguments, reply.Bytes)
			}
			calls++
		}
		if diff := cmp.Diff(before, around.tree(t, "project/.mcpdocs")); diff != "" {
			t.Fatalf("after %s files changed (-before +after)\n%s", list[i].Name, diff)
		}
		if children := childrenOf(t, s.Cmd.Process.Pid); len(children) > 0 {
			t.Fatalf("after %s the server has the children %v", list[i].Name, children)
		}
	}
	if got := s.good(t, "search", args{"query": "outside"}); len(got.Items) > 0 {
		t.Errorf("a link was followed: %v", got.Items)
	}
	s.stop(t)
	t.Logf("%d calls, of which %d were accepted", calls, accepted)
	if calls < 2000 || accepted < 100 {
		t.Error("too few to show anything")
	}
}

// stageLinks prepares candidates whose files lead elsewhere, which can be neither
// inspected nor proposed.
func (s *server) stageLinks(t *testing.T, f folder) {
	t.Helper()
	to := s.good(t, "candidate_prepare", args{"candidateId": "links", "expectedFiles": []string{"plans/lamp.md"}}).StagePath
	if err := os.MkdirAll(f.path(to+"/plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(f.path("docs/lamp.md"), f.path(to+"/plans/lamp.md")); err != nil {
		t.Fatal(err)
	}
	s.refused(t, "candidate_unsafe", "candidate_inspect", args{"candidateId": "links"})
	s.refused(t, "candidate_unsafe", "candidate_apply", prepare("links"))
	for _, file := range []string{".git/config", "docs/lamp.md", "mcpdocs.yaml", "site/outline.html", "templates/plan.md", ".mcpdocs/lock", "plans/../docs/x.md", "plans/x.txt"} {
		a := s.call(t, "candidate_prepare", args{"candidateId": "sly", "expectedFiles": []string{file}})
		if !a.failed {
			t.Errorf("%s may be staged: %s", file, a.payload)
		}
	}
}

// Nothing that the server is built from can start a process but the SDK, whose
// client does.
func TestStartsNoProcess(t *testing.T) {
	t.Parallel()
	const format = `{{if not .Standard}}{{range .Imports}}{{if eq . "os/exec"}}{{$.ImportPath}}{{"\n"}}{{end}}{{end}}{{end}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff("github.com/modelcontextprotocol/go-sdk/mcp\n", string(out)); diff != "" {
		t.Errorf("packages that can start processes (-want +got)\n%s", diff)
	}
}
