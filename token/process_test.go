package token_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/token"
)

// The tests of this file start the test binary again, with a role in
// roleEnv, as another process on the same store.
const roleEnv = "TOKEN_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	run := map[string]func(args []string) error{"compete": compete, "die": die}[role]
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// process makes the command for a process with a role.
func process(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

const competitors = 8

// manyOptions keep the tokens of all processes.
func manyOptions() *token.Options {
	return &token.Options{MaxRecords: 4000, MaxPerSubject: 4000}
}

// compete issues tokens, tells them to all, and then tries to use every token
// of every process. It prints the hash of each it was allowed to use.
func compete(args []string) error {
	dir, shared, index := args[0], args[1], args[2]
	ctx := context.Background()
	s, err := token.Open(dir, manyOptions())
	if err != nil {
		return err
	}
	var mine strings.Builder
	for range perProcess {
		tok, err := s.Issue(ctx, newClaim())
		if err != nil {
			return err
		}
		mine.WriteString(tok.Reveal() + "\n")
	}
	if err := os.WriteFile(filepath.Join(shared, index), []byte(mine.String()), 0o600); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	first, err := strconv.Atoi(index)
	if err != nil {
		return err
	}
	for i := range competitors {
		// Two processes each begin with the same list.
		list, err := os.ReadFile(filepath.Join(shared, strconv.Itoa((first/2+i)%competitors)))
		if err != nil {
			return err
		}
		for text := range strings.FieldsSeq(string(list)) {
			if err := try(ctx, s, text, index); err != nil {
				return err
			}
		}
	}
	return s.Close()
}

// try uses a token if nobody else did.
func try(ctx context.Context, s *token.Store, text, receipt string) error {
	lease, err := s.Begin(ctx, text, newClaim())
	switch token.CodeOf(err) {
	case "":
		fmt.Println("won", lease.Hash())
		return lease.Commit(ctx, []byte(receipt))
	case token.CodeBusy, token.CodeUsed:
		return nil
	}
	return err
}

// TestProcesses: 8 processes with perProcess tokens each all try to use all tokens.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir, shared := t.TempDir(), t.TempDir()
	type child struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
	}
	var children []child
	for i := range competitors {
		cmd := process(t.Context(), "compete", dir, shared, strconv.Itoa(i))
		in, errIn := cmd.StdinPipe()
		out, errOut := cmd.StdoutPipe()
		if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		children = append(children, child{cmd, in, bufio.NewReader(out)})
	}
	for _, c := range children {
		if line, err := c.out.ReadString('\n'); line != "ready\n" {
			t.Errorf("a process says %q and %v", line, err)
		}
	}
	for _, c := range children {
		fmt.Fprintln(c.in, "go")
	}
	won := map[string]int{}
	for i, c := range children {
		lines, err := io.ReadAll(c.out)
		if err := errors.Join(err, c.cmd.Wait()); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(string(lines)), "\n") {
			won[strings.TrimPrefix(line, "won ")]++
		}
	}
	double := 0
	for _, n := range won {
		if n > 1 {
			double++
		}
	}
	if len(won) != competitors*perProcess || double > 0 {
		t.Errorf("%d tokens were consumed, want %d; %d double", len(won), competitors*perProcess, double)
	}
	t.Logf("%d consumed, %d double", len(won), double)
	used := 0
	for _, state := range states(t, open(t, dir, manyOptions())) {
		if state == token.StateUsed {
			used++
		}
	}
	if used != competitors*perProcess {
		t.Errorf("%d records are used, want %d", used, competitors*perProcess)
	}
}

// die uses tokens on a store whose process kills itself at a call to the disk.
// It prints every acknowledgement.
func die(args []string) error {
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	below, err := token.RealDisk(args[0])
	if err != nil {
		return err
	}
	s, err := token.OpenOn(&deadlyDisk{TestDisk: below, left: at}, smallSlack, manyOptions())
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := range 1000 {
		tok, err := s.Issue(ctx, newClaim())
		if err != nil {
			return err
		}
		fmt.Println("issued", tok.Reveal())
		if i%3 == 2 {
			continue
		}
		lease, err := s.Begin(ctx, tok.Reveal(), newClaim())
		if err != nil {
			return err
		}
		fmt.Println("begun", tok.Reveal())
		if i%3 == 1 {
			continue
		}
		if err := lease.Commit(ctx, []byte(tok.Hash())); err != nil {
			return err
		}
		fmt.Println("done", tok.Reveal())
	}
	return errors.New("still alive")
}

// A deadlyDisk kills the process at a call. A write is half done by then.
type deadlyDisk struct {
	token.TestDisk
	left int
}

func (d *deadlyDisk) call() {
	if d.left == 0 {
		kill()
	}
	d.left--
}

func (d *deadlyDisk) Lock(ctx context.Context) (func() error, error) {
	d.call()
	return d.TestDisk.Lock(ctx)
}

func (d *deadlyDisk) Open() (token.TestFile, error) {
	d.call()
	f, err := d.TestDisk.Open()
	if err != nil {
		return nil, err
	}
	return &deadlyFile{f, d}, nil
}

func (d *deadlyDisk) Replace(data []byte) error {
	d.call()
	err := d.TestDisk.Replace(data)
	d.call()
	return err
}

func (d *deadlyDisk) SyncDir() error {
	d.call()
	return d.TestDisk.SyncDir()
}

type deadlyFile struct {
	token.TestFile
	d *deadlyDisk
}

func (f *deadlyFile) WriteAt(p []byte, off int64) (int, error) {
	if f.d.left == 0 {
		_, _ = f.TestFile.WriteAt(p[:len(p)/2], off)
	}
	f.d.call()
	n, err := f.TestFile.WriteAt(p, off)
	f.d.call()
	return n, err
}

func (f *deadlyFile) Sync() error {
	f.d.call()
	return f.TestFile.Sync()
}

// TestKill kills a process at one call after another, all on one store.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := map[string]string{} // what was last acknowledged, by token
	reopened, acknowledged := 0, 0
	for point := range killPoints {
		out, err := process(t.Context(), "die", dir, strconv.Itoa(point)).Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("point %d: the process was not killed: %v", point, err)
		}
		run := map[string]string{}
		for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
			if what, text, ok := strings.Cut(line, " "); ok {
				run[text] = what
				acknowledged++
			}
		}
		s, err := token.Open(dir, manyOptions())
		if err != nil {
			t.Errorf("point %d: the store does not open: %v", point, err)
			continue
		}
		reopened++
		for text, what := range run {
			if what = survived(t, s, text, what); what != "" {
				all[text] = what
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, dir, manyOptions())
	for text, what := range all {
		survived(t, s, text, what)
	}
	t.Logf("%d kills, %d reopened, %d changes acknowledged, 0 lost", killPoints, reopened, acknowledged)
}

// survived checks that a token is where it was acknowledged to be, and returns
// where it is now.
func survived(t *testing.T, s *token.Store, text, what string) string {
	t.Helper()
	lease, err := s.Begin(t.Context(), text, newClaim())
	var e *token.Error
	errors.As(err, &e)
	code := token.CodeOf(err)
	switch {
	case what == "done" && code == token.CodeUsed && len(e.Receipt) == 64:
		return "done"
	case what == "begun" && (code == token.CodeBusy || code == token.CodeUsed):
		return what
	case what == "issued" && (code == token.CodeBusy || code == ""):
		// The process may have died after it was begun and before it said so.
		if lease != nil {
			lease.Release()
		}
		return "begun"
	}
	t.Errorf("a token that was %s is now answered with %v", what, err)
	return ""
}
