package documents

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
)

type noArgs struct{}

// nodeArgs name a node, and a page of what is said about it.
type nodeArgs struct {
	ID     string `json:"id" jsonschema:"id of a node, as lists of nodes have it" schema:"minLength=1 maxLength=1024"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// nodeInfo is what replies say of a node.
type nodeInfo struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Kind   string   `json:"kind"`
	Status string   `json:"status,omitempty"`
	Path   string   `json:"path" jsonschema:"relative to the folder of the documents"`
	Tags   []string `json:"tags,omitempty" jsonschema:"... at the end stands for more"`
}

func infoOf(n changeset.Node) nodeInfo {
	return nodeInfo{ID: n.ID, Title: word(n.Title), Kind: word(n.Kind), Status: word(n.Status), Path: n.Path, Tags: names(n.Tags, maxTags)}
}

// Files may say what they like at any length, and one that does must not make a
// page of a list too large to be sent, since nothing after it could be read.
const (
	maxText = 200   // bytes of a kind, a status or a title
	maxTags = 1_000 // bytes of all tags of a node on the wire
	maxRefs = 2_000 // bytes of all its links, and of all that it depends on
)

// word cuts a text that should be a few words.
func word(s string) string { return wording.Clip(s, maxText) }

// names cuts a list to so many bytes on the wire, with a mark where it does.
func names(list []string, limit int) []string {
	for i, name := range list {
		if limit -= paging.Cost(name) + len(","); limit < 0 {
			return append(slices.Clone(list[:i]), wording.Mark)
		}
	}
	return list
}

func (d *documents) readTools(in *mcpkit.Installer) []mcpkit.Feature {
	return []mcpkit.Feature{
		d.infoTool(in).Install,
		d.statusTool().Install,
		d.contractTool().Install,
		d.nodeTool(in).Install,
		d.searchTool(in).Install,
		d.filterTool().Install,
		d.backlinksTool().Install,
		d.dependenciesTool().Install,
		d.impactTool().Install,
		d.contextTool(in).Install,
		d.validateTool().Install,
		d.renderStatusTool().Install,
	}
}

type count struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes" jsonschema:"how many nodes have it"`
}

type view struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Renderer string `json:"renderer"`
}

type projectInfo struct {
	Project  string `json:"project"`
	Title    string `json:"title"`
	Nodes    int    `json:"nodes" jsonschema:"how many documents there are"`
	Bytes    int64  `json:"bytes" jsonschema:"of all documents"`
	Problems struct {
		Errors   int `json:"errors"`
		Warnings int `json:"warnings"`
	} `json:"problems" jsonschema:"how many a validation of the project lists"`
	Kinds      []count           `json:"kinds" jsonschema:"most frequent first"`
	Statuses   []count           `json:"statuses" jsonschema:"most frequent first"`
	Tags       []count           `json:"tags" jsonschema:"most frequent first"`
	Views      []view            `json:"views" jsonschema:"views that a changeset can be previewed in"`
	Provenance result.Provenance `json:"provenance"`
}

// maxCounts bounds each list of project_info.
const maxCounts = 20

func (d *documents) infoTool(in *mcpkit.Installer) mcpkit.Tool[noArgs, projectInfo] {
	return mcpkit.Tool[noArgs, projectInfo]{
		Name:  "project_info",
		Title: "Describe the project",
		Description: "Describe the documentation project: its title, how many nodes, kinds, statuses and tags there are, its problems and declared views. " +
			"Find nodes with " + in.ToolName("search") + " or " + in.ToolName("filter_nodes") + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, _ noArgs) (projectInfo, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return projectInfo{}, err
			}
			return d.info(g), nil
		},
	}
}

func (d *documents) info(g *docgraph.Graph) projectInfo {
	s := g.Snapshot()
	info := projectInfo{Project: s.Project, Title: d.opts.Title, Nodes: len(s.Nodes), Views: views(d.opts.Contract.Views), Provenance: d.provenance(g)}
	if info.Title == "" {
		info.Title = s.Project
	}
	kinds, statuses, tags := map[string]int{}, map[string]int{}, map[string]int{}
	for _, n := range s.Nodes {
		info.Bytes += n.Size
		kinds[n.Kind]++
		if n.Status != "" {
			statuses[n.Status]++
		}
		for _, tag := range n.Tags {
			tags[tag]++
		}
	}
	info.Kinds, info.Statuses, info.Tags = counts(kinds), counts(statuses), counts(tags)
	for _, p := range g.Validate() {
		if p.Severity == changeset.SeverityError {
			info.Problems.Errors++
		} else {
			info.Problems.Warnings++
		}
	}
	return info
}

// counts returns the most frequent names.
func counts(of map[string]int) []count {
	list := make([]count, 0, len(of))
	for name, n := range of {
		list = append(list, count{word(name), n})
	}
	slices.SortFunc(list, func(a, b count) int {
		if a.Nodes != b.Nodes {
			return b.Nodes - a.Nodes
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list[:min(len(list), maxCounts)]
}

func views(declared []changeset.View) []view {
	list := make([]view, len(declared))
	for i, v := range declared {
		list[i] = view(v)
		if v.Title == "" {
			list[i].Title = v.ID
		}
	}
	return list
}

// nodePage is one page of a document.
type nodePage struct {
	nodeInfo
	DependsOn  []string          `json:"depends_on" jsonschema:"ids that the front matter names; ... at the end stands for more"`
	Links      []string          `json:"links" jsonschema:"ids that the text links to; ... at the end stands for more"`
	SHA256     string            `json:"sha256" jsonschema:"digest of the whole file" schema:"kind=sha256"`
	Size       int64             `json:"size" jsonschema:"bytes of the whole file"`
	Text       string            `json:"text" jsonschema:"this page of the Markdown after the front matter"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) nodeTool(in *mcpkit.Installer) mcpkit.Tool[nodeArgs, nodePage] {
	return mcpkit.Tool[nodeArgs, nodePage]{
		Name:  "get_node",
		Title: "Read a document",
		Description: "Read one document of the project by its id: front matter fields and the Markdown text, long texts in pages. " +
			"To read it together with what it depends on, use " + in.ToolName("get_context") + ".",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args nodeArgs) (nodePage, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return nodePage{}, err
			}
			body, err := g.Body(args.ID)
			if err != nil {
				return nodePage{}, err
			}
			n, _ := g.Node(args.ID)
			q := d.pager.Query("get_node", args.ID)
			from, err := q.Open(args.Cursor, n.Hash)
			if err != nil {
				return nodePage{}, err
			}
			page := nodePage{
				nodeInfo: infoOf(n), DependsOn: names(n.DependsOn, maxRefs), Links: names(n.Links, maxRefs), SHA256: n.Hash, Size: n.Size,
				Provenance: provenance(g, d.opts.Adapter, n.Hash),
			}
			text := strings.ToValidUTF8(string(body), "\uFFFD")
			// What is said about the node must not leave a page without text.
			room := max(d.pager.Room()-paging.Cost(page), d.opts.MaxPage/4)
			next := 0
			page.Text, next = paging.Text(text, min(from, len(text)), room)
			if next > 0 {
				page.NextCursor, err = q.Seal(next, n.Hash)
			}
			return page, err
		},
	}
}

type pageArgs struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// problem is a changeset.Problem on the wire.
type problem struct {
	Code     string `json:"code"`
	Severity string `json:"severity" schema:"enum=error|warning"`
	ID       string `json:"id,omitempty" jsonschema:"the node"`
	Path     string `json:"path,omitempty" jsonschema:"the file, relative to the folder of the documents"`
	Message  string `json:"message"`
}

// maxMessage bounds what is said of one problem, in bytes.
const maxMessage = 1_000

func problemOf(p changeset.Problem) problem {
	p.Message = wording.Clip(p.Message, maxMessage)
	return problem(p)
}

type validation struct {
	Valid      bool              `json:"valid" jsonschema:"whether no problem is an error"`
	Problems   []problem         `json:"problems"`
	Total      int               `json:"total" jsonschema:"how many problems there are in all"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) validateTool() mcpkit.Tool[pageArgs, validation] {
	return mcpkit.Tool[pageArgs, validation]{
		Name:  "validate_project",
		Title: "Validate the project",
		Description: "List what is wrong with the documents as they are: links and dependencies that lead nowhere, duplicate ids, cycles, " +
			"front matter that cannot be read, files that are left out. Run it before the last step of a task.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args pageArgs) (validation, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return validation{}, err
			}
			return d.problems(d.pager.Query("validate_project"), args.Cursor, g, g.Validate())
		},
	}
}

// problems returns one page of a list of problems.
func (d *documents) problems(q paging.Query, cursor string, g *docgraph.Graph, found []changeset.Problem) (validation, error) {
	v := validation{Valid: true, Total: len(found), Provenance: d.provenance(g)}
	list := make([]problem, len(found))
	for i, p := range found {
		list[i] = problemOf(p)
		v.Valid = v.Valid && p.Severity != changeset.SeverityError
	}
	page, err := paging.Items(q, cursor, paging.Digest(list), paging.Cost(v), list)
	v.Problems, v.NextCursor = page.Items, page.NextCursor
	return v, err
}

type outputStatus struct {
	View     string `json:"view"`
	Path     string `json:"path" jsonschema:"relative to the project"`
	State    string `json:"state" schema:"enum=current|stale|missing|unreadable"`
	Expected string `json:"expected" jsonschema:"digest of what the view gives now" schema:"kind=sha256"`
	Actual   string `json:"actual,omitempty" jsonschema:"digest of the file" schema:"kind=sha256"`
}

type renderStatus struct {
	Items      []outputStatus    `json:"items"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) renderStatusTool() mcpkit.Tool[noArgs, renderStatus] {
	return mcpkit.Tool[noArgs, renderStatus]{
		Name:  "render_status",
		Title: "Check declared outputs",
		Description: "Compare every declared output of the project with what its view gives now, by hashes: current, stale, missing or unreadable. " +
			"It renders in memory and writes nothing; a person renders outputs with a command.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, _ noArgs) (renderStatus, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return renderStatus{}, err
			}
			status := renderStatus{Provenance: d.provenance(g)}
			if d.opts.Store == nil {
				return status, nil // nothing is declared
			}
			found, err := d.opts.Store.RenderStatus(ctx)
			for _, o := range found {
				status.Items = append(status.Items, outputStatus{View: o.View, Path: o.Path, State: o.State, Expected: o.Expected, Actual: o.Actual})
			}
			return status, err
		},
	}
}
