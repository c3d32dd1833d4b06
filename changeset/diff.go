package changeset

import (
	"context"
	"path"
	"slices"
	"sync"

	"github.com/mcpcontract/mcpcontract/internal/textdiff"
)

// contextLines is how many equal lines stand around a change.
const contextLines = 3

// Diff returns what each operation of the changeset id does to its file, in
// their order. It compares the proposed file with the one that it was proposed
// on, whatever became of that since: what is shown is what was proposed. The
// diffs joined are a patch that git apply carries out in the root. If that is a
// folder of a repository, git apply leaves all of it out without a word there: run
// it at the top, with the way to the root as --directory. A part of a file that is
// not UTF-8 stands in Unified as it is.
//
// The error's code is changeset_unknown, changeset_damaged, or changeset_io.
func (s *Store) Diff(ctx context.Context, id string) ([]NodeDiff, error) {
	r, err := s.get(ctx, "diff", id)
	if err != nil {
		return nil, err
	}
	if all, ok := s.diffs.get(r.Digest); ok {
		return all, nil
	}
	all := make([]NodeDiff, 0, len(r.Operations))
	for i, o := range r.Operations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := r.files[i]
		d := NodeDiff{Op: o.Op, ID: o.ID, OldPath: o.OldPath, NewPath: o.NewPath}
		d.Added, d.Removed = textdiff.Stat(textdiff.Lines(c.old, c.new))
		d.Unified = string(textdiff.Git(s.inRoot(o.OldPath), s.inRoot(o.NewPath), c.old, c.new, contextLines))
		all = append(all, d)
	}
	s.diffs.put(r.Digest, all)
	return all, nil
}

// inRoot returns a path of a node relative to the root, "" for "".
func (s *Store) inRoot(p string) string {
	if p == "" {
		return ""
	}
	return path.Join(s.opts.Docs, p)
}

const (
	// maxMemory bounds the diffs that a store remembers, in bytes.
	maxMemory = 16 << 20
	// nodeDiffBytes is about what a NodeDiff takes beside its texts.
	nodeDiffBytes = 128
)

// A diffMemory has the diffs of the changesets that were asked for last, so that
// who reads them in pages does not have them computed for each. It is safe for
// concurrent use.
type diffMemory struct {
	mu       sync.Mutex
	kept     []remembered // the one that was used last is last
	bytes    int
	computed int // how often something was put, for tests
}

// remembered are the diffs of one state of a changeset, which its digest names.
type remembered struct {
	digest string
	diffs  []NodeDiff
	bytes  int
}

// get returns a copy of the diffs of that digest.
func (m *diffMemory) get(digest string) ([]NodeDiff, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(r remembered) bool { return r.digest == digest })
	if i < 0 {
		return nil, false
	}
	r := m.kept[i]
	m.kept = append(slices.Delete(m.kept, i, i+1), r)
	return slices.Clone(r.diffs), true
}

// put remembers a copy of diffs, and forgets what is too much. Diffs that are too
// large alone are not remembered.
func (m *diffMemory) put(digest string, diffs []NodeDiff) {
	r := remembered{digest: digest, diffs: slices.Clone(diffs)}
	for _, d := range diffs {
		r.bytes += nodeDiffBytes + len(d.ID) + len(d.OldPath) + len(d.NewPath) + len(d.Unified)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.computed++
	if r.bytes > maxMemory || slices.ContainsFunc(m.kept, func(r remembered) bool { return r.digest == digest }) {
		return
	}
	m.kept, m.bytes = append(m.kept, r), m.bytes+r.bytes
	for m.bytes > maxMemory {
		m.bytes -= m.kept[0].bytes
		m.kept = slices.Delete(m.kept, 0, 1)
	}
}
