package registry

import (
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
)

// WriteNumbered writes a registry of n repos as Generate does, without the n folders.
func WriteNumbered(n int, opts *ScanOptions) ([]byte, error) {
	g := generator{opts: opts.withDefaults()}
	for i := range n {
		g.repos = append(g.repos, shape.Repo{
			RepoID: fmt.Sprintf("svc%d", i), Path: fmt.Sprintf("team%d/svc%d", i%7, i),
			Shared: shape.Shared{Entrypoints: []string{"README.md"}, Signals: &shape.Signals{HasDocs: true}},
		})
	}
	return write(g.file())
}

// EntryFields gives the names of the fields of an entry.
func EntryFields() []string { return newReader(ParseOptions{}).names }

// TopFields gives the names of the fields at the top of a registry.
func TopFields() []string { return topFields() }

// ManifestFields gives the names of the fields of a manifest.
func ManifestFields() []string { return manifestFields() }
