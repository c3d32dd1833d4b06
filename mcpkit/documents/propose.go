package documents

import (
	"context"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

func (d *documents) writeTools(in *mcpkit.Installer) []mcpkit.Feature {
	return []mcpkit.Feature{
		d.createTool(in).Install,
		d.proposeCreateTool(in).Install,
		d.proposeUpdateTool().Install,
		d.proposeMoveTool().Install,
		d.proposeDeleteTool().Install,
	}
}

type createArgs struct {
	Title       string `json:"title" jsonschema:"what the changeset is about, on one line" schema:"minLength=1 maxLength=200"`
	Description string `json:"description,omitempty" jsonschema:"why, for the person who reviews it" schema:"maxLength=4000"`
}

type createdChangeset struct {
	changesetInfo
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) createTool(in *mcpkit.Installer) mcpkit.Tool[createArgs, createdChangeset] {
	return mcpkit.Tool[createArgs, createdChangeset]{
		Name:  "create_changeset",
		Title: "Create a changeset",
		Description: "Create an empty changeset to propose changes of documents in. Add operations with " + in.ToolName("propose_node_create") +
			" and its siblings. Nothing of it changes a document: a person reviews it and carries it out.",
		Effect: mcpkit.Additive,
		Run: func(ctx context.Context, args createArgs) (createdChangeset, error) {
			if err := d.disabled(); err != nil {
				return createdChangeset{}, err
			}
			g, err := d.graph(ctx)
			if err != nil {
				return createdChangeset{}, err
			}
			c, err := d.opts.Writer.Create(ctx, args.Title, args.Description)
			return createdChangeset{changesetInfoOf(c), d.provenance(g)}, err
		},
	}
}

// proposed answers every proposal.
type proposed struct {
	ChangesetID string            `json:"changesetId" schema:"pattern=^cs-[a-z2-7]{26}$"`
	Operation   operation         `json:"operation" jsonschema:"all that the changeset now does to the node"`
	Provenance  result.Provenance `json:"provenance"`
}

// propose runs one proposal of the writer.
func (d *documents) propose(ctx context.Context, id string, do func(w *changeset.Writer) (changeset.Operation, error)) (proposed, error) {
	if err := d.disabled(); err != nil {
		return proposed{}, err
	}
	g, err := d.graph(ctx)
	if err != nil {
		return proposed{}, err
	}
	op, err := do(d.opts.Writer)
	return proposed{ChangesetID: id, Operation: operationOf(op), Provenance: d.provenance(g)}, err
}

// target names the changeset of a proposal and the node that it is about.
type target struct {
	ChangesetID string `json:"changesetId" jsonschema:"id of a changeset of this writer" schema:"pattern=^cs-[a-z2-7]{26}$"`
	ID          string `json:"id" jsonschema:"id of the node" schema:"minLength=1 maxLength=1024"`
}

type newNodeArgs struct {
	target
	Kind      string   `json:"kind" jsonschema:"what sort of document it is, one of the kinds that the contract allows" schema:"minLength=1 maxLength=64"`
	Title     string   `json:"title" schema:"minLength=1 maxLength=200" jsonschema:"title, on one line"`
	Path      string   `json:"path" jsonschema:"where the file goes, relative to the folder of the documents and so without its name, ending in .md" schema:"minLength=1 maxLength=1024"`
	Text      string   `json:"text" jsonschema:"the Markdown text, without front matter"`
	Status    string   `json:"status,omitempty" jsonschema:"how far the document is" schema:"maxLength=64"`
	DependsOn []string `json:"depends_on,omitempty" jsonschema:"ids of nodes that it depends on" schema:"maxItems=256"`
	Tags      []string `json:"tags,omitempty" jsonschema:"tags" schema:"maxItems=64"`
}

func (d *documents) proposeCreateTool(in *mcpkit.Installer) mcpkit.Tool[newNodeArgs, proposed] {
	return mcpkit.Tool[newNodeArgs, proposed]{
		Name:  "propose_node_create",
		Title: "Propose a new document",
		Description: "Propose a new document in a changeset. Its id and path have to be free; refer to other nodes in the text by [[id]]. " +
			"Look whether there is one already with " + in.ToolName("search") + ".",
		Effect: mcpkit.Additive,
		Run: func(ctx context.Context, args newNodeArgs) (proposed, error) {
			return d.propose(ctx, args.ChangesetID, func(w *changeset.Writer) (changeset.Operation, error) {
				return w.ProposeCreate(ctx, args.ChangesetID, changeset.NewNode{
					ID: args.ID, Kind: args.Kind, Title: args.Title, Path: args.Path, Text: args.Text, Status: args.Status,
					DependsOn: args.DependsOn, Tags: args.Tags,
				})
			})
		},
	}
}

type nodeEditArgs struct {
	target
	Text      *string   `json:"text,omitempty" jsonschema:"the whole Markdown text, without front matter"`
	Title     *string   `json:"title,omitempty" jsonschema:"title, on one line" schema:"minLength=1 maxLength=200"`
	Kind      *string   `json:"kind,omitempty" jsonschema:"what sort of document it is" schema:"minLength=1 maxLength=64"`
	Status    *string   `json:"status,omitempty" jsonschema:"how far the document is" schema:"maxLength=64"`
	DependsOn *[]string `json:"depends_on,omitempty" jsonschema:"all ids that it depends on, in place of those it has" schema:"maxItems=256"`
	Tags      *[]string `json:"tags,omitempty" jsonschema:"all tags, in place of those it has" schema:"maxItems=64"`
}

func (d *documents) proposeUpdateTool() mcpkit.Tool[nodeEditArgs, proposed] {
	return mcpkit.Tool[nodeEditArgs, proposed]{
		Name:  "propose_node_update",
		Title: "Propose other content",
		Description: "Propose other content for a document in a changeset: the whole text, or fields of its front matter. What is not named stays as it is, " +
			"comments included. It builds on what the changeset proposes for the node already.",
		Effect: mcpkit.Destructive, // of what the changeset proposed before
		Run: func(ctx context.Context, args nodeEditArgs) (proposed, error) {
			return d.propose(ctx, args.ChangesetID, func(w *changeset.Writer) (changeset.Operation, error) {
				return w.ProposeUpdate(ctx, args.ChangesetID, args.ID, changeset.NodeEdit{
					Text: args.Text, Title: args.Title, Kind: args.Kind, Status: args.Status, DependsOn: args.DependsOn, Tags: args.Tags,
				})
			})
		},
	}
}

type moveArgs struct {
	target
	Path string `json:"path" jsonschema:"where the file goes, relative to the folder of the documents and so without its name, ending in .md" schema:"minLength=1 maxLength=1024"`
}

func (d *documents) proposeMoveTool() mcpkit.Tool[moveArgs, proposed] {
	return mcpkit.Tool[moveArgs, proposed]{
		Name:  "propose_node_move",
		Title: "Propose another path",
		Description: "Propose another path for a document in a changeset; its content and id stay, unless the id comes from the path. " +
			"The path has to be free.",
		Effect: mcpkit.Destructive, // of the path that the changeset proposed before
		Run: func(ctx context.Context, args moveArgs) (proposed, error) {
			return d.propose(ctx, args.ChangesetID, func(w *changeset.Writer) (changeset.Operation, error) {
				return w.ProposeMove(ctx, args.ChangesetID, args.ID, args.Path)
			})
		},
	}
}

func (d *documents) proposeDeleteTool() mcpkit.Tool[target, proposed] {
	return mcpkit.Tool[target, proposed]{
		Name:  "propose_node_delete",
		Title: "Propose to delete a document",
		Description: "Propose in a changeset that a document goes; it takes the place of what the changeset proposed for it. " +
			"A document that the changeset itself creates is taken out of it. Any other deletion cannot be withdrawn: propose the rest in a new changeset.",
		Effect: mcpkit.Destructive,
		Run: func(ctx context.Context, args target) (proposed, error) {
			return d.propose(ctx, args.ChangesetID, func(w *changeset.Writer) (changeset.Operation, error) {
				return w.ProposeDelete(ctx, args.ChangesetID, args.ID)
			})
		},
	}
}
