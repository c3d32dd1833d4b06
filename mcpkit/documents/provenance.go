package documents

import (
	"context"
	"encoding/hex"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
)

// Provenance returns the provenance of replies about the project as a whole, for
// [result.Options]. adapter is as in [Options]. Where the project cannot be read
// its staleness is unknown.
func Provenance(src Source, adapter string) func(ctx context.Context, tool string) result.Provenance {
	if adapter == "" {
		adapter = defaultAdapter
	}
	return func(ctx context.Context, _ string) result.Provenance {
		g, err := src.Graph(ctx)
		if err != nil {
			return result.Provenance{Adapter: adapter, SourceHash: canon.Sum(nil), Staleness: result.Unknown}
		}
		return provenance(g, adapter, "")
	}
}

const defaultAdapter = "docgraph/1"

// provenance describes a reply about the file of that hash, or about the whole
// project if it is empty.
func provenance(g *docgraph.Graph, adapter, hash string) result.Provenance {
	s := g.Snapshot()
	if hash == "" {
		hash = s.Revision
		if sum, err := hex.DecodeString(hash); err != nil || len(sum) != 32 {
			hash = canon.Sum([]byte(s.Revision)) // an integration's own form of revision
		}
	}
	return result.Provenance{
		Project:    s.Project,
		Revision:   s.Revision,
		SourceHash: hash,
		Adapter:    adapter,
		Staleness:  result.Current, // the graph was brought up to date for this very answer
	}
}

func (d *documents) provenance(g *docgraph.Graph) result.Provenance {
	return provenance(g, d.opts.Adapter, "")
}
