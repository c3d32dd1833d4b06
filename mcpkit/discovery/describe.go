package discovery

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// unknown stands for what nobody declares about an unregistered repo.
const unknown = "unknown"

type description struct {
	RepoID         string              `json:"repo_id" jsonschema:"the id in force, also if a former one was asked for"`
	Root           string              `json:"root" jsonschema:"folder of the repo relative to the workspace root"`
	DiscoveryMode  string              `json:"discovery_mode" schema:"enum=manifest-backed|registry-fallback|heuristic"`
	ManifestSource string              `json:"manifest_source" schema:"enum=repo|generated|unknown"`
	RepoClass      string              `json:"repo_class"`
	Lifecycle      string              `json:"lifecycle" schema:"enum=active|transitional|archived|unknown"`
	Owner          string              `json:"owner"`
	Signals        signals             `json:"signals"`
	SafeToProbe    bool                `json:"safe_to_probe"`
	AuthorityOrder []string            `json:"authority_order" jsonschema:"what outranks what, highest first"`
	Manifest       *manifestRef        `json:"manifest,omitempty"`
	Entrypoints    []entrypoint        `json:"entrypoints" jsonschema:"files to read first, in order"`
	ResourceRoots  map[string][]string `json:"resource_roots" jsonschema:"folders that may be listed and read, by type"`
	Views          map[string]string   `json:"views" jsonschema:"path of each view there is"`
	Notices        []notice            `json:"notices" jsonschema:"what is wrong or unusual"`
	Steps          []step              `json:"steps" jsonschema:"how the answer was found, in order"`
}

type manifestRef struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256" schema:"kind=sha256"`
}

type entrypoint struct {
	Path   string `json:"path"`
	Status string `json:"status" schema:"enum=present|missing|not-a-file|outside-root|too-large|unreadable"`
	Size   *int64 `json:"size,omitempty" jsonschema:"in bytes"`
	SHA256 string `json:"sha256,omitempty" schema:"kind=sha256"`
}

type notice struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
}

type step struct {
	Step    string `json:"step" schema:"enum=registry|manifest|entrypoints|heuristic"`
	Outcome string `json:"outcome"`
}

func (d *discovery) resolveTool(in *mcpkit.Installer) mcpkit.Tool[repoArg, description] {
	return mcpkit.Tool[repoArg, description]{
		Name:  "resolve_repo",
		Title: "Resolve a repository",
		Description: "Resolve a repository by id: the registry first, then its manifest if the registry declares one. Says which files may be read and in which order, " +
			"who has authority, which views exist, and what is out of date. Read the files with " + in.ToolName("read_entrypoint") + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args repoArg) (reply description, err error) {
			err = d.repo(ctx, args.RepoID, func(repo *resolve.Repo) error {
				entrypoints, notices, err := repo.Inspect(ctx)
				if err == nil {
					reply = d.describe(repo, entrypoints, slices.Concat(repo.Notices, notices))
				}
				return err
			})
			return reply, err
		},
	}
}

// describe writes down a resolved repo. Where the whole would be over the budget,
// the digests of the entrypoints go first: reading a file gives its digest too.
func (d *discovery) describe(repo *resolve.Repo, entrypoints []resolve.Entrypoint, notices []resolve.Notice) description {
	reply := description{
		RepoID:         repo.ID,
		Root:           repo.Root,
		DiscoveryMode:  string(repo.Mode),
		ManifestSource: cmp.Or(string(repo.Entry.ManifestSource), unknown),
		RepoClass:      repo.Class,
		Lifecycle:      cmp.Or(string(repo.Entry.Lifecycle), unknown),
		Owner:          repo.Owner,
		Signals:        signals(repo.Entry.Signals),
		SafeToProbe:    repo.Entry.SafeToProbe,
		AuthorityOrder: repo.AuthorityOrder,
		ResourceRoots:  make(map[string][]string, len(repo.ResourceRoots)),
		Views:          repo.Views,
	}
	if repo.ManifestFile != nil {
		reply.Manifest = &manifestRef{Path: repo.ManifestFile.Path, SHA256: repo.ManifestFile.SHA256}
	}
	for _, root := range repo.ResourceRoots {
		reply.ResourceRoots[root.Type] = root.Paths
	}
	for _, s := range repo.Steps {
		reply.Steps = append(reply.Steps, step{Step: s.Name, Outcome: s.Outcome})
	}
	for _, n := range notices {
		reply.Notices = append(reply.Notices, notice{Code: string(n.Code), Message: n.Message, Path: n.Path})
	}
	for _, e := range entrypoints {
		shown := entrypoint{Path: e.Path, Status: string(e.Status), SHA256: e.SHA256}
		if e.SHA256 != "" {
			shown.Size = &e.Size
		}
		reply.Entrypoints = append(reply.Entrypoints, shown)
	}
	if cost(reply) > d.opts.MaxPage-envelope {
		for i := range reply.Entrypoints {
			reply.Entrypoints[i].SHA256, reply.Entrypoints[i].Size = "", nil
		}
	}
	return reply
}
