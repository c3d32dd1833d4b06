package result

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Budgets of errors, in bytes of the serialized result. Clients cut error
// texts from 8,000 characters on, and ours has at most 8 KiB with what the SDK
// adds after us: the server's identity.
const (
	maxEnvelope        = 7500
	maxProtocolData    = 6 << 10
	maxProtocolMessage = 600
	shownCode          = 64
	shownMessage       = 1200
	shownPath          = 200
	shownPaths         = 4
)

// body is the object below "error".
type body struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

type envelope struct {
	Error body `json:"error"`
}

// cutDetails replace the details of an error that is over its budget. Count is
// that of the paths in the whole text; where there are none, Count is the length
// of the longest list, and the message says so.
type cutDetails struct {
	Truncated    bool     `json:"truncated"`
	DiagnosticID string   `json:"diagnosticId,omitempty"`
	TotalBytes   int      `json:"totalBytes"`
	Count        int      `json:"count"`
	Paths        []string `json:"paths"`
}

func bodyOf(e *Error) body {
	b := body{Code: fit(e.ErrorCode(), shownCode), Message: strings.ToValidUTF8(e.Error(), "\uFFFD")}
	if e.Details != nil {
		if d, err := encode(e.Details); err == nil && string(d) != "null" {
			b.Details = d
		}
	}
	return b
}

// failed shapes a result that says isError.
func (x *exchange) failed(ctx context.Context, r *mcp.CallToolResult) *mcp.CallToolResult {
	text := textOf(r.Content)
	err := r.GetError()
	if err == nil {
		if said, ok := parseEnvelope(text); ok {
			return x.envelope(said, r.Meta)
		}
		if text == "" {
			text = "the tool failed and gave no reason"
		}
		return x.envelope(say(&Error{Code: CodeInternal, Message: text}), r.Meta)
	}
	if why, ok := strings.CutPrefix(err.Error(), `validating "arguments": `); ok {
		return x.failure(x.explain(ctx, why))
	}
	//nolint:errorlint // the SDK returns it bare, and a handler's own commonly is wrapped
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		return x.failure(notDecoded(e))
	}
	return x.envelope(say(coerce(err, text)), r.Meta)
}

// A saying is an error as it goes out.
type saying struct {
	err     *Error
	text    string          // the envelope
	details json.RawMessage // in it
}

func say(e *Error) saying {
	b := bodyOf(e)
	return saying{e, string(mustEncode(envelope{b})), b.Details}
}

// failure returns the result of a failed call: one text block, for everyone.
func (x *exchange) failure(e *Error) *mcp.CallToolResult { return x.envelope(say(e), nil) }

// envelope returns the result that says s, or less if that is over the budget.
func (x *exchange) envelope(s saying, meta mcp.Meta) *mcp.CallToolResult {
	if len(s.text) <= maxEnvelope {
		out := x.errorResult(s)
		out.Meta = maps.Clone(meta)
		if data, err := json.Marshal(out); err == nil && len(data) <= maxEnvelope {
			return out
		}
	}
	return x.errorResult(say(x.cut(s.err, s.text, s.details)))
}

func (x *exchange) errorResult(s saying) *mcp.CallToolResult {
	out := x.fresh()
	out.Content = []mcp.Content{&mcp.TextContent{Text: s.text}}
	out.SetError(s.err)
	return out
}

// fresh returns an empty result that no handler and no other call shares.
func (x *exchange) fresh() *mcp.CallToolResult {
	out := new(mcp.CallToolResult)
	if x.client.PerRequest {
		*out = x.complete
	}
	return out
}

// cut returns a short form of e. The whole text is kept for diagnostic_read
// if there is that tool; count and paths come from the JSON in listing.
func (sh *shaper) cut(e *Error, whole string, listing []byte) *Error {
	count, paths := survey(listing)
	whole = strings.ToValidUTF8(whole, "\uFFFD") // pages are whole characters
	d := cutDetails{Truncated: true, TotalBytes: len(whole), Count: count, Paths: paths}
	out := &Error{Code: e.Code, Message: fit(e.Error(), shownMessage), Err: e}
	var notes []string
	if len(paths) == 0 && count > 0 {
		notes = append(notes, fmt.Sprintf("the longest list in it has %d items", count))
	}
	if sh.kept != nil {
		d.DiagnosticID = sh.kept.put(whole)
	}
	if d.DiagnosticID != "" {
		notes = append(notes, "this process keeps the whole text for 30 minutes, read it with "+sh.opts.diagnosticTool())
	}
	if notes != nil {
		out.Message += " [cut: " + strings.Join(notes, "; ") + "]"
	}
	out.Details = d
	return out
}

// protocolError returns e as a JSON-RPC error, for methods without a result
// that could say isError. Its data is what would stand below "error".
func (sh *shaper) protocolError(e *Error) *jsonrpc.Error {
	b := bodyOf(e)
	data := mustEncode(b)
	if len(data) > maxProtocolData {
		b = bodyOf(sh.cut(e, string(data), b.Details))
		data = mustEncode(b)
	}
	return &jsonrpc.Error{Code: protocolCode(e), Message: fit(b.Message, maxProtocolMessage), Data: data}
}

// parseEnvelope recognizes an error that a tool wrote in our form itself.
func parseEnvelope(text string) (saying, bool) {
	var v map[string]json.RawMessage
	if root([]byte(text)) != '{' || json.Unmarshal([]byte(text), &v) != nil || len(v) != 1 {
		return saying{}, false
	}
	var b body
	if json.Unmarshal(v["error"], &b) != nil || b.Code == "" || b.Message == "" {
		return saying{}, false
	}
	e := &Error{Code: b.Code, Message: b.Message}
	if b.Details != nil {
		e.Details = b.Details
	}
	return saying{e, text, b.Details}, true
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

// survey counts what a JSON value lists, and returns a few of the paths in
// it: the strings below "path" or "paths" at any depth. Where there are none,
// the count is the length of the longest array.
func survey(listing []byte) (count int, paths []string) {
	paths = []string{}
	var v any
	if json.Unmarshal(listing, &v) != nil {
		return 0, paths
	}
	longest := 0
	var walk func(v any, key string)
	walk = func(v any, key string) {
		switch v := v.(type) {
		case string:
			if key != "path" && key != "paths" {
				return
			}
			if count++; len(paths) < shownPaths {
				paths = append(paths, fit(v, shownPath))
			}
		case []any:
			longest = max(longest, len(v))
			for _, e := range v {
				walk(e, key)
			}
		case map[string]any:
			for _, k := range sortedKeys(v) {
				walk(v[k], k)
			}
		}
	}
	walk(v, "")
	if count == 0 {
		count = longest
	}
	return count, paths
}
