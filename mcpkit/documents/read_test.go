package documents_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/mcpkit/documents"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		c := wiretest.Dial(t, p.server(t), era, name)
		type counted struct {
			Name  string
			Nodes int
		}
		type info struct {
			Project, Title string
			Nodes          int
			Problems       struct{ Errors, Warnings int }
			Kinds          []counted
			Statuses, Tags []counted
			Views          []changeset.View
		}
		want := info{
			Project: "handbook", Title: "The Handbook", Nodes: 4,
			Kinds:    []counted{{"page", 2}, {"guide", 1}, {"spec", 1}},
			Statuses: []counted{{"draft", 1}, {"final", 1}},
			Tags:     []counted{{"ops", 1}},
			Views:    []changeset.View{{ID: "review", Title: "Review", Renderer: "review"}, {ID: "toc", Title: "toc", Renderer: "outline"}},
		}
		want.Problems.Errors, want.Problems.Warnings = 1, 1
		if diff := cmp.Diff(want, get[info](t, c, "project_info", `{}`)); diff != "" {
			t.Errorf("info (-want +got)\n%s", diff)
		}
	})
}

func TestContractTool(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	type contract struct {
		Writer                                      bool
		Tools, Operations, Kinds, Paths, Exclusions []string
		Roots                                       map[string]string
		Limits                                      map[string]int
		Outputs                                     []changeset.Output
	}
	got := get[contract](t, c, "get_contract", `{}`)
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.Send(t, "tools/list", `{}`), &list); err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, tool := range list.Tools {
		served = append(served, tool.Name)
	}
	if diff := cmp.Diff(served, got.Tools); diff != "" {
		t.Errorf("tools (-served +told)\n%s", diff)
	}
	if !got.Writer || strings.Join(got.Operations, " ") != "create update move delete" || strings.Join(got.Paths, " ") != "**/*.md" || strings.Join(got.Kinds, " ") != "*" {
		t.Errorf("contract %+v", got)
	}
	if got.Roots["docs"] != "docs" || got.Limits["operations"] != 200 || got.Limits["pageBytes"] != 10_000 || len(got.Exclusions) < 8 || len(got.Outputs) != 2 {
		t.Errorf("contract %+v", got)
	}
	p.opts.Writer = nil
	c = wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	if got := get[contract](t, c, "get_contract", `{}`); got.Writer || len(got.Operations) != 0 {
		t.Errorf("without a writer: %+v", got)
	}
}

// What is allowed is told in a form that nobody takes for nothing, and what is not
// with what to do.
func TestContractPaths(t *testing.T) {
	t.Parallel()
	const hint = "the operator may name paths in the project file"
	many := make([]string, 256)
	for i := range many {
		many[i] = fmt.Sprintf("plans/%s-%d/*.md", strings.Repeat("x", 900), i)
	}
	for name, test := range map[string]struct {
		contract documents.Contract
		want     string // of the reply
	}{
		"everything": {documents.Contract{}, `"kinds":["*"],"paths":["**"],"views":[]`},
		"some": {
			documents.Contract{Policy: changeset.Policy{Kinds: []string{"guide"}, Paths: []string{"a/*"}}, Candidates: &documents.CandidatePaths{Allow: []string{"plans/*"}, Authorized: []string{"plans/x"}, Hint: hint}},
			`"kinds":["guide"],"paths":["a/*"],"candidatePaths":{"paths":["plans/*"],"authorized":["plans/x"]},"views"`,
		},
		"no candidate": {
			documents.Contract{Candidates: &documents.CandidatePaths{Hint: hint}},
			`"paths":["**"],"candidatePaths":{"paths":[],"authorized":[],"hint":"` + hint + `"},"views"`,
		},
		"more than a reply has": {
			documents.Contract{Policy: changeset.Policy{Kinds: many, Paths: many}, Candidates: &documents.CandidatePaths{Allow: many, Authorized: many}},
			`-1/*.md","..."],"authorized":["plans/x`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, sample())
			p.opts.Contract = test.contract
			c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
			get[struct{}](t, c, "get_contract", `{}`)
			if got := c.Call(t, "get_contract", `{}`).JSON(); !strings.Contains(got, test.want) || len(got) > 10_000+2_000 {
				t.Errorf("%d bytes, want %s in\n%s", len(got), test.want, got)
			}
		})
	}
}

func TestGetNode(t *testing.T) {
	t.Parallel()
	type node struct {
		ID, Title, Kind, Status, Path, SHA256, Text, NextCursor string
		DependsOn                                               []string `json:"depends_on"`
		Links, Tags                                             []string
		Size                                                    int64
		Provenance                                              provenance
	}
	files := sample()
	long := strings.Repeat("A line with \"quotes\" & <signs>.\n", 2000)
	files["docs/long.md"] = "---\ntitle: Long\n---\n" + long
	p := newProject(t, files)
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		c := wiretest.Dial(t, p.server(t), era, name)
		got := get[node](t, c, "get_node", `{"id":"backup"}`)
		want := node{
			ID: "backup", Title: "Backups", Kind: "guide", Status: "draft", Path: "backup.md", DependsOn: []string{"storage"},
			Links: []string{"storage", "oncall"}, Tags: []string{"ops"}, Size: int64(len(files["docs/backup.md"])),
			Text:   "# Backups\n\nWrite to [[storage]] every night.\n\n## Restore\n\nAsk the [[oncall]] first.\n",
			SHA256: p.tree(t, "-")["docs/backup.md"], Provenance: got.Provenance,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("node (-want +got)\n%s", diff)
		}
		if got.Provenance.SourceHash != got.SHA256 {
			t.Errorf("source hash %s, want that of the file", got.Provenance.SourceHash)
		}

		var text strings.Builder
		args := `{"id":"long"}`
		for pages := 1; ; pages++ {
			page := get[node](t, c, "get_node", args)
			text.WriteString(page.Text)
			if page.NextCursor == "" {
				if pages < 5 {
					t.Errorf("%d bytes in %d pages", len(long), pages)
				}
				break
			}
			args = object("id", "long", "cursor", page.NextCursor)
			fail(t, c, "cursor_invalid", "get_node", object("id", "backup", "cursor", page.NextCursor))
		}
		if text.String() != long {
			t.Errorf("%d bytes joined, want %d", text.Len(), len(long))
		}
		fail(t, c, "node_unknown", "get_node", `{"id":"none"}`)
		fail(t, c, "node_unknown", "get_node", `{"id":"../docs/backup.md"}`)
		fail(t, c, "invalid_arguments", "get_node", `{}`)
		fail(t, c, "cursor_invalid", "get_node", `{"id":"long","cursor":"x"}`)
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	p := newProject(t, many(300))
	clients(t, func(t *testing.T, name string, era wiretest.Era) {
		t.Helper()
		c := wiretest.Dial(t, p.server(t), era, name)
		for _, test := range []struct {
			tool, want string
			args       []any
		}{
			{"filter_nodes", "broken oncall", []any{"kind", "page"}},
			{"filter_nodes", "storage", []any{"status", "final"}},
			{"filter_nodes", "backup", []any{"tag", "ops"}},
			{"filter_nodes", "", []any{"kind", "none"}},
			{"backlinks", "backup oncall", []any{"id", "storage"}},
			{"dependencies", "storage", []any{"id", "backup"}},
			{"impact", "backup oncall", []any{"id", "storage"}},
			{"impact", "backup", []any{"id", "oncall"}},
			{"search", "storage backup oncall", []any{"query", "storage"}},
			{"search", "", []any{"query", "xyzzy"}},
		} {
			if got := all(t, c, test.tool, test.args...); got != test.want {
				t.Errorf("%s %v: %q, want %q", test.tool, test.args, got, test.want)
			}
		}
		chain := strings.Fields(all(t, c, "filter_nodes", "kind", "link"))
		if len(chain) != 300 || chain[0] != "n0000" || chain[299] != "n0299" {
			t.Errorf("%d nodes in pages", len(chain))
		}
		// Dependencies come before those that need them, effects nearest first.
		deps := strings.Fields(all(t, c, "dependencies", "id", "n0000"))
		if len(deps) != 299 || deps[0] != "n0299" || deps[298] != "n0001" {
			t.Errorf("%d dependencies from %q", len(deps), deps[0])
		}
		effects := get[itemPage](t, c, "impact", `{"id":"n0299"}`)
		if effects.Total != 299 || effects.Items[1].ID != "n0297" || strings.Join(effects.Items[1].Via, " ") != "n0299 n0298 n0297" {
			t.Errorf("%d effects, the second %+v", effects.Total, effects.Items[1])
		}
		if missing := get[itemPage](t, c, "dependencies", `{"id":"broken"}`); len(missing.Problems) != 1 || missing.Problems[0].Code != "dangling_reference" {
			t.Errorf("problems %+v", missing.Problems)
		}
		for _, tool := range []string{"backlinks", "dependencies", "impact"} {
			fail(t, c, "node_unknown", tool, `{"id":"none"}`)
		}
		hits := get[itemPage](t, c, "search", `{"query":"chains small","limit":7}`)
		if len(hits.Items) != 7 || hits.Total != 300 || hits.NextCursor == "" || !strings.Contains(hits.Items[0].Snippet, "chains") {
			t.Errorf("%d hits of %d: %+v", len(hits.Items), hits.Total, hits.Items[0])
		}
		fail(t, c, "cursor_invalid", "search", object("query", "chains", "limit", 7, "cursor", hits.NextCursor))
		fail(t, c, "query_invalid", "search", `{"query":"..."}`)
		fail(t, c, "invalid_arguments", "search", `{"query":"x","limit":1000}`)
	})
}

func TestListChanged(t *testing.T) {
	t.Parallel()
	p := newProject(t, many(300))
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	for _, tool := range []string{"filter_nodes", "search"} {
		args := []any{}
		if tool == "search" {
			args = []any{"query", "chains"}
		}
		page := get[itemPage](t, c, tool, object(args...))
		p.write(t, "docs/"+tool+".md", "# A new document\n")
		fail(t, c, documents.CodeSnapshotChanged, tool, object(append(args, "cursor", page.NextCursor)...))
	}
}

func TestValidateProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "codex")
	type validation struct {
		Valid    bool
		Total    int
		Problems []changeset.Problem
	}
	got := get[validation](t, c, "validate_project", `{}`)
	if got.Valid || got.Total != 2 || len(got.Problems) != 2 || got.Problems[0].Code != "dangling_reference" || got.Problems[0].ID != "broken" {
		t.Errorf("validation %+v", got)
	}
	p.write(t, "docs/broken.md", "# Mended\n")
	if got := get[validation](t, c, "validate_project", `{}`); !got.Valid || got.Total != 0 {
		t.Errorf("after mending: %+v", got)
	}
}

func TestRenderStatus(t *testing.T) {
	t.Parallel()
	p := newProject(t, sample())
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "codex")
	type status struct {
		Items []struct{ View, Path, State, Expected, Actual string }
	}
	before := p.tree(t, "-")
	got := get[status](t, c, "render_status", `{}`)
	if len(got.Items) != 2 || got.Items[0].State != "missing" || got.Items[1].State != "stale" || got.Items[1].Actual != before["site/old.html"] {
		t.Errorf("status %+v", got)
	}
	if diff := cmp.Diff(before, p.tree(t, "-")); diff != "" {
		t.Errorf("files changed (-before +after)\n%s", diff)
	}
	page, err := p.store.Render(t.Context(), "toc")
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "site/outline.html", string(page))
	if got := get[status](t, c, "render_status", `{}`); got.Items[0].State != "current" || got.Items[0].Expected != got.Items[0].Actual {
		t.Errorf("after rendering: %+v", got.Items[0])
	}
}

// One document whose front matter says far too much leaves every list readable to
// its end, and its own text too.
func TestLongFields(t *testing.T) {
	t.Parallel()
	many := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%05d, ", name, i)
		}
		return b.String()
	}
	files := sample()
	files["docs/long.md"] = "---\nid: long\nkind: " + strings.Repeat("k", 25_000) + "\nstatus: " + strings.Repeat("s", 25_000) + "\n---\nWords, and [[storage]].\n"
	files["docs/many.md"] = "---\nid: many\ntags: [" + many("t", 3000) + "]\ndepends_on: [storage, " + many("d", 3000) + "]\n---\nWords.\n"
	files["docs/links.md"] = "---\nid: links\n---\nWords. [[" + strings.ReplaceAll(many("l", 3000), ", ", "]] [[") + "storage]]\n"
	p := newProject(t, files)
	c := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	for tool, fields := range map[string][]any{
		"filter_nodes": {}, "search": {"query", "words"}, "backlinks": {"id", "storage"}, "impact": {"id", "storage"}, "validate_project": {},
		"dependencies": {"id", "many"},
	} {
		seen, total := readList(t, c, tool, fields...)
		if seen != total {
			t.Errorf("%s: %d of %d in all pages", tool, seen, total)
		}
	}
	for id, want := range map[string]string{"long": "Words, and", "many": "Words.", "links": "Words. [[l00000]]"} {
		if got := get[struct{ Text string }](t, c, "get_node", object("id", id)).Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %.100q", id, got)
		}
	}
	if got := c.Call(t, "project_info", `{}`); got.IsError {
		t.Errorf("project_info: %.300s", got.JSON())
	}
	for i := range 3000 { // what was cut in replies is still there
		if tag := fmt.Sprintf("t%05d", i); i%100 < 3 && all(t, c, "filter_nodes", "tag", tag) != "many" {
			t.Errorf("no node has the tag %s any more", tag)
		}
	}
	p.opts.MaxPage = 4_000
	narrow := wiretest.Dial(t, p.server(t), wiretest.Stateless, "zed")
	if got := get[struct{ Text string }](t, narrow, "get_node", object("id", "links")).Text; len(got) < 500 {
		t.Errorf("a page has %d bytes of text", len(got))
	}
	id := newChangeset(t, c)
	get[changesetReply](t, c, "propose_node_move", object("changesetId", id, "id", "long", "path", "l.md"))
	get[changesetReply](t, c, "get_changeset", object("changesetId", id))
}

// readList reads all pages of a list, and returns how many items there were and
// how many there should be.
func readList(t *testing.T, c *wiretest.Peer, tool string, fields ...any) (seen, total int) {
	t.Helper()
	cursor := fields
	for range 1000 {
		var page struct {
			Items, Problems []json.RawMessage
			Total           int
			NextCursor      string
		}
		r := c.Call(t, tool, object(cursor...))
		if len(r.JSON()) > 10_000 {
			t.Errorf("%s: a page of %d bytes", tool, len(r.JSON()))
		}
		if err := json.Unmarshal([]byte(r.JSON()), &page); err != nil || r.IsError {
			t.Fatalf("%s: %v, %.300s", tool, err, r.JSON())
		}
		items := page.Items
		if items == nil {
			items = page.Problems
		}
		if len(items) == 0 && page.Total > 0 {
			t.Errorf("%s: a page with nothing on it", tool)
		}
		seen += len(items)
		if page.NextCursor == "" {
			return seen, page.Total
		}
		cursor = append(slices.Clone(fields), "cursor", page.NextCursor)
	}
	t.Fatal("no end")
	return 0, 0
}

// The chains of a long line of documents are cut, and the last one can be read.
func TestLongChain(t *testing.T) {
	t.Parallel()
	files := map[string]string{"docs/n0000.md": "---\nid: n0000\n---\n"}
	for i := 1; i < 400; i++ {
		files[fmt.Sprintf("docs/n%04d.md", i)] = fmt.Sprintf("---\nid: n%04d\ndepends_on: [n%04d]\n---\n", i, i-1)
	}
	c := wiretest.Dial(t, newProject(t, files).server(t), wiretest.Stateless, "zed")
	seen, total := readList(t, c, "impact", "id", "n0000")
	if seen != 399 || total != 399 {
		t.Errorf("%d of %d in all pages, want 399", seen, total)
	}
	for args := object("id", "n0000"); args != ""; {
		page := get[itemPage](t, c, "impact", args)
		if args = ""; page.NextCursor != "" {
			args = object("id", "n0000", "cursor", page.NextCursor)
		}
		for _, item := range page.Items {
			if n := len(item.Via); item.Via[0] != "n0000" || item.Via[n-1] != item.ID || n > 120 || n > 100 && !slices.Contains(item.Via, "...") {
				t.Errorf("%s by a chain of %d: %v", item.ID, n, item.Via)
			}
		}
	}
}
