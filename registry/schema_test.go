package registry_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcpcontract/mcpcontract/registry"
)

// schema gives the editor schema, ready to validate.
func schema(t *testing.T) (*jsonschema.Schema, *jsonschema.Resolved) {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(registry.JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &s, resolved
}

func TestSchemaKnowsTheFieldsThatParseKnows(t *testing.T) {
	s, _ := schema(t)
	kinds := map[string][]string{
		"Repo":     registry.EntryFields(),
		"Registry": registry.TopFields(),
		"Overlay":  {"$schema", "schema_version", "kind", "generator", "workspace_root", "add", "extend", "remove"},
		"Manifest": append(registry.ManifestFields(), "$schema"),
	}
	for kind, fields := range kinds {
		want := slices.Sorted(slices.Values(fields))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.Defs[kind].Properties))); diff != "" {
			t.Errorf("%s (-read +schema)\n%s", kind, diff)
		}
	}
	// The defaults must be those that Parse accepts there.
	for _, field := range registry.EntryFields() {
		_, err := registry.Parse([]byte(yamlHead+"repos: []\ndefaults:\n  "+field+": [[]]\n"), nil)
		_, inSchema := s.Defs["Defaults"].Properties[field]
		if refused := problems(t, err)[0].Code == registry.NotADefault; refused == inSchema {
			t.Errorf("defaults.%s: refused by Parse %v, in the schema %v", field, refused, inSchema)
		}
	}
}

func TestSchemaValidates(t *testing.T) {
	generated, err := registry.WriteNumbered(5001, nil)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(fields string) string {
		return `{"schema_version": "1.0", "kind": "workspace_registry", "repos": [{"repo_id": "a", ` + fields + `}]}`
	}
	overlay := func(fields string) string {
		return `{"schema_version": "1.0", "kind": "workspace_overlay", ` + fields + `}`
	}
	manifest := func(fields string) string {
		return `{"schema_version": "1.0", "kind": "repo_manifest", ` + fields + `}`
	}

	tests := []struct {
		name, text string
		ok         bool
	}{
		{"generated", string(generated), true},
		{"every field", entry(`"path": "a", "former_ids": ["b"], "superseded_by": "c", "manifest_source": "repo", "manifest_path": "m.yaml",
			"entrypoints": ["README.md"], "resource_roots": {"docs": ["docs"], "adr": "docs/adr"}, "authority_order": ["x"], "repo_class": "x",
			"lifecycle": "archived", "views": {"x": "y"}, "owner": "x", "signals": {"has_docs": true}, "evidence": {"has_docs": "x"},
			"safe_to_probe": true, "entrypoint_status": {"README.md": "present"}, "components": [{"id": "c", "labels": ["x"], "paths": {"src": "x"}}],
			"origin": "manual", "locked": ["owner"], "x-mine": {"a": [1, null]}`), true},
		{"unknown field", entry(`"entrypoint": []`), false},
		{"unknown lifecycle", entry(`"lifecycle": "activ"`), false},
		{"unknown status", entry(`"entrypoint_status": {"a": "here"}`), false},
		{"unknown signal", entry(`"signals": {"has_wiki": true}`), false},
		{"bad id", `{"schema_version": "1.0", "kind": "workspace_registry", "repos": [{"repo_id": "a/b"}]}`, false},
		{"number as version", `{"schema_version": 1.0, "kind": "workspace_registry", "repos": []}`, false},
		{"map of repos", `{"schema_version": "1.0", "kind": "workspace_registry", "repos": {}}`, false},
		{"no repos", `{"schema_version": "1.0", "kind": "workspace_registry"}`, false},
		{"only includes", `{"schema_version": "1.0", "kind": "workspace_registry", "include": ["teams/*.yaml"]}`, true},
		{"no kind", `{"schema_version": "1.0", "repos": []}`, false},
		{"unknown kind", `{"schema_version": "1.0", "kind": "workspace", "repos": []}`, false},

		{"overlay", overlay(`"workspace_root": "/srv/ws", "add": [{"repo_id": "a", "manifest_source": "generated"}],
			"extend": [{"repo_id": "b", "owner": "x", "x-mine": 1}], "remove": ["c"], "x-mine": 1`), true},
		{"overlay with repos", overlay(`"repos": []`), false},
		{"overlay without an id", overlay(`"extend": [{"owner": "x"}]`), false},
		{"overlay that removes an entry", overlay(`"remove": [{"repo_id": "c"}]`), false},

		{"manifest", manifest(`"repo_id": "a", "repo_class": "x", "owner": "x", "authority_order": ["a", "b"], "entrypoints": ["README.md"],
			"resource_roots": {"docs": "docs", "adr": ["docs/adr"]}, "views": {"start-here": "README.md"},
			"components": [{"id": "c", "labels": ["x"], "paths": {"src": "x"}}], "framework_repo": "b", "notes": ["x"], "x-mine": 1`), true},
		{"manifest with single texts", manifest(`"repo_id": "", "authority_order": "a", "entrypoints": "README.md", "notes": "x"`), true},
		{"manifest with a field of registries", manifest(`"manifest_path": "m.yaml"`), false},
		{"manifest with a misspelt field", manifest(`"entrypoint": ["README.md"]`), false},
		{"manifest with a list as view", manifest(`"views": {"start-here": ["README.md"]}`), false},

		{"no id", `{"schema_version": "1.0", "kind": "workspace_registry", "repos": [{}]}`, false},
		{"id under defaults", `{"schema_version": "1.0", "kind": "workspace_registry", "repos": [], "defaults": {"repo_id": "a"}}`, false},
	}
	_, resolved := schema(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v any
			if err := json.Unmarshal([]byte(tt.text), &v); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(v); (err == nil) != tt.ok {
				t.Errorf("valid: want %v, got %v", tt.ok, err)
			}
		})
	}
}

func TestJSONSchemaIsACopy(t *testing.T) {
	registry.JSONSchema()[0] = 'x'
	if !json.Valid(registry.JSONSchema()) {
		t.Error("a caller could change the schema")
	}
}
