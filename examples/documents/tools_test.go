package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

// listedTool is a tool as clients see it.
type listedTool struct {
	Name, Description string
	InputSchema       schema
	OutputSchema      *schema // nil where the client is shown none
	Annotations       struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint *bool }
}

// schema is what the tests look at in a JSON schema.
type schema struct {
	Type                 any
	AdditionalProperties json.RawMessage
	Properties           map[string]schema
	Required             []string
	Items                *schema
	OneOf, AnyOf         []schema
	Description          string
	Enum                 []any
	Const                any
}

// tools lists the tools, and how many bytes the list has.
func (s *server) tools(tb testing.TB) ([]listedTool, int) {
	tb.Helper()
	reply, err := s.Send("tools/list", nil)
	if err != nil || reply.Error != nil {
		tb.Fatal(err, reply.Error)
	}
	var list struct{ Tools []listedTool }
	if err := json.Unmarshal(reply.Result, &list); err != nil {
		tb.Fatal(err)
	}
	return list.Tools, reply.Bytes
}

// signature writes the arguments of a tool, the optional ones with a question
// mark, and what the items of a list of objects have.
func (s *schema) signature() string {
	required := slices.Clone(s.Required)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p.Items != nil && len(p.Items.Properties) > 0 {
			name += "[]{" + p.Items.signature() + "}"
		}
		if !slices.Contains(required, strings.SplitN(name, "[", 2)[0]) {
			name += "?"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " ")
}

// arguments are the promised arguments of all tools.
func arguments() map[string]string {
	return map[string]string{
		"project_info":       "",
		"project_status":     "",
		"get_contract":       "",
		"get_node":           "cursor? id",
		"search":             "cursor? limit? query",
		"filter_nodes":       "cursor? kind? status? tag?",
		"backlinks":          "cursor? id",
		"dependencies":       "cursor? id",
		"impact":             "cursor? id",
		"get_context":        "cursor? id knownSources[]{id section sha256}? maxBytes? retainedContextToken?",
		"validate_project":   "cursor?",
		"render_status":      "",
		"create_changeset":   "description? title",
		"list_changesets":    "cursor?",
		"get_changeset":      "changesetId cursor?",
		"validate_changeset": "changesetId cursor?",
		"get_changeset_diff": "changesetId cursor?",
		"preview_changeset":  "changesetId view",

		"propose_node_create": "changesetId depends_on? id kind path status? tags? text title",
		"propose_node_update": "changesetId depends_on? id kind? status? tags? text? title?",
		"propose_node_move":   "changesetId id path",
		"propose_node_delete": "changesetId id",

		"candidate_prepare": "candidateId expectedFiles",
		"candidate_inspect": "candidateId cursor?",
		"candidate_apply":   "request",
		"candidate_discard": "candidateId",
		"operation_recover": "",
		"operation_abort":   "operationId",
		"template_get_many": "contentMode? ids",
		"diagnostic_read":   "diagnosticId maxBytes? offset?",
	}
}

// TestToolList holds the names and arguments of all tools against what is
// promised, in any era, with a writer or without.
func TestToolList(t *testing.T) {
	t.Parallel()
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		f := sampleProject(t)
		for _, flags := range [][]string{{"--proposal-writer", "agent"}, nil} {
			s := f.serve(t, id, flags...)
			list, size := s.tools(t)
			got := map[string]string{}
			for i := range list {
				tool := &list[i]
				got[tool.Name] = tool.InputSchema.signature()
				if tool.InputSchema.Type != "object" || string(tool.InputSchema.AdditionalProperties) != "false" || tool.InputSchema.Properties == nil {
					t.Errorf("%s takes other arguments: %+v", tool.Name, tool.InputSchema)
				}
				if a := tool.Annotations; a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || tool.Description == "" {
					t.Errorf("%s is not annotated: %+v", tool.Name, tool)
				}
			}
			if diff := cmp.Diff(arguments(), got); diff != "" {
				t.Errorf("tools (-want +got)\n%s", diff)
			}
			t.Logf("the list has %d bytes", size)
			if !id.PerRequest && id.Name == "claude-code" { // with output schemas
				if size > 80<<10 {
					t.Errorf("the list has %d bytes, more than 80 KiB", size)
				}
			} else if size > 24<<10 {
				t.Errorf("the list has %d bytes, more than 24 KiB", size)
			}
			s.stop(t)
		}
	})
}

// replies are the promised members of replies; provenance is in all of them.
func replies() map[string][]string {
	items := []string{"items.id", "items.title"}
	return map[string][]string{
		"project_info":        {"project", "title"},
		"project_status":      {"project", "changesets.open", "candidates", "approvals.pending", "operations.unfinished"},
		"get_contract":        {"tools", "operations", "kinds", "paths", "roots", "limits", "exclusions"},
		"get_node":            {"id", "title", "kind", "status", "path", "tags", "depends_on", "links", "text"},
		"search":              append(items, "items.snippet", "nextCursor"),
		"filter_nodes":        append(items, "nextCursor"),
		"backlinks":           items,
		"dependencies":        items,
		"impact":              append(items, "items.via"),
		"get_context":         {"sections.id", "sections.section", "sections.sha256", "sections.text", "sections.reused", "complete", "nextCursor", "retainedContextToken"},
		"validate_project":    {"valid", "problems.code", "problems.severity", "problems.id", "problems.path", "problems.message"},
		"render_status":       {"items.view", "items.path", "items.state"},
		"create_changeset":    {"changesetId"},
		"list_changesets":     {"items.changesetId", "items.title", "items.writer"},
		"get_changeset":       {"changesetId", "operations.op", "operations.id", "operations.baseHash"},
		"validate_changeset":  {"valid", "problems.code", "problems.severity", "problems.id", "problems.path", "problems.message"},
		"get_changeset_diff":  {"items.unified"},
		"preview_changeset":   {"path", "sha256"},
		"propose_node_create": {"changesetId"},
		"propose_node_update": {"changesetId"},
		"propose_node_move":   {"changesetId"},
		"propose_node_delete": {"changesetId"},
		"candidate_prepare":   {"candidateId", "stagePath"},
		"candidate_inspect":   {"candidateId", "files.path", "files.sha256", "digest"},
		"candidate_apply":     {"commandStatus", "proposalToken"},
		"candidate_discard":   {"candidateId"},
		"operation_recover":   {"outcome"},
		"operation_abort":     {"outcome"},
		"template_get_many":   {"items.id", "items.uri", "items.sha256", "items.artifactPath", "items.mediaType"},
		"diagnostic_read":     {"content", "nextOffset"},
	}
}

// has reports whether values of the schema may have the member.
func (s *schema) has(path string) bool {
	name, rest, more := strings.Cut(path, ".")
	p, ok := s.Properties[name]
	if ok && p.Items != nil {
		p = *p.Items
	}
	return ok && (!more || p.has(rest))
}

// TestReplySchemas holds the names in all replies against what is promised.
func TestReplySchemas(t *testing.T) {
	t.Parallel()
	s := sampleProject(t).serve(t, structured, "--proposal-writer", "agent")
	defer s.stop(t)
	list, _ := s.tools(t)
	promised := replies()
	for i := range list {
		tool := &list[i]
		if tool.OutputSchema == nil {
			t.Errorf("%s has no output schema", tool.Name)
			continue
		}
		for _, name := range append(promised[tool.Name], "provenance.project", "provenance.revision", "provenance.sourceHash", "provenance.adapter", "provenance.staleness", "provenance.notice") {
			if !tool.OutputSchema.has(name) {
				t.Errorf("a reply of %s never has %s", tool.Name, name)
			}
		}
		delete(promised, tool.Name)
	}
	if len(promised) > 0 {
		t.Errorf("not there: %v", promised)
	}
}

// What only reads says so, and nothing else does.
func TestReadOnlyHints(t *testing.T) {
	t.Parallel()
	s := sampleProject(t).serve(t, structured)
	defer s.stop(t)
	list, _ := s.tools(t)
	var writers []string
	for i := range list {
		if !*list[i].Annotations.ReadOnlyHint {
			writers = append(writers, list[i].Name)
		}
	}
	want := []string{
		"candidate_apply", "candidate_discard", "candidate_prepare", "create_changeset", "operation_abort", "operation_recover", "preview_changeset",
		"propose_node_create", "propose_node_delete", "propose_node_move", "propose_node_update",
	}
	if diff := cmp.Diff(want, writers); diff != "" {
		t.Errorf("tools that write (-want +got)\n%s", diff)
	}
}

// TestExclusions looks in the names and arguments of all tools for what no tool
// may offer: the words of a shell, files, Git, builds, other projects, renderers,
// and carrying a changeset out.
func TestExclusions(t *testing.T) {
	t.Parallel()
	s := sampleProject(t).serve(t, structured, "--proposal-writer", "agent")
	defer s.stop(t)
	list, _ := s.tools(t)
	forbidden := regexp.MustCompile(`(?i)shell|exec|command|(?:^|_)script|spawn|process|argv|env|` +
		`write|readfile|read_file|filename|directory|folder|` +
		`applychangeset|apply_changeset|changeset_apply|merge|accept|approve|autoapprove|force|` +
		`renderer|render_output|output|html|` +
		`git|branch|commit|push|checkout|worktree|build|deploy|publish|release|` +
		`projectroot|project_root|projectid|project_id|workspace|root|cwd|url|host|session`)
	var walk func(tool, at string, s *schema)
	walk = func(tool, at string, s *schema) {
		for name, p := range s.Properties {
			if forbidden.MatchString(name) || name == "project" {
				t.Errorf("%s has the argument %s.%s", tool, at, name)
			}
			walk(tool, at+"."+name, &p)
		}
		if s.Items != nil {
			walk(tool, at+"[]", s.Items)
		}
		for _, arm := range append(s.OneOf, s.AnyOf...) {
			walk(tool, at, &arm)
		}
		for _, value := range append(s.Enum, s.Const) {
			if text, ok := value.(string); ok && forbidden.MatchString(text) {
				t.Errorf("%s takes %q for %s", tool, text, at)
			}
		}
		if s.Properties != nil && string(s.AdditionalProperties) != "false" {
			t.Errorf("%s takes anything in %s", tool, at)
		}
	}
	for i := range list {
		tool := &list[i]
		if forbidden.MatchString(tool.Name) {
			t.Errorf("there is a tool %s", tool.Name)
		}
		// The one tool that applies takes candidates.
		if strings.Contains(tool.Name, "apply") && tool.Name != "candidate_apply" {
			t.Errorf("%s applies something", tool.Name)
		}
		// The only paths are those of proposed documents and staged files.
		for name := range tool.InputSchema.Properties {
			if strings.Contains(strings.ToLower(name), "path") && tool.Name != "propose_node_create" && tool.Name != "propose_node_move" {
				t.Errorf("%s takes the path %s", tool.Name, name)
			}
		}
		walk(tool.Name, "", &tool.InputSchema)
	}
}

// promisedTools are names that clients of another server may know by a prefix.
func promisedTools() []string {
	return []string{
		"docforge_project_info", "docforge_get_contract", "docforge_get_node", "docforge_search", "docforge_filter_nodes", "docforge_backlinks",
		"docforge_dependencies", "docforge_impact", "docforge_get_context", "docforge_validate_project", "docforge_render_status",
		"docforge_create_changeset", "docforge_list_changesets", "docforge_get_changeset", "docforge_propose_node_create",
		"docforge_propose_node_update", "docforge_propose_node_move", "docforge_propose_node_delete", "docforge_validate_changeset",
		"docforge_get_changeset_diff", "docforge_preview_changeset",
	}
}

// With a prefix every tool has it, and whatever names a tool names it in full.
func TestToolPrefix(t *testing.T) {
	t.Parallel()
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		f := sampleProject(t)
		s := f.serve(t, id, "--proposal-writer", "agent", "--tool-prefix", "docforge_")
		s.prefix = "docforge_"
		list, _ := s.tools(t)
		var names, short []string
		for i := range list {
			names = append(names, list[i].Name)
			name, ok := strings.CutPrefix(list[i].Name, "docforge_")
			if !ok {
				t.Errorf("the tool %s has no prefix", list[i].Name)
			}
			if strings.Contains(name, "_") { // others are plain words too
				short = append(short, name)
			}
		}
		for _, want := range promisedTools() {
			if !slices.Contains(names, want) {
				t.Errorf("there is no %s", want)
			}
		}
		if diff := cmp.Diff(names, s.good(t, "get_contract", nil).Tools); diff != "" {
			t.Errorf("the contract tells of other tools (-list +contract)\n%s", diff)
		}
		bare := regexp.MustCompile(`(?:^|[^a-z_])(?:` + strings.Join(short, "|") + `)(?:[^a-z_]|$)`)
		raw, err := s.Send("tools/list", nil)
		if err != nil {
			t.Fatal(err)
		}
		changeset := s.changeset(t)
		told := []string{string(s.Hello.Result), string(raw.Result)}
		for _, call := range eachTool(changeset, "x") {
			if call.tool != "get_contract" || call.args != nil {
				told = append(told, s.call(t, call.tool, call.args).payload)
			}
		}
		for _, text := range told {
			if at := bare.FindStringIndex(text); at != nil {
				t.Errorf("a tool is named without its prefix: %s", text[max(0, at[0]-100):min(len(text), at[1]+20)])
			}
		}
		s.stop(t)
	})
}

// Where candidates may go is in the contract, in the list of tools and in the
// refusal; in a project whose file says nothing of it, so is what to set.
func TestCandidatePaths(t *testing.T) {
	t.Parallel()
	least := func(docs string) string { return "schema_version: \"1.0\"\nproject: {id: least}\ndocs: " + docs + "\n" }
	for _, test := range []struct{ name, file, contract, told string }{
		{"sample", "", `"kinds":["guide","spec","page"],"paths":["**/*.md"],"candidatePaths":{"paths":["plans/**/*.md"],"authorized":["plans/drafts/*.md"]}`, `iles may go to \"plans/**/*.md\"`},
		{
			"nothing", least("docs"), `"kinds":["*"],"paths":["**"],"candidatePaths":{"paths":[],"authorized":[],"hint":"the operator names paths as candidates.allow in mcpdocs.yaml"}`,
			`o path is allowed; the operator names paths as candidates.allow in mcpdocs.yaml`,
		},
		{
			"the whole folder", least("."), `"hint":"candidates need documents in a folder of their own: the operator sets docs and candidates.allow in mcpdocs.yaml"`,
			`o path is allowed; candidates need documents in a folder of their own`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := sampleProject(t)
			if test.file != "" {
				f.write(t, "mcpdocs.yaml", test.file)
			}
			s := f.serve(t, structured, "--proposal-writer", "agent")
			defer s.stop(t)
			if got := s.call(t, "get_contract", nil).payload; !strings.Contains(got, test.contract) {
				t.Errorf("contract %s, want %s", got, test.contract)
			}
			list, err := s.Send("tools/list", nil)
			if err != nil || !strings.Contains(string(list.Result), test.told) {
				t.Errorf("no tool says %s, %v", test.told, err)
			}
			if got := s.call(t, "candidate_prepare", args{"candidateId": "x", "expectedFiles": []string{"notes/x.md"}}).payload; !strings.Contains(got, `"code":"path_not_allowed"`) || !strings.Contains(got, test.told) {
				t.Errorf("refused with %s, want %s", got, test.told)
			}
		})
	}
}
