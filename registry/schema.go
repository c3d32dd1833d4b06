package registry

import (
	_ "embed"
	"slices"
)

//go:generate go run ../internal/schemagen -o schema.json

//go:embed schema.json
var schema []byte

// JSONSchema gives the JSON Schema (draft 7) of registries, overlays and manifests, for editors. The field kind
// of a file decides which of them it is compared with. Written beside a file, the schema is found by a comment
// "# yaml-language-server: $schema=FILE" in YAML or a member "$schema" in JSON. It describes less than [Parse]
// checks: what is wrong with a path, and what fields say about each other, only reading tells. The caller owns
// the result.
func JSONSchema() []byte { return slices.Clone(schema) }
