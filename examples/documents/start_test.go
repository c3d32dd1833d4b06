package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
)

const head = "schema_version: \"1.0\"\nproject: {id: lighthouse}\ndocs: docs\n"

// What is wrong with a project is said at the start, with the place, and nothing
// is written.
func TestRefusedAtStart(t *testing.T) {
	t.Parallel()
	project := func(text string) func(f folder) error {
		return func(f folder) error { return os.WriteFile(f.path("mcpdocs.yaml"), []byte(text), 0o600) }
	}
	// link puts a link to a whole copy in the place of a file or folder.
	link := func(name string) func(f folder) error {
		return func(f folder) error {
			if err := os.Rename(f.path(name), f.path("real")); err != nil {
				return err
			}
			return os.Symlink(f.path("real"), f.path(name))
		}
	}
	tests := []struct {
		name  string
		setUp func(f folder) error
		want  []string // in the message
	}{
		{"candidates in the documents", project(head + "candidates: {allow: [\"docs/**\"]}\n"), []string{`mcpdocs.yaml:4:22: candidates.allow: "docs/**" could match "docs"`}},
		{"candidates in a part of the documents", project(head + "candidates: {allow: [\"plans/*.md\", \"*/guides/x.md\"]}\n"), []string{`mcpdocs.yaml:4:36: candidates.allow: "*/guides/x.md" could match `}},
		{"candidates in the documents, other case", project(head + "candidates: {allow: [\"DOCS/a.md\"]}\n"), []string{`:4:22: `, `could match "docs"`}},
		{"candidates anywhere", project(head + "candidates: {allow: [\"**/*.md\"]}\n"), []string{`:4:22: `}},
		{"candidates on an output", project(head + "outputs: [{view: outline, path: site/a.html}]\ncandidates: {allow: [\"site/*\"]}\n"), []string{`:5:22: `, `"site/a.html"`}},
		{"candidates above an output", project(head + "outputs: [{view: outline, path: site/a.html}]\ncandidates: {allow: [\"site\"]}\n"), nil},
		{"candidates on the project file", project(head + "candidates: {allow: [\"mcpdocs.*\"]}\n"), []string{`:4:22: `, `"mcpdocs.yaml"`}},
		{"candidates in the templates", project(head + "templates: templates\ncandidates: {allow: [\"templates/x.md\"]}\n"), []string{`:5:22: `, `"templates"`}},
		{"candidates in the state", project(head + "candidates: {allow: [\".mcpdocs/changesets/*\"]}\n"), []string{`:4:22: `, `".mcpdocs"`}},
		{"candidates in a moved state", project(head + "roots: {stage: state/stage}\ncandidates: {allow: [\"state/tokens/*\"]}\n"), []string{`:5:22: `, `"state"`}},
		{"authorized in the documents", project(head + "candidates: {authorized: [\"docs/*\"]}\n"), []string{`:4:27: candidates.authorized: `, `"docs"`}},
		{"candidates on git", project(head + "candidates: {allow: [\".git/*\"]}\n"), nil},
		{"several faults", project("schema_version: 1\nproject: {}\ndocs: /etc\nview: []\n"), []string{":1:17: ", ":2:10: project: id is missing", ":3:7: docs: ", `:4:1: project file: unknown field "view"`}},
		{"not YAML", project("a: [\n"), []string{"mcpdocs.yaml:"}},
		{"not UTF-8", project("a: \xff\n"), []string{"mcpdocs.yaml:1:"}},
		{"docs outside", project("schema_version: \"1.0\"\nproject: {id: a}\ndocs: ../docs\n"), []string{":3:7: docs: "}},
		{"project file is missing", func(f folder) error { return os.Remove(f.path("mcpdocs.yaml")) }, []string{"there is no mcpdocs.yaml in ", "schema_version, project and docs"}},
		{"project file is a link", link("mcpdocs.yaml"), []string{`"mcpdocs.yaml"`, "link"}},
		{"project file is a folder", func(f folder) error {
			if err := os.Remove(f.path("mcpdocs.yaml")); err != nil {
				return err
			}
			return os.Mkdir(f.path("mcpdocs.yaml"), 0o700)
		}, []string{`"mcpdocs.yaml"`}},
		{"docs are missing", func(f folder) error { return os.RemoveAll(f.path("docs")) }, []string{`"docs"`, "make the folder, or declare another"}},
		{"docs are a link", link("docs"), []string{`"docs"`, "link"}},
		{"docs are a file", project("schema_version: \"1.0\"\nproject: {id: a}\ndocs: plans/painting.md\n"), []string{`"plans/painting.md"`}},
		{"templates are missing", func(f folder) error { return os.RemoveAll(f.path("templates")) }, []string{`"templates"`}},
		{"templates are a link", link("templates"), []string{`"templates"`, "link"}},
		{"templates have no catalog", func(f folder) error { return os.Remove(f.path("templates/templates.yaml")) }, []string{"templates in templates: ", "templates.yaml"}},
		{"the state is a link", func(f folder) error {
			if err := os.Mkdir(f.path("elsewhere"), 0o700); err != nil {
				return err
			}
			return os.Symlink(f.path("elsewhere"), f.path(".mcpdocs"))
		}, []string{`".mcpdocs`, "link"}},
		{"the approvals are a link into the documents", func(f folder) error {
			if err := os.Mkdir(f.path(".mcpdocs"), 0o700); err != nil {
				return err
			}
			return os.Symlink("../docs", f.path(".mcpdocs/tokens"))
		}, []string{`".mcpdocs/tokens"`, "link"}},
		{"the state is a file", func(f folder) error { return os.WriteFile(f.path(".mcpdocs"), nil, 0o600) }, []string{`".mcpdocs`}},
		{"the folder is missing", func(f folder) error { return os.RemoveAll(string(f)) }, []string{"open project: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sampleProject(t)
			if err := tt.setUp(f); err != nil {
				t.Fatal(err)
			}
			if tt.want == nil {
				s := f.serve(t, structured, "--proposal-writer", "agent")
				s.stop(t)
				return
			}
			var before map[string]string
			if _, err := os.Stat(string(f)); err == nil {
				before = f.tree(t)
			}
			stdout, stderr, code := clitest.Output(t, "--project-root", string(f), "--proposal-writer", "agent")
			if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "error: ") {
				t.Errorf("ended with %d: %s%s", code, stdout, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr: got %q, want %q in it", stderr, want)
				}
			}
			if before == nil {
				return
			}
			if diff := cmp.Diff(before, f.tree(t)); diff != "" {
				t.Errorf("files (-before +after)\n%s", diff)
			}
		})
	}
}

// A writer needs a name that approvals can hold.
func TestWriterName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"\u202ex", "\u200d", "two\nlines"} {
		f := sampleProject(t)
		before := f.tree(t)
		stdout, stderr, code := clitest.Output(t, "--project-root", string(f), "--proposal-writer", name)
		if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "error: ") || strings.Contains(stderr, name) {
			t.Errorf("%q: ended with %d: %s%s", name, code, stdout, stderr)
		}
		if diff := cmp.Diff(before, f.tree(t)); diff != "" {
			t.Errorf("%q: files (-before +after)\n%s", name, diff)
		}
	}
}

// Who only reads does so where approvals cannot be read: status says that it does
// not know how many wait.
func TestReadsBesideBrokenApprovals(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	f.write(t, ".mcpdocs/tokens/approvals.log/folder", "in place of the log")
	s := f.serve(t, structured)
	if n := s.good(t, "project_status", nil).Approvals.Pending; n != -1 {
		t.Errorf("%d approvals wait, want -1 for what nobody can tell", n)
	}
	s.good(t, "get_node", args{"id": "lamp"})
	s.stop(t)
}
