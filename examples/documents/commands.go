package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
)

// decide lists what waits for approval, approves or rejects it. A candidate that
// is no longer what was proposed is shown as such, and cannot be approved.
func (c *config) decide(ctx context.Context, w io.Writer, ids []string) (err error) {
	p, err := open(c.root, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if p.tokens, err = p.openTokens(); err != nil {
		return err
	}
	if p.tokens != nil {
		p.closers = append(p.closers, p.tokens.Close)
	}
	switch {
	case len(ids) == 1 && ids[0] == "reject":
		return errors.New("name what to reject; without arguments approve lists what waits")
	case p.tokens == nil && len(ids) > 0:
		return errors.New("nothing waits for approval: no server with a writer has run in this project")
	case p.tokens == nil:
		_, err := fmt.Fprintln(w, "nothing waits for approval")
		return err
	}
	approvals := p.approvals(c.approve)
	approvals.Recheck = candidates.Recheck(p.area, p.candidates())
	return approvals.Decide(ctx, w, ids)
}

// patch prints a changeset for who carries it out, such as by
//
//	documents --project-root . patch ID | git apply
//
// Nothing here applies it.
func (c *config) patch(ctx context.Context, w io.Writer, id string) (err error) {
	p, err := open(c.root, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	diffs, err := p.store.Diff(ctx, id)
	if err != nil {
		return err
	}
	for _, d := range diffs {
		if _, err := io.WriteString(w, d.Unified); err != nil {
			return err
		}
	}
	return nil
}

// render writes the declared outputs, those of one view if it is named. It is
// for people: no tool of the server leads here.
func (c *config) render(ctx context.Context, w io.Writer, views []string) (err error) {
	p, err := open(c.root, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if len(views) == 1 {
		if _, err := p.file.View(views[0]); err != nil {
			return err
		}
	}
	root, err := rootfs.Open(c.root, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	written := 0
	for _, out := range p.file.Outputs {
		if len(views) == 1 && out.View != views[0] {
			continue
		}
		page, err := p.store.Render(ctx, out.View)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(out.Path), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(out.Path, page, 0o644); err != nil {
			return err
		}
		written++
		if _, err := fmt.Fprintf(w, "%s (%s, %d bytes)\n", out.Path, out.View, len(page)); err != nil {
			return err
		}
	}
	if written == 0 {
		_, err = fmt.Fprintln(w, "no output is declared for it; see outputs in mcpdocs.yaml")
	}
	return err
}
