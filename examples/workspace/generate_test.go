package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A generated registry serves at once, from wherever it is kept.
func TestGenerate(t *testing.T) {
	t.Parallel()
	dir := sampleWorkspace(t)
	if err := os.Remove(filepath.Join(dir, "workspace-registry.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{"ledger", "storefront"} {
		if err := os.WriteFile(filepath.Join(dir, repo, "go.mod"), []byte("module "+repo+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "registry.yaml")
	for _, args := range [][]string{{"-root", dir}, {"-root", dir, "-o", elsewhere}} {
		stdout, stderr, code := clitest.Output(t, append([]string{"generate", "-marker", "go.mod, .git"}, args...)...)
		if code != 0 || stdout != "" || !strings.Contains(stderr, "2 repos") {
			t.Fatalf("generate %v: got exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"-root", dir}, {"-registry", elsewhere}, {"-root", dir, "-registry", elsewhere}} {
		s := start(t, structured, args...)
		if payload, _, _ := s.call(t, "resolve_repo", map[string]any{"repo_id": "ledger"}); !strings.Contains(payload, `"discovery_mode":"manifest-backed"`) {
			t.Errorf("%v: got %s", args, payload)
		}
		s.Close()
		s.End(t)
	}
}

// marked is a workspace of two repos without a registry.
func marked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a/go.mod", "a/README.md", "b/go.mod", "b/README.md"} {
		put(t, filepath.Join(dir, name), "text\n")
	}
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// generated runs generate, which has to work and to say want.
func generated(t *testing.T, want string, args ...string) {
	t.Helper()
	stdout, stderr, code := clitest.Output(t, append([]string{"generate", "-marker", "go.mod"}, args...)...)
	if code != 0 || stdout != "" || !strings.Contains(stderr, want) {
		t.Fatalf("generate %v: got exit code %d, stdout %q, stderr %q, want %q", args, code, stdout, stderr, want)
	}
}

// TestGenerateAgain adds a file and a repo to a workspace of which the registry was
// edited by hand.
func TestGenerateAgain(t *testing.T) {
	t.Parallel()
	dir := marked(t)
	file := filepath.Join(dir, "workspace-registry.yaml")
	generated(t, "written: 2 repos", "-root", dir)
	first := take(t, file)
	generated(t, "up to date already: 2 repos", "-root", dir)
	if got := take(t, file); got != first {
		t.Errorf("without a change the file became\n%s", got)
	}
	const comment = "# ours, by hand\n"
	put(t, file, comment+strings.Replace(first, "owner: unowned-tbd", "owner: platform", 1))
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "a/docs/index.md"), "x\n")
	put(t, filepath.Join(dir, "c/go.mod"), "x\n")
	generated(t, "brought up to date: 3 repos", "-root", dir, "-o", file)
	got := take(t, file)
	for _, want := range []string{comment, "owner: platform", "docs/index.md", "repo_id: c"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has another mode: %v, %v", info, err)
	}
	generated(t, "up to date already: 3 repos", "-registry", file)
}

// The text does not depend on how the file is named.
func TestGenerateWorkspaceRoot(t *testing.T) {
	t.Parallel()
	dir := marked(t)
	plain, named, below := filepath.Join(dir, "workspace-registry.yaml"), filepath.Join(dir, "named.yaml"), filepath.Join(dir, "conf", "r.yaml")
	if err := os.Mkdir(filepath.Dir(below), 0o755); err != nil {
		t.Fatal(err)
	}
	generated(t, "2 repos", "-root", dir)
	generated(t, "2 repos", "-root", dir, "-o", named)
	generated(t, "2 repos", "-root", dir, "-o", below)
	if got, want := take(t, named), take(t, plain); got != want || strings.Contains(got, "workspace_root") {
		t.Errorf("with -o:\n%s\nwithout:\n%s", got, want)
	}
	if got := take(t, below); !strings.Contains(got, "workspace_root: ..\n") {
		t.Errorf("below the workspace:\n%s", got)
	}
	put(t, filepath.Join(dir, "c/go.mod"), "x\n")
	generated(t, "brought up to date: 3 repos", "-registry", below)
}

func TestGenerateFindsNothing(t *testing.T) {
	t.Parallel()
	dir := marked(t)
	file := filepath.Join(dir, "workspace-registry.yaml")
	for _, text := range []string{"", "generated"} {
		if text != "" {
			generated(t, "2 repos", "-root", dir)
			text = take(t, file)
		}
		_, stderr, code := clitest.Output(t, "generate", "-root", dir, "-marker", "nosuch")
		if code != 2 || !strings.Contains(stderr, "nothing was written") {
			t.Errorf("got exit code %d and %q", code, stderr)
		}
		if got, err := os.ReadFile(file); string(got) != text || (err == nil) != (text != "") {
			t.Errorf("the file has become %q, %v", got, err)
		}
	}
}

// TestReplace lets two updates of one text meet: one of them wins, the other is told.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	put(t, file, "before")
	const writers = 8
	done := make(chan error)
	for range writers {
		go func() { done <- replace(context.Background(), file, []byte("before"), []byte("after")) }()
	}
	won := 0
	for range writers {
		if err := <-done; err == nil {
			won++
		} else if !strings.Contains(err.Error(), "was changed by somebody else meanwhile") {
			t.Error(err)
		}
	}
	if won != 1 || take(t, file) != "after" {
		t.Errorf("%d of %d updates succeeded, the file is %q", won, writers, take(t, file))
	}
	put(t, file, "edited")
	if err := replace(t.Context(), file, []byte("after"), []byte("again")); err == nil || take(t, file) != "edited" {
		t.Errorf("an edit was overwritten: %v, %q", err, take(t, file))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := replace(t.Context(), file, []byte("edited"), []byte("again")); err == nil {
		t.Error("a file that was removed came back")
	}
	// A lock that is held is waited for until the end.
	put(t, file, "before")
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := root.Lock(t.Context(), lockName)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := replace(ended, file, []byte("before"), []byte("after")); rootfs.CodeOf(err) != rootfs.Locked || take(t, file) != "before" {
		t.Errorf("with the lock held: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.yaml")
	if err := create(file, []byte("mine")); err != nil || take(t, file) != "mine" {
		t.Fatalf("%v, %q", err, take(t, file))
	}
	if err := create(file, []byte("yours")); err == nil || !strings.Contains(err.Error(), "has appeared meanwhile") || take(t, file) != "mine" {
		t.Errorf("%v, %q", err, take(t, file))
	}
	link := filepath.Join(filepath.Dir(file), "l.yaml")
	if err := os.Symlink("nowhere.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := create(link, []byte("x")); err == nil {
		t.Error("a file was made behind a link")
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file   string
		chosen bool
		data   string
		want   string // "" for an error
	}{
		{"w.yaml", false, "a: b", "w.yaml"},
		{"w.yaml", false, "{}", "w.json"},
		{"w.yml", true, "a: b", "w.yml"},
		{"w.yaml", true, "{}", ""},
		{"w.json", true, "a: b", ""},
	}
	for _, tt := range tests {
		if got, err := named(tt.file, tt.chosen, []byte(tt.data)); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%+v: got %q, %v", tt, got, err)
		}
	}
}
