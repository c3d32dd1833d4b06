package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/registry"
)

const maxNearest = 5

// nearest returns the registered ids most like id, best first: those a few
// edits away, and those of which one contains the other.
func nearest(reg *registry.Registry, id string) []string {
	if !validID(id) {
		return nil
	}
	type candidate struct {
		id       string
		distance int
	}
	want := strings.ToLower(id)
	limit := max(1, len(id)/3)
	var found []candidate
	for repo := range reg.Repos() {
		have := strings.ToLower(repo.ID)
		d := wording.Distance(want, have, limit)
		if d > limit && !strings.Contains(have, want) && !strings.Contains(want, have) {
			continue
		}
		found = append(found, candidate{repo.ID, d})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var ids []string
	for _, c := range found[:min(len(found), maxNearest)] {
		ids = append(ids, c.id)
	}
	return ids
}

// validID reports whether id could be the id of a repo: 1 to 100 letters,
// digits, dots, underscores and hyphens, the first a letter or digit.
func validID(id string) bool {
	if id == "" || len(id) > 100 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}
