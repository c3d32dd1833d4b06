package discovery

import (
	"context"
	"errors"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/resolve"
	"github.com/mcpcontract/mcpcontract/result"
)

type repoArg struct {
	RepoID string `json:"repo_id" jsonschema:"id of the repository, also a former one" schema:"kind=id"`
}

type entrypointArgs struct {
	repoArg
	Path   string `json:"path" jsonschema:"a declared entrypoint, or any file below a declared resource root; relative to the repo, with forward slashes"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type viewArgs struct {
	repoArg
	View   string `json:"view" jsonschema:"which view to read" schema:"enum=manifest|start-here|capabilities|workflows|contracts"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// textPage is one page of a file.
type textPage struct {
	RepoID     string            `json:"repo_id"`
	Path       string            `json:"path" jsonschema:"relative to the repo"`
	Text       string            `json:"text" jsonschema:"the text of this page"`
	SHA256     string            `json:"sha256" jsonschema:"digest of the whole file" schema:"kind=sha256"`
	Size       int               `json:"size" jsonschema:"bytes of the whole file"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *discovery) entrypointTool(in *mcpkit.Installer) mcpkit.Tool[entrypointArgs, textPage] {
	return mcpkit.Tool[entrypointArgs, textPage]{
		Name:  "read_entrypoint",
		Title: "Read a declared file",
		Description: "Read a text file of a repository: an entrypoint or a file below a resource root, as " + in.ToolName("resolve_repo") +
			" lists them. Anything else is refused with what is declared. Long files come in pages.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args entrypointArgs) (textPage, error) {
			page, err := d.read(ctx, args.RepoID, args.Cursor, d.pager.Query("read_entrypoint", args.RepoID, args.Path),
				func(repo *resolve.Repo) (*resolve.File, error) { return repo.Open(ctx, args.Path) })
			return page, nameLister(err, in.ToolName("scan_root"))
		},
	}
}

func (d *discovery) viewTool() mcpkit.Tool[viewArgs, textPage] {
	return mcpkit.Tool[viewArgs, textPage]{
		Name:  "read_view",
		Title: "Read a view of a repository",
		Description: "Read one of the standard views of a repository: its manifest, start-here, capabilities, workflows or contracts document. " +
			"The same text is the resource repo://{repo}/{view}. Long views come in pages.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args viewArgs) (textPage, error) {
			return d.read(ctx, args.RepoID, args.Cursor, d.pager.Query("read_view", args.RepoID, args.View),
				func(repo *resolve.Repo) (*resolve.File, error) { return repo.View(ctx, args.View) })
		},
	}
}

// read returns one page of the file that get opens.
func (d *discovery) read(ctx context.Context, id, cursor string, q paging.Query, get func(*resolve.Repo) (*resolve.File, error)) (page textPage, err error) {
	err = d.repo(ctx, id, func(repo *resolve.Repo) error {
		file, err := get(repo)
		if err != nil {
			return err
		}
		text, err := file.Text()
		if err != nil {
			return err
		}
		from, err := q.Open(cursor, file.SHA256)
		if err != nil {
			return err
		}
		page = textPage{RepoID: repo.ID, Path: file.Path, SHA256: file.SHA256, Size: len(file.Data), Provenance: provenanceOf(repo, file)}
		next := 0
		page.Text, next = paging.Text(text, min(from, len(text)), d.pager.Room()-paging.Cost(page))
		if next > 0 {
			page.NextCursor, err = q.Seal(next, file.SHA256)
		}
		return err
	})
	return page, err
}

// nameLister completes the refusal to read a folder with the tool that lists it.
func nameLister(err error, tool string) error {
	e, ok := errors.AsType[*resolve.Error](err)
	if !ok || e.Code != resolve.FileRefused || len(e.Details.ResourceRoots) == 0 {
		return err
	}
	named := *e
	named.Message += "; call " + tool + " with that type"
	return &named
}

// provenanceOf describes where the text of a file comes from.
func provenanceOf(repo *resolve.Repo, file *resolve.File) result.Provenance {
	source := result.Provenance{
		Project:    repo.ID,
		Revision:   repo.Revision(),
		SourceHash: file.SHA256,
		Adapter:    "discovery/1",
		Staleness:  result.Current, // it was read for this very answer
	}
	if repo.Mode == resolve.Heuristic {
		source.Staleness = result.Unknown // nobody declares what it should be
	}
	return source
}
