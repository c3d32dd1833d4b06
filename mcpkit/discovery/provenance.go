package discovery

import (
	"encoding/json"

	"github.com/mcpcontract/mcpcontract/resolve"
	"github.com/mcpcontract/mcpcontract/result"
)

// provenance is [result.Provenance] with the schema of its JSON. That type
// encodes itself, to write its constant notice, so no schema can be inferred
// from it.
type provenance struct {
	Project    string `json:"project" jsonschema:"id of the repo"`
	Revision   string `json:"revision" jsonschema:"digest of the declarations that the repo was resolved by" schema:"kind=sha256"`
	SourceHash string `json:"sourceHash" jsonschema:"digest of the file" schema:"kind=sha256"`
	Adapter    string `json:"adapter" jsonschema:"what read the file"`
	Staleness  string `json:"staleness" schema:"enum=current|changed|unknown"`
	Notice     string `json:"notice"`
}

// provenanceOf describes where the text of a file comes from.
func provenanceOf(repo *resolve.Repo, file *resolve.File) (p provenance, err error) {
	source := result.Provenance{
		Project:    repo.ID,
		Revision:   repo.Revision(),
		SourceHash: file.SHA256,
		Adapter:    "discovery/1",
		Staleness:  result.Current, // it was read for this very answer
	}
	if repo.Mode == resolve.Heuristic {
		source.Staleness = result.Unknown // nobody declares what it should be
	}
	raw, err := json.Marshal(source)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(raw, &p)
}
