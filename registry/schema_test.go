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
	sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
	if diff := cmp.Diff(sorted(registry.EntryFields()), slices.Sorted(maps.Keys(s.Defs["Repo"].Properties))); diff != "" {
		t.Errorf("entry (-Parse +schema)\n%s", diff)
	}
	if diff := cmp.Diff(sorted(registry.TopFields()), slices.Sorted(maps.Keys(s.Properties))); diff != "" {
		t.Errorf("top (-Parse +schema)\n%s", diff)
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
