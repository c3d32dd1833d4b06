package changeset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// TestCreate checks what a new changeset says, and that reading it says the
// same.
func TestCreate(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	c, err := p.writer(t, "ada").Create(t.Context(), "Clear words", "Two\nlines.")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := p.source().Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	want := changeset.Changeset{
		ID: c.ID, Title: "Clear words", Description: "Two\nlines.", Writer: "ada", Created: at, Updated: at,
		Revision: snap.Revision, Digest: c.Digest, Operations: []changeset.Operation{},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, p.get(t, c.ID)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	list, err := p.store.List(t.Context())
	if diff := cmp.Diff([]changeset.Changeset{want}, list); diff != "" || err != nil {
		t.Errorf("list, %v (-want +got):\n%s", err, diff)
	}
	if strings.Trim(c.ID[3:], "abcdefghijklmnopqrstuvwxyz234567") != "" || len(c.ID) != 29 || c.ID[:3] != "cs-" {
		t.Errorf("the id %q does not match its pattern", c.ID)
	}
}

// TestProposeCreate checks the file that a new node gets, and the operation.
func TestProposeCreate(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	o, err := w.ProposeCreate(t.Context(), id, changeset.NewNode{
		ID: "new", Kind: "guide", Title: "New: \"it\"", Path: "a/new.md", Text: "# New\n", Status: "draft",
		DependsOn: []string{"terms"}, Tags: []string{"one", "two"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := changeset.Operation{
		Op: changeset.Create, ID: "new", Kind: "guide", Title: "New: \"it\"", NewPath: "a/new.md", NewHash: o.NewHash, NewSize: o.NewSize,
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
	diffs, err := p.store.Diff(t.Context(), id)
	if err != nil || len(diffs) != 1 {
		t.Fatal(diffs, err)
	}
	var raw strings.Builder
	for line := range strings.Lines(diffs[0].Unified) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") {
			raw.WriteString(line[1:])
		}
	}
	if canon.Sum([]byte(raw.String())) != o.NewHash || !strings.HasSuffix(raw.String(), "---\n# New\n") {
		t.Errorf("the diff does not show the proposed file: %q", raw.String())
	}
}

// TestJoiners writes lines as their languages need it.
func TestJoiners(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	const persian, family = "می\u200cخواهم", "👩\u200d👩\u200d👧"
	w, err := p.store.Bind(persian, everything())
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Create(t.Context(), family, "")
	if err != nil {
		t.Fatal(err)
	}
	o, err := w.ProposeCreate(t.Context(), c.ID, changeset.NewNode{
		ID: "new", Kind: persian, Title: persian + " " + family, Status: persian, Path: "new.md", Tags: []string{family},
	})
	if err != nil || o.Title != persian+" "+family || o.Kind != persian {
		t.Errorf("proposed %+v, %v", o, err)
	}
}

// TestProposeUpdate checks that what is not named stays, byte for byte.
func TestProposeUpdate(t *testing.T) {
	t.Parallel()
	const odd = "---\r\n# a remark\r\nid: odd\r\nx-own: [1,  2]\r\nkind: guide\r\ntitle:   Odd\r\n---\r\nText\r\n"
	files := handbook()
	files["docs/odd.md"] = odd
	p := newProject(t, options(), files)
	w := p.writer(t, "ada")
	id := begin(t, w)
	if _, err := w.ProposeUpdate(t.Context(), id, "odd", changeset.NodeEdit{Kind: new("spec")}); err != nil {
		t.Fatal(err)
	}
	o, err := w.ProposeUpdate(t.Context(), id, "odd", changeset.NodeEdit{Text: new("Other\r\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(odd, "kind: guide", "kind: spec", 1), "Text", "Other", 1)
	if o.NewHash != canon.Sum([]byte(want)) || o.BaseHash != canon.Sum([]byte(odd)) || o.Kind != "spec" || o.Title != "Odd" {
		diffs, _ := p.store.Diff(t.Context(), id)
		t.Errorf("proposed %+v, by %+v", o, diffs)
	}
}

// TestOddFiles proposes changes of files whose front matter or bytes are not
// what they should be.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	files := handbook()
	files["docs/open.md"] = "---\nid: open\ntitle: [\n---\nText\n"
	files["docs/raw.md"] = "# Raw \xff\n"
	p := newProject(t, options(), files)
	w := p.writer(t, "ada")
	id := begin(t, w)
	_, err := w.ProposeUpdate(t.Context(), id, "open", changeset.NodeEdit{Title: new("Open")})
	wantCode(t, err, changeset.CodeProposal)
	if cause, ok := errors.AsType[*page.Error](err); !ok || cause.Code != page.CodeEdit {
		t.Errorf("%v does not lead to its cause", err)
	}
	_, err = propose(t, w, id, "move open more/open.md")
	wantCode(t, err, "")
	o, err := propose(t, w, id, "move raw more/raw.md")
	wantCode(t, err, "")
	if o.Title != "Raw \ufffd" || o.NewHash != canon.Sum([]byte(files["docs/raw.md"])) {
		t.Errorf("operation %+v", o)
	}
}

// TestRefused offers what the rules for fields refuse.
func TestRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4<<20)
	node := func(change func(*changeset.NewNode)) func(context.Context, *changeset.Writer, string) error {
		n := changeset.NewNode{ID: "new", Kind: "guide", Title: "New", Path: "new.md", Text: "Text\n"}
		change(&n)
		return func(ctx context.Context, w *changeset.Writer, id string) error {
			_, err := w.ProposeCreate(ctx, id, n)
			return err
		}
	}
	edit := func(e changeset.NodeEdit) func(context.Context, *changeset.Writer, string) error {
		return func(ctx context.Context, w *changeset.Writer, id string) error {
			_, err := w.ProposeUpdate(ctx, id, "setup", e)
			return err
		}
	}
	move := func(p string) func(context.Context, *changeset.Writer, string) error {
		return func(ctx context.Context, w *changeset.Writer, id string) error {
			_, err := w.ProposeMove(ctx, id, "setup", p)
			return err
		}
	}
	create := func(title, description string) func(context.Context, *changeset.Writer, string) error {
		return func(ctx context.Context, w *changeset.Writer, _ string) error {
			_, err := w.Create(ctx, title, description)
			return err
		}
	}
	in := func(id string) func(context.Context, *changeset.Writer, string) error {
		return func(ctx context.Context, w *changeset.Writer, _ string) error {
			_, err := w.ProposeDelete(ctx, id, "setup")
			return err
		}
	}
	for _, test := range []struct {
		name string
		call func(context.Context, *changeset.Writer, string) error
		want changeset.Code
	}{
		{"no title", create("", ""), changeset.CodeProposal},
		{"blank title", create(" ", ""), changeset.CodeProposal},
		{"title of two lines", create("a\nb", ""), changeset.CodeProposal},
		{"title that is not UTF-8", create("a\xff", ""), changeset.CodeProposal},
		{"title with a line separator", create("a\u2028b", ""), changeset.CodeProposal},
		{"title that ends with a joiner", create("a\u200d", ""), changeset.CodeProposal},
		{"title of joiners", create("\u200c", ""), changeset.CodeProposal},
		{"node title with a stray joiner", node(func(n *changeset.NewNode) { n.Title = "a \u200db" }), changeset.CodeProposal},
		{"joiner in an id", node(func(n *changeset.NewNode) { n.ID = "a\u200db" }), changeset.CodeProposal},
		{"long title", create(long[:201], ""), changeset.CodeTooLarge},
		{"long description", create("a", long[:4001]), changeset.CodeTooLarge},
		{"description with NUL", create("a", "\x00"), changeset.CodeProposal},

		{"no id", node(func(n *changeset.NewNode) { n.ID = "" }), changeset.CodeProposal},
		{"id that no link can name", node(func(n *changeset.NewNode) { n.ID = "a]]b" }), changeset.CodeProposal},
		{"invisible character in an id", node(func(n *changeset.NewNode) { n.ID = "a\u200bb" }), changeset.CodeProposal},
		{"long id", node(func(n *changeset.NewNode) { n.ID = long[:201] }), changeset.CodeTooLarge},
		{"no kind", node(func(n *changeset.NewNode) { n.Kind = "" }), changeset.CodeProposal},
		{"long kind", node(func(n *changeset.NewNode) { n.Kind = long[:65] }), changeset.CodeTooLarge},
		{"no node title", node(func(n *changeset.NewNode) { n.Title = "" }), changeset.CodeProposal},
		{"long node title", node(func(n *changeset.NewNode) { n.Title = long[:201] }), changeset.CodeTooLarge},
		{"status of two lines", node(func(n *changeset.NewNode) { n.Status = "a\rb" }), changeset.CodeProposal},
		{"text with NUL", node(func(n *changeset.NewNode) { n.Text = "a\x00" }), changeset.CodeProposal},
		{"text that is not UTF-8", node(func(n *changeset.NewNode) { n.Text = "\xff" }), changeset.CodeProposal},
		{"text with front matter", node(func(n *changeset.NewNode) { n.Text = "---\nid: new\ntitle: Other\n---\nText\n" }), changeset.CodeProposal},
		{"long text", node(func(n *changeset.NewNode) { n.Text = long + "x" }), changeset.CodeTooLarge},
		{"text that is too long with its front matter", node(func(n *changeset.NewNode) { n.Text = long }), changeset.CodeTooLarge},
		{"many tags", node(func(n *changeset.NewNode) { n.Tags = slices.Repeat([]string{"a"}, 65) }), changeset.CodeTooMany},
		{"empty tag", node(func(n *changeset.NewNode) { n.Tags = []string{""} }), changeset.CodeProposal},
		{"long tag", node(func(n *changeset.NewNode) { n.Tags = []string{long[:65]} }), changeset.CodeTooLarge},
		{"many dependencies", node(func(n *changeset.NewNode) { n.DependsOn = slices.Repeat([]string{"a"}, 257) }), changeset.CodeTooMany},
		{"dependency that is no id", node(func(n *changeset.NewNode) { n.DependsOn = []string{"a|b"} }), changeset.CodeProposal},
		{"path that leaves", node(func(n *changeset.NewNode) { n.Path = "../new.md" }), changeset.CodePath},
		{"absolute path", node(func(n *changeset.NewNode) { n.Path = "/new.md" }), changeset.CodePath},
		{"no path", node(func(n *changeset.NewNode) { n.Path = "" }), changeset.CodePath},
		{"path of Windows", node(func(n *changeset.NewNode) { n.Path = `a\new.md` }), changeset.CodePath},
		{"device", node(func(n *changeset.NewNode) { n.Path = "con.md" }), changeset.CodePath},
		{"hidden", node(func(n *changeset.NewNode) { n.Path = ".a/new.md" }), changeset.CodePath},
		{"no Markdown", node(func(n *changeset.NewNode) { n.Path = "new.html" }), changeset.CodePath},
		{"Markdown in capitals", node(func(n *changeset.NewNode) { n.Path = "new.MD" }), changeset.CodePath},
		{"deep path", node(func(n *changeset.NewNode) { n.Path = strings.Repeat("d/", 31) + "n.md" }), changeset.CodePath},
		{"unfinished file", node(func(n *changeset.NewNode) { n.Path = ".x-tmp-a.md" }), changeset.CodePath},

		{"no field", edit(changeset.NodeEdit{}), changeset.CodeProposal},
		{"empty title", edit(changeset.NodeEdit{Title: new("")}), changeset.CodeProposal},
		{"empty kind", edit(changeset.NodeEdit{Kind: new("")}), changeset.CodeProposal},
		{"tags too long", edit(changeset.NodeEdit{Tags: new([]string{"a", long})}), changeset.CodeTooLarge},
		{"updated text with front matter", edit(changeset.NodeEdit{Text: new("---\nstatus: done\n---\nText\n")}), changeset.CodeProposal},
		{"updated text too long", edit(changeset.NodeEdit{Text: new(long)}), changeset.CodeTooLarge},

		{"move that leaves", move("../../setup.md"), changeset.CodePath},
		{"move onto a device", move("nul.md"), changeset.CodePath},

		{"no changeset", in(""), changeset.CodeUnknown},
		{"changeset by path", in("../../../docs/setup"), changeset.CodeUnknown},
		{"unknown changeset", in("cs-" + strings.Repeat("a", 26)), changeset.CodeUnknown},
		{"changeset in capitals", in("CS-" + strings.Repeat("A", 26)), changeset.CodeUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			w := p.writer(t, "ada")
			id := begin(t, w)
			before := treetest.Read(t, p.dir)
			err := test.call(t.Context(), w, id)
			wantCode(t, err, test.want)
			if len(err.Error()) > 600 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
				t.Errorf("something was written (-before +after):\n%s", diff)
			}
		})
	}
}

// TestOwner checks that others may read a changeset, and not change it.
func TestOwner(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	ada, bob := p.writer(t, "ada"), p.writer(t, "Ada")
	id := begin(t, ada)
	before := treetest.Read(t, p.dir)
	for _, step := range []string{"create new new.md", "update setup Text", "move setup b.md", "delete setup"} {
		_, err := propose(t, bob, id, step)
		wantCode(t, err, changeset.CodeNotYours)
	}
	if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
	other := p.open(t, options())
	if c, err := other.Get(t.Context(), id); err != nil || c.Writer != "ada" {
		t.Errorf("read %+v, %v", c, err)
	}
	again, err := other.Bind("ada", everything())
	if err != nil {
		t.Fatal(err)
	}
	_, err = propose(t, again, id, "update setup Text")
	wantCode(t, err, "")
}

// TestBind checks what cannot be bound.
func TestBind(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), nil)
	for _, test := range []struct {
		name   string
		writer string
		policy changeset.Policy
	}{
		{"no name", "", everything()},
		{"two lines", "a\nb", everything()},
		{"long name", strings.Repeat("a", 101), everything()},
		{"no operation", "ada", changeset.Policy{Allow: []changeset.Op{"apply"}}},
		{"empty part", "ada", changeset.Policy{Paths: []string{"a//b"}}},
		{"part that leaves", "ada", changeset.Policy{Paths: []string{"../**"}}},
		{"broken class", "ada", changeset.Policy{Paths: []string{"[a"}}},
		{"long pattern", "ada", changeset.Policy{Paths: []string{strings.Repeat("a", 1025)}}},
		{"many kinds", "ada", changeset.Policy{Kinds: make([]string, 257)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := p.store.Bind(test.writer, test.policy)
			wantCode(t, err, changeset.CodeOptions)
		})
	}
	t.Run("many writers", func(t *testing.T) {
		t.Parallel()
		p := newProject(t, options(), nil)
		for i := range 300 {
			_, err := p.store.Bind(fmt.Sprint("writer ", i), changeset.Policy{})
			if want := i >= 256; (changeset.CodeOf(err) == changeset.CodeOptions) != want {
				t.Fatalf("writer %d: %v", i, err)
			}
		}
		if _, err := p.store.Bind("writer 1", changeset.Policy{}); err != nil {
			t.Errorf("the same again: %v", err)
		}
	})
}

// TestLimits fills what is bounded.
func TestLimits(t *testing.T) {
	t.Parallel()
	opts := options()
	opts.MaxChangesets, opts.MaxOperations, opts.MaxBytes = 2, 2, 3000
	p := newProject(t, opts, handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	begin(t, w)
	_, err := w.Create(t.Context(), "Third", "")
	wantCode(t, err, changeset.CodeTooMany)
	for _, step := range []string{"create a a.md", "create b b.md"} {
		_, err := propose(t, w, id, step)
		wantCode(t, err, "")
	}
	_, err = propose(t, w, id, "create c c.md")
	wantCode(t, err, changeset.CodeTooMany)
	_, err = propose(t, w, id, "update a "+strings.Repeat("long ", 600))
	wantCode(t, err, changeset.CodeTooLarge)
	_, err = propose(t, w, id, "update a short")
	wantCode(t, err, "")
	_, err = propose(t, w, id, "delete b")
	wantCode(t, err, "")
	_, err = propose(t, w, id, "create c c.md")
	wantCode(t, err, "")
	if err := os.Remove(p.path(".mcpdocs/changesets/" + id + ".changeset")); err != nil {
		t.Fatal(err)
	}
	begin(t, w)
}

// TestLargeNode refuses to change a node that is too large to be shown.
func TestLargeNode(t *testing.T) {
	t.Parallel()
	opts := options()
	opts.MaxFileBytes = 100
	files := handbook()
	files["docs/large.md"] = strings.Repeat("words ", 20)
	p := newProject(t, opts, files)
	w := p.writer(t, "ada")
	id := begin(t, w)
	for _, step := range []string{"update large Text", "move large b.md", "delete large"} {
		_, err := propose(t, w, id, step)
		wantCode(t, err, changeset.CodeTooLarge)
	}
}

// A faulty source does what it is told to.
type faulty struct {
	folder
	snapshot func() (*changeset.Snapshot, error)
	read     func() ([]byte, error)
}

func (f faulty) Snapshot(ctx context.Context) (*changeset.Snapshot, error) {
	if f.snapshot != nil {
		return f.snapshot()
	}
	return f.folder.Snapshot(ctx)
}

func (f faulty) Read(ctx context.Context, p string) ([]byte, error) {
	if f.read != nil {
		return f.read()
	}
	return f.folder.Read(ctx, p)
}

// TestSourceFails tells failures of the source from others, and stores nothing
// that it lies about.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, test := range []struct {
		name string
		src  faulty
		want changeset.Code
	}{
		{"no snapshot", faulty{snapshot: func() (*changeset.Snapshot, error) { return nil, nil }}, changeset.CodeSource},
		{"snapshot fails", faulty{snapshot: func() (*changeset.Snapshot, error) { return nil, broken }}, changeset.CodeSource},
		{"snapshot panics", faulty{snapshot: func() (*changeset.Snapshot, error) { panic(broken) }}, changeset.CodeSource},
		{"reading fails", faulty{read: func() ([]byte, error) { return nil, broken }}, changeset.CodeSource},
		{"reading panics", faulty{read: func() ([]byte, error) { panic("no") }}, changeset.CodeSource},
		{"other bytes", faulty{read: func() ([]byte, error) { return []byte("other"), nil }}, changeset.CodeStale},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			id := begin(t, p.writer(t, "ada"))
			before := treetest.Read(t, p.dir)
			test.src.folder = p.source()
			w := p.writerOn(t, test.src)
			for _, step := range []string{"update setup Text", "move setup b.md", "delete setup"} {
				_, err := propose(t, w, id, step)
				wantCode(t, err, test.want)
				if strings.HasSuffix(test.name, "fails") && !errors.Is(err, broken) {
					t.Errorf("%v does not lead to its cause", err)
				}
			}
			if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
				t.Errorf("something was written (-before +after):\n%s", diff)
			}
		})
	}
}

// TestContext checks that a call whose context has ended does nothing.
func TestContext(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	before := treetest.Read(t, p.dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"create":   func() error { _, err := w.Create(ctx, "a", ""); return err },
		"propose":  func() error { _, err := w.ProposeDelete(ctx, id, "setup"); return err },
		"get":      func() error { _, err := p.store.Get(ctx, id); return err },
		"list":     func() error { _, err := p.store.List(ctx); return err },
		"validate": func() error { _, err := p.store.Validate(ctx, id); return err },
		"diff":     func() error { _, err := p.store.Diff(ctx, id); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
}
