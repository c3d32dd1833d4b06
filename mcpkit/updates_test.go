package mcpkit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// clock adds two resources, of which one tells of its changes by changed.
func clock(changed *func(context.Context) error) mcpkit.Feature {
	return func(in *mcpkit.Installer) error {
		for _, uri := range []string{"test://clock", "test://stone"} {
			in.Server().AddResource(&mcp.Resource{URI: uri, Name: uri}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: "now"}}}, nil
			})
		}
		*changed = in.Updates("test://clock")
		return nil
	}
}

// A line is whatever message comes next.
type line struct {
	ID     json.RawMessage
	Method string
	Params struct {
		URI           string
		Notifications struct{ ResourceSubscriptions []string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (p *peer) next(t *testing.T) line {
	t.Helper()
	data, err := p.r.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return l
}

// subscribe sends the request by which a client of the era subscribes, and returns the first answer.
func (p *peer) subscribe(t *testing.T, uri string) line {
	t.Helper()
	method, params := "resources/subscribe", fmt.Sprintf(`{"uri":%q}`, uri)
	if p.era == stateless {
		method, params = "subscriptions/listen", fmt.Sprintf(`{"notifications":{"resourceSubscriptions":[%q]},%s}`, uri, statelessMeta)
	}
	if _, err := fmt.Fprintf(p.w, `{"jsonrpc":"2.0","id":"for %s","method":%q,"params":%s}`+"\n", uri, method, params); err != nil {
		t.Fatal(err)
	}
	return p.next(t)
}

func TestUpdates(t *testing.T) {
	for _, e := range eras {
		t.Run(e.String(), func(t *testing.T) {
			var changed func(context.Context) error
			server := newServer(t, nil, clock(&changed))
			if err := changed(t.Context()); err != nil {
				t.Errorf("before anybody listens: %v", err)
			}
			p := dial(t, server, e)
			got := p.subscribe(t, "test://clock")
			if got.Error != nil || e == stateless && fmt.Sprint(got.Params.Notifications.ResourceSubscriptions) != "[test://clock]" {
				t.Fatalf("subscribing: got %+v", got)
			}
			sent := make(chan error, 1)
			for range 2 {
				go func() { sent <- changed(context.WithoutCancel(t.Context())) }()
				if got := p.next(t); got.Method != "notifications/resources/updated" || got.Params.URI != "test://clock" || got.ID != nil {
					t.Errorf("after a change: got %+v", got)
				}
				if err := <-sent; err != nil {
					t.Error(err)
				}
			}
			if e == handshake {
				p.send(t, "resources/unsubscribe", `{"uri":"test://clock"}`)
				if err := changed(t.Context()); err != nil { // would block: nobody reads
					t.Error(err)
				}
			}
		})
	}
}

// What tells of no changes cannot be subscribed to.
func TestUpdatesRefused(t *testing.T) {
	var changed func(context.Context) error
	for name, test := range map[string]struct {
		features  []mcpkit.Feature
		uri, want string
	}{
		"no such resource": {[]mcpkit.Feature{clock(&changed)}, "test://" + strings.Repeat("x", 5000), "those that do: test://clock"},
		"never changes":    {[]mcpkit.Feature{clock(&changed)}, "test://stone", "those that do: test://clock"},
		"none changes":     {features(), "test://clock", "there is no resource that does"},
	} {
		for _, e := range eras {
			p := dial(t, newServer(t, nil, test.features...), e)
			got := p.subscribe(t, test.uri)
			if got.Error == nil || got.Error.Code != -32602 || !strings.HasSuffix(got.Error.Message, test.want) || len(got.Error.Message) > 300 {
				t.Errorf("%s, %v: got %+v, want -32602 that ends with %q", name, e, got.Error, test.want)
			}
		}
	}
}
