package result

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Install makes every tool of s answer in the shape that its caller reads,
// and adds the tool diagnostic_read. Call it once, before the server runs;
// tools may be added before or after.
//
// Middleware that is added to s later sees the shaped results, and finds the
// [*Error] of a failed call by [mcp.CallToolResult.GetError].
func Install(s *mcp.Server, opts *Options) {
	sh := newShaper(opts)
	sh.kept = new(store)
	s.AddReceivingMiddleware(sh.middleware)
	sh.addDiagnosticTool(s)
}

// Middleware is the receiving middleware of [Install] alone, for servers that
// want no further tool. Without the tool nothing is kept of what a budget
// cuts, and no diagnostic id is given.
func Middleware(opts *Options) mcp.Middleware { return newShaper(opts).middleware }

// A shaper is the state behind one middleware.
type shaper struct {
	opts Options
	kept *store // nil: nothing is kept
	// complete has the result type of a finished call, which the SDK keeps in
	// a field that only decoding sets.
	complete mcp.CallToolResult
}

func newShaper(opts *Options) *shaper {
	sh := new(shaper)
	if opts != nil {
		sh.opts = *opts
	}
	if err := json.Unmarshal([]byte(`{"content":[],"resultType":"complete"}`), &sh.complete); err != nil {
		panic(err) // unreachable: the text is constant
	}
	return sh
}

func (sh *shaper) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = sh.panicked(ctx, method, req, p)
			}
		}()
		res, err = next(ctx, method, req)
		if method == "tools/call" {
			return sh.call(ctx, next, req, res, err)
		}
		return sh.other(ctx, method, req, res, err)
	}
}

// panicked answers for a handler that panicked. What it panicked with may
// hold anything, so only the log sees it.
func (sh *shaper) panicked(ctx context.Context, method string, req mcp.Request, p any) (mcp.Result, error) {
	sh.opts.logger().ErrorContext(ctx, "panic in a handler", "method", method, "target", target(req),
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	e := &Error{Code: CodeInternal, Message: "the server failed inside this call; its log has the details"}
	if method == "tools/call" {
		return sh.failure(ClientOf(req), e, nil), nil
	}
	return nil, sh.protocolError(e)
}

// unusable reports a result that cannot be sent. Why is for the log and for
// the client; cause, which may hold anything, is for the log.
func (sh *shaper) unusable(ctx context.Context, method string, req mcp.Request, why string, cause error) *Error {
	sh.opts.logger().ErrorContext(ctx, "unusable result", "method", method, "target", target(req), "reason", why, "cause", cause)
	return &Error{Code: CodeInternal, Message: "the server made a result that cannot be sent: " + why, Err: cause}
}

// target names what a request is about, for a log line.
func target(req mcp.Request) string {
	if isNil(req.GetParams()) {
		return ""
	}
	switch p := req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return short(p.Name, 200)
	case *mcp.ReadResourceParams:
		return short(p.URI, 200)
	case *mcp.GetPromptParams:
		return short(p.Name, 200)
	}
	return ""
}

// call shapes what a tool answered.
func (sh *shaper) call(ctx context.Context, next mcp.MethodHandler, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	c := ClientOf(req)
	if err != nil {
		if w, ok := wireError(err); ok {
			return nil, mendWire(req, w)
		}
		return sh.failure(c, coerce(err, err.Error()), nil), nil
	}
	r, ok := res.(*mcp.CallToolResult)
	if !ok || r == nil {
		return sh.failure(c, sh.unusable(ctx, "tools/call", req, "the tool returned none", nil), nil), nil
	}
	if r.InputRequests != nil || r.NeedsInput() {
		if c.PerRequest {
			return r, nil // the very value: the SDK has yet to finish it
		}
		return sh.failure(c, askedAgain("tool"), nil), nil
	}
	if r.IsError {
		return sh.failed(ctx, next, c, req, r), nil
	}
	out, e := sh.succeeded(ctx, c, req, r)
	if e != nil {
		return sh.failure(c, e, nil), nil
	}
	return out, nil
}

// askedAgain is for handshake sessions, where the SDK puts one round of
// questions to the client itself. What still asks after it would reach a
// client that cannot answer.
func askedAgain(what string) *Error {
	return &Error{
		Code:    CodeInputUnavailable,
		Message: "the " + what + " asks for more input than this session's protocol can carry",
	}
}

// other mends the results and errors of every method but tools/call.
func (sh *shaper) other(ctx context.Context, method string, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	if err != nil {
		if w, ok := wireError(err); ok {
			return nil, mendWire(req, w)
		}
		return nil, sh.protocolError(coerce(err, err.Error()))
	}
	if strings.HasPrefix(method, "notifications/") {
		return res, nil
	}
	if isNil(res) {
		return nil, sh.protocolError(sh.unusable(ctx, method, req, "the handler returned none", nil))
	}
	res, e := sh.mend(ctx, method, req, res)
	if e != nil {
		return nil, sh.protocolError(e)
	}
	return res, nil
}

// mendWire returns w with its message capped and its data valid. The SDK
// quotes the URI of a resource that it does not know in Go syntax, and a
// control character in it would end the session.
func mendWire(req mcp.Request, w *jsonrpc.Error) *jsonrpc.Error {
	out := &jsonrpc.Error{Code: w.Code, Message: fit(w.Message, maxProtocolMessage), Data: w.Data}
	if len(w.Data) <= maxProtocolData && (len(w.Data) == 0 || json.Valid(w.Data)) {
		return out
	}
	out.Data = nil
	if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok {
		out.Data = mustEncode(map[string]string{"uri": fit(p.URI, maxProtocolMessage)})
	}
	return out
}
