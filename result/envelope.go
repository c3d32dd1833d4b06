package result

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Budgets of a serialized error. Clients cut error text from 8,000 characters
// on, and 8 KiB is the most that ours may have with the server's identity,
// which the SDK adds after us.
const (
	maxEnvelope        = 7500
	maxProtocolMessage = 512
	maxProtocolData    = 6 << 10
	maxPlainCode       = 64
	shownMessage       = 1200 // bytes on the wire of a message in a cut envelope
	shownPaths         = 4
	shownPath          = 200
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

// cutDetails replace the details of an error that is over its budget.
type cutDetails struct {
	Truncated    bool     `json:"truncated"`
	DiagnosticID string   `json:"diagnosticId,omitempty"`
	TotalBytes   int      `json:"totalBytes"`
	Count        int      `json:"count"`
	Paths        []string `json:"paths"`
}

func bodyOf(e *Error) body {
	b := body{Code: short(e.ErrorCode(), maxPlainCode), Message: strings.ToValidUTF8(e.Error(), "\uFFFD")}
	if e.Details == nil {
		return b
	}
	// Details that cannot be encoded are lost, but not the code and message.
	if d, err := encode(e.Details); err == nil && string(d) != "null" {
		b.Details = d
	}
	return b
}

// failure returns the result of a failed call: one text block, for everyone.
func (sh *shaper) failure(c Client, e *Error, meta mcp.Meta) *mcp.CallToolResult {
	text := mustEncode(envelope{bodyOf(e)})
	if len(text) <= maxEnvelope {
		out := sh.errorResult(c, e, text, meta)
		if data, err := json.Marshal(out); err == nil && len(data) <= maxEnvelope {
			return out
		}
	}
	b := bodyOf(e)
	b = sh.cut(b, text, b.Details)
	return sh.errorResult(c, e, mustEncode(envelope{b}), nil)
}

func (sh *shaper) errorResult(c Client, e *Error, text string, meta mcp.Meta) *mcp.CallToolResult {
	out := sh.fresh(c)
	out.Meta = maps.Clone(meta)
	out.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	out.SetError(e)
	return out
}

// fresh returns a result that no handler and no other call shares.
func (sh *shaper) fresh(c Client) *mcp.CallToolResult {
	if !c.PerRequest {
		return new(mcp.CallToolResult)
	}
	out := sh.complete
	return &out
}

// cut shortens b, whose whole text is kept for diagnostic_read. Counts and
// paths come from sample.
func (sh *shaper) cut(b body, whole string, sample []byte) body {
	count, paths := survey(sample)
	d := cutDetails{Truncated: true, TotalBytes: len(whole), Count: count, Paths: paths}
	b.Message = fit(b.Message, shownMessage)
	if sh.store != nil {
		d.DiagnosticID = sh.store.put(whole)
	}
	if d.DiagnosticID != "" {
		b.Message += " [cut: this process keeps the whole text for 30 minutes, read it with " + sh.opts.diagnosticTool() + "]"
	}
	b.Details = json.RawMessage(mustEncode(d))
	return b
}

// protocolError returns e as a JSON-RPC error, for methods without a result
// that could say isError.
func (sh *shaper) protocolError(e *Error) error {
	b := bodyOf(e)
	text := mustEncode(b)
	if len(text) > maxProtocolData {
		b = sh.cut(b, text, b.Details)
		text = mustEncode(b)
	}
	code := int64(jsonrpc.CodeInvalidParams)
	switch e.ErrorCode() {
	case CodeInternal, CodeCanceled, CodeDeadlineExceeded, CodeCatalogTooLarge:
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: short(b.Message, maxProtocolMessage), Data: json.RawMessage(text)}
}

// mustEncode encodes our own envelope types, which always can be encoded.
func mustEncode(v any) string {
	data, err := encode(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// survey counts what a JSON value lists, and returns a few of the paths in
// it: strings below "path" or "paths" at any depth, else the length of the
// longest array.
func survey(data []byte) (count int, paths []string) {
	paths = []string{}
	var v any
	if json.Unmarshal(data, &v) != nil {
		return 0, paths
	}
	longest := 0
	var walk func(v any, key string)
	walk = func(v any, key string) {
		switch v := v.(type) {
		case string:
			if key == "path" || key == "paths" {
				if count++; len(paths) < shownPaths {
					paths = append(paths, fit(v, shownPath))
				}
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
