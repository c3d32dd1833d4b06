package main

import (
	"context"
	"encoding/json"
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
	clitest.Main(m, func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

// sampleWorkspace is a copy of the sample workspace.
func sampleWorkspace(t *testing.T) string {
	t.Helper()
	files, err := fs.Sub(sample, "sample")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// server is a child process that serves stdio.
type server struct{ *clitest.Server }

func start(t *testing.T, id peer.Identity, args ...string) *server {
	t.Helper()
	return &server{clitest.Start(t, id, args...)}
}

var structured = peer.Identity{Name: "claude-code", Version: "2.1.332"}

func TestServe(t *testing.T) {
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		dir := sampleWorkspace(t)
		s := start(t, id, "-root", dir)
		s.checkIdentity(t)
		s.checkToolList(t)
		s.checkTools(t, id)
		s.checkStale(t, dir)
		s.Close()
		s.End(t)
		if got, want := s.Stderr(), "serving 3 repos of "+dir+" on stdin and stdout; end with Ctrl-C\n"; got != want {
			t.Errorf("stderr: got %q, want %q", got, want)
		}
	})
}

func (s *server) checkIdentity(t *testing.T) {
	t.Helper()
	hello := string(s.Hello.Result)
	for _, want := range []string{`"name":"mcpcontract-workspace"`, `"version":"` + cli.Version() + `"`, "resolve_repo for what may be read", "structuredContent"} {
		if !strings.Contains(hello, want) {
			t.Errorf("the server does not introduce itself with %s: %s", want, hello)
		}
	}
}

func (s *server) checkToolList(t *testing.T) {
	t.Helper()
	reply, err := s.Send("tools/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
			InputSchema struct {
				Type                 string
				AdditionalProperties *bool
				Properties           map[string]any
			}
		}
	}
	if err := json.Unmarshal(reply.Result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		in := tool.InputSchema
		if in.Type != "object" || in.AdditionalProperties == nil || *in.AdditionalProperties || in.Properties == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not a closed, read-only tool: %+v", tool.Name, tool)
		}
	}
	want := []string{"check_registry", "diagnostic_read", "list_repos", "read_entrypoint", "read_view", "resolve_repo", "scan_root"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if reply.Bytes > 24<<10 {
		t.Errorf("the list has %d bytes, want at most 24 KiB", reply.Bytes)
	}
}

// checkTools makes one good and one refused call of each tool.
func (s *server) checkTools(t *testing.T, id peer.Identity) {
	t.Helper()
	tests := []struct {
		tool, args, want string // a part of the payload
	}{
		{"list_repos", `{}`, `{"items":[{"repo_id":"ledger",`},
		{"list_repos", `{"lifecycle":"dead"}`, `"code":"invalid_arguments"`},
		{"list_repos", `{"cursor":"x"}`, `"code":"cursor_invalid"`},
		{"resolve_repo", `{"repo_id":"ledger"}`, `"discovery_mode":"manifest-backed"`},
		{"resolve_repo", `{"repo_id":"storefront"}`, `"discovery_mode":"registry-fallback"`},
		{"resolve_repo", `{"repo_id":"notebook"}`, `"discovery_mode":"heuristic"`},
		{"resolve_repo", `{"repo_id":"oldbooks"}`, `"code":"repo_archived"`},
		{"resolve_repo", `{"repo_id":"none"}`, `"code":"repo_unknown"`},
		{"read_entrypoint", `{"repo_id":"storefront","path":"mkdocs.yml"}`, `"text":"site_name: Storefront\n"`},
		{"read_entrypoint", `{"repo_id":"storefront","path":"../ledger/README.md"}`, `"code":"path_not_declared"`},
		{"read_view", `{"repo_id":"ledger","view":"capabilities"}`, `"path":"docs/context/capabilities.md"`},
		{"read_view", `{"repo_id":"storefront","view":"manifest"}`, `"code":"view_not_declared"`},
		{"scan_root", `{"repo_id":"ledger","type":"adr"}`, `{"items":[{"path":"docs/adr/0001-whole-cents.md","size":109}]}`},
		{"scan_root", `{"repo_id":"ledger","type":"specs"}`, `"code":"root_not_declared"`},
		{"check_registry", `{}`, `{"items":[`},
		{"check_registry", `{"all":true}`, `"code":"invalid_arguments"`},
		{"diagnostic_read", `{"diagnosticId":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, `"code":"diagnostic_unknown"`},
	}
	for _, tt := range tests {
		var args map[string]any
		if err := json.Unmarshal([]byte(tt.args), &args); err != nil {
			t.Fatal(err)
		}
		payload, structured, failed := s.call(t, tt.tool, args)
		if !strings.Contains(payload, tt.want) {
			t.Errorf("%s %s: got %s, want %s in it", tt.tool, tt.args, payload, tt.want)
		}
		if failed != strings.HasPrefix(payload, `{"error":`) || structured != (!failed && id.Name == "claude-code") {
			t.Errorf("%s %s: structured %v, failed %v: %s", tt.tool, tt.args, structured, failed, payload)
		}
	}
}

// call returns the payload of a tool call.
func (s *server) call(t *testing.T, tool string, args map[string]any) (payload string, structured, failed bool) {
	t.Helper()
	reply, err := s.Call(tool, args)
	if err != nil || reply.Error != nil {
		t.Fatalf("%s: %v, %+v; stderr: %s", tool, err, reply.Error, s.Stderr())
	}
	raw, structured, failed := reply.Payload()
	return string(raw), structured, failed
}

// checkStale changes the workspace under the server, and puts it back.
func (s *server) checkStale(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, "ledger", "docs", "adr", "0001-whole-cents.md")
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	replace(strings.Repeat("a long record\n", 2000))
	args := map[string]any{"repo_id": "ledger", "path": "docs/adr/0001-whole-cents.md"}
	payload, _, _ := s.call(t, "read_entrypoint", args)
	var first struct{ NextCursor string }
	if err := json.Unmarshal([]byte(payload), &first); err != nil || first.NextCursor == "" {
		t.Fatalf("a long file comes in one page: %v, %.200s", err, payload)
	}
	replace(string(before))
	args["cursor"] = first.NextCursor
	if payload, _, _ := s.call(t, "read_entrypoint", args); !strings.Contains(payload, `"code":"snapshot_changed"`) {
		t.Errorf("after a change: got %s, want snapshot_changed", payload)
	}
	delete(args, "cursor")
	if payload, _, _ := s.call(t, "read_entrypoint", args); !strings.Contains(payload, "# 1. Whole cents") {
		t.Errorf("starting again: got %s", payload)
	}
}

func TestServeEndsOnSignal(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			s := start(t, structured, "-root", sampleWorkspace(t))
			if err := s.Cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.End(t)
		})
	}
}

func TestServeNoHeuristics(t *testing.T) {
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		s := start(t, id, "-no-heuristics", "-root", sampleWorkspace(t))
		if payload, _, _ := s.call(t, "resolve_repo", map[string]any{"repo_id": "notebook"}); !strings.Contains(payload, `"code":"probe_forbidden"`) {
			t.Errorf("got %s, want probe_forbidden", payload)
		}
		s.Close()
		s.End(t)
	})
}

func TestCommandLine(t *testing.T) {
	empty := t.TempDir()
	twice := sampleWorkspace(t)
	if err := os.WriteFile(filepath.Join(twice, "workspace-registry.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := sampleWorkspace(t)
	if err := os.WriteFile(filepath.Join(broken, "workspace-registry.yaml"), []byte("schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - repo_id: a\n    manifest_sorce: repo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{name: "help", args: []string{"-h"}, stderr: "generate    scan the root"},
		{name: "help as a command", args: []string{"help"}, stderr: "usage: workspace"},
		{name: "help of a command", args: []string{"check", "-h"}, stderr: "usage: workspace"},
		{name: "unknown flag", args: []string{"-port", "1"}, code: 2, stderr: "usage: workspace"},
		{name: "unknown command", args: []string{"destroy"}, code: 2, stderr: `unknown command "destroy"; run with -h for help`},
		{name: "extra argument", args: []string{"schema", "now"}, code: 2, stderr: `unexpected argument "now"`},
		{name: "no registry", args: []string{"-root", empty}, code: 1, stderr: "run \"workspace -root " + empty + " generate\" to make one"},
		{name: "no root", args: []string{"-root", filepath.Join(empty, "none")}, code: 1, stderr: "the workspace root: "},
		{name: "two registries", args: []string{"-root", twice}, code: 1, stderr: "there are several registries, name one with -registry"},
		{name: "faulty registry", args: []string{"-root", broken}, code: 1, stderr: "workspace-registry.yaml:5:5: "},
		{name: "named registry is missing", args: []string{"-registry", filepath.Join(empty, "r.yaml")}, code: 1, stderr: "there is no registry " + filepath.Join(empty, "r.yaml") + "; run \"workspace -root . generate -o "},
		{name: "schema", args: []string{"schema"}, stdout: `"repo_id"`},
		{name: "http open to others", args: []string{"-root", sampleWorkspace(t), "-http", ":0"}, code: 1, stderr: "open to other machines"},
		{name: "generate over a faulty registry", args: []string{"-root", broken, "generate"}, code: 1, stderr: "workspace-registry.yaml:5:5: "},
		{name: "generate with two registries", args: []string{"-root", twice, "generate"}, code: 1, stderr: "name one with -registry"},
		{name: "generate with nothing to find", args: []string{"-root", empty, "generate"}, code: 2, stderr: "no folder with .git or docs/agent/manifest.yaml in it"},
		{name: "generate with other markers", args: []string{"-root", empty, "generate", "-marker", "no\asuch,x"}, code: 1, stderr: `marker "no\asuch" cannot be used`},
		{name: "generate with a marker that nothing has", args: []string{"-root", empty, "generate", "-marker", "nosuch, x"}, code: 2, stderr: "no folder with nosuch or x in it"},
		{name: "generate to another format", args: []string{"generate", "-root", sampleWorkspace(t), "-o", filepath.Join(empty, "r.toml")}, code: 1, stderr: "is written as .yaml"},
		{name: "generate with a bad marker", args: []string{"generate", "-root", empty, "-marker", "../x"}, code: 1, stderr: "marker"},
		{name: "generate without a root", args: []string{"generate", "-root", filepath.Join(empty, "none")}, code: 1, stderr: "the workspace root: open "},
		{name: "generate to a file without a root", args: []string{"generate", "-root", filepath.Join(empty, "none"), "-o", filepath.Join(empty, "r.yaml")}, code: 1, stderr: "open \"" + filepath.Join(empty, "none") + "\": not found"},
	}
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
}

// The transcript shows what it promises, in this order.
func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stdout, stderr, code := clitest.Output(t, "demo")
	if code != 0 || stderr != "" {
		t.Fatalf("got exit code %d, stderr %s", code, stderr)
	}
	rest := stdout
	for _, want := range []string{
		"######## claude-code 2.1.332", "<- structuredContent",
		"discovery_mode: manifest-backed", "manifest_path_refused",
		"discovery_mode: registry-fallback", "discovery_mode: heuristic",
		"-> read_view", "| # Start here", "staleness: current",
		"path_not_declared", "repo_unknown", "nearest: [ledger]",
		"######## Zed", "<- one text block of JSON", "file_missing",
		"-> resources/read repo://ledger/capabilities", "text/markdown", "protocol error -32602", "-> check_registry",
	} {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, stdout)
		}
		rest = rest[i+len(want):]
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("the demo leaves %v, %v", left, err)
	}
}
