package documents

import (
	"cmp"
	"context"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/result"
)

const (
	maxContext     = 16_000 // most bytes of a page of get_context
	defaultContext = 9_000
	maxKnown       = 200 // most sections in knownSources
)

type contextArgs struct {
	ID       string        `json:"id" jsonschema:"id of the node to read" schema:"minLength=1 maxLength=1024"`
	MaxBytes int           `json:"maxBytes,omitempty" jsonschema:"most bytes of the sections of this page, 9000 if absent" schema:"minimum=256 maximum=16000"`
	Cursor   string        `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
	Token    string        `json:"retainedContextToken,omitempty" jsonschema:"token of an earlier complete read, of which you still have all text" schema:"maxLength=200"`
	Known    []knownSource `json:"knownSources,omitempty" jsonschema:"sections of which you still have the text" schema:"maxItems=200"`
}

type knownSource struct {
	ID      string `json:"id" jsonschema:"the node" schema:"maxLength=1024"`
	Section string `json:"section" jsonschema:"the section as it was delivered"`
	SHA256  string `json:"sha256" jsonschema:"the digest that came with it" schema:"kind=sha256"`
}

type section struct {
	ID      string  `json:"id"`
	Section string  `json:"section" jsonschema:"name of the section; empty before the first heading, * for a whole file"`
	SHA256  string  `json:"sha256" jsonschema:"digest of the whole section" schema:"kind=sha256"`
	Text    *string `json:"text,omitempty" jsonschema:"absent if it is reused"`
	Reused  bool    `json:"reused,omitempty" jsonschema:"you have this text already, unchanged"`
	Offset  int     `json:"offset,omitempty" jsonschema:"where the text starts in the section, in bytes"`
	Partial bool    `json:"partial,omitempty" jsonschema:"the text is a part of the section; other pages have the rest"`
}

type contextPage struct {
	Sections   []section         `json:"sections"`
	Complete   bool              `json:"complete" jsonschema:"whether this is the last page"`
	NextCursor string            `json:"nextCursor,omitempty" jsonschema:"pass it as cursor for the next page"`
	Token      string            `json:"retainedContextToken,omitempty" jsonschema:"on the last page: send it with a later read while you still have all text of this one"`
	Provenance result.Provenance `json:"provenance"`
}

func (d *documents) contextTool(in *mcpkit.Installer) mcpkit.Tool[contextArgs, contextPage] {
	return mcpkit.Tool[contextArgs, contextPage]{
		Name:  "get_context",
		Title: "Read a document with its context",
		Description: "Read a document and everything that it depends on, section by section, in pages of maxBytes. Sections that you still hold " +
			"(retainedContextToken, knownSources) come back as reused, without text. Read every page before relying on it. " +
			"For one document alone use " + in.ToolName("get_node") + ".",
		Effect: mcpkit.ReadOnly,
		Run:    d.context,
	}
}

func (d *documents) context(ctx context.Context, args contextArgs) (contextPage, error) {
	g, err := d.graph(ctx)
	if err != nil {
		return contextPage{}, err
	}
	request := docgraph.ContextRequest{ID: args.ID, MaxBytes: cmp.Or(args.MaxBytes, defaultContext)}
	q := d.pager.Query("get_context", args.ID, mcpkit.Principal(ctx))
	if args.Cursor != "" {
		if err := q.OpenValue(args.Cursor, &request.From); err != nil {
			return contextPage{}, err
		}
	}
	if request.Known, err = d.known(ctx, g, args); err != nil {
		return contextPage{}, err
	}
	read := (*docgraph.Graph).Context
	if d.opts.Context != nil {
		read = func(g *docgraph.Graph, r docgraph.ContextRequest) (*docgraph.Context, error) {
			return d.opts.Context(ctx, g, r)
		}
	}
	got, err := read(g, request)
	if err != nil {
		return contextPage{}, err
	}
	n, _ := g.Node(args.ID)
	page := contextPage{Complete: got.Complete, Provenance: provenance(g, d.opts.Adapter, n.Hash)}
	for _, p := range got.Pieces {
		s := section{ID: p.ID, Section: p.Name, SHA256: p.SHA256, Reused: p.Reused, Offset: p.Offset, Partial: p.Partial}
		if !p.Reused {
			s.Text = &p.Text
		}
		page.Sections = append(page.Sections, s)
	}
	if !got.Complete {
		page.NextCursor, err = q.SealValue(got.Next)
		return page, err
	}
	if d.opts.Context == nil { // what else a provider delivers, only it knows
		page.Token, err = d.retain(ctx, g, args.ID)
	}
	return page, err
}

// scope names who got text: tokens of one client say nothing of another.
func (d *documents) scope(ctx context.Context, g *docgraph.Graph) string {
	session := ""
	if req := mcpkit.Request(ctx); req != nil && req.Session != nil {
		session = req.Session.ID()
	}
	return canon.Digest("mcpcontract/documents/scope/v1", []byte(g.Snapshot().Project), []byte(mcpkit.Principal(ctx)), []byte(session))
}

// sectionKey names a section in a retained token, within its bounds. No id has
// a line break.
func sectionKey(s docgraph.Section) string {
	if key := s.ID + "\n" + s.Name; len(key) <= 1024 {
		return key
	}
	return canon.Digest("mcpcontract/documents/section/v1", []byte(s.ID), []byte(s.Name))
}

// retain returns a token for all that a complete read of the node delivered. A
// read with more sections than a token can hold has none.
func (d *documents) retain(ctx context.Context, g *docgraph.Graph, id string) (string, error) {
	all, err := g.Sections(id)
	if err != nil || len(all) > maxRetained {
		return "", err
	}
	sections := make(map[string]string, len(all))
	for _, s := range all {
		sections[sectionKey(s)] = s.SHA256
	}
	t, err := d.retained.Put(d.scope(ctx, g), sections)
	return t.Reveal(), err
}

// maxRetained is how many sections a retained token holds at most.
const maxRetained = 4096

// known are the sections that the caller says it holds. The digest of a section
// decides whether it still is what the caller has.
func (d *documents) known(ctx context.Context, g *docgraph.Graph, args contextArgs) ([]docgraph.Section, error) {
	var list []docgraph.Section
	for _, k := range args.Known {
		list = append(list, docgraph.Section{ID: k.ID, Name: k.Section, SHA256: k.SHA256})
	}
	if args.Token == "" {
		return list, nil
	}
	held, err := d.retained.Get(d.scope(ctx, g), strings.TrimSpace(args.Token))
	if err != nil {
		return nil, err
	}
	all, err := g.Sections(args.ID)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if sum, ok := held[sectionKey(s)]; ok {
			list = append(list, docgraph.Section{ID: s.ID, Name: s.Name, SHA256: sum})
		}
	}
	return list, nil
}
