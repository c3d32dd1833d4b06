package probe

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// initializeOnly is the newest version whose handshake is initialize. The
	// SDK begins with server/discover unless it is told this.
	initializeOnly = "2025-11-25"
	// catalogDomain names what the digest of a report is over.
	catalogDomain = "mcpcontract/tool-catalog/1"
)

// session opens a session over a transport, reads the catalog and closes it.
func (p *probe) session(ctx context.Context, t mcp.Transport, version string) (Report, error) {
	p.enter(Handshake)
	client := mcp.NewClient(&mcp.Implementation{Name: "mcpcontract-probe", Version: "1"}, &mcp.ClientOptions{
		// Not nil, since that would declare roots.
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	page := new(rawPage)
	client.AddSendingMiddleware(page.keep)
	cs, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return Report{}, err
	}
	defer p.close(cs)
	p.enter(ListTools)
	tools, err := p.tools(ctx, cs, page)
	if err == nil {
		err = p.running()
	}
	if err != nil {
		return Report{}, err
	}
	return p.report(cs.InitializeResult(), tools)
}

// close ends a session. The SDK waits for the other side, which need not be
// polite, so the wait has an end: that of the transport is up to the caller.
func (p *probe) close(cs *mcp.ClientSession) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cs.Close() // the report is complete, whatever the server makes of the end
	}()
	timer := time.NewTimer(p.ending / 2)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// A rawPage is the last page of tools as the server sent it. The client leaves
// tools out that it could not call, which others may offer all the same.
type rawPage struct {
	tools    []*mcp.Tool
	complete bool // not a demand for input, which the client takes for a page
}

// keep is middleware that looks at the pages.
func (r *rawPage) keep(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if page, ok := res.(*mcp.ListToolsResult); ok && page != nil {
			r.tools = page.Tools
			r.complete = page.ResultType == "" || page.ResultType == "complete"
		}
		return res, err
	}
}

// check refuses a page that says nothing about tools, or nothing that helps.
func (r *rawPage) check() error {
	switch {
	case !r.complete:
		return errors.New("the server wants input before it lists its tools")
	case r.tools == nil:
		return errors.New("a page of the catalog has no list of tools")
	}
	for _, tool := range r.tools {
		if tool == nil || oneLine(clean(tool.Name)) == "" {
			return errors.New("the catalog has a tool without a name")
		}
	}
	return nil
}

// tools reads the whole catalog.
func (p *probe) tools(ctx context.Context, cs *mcp.ClientSession, raw *rawPage) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	seen := make(map[string]bool)
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := cs.ListTools(ctx, params)
		if err != nil {
			if len(all) == 0 && hasNoTools(cs, err) {
				return nil, nil
			}
			return nil, err
		}
		if err := raw.check(); err != nil {
			return nil, p.errorf(Failed, "%s", err)
		}
		all = append(all, exact(p.now().listed, raw.tools)...)
		if len(all) > p.opts.maxTools() {
			return nil, p.errorf(TooLarge, "the catalog has more than %d tools", p.opts.maxTools())
		}
		if page.NextCursor == "" {
			return all, nil
		}
		if seen[page.NextCursor] {
			return nil, p.errorf(Failed, "the catalog has no end: a page has the cursor of an earlier one")
		}
		seen[page.NextCursor] = true
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, p.errorf(TooLarge, "the catalog has more than %d pages", maxPages)
}

// hasNoTools reports whether a server that did not announce tools says that it
// does not know the method. Some have tools and announce none, so it is asked
// all the same.
func hasNoTools(cs *mcp.ClientSession, err error) bool {
	werr, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || werr.Code != jsonrpc.CodeMethodNotFound {
		return false
	}
	res := cs.InitializeResult()
	return res == nil || res.Capabilities == nil || res.Capabilities.Tools == nil
}

// report says what was found.
func (p *probe) report(res *mcp.InitializeResult, tools []*mcp.Tool) (Report, error) {
	var r Report
	if res != nil {
		r.Protocol = p.name(res.ProtocolVersion)
		if res.ServerInfo != nil {
			r.Name, r.Version = p.name(res.ServerInfo.Name), p.name(res.ServerInfo.Version)
		}
	}
	digest, err := catalogDigest(tools)
	if err != nil {
		return Report{}, p.errorf(Failed, "the catalog has no canonical form: %s", err)
	}
	r.Digest, r.Skipped = digest, p.now().noise.lines
	r.Tools, r.Duplicates = p.toolNames(tools)
	return r, nil
}
