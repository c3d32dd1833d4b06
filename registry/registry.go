package registry

import (
	"encoding/json"
	"iter"
	"slices"
)

// Registry is a loaded registry. It never changes and is safe for concurrent use. The zero value is a
// registry without entries.
type Registry struct {
	file       string
	root       string
	digest     string
	entries    []located        // sorted by id
	index      map[string]int32 // by id and by former id
	warnings   []Problem
	extensions map[string]json.RawMessage
	defaults   *Repo
	removed    []string // paths of entries that an overlay removes
}

// located is an entry with the place where it starts in the file.
type located struct {
	*Repo
	line, column int32
	item         int32  // index under repos
	file         string // that holds it
	overlay      bool   // the file is an overlay
}

// Lookup finds the entry with the given repo id, which must match exactly, or else the entry that had the id
// before: then [Repo.ID] is not the id asked for.
func (r *Registry) Lookup(id string) (Repo, bool) {
	i, ok := r.index[id]
	if !ok {
		return Repo{}, false
	}
	return *r.entries[i].Repo, true
}

// Repos gives all entries sorted by the bytes of their ids.
func (r *Registry) Repos() iter.Seq[Repo] {
	return func(yield func(Repo) bool) {
		for i := range r.entries {
			if !yield(*r.entries[i].Repo) {
				return
			}
		}
	}
}

// Len gives the number of entries.
func (r *Registry) Len() int { return len(r.entries) }

// Digest identifies the content: 64 lower-case hexadecimal digits, over the bytes of the file, or of all files
// and their names relative to the first.
func (r *Registry) Digest() string { return r.digest }

// Root is the absolute path of the workspace, in the form of the operating system.
func (r *Registry) Root() string { return r.root }

// Warnings gives the problems that did not keep the file from being loaded, in the order of the file.
func (r *Registry) Warnings() []Problem { return slices.Clone(r.warnings) }

// Extensions gives the x- fields at the top of the file as JSON, nil if there are none. The map must not be
// changed.
func (r *Registry) Extensions() map[string]json.RawMessage { return r.extensions }
