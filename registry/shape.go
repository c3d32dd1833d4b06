package registry

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
)

// fieldsOf gives the fields of an entry as they would be written, those without a value left out.
func fieldsOf(repo *Repo) map[string]json.RawMessage {
	fields := members(encode(shapeRepo(repo)))
	maps.Copy(fields, repo.Extensions)
	return fields
}

// shapeRepo gives the written form of an entry, without its x- fields.
func shapeRepo(repo *Repo) shape.Repo {
	out := shape.Repo{
		RepoID: repo.ID, Path: repo.Path, FormerIDs: repo.FormerIDs, SupersededBy: repo.SupersededBy,
		Shared: shape.Shared{
			ManifestSource: string(repo.ManifestSource), ManifestPath: repo.ManifestPath,
			Entrypoints: repo.Entrypoints, ResourceRoots: shapeRoots(repo.ResourceRoots),
			AuthorityOrder: repo.AuthorityOrder, RepoClass: repo.Class, Lifecycle: string(repo.Lifecycle),
			Views: repo.Views, Owner: repo.Owner, Origin: repo.Origin,
		},
		Evidence: repo.Evidence, Locked: repo.Locked,
	}
	if s := shape.Signals(repo.Signals); s != (shape.Signals{}) {
		out.Signals = &s
	}
	if yes := true; repo.SafeToProbe {
		out.SafeToProbe = &yes
	}
	for p, status := range repo.EntrypointStatus {
		if out.EntrypointStatus == nil {
			out.EntrypointStatus = make(map[string]string, len(repo.EntrypointStatus))
		}
		out.EntrypointStatus[p] = string(status)
	}
	for _, c := range repo.Components {
		out.Components = append(out.Components, shapeComponent(c))
	}
	return out
}

func shapeComponent(c Component) shape.Component {
	return shape.Component{ID: c.ID, Labels: c.Labels, Paths: shapeRoots(c.Roots)}
}

func shapeRoots(roots []ResourceRoot) map[string][]string {
	if roots == nil {
		return nil
	}
	out := make(map[string][]string, len(roots))
	for _, root := range roots {
		out[root.Type] = root.Paths
	}
	return out
}

// encode gives a text or the written form of an entry as JSON.
func encode[T string | shape.Repo | map[string]json.RawMessage](v T) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // texts, and JSON that was checked, cannot fail to encode
		return nil
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
