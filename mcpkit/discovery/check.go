package discovery

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/result"
)

type checkArgs struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type problem struct {
	Code     string `json:"code"`
	Severity string `json:"severity" schema:"enum=reject|warn"`
	Message  string `json:"message"`
	RepoID   string `json:"repo_id,omitempty"`
	Field    string `json:"field,omitempty" jsonschema:"the field concerned"`
	File     string `json:"file,omitempty" jsonschema:"the registry or a manifest, relative to the workspace"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

// checkLife is how long the pages of one listing come from one check. Whoever
// takes longer is told if something changed meanwhile.
const checkLife = time.Minute

// listing is what one check found.
type listing struct {
	registry string // digest of the registry that was checked
	snapshot string // digest of the problems
	problems []problem
	made     time.Time
}

// lastListing is the listing whose pages somebody is reading: a check looks at
// every repo, which is too much to do again for each page. Where several read at
// once, those whose listing was displaced get a new check.
type lastListing struct {
	mu   sync.Mutex
	kept *listing
}

// of returns the listing that the cursor of q leads through, nil if it is not
// kept any more.
func (l *lastListing) of(q paging.Query, cursor, reg string) *listing {
	l.mu.Lock()
	kept := l.kept
	l.mu.Unlock()
	if cursor == "" || kept == nil || kept.registry != reg || time.Since(kept.made) > checkLife {
		return nil
	}
	if _, err := q.Open(cursor, kept.snapshot); err != nil {
		return nil
	}
	return kept
}

// keep keeps a listing of which there is more to read, and forgets it after its
// last page.
func (l *lastListing) keep(list *listing, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case more:
		l.kept = list
	case l.kept == list:
		l.kept = nil
	}
}

func (d *discovery) checkTool() mcpkit.Tool[checkArgs, result.Page[problem]] {
	return mcpkit.Tool[checkArgs, result.Page[problem]]{
		Name:  "check_registry",
		Title: "Check the registry",
		Description: "Compare the workspace registry with the disk and list the drift: declared files that are missing, manifests that are not declared, " +
			"repos whose folder is gone, ids that differ. It changes nothing.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args checkArgs) (result.Page[problem], error) {
			reg, query := d.resolver.Registry(), d.pager.Query("check_registry")
			list := d.checked.of(query, args.Cursor, reg.Digest())
			if list == nil {
				var err error
				if list, err = check(ctx, reg); err != nil {
					return result.Page[problem]{}, err
				}
			}
			page, err := paging.Items(query, args.Cursor, list.snapshot, 0, list.problems)
			if err == nil {
				d.checked.keep(list, page.NextCursor != "")
			}
			return page, err
		},
	}
}

// check lists what is wrong with a registry: what loading it warned of, and where
// it and the disk have come apart.
func check(ctx context.Context, reg *registry.Registry) (*listing, error) {
	list := &listing{registry: reg.Digest(), made: time.Now()}
	found, err := registry.Check(ctx, reg, nil)
	if fault, ok := errors.AsType[*registry.Error](err); ok {
		// Its text and details name folders of the machine.
		err = &result.Error{Code: CodeWorkspaceUnreadable, Message: "the folder of the workspace cannot be opened; ask the operator", Err: fault}
	}
	if err != nil {
		return nil, err
	}
	for _, p := range append(reg.Warnings(), found...) {
		list.problems = append(list.problems, problem{
			Code: string(p.Code), Severity: string(p.Severity), Message: p.Message,
			RepoID: p.RepoID, Field: p.Field, File: inWorkspace(reg, &p), Line: p.Line, Column: p.Column,
		})
	}
	list.snapshot = paging.Digest(list.problems)
	return list, nil
}

// inWorkspace names the file of a problem without saying where the workspace
// lies: relative to its root, or by the last part of its name if it lies
// elsewhere.
func inWorkspace(reg *registry.Registry, p *registry.Problem) string {
	if repo, ok := reg.Lookup(p.RepoID); ok && p.File == path.Join(repo.Path, repo.ManifestPath) {
		return p.File // a manifest, which is named so already
	}
	if p.File == "" {
		return "" // it was read from memory
	}
	name, err := filepath.Abs(p.File)
	if err != nil {
		return filepath.Base(p.File)
	}
	rel, err := filepath.Rel(reg.Root(), name)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.Base(name)
	}
	return filepath.ToSlash(rel)
}
