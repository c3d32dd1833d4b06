package registry

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

const maxID = 100

// makeIDs gives an id for each path. A repo is called like its folder. Where folders share a name, the one
// that comes first keeps it, paths with fewer levels before deeper ones; each other is told apart by the
// names of the folders above it, and at last by a number.
func makeIDs(paths []string, workspace string, old *existing) map[string]string {
	order := slices.Clone(paths)
	slices.SortFunc(order, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	ids := make(map[string]string, len(order))
	taken := make(map[string]bool, len(order)) // folded
	if old != nil {
		for _, e := range old.reg.entries {
			ids[e.Path] = e.ID
			for _, id := range append([]string{e.ID}, e.FormerIDs...) {
				taken[strings.ToLower(id)] = true
			}
		}
	}
	for _, p := range order {
		if ids[p] != "" {
			continue
		}
		id := freeID(p, workspace, taken)
		taken[strings.ToLower(id)] = true
		ids[p] = id
	}
	return ids
}

// freeID gives the shortest id for a path that is not taken.
func freeID(p, workspace string, taken map[string]bool) string {
	if p == "." {
		p = workspace
	}
	name := ""
	for rest := p; rest != "." && rest != "/" && rest != ""; rest = path.Dir(rest) {
		name = strings.TrimSuffix(path.Base(rest)+"-"+name, "-")
		if id := idOf(name); !taken[strings.ToLower(id)] {
			return id
		}
	}
	for n := 2; ; n++ {
		suffix := "-" + strconv.Itoa(n)
		id := idOf(name)
		id = id[:min(len(id), maxID-len(suffix))] + suffix
		if !taken[strings.ToLower(id)] {
			return id
		}
	}
}

// idOf makes an id of a name: bytes that an id cannot have become hyphens.
func idOf(name string) string {
	id := []byte(name)
	for i, c := range id {
		if !isID("a" + string(rune(c))) {
			id[i] = '-'
		}
	}
	s := strings.TrimLeft(string(id), "._-")
	s = strings.TrimRight(s[:min(len(s), maxID)], "-")
	if s == "" {
		return "repo"
	}
	return s
}
