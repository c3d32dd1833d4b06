package result

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/wording"
)

// Install makes every tool of s answer in the shape that its caller reads,
// and adds the tool diagnostic_read. Call it once, before the server runs;
// tools may be added before or after. Nil options bound errors only: set
// [Options.MaxResult], to 20,000 say, to bound successes, and
// [Options.MaxCatalog] for tool lists.
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
		x := exchange{sh, next, method, req, Client{}}
		defer func() {
			if p := recover(); p != nil {
				res, err = x.panicked(ctx, p)
			}
		}()
		x.client = ClientOf(req)
		res, err = next(ctx, method, req)
		if method == methodCall {
			return x.call(ctx, res, err)
		}
		return x.other(ctx, res, err)
	}
}

// An exchange is one request and what is known of it.
type exchange struct {
	*shaper
	next   mcp.MethodHandler
	method string
	req    mcp.Request
	client Client
}

// Methods that the middleware treats in a way of their own, or calls.
const (
	methodCall         = "tools/call"
	methodList         = "tools/list"
	notificationPrefix = "notifications/"
)

// panicked answers for a handler that panicked. What it panicked with may
// hold anything, so only the log sees it.
func (x *exchange) panicked(ctx context.Context, p any) (mcp.Result, error) {
	x.opts.logger().ErrorContext(ctx, "panic in a handler", "method", x.method, "target", x.target(),
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	e := &Error{Code: CodeInternal, Message: "the server failed inside this call"}
	if x.opts.Logger != nil {
		e.Message += "; its log has the details"
	}
	if x.method == methodCall {
		return x.failure(e), nil
	}
	return nil, x.protocolError(e)
}

// unusable reports a result that cannot be sent. Why is for the log and for
// the client; cause, which may hold anything, is for the log.
func (x *exchange) unusable(ctx context.Context, why string, cause error) *Error {
	x.opts.logger().ErrorContext(ctx, "unusable result", "method", x.method, "target", x.target(), "reason", why, "cause", cause)
	return &Error{Code: CodeInternal, Message: "the server made a result that cannot be sent: " + why, Err: cause}
}

// target names what the request is about, for a log line.
func (x *exchange) target() string {
	if isNil(x.req.GetParams()) {
		return ""
	}
	switch p := x.req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return wording.Clip(p.Name, 200)
	case *mcp.ReadResourceParams:
		return wording.Clip(p.URI, 200)
	case *mcp.GetPromptParams:
		return wording.Clip(p.Name, 200)
	}
	return ""
}

// call shapes what a tool answered.
func (x *exchange) call(ctx context.Context, res mcp.Result, err error) (mcp.Result, error) {
	if err != nil {
		if w, ok := wireError(err); ok {
			return nil, mendWire(x.req, w)
		}
		return x.failure(coerce(err, err.Error())), nil
	}
	r, ok := res.(*mcp.CallToolResult)
	if !ok || r == nil {
		return x.failure(x.unusable(ctx, "the tool returned none", nil)), nil
	}
	if r.InputRequests != nil || r.NeedsInput() {
		if x.client.PerRequest {
			return r, nil // the very value: the SDK has yet to finish it
		}
		return x.failure(askedAgain("tool")), nil
	}
	if r.IsError {
		return x.failed(ctx, r), nil
	}
	out, e := x.succeeded(ctx, r)
	if e != nil {
		return x.failure(e), nil
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
func (x *exchange) other(ctx context.Context, res mcp.Result, err error) (mcp.Result, error) {
	if err != nil {
		if w, ok := wireError(err); ok {
			return nil, mendWire(x.req, w)
		}
		return nil, x.protocolError(coerce(err, err.Error()))
	}
	if strings.HasPrefix(x.method, notificationPrefix) {
		return res, nil
	}
	if isNil(res) {
		return nil, x.protocolError(x.unusable(ctx, "the handler returned none", nil))
	}
	res, e := x.mend(ctx, res)
	if e != nil {
		return nil, x.protocolError(e)
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
