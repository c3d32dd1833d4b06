package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/mcpcontract/mcpcontract/registry/internal/tree"
)

// Codes of a [Change].
const (
	RepoAdded    Code = "repo_added"    // there was no such entry; After is its fields
	RepoRemoved  Code = "repo_removed"  // the entry is gone; Before is its fields
	RepoRenamed  Code = "repo_renamed"  // the entry was found under the id in Before, now a former id
	FieldChanged Code = "field_changed" // a field has another value
)

// Change is one difference between two registries. Its JSON form leaves out empty fields.
type Change struct {
	Code   Code            `json:"code"`             // the kind of change
	RepoID string          `json:"repo_id"`          // of the entry; its new id if it was renamed
	Field  string          `json:"field,omitempty"`  // path in the entry, such as resource_roots.adr; "" for the entry as a whole
	Before json.RawMessage `json:"before,omitempty"` // nil if there was no value
	After  json.RawMessage `json:"after,omitempty"`  // nil if there is no value
}

// Diff says how the entries of b differ from those of a, sorted by repo id and field. Entries are compared
// as [Registry.Lookup] gives them, with defaults filled in; comments, order and the spelling of a path do not
// count. Lists are compared as a whole, mappings name by name. An entry that took over an id of a as a
// former id is the same repo under a new name. A nil registry has no entries.
func Diff(a, b *Registry) []Change {
	if a == nil {
		a = new(Registry)
	}
	if b == nil {
		b = new(Registry)
	}
	var d differ
	used := make(map[string]bool, len(a.entries))
	for _, e := range b.entries {
		old := a.predecessor(e.Repo)
		switch {
		case old == nil:
			d.add(RepoAdded, e.ID, "", nil, encode(fieldsOf(e.Repo)))
			continue
		case old.ID != e.ID:
			d.add(RepoRenamed, e.ID, "", encode(old.ID), encode(e.ID))
		}
		used[old.ID] = true
		d.entry(old, e.Repo)
	}
	for _, e := range a.entries {
		if !used[e.ID] {
			d.add(RepoRemoved, e.ID, "", encode(fieldsOf(e.Repo)), nil)
		}
	}
	slices.SortStableFunc(d.changes, func(x, y Change) int { return cmp.Compare(x.RepoID, y.RepoID) })
	return d.changes
}

// predecessor gives the entry that a repo of another registry has here, nil if there is none.
func (r *Registry) predecessor(repo *Repo) *Repo {
	for _, id := range append([]string{repo.ID}, repo.FormerIDs...) {
		if i, ok := r.index[id]; ok && r.entries[i].ID == id {
			return r.entries[i].Repo
		}
	}
	return nil
}

type differ struct{ changes []Change }

func (d *differ) add(code Code, id, field string, before, after json.RawMessage) {
	d.changes = append(d.changes, Change{Code: code, RepoID: id, Field: field, Before: before, After: after})
}

// entry compares two entries of one repo.
func (d *differ) entry(old, repo *Repo) {
	if reflect.DeepEqual(old, repo) {
		return
	}
	before, after := fieldsOf(old), fieldsOf(repo)
	delete(before, "repo_id")
	delete(after, "repo_id")
	for _, name := range names(before, after) {
		d.value(repo.ID, name, before[name], after[name])
	}
}

// value compares two values of a field, mappings name by name.
func (d *differ) value(id, field string, before, after json.RawMessage) {
	if bytes.Equal(before, after) {
		return
	}
	m, n := members(before), members(after)
	if m == nil && n == nil || m == nil && before != nil || n == nil && after != nil {
		d.add(FieldChanged, id, field, before, after)
		return
	}
	for _, name := range names(m, n) {
		d.value(id, field+"."+tree.Quote(name), m[name], n[name])
	}
}

// names gives the keys of two mappings, sorted.
func names(m, n map[string]json.RawMessage) []string {
	all := maps.Clone(m)
	if all == nil {
		all = make(map[string]json.RawMessage)
	}
	maps.Copy(all, n)
	return slices.Sorted(maps.Keys(all))
}

// members gives the members of a JSON object, nil for every other value.
func members(value json.RawMessage) map[string]json.RawMessage {
	if !bytes.HasPrefix(value, []byte("{")) {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(value, &m) != nil {
		return nil
	}
	return m
}
