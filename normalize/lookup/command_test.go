//go:build unix

package lookup_test

import (
	"context"
	"errors"
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
		{"over the limit", lookup.Command{Argv: shell("printf 123456"), MaxOutput: 5}, "", "more than its limit"},
		{"without end", lookup.Command{Argv: shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done")}, "", "more than its limit"},
		{"it fails", lookup.Command{Argv: shell("echo half; exit 3")}, "", "exit status 3"},
		{"too slow", lookup.Command{Argv: shell("sleep 600"), Timeout: 50 * time.Millisecond}, "", "stopped after 50ms"},
		{"no path", lookup.Command{Argv: []string{"sh"}}, "", "absolute path"},
		{"nothing", lookup.Command{}, "", "absolute path"},
		{"no such program", lookup.Command{Argv: []string{"/nowhere/program"}}, "", "no such file"},
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
// ended by itself.
func TestCommandGroup(t *testing.T) {
	tests := []struct {
		name, script string
		ends         bool
	}{
		{"stopped", `trap '' TERM INT HUP; (trap '' TERM; exec sleep 600) & echo $! > "$1"; wait`, false},
		{"ended", `sleep 600 >/dev/null 2>&1 & echo $! > "$1"; echo done`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			command := lookup.Command{Argv: append(shell(tt.script), "agent", file), Timeout: time.Second, Env: []string{"PATH=/usr/bin:/bin"}}
			_, err := command.Answer(t.Context(), lookup.Task{})
			if tt.ends != (err == nil) || !tt.ends && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v", err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if !gone(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d is still there", pid)
			}
		})
	}
}

// gone tells whether a process ends within a second: it was killed, but its
// parent, which is not ours, may take a moment to collect it.
func gone(pid int) bool {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if syscall.Kill(pid, 0) == syscall.ESRCH || isZombie(pid) {
			return true
		}
	}
	return false
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestCommandCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&lookup.Command{Argv: []string{"/bin/cat"}}).Answer(ctx, lookup.Task{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
