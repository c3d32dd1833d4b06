//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
	"github.com/mcpcontract/mcpcontract/examples/internal/peer"
	"github.com/mcpcontract/mcpcontract/normalize/lookup"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                nil,
		" \t ":                            nil,
		"a":                               {"a"},
		"  claude\t-p\n":                  {"claude", "-p"},
		`a 'b  c' "d 'e'" f'g'"h"`:        {"a", "b  c", "d 'e'", "fgh"},
		`a '' ""`:                         {"a", "", ""},
		`C:\bin\a.exe "C:\Some Dir\x" $V`: {`C:\bin\a.exe`, `C:\Some Dir\x`, "$V"},
		`a; b | c > d`:                    {"a;", "b", "|", "c", ">", "d"},
		"é 空":                             {"é", "空"},
	} {
		got, err := splitWords(line)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", line, err, diff)
		}
	}
	for _, line := range []string{`a 'b`, `"`, `a "b'`} {
		if got, err := splitWords(line); err == nil {
			t.Errorf("%q gives %q", line, got)
		}
	}
}

// TestAgentFlag holds that a mistake is told before anything is looked up, and that
// a program is found in PATH.
func TestAgentFlag(t *testing.T) {
	for text, want := range map[string]string{
		"":              "it names no program",
		"''":            `there is no program ""`,
		"'x":            "a quote ' is not closed",
		"no-such-agent": `there is no program "no-such-agent" that can be run: give its path`,
		"/":             `there is no program "/"`,
	} {
		out, msgs, code := runCommand(t, "", "-agent", text, "resolve", "x")
		if code != 2 || out != "" || !strings.Contains(msgs, "for flag -agent: "+want) {
			t.Errorf("%q ended with %d: %s%s", text, code, out, msgs)
		}
	}
	var a agentFlag
	if err := a.Set("sh -c 'echo a b'"); err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(a.argv[0]) || filepath.Base(a.argv[0]) != "sh" || a.argv[2] != "echo a b" || a.String() != "sh -c 'echo a b'" {
		t.Errorf("got %q, %q", a.argv, a.String())
	}
}

// An agent is a program that writes down what it gets and then answers.
type agent struct{ script, stdin, env string }

func newAgent(t *testing.T, does string) *agent {
	t.Helper()
	dir := t.TempDir()
	a := &agent{filepath.Join(dir, "agent.sh"), filepath.Join(dir, "stdin"), filepath.Join(dir, "env")}
	if err := os.WriteFile(a.script, []byte("cat >\"$1\"; env >\"$2\"\n"+does), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// line is what the flag takes.
func (a *agent) line() string { return "sh '" + a.script + "' '" + a.stdin + "' '" + a.env + "'" }

// answers makes a program print a text.
func answers(text string) string { return "cat <<'END'\n" + text + "\nEND\n" }

const (
	// reference is one that no source is asked for, so that no network is needed.
	reference = "https://tools.example.com/acme/notes"
	fenced    = "```json\n" + `{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "@acme/notes@1.2.0"], "env": {"NOTES_KEY": "${NOTES_KEY}"}}}}` + "\n```"
)

func TestResolveWithAgent(t *testing.T) {
	t.Setenv("AGENT_CANARY", canary)
	tests := []struct {
		name, does string
		want       string // in what is printed
		code       int
	}{
		{"an entry", answers(fenced), `"@acme/notes@1.2.0"`, 0},
		{"a refusal", answers(`{"error": "the page names no package", "evidence": ["https://tools.example.com"]}`), "the agent cannot tell: the page names no package", 1},
		{"prose", answers("Run npx notes."), "neither one fence around JSON nor a refusal", 1},
		{"two entries", answers("```json\n" + `{"mcpServers": {"a": {"command": "npx", "args": ["a"]}, "b": {"command": "npx", "args": ["b"]}}}` + "\n```"), "exactly one server", 1},
		{"a failure", answers(fenced) + "echo " + canary + " >&2; exit 4", "the agent's program failed: exit status 4", 1},
		{"too much", "yes " + canary, "wrote more than 65536 bytes", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, tt.does)
			out, msgs, code := runCommand(t, "", "resolve", reference, "-agent", a.line())
			if code != tt.code || !strings.Contains(out+msgs, tt.want) || strings.Contains(out+msgs, canary) {
				t.Errorf("ended with %d, want %d and %q:\n%s%s", code, tt.code, tt.want, out, msgs)
			}
			a.check(t)
		})
	}
}

// check looks at what the program got: the task, and no variable but the usual ones.
func (a *agent) check(t *testing.T) {
	t.Helper()
	stdin, err := os.ReadFile(a.stdin)
	if err != nil {
		t.Fatal(err)
	}
	var task lookup.Task
	if err := json.Unmarshal(stdin, &task); err != nil || task.Reference != reference || task.Instructions == "" || len(task.Evidence) == 0 {
		t.Errorf("the task is %s: %v", stdin, err)
	}
	env, err := os.ReadFile(a.env)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(env), canary) || !strings.Contains(string(env), "PATH=") {
		t.Errorf("the environment is %s", env)
	}
}

func TestAgentEnv(t *testing.T) {
	got := agentEnv([]string{"PATH=/bin", "HOME=/home/dev", "API_TOKEN=x", "LANG=C", "home=/x", "PATHS=x", "odd"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/home/dev", "LANG=C"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRegisterWithAgent registers what the program answered: as a proposal, for a
// person to see.
func TestRegisterWithAgent(t *testing.T) {
	clitest.EachEra(t, func(t *testing.T, id peer.Identity) {
		t.Helper()
		newHome(t)
		a := newAgent(t, answers(fenced))
		s := start(t, id, "-agent", a.line())
		proposed, raw := s.call(t, "register_server", prepare(args{"reference": reference}))
		if proposed.CommandStatus != "approval_required" || len(proposed.Proposal.Unresolved) != 1 || !strings.Contains(raw, "@acme/notes@1.2.0") {
			t.Error(raw)
		}
		a.check(t)
		s.end(t)
	})
}
