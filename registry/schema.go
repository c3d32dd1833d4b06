package registry

import (
	_ "embed"
	"slices"
)

//go:generate go run ../internal/schemagen -o schema.json

//go:embed schema.json
var schema []byte

// JSONSchema gives the JSON Schema (draft 7) of a registry file, for editors: written beside a registry, it
// is found by a comment "# yaml-language-server: $schema=FILE" in YAML or a member "$schema" in JSON. It
// describes less than [Parse] checks, and no overlays. The caller owns the result.
func JSONSchema() []byte { return slices.Clone(schema) }
