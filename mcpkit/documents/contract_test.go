package documents_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/contracttest"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/result"
)

func TestContract(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	type args = map[string]any
	const unknown = "cs-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	// One client of each kind: what tells them apart is not made here.
	clients := []contracttest.Client{{Name: "claude-code", Version: "2.1.332"}, {Name: "Zed", Version: "0.2.0"}, {}}
	contracttest.Run(t, func() *mcp.Server { return p.server(t) }, &contracttest.Options{Clients: clients, Calls: []contracttest.Call{
		{Tool: "project_info"},
		{Tool: "project_status"},
		{Tool: "get_contract"},
		{Tool: "get_node", Arguments: args{"id": "backup"}},
		{Tool: "get_node", Arguments: args{"id": "none"}, Fails: true},
		{Tool: "search", Arguments: args{"query": "storage"}},
		{Tool: "search", Arguments: args{"query": "!"}, Fails: true},
		{Tool: "filter_nodes", Arguments: args{"kind": "guide"}},
		{Tool: "backlinks", Arguments: args{"id": "storage"}},
		{Tool: "dependencies", Arguments: args{"id": "broken"}},
		{Tool: "impact", Arguments: args{"id": "storage"}},
		{Tool: "get_context", Arguments: args{"id": "backup"}},
		{Tool: "get_context", Arguments: args{"id": "backup", "cursor": "x"}, Fails: true},
		{Tool: "validate_project"},
		{Tool: "render_status"},
		{Tool: "create_changeset", Arguments: args{"title": "x"}},
		{Tool: "list_changesets"},
		{Tool: "propose_node_create", Arguments: args{"changesetId": unknown, "id": "x", "kind": "guide", "title": "x", "path": "x.md", "text": ""}, Fails: true},
		{Tool: "propose_node_update", Arguments: args{"changesetId": unknown, "id": "x"}, Fails: true},
		{Tool: "propose_node_move", Arguments: args{"changesetId": unknown, "id": "x", "path": "x.md"}, Fails: true},
		{Tool: "propose_node_delete", Arguments: args{"changesetId": unknown, "id": "x"}, Fails: true},
		{Tool: "get_changeset", Arguments: args{"changesetId": unknown}, Fails: true},
		{Tool: "validate_changeset", Arguments: args{"changesetId": unknown}, Fails: true},
		{Tool: "get_changeset_diff", Arguments: args{"changesetId": unknown}, Fails: true},
		{Tool: "preview_changeset", Arguments: args{"changesetId": unknown, "view": "review"}, Fails: true},
	}})
}

// hostile are values for every kind of argument.
var hostile = []any{
	"../../docs/backup.md", "/etc/passwd", "docs/backup.md", "mcpdocs.yaml", "backup", "storage", "review", "site/outline.html", ".mcpdocs/x",
	"a\x00b", "C:\\x", strings.Repeat("x", 5000), "", "\u202e", "{{.}}", "apply", "$(rm -rf .)", 0, -1, true, nil,
	[]any{"x"},
	map[string]any{"apply": true},
}

// TestNothingCanonicalChanges calls every tool with hostile arguments, alone and
// beside a good changeset id, and compares all files outside of the two folders
// that tools may write to.
func TestNothingCanonicalChanges(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	p.write(t, "mcpdocs.yaml", "schema_version: \"1.0\"\n")
	before := p.tree(t, ".mcpdocs")
	server := p.server(t)
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	id := newChangeset(t, c)
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]json.RawMessage
			}
			Annotations struct{ ReadOnlyHint bool }
		}
	}
	if err := json.Unmarshal(c.Send(t, "tools/list", `{}`), &list); err != nil {
		t.Fatal(err)
	}
	calls, accepted := 0, 0
	for _, tool := range list.Tools {
		names := slices.Sorted(maps.Keys(tool.InputSchema.Properties))
		for i, value := range hostile {
			args := map[string]any{}
			for k, name := range names {
				args[name] = hostile[(i+k*7)%len(hostile)]
			}
			for _, name := range []string{"changesetId", "id", "view"} {
				if _, ok := args[name]; !ok || i%2 == 0 {
					continue
				}
				args[name] = map[string]string{"changesetId": id, "id": "backup", "view": "review"}[name]
			}
			if len(names) > 0 && i%3 == 0 {
				args[names[i%len(names)]] = value
			}
			data, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			calls++
			if r := c.Call(t, tool.Name, string(data)); !r.IsError {
				accepted++
			}
		}
		if diff := cmp.Diff(before, p.tree(t, ".mcpdocs")); diff != "" {
			t.Fatalf("after %s files changed (-before +after)\n%s", tool.Name, diff)
		}
	}
	// Good calls of all that write, on top.
	id = newChangeset(t, c)
	for tool, args := range map[string]string{
		"propose_node_create": object("changesetId", id, "id", "n", "kind", "k", "title", "t", "path", "n.md", "text", "x"),
		"propose_node_update": object("changesetId", id, "id", "backup", "text", "x"),
		"propose_node_move":   object("changesetId", id, "id", "storage", "path", "s.md"),
		"propose_node_delete": object("changesetId", id, "id", "broken"),
		"preview_changeset":   object("changesetId", id, "view", "toc"),
	} {
		get[changesetReply](t, c, tool, args)
	}
	if diff := cmp.Diff(before, p.tree(t, ".mcpdocs")); diff != "" {
		t.Fatalf("files changed (-before +after)\n%s", diff)
	}
	if calls < 400 || accepted < 20 {
		t.Errorf("%d calls, %d accepted: too few to show anything", calls, accepted)
	}
}

// No tool, argument or description offers what this server leaves out.
func TestExclusions(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(c.Send(t, "tools/list", `{}`), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 23 {
		t.Errorf("%d tools, want 22 and diagnostic_read", len(list.Tools))
	}
	words := []string{"shell", "exec", "command", "run", "apply", "render_output", "renderer", "git", "commit", "build", "deploy", "publish", "project_root", "projectroot", "write", "merge"}
	for _, tool := range list.Tools {
		names := append(slices.Collect(maps.Keys(tool.InputSchema.Properties)), tool.Name)
		for _, name := range names {
			for _, word := range words {
				if strings.Contains(strings.ToLower(name), word) {
					t.Errorf("tool %s has %q", tool.Name, name)
				}
			}
			if name == "projectId" || name == "project" || name == "root" {
				t.Errorf("tool %s chooses a project by %q", tool.Name, name)
			}
		}
	}
}

// integration is a project with everything of its own.
type integration struct{ nodes []changeset.Node }

func (s *integration) Snapshot(context.Context) (*changeset.Snapshot, error) {
	return &changeset.Snapshot{Project: "base", Revision: "commit 7", Nodes: s.nodes}, nil
}

func (s *integration) Read(_ context.Context, path string) ([]byte, error) {
	if path != "a.md" {
		return nil, errors.New("no such row")
	}
	return []byte("# A\n\nrow text\n"), nil
}

// lax tries to weaken validation: it removes problems, changes what it is shown,
// and says that all is well.
type lax struct{}

func (lax) Validate(_ context.Context, p changeset.Proposal) []changeset.Problem {
	clear(p.Files)
	clear(p.After.Nodes)
	p.Changeset.Operations = nil
	return []changeset.Problem{{Code: "house_rule", Severity: "fine", Message: "too short"}}
}

// An integration with its own source, policy and validators gets the same tools
// and rules.
func TestIntegration(t *testing.T) {
	t.Parallel()
	const text = "# A\n\nrow text\n"
	src := &integration{nodes: []changeset.Node{{ID: "a", Kind: "row", Title: "A", Path: "a.md", Hash: sum(text), Size: int64(len(text))}}}
	mirror, err := docgraph.NewMirror(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	store, err := changeset.Open(root, src, &changeset.Options{Validators: []changeset.Validator{lax{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	writer, err := store.Bind("agent", changeset.Policy{Allow: []changeset.Op{changeset.Update}})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"},
		&mcpkit.Options{Result: &result.Options{Provenance: documents.Provenance(mirror, "rows/2")}},
		documents.Feature(mirror, &documents.Options{Store: store, Writer: writer, Adapter: "rows/2"}))
	if err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	var r struct {
		ChangesetID string
		Text        string
		Valid       bool
		Problems    []changeset.Problem
		Provenance  provenance
	}
	call := func(tool, args string) {
		t.Helper()
		if err := json.Unmarshal([]byte(c.Call(t, tool, args).JSON()), &r); err != nil {
			t.Fatal(err)
		}
	}
	call("get_node", `{"id":"a"}`)
	if r.Text != text || r.Provenance.Adapter != "rows/2" || r.Provenance.Revision != "commit 7" || r.Provenance.SourceHash != sum(text) {
		t.Errorf("node %+v", r)
	}
	call("project_status", `{}`)
	if len(r.Provenance.SourceHash) != 64 {
		t.Errorf("source hash %q of the whole project", r.Provenance.SourceHash)
	}
	call("create_changeset", `{"title":"x"}`)
	id := r.ChangesetID
	call("propose_node_update", object("changesetId", id, "id", "a", "text", "See [[nowhere]].\n"))
	fail(t, c, "operation_not_allowed", "propose_node_delete", object("changesetId", id, "id", "a"))
	call("validate_changeset", object("changesetId", id))
	codes := map[string]bool{}
	for _, p := range r.Problems {
		codes[p.Code] = true
	}
	if r.Valid || !codes["dangling_reference"] || !codes["house_rule"] {
		t.Errorf("valid %v, problems %+v", r.Valid, r.Problems)
	}
}

func TestFeatureErrors(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	for name, feature := range map[string]mcpkit.Feature{
		"no source":               documents.Feature(nil, nil),
		"a writer and no store":   documents.Feature(p.source, &documents.Options{Writer: p.opts.Writer}),
		"pages that hold nothing": documents.Feature(p.source, &documents.Options{MaxPage: 3_999}),
		"the same feature twice": func(in *mcpkit.Installer) error {
			return errors.Join(documents.Feature(p.source, nil)(in), documents.Feature(p.source, nil)(in))
		},
	} {
		if _, err := mcpkit.NewServer(&mcp.Implementation{Name: "test"}, nil, feature); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// gone is a source that cannot be read.
type gone struct{}

func (gone) Graph(context.Context) (*docgraph.Graph, error) {
	return nil, &docgraph.Error{Code: docgraph.CodeDocs, Op: "load", Path: "docs"}
}

func TestSourceGone(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test"}, nil, documents.Feature(gone{}, &p.opts))
	if err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	const id = `"changesetId":"cs-aaaaaaaaaaaaaaaaaaaaaaaaaa"`
	for tool, args := range map[string]string{
		"project_info": `{}`, "project_status": `{}`, "get_contract": `{}`, "get_node": `{"id":"a"}`, "search": `{"query":"a"}`, "filter_nodes": `{}`,
		"backlinks": `{"id":"a"}`, "dependencies": `{"id":"a"}`, "impact": `{"id":"a"}`, "get_context": `{"id":"a"}`, "validate_project": `{}`,
		"render_status": `{}`, "create_changeset": `{"title":"a"}`, "list_changesets": `{}`, "get_changeset": `{` + id + `}`,
		"validate_changeset": `{` + id + `}`, "get_changeset_diff": `{` + id + `}`, "preview_changeset": `{` + id + `,"view":"review"}`,
		"propose_node_delete": `{` + id + `,"id":"a"}`,
	} {
		fail(t, c, string(docgraph.CodeDocs), tool, args)
	}
	if got := documents.Provenance(gone{}, "")(t.Context(), "x"); got.Staleness != result.Unknown || got.Adapter != "docgraph/1" || len(got.SourceHash) != 64 {
		t.Errorf("provenance %+v", got)
	}
}

// leaky is a source whose error says too much.
type leaky struct{}

func (leaky) Graph(context.Context) (*docgraph.Graph, error) {
	return nil, errors.New("db down: password=hunter2")
}

func TestSourceErrorStaysHere(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test"}, nil, documents.Feature(leaky{}, &p.opts))
	if err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	for _, tool := range []string{"project_info", "list_changesets"} {
		if e := fail(t, c, documents.CodeSourceFailed, tool, `{}`); strings.Contains(e.Message, "hunter2") || strings.Contains(string(e.Details), "hunter2") {
			t.Errorf("%s: %+v", tool, e)
		}
	}
}
