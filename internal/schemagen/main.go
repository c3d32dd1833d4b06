// Schemagen writes the JSON Schema that editors use for registries, overlays and manifests. It is run by go
// generate in package registry, which embeds the result.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
)

func main() {
	out := flag.String("o", "schema.json", "file to write")
	flag.Parse()
	data, err := schema()
	if err == nil {
		err = os.WriteFile(*out, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1) //nolint:forbidigo // a command
	}
}

// files has one field for each kind of file, so that one pass describes them with what they share.
type files struct {
	Registry shape.File
	Overlay  shape.Overlay
	Manifest shape.Manifest
}

// kinds are the words by which a file says what it is, with their definitions.
var kinds = []struct{ kind, definition string }{
	{"workspace_registry", "Registry"},
	{"workspace_overlay", "Overlay"},
	{"repo_manifest", "Manifest"},
}

// schema makes the schema. It names draft 7, which every editor reads; nothing in it needs a later one.
func schema() ([]byte, error) {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Namer: func(t reflect.Type) string {
		if t == reflect.TypeFor[shape.File]() {
			return "Registry"
		}
		return t.Name()
	}}
	s := r.Reflect(new(files))
	for _, name := range []string{"Registry", "Overlay", "Manifest", "Repo"} {
		s.Definitions[name].PatternProperties = map[string]*jsonschema.Schema{"^x-": {}}
	}
	if err := loosen(s); err != nil {
		return nil, err
	}
	reg := s.Definitions["Registry"]
	reg.Required = slices.DeleteFunc(reg.Required, func(field string) bool { return field == "repos" })
	reg.AnyOf = []*jsonschema.Schema{{Required: []string{"repos"}}, {Required: []string{"include"}}}
	status, ok := s.Definitions["Repo"].Properties.Get("entrypoint_status")
	if !ok {
		return nil, fmt.Errorf("no field entrypoint_status")
	}
	status.AdditionalProperties = &jsonschema.Schema{
		Enum: []any{"present", "missing", "not-a-file", "outside-root", "too-large", "unreadable"},
	}
	data, err := json.MarshalIndent(byKind(s.Definitions), "", "  ")
	return append(data, '\n'), err
}

// byKind makes one schema of those of all kinds of file: whatever the field kind says decides, so that an
// editor tells what is wrong with a file of that kind, and not that it is none of three.
func byKind(definitions jsonschema.Definitions) *jsonschema.Schema {
	kind := &jsonschema.Schema{Type: "string", Description: "What the file is: a registry, an overlay, or the manifest of one repo."}
	s := &jsonschema.Schema{
		Version:     "http://json-schema.org/draft-07/schema#",
		ID:          "https://github.com/mcpcontract/mcpcontract/registry/schema.json",
		Title:       "Workspace registry, overlay or repo manifest",
		Type:        "object",
		Required:    []string{"schema_version", "kind"},
		Properties:  jsonschema.NewProperties(),
		Definitions: definitions,
	}
	for _, k := range kinds {
		kind.Enum = append(kind.Enum, k.kind)
		is := jsonschema.NewProperties()
		is.Set("kind", &jsonschema.Schema{Const: k.kind})
		s.AllOf = append(s.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: is, Required: []string{"kind"}},
			Then: &jsonschema.Schema{Ref: "#/$defs/" + k.definition},
		})
	}
	s.Properties.Set("kind", kind)
	return s
}

// loosen allows a single text where the written form always has a list, in the fields where Parse and
// ParseManifest do.
func loosen(s *jsonschema.Schema) error {
	for _, at := range [][2]string{
		{"Defaults", "resource_roots"},
		{"Repo", "resource_roots"},
		{"Component", "paths"},
		{"Manifest", "resource_roots"},
		{"Manifest", "authority_order"},
		{"Manifest", "entrypoints"},
		{"Manifest", "notes"},
	} {
		field, ok := s.Definitions[at[0]].Properties.Get(at[1])
		if !ok {
			return fmt.Errorf("no field %s in %s", at[1], at[0])
		}
		if list := field.AdditionalProperties; list != nil {
			field.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, list}}
			continue
		}
		field.AnyOf = []*jsonschema.Schema{{Type: "string"}, {Type: field.Type, Items: field.Items}}
		field.Type, field.Items = "", nil
	}
	return nil
}
