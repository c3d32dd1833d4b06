package candidates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

func TestHostilePaths(t *testing.T) {
	p := newProject(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(p.root, "docs")); err != nil {
		t.Fatal(err)
	}
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	paths := []string{"", ".", "..", "../x", "/etc/passwd", "docs/../../x", "docs//x", "docs/x/", `docs\\x`, "C:/x", "docs/a\\u0000b", "docs/CON", "docs/x.", ".git/config", "docs/.git/x", ".mcpcontract/journal"}
	for _, path := range paths {
		r, text := call(t, c, "candidate_prepare", `{"candidateId":"x","expectedFiles":["`+path+`"]}`)
		if r.Error.Code != "path_invalid" && r.Error.Code != "path_not_allowed" {
			t.Errorf("%q: got %s, want a refusal", path, text)
		}
	}
	for _, id := range []string{"", "..", "A", "a/b", "a--b", "-a", strings.Repeat("a", 65)} {
		for _, tool := range []string{"candidate_inspect", "candidate_discard"} {
			if r, text := call(t, c, tool, fmt.Sprintf(`{"candidateId":%q}`, id)); r.Error.Code != "invalid_arguments" {
				t.Errorf("%s %q: got %s", tool, id, text)
			}
		}
	}
	p.stagePlan(t, c)
	if r, text := call(t, c, "candidate_apply", prepareApply); r.Error.Code != "target_unsafe" {
		t.Errorf("a target behind a link: got %s, want target_unsafe", text)
	}
}

func TestUnsafeCandidate(t *testing.T) {
	p := newProject(t)
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	tok := p.propose(t, c)
	plan := filepath.Join(p.root, filepath.FromSlash(staged+"docs/plan.md"))
	for name, replace := range map[string]func() error{
		"link":      func() error { return os.Symlink("a/b.md", plan) },
		"hard link": func() error { return os.Link(filepath.Join(filepath.Dir(plan), "a", "b.md"), plan) },
	} {
		if err := os.Remove(plan); err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		for tool, args := range map[string]string{"candidate_inspect": `{"candidateId":"new-plan"}`, "candidate_apply": apply(tok)} {
			if r, text := call(t, c, tool, args); r.Error.Code != "candidate_unsafe" {
				t.Errorf("%s, %s: got %s, want candidate_unsafe", name, tool, text)
			}
		}
	}
}
