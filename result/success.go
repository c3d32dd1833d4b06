package result

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// succeeded shapes a success.
func (x *exchange) succeeded(ctx context.Context, r *mcp.CallToolResult) (*mcp.CallToolResult, *Error) {
	raw, err := rawOf(r.StructuredContent)
	if err != nil {
		return nil, x.unusable(ctx, "its output is not JSON", err)
	}
	if err := encodable(r); err != nil {
		return nil, x.unusable(ctx, "a block or its metadata is not JSON", err)
	}
	added := 0
	if x.opts.provenance() != nil {
		before := len(raw)
		r, raw = x.withProvenance(ctx, r, raw)
		added = len(raw) - before
	}
	var out *mcp.CallToolResult
	if root(raw) == '{' && x.opts.ShapeFor(x.client) == Structured {
		if !json.Valid(raw) {
			return nil, x.unusable(ctx, "its output is not JSON", nil)
		}
		out = x.structured(r, raw)
	} else {
		out = x.text(r, raw)
	}
	if limit := x.opts.maxResult(); limit > 0 {
		if size := sizeOf(out) - added; size > limit {
			return nil, x.tooLarge(out, size, limit)
		}
	}
	out.Meta = maps.Clone(r.Meta)
	return out, nil
}

// rawOf returns structured content as JSON, nil for none.
func rawOf(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok || v == nil {
		return raw, nil
	}
	return json.Marshal(v)
}

// structured keeps the blocks that say something the JSON does not.
func (x *exchange) structured(r *mcp.CallToolResult, raw json.RawMessage) *mcp.CallToolResult {
	out := x.fresh()
	out.Content = []mcp.Content{}
	for _, b := range r.Content {
		if _, ok := b.(*mcp.TextContent); !ok && !isNil(b) {
			out.Content = append(out.Content, b)
		}
	}
	if _, ok := r.StructuredContent.(json.RawMessage); ok {
		out.StructuredContent = r.StructuredContent // saves boxing the slice again
	} else {
		out.StructuredContent = raw
	}
	return out
}

// A textResult is a result and the block that we add to it, in one allocation.
type textResult struct {
	res    mcp.CallToolResult
	block  mcp.TextContent
	blocks [1]mcp.Content
}

// text returns the blocks of r and, last, its output as JSON text.
func (x *exchange) text(r *mcp.CallToolResult, raw json.RawMessage) *mcp.CallToolResult {
	if isMirror(r.Content, raw) {
		out := x.fresh()
		out.Content = r.Content[:1:1]
		return out
	}
	out := new(textResult)
	if x.client.PerRequest {
		out.res = x.complete
	}
	kept := others(r.Content, raw)
	out.blocks[0] = &out.block
	switch says := saysSomething(raw); {
	case says && len(kept) > 0:
		out.block.Text = tidy(string(raw))
		out.res.Content = append(kept, &out.block)
	case says:
		out.block.Text = tidy(string(raw))
		out.res.Content = out.blocks[:]
	case len(kept) > 0:
		out.res.Content = kept
	default:
		out.block.Text = "{}" // some clients fail on an empty result
		out.res.Content = out.blocks[:]
	}
	return &out.res
}

// saysSomething reports an output other than null, which is what a handler's
// nil becomes.
func saysSomething(raw json.RawMessage) bool { return len(raw) > 0 && root(raw) != 'n' }

// isMirror reports whether the only block is the copy of raw that the SDK
// makes, in the form that we would give it.
func isMirror(blocks []mcp.Content, raw json.RawMessage) bool {
	if !saysSomething(raw) || len(blocks) != 1 {
		return false
	}
	t, ok := blocks[0].(*mcp.TextContent)
	return ok && t != nil && t.Text == string(raw) && tidy(t.Text) == t.Text
}

// others returns the blocks that do not repeat raw.
func others(blocks []mcp.Content, raw json.RawMessage) []mcp.Content {
	var kept []mcp.Content
	for _, b := range blocks {
		if isNil(b) {
			continue
		}
		if t, ok := b.(*mcp.TextContent); ok && raw != nil && (t.Text == string(raw) || sameJSON(t.Text, raw)) {
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// encodable tries the parts of a result whose encoding can fail: the SDK
// never answers a call whose result it cannot encode.
func encodable(r *mcp.CallToolResult) error {
	if r.Meta != nil {
		if _, err := json.Marshal(r.Meta); err != nil {
			return err
		}
	}
	for _, b := range r.Content {
		if plain(b) {
			continue
		}
		if _, err := json.Marshal(b); err != nil {
			return err
		}
	}
	return nil
}

// plain reports blocks that always can be encoded, whatever their size.
func plain(b mcp.Content) bool {
	switch b := b.(type) {
	case *mcp.TextContent:
		return b == nil || b.Meta == nil && b.Annotations == nil
	case *mcp.ImageContent:
		return b == nil || b.Meta == nil && b.Annotations == nil
	case *mcp.AudioContent:
		return b == nil || b.Meta == nil && b.Annotations == nil
	case *mcp.EmbeddedResource:
		return b == nil || b.Meta == nil && b.Annotations == nil && (b.Resource == nil || b.Resource.Meta == nil)
	}
	return false
}

// sizeOf counts what a model reads of a result.
func sizeOf(r *mcp.CallToolResult) int {
	raw, _ := r.StructuredContent.(json.RawMessage)
	size := len(raw)
	for _, b := range r.Content {
		switch b := b.(type) {
		case *mcp.TextContent:
			size += len(b.Text)
		case *mcp.EmbeddedResource:
			if b.Resource != nil {
				size += len(b.Resource.Text)
			}
		}
	}
	return size
}

// withResources returns the blocks with the texts of embedded resources as blocks
// of text, so that they can be paged too.
func withResources(blocks []mcp.Content) []mcp.Content {
	out := slices.Clone(blocks)
	for i, b := range out {
		if e, ok := b.(*mcp.EmbeddedResource); ok && e != nil && e.Resource != nil && e.Resource.Text != "" {
			out[i] = &mcp.TextContent{Text: e.Resource.Text}
		}
	}
	return out
}

// tooLarge replaces a success that is over its budget.
func (sh *shaper) tooLarge(r *mcp.CallToolResult, size, limit int) *Error {
	whole := textOf(withResources(r.Content))
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		whole = tidy(string(raw))
	}
	return sh.cut(&Error{
		Code:    CodeResultTooLarge,
		Message: fmt.Sprintf("the result has %d bytes and at most %d are sent: ask for less", size, limit),
	}, whole, []byte(whole))
}
