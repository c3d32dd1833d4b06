package changeset

import (
	"context"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// contextLines is how many equal lines stand around a change.
const contextLines = 3

// Diff returns what each operation of the changeset id does to its file, in
// their order. It compares the proposed file with the one that it was proposed
// on, whatever became of that since: what is shown is what was proposed. A file
// that only moves has no lines. A part of a file that is not UTF-8 stands in
// Unified as it is.
//
// The error's code is changeset_unknown, changeset_damaged, or changeset_io.
func (s *Store) Diff(ctx context.Context, id string) ([]NodeDiff, error) {
	r, err := s.get(ctx, "diff", id)
	if err != nil {
		return nil, err
	}
	all := make([]NodeDiff, 0, len(r.Operations))
	for i, o := range r.Operations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := r.files[i]
		d := NodeDiff{Op: o.Op, ID: o.ID, OldPath: o.OldPath, NewPath: o.NewPath}
		d.Added, d.Removed = textdiff.Stat(textdiff.Lines(c.old, c.new))
		d.Unified = string(textdiff.Unified(diffName("a/", o.OldPath), diffName("b/", o.NewPath), c.old, c.new, contextLines))
		all = append(all, d)
	}
	return all, nil
}

// diffName is how a diff calls a file, with the prefix that git and patch -p1
// expect.
func diffName(prefix, path string) string {
	if path == "" {
		return "/dev/null"
	}
	return prefix + path
}
