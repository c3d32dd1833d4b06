package project_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/examples/internal/project"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

const whole = `schema_version: "1.0"
project: {id: handbook, title: Handbook}
docs: docs
views:
  - {id: review, title: Review, renderer: review}
  - {id: toc, renderer: outline}
outputs:
  - {view: toc, path: site/outline.html}
proposals: {allow: [create, move], kinds: [guide, spec], paths: ["**/*.md"]}
candidates: {allow: ["plans/**/*.md"], authorized: ["plans/drafts/*.md"]}
templates: templates/
roots: {changesets: state/changesets, previews: state/previews, stage: state/stage}
`

func ExampleParse() {
	_, err := project.Parse([]byte(`schema_version: "1.0"
project: {id: handbook}
docs: docs
candidate: {allow: ["**/*.md"]}
`))
	fmt.Println(err)
	// Output: mcpdocs.yaml:4:1: project file: unknown field "candidate"; did you mean "candidates"?
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		want     project.File
	}{
		{"whole", whole, project.File{
			ID: "handbook", Title: "Handbook", Docs: "docs",
			Views: []changeset.View{
				{ID: "review", Title: "Review", Renderer: "review"},
				{ID: "toc", Title: "toc", Renderer: "outline"},
			},
			Outputs: []changeset.Output{{View: "toc", Path: "site/outline.html"}},
			Proposals: changeset.Policy{
				Allow: []changeset.Op{changeset.Create, changeset.Move}, Kinds: []string{"guide", "spec"}, Paths: []string{"**/*.md"},
			},
			Allow: []string{"plans/**/*.md"}, Authorized: []string{"plans/drafts/*.md"},
			Templates: "templates", Changesets: "state/changesets", Previews: "state/previews", Stage: "state/stage",
		}},
		{"least", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: d\ntemplates: ~\n", project.File{
			ID: "a", Title: "a", Docs: "d",
			Views: []changeset.View{
				{ID: "review", Title: "Review", Renderer: "review"},
				{ID: "outline", Title: "Outline", Renderer: "outline"},
			},
			Proposals:  changeset.Policy{Allow: []changeset.Op{"create", "update", "move", "delete"}},
			Changesets: ".mcpdocs/changesets", Previews: ".mcpdocs/previews", Stage: ".mcpdocs/stage",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := project.Parse([]byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Source) != test.in {
				t.Errorf("source %q", got.Source)
			}
			if diff := cmp.Diff(test.want, *got, cmpopts.IgnoreFields(project.File{}, "Source")); diff != "" {
				t.Errorf("file (-want +got)\n%s", diff)
			}
		})
	}
}

// The whole folder may be the documents, with outputs among them that are none.
func TestParseWholeFolder(t *testing.T) {
	got, err := project.Parse([]byte("schema_version: \"1.0\"\nproject: {id: a}\ndocs: .\ntemplates: t\noutputs: [{view: outline, path: site/a.html}]\nroots: {stage: .state/stage}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".mcpdocs", ".mcpdocs/changesets", ".mcpdocs/previews", ".state", ".state/stage", "mcpdocs.yaml", "site/a.html", "t"}
	if diff := cmp.Diff(want, got.Protected()); diff != "" || got.Docs != "." || got.State() != ".state" {
		t.Errorf("docs %q, state %q, protected (-want +got)\n%s", got.Docs, got.State(), diff)
	}
}

func TestState(t *testing.T) {
	for stage, want := range map[string]string{".mcpdocs/stage": ".mcpdocs", "a/b/stage": "a/b", "stage": "stage", "a/candidates": "a/candidates"} {
		if got := (&project.File{Stage: stage}).State(); got != want {
			t.Errorf("staged in %q: state in %q, want %q", stage, got, want)
		}
	}
}

func TestParseNothingAllowed(t *testing.T) {
	got, err := project.Parse([]byte("schema_version: \"1.0\"\nproject: {id: a}\ndocs: d\nviews: []\nproposals: {allow: []}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Proposals.Allow) != 0 || len(got.Views) != 0 {
		t.Errorf("allowed %v, views %v, want none", got.Proposals.Allow, got.Views)
	}
}

func TestFaults(t *testing.T) {
	const head = "schema_version: \"1.0\"\nproject: {id: a}\ndocs: docs\n"
	tests := []struct {
		name, in string
		want     []string // each is contained in the fault of its place
	}{
		{"empty", "", []string{":1:1: "}},
		{"not fields", "[a]", []string{":1:1: project file: expected fields, found a list"}},
		{"all missing", "{}", []string{"schema_version is missing", "project is missing", "docs is missing"}},
		{"version as a number", strings.Replace(head, `"1.0"`, "1.0", 1), []string{`:1:17: schema_version: this release reads version "1.0", in quotes`}},
		{"later version", strings.Replace(head, `"1.0"`, `"2.0"`, 1), []string{":1:17: schema_version: "}},
		{"repeated key", head + "docs: other\n", []string{":4:1: "}},
		{"id", "schema_version: \"1.0\"\nproject: {id: A b}\ndocs: docs\n", []string{`:2:15: project.id: "A b" is no id`}},
		{"misspelt", head + "view: []\n", []string{`unknown field "view"; did you mean "views"?`}},
		{"docs leads out", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: ../docs\n", []string{":3:7: docs: "}},
		{"docs not clean", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: ./docs\n", []string{`"./docs" is not clean; write "docs"`}},
		{"docs is a number", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: 7\n", []string{"expected a text, found the value \"7\"; put it in quotes"}},
		{"renderer", head + "views:\n- {id: a, renderer: html}\n", []string{`:5:3: views: no renderer "html"; there are review and outline`}},
		{"view twice", head + "views:\n- {id: a, renderer: review}\n- {id: a, renderer: outline}\n", []string{`:6:3: views: the view "a" is declared twice`}},
		{"output without view", head + "outputs:\n- {view: none, path: a.html}\n", []string{`:5:3: outputs: no view "none" is declared`}},
		{"output in docs", head + "outputs:\n- {view: outline, path: docs/a.html}\n", []string{"overlaps what it is made from"}},
		{"outputs in one place", head + "outputs:\n- {view: outline, path: a.html}\n- {view: review, path: A.html}\n", []string{`:6:3: outputs: "A.html" is the place of another output`}},
		{"operation", head + "proposals: {allow: [apply]}\n", []string{`no operation "apply"`}},
		{"pattern", head + "proposals: {paths: [\"a/[\"]}\n", []string{`"a/[" is no pattern`}},
		{"root in docs", head + "roots: {stage: docs/stage}\n", []string{`:4:16: roots.stage: "docs/stage" overlaps "docs"`}},
		{"roots overlap", head + "roots: {stage: s, previews: s/p}\n", []string{`:4:29: roots.previews: "s/p" overlaps "s"`}},
		{"candidates in docs", head + "candidates: {allow: [\"docs/*\"]}\n", []string{`:4:22: candidates.allow: "docs/*" could match "docs"`}},
		{"candidates everywhere", head + "candidates: {allow: [\"**\"]}\n", []string{`"**" could match`}},
		{"candidates in docs, other case", head + "candidates: {allow: [\"Docs/a.md\"]}\n", []string{`could match "docs"`}},
		{"authorized in state", head + "candidates: {authorized: [\".mcpdocs/x\"]}\n", []string{`candidates.authorized: ".mcpdocs/x" could match ".mcpdocs"`}},
		{"candidates on the project file", head + "candidates: {allow: [\"*.yaml\"]}\n", []string{`could match "mcpdocs.yaml"`}},
		{
			"candidates on an output", head + "outputs: [{view: outline, path: site/a.html}]\ncandidates: {allow: [\"site/*.html\"]}\n",
			[]string{`could match "site/a.html"`},
		},
		{"candidates in templates", head + "templates: t\ncandidates: {allow: [\"*/x\"]}\n", []string{`"*/x" could match`}},
		{"candidates beside a moved root", head + "roots: {stage: state/stage}\ncandidates: {allow: [\"state/tokens/x\"]}\n", []string{`could match "state"`}},
		{"candidates in docs that are the whole folder", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: .\ncandidates: {allow: [\"plans/*\"]}\n", []string{`:4:22: candidates.allow: "plans/*" lies among the documents`}},
		{"root among documents", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: .\nroots: {previews: out}\n", []string{`:4:19: roots.previews: "out" lies among the documents`}},
		{"output that is a document", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: .\noutputs: [{view: outline, path: a.MD}]\n", []string{`"a.MD" overlaps what it is made from`}},
		{"docs in the default roots", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: .mcpdocs/docs\n", []string{`:3:7: docs: ".mcpdocs/docs" overlaps ".mcpdocs"`}},
		{"docs is this file", "schema_version: \"1.0\"\nproject: {id: a}\ndocs: MCPdocs.yaml\n", []string{`:3:7: docs: "MCPdocs.yaml" overlaps "mcpdocs.yaml"`}},
		{"root on a default root", head + "roots: {previews: .mcpdocs/changesets/x}\n", []string{`:4:19: roots.previews: ".mcpdocs/changesets/x" overlaps ".mcpdocs/changesets"`}},
		{"root on the approvals", head + "roots: {previews: state/Tokens, stage: state/stage}\n", []string{`roots.previews: "state/Tokens" overlaps "state/tokens"`}},
		{"docs beside staged files", head[:len(head)-5] + "state/docs\nroots: {stage: state/stage}\n", []string{`roots.stage: "state" overlaps "state/docs"`}},
		{"output in templates", head + "templates: t\noutputs: [{view: outline, path: t/a.html}]\n", []string{`:5:11: outputs: "t/a.html" overlaps "t"`}},
		{"candidates in a moved root", head + "roots: {stage: state}\ncandidates: {allow: [\"state/x\"]}\n", []string{`could match "state"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := project.Parse([]byte(test.in))
			var e *project.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a *project.Error", err)
			}
			if len(e.Faults) != len(test.want) {
				t.Fatalf("faults %q, want %d", e.Faults, len(test.want))
			}
			for i, want := range test.want {
				if !strings.HasPrefix(e.Faults[i], project.Name+":") || !strings.Contains(e.Faults[i], want) {
					t.Errorf("fault %q, want one with %q", e.Faults[i], want)
				}
			}
			if e.ErrorCode() != "project_invalid" {
				t.Errorf("code %q", e.ErrorCode())
			}
		})
	}
}

func TestManyFaults(t *testing.T) {
	_, err := project.Parse([]byte("schema_version: \"1.0\"\nproject: {id: a}\ndocs: docs\nviews: [" + strings.Repeat("x, ", 500) + "]\n"))
	var e *project.Error
	if !errors.As(err, &e) || len(e.Faults) != 101 || e.Faults[100] != "mcpdocs.yaml: and 400 more" {
		t.Errorf("error %.300v, want 100 faults and how many more", err)
	}
}

func TestProtected(t *testing.T) {
	f, err := project.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".mcpdocs", "docs", "mcpdocs.yaml", "site/outline.html", "state", "state/changesets", "state/previews", "state/stage", "templates",
	}
	if diff := cmp.Diff(want, f.Protected()); diff != "" {
		t.Errorf("protected (-want +got)\n%s", diff)
	}
}

func TestView(t *testing.T) {
	f, err := project.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.View("toc"); err != nil || v.Renderer != "outline" {
		t.Errorf("view %v, %v", v, err)
	}
	if _, err := f.View("none"); err == nil || err.Error() != `no view "none"; there are review, toc` {
		t.Errorf("error %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := project.Load(filepath.Join(dir, "none")); err == nil || rootfs.CodeOf(err) != rootfs.NotFound {
		t.Errorf("no folder: %v", err)
	}
	if _, err := project.Load(dir); err == nil || !strings.Contains(err.Error(), "there is no mcpdocs.yaml") {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, project.Name), []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := project.Load(dir); err != nil || f.ID != "handbook" {
		t.Errorf("loaded %v, %v", f, err)
	}
	if err := os.WriteFile(filepath.Join(dir, project.Name), make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Load(dir); rootfs.CodeOf(err) != rootfs.TooLarge {
		t.Errorf("large file: %v", err)
	}
}

// What Parse accepts has paths that the layers below accept, and patterns that
// reach nothing protected.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("schema_version: \"1.0\"\nproject: {id: a}\ndocs: d\nroots: {stage: D}\n"))
	f.Add([]byte("candidates: {allow: [\"[d]ocs/*\"]}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := project.Parse(src)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		for _, path := range p.Protected() {
			if err := rootfs.Check(path); err != nil {
				t.Fatalf("accepted the path %q: %v", path, err)
			}
		}
		if p.ID == "" || p.Title == "" || p.Docs == "" {
			t.Fatalf("accepted without %+v", p)
		}
	})
}
