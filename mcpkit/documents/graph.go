package documents

import (
	"cmp"
	"context"
	"strconv"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
)

// maxHits bounds one page of a search.
const maxHits = 50

type searchArgs struct {
	Query  string `json:"query" jsonschema:"words that the node must have, in any order; each finds words that begin with it" schema:"minLength=1 maxLength=1000"`
	Limit  int    `json:"limit,omitempty" jsonschema:"most hits of a page, 20 if absent" schema:"minimum=1 maximum=50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

type hit struct {
	nodeInfo
	Score   int    `json:"score" jsonschema:"higher is better, within one search"`
	Snippet string `json:"snippet" jsonschema:"a line of the text"`
}

type searchPage struct {
	Items      []hit             `json:"items" jsonschema:"best first"`
	Total      int               `json:"total" jsonschema:"how many nodes have all words"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) searchTool(in *mcpkit.Installer) mcpkit.Tool[searchArgs, searchPage] {
	return mcpkit.Tool[searchArgs, searchPage]{
		Name:  "search",
		Title: "Search the documents",
		Description: "Search ids, titles, tags, headings and text of all documents; best hits first, each with a snippet. " +
			"Read a hit with " + in.ToolName("get_node") + " or " + in.ToolName("get_context") + ".",
		Effect: mcpkit.ReadOnly,
		Run:    d.search,
	}
}

func (d *documents) search(ctx context.Context, args searchArgs) (searchPage, error) {
	g, err := d.graph(ctx)
	if err != nil {
		return searchPage{}, err
	}
	limit := cmp.Or(args.Limit, 20)
	q := d.pager.Query("search", args.Query, strconv.Itoa(limit))
	revision := g.Snapshot().Revision
	from, err := q.Open(args.Cursor, revision)
	if err != nil {
		return searchPage{}, err
	}
	hits, total, err := g.Search(args.Query, from, limit)
	if err != nil {
		return searchPage{}, err
	}
	page := searchPage{Total: total, Provenance: d.provenance(g)}
	room := d.pager.Room() - paging.Cost(page)
	for _, h := range hits {
		item := hit{infoOf(h.Node), h.Score, h.Snippet}
		if room -= paging.Cost(item) + len(","); room < 0 && len(page.Items) > 0 {
			break
		}
		page.Items = append(page.Items, item)
	}
	if next := from + len(page.Items); next < total && len(page.Items) > 0 {
		page.NextCursor, err = q.Seal(next, revision)
	}
	return page, err
}

type filterArgs struct {
	Kind   string `json:"kind,omitempty" jsonschema:"only nodes of this kind, compared exactly"`
	Status string `json:"status,omitempty" jsonschema:"only nodes of this status, compared exactly"`
	Tag    string `json:"tag,omitempty" jsonschema:"only nodes with this tag, compared exactly"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// nodeList is one page of nodes.
type nodeList struct {
	Items      []nodeInfo        `json:"items"`
	Total      int               `json:"total" jsonschema:"how many there are in all"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

// list returns the page of nodes that cursor asks for, with room for extra bytes
// beside it.
func (d *documents) list(q paging.Query, cursor string, g *docgraph.Graph, nodes []changeset.Node, extra int) (nodeList, error) {
	list := nodeList{Total: len(nodes), Provenance: d.provenance(g)}
	items := make([]nodeInfo, len(nodes))
	for i, n := range nodes {
		items[i] = infoOf(n)
	}
	page, err := paging.Items(q, cursor, g.Snapshot().Revision, paging.Cost(list)+extra, items)
	list.Items, list.NextCursor = page.Items, page.NextCursor
	return list, err
}

func (d *documents) filterTool() mcpkit.Tool[filterArgs, nodeList] {
	return mcpkit.Tool[filterArgs, nodeList]{
		Name:        "filter_nodes",
		Title:       "List documents",
		Description: "List the documents of a kind, with a status or a tag, sorted by id; without arguments all of them.",
		Effect:      mcpkit.ReadOnly,
		Run: func(ctx context.Context, args filterArgs) (nodeList, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return nodeList{}, err
			}
			nodes := g.Filter(docgraph.Filter{Kind: args.Kind, Status: args.Status, Tag: args.Tag})
			return d.list(d.pager.Query("filter_nodes", args.Kind, args.Status, args.Tag), args.Cursor, g, nodes, 0)
		},
	}
}

func (d *documents) backlinksTool() mcpkit.Tool[nodeArgs, nodeList] {
	return mcpkit.Tool[nodeArgs, nodeList]{
		Name:        "backlinks",
		Title:       "List backlinks",
		Description: "List the documents that refer to a node directly: those that link to it by [[id]] or name it in depends_on, sorted by id.",
		Effect:      mcpkit.ReadOnly,
		Run: func(ctx context.Context, args nodeArgs) (nodeList, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return nodeList{}, err
			}
			nodes, err := g.Backlinks(args.ID)
			if err != nil {
				return nodeList{}, err
			}
			return d.list(d.pager.Query("backlinks", args.ID), args.Cursor, g, nodes, 0)
		},
	}
}

type dependencyList struct {
	nodeList
	Problems []problem `json:"problems" jsonschema:"cycles that were cut and dependencies that are no nodes, at most 20"`
}

// The problems beside a list are bounded in number and in bytes.
const (
	maxShown      = 20
	maxShownBytes = 3_000
)

// shown returns the first problems.
func shown(found []changeset.Problem) []problem {
	list, room := []problem{}, maxShownBytes
	for _, p := range found[:min(len(found), maxShown)] {
		item := problemOf(p)
		if room -= paging.Cost(item) + len(","); room < 0 && len(list) > 0 {
			break
		}
		list = append(list, item)
	}
	return list
}

func (d *documents) dependenciesTool() mcpkit.Tool[nodeArgs, dependencyList] {
	return mcpkit.Tool[nodeArgs, dependencyList]{
		Name:  "dependencies",
		Title: "List dependencies",
		Description: "List all that a document depends on, directly and through others, in dependency order: what others need comes first. " +
			"Cycles and missing nodes are named.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args nodeArgs) (dependencyList, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return dependencyList{}, err
			}
			nodes, found, err := g.Dependencies(args.ID)
			if err != nil {
				return dependencyList{}, err
			}
			problems := shown(found)
			list, err := d.list(d.pager.Query("dependencies", args.ID), args.Cursor, g, nodes, paging.Cost(problems))
			return dependencyList{list, problems}, err
		},
	}
}

type effect struct {
	nodeInfo
	Via []string `json:"via" jsonschema:"ids from the changed node to this one: each refers to the one before it; ... stands for a part of a long chain"`
}

// maxVia bounds a chain on the wire, in bytes.
const maxVia = 1_000

// chain returns the beginning of a chain of ids, and its end.
func chain(ids []string) []string {
	last := len(ids) - 1
	if paging.Cost(ids) <= maxVia {
		return ids
	}
	return append(names(ids[:last], maxVia-paging.Cost(ids[last])), ids[last])
}

type effectList struct {
	Items      []effect          `json:"items" jsonschema:"nearest first"`
	Total      int               `json:"total" jsonschema:"how many there are in all"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) impactTool() mcpkit.Tool[nodeArgs, effectList] {
	return mcpkit.Tool[nodeArgs, effectList]{
		Name:  "impact",
		Title: "Show what a change may touch",
		Description: "Show which documents a change of a node may touch: all that refer to it, directly or through others, nearest first, " +
			"each with the chain of ids that leads there.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args nodeArgs) (effectList, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return effectList{}, err
			}
			found, err := g.Impact(args.ID)
			if err != nil {
				return effectList{}, err
			}
			return d.effects(d.pager.Query("impact", args.ID), args.Cursor, g, found)
		},
	}
}

// effects returns one page of what a change may touch. It makes only the chains
// of that page: together those of a long chain grow with its square.
func (d *documents) effects(q paging.Query, cursor string, g *docgraph.Graph, found []docgraph.Effect) (effectList, error) {
	list := effectList{Total: len(found), Provenance: d.provenance(g)}
	revision := g.Snapshot().Revision
	from, err := q.Open(cursor, revision)
	if err != nil {
		return effectList{}, err
	}
	from = min(from, len(found))
	room := d.pager.Room() - paging.Cost(list)
	for _, e := range found[from:] {
		item := effect{infoOf(e.Node), chain(e.Via())}
		if room -= paging.Cost(item) + len(","); room < 0 && len(list.Items) > 0 {
			break
		}
		list.Items = append(list.Items, item)
	}
	if next := from + len(list.Items); next < len(found) {
		list.NextCursor, err = q.Seal(next, revision)
	}
	return list, err
}
