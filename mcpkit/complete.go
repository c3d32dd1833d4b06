package mcpkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodComplete = "completion/complete"
	maxCompletions = 100 // the protocol's own limit for one reply
	maxTyped       = 1024
)

type completionKey struct{ template, argument string }

type completer func(ctx context.Context, typed string) ([]string, error)

// Complete lets clients complete one argument of a resource template. values returns the candidates for what the user
// has typed so far, best first; it is called concurrently. Of more than 100 candidates the first 100 are sent. Its errors
// reach the client by the rule of [Tool].Run.
//
// The server announces the capability by itself as soon as one feature calls Complete. Completions that the server has
// of its own, for other templates and for prompts, keep working.
//
// The error says that the argument has a completion already.
func (in *Installer) Complete(template, argument string, values func(ctx context.Context, typed string) ([]string, error)) error {
	key := completionKey{template, argument}
	switch {
	case template == "" || argument == "" || values == nil:
		return errors.New("complete: template, argument and values are required")
	case in.completions[key] != nil:
		return fmt.Errorf("complete: argument %q of %q has a completion already", argument, template)
	}
	in.completions[key] = values
	return nil
}

// completionMiddleware answers for the completions of the features and announces the capability. It works for servers
// that others made too: the SDK takes a completion handler only when a server is made.
func (in *Installer) completionMiddleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if complete, ok := req.(*mcp.CompleteRequest); ok && method == methodComplete {
			if values := in.completerFor(complete.Params); values != nil {
				res, err := runCompleter(ctx, values, complete.Params.Argument.Value)
				return res, in.withhold(ctx, complete.Params.Ref.URI, err)
			}
		}
		res, err := next(ctx, method, req)
		if protocol, ok := errors.AsType[*jsonrpc.Error](err); ok && method == methodComplete && protocol.Code == jsonrpc.CodeMethodNotFound {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "nothing completes this argument of this reference"}
		}
		if err != nil {
			return res, err
		}
		return announceCompletions(res), nil
	}
}

// announceCompletions adds the capability to what a server says about itself; every other result stays as it is.
func announceCompletions(res mcp.Result) mcp.Result {
	switch res := res.(type) {
	case *mcp.InitializeResult:
		announced := *res
		announced.Capabilities = withCompletions(res.Capabilities)
		return &announced
	case *mcp.DiscoverResult:
		announced := *res
		announced.Capabilities = withCompletions(res.Capabilities)
		return &announced
	}
	return res
}

func withCompletions(caps *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	var c mcp.ServerCapabilities
	if caps != nil {
		c = *caps
	}
	c.Completions = new(mcp.CompletionCapabilities)
	return &c
}

func (in *Installer) completerFor(p *mcp.CompleteParams) completer {
	if p == nil || p.Ref == nil {
		return nil
	}
	return in.completions[completionKey{p.Ref.URI, p.Argument.Name}]
}

func runCompleter(ctx context.Context, values completer, typed string) (mcp.Result, error) {
	if len(typed) > maxTyped {
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidParams,
			Message: fmt.Sprintf("argument.value is longer than %d bytes", maxTyped),
		}
	}
	list, err := values(ctx, typed)
	if err != nil {
		return nil, err
	}
	total := len(list)
	list = append([]string{}, list[:min(total, maxCompletions)]...) // never null on the wire
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values:  list,
		Total:   total,
		HasMore: total > len(list),
	}}, nil
}
