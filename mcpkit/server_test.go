package mcpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// The test server: every kind of argument and result that a schema can describe, and every way to fail.

type searchArgs struct {
	RepoID string            `json:"repo_id" jsonschema:"the repo to search" schema:"kind=id"`
	State  string            `json:"state,omitempty" jsonschema:"only items in this state" schema:"enum=open|closed"`
	Limit  int               `json:"limit,omitempty" jsonschema:"most items, 10 if absent" schema:"minimum=1 maximum=100"`
	Tags   []string          `json:"tags,omitempty" jsonschema:"only items with all of these" schema:"maxItems=3 pattern=^[a-z ]+$"`
	Labels map[string]string `json:"labels,omitempty" jsonschema:"only items with these labels" schema:"maxLength=5"`
	Range  *searchRange      `json:"range,omitempty" jsonschema:"only this part"`
	Extra  json.RawMessage   `json:"extra,omitempty" jsonschema:"returned as it came"`
}

type searchRange struct {
	From float64 `json:"from" jsonschema:"first"`
	To   float64 `json:"to,omitempty" jsonschema:"last" schema:"minimum=0.5"`
}

type searchResult struct {
	RepoID string            `json:"repo_id"`
	Digest string            `json:"sha256" schema:"kind=sha256"`
	At     time.Time         `json:"at"`
	Items  []searchItem      `json:"items"`
	Labels map[string]string `json:"labels"`
	Blob   []byte            `json:"blob"`
	Extra  json.RawMessage   `json:"extra"`
	Range  *searchRange      `json:"range,omitempty"`
}

type searchItem struct {
	Name  string   `json:"name" jsonschema:"n"`
	Lines []int64  `json:"lines" jsonschema:"l"`
	Peers []string `json:"peers" jsonschema:"p"`
}

type nothing struct{}

type failArgs struct {
	How string `json:"how" jsonschema:"what goes wrong" schema:"enum=coded|plain|panic|result"`
}

type done struct {
	State string `json:"state" schema:"enum=done"`
}

// shared is returned by every call of search: a result is never written to.
var shared = []searchItem{{Name: "a <b> null", Lines: []int64{1 << 60}}, {Name: "c"}}

func search(_ context.Context, in searchArgs) (searchResult, error) {
	return searchResult{
		RepoID: in.RepoID,
		Digest: strings.Repeat("0a", 32),
		At:     time.Date(2026, 7, 28, 1, 2, 3, 4, time.UTC),
		Items:  shared,
		Extra:  in.Extra,
		Range:  in.Range,
	}, nil
}

// brokenError is a failure with a code, as domain packages define them.
type brokenError struct{ path string }

func (e *brokenError) Error() string     { return "the file " + e.path + " is broken" }
func (e *brokenError) ErrorCode() string { return "file_broken" }

func fail(_ context.Context, in failArgs) (done, error) {
	switch in.How {
	case "coded":
		return done{}, &brokenError{"docs/a.md"}
	case "plain":
		return done{}, errors.New("password=hunter2")
	case "panic":
		panic("password=hunter2")
	}
	return done{State: "half done"}, nil
}

func whoami(ctx context.Context, _ nothing) (done, error) {
	if mcpkit.Request(ctx) == nil || mcpkit.Principal(ctx) != "tester" {
		return done{}, errors.New("no request or principal")
	}
	return done{State: "done"}, nil
}

func features() []mcpkit.Feature {
	return []mcpkit.Feature{
		mcpkit.Tool[searchArgs, searchResult]{
			Name: "search", Title: "Search", Description: "Search one repo.", Effect: mcpkit.ReadOnly, Run: search,
		}.Install,
		mcpkit.Tool[failArgs, done]{
			Name: "fail", Description: "Fail.", Effect: mcpkit.Destructive, Idempotent: true, OpenWorld: true, Run: fail,
		}.Install,
		mcpkit.Tool[nothing, done]{
			Name: "whoami", Description: "Check the caller.", Effect: mcpkit.Additive, Run: whoami,
		}.Install,
		mcpkit.ResourceTemplate{
			URI: "repo://{repo}/manifest", Name: "manifest", Title: "Manifest", MIMEType: "text/plain",
			Read:     readManifest,
			Complete: completeRepo,
		}.Install,
	}
}

func readManifest(_ context.Context, repo string) ([]*mcp.ResourceContents, error) {
	if repo != "alpha" {
		return nil, nil
	}
	return []*mcp.ResourceContents{{Text: "manifest of " + repo}}, nil
}

func completeRepo(_ context.Context, typed string) ([]string, error) {
	if typed == "panic" {
		panic("password=hunter2")
	}
	var list []string
	for _, id := range []string{"alpha", "alpine", "beta"} {
		if strings.HasPrefix(id, typed) {
			list = append(list, id)
		}
	}
	return list, nil
}

func newTestServer() (*mcp.Server, error) {
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, &mcpkit.Options{
		Principal:    "tester",
		Instructions: "Search first.",
	}, features()...)
	if err == nil {
		server.AddReceivingMiddleware(hideDiagnostics)
	}
	return server, err
}

// hideDiagnostics leaves the tool of package result out of lists: the wire cases of that package show it.
func hideDiagnostics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "diagnostic_read" })
		}
		return res, err
	}
}
