package mcpkit

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/result"
)

type (
	requestKey   struct{}
	principalKey struct{}
)

// Request returns the call that a [Tool]'s Run was made for, or nil elsewhere. It gives access to the session, to the
// headers of the HTTP request and to what the client sent besides the arguments. It must not be changed.
func Request(ctx context.Context) *mcp.CallToolRequest {
	req, _ := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	return req
}

// Principal returns who makes the request that ctx belongs to: the user that the HTTP transport authenticated, else
// [Options.Principal]. It works in tools, resources, prompts and completions.
//
// A server that authenticates its HTTP clients must not set Options.Principal too, unless whoever comes without a token
// may act under that name.
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

// callMiddleware says who calls and logs tool calls. It is the outermost of the library, so that it sees final results.
func (in *Installer) callMiddleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		principal := in.opts.Principal
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			principal = extra.TokenInfo.UserID
		}
		if principal != "" {
			ctx = context.WithValue(ctx, principalKey{}, principal)
		}
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || in.opts.Logger == nil {
			return next(ctx, method, req)
		}
		start := time.Now()
		res, err := next(ctx, method, req)
		in.logCall(ctx, call, outcome(res, err), time.Since(start))
		return res, err
	}
}

// logCall writes the one record of a call. Everything that the client chose is clipped.
func (in *Installer) logCall(ctx context.Context, req *mcp.CallToolRequest, code string, took time.Duration) {
	client := result.ClientOf(req)
	in.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "tool call",
		slog.String("tool", clip(req.Params.Name)),
		slog.String("code", code),
		slog.Duration("duration", took),
		slog.Group("client",
			slog.String("name", clip(client.Name)),
			slog.String("version", clip(client.Version)),
		),
	)
}

// outcome returns the code of a finished call: ok, input_required, the code of its error, or the number of a protocol
// error.
func outcome(res mcp.Result, err error) string {
	if err != nil {
		if protocol, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return strconv.FormatInt(protocol.Code, 10)
		}
		return "error"
	}
	call, ok := res.(*mcp.CallToolResult)
	switch {
	case !ok || call == nil:
		return "error"
	case call.InputRequests != nil:
		return "input_required"
	case !call.IsError:
		return "ok"
	}
	// Package result has put its own error there, whatever the tool had.
	var coded interface{ ErrorCode() string }
	if errors.As(call.GetError(), &coded) {
		return clip(coded.ErrorCode())
	}
	return "error"
}
