package connections_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/connections"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/normalize/probe"
	"github.com/mcpcontract/mcpcontract/token"
	"github.com/mcpcontract/mcpcontract/vault"
)

// asDesk makes the test program serve the desk in that directory. A file in it
// that is named after a moment makes the process kill itself there, once.
const asDesk = "CONNECTIONS_TEST_AS_DESK"

const (
	afterProbe   = "kill-after-probe"
	beforeCommit = "kill-before-commit"
)

// dieIf kills this process without further ado if the file is there.
func dieIf(mark string) {
	if os.Remove(mark) != nil {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

func serveDesk(dir string) error {
	ctx := context.Background()
	v, err := vault.Open(ctx, filepath.Join(dir, "vault"), vault.KeyFile(filepath.Join(dir, "key")), nil)
	if err != nil {
		return err
	}
	store, err := connections.New(v, vault.Default, &connections.Options{
		Probe: func(ctx context.Context, l normalize.Launch, opts *probe.Options) (probe.Report, error) {
			report, err := probe.Check(ctx, l, opts)
			dieIf(filepath.Join(dir, afterProbe))
			return report, err
		},
	})
	if err != nil {
		return err
	}
	tokens, err := token.Open(filepath.Join(dir, "tokens"), &token.Options{Now: func() time.Time {
		if list, err := store.List(); err == nil && len(list) > 0 {
			dieIf(filepath.Join(dir, beforeCommit)) // the vault has been saved
		}
		return time.Now()
	}})
	if err != nil {
		return err
	}
	approvals := &mcpkit.Approvals{Store: tokens, Project: "connections/default"}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "desk", Version: "1.0.0"}, nil, connections.Feature(store, approvals))
	if err != nil {
		return err
	}
	return server.Run(ctx, &mcpkit.StdioTransport{})
}

// newDeskDir makes what serveDesk serves.
func newDeskDir(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := vault.MakeKeyFile(filepath.Join(dir, "key")); err != nil {
		tb.Fatal(err)
	}
	v, err := vault.Create(tb.Context(), filepath.Join(dir, "vault"), vault.KeyFile(filepath.Join(dir, "key")))
	if err != nil {
		tb.Fatal(err)
	}
	if err := v.Close(); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// startDesk starts a server process, and counts in the file starts how often the
// registered server is started.
func startDesk(tb testing.TB, dir string, era wiretest.Era) *wiretest.Peer {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asDesk+"="+dir)
	return wiretest.Start(tb, cmd, era, &wiretest.Client{Name: "codex"})
}

// A server that is killed between the probe and the end of the call leaves a token
// that applies once, or answers with what was done.
func TestKilled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		moment string
		starts int // of the registered server, in all
	}{
		{afterProbe, 2},
		{beforeCommit, 1},
	}
	for _, tt := range tests {
		for _, era := range wiretest.Eras() {
			t.Run(tt.moment+" "+string(era), func(t *testing.T) {
				dir := newDeskDir(t)
				starts := filepath.Join(dir, "starts")
				text := self(t, "notes", m{"NOTES_TOKEN": canary, startsFile: starts})
				p := startDesk(t, dir, era)
				r, raw := call(t, p, "register_server", prepare(m{"text": text}))
				if r.ProposalToken == "" {
					t.Fatal(raw)
				}
				if err := os.WriteFile(filepath.Join(dir, tt.moment), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if got, err := p.TryCall("register_server", encode(t, apply(r.ProposalToken))); err == nil {
					t.Fatalf("the process was not killed: %s", got.JSON())
				}
				if _, err := os.Stat(filepath.Join(dir, tt.moment)); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("the process never came to %s", tt.moment)
				}

				p = startDesk(t, dir, era)
				var answers []string
				for range 2 {
					done, raw := call(t, p, "register_server", apply(r.ProposalToken))
					if done.CommandStatus != "applied" || done.Probe.Name != "notes" {
						t.Fatal(raw)
					}
					answers = append(answers, raw)
				}
				if answers[0] != answers[1] {
					t.Errorf("two receipts:\n%s\n%s", answers[0], answers[1])
				}
				if list, raw := call(t, p, "list_servers", m{}); len(list.Items) != 1 {
					t.Error(raw)
				}
				if data, err := os.ReadFile(starts); err != nil || len(data) != tt.starts {
					t.Errorf("the server was started %d times, %v", len(data), err)
				}
				noFileHas(t, dir, canary)
			})
		}
	}
}

// A text waits sealed for its token over a restart.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := newDeskDir(t)
	p := startDesk(t, dir, wiretest.Stateless)
	r, raw := call(t, p, "register_server", prepare(m{"text": self(t, "notes", m{"NOTES_TOKEN": canary})}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	noFileHas(t, dir, canary)
	p = startDesk(t, dir, wiretest.Handshake)
	if done, raw := call(t, p, "register_server", apply(r.ProposalToken)); done.CommandStatus != "applied" {
		t.Fatal(raw)
	}
	noFileHas(t, dir, canary)
}

// Two server processes register at the same time: of one name one of them wins, and
// the other is told; of two names both are stored.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	dir := newDeskDir(t)
	peers := []*wiretest.Peer{startDesk(t, dir, wiretest.Stateless), startDesk(t, dir, wiretest.Handshake)}
	both := func(name func(i int) string) (codes [2]string) {
		var tokens [2]string
		for i, p := range peers {
			r, raw := call(t, p, "register_server", prepare(m{"text": self(t, "notes", m{"N": fmt.Sprint(i)}), "name": name(i)}))
			if r.ProposalToken == "" {
				t.Fatal(raw)
			}
			tokens[i] = r.ProposalToken
		}
		var calls sync.WaitGroup
		for i, p := range peers {
			calls.Go(func() {
				got, err := p.TryCall("register_server", encode(t, apply(tokens[i])))
				if err != nil {
					codes[i] = err.Error()
					return
				}
				switch text := got.JSON(); {
				case strings.Contains(text, `"commandStatus":"applied"`):
					codes[i] = "applied"
				case strings.Contains(text, `"proposal_stale"`) && strings.Contains(text, "server/one"):
					codes[i] = "stale"
				default:
					codes[i] = text
				}
			})
		}
		calls.Wait()
		return codes
	}
	if got := both(func(int) string { return "one" }); got != [2]string{"applied", "stale"} && got != [2]string{"stale", "applied"} {
		t.Errorf("one name: %q", got)
	}
	if got := both(func(i int) string { return fmt.Sprintf("number %d", i) }); got != [2]string{"applied", "applied"} {
		t.Errorf("two names: %q", got)
	}
	if list, raw := call(t, peers[0], "list_servers", m{}); len(list.Items) != 3 {
		t.Error(raw)
	}
}

// One token that two processes send at the same time is used once, and both get
// its receipt.
func TestOneTokenTwice(t *testing.T) {
	t.Parallel()
	dir := newDeskDir(t)
	peers := []*wiretest.Peer{startDesk(t, dir, wiretest.Stateless), startDesk(t, dir, wiretest.Handshake)}
	r, raw := call(t, peers[0], "register_server", prepare(m{"text": self(t, "notes", nil)}))
	if r.ProposalToken == "" {
		t.Fatal(raw)
	}
	var got [2]string
	var calls sync.WaitGroup
	for i, p := range peers {
		calls.Go(func() {
			res, err := p.TryCall("register_server", encode(t, apply(r.ProposalToken)))
			if err != nil {
				got[i] = err.Error()
				return
			}
			got[i] = res.JSON()
		})
	}
	calls.Wait()
	for _, answer := range got {
		if !strings.Contains(answer, `"commandStatus":"applied"`) || answer != got[0] {
			t.Errorf("answers:\n%s\n%s", got[0], got[1])
		}
	}
	if list, raw := call(t, peers[1], "list_servers", m{}); len(list.Items) != 1 {
		t.Error(raw)
	}
}
