package changeset_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
)

// Names of the variables that make the test program a child that proposes.
const (
	childDir  = "CHANGESET_TEST_DIR"
	childMode = "CHANGESET_TEST_MODE"
	childAt   = "CHANGESET_TEST_AT"
	childID   = "CHANGESET_TEST_ID"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		os.Exit(m.Run())
	case "kill":
		os.Exit(killChild())
	case "race":
		os.Exit(raceChild())
	}
	os.Exit(2)
}

// self runs the test program as a child.
func self(ctx context.Context, dir, mode, id string, at int) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childMode+"="+mode, childID+"="+id, childAt+"="+strconv.Itoa(at), "GOCOVERDIR="+dir, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A tripwire is a file system that does something before each change.
type tripwire struct {
	changeset.Files
	trip func(op, p string) error
}

func (w *tripwire) Create(p string, perm fs.FileMode) (changeset.NewFile, error) {
	if err := w.trip("create", p); err != nil {
		return nil, err
	}
	f, err := w.Files.Create(p, perm)
	if err != nil {
		return nil, err
	}
	return &tripwireFile{f, p, w}, nil
}

type tripwireFile struct {
	changeset.NewFile
	path string
	w    *tripwire
}

func (f *tripwireFile) Write(p []byte) (int, error) {
	if err := f.w.trip("write", f.path); err != nil {
		n, _ := f.NewFile.Write(p[:len(p)/2]) // as a full disk does
		return n, err
	}
	return f.NewFile.Write(p)
}

func (f *tripwireFile) Sync() error {
	if err := f.w.trip("sync", f.path); err != nil {
		return err
	}
	return f.NewFile.Sync()
}

func (f *tripwireFile) Close() error {
	if err := f.w.trip("close", f.path); err != nil {
		return errors.Join(err, f.NewFile.Close())
	}
	return f.NewFile.Close()
}

func (w *tripwire) MkdirAll(p string, perm fs.FileMode) error {
	if err := w.trip("mkdir", p); err != nil {
		return err
	}
	return w.Files.MkdirAll(p, perm)
}

func (w *tripwire) Rename(from, to string) error {
	if err := w.trip("rename", to); err != nil {
		return err
	}
	return w.Files.Rename(from, to)
}

func (w *tripwire) Remove(p string) error {
	if err := w.trip("remove", p); err != nil {
		return err
	}
	return w.Files.Remove(p)
}

func (w *tripwire) SyncDir(dir string) error {
	if err := w.trip("syncdir", dir); err != nil {
		return err
	}
	return w.Files.SyncDir(dir)
}

func (w *tripwire) Lock(ctx context.Context, p string) (changeset.Unlocker, error) {
	if err := w.trip("lock", p); err != nil {
		return nil, err
	}
	return w.Files.Lock(ctx, p)
}

func (w *tripwire) ReadFile(p string, limit int64) ([]byte, error) {
	if err := w.trip("read", p); err != nil {
		return nil, err
	}
	return w.Files.ReadFile(p, limit)
}

func (w *tripwire) ReadDir(dir string, limit int) ([]rootfs.Info, error) {
	if err := w.trip("readdir", dir); err != nil {
		return nil, err
	}
	return w.Files.ReadDir(dir, limit)
}

// tripped opens a store whose calls of the file system trip sees.
func tripped(dir string, trip func(op, p string) error) (*changeset.Store, error) {
	src := folder(filepath.Join(dir, "docs"))
	plain, err := changeset.Open(dir, src, options())
	if err != nil {
		return nil, err
	}
	return changeset.OpenOn(&tripwire{changeset.FilesOf(plain), trip}, src, options(), func() string { return fixedID })
}

// fixedID is the id of every changeset of a store that tripped opened.
var fixedID = "cs-" + strings.Repeat("a", 26)

// killChild creates a changeset, or with an id proposes in it, and kills itself
// before a change.
func killChild() int {
	at, _ := strconv.Atoi(os.Getenv(childAt))
	ctx, count := context.Background(), 0
	s, err := tripped(os.Getenv(childDir), func(string, string) error {
		if count++; count == at {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
		return nil
	})
	if err != nil {
		return 3
	}
	w, err := s.Bind("ada", everything())
	if err != nil {
		return 4
	}
	if id := os.Getenv(childID); id != "" {
		_, err = w.ProposeUpdate(ctx, id, "setup", changeset.NodeEdit{Text: new(proposedText)})
	} else {
		_, err = w.Create(ctx, "A change", "Why it is needed.")
	}
	if err != nil {
		return 5
	}
	return 0
}

// proposedText is what the children propose.
var proposedText = strings.Repeat("A proposed line.\n", 1000)

// TestKill kills real processes in the middle of a creation and of a proposal,
// before every call of the file system in turn, and goes on with what they
// left.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"create", "propose"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			killed := 0
			for at := 1; ; at++ {
				p := newProject(t, options(), handbook())
				id := ""
				if what == "propose" {
					id = begin(t, p.writer(t, "ada"))
				}
				err := self(t.Context(), p.dir, "kill", id, at).Run()
				exit, _ := errors.AsType[*exec.ExitError](err)
				if exit == nil || exit.ExitCode() != -1 {
					if err != nil {
						t.Fatalf("child: %v", err)
					}
					p.afterCrash(t, id, true)
					break
				}
				killed++
				p.afterCrash(t, id, false)
			}
			t.Logf("killed %d", killed)
			if killed < 8 {
				t.Errorf("only %d points to be killed at", killed)
			}
		})
	}
}

// afterCrash checks that the changesets are as they were before or as they were
// to become, and that all can go on.
func (p *project) afterCrash(t *testing.T, id string, acknowledged bool) {
	t.Helper()
	list, err := p.store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := false
	switch id {
	case "":
		done = len(list) == 1
		if len(list) > 1 || done && (list[0].Damaged || list[0].Title != "A change") {
			t.Fatalf("changesets %+v", list)
		}
	default:
		if len(list) != 1 || list[0].ID != id || list[0].Damaged {
			t.Fatalf("the changeset is lost or damaged: %+v", list)
		}
		if done = len(list[0].Operations) == 1; done {
			diffs, err := p.store.Diff(t.Context(), id)
			if err != nil || diffs[0].Added != 1000 {
				t.Fatalf("the proposal is %+v, %v", diffs, err)
			}
		}
	}
	if acknowledged && !done {
		t.Error("what was acknowledged is lost")
	}
	w := p.writer(t, "ada")
	if id == "" {
		id = begin(t, w)
	}
	if _, err := propose(t, w, id, "update setup Other"); err != nil {
		t.Fatal(err)
	}
	p.wantNoTemp(t)
	if diff := cmp.Diff(handbook()["docs/setup.md"], treetest.Read(t, p.path("docs"))["setup.md"]); diff != "" {
		t.Errorf("the project changed (-before +after):\n%s", diff)
	}
}

// wantNoTemp checks that no unfinished file is left.
func (p *project) wantNoTemp(t *testing.T) {
	t.Helper()
	for name := range treetest.Read(t, p.path(".mcpdocs")) {
		if strings.Contains(name, rootfs.TempPrefix) {
			t.Errorf("%s is left", name)
		}
	}
}

// How much the children of TestProcesses propose.
const (
	raceProcesses = 4
	raceProposals = 6
)

// raceChild proposes nodes in a changeset of all, and creates some of its own.
func raceChild() int {
	dir, ctx := os.Getenv(childDir), context.Background()
	s, err := changeset.Open(dir, folder(filepath.Join(dir, "docs")), options())
	if err != nil {
		return 3
	}
	w, err := s.Bind("ada", everything())
	if err != nil {
		return 4
	}
	for i := range raceProposals {
		name := fmt.Sprintf("new-%s-%d", os.Getenv(childAt), i)
		_, err := w.ProposeCreate(ctx, os.Getenv(childID), changeset.NewNode{ID: name, Kind: "guide", Title: name, Path: name + ".md"})
		if err == nil {
			_, err = w.Create(ctx, name, "")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 5
		}
	}
	return 0
}

// TestDurable checks the order that a power cut needs: the content is synced
// before it gets its name, and the name before the call returns.
func TestDurable(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	var got []string
	s, err := tripped(p.dir, func(op, at string) error {
		if op != "read" && op != "readdir" {
			got = append(got, op+" "+strings.TrimPrefix(at, ".mcpdocs/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Bind("ada", everything())
	if err != nil {
		t.Fatal(err)
	}
	id := begin(t, w)
	for _, dir := range []string{"changesets", "previews"} {
		name := dir + "/" + id + ".changeset"
		want := []string{"mkdir .mcpdocs/changesets", "lock changesets/lock"}
		if dir == "previews" {
			name = dir + "/" + id + "-review.html"
			want = append(want, "mkdir previews")
			got = nil
			if _, err := s.Preview(t.Context(), id, "review"); err != nil {
				t.Fatal(err)
			}
		}
		temp := dir + "/.x-tmp-changeset"
		want = append(want, "remove "+temp, "create "+temp, "write "+temp, "sync "+temp, "close "+temp, "rename "+name, "syncdir "+dir)
		for i := range got {
			got[i] = strings.Replace(got[i], ".mcpdocs/", "", 1)
		}
		want[0] = "mkdir changesets"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", dir, diff)
		}
	}
}

// TestLocked lets another process hold the lock until the context ends.
func TestLocked(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	root, err := rootfs.Open(p.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := root.Lock(t.Context(), ".mcpdocs/changesets/lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := w.ProposeDelete(ctx, id, "setup")
		wantCode(t, err, changeset.CodeLocked)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not lead to its cause", err)
		}
	})
	if _, err := p.store.Validate(t.Context(), id); err != nil {
		t.Errorf("reading waits for the lock: %v", err)
	}
}

// TestLockTimeout lets another process hold the lock without end, as one does
// that is stopped. No call has a deadline of its own.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: time.Second} {
		opts := options()
		opts.LockTimeout = timeout
		p := newProject(t, opts, handbook())
		w := p.writer(t, "ada")
		id := begin(t, w)
		root, err := rootfs.Open(p.dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		lock, err := root.Lock(t.Context(), ".mcpdocs/changesets/lock")
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		synctest.Test(t, func(t *testing.T) {
			for name, call := range map[string]func() error{
				"create":  func() error { _, err := w.Create(t.Context(), "Title", ""); return err },
				"propose": func() error { _, err := w.ProposeDelete(t.Context(), id, "setup"); return err },
				"preview": func() error { _, err := p.store.Preview(t.Context(), id, "review"); return err },
			} {
				from := time.Now()
				err := call()
				wantCode(t, err, changeset.CodeLocked)
				if took := time.Since(from); took < want || took > want+time.Second {
					t.Errorf("%s: it waited %v, want %v", name, took, want)
				}
			}
			from := time.Now()
			if _, err := p.store.Diff(t.Context(), id); err != nil || time.Since(from) > 0 {
				t.Errorf("reading waits for the lock: %v, %v", time.Since(from), err)
			}
		})
	}
}

// TestProcesses lets several processes write at once: nothing may be lost.
func TestProcesses(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	id := begin(t, p.writer(t, "ada"))
	var wg sync.WaitGroup
	for i := range raceProcesses {
		wg.Go(func() {
			if out, err := self(t.Context(), p.dir, "race", id, i).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v %s", i, err, out)
			}
		})
	}
	wg.Wait()
	if got := len(p.get(t, id).Operations); got != raceProcesses*raceProposals {
		t.Errorf("%d operations, want %d", got, raceProcesses*raceProposals)
	}
	list, err := p.store.List(t.Context())
	if want := raceProcesses*raceProposals + 1; err != nil || len(list) != want {
		t.Errorf("%d changesets, %v, want %d", len(list), err, want)
	}
}

// TestGoroutines lets goroutines of one process write at once, and read.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	p := newProject(t, options(), handbook())
	w := p.writer(t, "ada")
	id := begin(t, w)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := propose(t, w, id, fmt.Sprintf("create n%d-%d n%d/%d.md", i, j, i, j)); err != nil {
					t.Error(err)
				}
				if v, err := p.store.Validate(t.Context(), id); err != nil || !v.Valid {
					t.Error(v, err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(p.get(t, id).Operations); got != 20 {
		t.Errorf("%d operations, want 20", got)
	}
}
