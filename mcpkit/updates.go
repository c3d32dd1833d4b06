package mcpkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// updates are the URIs of the resources whose changes clients are told of. It is written while a server is built, and
// read afterwards.
type updates map[string]bool

// Updates lets clients subscribe to the resource with that URI, and returns what tells them that it has changed, for as
// long as the server runs; it may be called at any time, also before anybody has subscribed. A subscription to any other
// resource is refused, so that clients do not wait for what never comes.
//
// On a server that was not made by [NewServer] it is the SubscribeHandler of that server that decides.
func (in *Installer) Updates(uri string) (changed func(ctx context.Context) error) {
	in.updates[uri] = true
	s := in.server
	return func(ctx context.Context) error {
		return s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
}

// subscribe accepts a subscription if something comes of it.
func (u updates) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	if u[req.Params.URI] {
		return nil
	}
	known := "there is no resource that does"
	if len(u) > 0 {
		known = "those that do: " + strings.Join(slices.Sorted(maps.Keys(u)), ", ")
	}
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the resource %q does not tell of its changes; %s", clip(req.Params.URI), known),
	}
}

// unsubscribe leaves it to the SDK, which keeps who has subscribed.
func (u updates) unsubscribe(context.Context, *mcp.UnsubscribeRequest) error { return nil }
