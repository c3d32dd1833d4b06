package registry_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
	"github.com/mcpcontract/mcpcontract/registry"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// problems gives the problems of an error of this package.
func problems(t *testing.T, err error) []registry.Problem {
	t.Helper()
	var e *registry.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v of type %T, want *registry.Error", err, err)
	}
	return e.Problems
}

// report writes problems for a golden file, one on a line.
func report(problems []registry.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s %s %v\n", p.Severity, p.Code, p)
	}
	return b.String()
}

// golden runs the cases of archives: each file NAME of an archive is read, and the result compared with the
// file NAME.want. The text before the first file says what the archive is about.
func golden(t *testing.T, pattern string, run func(t *testing.T, name string, data []byte) string) {
	t.Helper()
	archives, err := filepath.Glob(pattern)
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives at %s: %v", pattern, err)
	}
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]string)
		var inputs []txtar.File
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				want[name] = string(f.Data)
			} else {
				inputs = append(inputs, f)
			}
		}
		a.Files = nil
		for _, f := range inputs {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got := run(t, f.Name, f.Data)
				a.Files = append(a.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
				if diff := cmp.Diff(want[f.Name], got); diff != "" && !*update {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestParseGolden reads registries and compares their problems. Files with "allowed" in their name are read
// with an allowed set of classes.
func TestParseGolden(t *testing.T) {
	golden(t, "testdata/load/*.txtar", func(t *testing.T, name string, data []byte) string {
		t.Helper()
		opts := &registry.ParseOptions{File: name, Root: "/ws"}
		if strings.Contains(name, "allowed") {
			opts.Classes = []string{"application", "library"}
		}
		reg, err := registry.Parse(data, opts)
		if err != nil {
			return report(problems(t, err))
		}
		return report(reg.Warnings()) + fmt.Sprintf("loaded, %d repos in %s\n", reg.Len(), reg.Root())
	})
}

const sample = `schema_version: "1.0"
kind: workspace_registry
x-team: {name: "docs", size: 3}
defaults:
  owner: platform
  authority_order: [repo_owner_rules, repo_spec]
  manifest_path: docs/agent/manifest.yaml
repos:
  - repo_id: svc
    path: services/svc/
    former_ids: [old-svc]
    superseded_by: lib
    manifest_source: repo
    entrypoints: [README.md, "docs/monitoring areas/起点.md"]
    resource_roots: {docs: [docs, doc/], adr: docs/adr}
    repo_class: application
    lifecycle: transitional
    views: {start-here: docs/start.md}
    signals: {has_docs: true, has_adr: true, has_mkdocs: false, has_intents: true}
    evidence: {has_adr: "docs/adr: 3 records"}
    safe_to_probe: true
    entrypoint_status: {README.md: present, docs/start.md: missing, doc: not-a-file}
    components:
      - {id: api, labels: [go, http], paths: {src: api}}
    origin: overridden
    locked: [owner, views]
    x-note: {a: [1, "x", null, true, 1.5]}
  - repo_id: lib
    manifest_source: generated
    entrypoints: [README.md]
    authority_order: [repo_spec]
    owner: ""
    superseded_by: null
`

const sampleJSON = `{
  "$schema": "schema.json",
  "schema_version": "1.0", "kind": "workspace_registry", "x-team": {"name": "docs", "size": 3},
  "repos": [
    {"repo_id": "svc", "path": "services/svc/", "former_ids": ["old-svc"], "superseded_by": "lib",
     "manifest_source": "repo",
     "entrypoints": ["README.md", "docs/monitoring areas/\u8d77点.md"],
     "resource_roots": {"docs": ["docs", "doc/"], "adr": "docs/adr"},
     "repo_class": "application", "lifecycle": "transitional", "views": {"start-here": "docs/start.md"},
     "signals": {"has_docs": true, "has_adr": true, "has_mkdocs": false, "has_intents": true},
     "evidence": {"has_adr": "docs/adr: 3 records"}, "safe_to_probe": true,
     "entrypoint_status": {"README.md": "present", "docs/start.md": "missing", "doc": "not-a-file"},
     "components": [{"id": "api", "labels": ["go", "http"], "paths": {"src": "api"}}],
     "origin": "overridden", "locked": ["owner", "views"], "x-note": {"a": [1, "x", null, true, 1.5]}},
    {"repo_id": "lib", "manifest_source": "generated", "entrypoints": ["README.md"],
     "authority_order": ["repo_spec"], "owner": "", "superseded_by": null}
  ],
  "defaults": {"owner": "platform", "authority_order": ["repo_owner_rules", "repo_spec"], "manifest_path": "docs/agent/manifest.yaml"}
}
`

const sampleTOML = `schema_version = "1.0"
kind = "workspace_registry"
x-team = { name = "docs", size = 3 }

[defaults]
owner = "platform"
authority_order = ["repo_owner_rules", 'repo_spec']
manifest_path = "docs/agent/manifest.yaml"

[[repos]]
repo_id = "svc"
path = "services/svc/"
former_ids = ["old-svc"]
superseded_by = "lib"
manifest_source = "repo"
entrypoints = [
  "README.md", # the start
  "docs/monitoring areas/\u8d77点.md",
]
repo_class = """application"""
lifecycle = "transitional"
views.start-here = "docs/start.md"
signals = { has_docs = true, has_adr = true, has_mkdocs = false, has_intents = true }
evidence = { has_adr = "docs/adr: 3 records" }
safe_to_probe = true
origin = "overridden"
locked = ["owner", "views"]
x-note = { a = [1, "x", "null", true, 1.5] }
[repos.resource_roots]
docs = ["docs", "doc/"]
adr = "docs/adr"
[repos.entrypoint_status]
"README.md" = "present"
"docs/start.md" = 'missing'
doc = "not-a-file"
[[repos.components]]
id = "api"
labels = ["go", "http"]
paths = { src = "api" }

[[repos]]
repo_id = "lib"
manifest_source = "generated"
entrypoints = ["README.md"]
authority_order = ["repo_spec"]
owner = ""
`

func sampleRepos() []registry.Repo {
	return []registry.Repo{
		{
			ID: "lib", Path: "lib", ManifestSource: registry.SourceGenerated, Entrypoints: []string{"README.md"},
			AuthorityOrder: []string{"repo_spec"}, Lifecycle: registry.Active,
		},
		{
			ID: "svc", Path: "services/svc", FormerIDs: []string{"old-svc"}, SupersededBy: "lib",
			ManifestSource: registry.SourceRepo, ManifestPath: "docs/agent/manifest.yaml",
			Entrypoints:    []string{"README.md", "docs/monitoring areas/起点.md"},
			ResourceRoots:  []registry.ResourceRoot{{Type: "adr", Paths: []string{"docs/adr"}}, {Type: "docs", Paths: []string{"docs", "doc"}}},
			AuthorityOrder: []string{"repo_owner_rules", "repo_spec"},
			Class:          "application", Lifecycle: registry.Transitional, Owner: "platform",
			Views:       map[string]string{"start-here": "docs/start.md"},
			Signals:     registry.Signals{HasDocs: true, HasADR: true, HasIntents: true},
			Evidence:    map[string]string{"has_adr": "docs/adr: 3 records"},
			SafeToProbe: true,
			EntrypointStatus: map[string]registry.EntrypointStatus{
				"README.md": registry.StatusPresent, "docs/start.md": registry.StatusMissing, "doc": registry.StatusNotAFile,
			},
			Components: []registry.Component{{
				ID: "api", Labels: []string{"go", "http"}, Roots: []registry.ResourceRoot{{Type: "src", Paths: []string{"api"}}},
			}},
			Origin: "overridden", Locked: []string{"owner", "views"},
			Extensions: map[string]json.RawMessage{"x-note": json.RawMessage(`{"a":[1,"x",null,true,1.5]}`)},
		},
	}
}

func TestParse(t *testing.T) {
	toml := sampleRepos()
	toml[1].Extensions["x-note"] = json.RawMessage(`{"a":[1,"x","null",true,1.5]}`) // TOML has no null
	tests := []struct {
		name, text string
		want       []registry.Repo
	}{
		{"registry.yaml", sample, sampleRepos()},
		{"registry.json", sampleJSON, sampleRepos()},
		{"registry.toml", sampleTOML, toml},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg, err := registry.Parse([]byte(tt.text), &registry.ParseOptions{File: tt.name, Root: "/ws"})
			if err != nil {
				t.Fatal(report(problems(t, err)))
			}
			var got []registry.Repo
			for r := range reg.Repos() {
				got = append(got, r)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(map[string]json.RawMessage{"x-team": json.RawMessage(`{"name":"docs","size":3}`)}, reg.Extensions()); diff != "" {
				t.Errorf("extensions (-want +got)\n%s", diff)
			}
			if got := reg.Warnings(); len(got) != 0 {
				t.Errorf("warnings: %v", got)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	reg := parse(t, sample)
	tests := []struct {
		ask, want string
		ok        bool
	}{
		{"svc", "svc", true},
		{"lib", "lib", true},
		{"old-svc", "svc", true},
		{"SVC", "", false},
		{"", "", false},
		{"sv", "", false},
	}
	for _, tt := range tests {
		if got, ok := reg.Lookup(tt.ask); got.ID != tt.want || ok != tt.ok {
			t.Errorf("Lookup(%q): got %q, %v, want %q, %v", tt.ask, got.ID, ok, tt.want, tt.ok)
		}
	}
	if n := testing.AllocsPerRun(100, func() { reg.Lookup("old-svc") }); n > 0 {
		t.Errorf("Lookup allocates %v times, want 0", n)
	}
}

func TestZeroRegistry(t *testing.T) {
	var reg registry.Registry
	if _, ok := reg.Lookup("x"); ok || reg.Len() != 0 || reg.Digest() != "" {
		t.Error("the zero value must be an empty registry")
	}
	for r := range reg.Repos() {
		t.Errorf("unexpected %v", r)
	}
}

func TestReposStops(t *testing.T) {
	n := 0
	for range parse(t, sample).Repos() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("got %d entries after a break, want 1", n)
	}
}

// parse reads a registry that must have no faults.
func parse(t *testing.T, text string) *registry.Registry {
	t.Helper()
	reg, err := registry.Parse([]byte(text), &registry.ParseOptions{Root: t.TempDir()})
	if err != nil {
		t.Fatal(report(problems(t, err)))
	}
	return reg
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"r.yaml": sample, "r.yml": sample, "r.JSON": sampleJSON, "r.toml": sampleTOML} {
		file := filepath.Join(resolved, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		reg, err := registry.Load(file, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if reg.Root() != resolved {
			t.Errorf("%s: root %q, want %q", name, reg.Root(), resolved)
		}
		if reg.Len() != 2 || len(reg.Digest()) != 64 {
			t.Errorf("%s: %d repos, digest %q", name, reg.Len(), reg.Digest())
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	big := write("big.yaml", nil)
	if err := os.Truncate(big, 8<<20+1); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file string
		opts       *registry.ParseOptions
		code       registry.Code
		place      int // line and column; 0 for what was not read
		is         error
	}{
		{"missing", filepath.Join(dir, "none.yaml"), nil, registry.Unreadable, 0, os.ErrNotExist},
		{"folder", dir + "/sub.yaml", nil, registry.Unreadable, 0, nil},
		{"unknown format", write("r.xml", nil), nil, registry.FormatUnknown, 0, nil},
		{"no extension", write("registry", nil), nil, registry.FormatUnknown, 0, nil},
		{"too large", big, nil, registry.TooLarge, 1, nil},
		{"over the given limit", write("r.json", []byte(sampleJSON)), &registry.ParseOptions{MaxBytes: 100}, registry.TooLarge, 1, nil},
		{"empty", write("empty.yaml", nil), nil, registry.Empty, 1, nil},
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := registry.Load(tt.file, tt.opts)
			got := problems(t, err)
			if len(got) != 1 || got[0].Code != tt.code || got[0].File != tt.file || got[0].Line != tt.place || got[0].Column != tt.place {
				t.Errorf("got %+v, want code %s at %d:%d of %s", got, tt.code, tt.place, tt.place, tt.file)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
		})
	}
}

func TestRoot(t *testing.T) {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const text = "schema_version: \"1.0\"\nkind: workspace_registry\nrepos: []\nworkspace_root: %s\n"
	tests := []struct {
		name, given string
		opts        *registry.ParseOptions
		want        string
	}{
		{"option", ".", &registry.ParseOptions{Root: "/ws"}, "/ws"},
		{"below", "a/b", &registry.ParseOptions{Root: "/ws"}, "/ws/a/b"},
		{"above", "../..", &registry.ParseOptions{Root: "/a/b/c"}, "/a"},
		{"beside", "../x", &registry.ParseOptions{File: "/a/b/r.yaml"}, "/a/x"},
		{"absolute", "/other", &registry.ParseOptions{Root: "/ws"}, "/other"},
		{"relative file", ".", &registry.ParseOptions{File: "sub/r.yaml"}, filepath.Join(cwd, "sub")},
		{"nothing given", ".", nil, cwd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg, err := registry.Parse(fmt.Appendf(nil, text, tt.given), tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if reg.Root() != tt.want {
				t.Errorf("got %q, want %q", reg.Root(), tt.want)
			}
		})
	}
}

func TestFormatWithoutName(t *testing.T) {
	for name, text := range map[string]string{"JSON": sampleJSON, "JSON after blanks": "\n \t" + sampleJSON, "YAML": sample} {
		if _, err := registry.Parse([]byte(text), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDigestIsOfTheBytes(t *testing.T) {
	a, b := parse(t, sample), parse(t, sample+"\n")
	if a.Digest() == b.Digest() || a.Digest() != parse(t, sample).Digest() {
		t.Error("the digest must change with the bytes, and only with them")
	}
}

func TestProblemForms(t *testing.T) {
	_, err := registry.Parse([]byte("schema_version: 1.0\nkind: workspace_registry\nrepos:\n- repo_id: a\n  manifest_source: generated\n  entrypoints: x\n"),
		&registry.ParseOptions{File: "r.yaml"})
	var e *registry.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := `r.yaml:1:17: schema_version: a version is text, since 1.10 is not 1.1; write "1.0", and 1 more problem`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := e.ErrorCode(); got != "registry_invalid" {
		t.Errorf("code %q", got)
	}
	if diff := cmp.Diff(any(e.Problems), e.ErrorDetails()); diff != "" {
		t.Errorf("details (-want +got)\n%s", diff)
	}
	data, err := json.Marshal(e.Problems[1])
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := `{"code":"wrong_type","severity":"reject","message":"expected a list, found \"x\"","file":"r.yaml","line":6,"column":16,"field":"repos[0].entrypoints","repo_id":"a"}`
	if diff := cmp.Diff(wantJSON, string(data)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, want := (registry.Problem{Message: "m", Line: 2, Column: 3}).String(), "registry:2:3: m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (registry.Problem{Message: "m", RepoID: "a"}).String(), "m (repo a)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	text := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n" + strings.Repeat("- {bad: 1}\n", 5000)
	_, err := registry.Parse([]byte(text), nil)
	got := problems(t, err)
	if len(got) != 1001 || got[1000].Code != registry.TooManyProblems || got[1000].Severity != registry.Reject {
		t.Errorf("got %d problems, last %+v", len(got), got[len(got)-1])
	}
}

// TestCodesOfTheText checks that the codes of package yamldoc, which are handed on, are documented here.
func TestCodesOfTheText(t *testing.T) {
	for ours, theirs := range map[registry.Code]yamldoc.Code{
		registry.TooLarge: yamldoc.TooLarge, registry.Empty: yamldoc.Empty, registry.ByteOrderMark: yamldoc.ByteOrderMark,
		registry.InvalidUTF8: yamldoc.InvalidUTF8, registry.ControlCharacter: yamldoc.ControlCharacter, registry.Syntax: yamldoc.Syntax,
		registry.SecondDocument: yamldoc.SecondDocument, registry.TooDeep: yamldoc.TooDeep, registry.TooManyValues: yamldoc.TooManyNodes,
		registry.TooManyKeys: yamldoc.TooManyKeys, registry.Alias: yamldoc.Alias, registry.Merge: yamldoc.Merge,
		registry.UnknownTag: yamldoc.UnknownTag, registry.KeyNotScalar: yamldoc.KeyNotScalar, registry.DuplicateKey: yamldoc.DuplicateKey,
	} {
		if string(ours) != string(theirs) {
			t.Errorf("%s is called %s by package yamldoc", ours, theirs)
		}
	}
}

// A version is compared as text by other programs, so it has one spelling.
func TestSchemaVersionHasOneSpelling(t *testing.T) {
	for version, want := range map[string]bool{
		"1.0": true, "1.7": true, "01.0": false, "1.00": false, "+1.0": false, "1": false, "1.0.0": false, "1.0 ": false, "": false,
	} {
		_, err := registry.Parse([]byte(fmt.Sprintf("schema_version: %q\nkind: workspace_registry\nrepos: []\n", version)),
			&registry.ParseOptions{File: "r.yaml"})
		if (err == nil) != want {
			t.Errorf("schema_version %q: error %v, want accepted %v", version, err, want)
		}
	}
}
