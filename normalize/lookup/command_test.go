//go:build unix

package lookup_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestCommand(t *testing.T) {
	t.Setenv("LOOKUP_CANARY", "hunter2-canary")
	task := lookup.Task{Instructions: "do", Reference: "acme/notes", Documents: []lookup.Document{{Source: "s", Text: "t"}}}
	const input = `{"instructions":"do","reference":"acme/notes","evidence":null,"documents":[{"source":"s","text":"t"}]}`
	tests := []struct {
		name    string
		command lookup.Command
		want    string
		err     string // part of the error's text
	}{
		{"task on standard input", lookup.Command{Argv: []string{"/bin/cat"}}, input, ""},
		{"no environment", lookup.Command{Argv: shell(`echo "[$LOOKUP_CANARY$HOME$USER]"`)}, "[]\n", ""},
		{"its own environment", lookup.Command{Argv: shell(`echo "[$A]"`), Env: []string{"A=b"}}, "[b]\n", ""},
		{"its folder", lookup.Command{Argv: shell("pwd"), Dir: "/"}, "/\n", ""},
		{"standard error is dropped", lookup.Command{Argv: shell("echo secret >&2; echo a")}, "a\n", ""},
		{"it does not read", lookup.Command{Argv: shell("exec 0<&-; echo a")}, "a\n", ""},
		{"at the limit", lookup.Command{Argv: shell("printf 12345"), MaxOutput: 5}, "12345", ""},
		{"over the limit", lookup.Command{Argv: shell("printf 123456"), MaxOutput: 5}, "", "wrote more than 5 bytes, which is its limit"},
		{"without end", lookup.Command{Argv: shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done")}, "", "wrote more than 65536 bytes, which is its limit"},
		{"over what is taken", lookup.Command{Argv: shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"), MaxOutput: 1 << 20}, "", "wrote more than 65536 bytes, which is its limit"},
		{"it leaves others behind", lookup.Command{Argv: shell("sleep 60 & printf ANSWER"), Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second}, "ANSWER", ""},
		{"others hold its input", lookup.Command{Argv: shell("sleep 60 <&0 & printf ANSWER"), Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second}, "ANSWER", ""},
		{"it fails", lookup.Command{Argv: shell("echo half; exit 3")}, "", "the agent's program failed: exit status 3"},
		{"too slow", lookup.Command{Argv: shell("sleep 600"), Timeout: 50 * time.Millisecond}, "", "stopped after 50ms"},
		{"no path", lookup.Command{Argv: []string{"sh"}}, "", "absolute path"},
		{"nothing", lookup.Command{}, "", "absolute path"},
		{"no such program", lookup.Command{Argv: []string{"/nowhere/program"}}, "", "the agent's program cannot be run: fork/exec /nowhere/program: no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.command.Answer(t.Context(), task)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds what the program said: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCommandGroup holds that nothing of the program's process group stays: not
// after it was stopped, although it ignores polite signals, and not after it has
// ended by itself. The grandchild holds a named pipe open, which so ends when
// the grandchild does, and says its id on another one.
func TestCommandGroup(t *testing.T) {
	const grandchild = `/bin/sh -c 'trap "" TERM INT HUP; echo $$ >"$1"; exec sleep 600' x "$2" 3>"$1" >/dev/null 2>&1 &`
	tests := []struct {
		name, script string
		ends         bool
	}{
		{"stopped", "trap '' TERM INT HUP; " + grandchild + " wait", false},
		{"ended", grandchild + ` read -r up <"$3"; echo done`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			alive := fifo(t, filepath.Join(dir, "alive"), os.O_RDONLY)
			// A side that reads and writes keeps these two from ending early.
			ids, goOn := fifo(t, filepath.Join(dir, "ids"), os.O_RDWR), fifo(t, filepath.Join(dir, "go-on"), os.O_RDWR)
			pid := make(chan string, 1)
			go func() {
				line, _ := bufio.NewReader(ids).ReadString('\n')
				_, _ = goOn.WriteString("up\n")
				pid <- strings.TrimSpace(line)
			}()
			command := lookup.Command{
				Argv: append(shell(tt.script), "agent", alive.Name(), ids.Name(), goOn.Name()), Timeout: time.Second, Env: []string{"PATH=/usr/bin:/bin"},
			}
			_, err := command.Answer(t.Context(), lookup.Task{})
			if tt.ends != (err == nil) || !tt.ends && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			id, err := strconv.Atoi(<-pid)
			if err != nil {
				t.Fatal(err)
			}
			_ = alive.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
				_ = syscall.Kill(id, syscall.SIGKILL)
				t.Errorf("process %d is still there: %v", id, err)
			}
		})
	}
}

// fifo makes a named pipe and opens this side of it.
func fifo(t *testing.T, path string, mode int) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, mode|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestCommandCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&lookup.Command{Argv: []string{"/bin/cat"}}).Answer(ctx, lookup.Task{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestCommandFailsALookup holds that the failure of a lookup says what became of
// the program, and nothing that it wrote, and that the cause stays.
func TestCommandFailsALookup(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{"echo hunter2-canary >&2; echo hunter2-canary; exit 3", "the agent's program failed: exit status 3"},
		{"echo hunter2-canary; sleep 600", "the agent's program was stopped after 50ms: context deadline exceeded"},
	} {
		agent := &lookup.Command{Argv: shell(tt.script), Timeout: 50 * time.Millisecond, Env: []string{"PATH=/usr/bin:/bin"}}
		if strings.Contains(tt.want, "failed") {
			agent.Timeout = 0
		}
		_, evidence, err := resolver(nothingThere(), lookup.Options{Agent: agent}).Resolve(t.Context(), "acme/notes")
		if lookup.CodeOf(err) != lookup.CodeAgentFailed || !strings.HasSuffix(err.Error(), tt.want) || evidence[len(evidence)-1].Outcome != tt.want {
			t.Errorf("error %v, evidence %v, want %q", err, evidence, tt.want)
		}
		if strings.Contains(err.Error()+evidence.String(), "canary") {
			t.Errorf("what the program wrote is shown: %v", err)
		}
	}
}

// TestCommandInput holds that a task which nobody reads to its end keeps no answer
// back: what the program left behind holds the other side of the pipe, and the task
// is more than a pipe takes.
func TestCommandInput(t *testing.T) {
	t.Parallel()
	goOn := filepath.Join(t.TempDir(), "go-on")
	end := fifo(t, goOn, os.O_RDWR)
	command := lookup.Command{
		// A shell gives what it starts in the background another input, but not another third file.
		Argv: append(shell(`exec 3<&0; { read -r x <"$1"; } & printf ANSWER`), "agent", goOn),
		Env:  []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second,
	}
	task := lookup.Task{Documents: []lookup.Document{{Source: "s", Text: strings.Repeat("x", 200<<10)}}}
	release := func() { _, _ = end.WriteString("now\n") } // what was left behind ends
	late := time.AfterFunc(16*time.Second, release)
	begin := time.Now()
	got, err := command.Answer(t.Context(), task)
	if late.Stop() {
		release()
	}
	if err != nil || got != "ANSWER" || time.Since(begin) > 15*time.Second {
		t.Errorf("got %q, %v after %v", got, err, time.Since(begin))
	}
}
