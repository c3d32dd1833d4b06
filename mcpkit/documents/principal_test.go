package documents_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// around runs before each tool call of a server, and may change it.
func around(server *mcp.Server, change func(ctx context.Context, call *mcp.CallToolRequest) context.Context) {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok {
				ctx = change(ctx, call)
			}
			return next(ctx, method, req)
		}
	})
}

// What one user was given is of no use to another, even on one connection.
func TestContextPrincipal(t *testing.T) {
	t.Parallel()
	for _, era := range wiretest.Eras() {
		user := ""
		server := newProject(t, sample()).server(t)
		around(server, func(ctx context.Context, call *mcp.CallToolRequest) context.Context {
			call.Extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{UserID: user}}
			return ctx
		})
		c := wiretest.Dial(t, server, era, "zed")
		user = "ada"
		next := object("id", "backup", "maxBytes", 256, "cursor", get[contextPage](t, c, "get_context", `{"id":"backup","maxBytes":256}`).NextCursor)
		again := object("id", "backup", "retainedContextToken", readAll(t, c, "id", "backup")[0].RetainedContextToken)
		user = "bob"
		fail(t, c, "cursor_invalid", "get_context", next)
		fail(t, c, "retained_invalid", "get_context", again)
		user = "ada"
		get[contextPage](t, c, "get_context", next)
		if got := get[contextPage](t, c, "get_context", again); text([]contextPage{got}) != "" {
			t.Errorf("who has it all gets %+v", got.Sections)
		}
	}
}

// A token holds 4,096 sections. A read of more is as good, and has none.
func TestContextOfManySections(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 4096 {
		fmt.Fprintf(&b, "# %d\n", i)
	}
	files := map[string]string{"docs/most.md": b.String(), "docs/more.md": b.String() + "# more\n"}
	c := wiretest.Dial(t, newProject(t, files).server(t), wiretest.Stateless, "zed")
	for id, want := range map[string]bool{"most": true, "more": false} {
		var page contextPage
		fields := []any{"id", id, "maxBytes", 16_000}
		delivered := 0
		for args := fields; !page.Complete; args = append(fields[:4:4], "cursor", page.NextCursor) {
			page = get[contextPage](t, c, "get_context", object(args...))
			for _, s := range page.Sections {
				delivered += len(s.Text)
			}
		}
		if got := page.RetainedContextToken != ""; got != want || delivered != len(files["docs/"+id+".md"]) {
			t.Errorf("%s: %d bytes, a token: %t, want %t", id, delivered, got, want)
		}
	}
}

// failing is a source that cannot be read.
type failing string

func (f failing) Graph(context.Context) (*docgraph.Graph, error) { return nil, errors.New(string(f)) }

// A call that ended is told as that, and in no case what the source says.
func TestEndedCall(t *testing.T) {
	t.Parallel()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, documents.Feature(failing("no disk at 10.0.0.7"), nil))
	if err != nil {
		t.Fatal(err)
	}
	end := false
	around(server, func(ctx context.Context, _ *mcp.CallToolRequest) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		context.AfterFunc(t.Context(), cancel)
		if end {
			cancel()
		}
		return ctx
	})
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	for _, tool := range []string{"project_info", "project_status", "search", "validate_project"} {
		args := map[string]string{"search": `{"query":"x"}`}[tool]
		for _, test := range []struct {
			end  bool
			code string
		}{{false, documents.CodeSourceFailed}, {true, "canceled"}} {
			end = test.end
			if e := fail(t, c, test.code, tool, cmp.Or(args, `{}`)); strings.Contains(e.Message, "disk") {
				t.Errorf("%s: a client is told %q", tool, e.Message)
			}
		}
	}
}
