package candidates_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

// A role is what the test program does when it is started again with one, as JSON in roleEnv.
type role struct {
	Root string
	By   mcpkit.Approver

	HTTP   bool // serve HTTP, and say where on standard output
	Decide bool // decide what waits, as the arguments say, and serve nothing

	// DieAt is at which use of the clock, or of the validator, the server kills itself; 0 means never.
	DieAtClock, DieAtCheck int64
}

const roleEnv = "CANDIDATES_TEST_ROLE"

func TestMain(m *testing.M) {
	text := os.Getenv(roleEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		err = r.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// countdown returns a function that kills this process when it is called for the nth time.
func countdown(n int64) func() {
	var calls atomic.Int64
	return func() {
		if calls.Add(1) == n {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
	}
}

func (r *role) run(ctx context.Context) error {
	tick, check := countdown(r.DieAtClock), countdown(r.DieAtCheck)
	store, err := token.Open(filepath.Join(r.Root, ".mcpcontract", "tokens"), &token.Options{Now: func() time.Time {
		tick()
		return time.Now()
	}})
	if err != nil {
		return err
	}
	defer store.Close()
	approvals := &mcpkit.Approvals{Store: store, Project: "acme", By: r.By, Command: "docs approve"}
	if r.Decide {
		return approvals.Decide(ctx, os.Stdout, os.Args[1:])
	}
	area, err := stage.Open(r.Root, &stage.Options{Allow: []string{"docs/**"}})
	if err != nil {
		return err
	}
	defer area.Close()
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, candidates.Feature(area, approvals, validated(check)))
	if err != nil {
		return err
	}
	if r.HTTP {
		return serveHTTP(ctx, server)
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

// validated returns the options of the servers of these tests, which call check whenever they compute a plan.
func validated(check func()) *candidates.Options {
	return &candidates.Options{Validators: []candidates.Validator{{
		Name: "count",
		Check: func(context.Context, *candidates.Candidate) (candidates.Verdict, error) {
			check()
			return candidates.Verdict{}, nil
		},
	}}}
}

// serveHTTP serves until the end of standard input.
func serveHTTP(ctx context.Context, server *mcp.Server) error {
	h, err := mcpkit.NewHTTPHandler(server, nil)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return h.Serve(ctx, l)
}

// command returns the command that starts the test program in a role.
func (r *role) command(ctx context.Context, tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+string(text), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// A way is how the tests reach a server in another process.
type way struct {
	name string
	dial func(tb testing.TB, r role, era wiretest.Era, client *wiretest.Client) *wiretest.Peer
}

func ways() []way { return []way{{"stdio", dialStdio}, {"http", dialHTTP}} }

func dialStdio(tb testing.TB, r role, era wiretest.Era, client *wiretest.Client) *wiretest.Peer {
	tb.Helper()
	return wiretest.Start(tb, r.command(context.WithoutCancel(tb.Context()), tb), era, client)
}

func dialHTTP(tb testing.TB, r role, era wiretest.Era, client *wiretest.Client) *wiretest.Peer {
	tb.Helper()
	r.HTTP = true
	cmd := r.command(context.WithoutCancel(tb.Context()), tb)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the server ended with %v", err)
		}
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return wiretest.Connect(tb, strings.TrimSpace(url), era, client)
}

// overAll runs a test over each way in each era, on a project of its own.
func overAll(t *testing.T, run func(t *testing.T, p *project, dial func(by mcpkit.Approver, client *wiretest.Client) *wiretest.Peer)) {
	t.Helper()
	for _, w := range ways() {
		for _, e := range wiretest.Eras() {
			t.Run(w.name+"/"+string(e), func(t *testing.T) {
				p := newProject(t)
				run(t, p, func(by mcpkit.Approver, client *wiretest.Client) *wiretest.Peer {
					return w.dial(t, role{Root: p.root, By: by}, e, client)
				})
			})
		}
	}
}

func TestProcess(t *testing.T) {
	for _, client := range []string{"codex", "zed"} {
		t.Run(client, func(t *testing.T) {
			overAll(t, func(t *testing.T, p *project, dial func(mcpkit.Approver, *wiretest.Client) *wiretest.Peer) {
				t.Helper()
				p.wholePath(t, dial(mcpkit.Token, &wiretest.Client{Name: client}))
			})
		})
	}
}

// A person at the client answers in a dialog, and the same call applies.
func TestProcessElicit(t *testing.T) {
	tests := []struct {
		name, answer string
		status, code string
	}{
		{"accept", `{"action":"accept","content":{"decision":"apply"}}`, "applied", ""},
		{"reject", `{"action":"accept","content":{"decision":"reject"}}`, "", "approval_declined"},
		{"decline", `{"action":"decline"}`, "", "approval_declined"},
		{"cancel", `{"action":"cancel"}`, "", "approval_canceled"},
		{"accept nothing", `{"action":"accept"}`, "approval_required", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overAll(t, func(t *testing.T, p *project, dial func(mcpkit.Approver, *wiretest.Client) *wiretest.Peer) {
				t.Helper()
				asked := ""
				c := dial(mcpkit.Elicit, &wiretest.Client{Name: "zed", Elicit: func(params string) string { asked += params; return tt.answer }})
				p.stagePlan(t, c)
				r, text := call(t, c, "candidate_apply", prepareApply)
				if r.CommandStatus != tt.status || r.Error.Code != tt.code {
					t.Errorf("got %s, want status %q, code %q", text, tt.status, tt.code)
				}
				if strings.Count(asked, "candidate new-plan: files 2") != 1 || !strings.Contains(asked, "docs/a/b.md (new, 2 bytes") {
					t.Errorf("asked %s, want one question that shows the files", asked)
				}
				if applied := p.read(t, "docs/plan.md") != ""; applied != (tt.status == "applied") {
					t.Errorf("applied: %t", applied)
				}
			})
		})
	}
}

// A client that cannot ask gets the command to type, which another process carries out.
func TestProcessCannotAsk(t *testing.T) {
	for _, by := range []mcpkit.Approver{mcpkit.Elicit, mcpkit.OutOfBand} {
		t.Run(by.String(), func(t *testing.T) {
			overAll(t, func(t *testing.T, p *project, dial func(mcpkit.Approver, *wiretest.Client) *wiretest.Peer) {
				t.Helper()
				c := dial(by, &wiretest.Client{Name: "codex"})
				p.stagePlan(t, c)
				r, text := call(t, c, "candidate_apply", prepareApply)
				id, ok := strings.CutPrefix(r.ApprovalCommand, "docs approve ")
				if r.CommandStatus != "approval_required" || !ok {
					t.Fatalf("got %s, want approval_required with a command", text)
				}
				if r, text := call(t, c, "candidate_apply", apply(r.ProposalToken)); r.Error.Code != "approval_pending" || !strings.Contains(text, "docs approve "+id) {
					t.Errorf("before the approval: got %s", text)
				}
				if out := p.decide(t, by); !strings.Contains(out, "candidate new-plan: files 2") || !strings.Contains(out, id) {
					t.Errorf("the list has %s", out)
				}
				if out := p.decide(t, by, id); !strings.HasPrefix(out, "approved "+id) {
					t.Errorf("the approval says %s", out)
				}
				done, first := call(t, c, "candidate_apply", apply(r.ProposalToken))
				if done.CommandStatus != "applied" || p.read(t, "docs/plan.md") != "new plan\n" {
					t.Errorf("after the approval: got %s", first)
				}
				if _, again := call(t, c, "candidate_apply", apply(r.ProposalToken)); again != first {
					t.Errorf("again: got %s, want %s", again, first)
				}
			})
		})
	}
}

// decide runs the command that a person types, in a process of its own.
func (p *project) decide(t *testing.T, by mcpkit.Approver, args ...string) string {
	t.Helper()
	r := role{Root: p.root, By: by, Decide: true}
	out, err := r.command(t.Context(), t, args...).Output()
	if err != nil {
		t.Errorf("decide %q: %v", args, err)
	}
	return string(out)
}

// A rejection by another process is told to whoever sends the token again.
func TestProcessReject(t *testing.T) {
	overAll(t, func(t *testing.T, p *project, dial func(mcpkit.Approver, *wiretest.Client) *wiretest.Peer) {
		t.Helper()
		c := dial(mcpkit.OutOfBand, &wiretest.Client{Name: "codex"})
		tok := p.propose(t, c)
		p.decide(t, mcpkit.OutOfBand, "reject", strings.Fields(p.decide(t, mcpkit.OutOfBand))[0])
		if r, text := call(t, c, "candidate_apply", apply(tok)); r.Error.Code != "approval_declined" || p.read(t, "docs/plan.md") != "" {
			t.Errorf("got %s, want approval_declined", text)
		}
	})
}
