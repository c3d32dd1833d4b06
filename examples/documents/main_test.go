package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/cli"
	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
)

func TestMain(m *testing.M) {
	clitest.Main(m, func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdout, os.Stderr) })
}

var (
	structured = peer.Identity{Name: "claude-code", Version: "2.1.332"}
	perRequest = peer.Identity{Name: "Zed", Version: "0.210.0", PerRequest: true}
)

// folder is the folder of a project.
type folder string

// sampleProject is a copy of the sample project.
func sampleProject(tb testing.TB) folder {
	tb.Helper()
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		tb.Fatal(err)
	}
	return folder(dir)
}

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(f.path(name), []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func (f folder) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// replace changes a text in a file.
func (f folder) replace(tb testing.TB, name, before, after string) {
	tb.Helper()
	text := f.read(tb, name)
	if !strings.Contains(text, before) {
		tb.Fatalf("%s has no %q", name, before)
	}
	f.write(tb, name, strings.Replace(text, before, after, 1))
}

// tree tells of everything in the folder but what lies below one of the paths:
// the kind and mode of each entry, where a link leads, and what a file holds.
func (f folder) tree(tb testing.TB, without ...string) map[string]string {
	tb.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(string(f), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(string(f), name)
		if err != nil {
			return err
		}
		for _, skip := range without {
			if filepath.ToSlash(rel) == skip {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found[rel] = info.Mode().String()
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(name)
			found[rel] += fmt.Sprintf(" %d bytes, %.6x", len(data), sha256.Sum256(data))
			return err
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			found[rel] += " to " + target
			return err
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// server is a child process that serves stdio.
type server struct {
	*clitest.Server
	prefix string // of its tools
}

// serve starts a server of the project.
func (f folder) serve(tb testing.TB, id peer.Identity, flags ...string) *server {
	tb.Helper()
	return &server{Server: clitest.Start(tb, id, append([]string{"--project-root", string(f)}, flags...)...)}
}

// stop ends the server in good order.
func (s *server) stop(tb testing.TB) {
	tb.Helper()
	s.Close()
	s.End(tb)
}

// answer is what came back for a call.
type answer struct {
	payload    string
	structured bool
	failed     bool
	fields     fields
}

// fields has the members of all replies that tests look at.
type fields struct {
	ChangesetID, Path, SHA256, StagePath, NextCursor, RetainedContextToken string
	CommandStatus, ProposalToken, ApprovalCommand                          string
	Outcome, OperationID                                                   string
	Valid                                                                  bool
	Total                                                                  int
	Items                                                                  []struct{ ID, Title, State, ChangesetID, Unified string }
	Operations                                                             json.RawMessage
	Candidates                                                             []string
	Changesets                                                             struct{ Open, Damaged int }
	Approvals                                                              struct{ Pending int }
	Tools                                                                  []string
	Content                                                                string
	NextOffset                                                             int
	Provenance                                                             *provenance
	Error                                                                  struct{ Code, Message string }
}

type provenance struct {
	Project, Revision, SourceHash, Adapter, Staleness, Notice string
}

// call calls a tool by its name without prefix, and takes the answer apart.
func (s *server) call(tb testing.TB, tool string, arguments args) answer {
	tb.Helper()
	reply, err := s.Call(s.prefix+tool, arguments)
	if err != nil || reply.Error != nil {
		tb.Fatalf("%s: %v, %+v; stderr: %s", tool, err, reply.Error, s.Stderr())
	}
	raw, isStructured, failed := reply.Payload()
	a := answer{payload: string(raw), structured: isStructured, failed: failed}
	if err := json.Unmarshal(raw, &a.fields); err != nil {
		tb.Fatalf("%s: %v in %s", tool, err, reply.Result)
	}
	if failed != (a.fields.Error.Code != "") {
		tb.Errorf("%s: failed %v, %s", tool, failed, raw)
	}
	if failed == strings.Contains(a.payload, `"provenance":{`) {
		tb.Errorf("%s: provenance is for all successes and no errors: %s", tool, raw)
	}
	return a
}

// good is a call that has to succeed.
func (s *server) good(tb testing.TB, tool string, arguments args) fields {
	tb.Helper()
	a := s.call(tb, tool, arguments)
	if a.failed {
		tb.Fatalf("%s %v: %s", tool, arguments, a.payload)
	}
	return a.fields
}

// refused is a call that has to fail with a code.
func (s *server) refused(tb testing.TB, code, tool string, arguments args) {
	tb.Helper()
	if a := s.call(tb, tool, arguments); a.fields.Error.Code != code {
		tb.Errorf("%s %v: got %s, want the code %s", tool, arguments, a.payload, code)
	}
}

// changeset proposes something of every kind and returns the id of the changeset.
func (s *server) changeset(tb testing.TB) string {
	tb.Helper()
	id := s.good(tb, "create_changeset", args{"title": "Bulbs", "description": "One broke."}).ChangesetID
	s.good(tb, "propose_node_update", args{"changesetId": id, "id": "lamp", "text": "# The lamp\n\nIt turns. See the [[library]].\n"})
	s.good(tb, "propose_node_create", args{"changesetId": id, "id": "library", "kind": "page", "title": "The library", "path": "library.md", "text": "# The library\n"})
	s.good(tb, "propose_node_move", args{"changesetId": id, "id": "logbook", "path": "logbook.md"})
	s.good(tb, "propose_node_delete", args{"changesetId": id, "id": "visitors"})
	return id
}

// stage prepares a candidate of one file and writes it, as a host would.
func (s *server) stage(tb testing.TB, f folder, candidate, file, text string) {
	tb.Helper()
	to := s.good(tb, "candidate_prepare", args{"candidateId": candidate, "expectedFiles": []string{file}}).StagePath
	f.write(tb, to+"/"+file, text)
}

func prepare(candidate string) args {
	return args{"request": args{"op": "prepare", "candidateId": candidate}}
}

func apply(token string) args {
	return args{"request": args{"op": "apply", "proposalToken": token}}
}

// TestServe makes good and refused calls of every tool, as every kind of client.
func TestServe(t *testing.T) {
	t.Parallel()
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		f := sampleProject(t)
		before := f.tree(t, ".mcpdocs", "plans/bulbs.md")
		s := f.serve(t, id, "--proposal-writer", "agent")
		s.checkIdentity(t)
		changeset := s.changeset(t)
		s.stage(t, f, "bulbs", "plans/bulbs.md", "# Plan\n")
		token := s.good(t, "candidate_apply", prepare("bulbs")).ProposalToken
		for _, tt := range eachTool(changeset, token) {
			a := s.call(t, tt.tool, tt.args)
			if !strings.Contains(a.payload, tt.want) {
				t.Errorf("%s %v: got %s, want %s in it", tt.tool, tt.args, a.payload, tt.want)
			}
			if a.failed != strings.HasPrefix(tt.want, `"code":`) || a.structured != (!a.failed && id.Name == "claude-code") {
				t.Errorf("%s %v: structured %v, failed %v: %s", tt.tool, tt.args, a.structured, a.failed, a.payload)
			}
		}
		s.stop(t)
		if got, want := s.Stderr(), "serving the project lighthouse on stdin and stdout, proposals by agent, approvals by token; end with Ctrl-C\n"; got != want {
			t.Errorf("stderr: got %q, want %q", got, want)
		}
		if diff := cmp.Diff(before, f.tree(t, ".mcpdocs", "plans/bulbs.md")); diff != "" {
			t.Errorf("files (-before +after)\n%s", diff)
		}
	})
}

// toolCall is a call and a part of its payload.
type toolCall struct {
	tool string
	args args
	want string
}

// eachTool has calls of every tool, in an order in which they can be made.
func eachTool(changeset, token string) []toolCall {
	const unknown = "cs-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	cs := func(id string, more ...any) args {
		a := args{"changesetId": id}
		for i := 0; i < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return a
	}
	return []toolCall{
		{"project_info", nil, `"title":"Lighthouse Handbook"`},
		{"project_status", nil, `"changesets":{"open":1,`},
		{"get_contract", nil, `"operations":["create","update","move","delete"],"kinds":["guide","spec","page"],"paths":["**/*.md"]`},
		{"get_node", args{"id": "lamp"}, `"text":"# The lamp\n\nThe lamp turns`},
		{"get_node", args{"id": "none"}, `"code":"node_unknown"`},
		{"get_node", args{"path": "docs/lamp.md"}, `"code":"invalid_arguments"`},
		{"search", args{"query": "bulb"}, `"items":[{"id":"lamp","title":"The lamp"`},
		{"search", args{"query": "?"}, `"code":"query_invalid"`},
		{"filter_nodes", args{"kind": "guide"}, `"items":[{"id":"logbook",`},
		{"filter_nodes", args{"cursor": "x"}, `"code":"cursor_invalid"`},
		{"backlinks", args{"id": "lamp"}, `"total":2`},
		{"dependencies", args{"id": "night-watch"}, `"items":[{"id":"lamp",`},
		{"impact", args{"id": "lamp"}, `"via":["lamp","night-watch"]`},
		{"get_context", args{"id": "night-watch"}, `"retainedContextToken":`},
		{"get_context", args{"id": "night-watch", "maxBytes": 10}, `"code":"invalid_arguments"`},
		{"validate_project", nil, `"problems":[{"code":"dangling_reference","severity":"warning","id":"visitors","path":"visitors.md","message":`},
		{"render_status", nil, `"items":[{"view":"outline","path":"site/outline.html","state":"missing"`},
		{"list_changesets", nil, `"items":[{"changesetId":"` + changeset},
		{"get_changeset", cs(changeset), `"total":4`},
		{"get_changeset", cs(unknown), `"code":"changeset_unknown"`},
		{"propose_node_create", cs(changeset, "id", "lamp", "kind", "spec", "title", "x", "path", "x.md", "text", ""), `"code":"id_taken"`},
		{"propose_node_move", cs(changeset, "id", "lamp", "path", "library.md"), `"code":"path_taken"`},
		{"propose_node_update", cs(changeset, "id", "lamp", "kind", "poem"), `"code":"kind_not_allowed"`},
		{"propose_node_delete", cs(changeset, "id", "none"), `"code":"node_unknown"`},
		{"validate_changeset", cs(changeset), `"valid":true`},
		{"get_changeset_diff", cs(changeset), `+It turns. See the [[library]].`},
		{"preview_changeset", cs(changeset, "view", "review"), `"path":".mcpdocs/previews/`},
		{"preview_changeset", cs(changeset, "view", "none"), `"code":"view_unknown"`},
		{"template_get_many", args{"ids": []string{"plan"}}, `"plan"`},
		{"template_get_many", args{"ids": []string{"none"}}, `"code":"template_unknown"`},
		{"candidate_inspect", args{"candidateId": "bulbs"}, `"files":[{"path":"plans/bulbs.md","size":7,`},
		{"candidate_prepare", args{"candidateId": "sly", "expectedFiles": []string{"docs/lamp.md"}}, `"code":"path_not_allowed"`},
		{"candidate_apply", apply("x1_command_" + strings.Repeat("A", 43)), `"code":"approval_invalid"`},
		{"candidate_apply", apply(token), `"commandStatus":"applied"`},
		{"candidate_discard", args{"candidateId": "bulbs"}, `"removedFiles":["plans/bulbs.md"]`},
		{"operation_recover", nil, `"outcome":"none"`},
		{"operation_abort", args{"operationId": "op-0000000001-aaaaaaaa"}, `"code":"operation_unknown"`},
		{"diagnostic_read", args{"diagnosticId": "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, `"code":"diagnostic_unknown"`},
	}
}

func (s *server) checkIdentity(t *testing.T) {
	t.Helper()
	hello := string(s.Hello.Result)
	for _, want := range []string{
		`"name":"mcpcontract-documents"`, `"version":"` + cli.Version() + `"`,
		"Read before you propose", "Present complete proposals before any change",
		"project_status once at the start", "validate_project before the last step",
		"one candidate_apply command when authority exists", "token only after a human decision",
		"never applied here", "the project's plan is the source of truth", "structuredContent", "last text block",
	} {
		if !strings.Contains(hello, want) {
			t.Errorf("the server does not introduce itself with %q: %s", want, hello)
		}
	}
}

func TestServeEndsOnSignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			s := sampleProject(t).serve(t, structured)
			if err := s.Cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.End(t)
		})
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	f := sampleProject(t)
	root := []string{"--project-root", string(f)}
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{name: "help", args: []string{"-h"}, stderr: "documents demo "},
		{name: "help as a command", args: []string{"help"}, stderr: "usage: documents"},
		{name: "help of a command", args: []string{"render", "-h"}, stderr: "usage: documents"},
		{name: "no root", code: 2, stderr: "--project-root is required"},
		{name: "render without a root", args: []string{"render"}, code: 2, stderr: "--project-root is required"},
		{name: "approve without a root", args: []string{"approve"}, code: 2, stderr: "--project-root is required"},
		{name: "unknown flag", args: append([]string{"--port", "1"}, root...), code: 2, stderr: "usage: documents"},
		{name: "http", args: append([]string{"-http", "127.0.0.1:0"}, root...), code: 2, stderr: "usage: documents"},
		{name: "unknown approver", args: append([]string{"-approve", "nobody"}, root...), code: 2, stderr: `"nobody"`},
		{name: "unknown command", args: append([]string{"apply"}, root...), code: 2, stderr: `unknown command "apply"; run with -h for help`},
		{name: "unknown command that moves the cursor", args: []string{"a\x1b[2J"}, code: 2, stderr: `unknown command "a\x1b[2J"`},
		{name: "two views", args: append([]string{"render", "review", "outline"}, root...), code: 2, stderr: `unexpected argument "review"`},
		{name: "demo with an argument", args: []string{"demo", "now"}, code: 2, stderr: `unexpected argument "now"`},
		{name: "unknown view", args: append([]string{"render", "none"}, root...), code: 1, stderr: `no view "none"; there are review, outline`},
		{name: "nothing waits", args: append([]string{"approve"}, root...), stdout: "nothing waits for approval\n"},
		{name: "approve what does not wait", args: append([]string{"approve", "0123456789ab"}, root...), code: 1, stderr: "nothing waits for approval: "},
		{name: "reject nothing", args: append([]string{"approve", "reject"}, root...), code: 1, stderr: "name what to reject"},
		{name: "writer with a line break", args: append([]string{"--proposal-writer", "a\nb"}, root...), code: 1, stderr: "writer"},
		{name: "prefix that is no name", args: append([]string{"--tool-prefix", "a b"}, root...), code: 1, stderr: `ToolPrefix "a b" has to be`},
	}
	before := f.tree(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := clitest.Output(t, tt.args...)
			if code != tt.code {
				t.Errorf("got exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(stdout, tt.stdout) || tt.stdout == "" && stdout != "" {
				t.Errorf("stdout: got %q, want %q", stdout, tt.stdout)
			}
			if !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("stderr: got %q, want %q", stderr, tt.stderr)
			}
		})
	}
	if diff := cmp.Diff(before, f.tree(t)); diff != "" {
		t.Errorf("files (-before +after)\n%s", diff)
	}
}
