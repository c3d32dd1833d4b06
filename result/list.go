package result

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mend returns a copy of a result with its cache hints set and its null lists
// replaced. A copy, because a handler may return one value to many calls, and
// the SDK writes into what we return.
func (x *exchange) mend(ctx context.Context, res mcp.Result) (mcp.Result, *Error) {
	switch r := res.(type) {
	case *mcp.ListToolsResult:
		return x.mendTools(ctx, r)
	case *mcp.ListPromptsResult:
		out := *r
		private(&out.Cacheable)
		res = &out
	case *mcp.ListResourcesResult:
		out := *r
		private(&out.Cacheable)
		res = &out
	case *mcp.ListResourceTemplatesResult:
		out := *r
		private(&out.Cacheable)
		res = &out
	case *mcp.DiscoverResult:
		out := *r
		private(&out.Cacheable)
		res = &out
	case *mcp.CompleteResult:
		out := *r
		if out.Completion.Values == nil {
			out.Completion.Values = []string{}
		}
		res = &out
	case *mcp.GetPromptResult:
		if r.InputRequests != nil {
			return x.passInput("prompt", res)
		}
		out := *r
		if out.Messages == nil {
			out.Messages = []*mcp.PromptMessage{}
		}
		res = &out
	case *mcp.ReadResourceResult:
		if r.InputRequests != nil {
			return x.passInput("resource", res)
		}
		return x.mendRead(ctx, r)
	default:
		return x.tried(ctx, res, res)
	}
	res.SetMeta(maps.Clone(res.GetMeta()))
	return x.tried(ctx, res, res)
}

// passInput passes the question of a handler on where the protocol carries
// it: the very value, which the SDK has yet to finish.
func (x *exchange) passInput(what string, res mcp.Result) (mcp.Result, *Error) {
	if x.client.PerRequest {
		return res, nil
	}
	return nil, askedAgain(what)
}

// private keeps shared caches from serving one user's list to another. The
// SDK writes "public" where nothing is said.
func private(c *mcp.Cacheable) {
	c.CacheScope = "private"
	c.TTLMs = max(c.TTLMs, 0)
}

// tried returns res if v, the part of it that may fail to encode, can be
// encoded.
func (x *exchange) tried(ctx context.Context, res mcp.Result, v any) (mcp.Result, *Error) {
	if _, err := json.Marshal(v); err != nil {
		return nil, x.unusable(ctx, "it is not JSON", err)
	}
	return res, nil
}

// mendRead does not try to encode the contents themselves, which may be large
// and cannot fail, only the metadata that a handler attached.
func (x *exchange) mendRead(ctx context.Context, r *mcp.ReadResourceResult) (mcp.Result, *Error) {
	out := *r
	private(&out.Cacheable)
	if p, ok := x.req.GetParams().(*mcp.ReadResourceParams); ok && p.InputResponses != nil {
		out.TTLMs = 0 // what a person's answer led to is for this call only
	}
	out.Meta = maps.Clone(r.Meta)
	out.Contents = slices.Clone(r.Contents)
	metas := []mcp.Meta{out.Meta}
	for i, c := range out.Contents {
		if c != nil && c.Meta != nil {
			metas = append(metas, c.Meta)
		}
		if c != nil && c.Text == "" && c.Blob == nil {
			// The SDK leaves out an empty text, and clients refuse contents
			// with neither text nor blob.
			empty := *c
			empty.Blob = []byte{}
			out.Contents[i] = &empty
		}
	}
	return x.tried(ctx, &out, metas)
}

func (x *exchange) mendTools(ctx context.Context, r *mcp.ListToolsResult) (mcp.Result, *Error) {
	out := *r
	private(&out.Cacheable)
	out.Meta = maps.Clone(r.Meta)
	schemas := x.listsOutputSchemas()
	out.Tools = make([]*mcp.Tool, len(r.Tools))
	for i, t := range r.Tools {
		clone := *t
		if !schemas || !objectRoot(t.OutputSchema) {
			clone.OutputSchema = nil
		} else if x.opts.provenance() != nil {
			clone.OutputSchema = withProvenanceSchema(t.OutputSchema)
		}
		out.Tools[i] = &clone
	}
	data, err := json.Marshal(&out)
	if err != nil {
		return nil, x.unusable(ctx, "it is not JSON", err)
	}
	if limit := x.opts.maxCatalog(); limit > 0 && len(data) > limit {
		return nil, x.catalogTooLarge(out.Tools, data, limit)
	}
	return &out, nil
}

// listsOutputSchemas decides whether a tool list has output schemas. A list
// of protocol 2026-07-28 may be cached for several clients and so is the same
// for all; in a handshake session it may suit the one client.
func (x *exchange) listsOutputSchemas() bool {
	if x.client.PerRequest {
		return x.opts.OutputSchemas
	}
	return x.opts.ShapeFor(x.client) == Structured
}

func (sh *shaper) catalogTooLarge(tools []*mcp.Tool, data []byte, limit int) *Error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	listing := mustEncode(struct {
		Paths []string `json:"paths"`
	}{names})
	return sh.cut(&Error{
		Code:    CodeCatalogTooLarge,
		Message: fmt.Sprintf("the list of %d tools has %d bytes and at most %d are sent", len(tools), len(data), limit),
	}, string(data), listing)
}

// objectRoot reports whether a schema describes objects only. Some clients
// drop every tool of a server that publishes one with another root.
func objectRoot(schema any) bool {
	switch s := schema.(type) {
	case nil:
		return false
	case *jsonschema.Schema:
		return s != nil && s.Type == "object"
	}
	s, err := schemaOf(schema)
	return err == nil && s.Type == "object"
}
