package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/stage"
)

// Names of the variables that make the test program a child that promotes.
const (
	childDir  = "STAGE_TEST_DIR"
	childMode = "STAGE_TEST_MODE"
	childAt   = "STAGE_TEST_AT"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		os.Exit(m.Run())
	case "kill":
		os.Exit(killChild())
	case "race":
		os.Exit(raceChild())
	case "cut":
		os.Exit(cutChild())
	}
	os.Exit(2)
}

// self runs the test program as a child.
func self(ctx context.Context, dir, mode string, at int) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir, childMode+"="+mode, childAt+"="+strconv.Itoa(at), "GOCOVERDIR="+filepath.Join(dir, areaDir), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A tripwire is a file system that does something before a change.
type tripwire struct {
	stage.Files
	trip func()
}

func (w *tripwire) Create(p string, perm fs.FileMode) (stage.NewFile, error) {
	w.trip()
	f, err := w.Files.Create(p, perm)
	if err != nil {
		return nil, err
	}
	return &tripwireFile{f, w.trip}, nil
}

type tripwireFile struct {
	stage.NewFile
	trip func()
}

func (f *tripwireFile) Write(p []byte) (int, error) { f.trip(); return f.NewFile.Write(p) }
func (f *tripwireFile) Sync() error                 { f.trip(); return f.NewFile.Sync() }

func (w *tripwire) Copy(from, to string, limit int64, perm fs.FileMode) ([32]byte, int64, error) {
	w.trip()
	return w.Files.Copy(from, to, limit, perm)
}

func (w *tripwire) MkdirAll(p string, perm fs.FileMode) error {
	w.trip()
	return w.Files.MkdirAll(p, perm)
}
func (w *tripwire) Rename(from, to string) error { w.trip(); return w.Files.Rename(from, to) }
func (w *tripwire) Remove(p string) error        { w.trip(); return w.Files.Remove(p) }
func (w *tripwire) SyncDir(dir string) error     { w.trip(); return w.Files.SyncDir(dir) }

// tripped opens an area in which the change number at runs what.
func tripped(dir string, at int, what func()) (*stage.Area, error) {
	area, err := stage.Open(dir, allowDocs())
	if err != nil {
		return nil, err
	}
	count := 0
	return stage.OpenOn(&tripwire{stage.FilesOf(area), func() {
		if count++; count == at {
			what()
		}
	}}, allowDocs())
}

// flip is a promotion back and forth between two states of five files.
type flip struct{ files [2]map[string]string }

func newFlip() flip {
	var f flip
	for i := range f.files {
		f.files[i] = map[string]string{}
		for j := range 4 {
			f.files[i][fmt.Sprintf("docs/%d/f%d.md", j%2, j)] = fmt.Sprintf("state %d of file %d", i, j)
		}
	}
	f.files[1]["docs/new/only.md"] = "only in state 1"
	return f
}

// stage stages the files of state i.
func (f flip) stage(ctx context.Context, dir string, area *stage.Area, i int) (stage.Plan, error) {
	id := "state-" + strconv.Itoa(i)
	var names, remove []string
	for p := range f.files[i] {
		names = append(names, p)
	}
	for p := range f.files[1-i] {
		if _, ok := f.files[i][p]; !ok {
			remove = append(remove, p)
		}
	}
	prepared, err := area.Prepare(ctx, id, names)
	if err != nil {
		return stage.Plan{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return stage.Plan{}, err
	}
	defer root.Close()
	for p, text := range f.files[i] {
		p = prepared.Dir + "/" + p
		if err := errors.Join(root.MkdirAll(path.Dir(p), 0o755), root.WriteFile(p, []byte(text), 0o644)); err != nil {
			return stage.Plan{}, err
		}
	}
	m, err := area.Inspect(ctx, id)
	if err != nil {
		return stage.Plan{}, err
	}
	return area.Plan(ctx, m, nil, remove)
}

// write writes the files of state i without a promotion.
func (f flip) write(tb testing.TB, p *project, i int) {
	tb.Helper()
	for name, text := range f.files[i] {
		p.write(tb, name, text)
	}
}

// killChild promotes to state 1 and kills itself at a change.
func killChild() int {
	at, _ := strconv.Atoi(os.Getenv(childAt))
	dir, ctx := os.Getenv(childDir), context.Background()
	plain, err := stage.Open(dir, allowDocs())
	if err != nil {
		return 3
	}
	plan, err := newFlip().stage(ctx, dir, plain, 1)
	if err != nil {
		return 4
	}
	plan.Approval = approval(1)
	area, err := tripped(dir, at, func() {
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	})
	if err != nil {
		return 5
	}
	if _, err := area.Promote(ctx, plan); err != nil {
		return 6
	}
	return 0
}

// TestKill kills real processes in the middle of a promotion, at every change
// they make in turn, and goes on with what they left.
func TestKill(t *testing.T) {
	t.Parallel()
	f := newFlip()
	killed, acknowledged, bad := 0, 0, 0
	at := 1
	for range killPoints {
		p := newProject(t, allowDocs(), nil)
		f.write(t, p, 0)
		err := self(t.Context(), p.dir, "kill", at).Run()
		exit, _ := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			acknowledged++
			at = 0
		case exit != nil && exit.ExitCode() == -1:
			killed++
		default:
			t.Fatalf("child: %v", err)
		}
		at++
		if what := afterCrash(t, p.dir, f, err == nil); what != "" {
			bad++
			t.Errorf("killed at change %d: %s", at-1, what)
		}
	}
	t.Logf("processes %d, killed %d, acknowledged %d, bad %d, reopened %d", killPoints, killed, acknowledged, bad, killPoints-bad)
}

// afterCrash goes on with a project that was on the way from state 0 to state
// 1, and says what is wrong with it.
func afterCrash(t *testing.T, dir string, f flip, acknowledged bool) string {
	t.Helper()
	p := &project{dir: dir}
	area, err := stage.Open(dir, allowDocs())
	if err != nil {
		return err.Error()
	}
	defer area.Close()
	if _, err := area.Recover(t.Context()); err != nil {
		return err.Error()
	}
	_, done, err := area.Receipt(approval(1))
	if err != nil {
		return err.Error()
	}
	tree := treetest.Read(t, p.dir, areaDir)
	delete(tree, "lost+found/")
	switch {
	case acknowledged && !done:
		return "an acknowledged promotion is lost"
	case done && !maps.Equal(tree, f.files[1]), !done && !maps.Equal(tree, f.files[0]):
		return fmt.Sprintf("receipt %t, project %v", done, tree)
	}
	plan, err := f.stage(t.Context(), dir, area, 1)
	if err != nil {
		return err.Error()
	}
	if _, err := area.Promote(t.Context(), plan); err != nil {
		return err.Error()
	}
	return ""
}

// raceChild promotes one file as often as it can: it adds its number to it.
func raceChild() int {
	ctx, dir := context.Background(), os.Getenv(childDir)
	id := "child-" + os.Getenv(childAt)
	area, err := stage.Open(dir, allowDocs())
	if err != nil {
		return 3
	}
	for done := 0; done < racePromotions; {
		err := addLine(ctx, area, dir, id)
		if err == nil {
			done++
		} else if stage.CodeOf(err) != stage.CodeStale {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
	}
	return 0
}

// addLine promotes docs/log.md with one more line.
func addLine(ctx context.Context, area *stage.Area, dir, id string) error {
	prepared, err := area.Prepare(ctx, id, []string{"docs/log.md"})
	if err != nil {
		return err
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		return err
	}
	defer root.Close()
	staged := prepared.Dir + "/docs/log.md"
	// The base is read before the content, so that a change between the two
	// is found by the promotion.
	if err := errors.Join(root.MkdirAll(path.Dir(staged), 0o755), root.WriteFile(staged, nil, 0o644)); err != nil {
		return err
	}
	m, err := area.Inspect(ctx, id)
	if err != nil {
		return err
	}
	base, err := area.Plan(ctx, m, nil, nil)
	if err != nil {
		return err
	}
	old, err := root.ReadFile("docs/log.md", 1<<20)
	if err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
		return &stage.Error{Code: stage.CodeStale, Err: err}
	}
	if err := root.WriteFile(staged, append(old, id+"\n"...), 0o644); err != nil {
		return err
	}
	if m, err = area.Inspect(ctx, id); err != nil {
		return err
	}
	plan, err := area.Plan(ctx, m, nil, nil)
	if err != nil {
		return err
	}
	plan.Base = base.Base
	_, err = area.Promote(ctx, plan)
	return err
}

// racePromotions is how many promotions each of raceProcesses makes.
const (
	racePromotions = 5
	raceProcesses  = 4
)

// TestProcesses lets several processes change one file at once: no change may
// be lost, and nothing left over.
func TestProcesses(t *testing.T) {
	p := newProject(t, allowDocs(), nil)
	var wg sync.WaitGroup
	for i := range raceProcesses {
		wg.Go(func() {
			if out, err := self(t.Context(), p.dir, "race", i).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v %s", i, err, out)
			}
		})
	}
	wg.Wait()
	lines := map[string]int{}
	for _, line := range splitLines(p.tree(t)["docs/log.md"]) {
		lines[line]++
	}
	for i := range raceProcesses {
		if id := "child-" + strconv.Itoa(i); lines[id] != racePromotions {
			t.Errorf("%s has %d lines, want %d", id, lines[id], racePromotions)
		}
	}
	r, err := p.area.Recover(t.Context())
	if err != nil || r.Operation != "" {
		t.Errorf("left over: %v, %v", r, err)
	}
}

func splitLines(s string) []string {
	var lines []string
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '\n' {
			i++
		}
		lines = append(lines, s[:i])
		s = s[min(i+1, len(s)):]
	}
	return lines
}
