// Schemagen writes the JSON Schema that editors use for registry files. It is run by go generate in package
// registry, which embeds the result.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

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

// schema makes the schema. It names draft 7, which every editor reads; nothing in it needs a later one.
func schema() ([]byte, error) {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(new(shape.File))
	s.Version = "http://json-schema.org/draft-07/schema#"
	s.ID = "https://github.com/mcpcontract/mcpcontract/registry/schema.json"
	s.Title = "Workspace registry"
	for _, open := range []*jsonschema.Schema{s, s.Definitions["Repo"]} {
		open.PatternProperties = map[string]*jsonschema.Schema{"^x-": {}}
	}
	for _, at := range [][2]string{{"Defaults", "resource_roots"}, {"Repo", "resource_roots"}, {"Component", "paths"}} {
		if err := loosen(s, at[0], at[1]); err != nil {
			return nil, err
		}
	}
	status, ok := s.Definitions["Repo"].Properties.Get("entrypoint_status")
	if !ok {
		return nil, fmt.Errorf("no field entrypoint_status")
	}
	status.AdditionalProperties = &jsonschema.Schema{
		Enum: []any{"present", "missing", "not-a-file", "outside-root", "too-large", "unreadable"},
	}
	data, err := json.MarshalIndent(s, "", "  ")
	return append(data, '\n'), err
}

// loosen allows a single folder where the written form always has a list.
func loosen(s *jsonschema.Schema, definition, field string) error {
	roots, ok := s.Definitions[definition].Properties.Get(field)
	if !ok {
		return fmt.Errorf("no field %s in %s", field, definition)
	}
	list := roots.AdditionalProperties
	roots.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, list}}
	return nil
}
