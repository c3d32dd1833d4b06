package discovery

import (
	"context"
	"strconv"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
	"github.com/mcpcontract/mcpcontract/result"
)

type listArgs struct {
	Lifecycle       string `json:"lifecycle,omitempty" jsonschema:"only repos in this stage of life" schema:"enum=active|transitional|archived"`
	Owner           string `json:"owner,omitempty" jsonschema:"only repos of this owner, compared exactly"`
	RepoClass       string `json:"repo_class,omitempty" jsonschema:"only repos of this class, compared exactly"`
	IncludeArchived bool   `json:"includeArchived,omitempty" jsonschema:"list archived repos too; they are left out otherwise"`
	Cursor          string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type signals struct {
	HasDocs    bool `json:"has_docs"`
	HasMkdocs  bool `json:"has_mkdocs"`
	HasADR     bool `json:"has_adr"`
	HasIntents bool `json:"has_intents"`
}

type listedRepo struct {
	RepoID         string  `json:"repo_id"`
	RepoClass      string  `json:"repo_class"`
	Lifecycle      string  `json:"lifecycle"`
	Owner          string  `json:"owner"`
	ManifestSource string  `json:"manifest_source"`
	Signals        signals `json:"signals"`
}

func (d *discovery) reposTool(in *mcpkit.Installer) mcpkit.Tool[listArgs, result.Page[listedRepo]] {
	return mcpkit.Tool[listArgs, result.Page[listedRepo]]{
		Name:  "list_repos",
		Title: "List repositories",
		Description: "List the repositories that the workspace registry declares, sorted by repo_id, with class, lifecycle, owner and signals. " +
			"Start here to find a repo_id, then call " + in.ToolName("resolve_repo") + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(_ context.Context, args listArgs) (result.Page[listedRepo], error) {
			reg := d.resolver.Registry()
			query := d.pager.Query("list_repos", args.Lifecycle, args.Owner, args.RepoClass, strconv.FormatBool(args.IncludeArchived))
			return paging.Items(query, args.Cursor, reg.Digest(), 0, selectRepos(reg, args))
		},
	}
}

// selectRepos returns the repos that match, in the order of the registry. Asking
// for the lifecycle archived is asking for archived repos.
func selectRepos(reg *registry.Registry, args listArgs) []listedRepo {
	var found []listedRepo
	for repo := range reg.Repos() {
		switch {
		case repo.Lifecycle == registry.Archived && !args.IncludeArchived && args.Lifecycle != string(registry.Archived):
		case args.Lifecycle != "" && args.Lifecycle != string(repo.Lifecycle):
		case args.Owner != "" && args.Owner != repo.Owner:
		case args.RepoClass != "" && args.RepoClass != repo.Class:
		default:
			found = append(found, listedRepo{
				RepoID:         repo.ID,
				RepoClass:      repo.Class,
				Lifecycle:      string(repo.Lifecycle),
				Owner:          repo.Owner,
				ManifestSource: string(repo.ManifestSource),
				Signals:        signals(repo.Signals),
			})
		}
	}
	return found
}

type scanArgs struct {
	repoArg
	Type   string `json:"type" jsonschema:"a resource type that the repo declares, such as docs or adr; resolve_repo lists them under resource_roots"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type scannedFile struct {
	Path string `json:"path" jsonschema:"relative to the repo"`
	Size int64  `json:"size" jsonschema:"in bytes"`
}

func (d *discovery) scanTool(in *mcpkit.Installer) mcpkit.Tool[scanArgs, result.Page[scannedFile]] {
	return mcpkit.Tool[scanArgs, result.Page[scannedFile]]{
		Name:  "scan_root",
		Title: "List the files of a resource root",
		Description: "List the files below the declared resource roots of one type in a repository, sorted by path. " +
			"Each can be read with " + in.ToolName("read_entrypoint") + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args scanArgs) (page result.Page[scannedFile], err error) {
			err = d.repo(ctx, args.RepoID, func(repo *resolve.Repo) error {
				found, err := repo.Scan(ctx, args.Type)
				if err != nil {
					return err
				}
				files := make([]scannedFile, len(found))
				for i, f := range found {
					files[i] = scannedFile(f)
				}
				page, err = paging.Items(d.pager.Query("scan_root", args.RepoID, args.Type), args.Cursor, paging.Digest(files), 0, files)
				return err
			})
			return page, err
		},
	}
}
