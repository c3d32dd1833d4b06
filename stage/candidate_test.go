package stage_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/stage"
)

// TestConverge declares ever other files of one candidate.
func TestConverge(t *testing.T) {
	p := newProject(t, allowDocs(), map[string]string{"docs/a.md": "not staged"})
	p.prepare(t, "one", map[string]string{"docs/a.md": "a", "docs/x/y/b.md": "b", "docs/c.md": "c"})
	got, err := p.area.Prepare(t.Context(), "one", []string{"docs/c.md", "docs/a.md", "docs/new.md"})
	must(t, err)
	want := stage.Prepared{
		Dir:      ".mcpcontract/stage/one",
		Retained: []string{"docs/a.md", "docs/c.md"},
		Removed:  []string{"docs/x/y/b.md"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prepared (-want +got):\n%s", diff)
	}
	wantTree := map[string]string{"docs/a.md": "a", "docs/c.md": "c"}
	if diff := cmp.Diff(wantTree, treetest.Read(t, p.path(want.Dir))); diff != "" {
		t.Errorf("candidate (-want +got):\n%s", diff)
	}
	_, err = p.area.Inspect(t.Context(), "one")
	wantCode(t, err, stage.CodeIncomplete)
	if e, ok := errors.AsType[*stage.Error](err); !ok || !cmp.Equal(e.Paths, []string{"docs/new.md"}) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(map[string]string{"docs/a.md": "not staged"}, p.tree(t)); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
}

// TestConvergeKinds declares a file where a directory was, and the other way
// round.
func TestConvergeKinds(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	for _, files := range []map[string]string{{"docs/x/y/b.md": "b"}, {"docs/x": "a file"}, {"docs/x/c.md": "c"}} {
		p.prepare(t, "one", files) // writes them, too
		if diff := cmp.Diff(files, treetest.Read(t, p.path(".mcpcontract/stage/one"))); diff != "" {
			t.Errorf("candidate (-want +got):\n%s", diff)
		}
	}
}

func TestInspect(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	// By bytes: "-" and "." come before "/", capitals before small letters.
	p.prepare(t, "one", map[string]string{"docs/a/b.md": "b\r\n", "docs/a.md": "\xff\xfe", "docs/a-b.md": "", "docs/Z.md": "z"})
	m, err := p.area.Inspect(t.Context(), "one")
	must(t, err)
	want := []stage.File{
		{Path: "docs/Z.md", Size: 1, SHA256: "594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06"},
		{Path: "docs/a-b.md", Size: 0, SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "docs/a.md", Size: 2, SHA256: "b3d510ef04275ca8e698e5b3cbb0ece3949ef9252f0cdc839e9ee347409a2209"},
		{Path: "docs/a/b.md", Size: 3, SHA256: "679e273f78fc8f8ba114db23c2dce80cc77c91083939825ca830152f2f080d08"},
	}
	if diff := cmp.Diff(want, m.Files, cmpopts.IgnoreFields(stage.File{}, "Mode")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	p.prepare(t, "two", map[string]string{"docs/a/b.md": "b\r\n", "docs/a.md": "\xff\xfe", "docs/a-b.md": "", "docs/Z.md": "z"})
	two, err := p.area.Inspect(t.Context(), "two")
	must(t, err)
	if two.Digest != m.Digest {
		t.Errorf("the same files have the digests %s and %s", m.Digest, two.Digest)
	}
	for name, change := range map[string]func(){
		"another byte": func() { p.write(t, ".mcpcontract/stage/two/docs/a.md", "\xff\xfd") },
		"another mode": func() { must(t, os.Chmod(p.path(".mcpcontract/stage/two/docs/Z.md"), 0o700)) },
	} {
		change()
		if two, err = p.area.Inspect(t.Context(), "two"); err != nil || two.Digest == m.Digest {
			t.Errorf("%s: the same digest, or error %v", name, err)
		}
		m.Digest = two.Digest
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.area.Inspect(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("inspected without a context: %v", err)
	}
}

func TestLimits(t *testing.T) {
	p := newProject(t, &stage.Options{Allow: []string{"**"}, MaxFiles: 4, MaxFileBytes: 10, MaxBytes: 15, MaxCandidates: 2}, nil)
	p.prepare(t, "one", map[string]string{"a.md": strings.Repeat("a", 11)})
	_, err := p.area.Inspect(t.Context(), "one")
	wantCode(t, err, stage.CodeTooLarge)
	p.prepare(t, "one", map[string]string{"a.md": "aaaaaaaa", "b.md": "bbbbbbbb"})
	_, err = p.area.Inspect(t.Context(), "one")
	wantCode(t, err, stage.CodeTooLarge)
	p.prepare(t, "two", map[string]string{"a.md": "aaaaaaaaaa", "b.md": "bbbbb", "c.md": "", "d.md": ""}) // as much as may be
	_, err = p.area.Inspect(t.Context(), "two")
	must(t, err)
	p.write(t, ".mcpcontract/stage/two/e.md", "")
	_, err = p.area.Inspect(t.Context(), "two")
	wantCode(t, err, stage.CodeTooMany)
	p.prepare(t, "two", map[string]string{"a.md": "a"})
	_, err = p.area.Prepare(t.Context(), "three", nil)
	wantCode(t, err, stage.CodeTooMany)
	for i := range 9 {
		p.write(t, ".mcpcontract/stage/two/"+strings.Repeat("x", i+1), "")
	}
	_, err = p.area.Inspect(t.Context(), "two")
	wantCode(t, err, stage.CodeTooMany)

	ids, err := p.area.Candidates(t.Context())
	if diff := cmp.Diff([]string{"one", "two"}, ids); diff != "" || err != nil {
		t.Errorf("candidates: %v (-want +got):\n%s", err, diff)
	}
	removed, err := p.area.Discard(t.Context(), "one")
	if diff := cmp.Diff([]string{"a.md", "b.md"}, removed); diff != "" || err != nil {
		t.Errorf("discarded: %v (-want +got):\n%s", err, diff)
	}
	for _, id := range []string{"one", "never"} {
		_, err = p.area.Discard(t.Context(), id)
		wantCode(t, err, stage.CodeUnknown)
		_, err = p.area.Inspect(t.Context(), id)
		wantCode(t, err, stage.CodeUnknown)
	}
	_, err = p.area.Discard(t.Context(), "../x")
	wantCode(t, err, stage.CodeCandidate)
	_, err = p.area.Inspect(t.Context(), "../x")
	wantCode(t, err, stage.CodeCandidate)
	_, err = p.area.Prepare(t.Context(), "three", nil)
	must(t, err)
	for _, list := range []string{"{}", `["b.md","a.md"]`, ""} {
		p.write(t, ".mcpcontract/stage/three.files.json", list)
		_, err = p.area.Inspect(t.Context(), "three")
		wantCode(t, err, stage.CodeDamaged)
	}
}

func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts stage.Options
	}{
		{"Dir leads out", stage.Options{Dir: "../x"}},
		{"Dir is absolute", stage.Options{Dir: "/x"}},
		{"Dir is long", stage.Options{Dir: strings.Repeat("x", 65)}},
		{"an empty pattern", stage.Options{Allow: []string{""}}},
		{"a pattern that leads out", stage.Options{Allow: []string{"../*"}}},
		{"a pattern with a fault", stage.Options{Allow: []string{"docs/[a"}}},
		{"a long pattern", stage.Options{Allow: []string{strings.Repeat("x", 2000)}}},
		{"many patterns", stage.Options{Allow: make([]string, 300)}},
		{"a protected path that leads out", stage.Options{Protect: []string{"../x"}}},
		{"many protected paths", stage.Options{Protect: make([]string, 300)}},
		{"a pattern that reaches what is protected", stage.Options{Allow: []string{"plans/*", "**/*.md"}, Protect: []string{"docs"}}},
		{"the same in another spelling", stage.Options{Allow: []string{"DOCS/plan.md"}, Protect: []string{"docs"}}},
		{"negative", stage.Options{MaxBytes: -1}},
		{"negative time", stage.Options{LockTimeout: -1}},
		{"more files than possible", stage.Options{MaxFiles: 5000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := stage.Open(t.TempDir(), &tt.opts)
			wantCode(t, err, stage.CodeOptions)
		})
	}
	_, err := stage.Open(t.TempDir()+"/none", nil)
	wantCode(t, err, stage.CodeIO)
	if rootfs.CodeOf(err) != rootfs.NotFound {
		t.Errorf("cause %v", err)
	}
	p := newProject(t, nil, nil)
	_, err = p.area.Prepare(t.Context(), "one", []string{"docs/a.md"})
	wantCode(t, err, stage.CodeNotAllowed)
	if diff := cmp.Diff(map[string]string{}, treetest.Read(t, p.dir)); diff != "" {
		t.Errorf("an area without use left something (-want +got):\n%s", diff)
	}
}

func TestAllow(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"docs/**", "docs/a.md", true},
		{"docs/**", "docs/x/y/a.md", true},
		{"docs/**", "docsx/a.md", false},
		{"docs/**/*.md", "docs/a.md", true},
		{"docs/**/*.md", "docs/x/a.md", true},
		{"docs/**/*.md", "docs/x/a.txt", false},
		{"**/x/**/y.md", "a/x/b/x/c/y.md", true},
		{"**/x/**/y.md", "a/b/y.md", false},
		{"docs/*", "docs/x/a.md", false},
		{"docs/[ab].md", "docs/b.md", true},
		{"docs/?.md", "docs/bb.md", false},
		{"docs", "docs/a.md", false},
		{"**/**/**/**/**/z", "a/b/c/d/e/f/g/h/i/j/k/l/m", false},
	} {
		p := newProject(t, &stage.Options{Allow: []string{tt.pattern}}, nil)
		_, err := p.area.Prepare(t.Context(), "one", []string{tt.path})
		if got := err == nil; got != tt.want {
			t.Errorf("%q allows %q: %t, want %t (%v)", tt.pattern, tt.path, got, tt.want, err)
		}
	}
}

func TestError(t *testing.T) {
	var many []string
	for _, r := range "abcdefghijklmnopqrstuvwxyz" {
		many = append(many, string(r))
	}
	err := error(&stage.Error{Code: stage.CodeStale, Op: "promote", Subject: "one", Paths: many, Detail: "so it is", Err: os.ErrExist})
	want := `promote "one": files to be replaced changed since the plan was made; plan again: "a", "b", "c", and 23 more: so it is: file already exists`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if !errors.Is(err, os.ErrExist) || stage.CodeOf(err) != stage.CodeStale || stage.CodeOf(os.ErrExist) != "" {
		t.Error("code or cause is lost")
	}
	var wire interface {
		ErrorCode() string
		ErrorDetails() any
	}
	if !errors.As(err, &wire) || wire.ErrorCode() != "proposal_stale" {
		t.Errorf("code on the wire of %v", err)
	}
	if details := wire.ErrorDetails(); details == nil {
		t.Error("no details")
	}
	if details := (&stage.Error{Code: stage.CodeIO}).ErrorDetails(); details != nil {
		t.Errorf("details %v of nothing", details)
	}
}

func TestReadFile(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	p.prepare(t, "one", map[string]string{"docs/a.md": "a\xff"})
	m, err := p.area.Inspect(t.Context(), "one")
	must(t, err)
	dir, err := p.area.Dir("one")
	if dir != ".mcpcontract/stage/one" || err != nil {
		t.Errorf("the candidate is in %q, %v", dir, err)
	}
	data, err := p.area.ReadFile(t.Context(), m, m.Files[0])
	if string(data) != "a\xff" || err != nil {
		t.Errorf("read %q, %v", data, err)
	}
	p.write(t, dir+"/docs/a.md", "b\xff")
	_, err = p.area.ReadFile(t.Context(), m, m.Files[0])
	wantCode(t, err, stage.CodeChanged)
	must(t, os.Remove(p.path(dir+"/docs/a.md")))
	must(t, os.Symlink("/etc/passwd", p.path(dir+"/docs/a.md")))
	for _, path := range []string{"docs/a.md", "../one.files.json", "docs"} {
		_, err = p.area.ReadFile(t.Context(), m, stage.File{Path: path, SHA256: m.Files[0].SHA256})
		wantCode(t, err, stage.CodeUnsafe)
	}
	m.Candidate = "../x"
	_, err = p.area.ReadFile(t.Context(), m, m.Files[0])
	wantCode(t, err, stage.CodeCandidate)
	_, err = p.area.Dir("../x")
	wantCode(t, err, stage.CodeCandidate)
}
