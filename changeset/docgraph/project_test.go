package docgraph_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/docgraph"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

var _ changeset.Source = (*docgraph.Project)(nil)

func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"docs/b.md":          "---\nid: beta\nkind: guide\ntitle: B\nstatus: draft\ndepends_on: [a]\ntags: [x]\n---\nSee [[a]].\n",
		"docs/a.md":          "# Alpha\n",
		"docs/.hidden.md":    "x",
		"docs/.d/x.md":       "x",
		"docs/picture.png":   "x",
		"docs/deep/er/c.MD":  "c",
		"other/not.md":       "x",
		"docs/note.markdown": "x",
	})
	p := open(t, dir, &docgraph.Options{Project: "handbook"})
	s, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &changeset.Snapshot{Project: "handbook", Revision: s.Revision, Problems: []changeset.Problem{}, Nodes: []changeset.Node{
		{ID: "a", Kind: "page", Title: "Alpha", Path: "a.md", Size: 8},
		{ID: "beta", Kind: "guide", Title: "B", Status: "draft", Path: "b.md", DependsOn: []string{"a"}, Tags: []string{"x"}, Links: []string{"a"}, Size: 89},
		{ID: "deep/er/c", Kind: "page", Title: "deep/er/c", Path: "deep/er/c.MD", Hash: "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6", Size: 1},
	}}
	want.Nodes[0].Hash, want.Nodes[1].Hash = s.Nodes[0].Hash, s.Nodes[1].Hash
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("Snapshot (-want +got):\n%s", diff)
	}
	again, err := p.Snapshot(t.Context())
	if err != nil || again != s {
		t.Errorf("nothing changed, and Snapshot gives another one, %v", err)
	}
}

// A store of changesets learns where the documents are, and so keeps out of them.
func TestDocs(t *testing.T) {
	for _, docs := range []string{"", "pages", "."} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"docs/a.md": "a", "pages/a.md": "a"})
		p := open(t, dir, &docgraph.Options{Docs: docs})
		want := docs
		if docs == "" {
			want = "docs"
		}
		if p.Docs() != want {
			t.Errorf("the documents of %q are in %q", docs, p.Docs())
		}
		if _, err := changeset.Open(dir, p, &changeset.Options{Previews: strings.TrimPrefix(want+"/previews", "./")}); changeset.CodeOf(err) != changeset.CodeOptions {
			t.Errorf("previews among the documents in %q: %v", want, err)
		}
	}
}

// The revision is the same for the same files anywhere, and different for any
// other content, path or identity.
func TestRevision(t *testing.T) {
	files := map[string]string{"docs/a.md": "a", "docs/b.md": "b"}
	revision := func(files map[string]string, opts docgraph.Options) string {
		dir := t.TempDir()
		write(t, dir, files)
		return graph(t, open(t, dir, &opts)).Snapshot().Revision
	}
	first := revision(files, docgraph.Options{})
	if again := revision(files, docgraph.Options{Project: "project", Docs: "docs"}); again != first || len(first) != 64 {
		t.Errorf("the same project elsewhere has revision %s, not %s", again, first)
	}
	seen := map[string]string{first: "the project"}
	for name, r := range map[string]string{
		"other content":  revision(map[string]string{"docs/a.md": "a", "docs/b.md": "c"}, docgraph.Options{}),
		"swapped":        revision(map[string]string{"docs/a.md": "b", "docs/b.md": "a"}, docgraph.Options{}),
		"moved":          revision(map[string]string{"docs/a.md": "a", "docs/c.md": "b"}, docgraph.Options{}),
		"removed":        revision(map[string]string{"docs/a.md": "a"}, docgraph.Options{}),
		"other id":       revision(files, docgraph.Options{Project: "p"}),
		"other identity": revision(files, docgraph.Options{Identity: []byte("views: []")}),
	} {
		if seen[r] != "" {
			t.Errorf("%s and %s have one revision", name, seen[r])
		}
		seen[r] = name
	}
}

// Only files that differ in size or time are read again, and only other bytes
// make another graph.
func TestRefreshReadsChangedFiles(t *testing.T) {
	dir := many(t, 300)
	var c counter
	p, err := docgraph.OpenTraced(dir, docgraph.Options{Now: later}, c.trace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	steps := []struct {
		name  string
		do    func() error
		reads []string
		same  bool
		nodes int
	}{
		{"first", func() error { return nil }, make([]string, 300), false, 300},
		{"nothing", func() error { return nil }, nil, true, 300},
		{
			"changed", func() error {
				write(t, dir, map[string]string{"docs/part01/page0150.md": "longer or shorter"})
				return nil
			},
			[]string{"docs/part01/page0150.md"},
			false, 300,
		},
		{
			"touched", func() error {
				return os.Chtimes(filepath.Join(dir, "docs/part02/page0200.md"), longAgo, longAgo.Add(time.Hour))
			},
			[]string{"docs/part02/page0200.md"},
			true, 300,
		},
		{
			"added", func() error { write(t, dir, map[string]string{"docs/new.md": "x"}); return nil },
			[]string{"docs/new.md"},
			false, 301,
		},
		{"removed", func() error { return os.Remove(filepath.Join(dir, "docs/new.md")) }, nil, false, 300},
		{
			"moved", func() error {
				return os.Rename(filepath.Join(dir, "docs/part00/page0000.md"), filepath.Join(dir, "docs/page.md"))
			},
			[]string{"docs/page.md"},
			false, 300,
		},
		{"last removed", func() error { return os.Remove(filepath.Join(dir, "docs/part02/page0299.md")) }, nil, false, 299},
		{"nothing but a problem", func() error { return os.Symlink("page.md", filepath.Join(dir, "docs/z.md")) }, nil, false, 299},
		{"the problem is gone", func() error { return os.Remove(filepath.Join(dir, "docs/z.md")) }, nil, false, 299},
		{"nothing again", func() error { return nil }, nil, true, 299},
	}
	var last *docgraph.Graph
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		g := graph(t, p)
		reads := c.take()
		if s.name == "first" {
			if len(reads) != len(s.reads) {
				t.Errorf("%s: %d files read, want %d", s.name, len(reads), len(s.reads))
			}
		} else if !slices.Equal(reads, s.reads) {
			t.Errorf("%s: read %q, want %q", s.name, reads, s.reads)
		}
		if (g == last) != s.same || len(g.Snapshot().Nodes) != s.nodes {
			t.Errorf("%s: same graph %v, %d nodes; want %v, %d", s.name, g == last, len(g.Snapshot().Nodes), s.same, s.nodes)
		}
		last = g
	}
}

// A file that is as new as the look at it may be written again within one tick
// of its file system, with the same size and time.
func TestRefreshOfFreshFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "one"})
	now := longAgo
	p := open(t, dir, &docgraph.Options{Now: func() time.Time { return now }})
	before := graph(t, p)
	write(t, dir, map[string]string{"docs/a.md": "two"}) // with the old time
	after := graph(t, p)
	if text, err := after.Text("a"); err != nil || string(text) != "two" || after == before {
		t.Errorf("text after the change is %q, %v", text, err)
	}
	now = now.Add(time.Second)
	if graph(t, p) != after { // read once more, and settled by now
		t.Error("nothing changed, and there is another graph")
	}
}

// A file is read again as long as another write could leave its times as they
// are, and only so long.
func TestRefreshUntilSettled(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "docs", "a.md")
	write(t, dir, map[string]string{"docs/a.md": "one"})
	var c counter
	now := longAgo
	reads := func() int {
		p, err := docgraph.OpenTraced(dir, docgraph.Options{Now: func() time.Time { return now }}, c.trace)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		first := graph(t, p)
		if graph(t, p) != first {
			t.Error("another graph though nothing changed")
		}
		return len(c.take())
	}
	whole := longAgo.Truncate(time.Second)
	for _, tc := range []struct {
		name    string
		written time.Time
		age     time.Duration
		want    int
	}{
		{"in this moment", longAgo, 0, 2},
		{"within a tick", longAgo, 49 * time.Millisecond, 2},
		{"before a tick", longAgo, 51 * time.Millisecond, 1},
		{"by a clock that is a bit ahead", longAgo, -49 * time.Millisecond, 2},
		{"by a clock that is ahead", longAgo, -51 * time.Millisecond, 1},
		{"in this second", whole, 1900 * time.Millisecond, 2},
		{"seconds ago", whole, 2100 * time.Millisecond, 1},
	} {
		now = tc.written.Add(tc.age)
		if err := os.Chtimes(full, tc.written, tc.written); err != nil {
			t.Fatal(err)
		}
		if got := reads(); got != tc.want {
			t.Errorf("written %s: %d reads in two looks, want %d", tc.name, got, tc.want)
		}
	}
	if runtime.GOOS == "windows" {
		return // no change time
	}
	// What counts is the later of both times.
	now = changeTime(t, dir, "docs/a.md")
	if got := reads(); got != 2 {
		t.Errorf("touched in this moment: %d reads in two looks, want 2", got)
	}
}

// A folder that takes the place of another brings files of its own, even where
// size and all times are those of the others.
func TestRefreshOfSwappedFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are neither change times nor inodes to tell the files apart")
	}
	dir := t.TempDir()
	pair := func() bool { // writes two files, and reports whether it did so within one tick
		write(t, dir, map[string]string{"docs/d/a.md": "one", "spare/a.md": "two"})
		return changeTime(t, dir, "docs/d/a.md").Equal(changeTime(t, dir, "spare/a.md"))
	}
	for tries := 0; !pair(); tries++ {
		if tries == 200 {
			t.Skip("the file system gives no two files one change time")
		}
		for _, name := range []string{"docs", "spare"} { // a new file has no reason for a finer time
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := open(t, dir, &docgraph.Options{Now: later})
	graph(t, p)
	if err := os.Rename(filepath.Join(dir, "docs", "d"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "spare"), filepath.Join(dir, "docs", "d")); err != nil {
		t.Fatal(err)
	}
	if text, err := graph(t, p).Text("d/a"); err != nil || string(text) != "two" {
		t.Errorf("the text is %q, %v", text, err)
	}
}

// A file that could not be read is a problem until it can be, even if it looks
// the same as before.
func TestRefreshAfterFailure(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/d/a.md": "# A\n", "docs/b.md": "# B\n"})
	folder, away := filepath.Join(dir, "docs", "d"), filepath.Join(dir, "away")
	attack := true
	p, err := docgraph.OpenTraced(dir, docgraph.Options{Now: later}, func(e rootfs.Event) {
		if attack && e.Op == "stat" && e.Path == "docs/d/a.md" { // listed, but not read yet
			attack = false
			if err := errors.Join(os.Rename(folder, away), os.Symlink(away, folder)); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	first := graph(t, p)
	if diff := cmp.Diff([]string{"file_unreadable d/a.md"}, codes(first.Validate())); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if err := errors.Join(os.Remove(folder), os.Rename(away, folder)); err != nil {
		t.Fatal(err)
	}
	second := graph(t, p)
	if len(second.Validate()) > 0 || ids(second.Snapshot().Nodes) != "b d/a" {
		t.Errorf("nodes %q, problems %v", ids(second.Snapshot().Nodes), second.Validate())
	}
}

// changeTime returns when anything of a file last changed.
func changeTime(t *testing.T, dir, name string) time.Time {
	t.Helper()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ChangeTime
}

// A file that is replaced by one of the same size and time is another file, and
// one that is written again and given its old time was changed.
func TestRefreshOfSameSizeAndTime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are neither change times nor inodes to tell the files apart")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "one"})
	full := filepath.Join(dir, "docs", "a.md")
	p := open(t, dir, &docgraph.Options{Now: later}) // or files would be read for their age
	graph(t, p)
	for _, step := range []struct {
		name, want string
		do         func() error
	}{
		{"written in place", "two", func() error {
			before := changeTime(t, dir, "docs/a.md")
			for before.Equal(changeTime(t, dir, "docs/a.md")) { // until the next tick
				write(t, dir, map[string]string{"docs/a.md": "two"})
			}
			return nil
		}},
		{"replaced", "six", func() error {
			write(t, dir, map[string]string{"new": "six"})
			return os.Rename(filepath.Join(dir, "new"), full)
		}},
		{"exchanged by a backup", "one", func() error {
			if err := os.Rename(full, full+"~"); err != nil {
				return err
			}
			write(t, dir, map[string]string{"docs/a.md": "one"})
			return os.Remove(full + "~")
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		g := graph(t, p)
		if text, err := g.Text("a"); err != nil || string(text) != step.want {
			t.Errorf("%s: the text is %q, %v; want %q", step.name, text, err, step.want)
		}
		if graph(t, p) != g {
			t.Errorf("%s: another graph though nothing changed", step.name)
		}
	}
}

// What cannot be read is a problem; the rest is loaded.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"docs/good.md":      "# Good\n",
		"docs/bad:name.md":  "x",
		"docs/bad?name.png": "x",
		"docs/con/x.md":     "x",
		"docs/large.md":     strings.Repeat("x", 101),
		"docs/latin.md":     "caf\xe9",
		"docs/wide.md":      "\xff\xfe#\x00 \x00A\x00",
		"docs/zero.md":      "a\x00b",
		"docs/front.md":     "---\n\t{\n---\n# F\n",
		"docs/twice-1.md":   node("twice", ""),
		"docs/twice-2.md":   node("twice", "") + "x",
		"docs/" + strings.Repeat("d/", 40) + "deep.md": "x",
		"outside/secret.md":                            "secret",
	})
	for name, target := range map[string]string{"link.md": "good.md", "folder": "../outside", "gone.md": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, "docs", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "outside", "secret.md"), filepath.Join(dir, "docs", "hard.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "docs", "folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := graph(t, open(t, dir, &docgraph.Options{MaxFileBytes: 100}))
	if got, want := ids(g.Snapshot().Nodes), "front good latin twice wide zero"; got != want {
		t.Errorf("nodes %q, want %q", got, want)
	}
	want := []string{
		"file_unreadable bad:name.md",
		"file_unreadable con",
		"file_unreadable " + strings.TrimSuffix(strings.Repeat("d/", 30), "/"),
		"file_unreadable folder",
		"E front_matter_invalid front.md",
		"file_unreadable gone.md",
		"file_unreadable hard.md",
		"file_too_large large.md",
		"not_utf8 latin.md",
		"file_unreadable link.md",
		"E duplicate_id twice-2.md",
		"not_utf8 wide.md",
	}
	if diff := cmp.Diff(want, codes(g.Validate())); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "a", "docs/.b.md": "b", "docs/c.txt": "c", "docs/d.md": "12345", "x.md": "x"})
	p := open(t, dir, &docgraph.Options{MaxFileBytes: 4})
	if data, err := p.Read(t.Context(), "a.md"); err != nil || string(data) != "a" {
		t.Errorf("Read = %q, %v", data, err)
	}
	for path, code := range map[string]docgraph.Code{
		"../x.md": docgraph.CodeFile, "/etc/x.md": docgraph.CodeFile, ".b.md": docgraph.CodeFile, "c.txt": docgraph.CodeFile,
		"": docgraph.CodeFile, "gone.md": docgraph.CodeFile, "d.md": docgraph.CodeTooLarge,
	} {
		_, err := p.Read(t.Context(), path)
		wantCode(t, err, code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Read(ctx, "a.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after cancel: %v", err)
	}
	if _, err := p.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot after cancel: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "a", "file": "x"})
	tests := []struct {
		name, dir string
		opts      docgraph.Options
		code      docgraph.Code
	}{
		{"no root", filepath.Join(dir, "nowhere"), docgraph.Options{}, docgraph.CodeDocs},
		{"no docs", dir, docgraph.Options{Docs: "nowhere"}, docgraph.CodeDocs},
		{"docs is a file", dir, docgraph.Options{Docs: "file"}, docgraph.CodeDocs},
		{"docs outside", dir, docgraph.Options{Docs: "../docs"}, docgraph.CodeOptions},
		{"long id", dir, docgraph.Options{Project: strings.Repeat("x", 201)}, docgraph.CodeOptions},
		{"id on two lines", dir, docgraph.Options{Project: "a\nb"}, docgraph.CodeOptions},
		{"negative limit", dir, docgraph.Options{MaxFiles: -1}, docgraph.CodeOptions},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := docgraph.Open(tc.dir, &tc.opts)
			wantCode(t, err, tc.code)
		})
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"docs/a.md": "1234", "docs/b.md": "1234"})
	for name, tc := range map[string]struct {
		opts docgraph.Options
		code docgraph.Code
	}{
		"files": {docgraph.Options{MaxFiles: 1}, docgraph.CodeTooMany},
		"bytes": {docgraph.Options{MaxBytes: 7}, docgraph.CodeTooLarge},
	} {
		_, err := open(t, dir, &tc.opts).Graph(t.Context())
		if wantCode(t, err, tc.code); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := open(t, dir, &docgraph.Options{MaxFiles: 2, MaxBytes: 8, MaxFileBytes: 4})
	if g := graph(t, p); len(g.Snapshot().Nodes) != 2 {
		t.Errorf("%d nodes at the limits, want 2", len(g.Snapshot().Nodes))
	}
	if err := os.RemoveAll(filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	_, err := p.Graph(t.Context())
	wantCode(t, err, docgraph.CodeDocs)
	write(t, dir, map[string]string{"docs/b.md": "1234"})
	if g := graph(t, p); ids(g.Snapshot().Nodes) != "b" {
		t.Errorf("nodes after the folder is back: %s", ids(g.Snapshot().Nodes))
	}
}

func TestRootAsDocs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "a", "sub/b.md": "b"})
	p := open(t, dir, &docgraph.Options{Docs: "."})
	if got := ids(graph(t, p).Snapshot().Nodes); got != "a sub/b" {
		t.Errorf("nodes %q", got)
	}
	if data, err := p.Read(t.Context(), "sub/b.md"); err != nil || string(data) != "b" {
		t.Errorf("Read = %q, %v", data, err)
	}
}

// Many goroutines ask while files change; each gets a whole graph.
func TestConcurrentUse(t *testing.T) {
	dir := many(t, 50)
	p := open(t, dir, nil)
	done := make(chan error)
	const readers = 4
	for range readers {
		go func() {
			for range 20 {
				g, err := p.Graph(t.Context())
				if err == nil {
					_, _, err = g.Search("backup", 0, 5)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for i := range 20 {
		name := filepath.Join(dir, "docs", "new.md")
		if err := os.WriteFile(name+".tmp", []byte(manyText(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".tmp", name); err != nil {
			t.Fatal(err)
		}
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
