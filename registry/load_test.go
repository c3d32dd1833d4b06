package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mcpcontract/mcpcontract/registry"
)

// lines writes problems as "line:column field code severity".
func lines(problems []registry.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d:%d %s %s %s", p.Line, p.Column, p.Field, p.Code, p.Severity))
	}
	return out
}

// problems gives the problems of an error of this package.
func problems(t *testing.T, err error) []registry.Problem {
	t.Helper()
	var e *registry.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v of type %T, want *registry.Error", err, err)
	}
	return e.Problems
}

const sample = `schema_version: "1.0"
kind: workspace_registry
defaults:
  owner: platform
  authority_order: [repo_owner_rules, repo_spec]
  manifest_path: docs/agent/manifest.yaml
repos:
  - repo_id: svc
    path: services/svc
    former_ids: [old-svc]
    manifest_source: repo
    entrypoints: [README.md, "docs/monitoring areas/起点.md"]
    resource_roots: {docs: [docs, doc/], adr: docs/adr}
    repo_class: application
    lifecycle: transitional
    views: {start-here: docs/start.md}
    signals: {has_docs: true, has_adr: true}
    safe_to_probe: true
    entrypoint_status: {README.md: present, docs/start.md: missing}
    x-note: {a: [1, "x"]}
  - repo_id: lib
    manifest_source: generated
    entrypoints: [README.md]
    authority_order: [repo_spec]
    owner: ""
`

func TestParse(t *testing.T) {
	reg, err := registry.Parse([]byte(sample), &registry.ParseOptions{Root: "/ws"})
	if err != nil {
		t.Fatal(err)
	}
	var got []registry.Repo
	for r := range reg.Repos() {
		got = append(got, r)
	}
	want := []registry.Repo{
		{
			ID: "lib", Path: "lib", ManifestSource: registry.SourceGenerated, Entrypoints: []string{"README.md"},
			AuthorityOrder: []string{"repo_spec"}, Lifecycle: registry.Active,
		},
		{
			ID: "svc", Path: "services/svc", FormerIDs: []string{"old-svc"},
			ManifestSource: registry.SourceRepo, ManifestPath: "docs/agent/manifest.yaml",
			Entrypoints:    []string{"README.md", "docs/monitoring areas/起点.md"},
			ResourceRoots:  []registry.ResourceRoot{{Type: "adr", Paths: []string{"docs/adr"}}, {Type: "docs", Paths: []string{"docs", "doc"}}},
			AuthorityOrder: []string{"repo_owner_rules", "repo_spec"},
			Class:          "application", Lifecycle: registry.Transitional, Owner: "platform",
			Views:            map[string]string{"start-here": "docs/start.md"},
			Signals:          registry.Signals{HasDocs: true, HasADR: true},
			SafeToProbe:      true,
			EntrypointStatus: map[string]registry.EntrypointStatus{"README.md": registry.StatusPresent, "docs/start.md": registry.StatusMissing},
			Extensions:       map[string]json.RawMessage{"x-note": json.RawMessage(`{"a":[1,"x"]}`)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if byFormer, ok := reg.Lookup("old-svc"); !ok || byFormer.ID != "svc" {
		t.Errorf("Lookup by former id: got %q, %v", byFormer.ID, ok)
	}
	if _, ok := reg.Lookup("SVC"); ok {
		t.Error("Lookup must match exactly")
	}
	if got := reg.Len(); got != 2 {
		t.Errorf("Len: got %d, want 2", got)
	}
	if got := reg.Root(); got != "/ws" {
		t.Errorf("Root: got %q", got)
	}
	if got := reg.Warnings(); len(got) != 0 {
		t.Errorf("Warnings: got %v", got)
	}
}
