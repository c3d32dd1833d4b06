// Package result gives each result of an MCP tool one representation: the one
// that the calling client can read, within a budget.
//
// One line adopts it on any server of the Go SDK. The tools stay as they are,
// added with mcp.AddTool before or after:
//
//	s := mcp.NewServer(&mcp.Implementation{Name: "adder", Version: "v1"}, nil)
//	mcp.AddTool(s, &mcp.Tool{Name: "add"}, add)
//	result.Install(s, nil)
//	err := s.Run(ctx, &mcp.StdioTransport{})
//
// # Shapes
//
// The SDK sends the output of a tool twice: as structuredContent, and as the
// same JSON in a text block. Some clients hand both to the model, some only
// one, and which one differs. So a success is either [Structured]
// (structuredContent and no text) or [Text] (one block of compact JSON, as
// the last block, and no structuredContent). Images, embedded resources and
// other blocks stay in both. Text that a handler puts beside its output stays
// in text results only: what every model must read belongs in the output.
//
// The first rule that decides wins:
//
//  1. [Options.Override], for an operator.
//  2. A protocol older than 2025-06-18, which has no structuredContent: Text.
//  3. What the client declares by [Extension].
//  4. The table: codex, codex_cli_rs, codex-mcp-client and codex_desktop of
//     any version and claude-code from 2.0.21 are known to read
//     structuredContent alone. Names are compared whole and without regard to
//     case. A version is a semantic version, by whose rules 2.0.21-beta.1
//     comes before 2.0.21; a leading v and a remark in parentheses, as in
//     "2.1.0 (Claude Code)", are allowed.
//  5. Text.
//
// [Options.ShapeFor] tells a handler the same decision. An output that is no
// JSON object (an array, a number) is Text for everyone, null and nothing
// become {}, and no result is ever empty.
//
// Tool lists follow: in a handshake session, output schemas go to structured
// clients only, since a client that gets a schema may insist on structured
// content. From protocol 2026-07-28 on one list serves every client, so none
// has them unless [Options.OutputSchemas] says so. Output schemas whose root
// is not an object are never listed. Every list and every resource read gets
// the cache scope "private".
//
// # Errors
//
// A failed call is one text block for every client, structured or not:
//
//	{"error": {"code": "note_gone", "message": "the note is gone: list again", "details": ...}}
//
// The code, message and details come from an [*Error] in the chain of the
// handler's error, or from any error with ErrorCode() string and optionally
// ErrorDetails() any. What wraps such an error stays on the server. An error
// without a code is [CodeInternal] with its own text, as the SDK would send
// it. Arguments that do not match the schema are [CodeInvalidArguments]: all
// wrong values are counted, the first are named by path, and none is echoed.
// A handler that panics, returns nothing, or returns what cannot be encoded
// fails its call and not the server; [Options.Logger] has the particulars.
//
// An unknown tool stays the protocol error -32602, and a *jsonrpc.Error that a
// handler returns stays the error that it is. Resources, prompts and
// completion have no result that could say it failed: their errors are
// protocol errors whose data holds code, message and details.
//
// Typed tools (mcp.AddTool) are checked against their output schemas by the
// SDK, for either shape. Of raw tools (Server.AddTool) only the root and the
// encoding are checked.
//
// # Limits
//
// A serialized error has at most 7,500 bytes before the SDK adds the server's
// identity, and 8 KiB with it unless that identity, with icons, is larger
// than the rest. [Options.MaxResult] and [Options.MaxCatalog] bound successes
// and tool lists. Beyond a budget the client gets the code, the message cut
// short, and details {truncated, diagnosticId, totalBytes, count, paths}; the
// tool diagnostic_read pages through the whole text. count is the number of
// paths in it, of which paths has the first four; of a text without paths it is
// the length of the longest list, which the message says. Each server keeps up
// to 64 such texts and 16 MiB for 30 minutes, the oldest go first, and replicas
// do not share them. A page has up to 16,000 bytes.
//
// Calls with malformed parameters, such as a number for the tool's name, are
// answered by the SDK before any middleware, with all parameters echoed.
//
// # Sharing
//
// Everything here is safe for concurrent use. A handler must return a new
// result from each call, since the SDK writes into it; what this package
// passes on is a copy, but for questions to the client (InputRequests), which
// it passes as they are.
package result
