package documents

import (
	"context"
	"maps"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/wording"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

type projectStatus struct {
	Project    string `json:"project"`
	Changesets struct {
		Open    int `json:"open" jsonschema:"how many changesets wait for a person"`
		Damaged int `json:"damaged" jsonschema:"how many cannot be read"`
	} `json:"changesets"`
	Candidates []string `json:"candidates" jsonschema:"ids of staged candidates; what they hold is not part of the project"`
	Approvals  struct {
		Pending int `json:"pending" jsonschema:"how many proposals wait for a person's approval, -1 if that cannot be read now"`
	} `json:"approvals"`
	Operations struct {
		Unfinished int `json:"unfinished" jsonschema:"how many promotions a crash interrupted; they can be finished or undone"`
	} `json:"operations"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) statusTool() mcpkit.Tool[noArgs, projectStatus] {
	return mcpkit.Tool[noArgs, projectStatus]{
		Name:  "project_status",
		Title: "Show what is under way",
		Description: "Show what is under way in the project: open changesets, staged candidates, approvals that wait and operations that were interrupted. " +
			"Call it once at the start. None of it is part of the documents.",
		Effect: mcpkit.ReadOnly,
		Run:    d.status,
	}
}

func (d *documents) status(ctx context.Context, _ noArgs) (projectStatus, error) {
	g, err := d.graph(ctx)
	if err != nil {
		return projectStatus{}, err
	}
	s := projectStatus{Project: g.Snapshot().Project, Provenance: d.provenance(g)}
	if d.opts.Store != nil {
		list, err := d.opts.Store.List(ctx)
		if err != nil {
			return projectStatus{}, err
		}
		for _, c := range list {
			if c.Damaged {
				s.Changesets.Damaged++
			} else {
				s.Changesets.Open++
			}
		}
	}
	if d.opts.Status != nil {
		more, err := d.opts.Status(ctx)
		if err != nil {
			return projectStatus{}, err
		}
		s.Candidates, s.Approvals.Pending, s.Operations.Unfinished = more.Candidates, more.Pending, more.Unfinished
	}
	return s, nil
}

type output struct {
	View string `json:"view"`
	Path string `json:"path"`
}

// candidatePaths is a CandidatePaths on the wire.
type candidatePaths struct {
	Paths      []string `json:"paths" jsonschema:"patterns of the paths that candidates may be promoted to, relative to the project; none listed means nowhere, and ... at the end stands for more"`
	Authorized []string `json:"authorized" jsonschema:"patterns of the paths for which no approval is needed; ... at the end stands for more"`
	Hint       string   `json:"hint,omitempty" jsonschema:"what would let candidates go somewhere"`
}

func candidatePathsOf(c *CandidatePaths) *candidatePaths {
	if c == nil {
		return nil
	}
	told := &candidatePaths{Paths: names(c.Allow, maxRefs), Authorized: names(c.Authorized, maxRefs)}
	if len(c.Allow) == 0 {
		told.Hint = wording.Clip(c.Hint, maxMessage)
	}
	return told
}

type contract struct {
	Project        string            `json:"project"`
	Writer         bool              `json:"writer" jsonschema:"whether this server may propose changes"`
	Tools          []string          `json:"tools"`
	Operations     []string          `json:"operations" jsonschema:"operations that may be proposed" schema:"enum=create|update|move|delete"`
	Kinds          []string          `json:"kinds" jsonschema:"kinds that a changed node may have; * alone stands for any, and ... at the end for more"`
	Paths          []string          `json:"paths" jsonschema:"patterns of the paths that a changed node may have, relative to the folder of the documents; ** alone stands for any, and ... at the end for more"`
	CandidatePaths *candidatePaths   `json:"candidatePaths,omitempty" jsonschema:"where candidates may go; absent on a server without candidates"`
	Views          []view            `json:"views"`
	Outputs        []output          `json:"outputs" jsonschema:"files that a person renders; no tool writes them"`
	Roots          map[string]string `json:"roots" jsonschema:"folders by what they are for, relative to the project"`
	Limits         map[string]int    `json:"limits"`
	Exclusions     []string          `json:"exclusions" jsonschema:"what no tool of this server does"`
	Provenance     result.Provenance `json:"provenance"`
}

func (d *documents) contractTool() mcpkit.Tool[noArgs, contract] {
	return mcpkit.Tool[noArgs, contract]{
		Name:  "get_contract",
		Title: "Read the contract",
		Description: "Read what this server promises: its tools, the operations, kinds and paths that may be proposed, where candidates may go, the folders it uses, " +
			"its limits, and what no tool ever does.",
		Effect: mcpkit.ReadOnly,
		Run: func(ctx context.Context, _ noArgs) (contract, error) {
			g, err := d.graph(ctx)
			if err != nil {
				return contract{}, err
			}
			return d.contract(g.Snapshot().Project, d.provenance(g)), nil
		},
	}
}

func (d *documents) contract(project string, from result.Provenance) contract {
	declared := d.opts.Contract
	c := contract{
		Project:        project,
		Writer:         d.opts.Writer != nil,
		Tools:          d.tools,
		Kinds:          orAny(names(declared.Policy.Kinds, maxRefs), "*"),
		Paths:          orAny(names(declared.Policy.Paths, maxRefs), "**"),
		CandidatePaths: candidatePathsOf(declared.Candidates),
		Views:          views(declared.Views),
		Roots:          declared.Roots,
		Limits:         map[string]int{"pageBytes": d.opts.MaxPage, "contextBytes": maxContext, "searchHits": maxHits, "knownSources": maxKnown},
		Exclusions:     exclusions(),
		Provenance:     from,
	}
	maps.Copy(c.Limits, declared.Limits)
	if c.Writer {
		for _, op := range declared.Policy.Allow {
			c.Operations = append(c.Operations, string(op))
		}
	}
	for _, o := range declared.Outputs {
		c.Outputs = append(c.Outputs, output(o))
	}
	return c
}

// orAny writes the list of a policy that allows everything by being empty, as who
// reads an empty list takes it for nothing.
func orAny(list []string, everything string) []string {
	if len(list) == 0 {
		return []string{everything}
	}
	return list
}

// exclusions are the promises of what is left out.
func exclusions() []string {
	return []string{
		"running commands or starting processes",
		"reading or writing any other file",
		"carrying out a changeset",
		"writing a declared output",
		"naming a renderer",
		"changing Git",
		"building, deploying or publishing",
		"choosing a project or reading another one",
	}
}

// toolNames are the names of all tools, as clients call them.
func (d *documents) toolNames(in *mcpkit.Installer) []string {
	names := []string{
		"project_info", "project_status", "get_contract", "get_node", "search", "filter_nodes", "backlinks", "dependencies", "impact",
		"get_context", "validate_project", "render_status",
	}
	if d.opts.Store != nil {
		names = append(names,
			"create_changeset", "list_changesets", "get_changeset", "propose_node_create", "propose_node_update", "propose_node_move",
			"propose_node_delete", "validate_changeset", "get_changeset_diff", "preview_changeset")
	}
	names = append(names, d.opts.Contract.Tools...)
	for i, name := range names {
		names[i] = in.ToolName(name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
