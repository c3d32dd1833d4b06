package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
)

// TestCheck tests the exit codes that a build relies on.
func TestCheck(t *testing.T) {
	t.Parallel()
	const head = "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n"
	const repo = "  - {repo_id: r, manifest_source: generated, entrypoints: [README.md], owner: "
	tests := []struct {
		name           string
		registry       string // "" for none
		code, strict   int
		stdout, stderr string
	}{
		{"clean", head + repo + "team}\n", 0, 0, "", "1 repo, 0 problems, 0 warnings"},
		{"placeholder owner", head + repo + "unowned-tbd}\n", 0, 1, `warning: WS/workspace-registry.yaml:4:5: repos[0].owner: "unowned-tbd" is a placeholder`, "1 repo, 0 problems, 1 warning, "},
		{"warning of the file", head + repo + "team, superseded_by: s}\n", 0, 1, "warning: WS/", "1 repo, 0 problems, 1 warning, "},
		{"declared file is missing", head + strings.Replace(repo, "[", "[GONE.md, ", 1) + "team}\n", 1, 1, `"GONE.md" is not there`, "1 repo, 1 problem, 0 warnings"},
		{"repo is gone", head + strings.Replace(repo, "r,", "s,", 1) + "team}\n", 1, 1, `the folder "s" is not there`, "1 problem,"},
		{"status is out of date", head + repo + "team, entrypoint_status: {README.md: missing}}\n", 1, 1, "its status is missing", "1 problem,"},
		{"undeclared manifest", head + repo + "team, safe_to_probe: true}\n", 1, 1, "the entry declares none", "1 problem,"},
		{"faulty registry", head + "  - {repo_id: r, manifest_sorce: repo}\n", 1, 1, "", "WS/workspace-registry.yaml:4:"},
		{"no registry", "", 2, 2, "", "there is no registry in WS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "r", "docs", "agent"), 0o755); err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"r/README.md": "# r\n", "r/docs/agent/manifest.yaml": "{}\n"}
			if tt.registry != "" {
				files["workspace-registry.yaml"] = tt.registry
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for flag, want := range map[string]int{"-strict=false": tt.code, "-strict": tt.strict} {
				stdout, stderr, code := clitest.Output(t, "check", "-root", dir, flag)
				stdout, stderr = strings.ReplaceAll(stdout, dir, "WS"), strings.ReplaceAll(stderr, dir, "WS")
				if code != want {
					t.Errorf("%s: got exit code %d, want %d", flag, code, want)
				}
				if strings.Contains(stderr, "run check") {
					t.Errorf("%s: check sends people to check: %q", flag, stderr)
				}
				if !strings.Contains(stdout, tt.stdout) || tt.stdout == "" && stdout != "" || !strings.Contains(stderr, tt.stderr) {
					t.Errorf("%s: got %q and %q, want %q and %q", flag, stdout, stderr, tt.stdout, tt.stderr)
				}
			}
		})
	}
}

// A server only counts the warnings, since its operator did not ask for them.
func TestServeCountsWarnings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.yaml")
	const text = "schema_version: \"1.0\"\nkind: workspace_registry\nrepos: [{repo_id: r, manifest_source: generated}]\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := clitest.Output(t, "-registry", file); code != 0 || !strings.Contains(stderr, file+": 1 warning; run check to see more\n") {
		t.Errorf("got exit code %d and %q", code, stderr)
	}
}

func TestCheckCannotLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "registry.yaml")
	const text = "schema_version: \"1.0\"\nkind: workspace_registry\nworkspace_root: gone\nrepos: []\n"
	if err := os.WriteFile(elsewhere, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no root", []string{"-root", filepath.Join(dir, "none")}, "the workspace root: "},
		{"named registry is missing", []string{"-registry", filepath.Join(dir, "r.yaml")}, "error: there is no registry " + filepath.Join(dir, "r.yaml") + "; run "},
		{"the workspace is gone", []string{"-registry", elsewhere}, "registry.yaml: the workspace: open "},
		{"unknown flag", []string{"-stric"}, "usage: workspace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := clitest.Output(t, append([]string{"check"}, tt.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("got exit code %d, %q and %q, want 2 and %q", code, stdout, stderr, tt.want)
			}
		})
	}
}

// TestCheckEscapes keeps what a registry says from steering a terminal.
func TestCheckEscapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "r"), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`views: {"v\e[31m": gone.md}`:                    `v\x1b[31m`,
		`resource_roots: {"t\u202e\u0085": gone}`:        `t\u202e\u0085`,
		`entrypoints: [README.md], "own\e]0;er": nobody`: `own\x1b]0;er`,
	} {
		file := "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - {repo_id: r, manifest_source: generated, owner: o, " + text + "}\n"
		if err := os.WriteFile(filepath.Join(dir, "workspace-registry.yaml"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := clitest.Output(t, "check", "-root", dir)
		all := stdout + stderr
		if code != 1 || !strings.Contains(all, want) || strings.ContainsAny(all, "\x1b\u202e\u0085") {
			t.Errorf("%s: got exit code %d and %q, want %s in it", text, code, all, want)
		}
	}
}
