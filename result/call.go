package result

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call shapes what a tool answered.
func (sh *shaper) call(ctx context.Context, next mcp.MethodHandler, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	c := ClientOf(req)
	if err != nil {
		if _, ok := wire(err); ok {
			return nil, sh.mendError(req, err)
		}
		return sh.failure(c, coerce(err, err.Error()), nil), nil
	}
	r, ok := res.(*mcp.CallToolResult)
	if !ok || r == nil {
		return sh.broken(ctx, c, req, "the tool returned no result"), nil
	}
	if r.InputRequests != nil || r.NeedsInput() {
		if c.PerRequest {
			return r, nil // the very value: the SDK finishes it
		}
		return sh.failure(c, &Error{
			Code:    CodeInternal,
			Message: "the tool asked for input more than once, which this session's protocol cannot carry",
		}, nil), nil
	}
	if r.IsError {
		return sh.failed(ctx, next, c, req, r), nil
	}
	return sh.succeeded(ctx, c, req, r), nil
}

// broken is the failure of a call whose result cannot be sent.
func (sh *shaper) broken(ctx context.Context, c Client, req mcp.Request, why string) *mcp.CallToolResult {
	sh.opts.logger().ErrorContext(ctx, "unusable result", "method", "tools/call", "target", target(req), "reason", why)
	return sh.failure(c, &Error{Code: CodeInternal, Message: "the server made no usable result: " + why}, nil)
}

// failed shapes a result that says isError.
func (sh *shaper) failed(_ context.Context, _ mcp.MethodHandler, c Client, req mcp.Request, r *mcp.CallToolResult) *mcp.CallToolResult {
	text := textOf(r.Content)
	err := r.GetError()
	if err == nil {
		if b, ok := parseEnvelope(text); ok {
			return sh.failure(c, b, r.Meta)
		}
		if text == "" {
			text = "the tool failed and gave no reason"
		}
		return sh.failure(c, &Error{Code: CodeInternal, Message: text}, r.Meta)
	}
	if why, ok := strings.CutPrefix(err.Error(), `validating "arguments": `); ok {
		return sh.failure(c, invalidArguments(why), r.Meta)
	}
	return sh.failure(c, coerce(err, text), r.Meta)
}

// invalidArguments wraps what the SDK says about arguments, which may echo
// whole values.
func invalidArguments(why string) *Error {
	why = strings.TrimPrefix(why, "validating root: ")
	return &Error{Code: CodeInvalidArguments, Message: "the arguments do not match the tool's input schema: " + middle(why, 160, 160)}
}

// textOf joins the text blocks.
func textOf(blocks []mcp.Content) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(*mcp.TextContent); ok && t != nil && t.Text != "" {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// parseEnvelope recognizes an error that a tool wrote in our form itself.
func parseEnvelope(text string) (*Error, bool) {
	if !strings.HasPrefix(text, `{`) {
		return nil, false
	}
	var v map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &v) != nil || len(v) != 1 {
		return nil, false
	}
	var b body
	if json.Unmarshal(v["error"], &b) != nil || b.Code == "" || b.Message == "" {
		return nil, false
	}
	e := &Error{Code: b.Code, Message: b.Message}
	if b.Details != nil {
		e.Details = b.Details
	}
	return e, true
}

// succeeded shapes a success.
func (sh *shaper) succeeded(ctx context.Context, c Client, req mcp.Request, r *mcp.CallToolResult) *mcp.CallToolResult {
	raw, err := rawOf(r.StructuredContent)
	if err != nil {
		return sh.broken(ctx, c, req, "its output cannot be encoded")
	}
	if encodable(r) != nil {
		return sh.broken(ctx, c, req, "its metadata cannot be encoded")
	}
	var out *mcp.CallToolResult
	if root(raw) == '{' && sh.opts.ShapeFor(c) == Structured {
		if !json.Valid(raw) {
			return sh.broken(ctx, c, req, "its output is not JSON")
		}
		out = sh.structured(c, r, raw)
	} else {
		out = sh.text(c, r, raw)
	}
	if limit := sh.opts.maxResult(); limit > 0 {
		if size := sizeOf(out); size > limit {
			return sh.tooLarge(c, out, size, limit)
		}
	}
	if r.Meta != nil {
		out.Meta = maps.Clone(r.Meta)
	}
	return out
}

// rawOf returns structured content as JSON, nil for none and for null.
func rawOf(v any) (json.RawMessage, error) {
	raw, ok := v.(json.RawMessage)
	if v != nil && !ok {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		raw = data
	}
	if root(raw) == 'n' {
		return nil, nil
	}
	return raw, nil
}

// structured keeps the blocks that say something the JSON does not.
func (sh *shaper) structured(c Client, r *mcp.CallToolResult, raw json.RawMessage) *mcp.CallToolResult {
	out := sh.fresh(c)
	out.Content = []mcp.Content{}
	for _, b := range r.Content {
		if _, ok := b.(*mcp.TextContent); !ok && !isNil(b) {
			out.Content = append(out.Content, b)
		}
	}
	if _, ok := r.StructuredContent.(json.RawMessage); ok {
		out.StructuredContent = r.StructuredContent
	} else {
		out.StructuredContent = raw
	}
	return out
}

// A textResult is a result and its only block in one allocation.
type textResult struct {
	res    mcp.CallToolResult
	block  mcp.TextContent
	blocks [1]mcp.Content
}

// text returns the blocks of r and, last, its structured content as JSON
// text, unless a block already says the same.
func (sh *shaper) text(c Client, r *mcp.CallToolResult, raw json.RawMessage) *mcp.CallToolResult {
	if raw != nil && len(r.Content) == 1 {
		if t, ok := r.Content[0].(*mcp.TextContent); ok && t != nil && t.Text == string(raw) && tidy(t.Text) == t.Text {
			out := sh.fresh(c)
			out.Content = r.Content[:1:1]
			return out
		}
	}
	out := new(textResult)
	if c.PerRequest {
		out.res = sh.complete
	}
	out.block.Text = "{}" // a result never is empty
	if raw != nil {
		out.block.Text = tidy(string(raw))
	}
	out.blocks[0] = &out.block
	kept := others(r.Content, raw)
	switch {
	case len(kept) == 0:
		out.res.Content = out.blocks[:]
	case raw == nil:
		out.res.Content = kept
	default:
		out.res.Content = append(kept, &out.block)
	}
	return &out.res
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

// encodable tries the parts of a result whose encoding can fail. The SDK
// would never answer a call whose result it cannot encode.
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

// plain reports blocks that always can be encoded.
func plain(b mcp.Content) bool {
	switch b := b.(type) {
	case *mcp.TextContent:
		return b == nil || b.Meta == nil && b.Annotations == nil
	case *mcp.ImageContent:
		return b == nil || b.Meta == nil && b.Annotations == nil
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
