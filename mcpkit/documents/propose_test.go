package documents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type changesetReply struct {
	ChangesetID, Title, Description, Writer, Revision, Digest string
	Operations                                                []changeset.Operation
	Operation                                                 changeset.Operation
	Valid                                                     bool
	Problems                                                  []changeset.Problem
	Items                                                     []struct {
		ChangesetID, Title, Writer        string
		Op, ID, OldPath, NewPath, Unified string
		OperationCount, Added, Removed    int
		Offset                            int
		Partial, Damaged                  bool
	}
	Total      int
	NextCursor string
	Path       string
	SHA256     string
}

// newChangeset creates one and returns its id.
func newChangeset(tb testing.TB, c *wiretest.Peer) string {
	tb.Helper()
	return get[changesetReply](tb, c, "create_changeset", `{"title":"Nightly","description":"Say when."}`).ChangesetID
}

// TestProposals walks from a changeset to the page that a person looks at.
func TestProposals(t *testing.T) {
	t.Parallel()
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		p := newProject(t, sample())
		before := p.tree(t, ".mcpdocs")
		c := wiretest.Dial(t, p.server(t), era, name)
		id := newChangeset(t, c)

		created := get[changesetReply](t, c, "propose_node_create", object("changesetId", id, "id", "tapes", "kind", "spec", "title", "Tapes",
			"path", "media/tapes.md", "text", "# Tapes\n\nSee [[storage]].\n", "status", "draft", "depends_on", []string{"storage"}, "tags", []string{"ops", "media"}))
		if o := created.Operation; o.Op != changeset.Create || o.ID != "tapes" || o.NewPath != "media/tapes.md" || o.NewHash == "" {
			t.Errorf("operation %+v", o)
		}
		updated := get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", "backup", "status", "final"))
		if o := updated.Operation; o.Op != changeset.Update || o.BaseHash != before["docs/backup.md"] || o.NewHash == o.BaseHash {
			t.Errorf("operation %+v", o)
		}
		get[changesetReply](t, c, "propose_node_move", object("changesetId", id, "id", "oncall", "path", "people/oncall.md"))
		get[changesetReply](t, c, "propose_node_delete", object("changesetId", id, "id", "broken"))

		got := get[changesetReply](t, c, "get_changeset", object("changesetId", id))
		if got.Title != "Nightly" || got.Description != "Say when." || got.Writer != "agent" || got.Total != 4 || len(got.Operations) != 4 || got.Digest == "" {
			t.Errorf("changeset %+v", got)
		}
		listed := get[changesetReply](t, c, "list_changesets", `{}`)
		if len(listed.Items) != 1 || listed.Items[0].ChangesetID != id || listed.Items[0].OperationCount != 4 || listed.Total != 1 {
			t.Errorf("list %+v", listed.Items)
		}

		diff := get[changesetReply](t, c, "get_changeset_diff", object("changesetId", id))
		if len(diff.Items) != 4 {
			t.Fatalf("diff %+v", diff.Items)
		}
		if d := diff.Items[1]; !strings.Contains(d.Unified, "\n-status: draft # not reviewed\n+status: final # not reviewed\n") || d.Added != 1 || d.Removed != 1 {
			t.Errorf("diff %+v", d)
		}
		if d := diff.Items[2]; d.Op != "move" || d.OldPath != "oncall.md" || d.NewPath != "people/oncall.md" || d.Unified != "diff --git a/docs/oncall.md b/docs/people/oncall.md\nrename from docs/oncall.md\nrename to docs/people/oncall.md\n" {
			t.Errorf("diff %+v", d)
		}

		// The file without an id gets another one by its new path, so what links to it is left.
		v := get[changesetReply](t, c, "validate_changeset", object("changesetId", id))
		if v.Valid || v.Total != 1 || v.Problems[0].Code != "dangling_reference" || v.Problems[0].ID != "backup" {
			t.Errorf("validation %+v", v.Problems)
		}

		page := get[changesetReply](t, c, "preview_changeset", object("changesetId", id, "view", "review"))
		if got := p.tree(t, "-")[page.Path]; got == "" || got != page.SHA256 || !strings.HasPrefix(page.Path, ".mcpdocs/previews/") {
			t.Errorf("preview %q has %q, want %q", page.Path, got, page.SHA256)
		}
		if diff := cmp.Diff(before, p.tree(t, ".mcpdocs")); diff != "" {
			t.Errorf("canonical files changed (-before +after)\n%s", diff)
		}

		// Somebody edits a file: the base moved on.
		p.write(t, "docs/backup.md", "# Something else\n")
		v = get[changesetReply](t, c, "validate_changeset", object("changesetId", id))
		if v.Valid || !strings.Contains(fmt.Sprint(v.Problems), "base_stale") {
			t.Errorf("validation %+v", v.Problems)
		}
	})
}

func TestProposalRefusals(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	id := newChangeset(t, c)
	node := func(fields ...any) string {
		return object(append([]any{"changesetId", id, "id", "new", "kind", "guide", "title", "New", "path", "new.md", "text", "x"}, fields...)...)
	}
	for _, test := range []struct{ code, tool, args string }{
		{"id_taken", "propose_node_create", node("id", "storage")},
		{"id_taken", "propose_node_create", node("id", "STORAGE")},
		{"path_taken", "propose_node_create", node("path", "storage.md")},
		{"path_taken", "propose_node_create", node("path", "Storage.md")},
		{"path_invalid", "propose_node_create", node("path", "../escape.md")},
		{"path_invalid", "propose_node_create", node("path", "/etc/passwd.md")},
		{"path_invalid", "propose_node_create", node("path", "new.txt")},
		{"proposal_invalid", "propose_node_create", node("title", "two\nlines")},
		{"changeset_unknown", "propose_node_create", node("changesetId", "cs-aaaaaaaaaaaaaaaaaaaaaaaaaa")},
		{"invalid_arguments", "propose_node_create", node("changesetId", "../x")},
		{"invalid_arguments", "propose_node_create", node("apply", true)},
		{"node_unknown", "propose_node_update", object("changesetId", id, "id", "none", "text", "x")},
		{"proposal_invalid", "propose_node_update", object("changesetId", id, "id", "storage")},
		{"path_taken", "propose_node_move", object("changesetId", id, "id", "storage", "path", "backup.md")},
		{"node_unknown", "propose_node_delete", object("changesetId", id, "id", "none")},
		{"view_unknown", "preview_changeset", object("changesetId", id, "view", "outline")},
		{"view_unknown", "preview_changeset", object("changesetId", id, "view", "../review")},
		{"changeset_unknown", "get_changeset", `{"changesetId":"cs-aaaaaaaaaaaaaaaaaaaaaaaaaa"}`},
		{"invalid_arguments", "create_changeset", `{"title":""}`},
	} {
		fail(t, c, test.code, test.tool, test.args)
	}
	if got := get[changesetReply](t, c, "get_changeset", object("changesetId", id)); got.Total != 0 {
		t.Errorf("%d operations are left of refused proposals", got.Total)
	}
}

// Without a writer, what exists can be looked at and nothing can be proposed.
func TestWithoutWriter(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	id := newChangeset(t, c)
	get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", "storage", "text", "Other text.\n"))
	p.opts.Writer = nil
	before := p.tree(t, ".mcpdocs/previews")
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		c := wiretest.Dial(t, p.server(t), era, name)
		for tool, args := range map[string]string{
			"create_changeset":    `{"title":"x"}`,
			"propose_node_create": object("changesetId", id, "id", "n", "kind", "k", "title", "t", "path", "n.md", "text", ""),
			"propose_node_update": object("changesetId", id, "id", "storage", "text", "y"),
			"propose_node_move":   object("changesetId", id, "id", "storage", "path", "s.md"),
			"propose_node_delete": object("changesetId", id, "id", "storage"),
		} {
			fail(t, c, documents.CodeDisabled, tool, args)
		}
		for _, tool := range []string{"get_changeset", "validate_changeset", "get_changeset_diff"} {
			get[changesetReply](t, c, tool, object("changesetId", id))
		}
		get[changesetReply](t, c, "list_changesets", `{}`)
		get[changesetReply](t, c, "preview_changeset", object("changesetId", id, "view", "review"))
	})
	if diff := cmp.Diff(before, p.tree(t, ".mcpdocs/previews")); diff != "" {
		t.Errorf("files changed (-before +after)\n%s", diff)
	}
}

// A changeset belongs to its writer; others read it.
func TestOtherWriter(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	id := newChangeset(t, wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed"))
	other, err := p.store.Bind("other", changeset.Policy{Allow: []changeset.Op{changeset.Update}})
	if err != nil {
		t.Fatal(err)
	}
	p.opts.Writer = other
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	fail(t, c, "changeset_not_yours", "propose_node_update", object("changesetId", id, "id", "storage", "text", "y"))
	get[changesetReply](t, c, "get_changeset", object("changesetId", id))
	fail(t, c, "operation_not_allowed", "propose_node_delete", object("changesetId", newChangeset(t, c), "id", "storage"))
}

// A long diff comes in parts that join to the whole.
func TestLongDiff(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	for _, name := range []string{"zed", "codex"} {
		c := wiretest.Dial(t, p.server(t), wiretest.Handshake, name)
		id := newChangeset(t, c)
		text := strings.Repeat("A line of \"text\" & more.\n", 3000)
		get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", "storage", "text", text))
		get[changesetReply](t, c, "propose_node_delete", object("changesetId", id, "id", "broken"))
		want, err := p.store.Diff(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		parts := 0
		for args := object("changesetId", id); ; {
			page := get[changesetReply](t, c, "get_changeset_diff", args)
			if n := len(c.Send(t, "tools/call", `{"name":"get_changeset_diff","arguments":`+args+`}`)); n > 10_000 {
				t.Errorf("a page of %d bytes", n)
			}
			for _, item := range page.Items {
				if item.Offset != len(got[item.ID]) || item.Partial != (item.ID == "storage") {
					t.Errorf("%s from %d, partial %t, after %d bytes", item.ID, item.Offset, item.Partial, len(got[item.ID]))
				}
				if got[item.ID] += item.Unified; item.ID == "storage" {
					if parts++; item.Added != 3000 {
						t.Errorf("%d lines added", item.Added)
					}
				}
			}
			if page.NextCursor == "" {
				break
			}
			args = object("changesetId", id, "cursor", page.NextCursor)
		}
		if parts < 5 {
			t.Errorf("%d parts", parts)
		}
		for _, n := range want {
			if got[n.ID] != n.Unified {
				t.Errorf("%s: the joined diff has %d bytes, want %d", n.ID, len(got[n.ID]), len(n.Unified))
			}
		}
	}
}

// A diff that fits a page is not cut, wherever it would begin; one that is long
// begins a page. Beside names that fill a page a part still has text.
func TestDiffPages(t *testing.T) {
	t.Parallel()
	long := "docs/" + strings.Repeat(strings.Repeat("n", 190)+"/", 4) + "n.md"
	files := sample()
	files[long] = "---\nid: long\n---\n"
	p := newProject(t, files)
	p.opts.MaxPage = 4_000
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	id := newChangeset(t, c)
	for node, lines := range map[string]int{"backup": 60, "storage": 60, "broken": 400, "long": 400} {
		get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", node, "text", strings.Repeat("A line of text.\n", lines)))
	}
	pages, parts := 0, map[string]int{}
	for args := object("changesetId", id); args != ""; pages++ {
		page := get[changesetReply](t, c, "get_changeset_diff", args)
		if args = ""; page.NextCursor != "" {
			args = object("changesetId", id, "cursor", page.NextCursor)
		}
		for i, item := range page.Items {
			parts[item.ID]++
			whole := item.ID == "backup" || item.ID == "storage"
			if item.Partial == whole || item.Partial && item.Offset == 0 && i > 0 || item.Offset == 0 && len(item.Unified) < 100 {
				t.Errorf("%s from %d, partial %t, is item %d of a page and has %d bytes", item.ID, item.Offset, item.Partial, i, len(item.Unified))
			}
		}
	}
	if parts["backup"] != 1 || parts["storage"] != 1 || parts["broken"] < 3 || parts["long"] <= parts["broken"] || pages > 60 {
		t.Errorf("parts %v on %d pages", parts, pages)
	}
}

// A diff is read of one state of the changeset.
func TestDiffChanges(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "codex")
	id := newChangeset(t, c)
	get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", "storage", "text", strings.Repeat("A line.\n", 3000)))
	cursor := get[changesetReply](t, c, "get_changeset_diff", object("changesetId", id)).NextCursor
	get[changesetReply](t, c, "get_changeset_diff", object("changesetId", id, "cursor", cursor))
	get[changesetReply](t, c, "propose_node_update", object("changesetId", id, "id", "storage", "text", strings.Repeat("A lime.\n", 3000)))
	fail(t, c, "snapshot_changed", "get_changeset_diff", object("changesetId", id, "cursor", cursor))
	fail(t, c, "cursor_invalid", "get_changeset_diff", object("changesetId", newChangeset(t, c), "cursor", cursor))
}

func TestManyOperations(t *testing.T) {
	t.Parallel()
	p := newProject(t, many(60))
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	id := newChangeset(t, c)
	for i := range 60 {
		get[changesetReply](t, c, "propose_node_delete", object("changesetId", id, "id", fmt.Sprintf("n%04d", i)))
	}
	got := 0
	for args := object("changesetId", id); ; {
		page := get[changesetReply](t, c, "get_changeset", args)
		got += len(page.Operations)
		if page.Total != 60 {
			t.Fatalf("total %d", page.Total)
		}
		if page.NextCursor == "" {
			break
		}
		args = object("changesetId", id, "cursor", page.NextCursor)
	}
	if got != 60 {
		t.Errorf("%d operations in pages, want 60", got)
	}
}

// A server that only reads has no trace of changesets.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, documents.Feature(p.source, nil))
	if err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, server, wiretest.Stateless, "zed")
	if list := string(c.Send(t, "tools/list", `{}`)); strings.Contains(list, `"create_changeset"`) || strings.Contains(list, `"propose_node_create"`) || !strings.Contains(list, `"get_node"`) {
		t.Errorf("tools %s", list)
	}
	if got := get[itemPage](t, c, "render_status", `{}`); len(got.Items) != 0 {
		t.Errorf("outputs %+v", got)
	}
	type status struct{ Changesets struct{ Open int } }
	if got := get[status](t, c, "project_status", `{}`); got.Changesets.Open != 0 {
		t.Errorf("status %+v", got)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	p.opts.Status = func(context.Context) (documents.Status, error) {
		return documents.Status{Candidates: []string{"new-plan"}, Pending: 2, Unfinished: 1}, nil
	}
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
	newChangeset(t, c)
	damaged := newChangeset(t, c)
	for name := range p.tree(t, "docs") {
		if strings.Contains(name, damaged) {
			p.write(t, name, "torn")
		}
	}
	type status struct {
		Project    string
		Changesets struct{ Open, Damaged int }
		Candidates []string
		Approvals  struct{ Pending int }
		Operations struct{ Unfinished int }
	}
	var want status
	want.Project, want.Candidates = "handbook", []string{"new-plan"}
	want.Changesets.Open, want.Changesets.Damaged = 1, 1
	want.Approvals.Pending, want.Operations.Unfinished = 2, 1
	if diff := cmp.Diff(want, get[status](t, c, "project_status", `{}`)); diff != "" {
		t.Errorf("status (-want +got)\n%s", diff)
	}
	listed := get[changesetReply](t, c, "list_changesets", `{}`)
	if len(listed.Items) != 2 || !listed.Items[1].Damaged || listed.Total != 2 {
		t.Errorf("list %+v", listed.Items)
	}
	type raw struct{ Items []map[string]any }
	if diff := cmp.Diff(map[string]any{"changesetId": damaged, "operationCount": 0.0, "damaged": true}, get[raw](t, c, "list_changesets", `{}`).Items[1]); diff != "" {
		t.Errorf("a damaged changeset (-want +got)\n%s", diff)
	}
	fail(t, c, "changeset_damaged", "get_changeset", object("changesetId", damaged))
}

// Before it deletes a model reads that this cannot be withdrawn, and afterwards
// what to do instead.
func TestDeletionIsFinal(t *testing.T) {
	t.Parallel()
	c := wiretest.Dial(t, newProject(t, sample()).server(t), wiretest.Stateless, "zed")
	if list := string(c.Send(t, "tools/list", `{}`)); !strings.Contains(list, "Any other deletion cannot be withdrawn: propose the rest in a new changeset.") {
		t.Errorf("no tool says that a deletion is final: %s", list)
	}
	id := newChangeset(t, c)
	get[changesetReply](t, c, "propose_node_delete", object("changesetId", id, "id", "storage"))
	e := fail(t, c, "operation_conflict", "propose_node_update", object("changesetId", id, "id", "storage", "text", "x"))
	if !strings.Contains(e.Message, "propose the rest in a new changeset") {
		t.Errorf("the message is %q", e.Message)
	}
}
