package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
)

// TestSchemaIsCurrent fails when the types in package shape changed and go generate was not run.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(registry.JSONSchema())); diff != "" {
		t.Errorf("registry/schema.json is out of date, run go generate ./registry (-want +got)\n%s", diff)
	}
}
