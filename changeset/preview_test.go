package changeset_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/textdiff"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// TestDiff applies what Diff shows to the old files, which must give the
// proposed ones.
func TestDiff(t *testing.T) {
	t.Parallel()
	p, id, _ := stored(t)
	diffs, err := p.store.Diff(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		Op               changeset.Op
		ID, Old, New     string
		Added, Removed   int
		From, To, Header string
	}
	var got []shown
	operations := p.get(t, id).Operations
	for i, d := range diffs {
		old := []byte(handbook()["docs/"+d.OldPath])
		raw, err := textdiff.Apply(old, []byte(d.Unified))
		if err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		if want := operations[i].NewHash; want != "" && canon.Sum(raw) != want || want == "" && len(raw) > 0 {
			t.Errorf("%s: the diff gives %q, which is not what was proposed", d.ID, raw)
		}
		header := ""
		for line := range strings.Lines(d.Unified) {
			if strings.HasPrefix(line, "@@") {
				break
			}
			header += strings.TrimSuffix(line, "\n") + " "
		}
		got = append(got, shown{Op: d.Op, ID: d.ID, Old: d.OldPath, New: d.NewPath, Added: d.Added, Removed: d.Removed, Header: header})
	}
	want := []shown{
		{Op: "create", ID: "new", New: "new.md", Added: 6, Header: "diff --git a/docs/new.md b/docs/new.md new file mode 100644 --- /dev/null +++ b/docs/new.md "},
		{Op: "update", ID: "setup", Old: "setup.md", New: "setup.md", Added: 1, Removed: 3, Header: "diff --git a/docs/setup.md b/docs/setup.md --- a/docs/setup.md +++ b/docs/setup.md "},
		{Op: "move", ID: "notes/plain", Old: "notes/plain.md", New: "b.md", Header: "diff --git a/docs/notes/plain.md b/docs/b.md rename from docs/notes/plain.md rename to docs/b.md "},
		{Op: "delete", ID: "limits", Old: "spec/limits.md", Removed: 7, Header: "diff --git a/docs/spec/limits.md b/docs/spec/limits.md deleted file mode 100644 --- a/docs/spec/limits.md +++ /dev/null "},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diffs (-want +got):\n%s", diff)
	}
	// What was proposed is shown, whatever becomes of the project.
	p.write(t, "docs/setup.md", "else")
	if err := os.Remove(p.path("docs/spec/limits.md")); err != nil {
		t.Fatal(err)
	}
	again, err := p.store.Diff(t.Context(), id)
	if diff := cmp.Diff(diffs, again); diff != "" || err != nil {
		t.Errorf("after the project changed, %v (-before +after):\n%s", err, diff)
	}
}

// TestDiffApplies has git carry out the diffs of all operations in one patch.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	p, id, _ := stored(t)
	w := p.writer(t, "ada")
	for _, step := range []string{"update b Other text.", "move terms sub/words of.md", "create again notes/plain.md"} {
		if _, err := propose(t, w, id, step); err != nil {
			t.Fatal(err)
		}
	}
	diffs, err := p.store.Diff(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var patch strings.Builder
	for _, d := range diffs {
		patch.WriteString(d.Unified)
	}
	cmd := exec.Command("git", "apply", "--whitespace=nowarn")
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(patch.String())
	cmd.Env = append(os.Environ(), "GIT_DIR=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, patch.String())
	}
	after := treetest.Read(t, p.path("docs"))
	for _, o := range p.get(t, id).Operations {
		if text, there := after[o.NewPath]; there != (o.NewPath != "") || there && canon.Sum([]byte(text)) != o.NewHash {
			t.Errorf("%s %s: %q is not what was proposed", o.Op, o.NewPath, text)
		}
		if _, there := after["spec/terms.md"]; there {
			t.Error("what moved is where it was")
		}
	}
}

// TestDiffPaths writes the paths of diffs as the root has them, whatever the docs
// folder is.
func TestDiffPaths(t *testing.T) {
	t.Parallel()
	for docs, want := range map[string]string{
		".":   "diff --git a/old.md b/new.md\nrename from old.md\nrename to new.md\n",
		"a/b": "diff --git a/a/b/old.md b/a/b/new.md\nrename from a/b/old.md\nrename to a/b/new.md\n",
	} {
		p := &project{dir: t.TempDir()}
		p.write(t, path.Join(docs, "old.md"), "---\nid: old\n---\nOld.\n")
		store, err := changeset.Open(p.dir, folder(p.path(docs)), &changeset.Options{Docs: docs})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		p.store = store
		w := p.writer(t, "ada")
		id := begin(t, w)
		if _, err := propose(t, w, id, "move old new.md"); err != nil {
			t.Fatal(err)
		}
		diffs, err := store.Diff(t.Context(), id)
		if err != nil || len(diffs) != 1 || diffs[0].Unified != want || diffs[0].OldPath != "old.md" || diffs[0].NewPath != "new.md" {
			t.Errorf("docs in %q: %+v, %v", docs, diffs, err)
		}
	}
}

// TestDiffRemembered counts how often diffs are computed, and bounds what is
// kept of them.
func TestDiffRemembered(t *testing.T) {
	t.Parallel()
	opts := options()
	opts.MaxBytes, opts.MaxFileBytes = 64<<20, 32<<20
	p := newProject(t, opts, handbook())
	w := p.writer(t, "ada")
	diff := func(id string, want int) []changeset.NodeDiff {
		t.Helper()
		diffs, err := p.store.Diff(t.Context(), id)
		times, bytes := changeset.Diffed(p.store)
		if err != nil || times != want || bytes > changeset.MaxMemory {
			t.Fatalf("%v, computed %d times, want %d, and %d bytes are kept", err, times, want, bytes)
		}
		return diffs
	}
	first, second, large := begin(t, w), begin(t, w), begin(t, w)
	text := func(mib int) string { return "update setup " + strings.Repeat("0123456789abcde\n", mib<<16) }
	for id, step := range map[string]string{first: "create one one.md", second: text(10), large: text(20)} {
		if _, err := propose(t, w, id, step); err != nil {
			t.Fatal(err)
		}
	}
	diffs := diff(first, 1)
	want := slices.Clone(diffs)
	diffs[0].Unified = "somebody else's"
	if d := cmp.Diff(want, diff(first, 1)); d != "" {
		t.Errorf("what a caller changed is kept (-want +got):\n%s", d)
	}
	diff(second, 2)
	diff(first, 2)
	diff(second, 2)
	diff(large, 3) // which does not fit
	diff(large, 4)
	diff(second, 4)
	diff(first, 4)
	if _, err := propose(t, w, second, "create more more.md"); err != nil {
		t.Fatal(err)
	}
	if diffs := diff(second, 5); len(diffs) != 2 { // in the place of the one before
		t.Errorf("%d diffs after another proposal", len(diffs))
	}
	diff(first, 5) // it was used after the one that had to go
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, id := range []string{first, second} {
				if _, err := p.store.Diff(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if times, _ := changeset.Diffed(p.store); times != 5 {
		t.Errorf("computed %d times by several at once", times)
	}
}

// TestPreview checks where a page is written, that it is what was reported, and
// that it is always the same.
func TestPreview(t *testing.T) {
	t.Parallel()
	p, id, _ := stored(t)
	before := treetest.Read(t, p.dir)
	first, err := p.store.Preview(t.Context(), id, "review")
	if err != nil {
		t.Fatal(err)
	}
	if want := ".mcpdocs/previews/" + id + "-review.html"; first.Path != want {
		t.Errorf("written to %q, want %q", first.Path, want)
	}
	after := treetest.Read(t, p.dir)
	html := after[first.Path]
	if canon.Sum([]byte(html)) != first.SHA256 {
		t.Error("the hash is not that of the file")
	}
	for _, want := range []string{"Why it is needed.", "notes/plain.md", "New text.", p.get(t, id).Digest, id, "ada"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	delete(after, first.Path)
	delete(after, ".mcpdocs/previews/")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("something else was written (-before +after):\n%s", diff)
	}
	again, err := p.open(t, options()).Preview(t.Context(), id, "review")
	if err != nil || again != first {
		t.Errorf("again it is %+v, %v; before it was %+v", again, err, first)
	}
	p.write(t, "docs/setup.md", "else")
	stale, err := p.store.Preview(t.Context(), id, "review")
	if err != nil || stale.Path != first.Path || stale.SHA256 == first.SHA256 {
		t.Errorf("of the changed project it is %+v, %v", stale, err)
	}
	if html := treetest.Read(t, p.dir)[first.Path]; !strings.Contains(html, "base_stale") || strings.Count(html, "<!doctype html>")+strings.Count(html, "<!DOCTYPE html>") != 1 {
		t.Error("the page was not replaced as a whole by one that shows base_stale")
	}
	outline, err := p.store.Preview(t.Context(), id, "outline")
	if err != nil || outline.Path != ".mcpdocs/previews/"+id+"-outline.html" {
		t.Errorf("the outline is %+v, %v", outline, err)
	}
}

// TestPreviewRefused offers views and changesets that there are none of, and a
// folder that leads elsewhere.
func TestPreviewRefused(t *testing.T) {
	t.Parallel()
	p, id, _ := stored(t)
	before := treetest.Read(t, p.dir)
	for _, view := range []string{"", "html", "Review", "../review", "review/../../x", "review.html"} {
		_, err := p.store.Preview(t.Context(), id, view)
		wantCode(t, err, changeset.CodeView)
		_, err = p.store.Render(t.Context(), view)
		wantCode(t, err, changeset.CodeView)
		if !strings.HasSuffix(err.Error(), `; declared: "review", "outline"`) {
			t.Errorf("%v does not say which views there are", err)
		}
	}
	for _, id := range []string{"", "../../docs/setup", id + "/..", "cs-" + strings.Repeat("b", 26)} {
		_, err := p.store.Preview(t.Context(), id, "review")
		wantCode(t, err, changeset.CodeUnknown)
	}
	if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
	for i := range 1025 {
		p.write(t, fmt.Sprintf(".mcpdocs/previews/%d.html", i), "")
	}
	_, err := p.store.Preview(t.Context(), id, "review")
	wantCode(t, err, changeset.CodeTooMany)
	if err := os.RemoveAll(p.path(".mcpdocs/previews")); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, p.path(".mcpdocs/previews")); err != nil {
		t.Fatal(err)
	}
	_, err = p.store.Preview(t.Context(), id, "review")
	wantCode(t, err, changeset.CodeIO)
	if got := treetest.Read(t, outside); len(got) != 0 {
		t.Errorf("written through a link: %v", got)
	}
}

// TestRenderStatus compares outputs with what they should be.
func TestRenderStatus(t *testing.T) {
	t.Parallel()
	opts := options()
	opts.Outputs = []changeset.Output{
		{View: "outline", Path: "site/outline.html"},
		{View: "outline", Path: "site/current.html"},
		{View: "review", Path: "site/missing/review.html"},
		{View: "review", Path: "site/folder"},
		{View: "review", Path: "site/link.html"},
		{View: "review", Path: "docs/inside.html"},
	}
	p := newProject(t, opts, handbook())
	html, err := p.store.Render(t.Context(), "outline")
	if err != nil {
		t.Fatal(err)
	}
	review, err := p.store.Render(t.Context(), "review")
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "site/current.html", string(html))
	p.write(t, "site/folder/x", "")
	if err := os.Symlink("current.html", p.path("site/link.html")); err != nil {
		t.Fatal(err)
	}
	// Neither a changeset nor its preview changes what is expected.
	id := begin(t, p.writer(t, "ada"))
	if _, err := p.store.Preview(t.Context(), id, "outline"); err != nil {
		t.Fatal(err)
	}
	before := treetest.Read(t, p.dir)
	got, err := p.store.RenderStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, other := canon.Sum(html), canon.Sum(review)
	want := []changeset.OutputStatus{
		{Path: "site/outline.html", View: "outline", Expected: sum, Actual: canon.Sum([]byte("an old outline\n")), State: "stale"},
		{Path: "site/current.html", View: "outline", Expected: sum, Actual: sum, State: "current"},
		{Path: "site/missing/review.html", View: "review", Expected: other, State: "missing"},
		{Path: "site/folder", View: "review", Expected: other, State: "unreadable"},
		{Path: "site/link.html", View: "review", Expected: other, State: "unreadable"},
		{Path: "docs/inside.html", View: "review", Expected: other, State: "missing"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, treetest.Read(t, p.dir)); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
	if !strings.Contains(string(html), "Limits") {
		t.Error("the outline does not show the nodes")
	}
}
