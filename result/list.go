package result

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mend returns a copy of a result with its cache hints set, its null lists
// replaced and its encoding tried.
func (sh *shaper) mend(ctx context.Context, req mcp.Request, res mcp.Result) (mcp.Result, *Error) {
	switch r := res.(type) {
	case *mcp.ListToolsResult:
		return sh.mendTools(ctx, req, r)
	case *mcp.ListPromptsResult:
		out := *r
		private(&out.Cacheable)
		out.Meta = maps.Clone(r.Meta)
		return sh.tried(ctx, req, &out)
	case *mcp.ListResourcesResult:
		out := *r
		private(&out.Cacheable)
		out.Meta = maps.Clone(r.Meta)
		return sh.tried(ctx, req, &out)
	case *mcp.ListResourceTemplatesResult:
		out := *r
		private(&out.Cacheable)
		out.Meta = maps.Clone(r.Meta)
		return sh.tried(ctx, req, &out)
	case *mcp.DiscoverResult:
		out := *r
		private(&out.Cacheable)
		out.Meta = maps.Clone(r.Meta)
		return &out, nil
	case *mcp.ReadResourceResult:
		return sh.mendRead(ctx, req, r)
	case *mcp.GetPromptResult:
		return sh.mendPrompt(ctx, req, r)
	case *mcp.CompleteResult:
		out := *r
		if out.Completion.Values == nil {
			out.Completion.Values = []string{}
		}
		out.Meta = maps.Clone(r.Meta)
		return sh.tried(ctx, req, &out)
	}
	return res, nil
}

// private keeps shared caches from serving one user's list to another.
func private(c *mcp.Cacheable) {
	c.CacheScope = "private"
	c.TTLMs = max(c.TTLMs, 0)
}

func (sh *shaper) tried(ctx context.Context, req mcp.Request, res mcp.Result) (mcp.Result, *Error) {
	if _, err := json.Marshal(res); err != nil {
		sh.opts.logger().ErrorContext(ctx, "unusable result", "target", target(req), "reason", err)
		return nil, &Error{Code: CodeInternal, Message: "the server made a result that cannot be encoded"}
	}
	return res, nil
}

func (sh *shaper) mendTools(ctx context.Context, req mcp.Request, r *mcp.ListToolsResult) (mcp.Result, *Error) {
	out := *r
	private(&out.Cacheable)
	out.Meta = maps.Clone(r.Meta)
	c := ClientOf(req)
	schemas := sh.opts.outputSchemas()
	if !c.PerRequest {
		schemas = sh.opts.ShapeFor(c) == Structured
	}
	out.Tools = make([]*mcp.Tool, len(r.Tools))
	for i, t := range r.Tools {
		clone := *t
		if !schemas || !objectRoot(t.OutputSchema) {
			clone.OutputSchema = nil
		}
		out.Tools[i] = &clone
	}
	data, err := json.Marshal(&out)
	if err != nil {
		return sh.tried(ctx, req, &out)
	}
	if limit := sh.opts.maxCatalog(); limit > 0 && len(data) > limit {
		names := make([]string, len(out.Tools))
		for i, t := range out.Tools {
			names[i] = t.Name
		}
		return nil, &Error{
			Code:    CodeCatalogTooLarge,
			Message: fmt.Sprintf("%d tools take %d bytes and at most %d are sent", len(out.Tools), len(data), limit),
			Details: map[string]any{"count": len(names), "totalBytes": len(data), "paths": names},
		}
	}
	return &out, nil
}

// objectRoot reports whether a schema describes objects only. Some clients
// drop every tool of a server that publishes another root.
func objectRoot(schema any) bool {
	switch s := schema.(type) {
	case nil:
		return false
	case *jsonschema.Schema:
		return s != nil && s.Type == "object"
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return false
	}
	var v struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(data, &v) == nil && v.Type == "object"
}

func (sh *shaper) mendRead(ctx context.Context, req mcp.Request, r *mcp.ReadResourceResult) (mcp.Result, *Error) {
	perRequest := ClientOf(req).PerRequest
	if r.InputRequests != nil {
		if perRequest {
			return r, nil
		}
		return nil, &Error{Code: CodeInternal, Message: "the resource asked for input more than once, which this session's protocol cannot carry"}
	}
	out := *r
	private(&out.Cacheable)
	if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p.InputResponses != nil {
		out.TTLMs = 0 // what an answer led to must not be served to others
	}
	out.Meta = maps.Clone(r.Meta)
	return sh.tried(ctx, req, &out)
}

func (sh *shaper) mendPrompt(ctx context.Context, req mcp.Request, r *mcp.GetPromptResult) (mcp.Result, *Error) {
	if r.InputRequests != nil {
		if ClientOf(req).PerRequest {
			return r, nil
		}
		return nil, &Error{Code: CodeInternal, Message: "the prompt asked for input more than once, which this session's protocol cannot carry"}
	}
	out := *r
	if out.Messages == nil {
		out.Messages = []*mcp.PromptMessage{}
	}
	out.Meta = maps.Clone(r.Meta)
	return sh.tried(ctx, req, &out)
}
