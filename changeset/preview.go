package changeset

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// renderers are the names of the fixed registry. Nothing can be added to it.
func renderers() []string { return review.Renderers() }

// maxPreviews bounds the folder of the previews.
const maxPreviews = 1024

// view returns the declared view of that id.
func (s *Store) view(op, id string) (View, error) {
	i := slices.IndexFunc(s.opts.Views, func(v View) bool { return v.ID == id })
	if i < 0 {
		ids := make([]string, len(s.opts.Views))
		for i, v := range s.opts.Views {
			ids[i] = v.ID
		}
		return View{}, refusef(CodeView, op, "%s; declared: %s", wording.Quote(id, 80), cmp.Or(wording.QuoteAll(ids, 8, maxWord), "none"))
	}
	return s.opts.Views[i], nil
}

// Preview shows the changeset id in the declared view viewID: it writes one
// page, self-contained and inert, into the folder of the previews and nowhere
// else, durably and at once, and replaces the page that it wrote for the two
// before. The same changeset and project, and what Validate says, give the same
// bytes.
//
// The error's code is view_unknown, changeset_unknown, changeset_damaged,
// too_many if the folder has more than 1,024 entries, source_failed,
// changeset_locked, or changeset_io.
func (s *Store) Preview(ctx context.Context, id, viewID string) (Preview, error) {
	const op = "preview"
	v, err := s.view(op, viewID)
	if err != nil {
		return Preview{}, in(id, err)
	}
	r, err := s.get(ctx, op, id)
	if err != nil {
		return Preview{}, err
	}
	snap, err := s.snapshot(ctx, op)
	if err != nil {
		return Preview{}, in(id, err)
	}
	found, err := s.validate(ctx, r, snap)
	if err != nil {
		return Preview{}, in(id, err)
	}
	html, err := render(op, v, modelOf(v, snap, r, found))
	if err != nil {
		return Preview{}, in(id, err)
	}
	p := s.opts.Previews + "/" + id + "-" + v.ID + ".html"
	if err := s.writePreview(ctx, op, p, html); err != nil {
		return Preview{}, in(id, err)
	}
	return Preview{Path: p, SHA256: canon.Sum(html)}, nil
}

// writePreview writes a page under the lock.
func (s *Store) writePreview(ctx context.Context, op, p string, html []byte) error {
	lock, err := s.lock(ctx, op)
	if err != nil {
		return err
	}
	defer lock.Unlock() //nolint:errcheck // the work is done, and the lock ends with its file
	dir := s.opts.Previews
	if err := s.files.MkdirAll(dir, 0o755); err != nil {
		return wrap(op, dir, err)
	}
	if _, err := s.files.ReadDir(dir, maxPreviews); err != nil {
		return wrap(op, dir, err)
	}
	return wrap(op, p, s.put(p, html))
}

// Render returns what the declared view viewID gives of the project as it is,
// without any changeset. It is for whoever writes declared outputs; this
// package never does.
//
// The error's code is view_unknown or source_failed.
func (s *Store) Render(ctx context.Context, viewID string) ([]byte, error) {
	const op = "render"
	v, err := s.view(op, viewID)
	if err != nil {
		return nil, err
	}
	snap, err := s.snapshot(ctx, op)
	if err != nil {
		return nil, err
	}
	return render(op, v, modelOf(v, snap, nil, Validation{}))
}

// maxOutput is the largest output that is compared, well above what a view
// gives.
const maxOutput = 4 * review.MaxPage

// RenderStatus compares every declared output, in order, with what its view
// gives now. Nothing is written. What cannot be read, also because it is no
// regular file with one name below the root, has the state unreadable.
//
// The error's code is source_failed.
func (s *Store) RenderStatus(ctx context.Context) ([]OutputStatus, error) {
	expected := map[string]string{}
	all := make([]OutputStatus, 0, len(s.opts.Outputs))
	for _, out := range s.opts.Outputs {
		if expected[out.View] == "" {
			html, err := s.Render(ctx, out.View)
			if err != nil {
				return nil, err
			}
			expected[out.View] = canon.Sum(html)
		}
		status := OutputStatus{Path: out.Path, View: out.View, Expected: expected[out.View], State: "stale"}
		sum, _, err := s.files.Hash(out.Path, maxOutput)
		switch rootfs.CodeOf(err) {
		case "":
			status.Actual = hex.EncodeToString(sum[:])
			if status.Actual == status.Expected {
				status.State = "current"
			}
		case rootfs.NotFound:
			status.State = "missing"
		default:
			status.State = "unreadable"
		}
		all = append(all, status)
	}
	return all, nil
}

// render makes a page.
func render(op string, v View, m *review.Model) ([]byte, error) {
	html, err := review.Render(v.Renderer, m)
	if err != nil {
		return nil, &Error{Code: CodeView, Op: op, Err: err}
	}
	return html, nil
}

// modelOf returns what a page shows of the project and, unless it is nil, of a
// changeset. Only what is stored or derived from the snapshot goes into it, so
// that a page can be compared with one that somebody else made.
func modelOf(v View, snap *Snapshot, r *record, found Validation) *review.Model {
	m := &review.Model{Project: snap.Project, Revision: snap.Revision, View: cmp.Or(v.Title, v.ID)}
	nodes, ops := snap.Nodes, map[string]Op{}
	if r != nil {
		m.ChangesetID, m.Title, m.Description, m.Writer = r.ID, r.Title, r.Description, r.Writer
		m.Digest, m.Created = r.Digest, r.Created
		nodes = r.after(snap.Nodes)
		for i, o := range r.Operations {
			ops[o.newIDOf()] = o.Op
			m.Changes = append(m.Changes, review.Change{
				Op: string(o.Op), ID: o.ID, Kind: o.Kind, Title: o.Title, OldPath: o.OldPath, NewPath: o.NewPath,
				Old: r.files[i].old, New: r.files[i].new, BaseHash: o.BaseHash, NewHash: o.NewHash,
			})
		}
	}
	for _, p := range found.Problems {
		m.Problems = append(m.Problems, review.Problem(p))
	}
	for _, n := range nodes {
		m.Nodes = append(m.Nodes, review.Node{
			ID: n.ID, Kind: n.Kind, Title: n.Title, Status: n.Status, Path: n.Path,
			DependsOn: n.DependsOn, Links: n.Links, Tags: n.Tags, Op: string(ops[n.ID]),
		})
	}
	return m
}
