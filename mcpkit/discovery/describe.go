package discovery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
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
// the digests of the entrypoints go first, since reading a file gives its digest
// too, then the ends of the longest lists.
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
	if paging.Cost(reply) > d.opts.MaxPage-paging.Envelope {
		for i := range reply.Entrypoints {
			reply.Entrypoints[i].SHA256, reply.Entrypoints[i].Size = "", nil
		}
		cutLists(&reply, d.opts.MaxPage-paging.Envelope)
	}
	return reply
}

const (
	codeListCut = "list_cut" // a notice: a list of the reply is not whole
	cutNotices  = 1024       // bytes kept free for them
)

// cutLists halves whichever list costs most until the reply is within limit, and
// says so in notices. What is cut stays declared: it can be read by its path.
func cutLists(reply *description, limit int) {
	lists := []*cutList{
		sliceList("entrypoints", &reply.Entrypoints),
		sliceList("notices", &reply.Notices),
		sliceList("authority_order", &reply.AuthorityOrder),
		mapList("views", &reply.Views),
		mapList("resource_roots", &reply.ResourceRoots),
	}
	for paging.Cost(*reply) > limit-cutNotices {
		worst := slices.MaxFunc(lists, func(a, b *cutList) int { return cmp.Compare(a.cost(), b.cost()) })
		if worst.len() == 0 {
			break // what is left is bounded by the registry
		}
		worst.keep(worst.len() / 2)
	}
	for _, l := range lists {
		if shown := l.len(); shown < l.total {
			reply.Notices = append(reply.Notices, notice{
				Code:    codeListCut,
				Message: fmt.Sprintf("%s: %d of %d are shown, to keep the reply short; the others can be used all the same", l.name, shown, l.total),
			})
		}
	}
}

// cutList is a list of a reply that can be shortened.
type cutList struct {
	name  string
	total int
	len   func() int
	cost  func() int
	keep  func(n int) // the first n, in the order of the reply
}

func sliceList[T any](name string, list *[]T) *cutList {
	return &cutList{
		name: name, total: len(*list),
		len:  func() int { return len(*list) },
		cost: func() int { return paging.Cost(*list) },
		keep: func(n int) { *list = (*list)[:n:n] },
	}
}

func mapList[T any](name string, list *map[string]T) *cutList {
	return &cutList{
		name: name, total: len(*list),
		len:  func() int { return len(*list) },
		cost: func() int { return paging.Cost(*list) },
		keep: func(n int) {
			kept := make(map[string]T, n)
			for _, key := range slices.Sorted(maps.Keys(*list))[:n] {
				kept[key] = (*list)[key]
			}
			*list = kept
		},
	}
}
