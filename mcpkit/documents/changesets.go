package documents

import (
	"context"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
)

type changesetArgs struct {
	ChangesetID string `json:"changesetId" jsonschema:"id of a changeset, as it was created or listed" schema:"pattern=^cs-[a-z2-7]{26}$"`
	Cursor      string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// changesetInfo is what replies say of a changeset: of a damaged one only which.
type changesetInfo struct {
	ChangesetID string    `json:"changesetId" schema:"pattern=^cs-[a-z2-7]{26}$"`
	Title       string    `json:"title,omitzero"`
	Writer      string    `json:"writer,omitzero" jsonschema:"who may change it"`
	Created     time.Time `json:"created,omitzero"`
	Updated     time.Time `json:"updated,omitzero"`
	Revision    string    `json:"revision,omitzero" jsonschema:"revision of the project when it was created"`
}

func changesetInfoOf(c changeset.Changeset) changesetInfo {
	return changesetInfo{ChangesetID: c.ID, Title: c.Title, Writer: c.Writer, Created: c.Created, Updated: c.Updated, Revision: c.Revision}
}

// operation is a changeset.Operation on the wire.
type operation struct {
	Op       string `json:"op" schema:"enum=create|update|move|delete"`
	ID       string `json:"id"`
	NewID    string `json:"newId,omitempty" jsonschema:"the id afterwards, where it follows the path"`
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	OldPath  string `json:"oldPath,omitempty" jsonschema:"relative to the folder of the documents"`
	NewPath  string `json:"newPath,omitempty" jsonschema:"relative to the folder of the documents"`
	BaseHash string `json:"baseHash,omitempty" jsonschema:"digest of the file that it was proposed on" schema:"kind=sha256"`
	NewHash  string `json:"newHash,omitempty" jsonschema:"digest of the proposed file" schema:"kind=sha256"`
	OldSize  int64  `json:"oldSize"`
	NewSize  int64  `json:"newSize"`
}

func operationOf(o changeset.Operation) operation {
	return operation{
		Op: string(o.Op), ID: o.ID, NewID: o.NewID, Kind: word(o.Kind), Title: word(o.Title), OldPath: o.OldPath, NewPath: o.NewPath,
		BaseHash: o.BaseHash, NewHash: o.NewHash, OldSize: o.OldSize, NewSize: o.NewSize,
	}
}

func (d *documents) changesetTools(in *mcpkit.Installer) []mcpkit.Feature {
	return []mcpkit.Feature{
		d.listTool(in).Install,
		d.getTool().Install,
		d.validateChangesetTool().Install,
		d.diffTool().Install,
		d.previewTool(in).Install,
	}
}

type listedChangeset struct {
	changesetInfo
	Operations int  `json:"operationCount" jsonschema:"how many nodes it changes"`
	Damaged    bool `json:"damaged,omitempty" jsonschema:"its file cannot be read, and nothing else is known of it; a person may remove it"`
}

type changesetList struct {
	Items      []listedChangeset `json:"items" jsonschema:"oldest first"`
	Total      int               `json:"total" jsonschema:"how many there are in all"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) listTool(in *mcpkit.Installer) mcpkit.Tool[pageArgs, changesetList] {
	return mcpkit.Tool[pageArgs, changesetList]{
		Name:        "list_changesets",
		Title:       "List changesets",
		Description: "List all changesets that wait for a person, with their writers and how much they change. Read one with " + in.ToolName("get_changeset") + ".",
		Effect:      mcpkit.ReadOnly,
		Run: func(ctx context.Context, args pageArgs) (changesetList, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return changesetList{}, err
			}
			all, err := d.opts.Store.List(ctx)
			if err != nil {
				return changesetList{}, err
			}
			list := changesetList{Total: len(all), Provenance: d.provenance(g)}
			items := make([]listedChangeset, len(all))
			for i, c := range all {
				items[i] = listedChangeset{changesetInfoOf(c), len(c.Operations), c.Damaged}
			}
			page, err := paging.Items(d.pager.Query("list_changesets"), args.Cursor, paging.Digest(items), paging.Cost(list), items)
			list.Items, list.NextCursor = page.Items, page.NextCursor
			return list, err
		},
	}
}

type changesetPage struct {
	changesetInfo
	Description string            `json:"description,omitempty"`
	Digest      string            `json:"digest" jsonschema:"digest of the changeset with every proposed byte" schema:"kind=sha256"`
	Operations  []operation       `json:"operations"`
	Total       int               `json:"total" jsonschema:"how many operations there are in all"`
	NextCursor  string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance  result.Provenance `json:"provenance"`
}

func (d *documents) getTool() mcpkit.Tool[changesetArgs, changesetPage] {
	return mcpkit.Tool[changesetArgs, changesetPage]{
		Name:        "get_changeset",
		Title:       "Read a changeset",
		Description: "Read a changeset: title, description, writer and its operations with the digests of the files before and after.",
		Effect:      mcpkit.ReadOnly,
		Run: func(ctx context.Context, args changesetArgs) (changesetPage, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return changesetPage{}, err
			}
			c, err := d.opts.Store.Get(ctx, args.ChangesetID)
			if err != nil {
				return changesetPage{}, err
			}
			page := changesetPage{
				changesetInfo: changesetInfoOf(c), Description: c.Description, Digest: c.Digest, Total: len(c.Operations),
				Provenance: d.provenance(g),
			}
			items := make([]operation, len(c.Operations))
			for i, o := range c.Operations {
				items[i] = operationOf(o)
			}
			list, err := paging.Items(d.pager.Query("get_changeset", args.ChangesetID), args.Cursor, c.Digest, paging.Cost(page), items)
			page.Operations, page.NextCursor = list.Items, list.NextCursor
			return page, err
		},
	}
}

func (d *documents) validateChangesetTool() mcpkit.Tool[changesetArgs, validation] {
	return mcpkit.Tool[changesetArgs, validation]{
		Name:  "validate_changeset",
		Title: "Validate a changeset",
		Description: "Hold a changeset against the project as it is now: nodes that moved on since (base_stale), ids and paths taken, " +
			"links left dangling, operations that conflict, and what the rules of the project say.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, args changesetArgs) (validation, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return validation{}, err
			}
			v, err := d.opts.Store.Validate(ctx, args.ChangesetID)
			if err != nil {
				return validation{}, err
			}
			return d.problems(d.pager.Query("validate_changeset", args.ChangesetID), args.Cursor, g, v.Problems)
		},
	}
}

// diffPart is what an operation does to its file, or a part of that.
type diffPart struct {
	Op      string `json:"op" schema:"enum=create|update|move|delete"`
	ID      string `json:"id"`
	OldPath string `json:"oldPath,omitempty" jsonschema:"relative to the folder of the documents"`
	NewPath string `json:"newPath,omitempty" jsonschema:"relative to the folder of the documents"`
	Added   int    `json:"added" jsonschema:"lines of the whole diff of this node"`
	Removed int    `json:"removed" jsonschema:"lines of the whole diff of this node"`
	Unified string `json:"unified" jsonschema:"unified diff with the headers of git, with paths relative to the project, and only these if a file moves; all joined are a patch for git apply"`
	Offset  int    `json:"offset,omitempty" jsonschema:"where this part starts in the diff of the node, in bytes"`
	Partial bool   `json:"partial,omitempty" jsonschema:"this is a part of a long diff; other pages have the rest"`
}

type diffPage struct {
	ChangesetID string            `json:"changesetId" schema:"pattern=^cs-[a-z2-7]{26}$"`
	Items       []diffPart        `json:"items"`
	NextCursor  string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page; absent on the last"`
	Provenance  result.Provenance `json:"provenance"`
}

func (d *documents) diffTool() mcpkit.Tool[changesetArgs, diffPage] {
	return mcpkit.Tool[changesetArgs, diffPage]{
		Name:        "get_changeset_diff",
		Title:       "Show the diff of a changeset",
		Description: "Show what a changeset does to each file as a unified diff, against the files that it was proposed on. Moves are shown as moves.",
		Effect:      mcpkit.ReadOnly,
		Run: func(ctx context.Context, args changesetArgs) (diffPage, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return diffPage{}, err
			}
			diffs, err := d.opts.Store.Diff(ctx, args.ChangesetID)
			if err != nil {
				return diffPage{}, err
			}
			q := d.pager.Query("get_changeset_diff", args.ChangesetID)
			snapshot := digestOf(diffs)
			from, err := q.Open(args.Cursor, snapshot)
			if err != nil {
				return diffPage{}, err
			}
			page := diffPage{ChangesetID: args.ChangesetID, Provenance: d.provenance(g)}
			if next := page.fill(diffs, from, d.pager.Room(), d.opts.MaxPage/4); next > 0 {
				page.NextCursor, err = q.Seal(next, snapshot)
			}
			return page, err
		},
	}
}

// digestOf identifies the diffs of a changeset.
func digestOf(diffs []changeset.NodeDiff) string {
	var all [][]byte
	for _, n := range diffs {
		all = append(all, []byte(n.Op), []byte(n.ID), []byte(n.OldPath), []byte(n.NewPath), []byte(n.Unified))
	}
	return canon.Digest("mcpcontract/documents/diff/v1", all...)
}

// fill puts into p, which may take up to room bytes, the diffs from the byte at
// which from is in all of them joined, and returns where the next page goes on, 0
// at the end. A diff that does not fit begins a page, and is cut to pages if it is
// longer than one; a part has room for least bytes, whatever stands beside it.
func (p *diffPage) fill(diffs []changeset.NodeDiff, from, room, least int) (next int) {
	room -= paging.Cost(p)
	start := 0 // of the diff in all of them
	for _, n := range diffs {
		text := strings.ToValidUTF8(n.Unified, "\uFFFD")
		if from >= start+len(text) {
			start += len(text)
			continue
		}
		part := diffPart{
			Op: string(n.Op), ID: n.ID, OldPath: n.OldPath, NewPath: n.NewPath, Added: n.Added, Removed: n.Removed,
			Offset: max(from-start, 0), Partial: true,
		}
		budget := room - paging.Cost(part) - len(",")
		if len(p.Items) == 0 {
			budget = max(budget, least)
		}
		more := 0
		part.Unified, more = paging.Text(text, part.Offset, budget)
		if more > 0 && len(p.Items) > 0 {
			return start
		}
		part.Partial = more > 0 || part.Offset > 0
		p.Items = append(p.Items, part)
		if more > 0 {
			return start + more
		}
		room -= paging.Cost(part) + len(",")
		start += len(text)
	}
	return 0
}

type previewArgs struct {
	ChangesetID string `json:"changesetId" jsonschema:"id of a changeset, as it was created or listed" schema:"pattern=^cs-[a-z2-7]{26}$"`
	View        string `json:"view" jsonschema:"id of a view that the project declares" schema:"minLength=1 maxLength=64"`
}

type preview struct {
	ChangesetID string            `json:"changesetId" schema:"pattern=^cs-[a-z2-7]{26}$"`
	View        string            `json:"view"`
	Path        string            `json:"path" jsonschema:"the page, relative to the project; give it to the person who reviews"`
	SHA256      string            `json:"sha256" schema:"kind=sha256"`
	Provenance  result.Provenance `json:"provenance"`
}

func (d *documents) previewTool(in *mcpkit.Installer) mcpkit.Tool[previewArgs, preview] {
	return mcpkit.Tool[previewArgs, preview]{
		Name:  "preview_changeset",
		Title: "Preview a changeset",
		Description: "Show a changeset to a person: write one self-contained page of a declared view into the folder of previews, and nothing else. " +
			"Run " + in.ToolName("validate_changeset") + " before, and give the person the path.",
		Effect:     mcpkit.Additive,
		Idempotent: true,
		Run: func(ctx context.Context, args previewArgs) (preview, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return preview{}, err
			}
			p, err := d.opts.Store.Preview(ctx, args.ChangesetID, args.View)
			return preview{ChangesetID: args.ChangesetID, View: args.View, Path: p.Path, SHA256: p.SHA256, Provenance: d.provenance(g)}, err
		},
	}
}
