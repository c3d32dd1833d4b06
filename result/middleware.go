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
// tools may be added before or after. Middleware added to s later sees the
// shaped results, and finds the [*Error] of a failed call by
// [mcp.CallToolResult.GetError].
func Install(s *mcp.Server, opts *Options) {
	sh := newShaper(opts)
	sh.store = new(store)
	s.AddReceivingMiddleware(sh.middleware)
	sh.addDiagnosticTool(s)
}

// Middleware is the receiving middleware of [Install] alone, for servers that
// want no further tool. Without the tool nothing is kept of what a budget
// cuts, and no diagnostic id is given.
func Middleware(opts *Options) mcp.Middleware { return newShaper(opts).middleware }

// A shaper is the state behind one middleware.
type shaper struct {
	opts  Options
	store *store // nil: nothing is kept
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
		if method == "tools/call" {
			res, err := next(ctx, method, req)
			return sh.call(ctx, next, req, res, err)
		}
		res, err = next(ctx, method, req)
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

// target names what a request is about, for a log line.
func target(req mcp.Request) string {
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

// other mends the results and errors of every method but tools/call.
func (sh *shaper) other(ctx context.Context, method string, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	if err != nil {
		return nil, sh.mendError(req, err)
	}
	if strings.HasPrefix(method, "notifications/") {
		return res, nil
	}
	if isNil(res) {
		return nil, sh.unusable(ctx, method, req, "the handler returned no result")
	}
	res, e := sh.mend(ctx, req, res)
	if e != nil {
		return nil, sh.protocolError(e)
	}
	return res, nil
}

// unusable reports a result that cannot be sent: a bug of the server, whose
// particulars belong in its log.
func (sh *shaper) unusable(ctx context.Context, method string, req mcp.Request, why string) error {
	sh.opts.logger().ErrorContext(ctx, "unusable result", "method", method, "target", target(req), "reason", why)
	return sh.protocolError(&Error{Code: CodeInternal, Message: "the server made no usable result: " + why})
}

// mendError returns what may go out for a protocol error: its message capped
// and its data valid.
func (sh *shaper) mendError(req mcp.Request, err error) error {
	w, ok := wire(err)
	if !ok {
		return sh.protocolError(coerce(err, err.Error()))
	}
	out := &jsonrpc.Error{Code: w.Code, Message: short(w.Message, maxProtocolMessage), Data: w.Data}
	if len(w.Data) > maxProtocolData || len(w.Data) > 0 && !json.Valid(w.Data) {
		out.Data = nil
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok {
			out.Data, _ = encode(map[string]string{"uri": fit(p.URI, 400)})
		}
	}
	return out
}
