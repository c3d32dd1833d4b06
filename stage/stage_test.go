package stage_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/stage"
)

func TestPromote(t *testing.T) {
	p := newProject(t, allowDocs(), map[string]string{
		"docs/plan.md": "old plan", "docs/gone.md": "to be removed", "docs/other.md": "not touched", "index.md": "old index",
	})
	p.prepare(t, "new-plan", map[string]string{"docs/plan.md": "new plan", "docs/deep/er/note.md": "a note"})
	plan := p.plan(t, "new-plan", []stage.Generated{{Path: "index.md", Data: []byte("new index")}}, []string{"docs/gone.md"})
	plan.Approval = approval(1)

	receipt, err := p.area.Promote(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"docs/plan.md": "new plan", "docs/deep/er/note.md": "a note", "docs/other.md": "not touched", "index.md": "new index",
	}
	if diff := cmp.Diff(want, p.tree(t)); diff != "" {
		t.Errorf("project after promotion (-want +got):\n%s", diff)
	}
	wantReceipt := stage.Receipt{
		Operation: receipt.Operation, Candidate: "new-plan", Approval: approval(1),
		Digest: plan.Digest(), Manifest: plan.Manifest.Digest, Files: plan.Changes(),
	}
	if diff := cmp.Diff(wantReceipt, receipt, cmpopts.IgnoreUnexported(stage.Change{})); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	again, err := p.area.Promote(t.Context(), plan)
	if err != nil {
		t.Fatalf("second promotion with the same approval: %v", err)
	}
	if diff := cmp.Diff(receipt, again, cmpopts.IgnoreUnexported(stage.Change{})); diff != "" {
		t.Errorf("receipt of the second promotion (-first +second):\n%s", diff)
	}
	wantArea := []string{".gitignore", "lock", "receipts", "stage", "undo"}
	entries, err := os.ReadDir(p.path(".mcpcontract"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(wantArea, names); diff != "" {
		t.Errorf("area after promotion (-want +got):\n%s", diff)
	}
}

func TestPromoteStale(t *testing.T) {
	p := newProject(t, allowDocs(), map[string]string{"docs/plan.md": "old plan", "docs/note.md": "old note"})
	p.prepare(t, "new-plan", map[string]string{"docs/plan.md": "new plan", "docs/note.md": "new note", "docs/new.md": "new"})
	plan := p.plan(t, "new-plan", nil, nil)
	p.write(t, "docs/note.md", "edited note")
	p.write(t, "docs/new.md", "made by somebody else")
	before := p.tree(t)

	_, err := p.area.Promote(t.Context(), plan)
	wantCode(t, err, stage.CodeStale)
	e := err.(*stage.Error) //nolint:errorlint // the very type is promised
	if diff := cmp.Diff([]string{"docs/new.md", "docs/note.md"}, e.Paths); diff != "" {
		t.Errorf("paths of the error (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, p.tree(t)); diff != "" {
		t.Errorf("project after refused promotion (-want +got):\n%s", diff)
	}
}

// TestLockTimeout has another process hold the lock without end, as one does that
// is stopped. No call has a deadline of its own.
func TestLockTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: time.Second} {
		opts := allowDocs()
		opts.LockTimeout = timeout
		p := newProject(t, opts, nil)
		p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
		plan := p.plan(t, "one", nil, nil)
		held, err := p.open(t, nil).Lock(t.Context())
		must(t, err)
		synctest.Test(t, func(t *testing.T) {
			for name, call := range map[string]func() error{
				"prepare": func() error { _, err := p.area.Prepare(t.Context(), "two", []string{"docs/a.md"}); return err },
				"discard": func() error { _, err := p.area.Discard(t.Context(), "one"); return err },
				"lock":    func() error { _, err := p.area.Lock(t.Context()); return err },
				"promote": func() error { _, err := p.area.Promote(t.Context(), plan); return err },
				"recover": func() error { _, err := p.area.Recover(t.Context()); return err },
				"abort":   func() error { _, err := p.area.Abort(t.Context(), "op-0000000001-abcdefgh"); return err },
			} {
				from := time.Now()
				err := call()
				wantCode(t, err, stage.CodeLocked)
				if took := time.Since(from); took < want || took > want+time.Second {
					t.Errorf("%s: it waited %v, want %v", name, took, want)
				}
			}
			from := time.Now()
			if _, err := p.area.Inspect(t.Context(), "one"); err != nil || time.Since(from) > 0 {
				t.Errorf("reading waits for the lock: %v, %v", time.Since(from), err)
			}
		})
		must(t, held.Unlock())
	}
}

func TestLock(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	p.prepare(t, "one", map[string]string{"docs/a.md": "a"})
	plan := p.plan(t, "one", nil, nil)
	lock, err := p.area.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.open(t, allowDocs()).Lock(ctx)
	wantCode(t, err, stage.CodeLocked)
	if _, err := lock.Promote(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = lock.Promote(t.Context(), plan)
	wantCode(t, err, stage.CodeReleased)
}
