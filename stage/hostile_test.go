package stage_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/stage"
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// TestChangedAfterApproval changes one thing between plan and promotion. The
// project must stay as it is, and the same plan must work once the change is
// taken back.
func TestChangedAfterApproval(t *testing.T) {
	const staged = ".mcpcontract/stage/one/docs/a.md"
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, p *project)
		want   stage.Code
	}{
		{"one byte of the stage", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, staged, "new b")
		}, stage.CodeChanged},
		{"the length of the stage", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, staged, "new a more")
		}, stage.CodeChanged},
		{"the mode of the stage", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Chmod(p.path(staged), 0o755))
		}, stage.CodeChanged},
		{"a special bit of the stage", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Chmod(p.path(staged), 0o644|os.ModeSetuid))
		}, stage.CodeUnsafe},
		{"a file more in the stage", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, ".mcpcontract/stage/one/docs/b.md", "b")
		}, stage.CodeUndeclared},
		{"a file renamed in case only", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Rename(p.path(staged), p.path(".mcpcontract/stage/one/docs/A.md")))
		}, stage.CodeUndeclared},
		{"a file less in the stage", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Remove(p.path(staged)))
		}, stage.CodeIncomplete},
		{"a file declared more", func(t *testing.T, p *project) {
			t.Helper()
			_, err := p.area.Prepare(t.Context(), "one", []string{"docs/a.md", "docs/b.md"})
			must(t, err)
			p.write(t, ".mcpcontract/stage/one/docs/b.md", "b")
		}, stage.CodeChanged},
		{"the stage is a link", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Rename(p.path(staged), p.path("elsewhere.md")))
			must(t, os.Symlink(p.path("elsewhere.md"), p.path(staged)))
		}, stage.CodeUnsafe},
		{"the stage has a second name", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Link(p.path(staged), p.path("second.md")))
		}, stage.CodeUnsafe},
		{"the target", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, "docs/a.md", "edited")
		}, stage.CodeStale},
		{"the target is gone", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Remove(p.path("docs/a.md")))
		}, stage.CodeStale},
		{"the target has a twin in case", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, "docs/A.md", "twin")
		}, stage.CodeCollision},
		{"the target's directory has a twin", func(t *testing.T, p *project) {
			t.Helper()
			p.write(t, "DOCS/x.md", "twin")
		}, stage.CodeCollision},
		{"the target is a link", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Rename(p.path("docs/a.md"), p.path("docs/b.md")))
			must(t, os.Symlink("b.md", p.path("docs/a.md")))
		}, stage.CodeTarget},
		{"the target has a second name", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Link(p.path("docs/a.md"), p.path("second.md")))
		}, stage.CodeTarget},
		{"the target's directory is a link", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Rename(p.path("docs"), p.path("real")))
			must(t, os.Symlink("real", p.path("docs")))
		}, stage.CodeTarget},
		{"the target is a directory", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Remove(p.path("docs/a.md")))
			must(t, os.Mkdir(p.path("docs/a.md"), 0o755))
		}, stage.CodeTarget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, allowDocs(), map[string]string{"docs/a.md": "old a"})
			p.prepare(t, "one", map[string]string{"docs/a.md": "new a"})
			plan := p.plan(t, "one", nil, nil)
			plan.Approval = approval(3)
			tt.change(t, p)
			before := p.tree(t)

			_, err := p.area.Promote(t.Context(), plan)
			wantCode(t, err, tt.want)
			if diff := cmp.Diff(before, p.tree(t)); diff != "" {
				t.Errorf("project after refused promotion (-want +got):\n%s", diff)
			}
			if _, ok, err := p.area.Receipt(plan.Approval); ok || err != nil {
				t.Errorf("there is a receipt, or error %v", err)
			}
			if _, err := p.area.Recover(t.Context()); err != nil {
				t.Errorf("recovery after refused promotion: %v", err)
			}
		})
	}
}

// TestRefusedLeavesNoDirectories: what a promotion made before it was refused
// goes, those that are in others first.
func TestRefusedLeavesNoDirectories(t *testing.T) {
	p := newProject(t, allowDocs(), map[string]string{"docs/a.md": "a"})
	p.prepare(t, "one", map[string]string{"docs/b.md": "b", "docs/x/y/z/c.md": "c", "docs/x/d.md": "d"})
	plan := p.plan(t, "one", nil, nil)
	p.write(t, ".mcpcontract/stage/one/docs/x/y/z/c.md", "C") // noticed when it is copied
	before := p.tree(t)
	_, err := p.area.Promote(t.Context(), plan)
	wantCode(t, err, stage.CodeChanged)
	if diff := cmp.Diff(before, p.tree(t)); diff != "" {
		t.Errorf("project after refused promotion (-want +got):\n%s", diff)
	}
}

// TestHostileCandidate puts what must not be staged into a candidate. Prepare
// refuses before it removes anything, Inspect refuses, and Discard clears it
// all without leaving the candidate.
func TestHostileCandidate(t *testing.T) {
	const dir = ".mcpcontract/stage/one"
	instead := func(t *testing.T, p *project) string {
		t.Helper()
		must(t, os.RemoveAll(p.path(dir)))
		return p.path(dir)
	}
	for _, tt := range []struct {
		name string
		put  func(t *testing.T, p *project)
	}{
		{"a link in place of the directory", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Symlink(p.path("docs"), instead(t, p)))
		}},
		{"a file in place of the directory", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.WriteFile(instead(t, p), []byte("x"), 0o600))
		}},
		{"a link to outside", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Symlink("/etc/passwd", p.path(dir+"/docs/x.md")))
		}},
		{"a link to inside", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Symlink("a.md", p.path(dir+"/docs/x.md")))
		}},
		{"a link that leads nowhere", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Symlink("nowhere", p.path(dir+"/docs/x.md")))
		}},
		{"a directory that is a link", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Symlink("../../../docs", p.path(dir+"/docs/x")))
		}},
		{"a second name of a file outside", func(t *testing.T, p *project) {
			t.Helper()
			must(t, os.Link(p.path("docs/keep.md"), p.path(dir+"/docs/x.md")))
		}},
		{"a pipe", func(t *testing.T, p *project) {
			t.Helper()
			if out, err := exec.CommandContext(t.Context(), "mkfifo", p.path(dir+"/docs/x.md")).CombinedOutput(); err != nil {
				t.Skipf("no pipe can be made here: %v %s", err, out)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, allowDocs(), map[string]string{"docs/keep.md": "kept"})
			p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
			p.write(t, dir+"/docs/extra.md", "not declared")
			tt.put(t, p)
			before := treetest.Read(t, p.dir)

			_, err := p.area.Prepare(t.Context(), "one", []string{"docs/b.md"})
			wantCode(t, err, stage.CodeUnsafe)
			if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
				t.Errorf("after refused Prepare (-want +got):\n%s", diff)
			}
			_, err = p.area.Inspect(t.Context(), "one")
			wantCode(t, err, stage.CodeUnsafe)

			removed, err := p.area.Discard(t.Context(), "one")
			must(t, err)
			if len(removed) < 3 && !strings.Contains(tt.name, "directory") {
				t.Errorf("removed %q", removed)
			}
			if diff := cmp.Diff(map[string]string{"docs/keep.md": "kept"}, p.tree(t)); diff != "" {
				t.Errorf("project after Discard (-want +got):\n%s", diff)
			}
			if _, err := os.Lstat(p.path(dir)); !os.IsNotExist(err) {
				t.Errorf("the candidate is still there: %v", err)
			}
		})
	}
}

// TestRefusedPaths gives Prepare paths that it must refuse, before it writes
// anything at all.
func TestRefusedPaths(t *testing.T) {
	deep := "docs/" + strings.Repeat("d/", 28) + "x.md"
	for _, tt := range []struct {
		name  string
		id    string
		paths []string
		want  stage.Code
	}{
		{"no id", "", nil, stage.CodeCandidate},
		{"an id with a path", "../x", nil, stage.CodeCandidate},
		{"an id in capitals", "New", nil, stage.CodeCandidate},
		{"an id that ends with a hyphen", "new-", nil, stage.CodeCandidate},
		{"an id with a dot", "a.files", nil, stage.CodeCandidate},
		{"an id too long", strings.Repeat("a", 65), nil, stage.CodeCandidate},
		{"leads out", "one", []string{"docs/../../x"}, stage.CodePath},
		{"absolute", "one", []string{"/etc/passwd"}, stage.CodePath},
		{"backslash", "one", []string{`docs\x.md`}, stage.CodePath},
		{"git", "one", []string{"docs/.GIT/config"}, stage.CodePath},
		{"not clean", "one", []string{"docs//x.md"}, stage.CodePath},
		{"not UTF-8", "one", []string{"docs/\xff.md"}, stage.CodePath},
		{"an unfinished file", "one", []string{"docs/.x-tmp-1"}, stage.CodePath},
		{"deeper than can be staged", "one", []string{deep}, stage.CodePath},
		{"longer than can be staged", "one", []string{"docs/" + strings.Repeat(strings.Repeat("n", 199)+"/", 5) + "x"}, stage.CodePath},
		{"not allowed", "one", []string{"src/main.go"}, stage.CodeNotAllowed},
		{"the area itself", "one", []string{".mcpcontract/journal"}, stage.CodeNotAllowed},
		{"the area in capitals", "one", []string{".MCPCONTRACT/journal"}, stage.CodeNotAllowed},
		{"twice", "one", []string{"docs/a.md", "docs/a.md"}, stage.CodeCollision},
		{"case", "one", []string{"docs/a.md", "docs/A.md"}, stage.CodeCollision},
		{"sharp s", "one", []string{"docs/ß.md", "docs/ss.md"}, stage.CodeCollision},
		{"composition", "one", []string{"docs/é.md", "docs/e\u0301.md"}, stage.CodeCollision},
		{"the Kelvin sign", "one", []string{"docs/k.md", "docs/\u212a.md"}, stage.CodeCollision},
		{"case of a directory", "one", []string{"docs/D/a.md", "docs/d/b.md"}, stage.CodeCollision},
		{"a file and a directory", "one", []string{"docs/a", "docs/a/b"}, stage.CodeCollision},
		{"too many", "one", []string{"docs/1", "docs/2", "docs/3", "docs/4"}, stage.CodeTooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, &stage.Options{Allow: []string{"**"}, MaxFiles: 3}, nil)
			if tt.want == stage.CodeNotAllowed && !strings.HasPrefix(strings.ToLower(tt.paths[0]), ".mcp") {
				p.area = p.open(t, allowDocs())
			}
			_, err := p.area.Prepare(t.Context(), tt.id, tt.paths)
			wantCode(t, err, tt.want)
			if diff := cmp.Diff(map[string]string{}, treetest.Read(t, p.dir)); diff != "" {
				t.Errorf("after refused Prepare (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLinkedArea puts a link where the area is to be: nothing may be written
// behind it.
func TestLinkedArea(t *testing.T) {
	for _, at := range []string{".mcpcontract", ".mcpcontract/stage", ".mcpcontract/stage/one", ".mcpcontract/lock", ".mcpcontract/undo", ".mcpcontract/receipts"} {
		t.Run(at, func(t *testing.T) {
			outside := t.TempDir()
			p := newProject(t, allowDocs(), nil)
			p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
			plan := p.plan(t, "one", nil, nil)
			must(t, os.RemoveAll(p.path(at)))
			must(t, os.Symlink(outside, p.path(at)))

			_, err := p.area.Promote(t.Context(), plan)
			if err == nil {
				t.Error("promoted over a link")
			}
			_, err = p.area.Prepare(t.Context(), "one", []string{"docs/a.md"})
			if err == nil && !strings.HasSuffix(at, "undo") && !strings.HasSuffix(at, "receipts") {
				t.Error("prepared over a link")
			}
			if diff := cmp.Diff(map[string]string{}, treetest.Read(t, outside)); diff != "" {
				t.Errorf("behind the link (-want +got):\n%s", diff)
			}
		})
	}
}
