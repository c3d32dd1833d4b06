package candidates_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/treetest"
	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
	"github.com/mcpcontract/mcpcontract/token"
)

// A project is a directory with an area, a store and a server.
type project struct {
	tb    testing.TB
	root  string
	area  *stage.Area
	store *token.Store
	opts  *candidates.Options
	by    mcpkit.Approver
}

func newProject(tb testing.TB) *project {
	tb.Helper()
	return newProjectIn(tb, tb.TempDir())
}

// newProjectIn makes a project in a directory, which it makes if need be.
func newProjectIn(tb testing.TB, root string) *project {
	tb.Helper()
	if err := os.MkdirAll(root, 0o700); err != nil {
		tb.Fatal(err)
	}
	p := &project{tb: tb, root: root}
	var err error
	if p.area, err = stage.Open(p.root, &stage.Options{Allow: []string{"docs/**"}}); err != nil {
		tb.Fatal(err)
	}
	if p.store, err = token.Open(filepath.Join(p.root, ".mcpcontract", "tokens"), nil); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		p.area.Close()
		p.store.Close()
	})
	return p
}

func (p *project) server(tb testing.TB) *mcp.Server {
	tb.Helper()
	approvals := &mcpkit.Approvals{Store: p.store, Project: "acme", By: p.by, Command: "docs approve"}
	server, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, candidates.Feature(p.area, approvals, p.opts))
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

// write puts a file below the root; name is in slash form.
func (p *project) write(tb testing.TB, name, text string) {
	tb.Helper()
	treetest.Write(tb, p.root, name, text)
}

// read returns a file of the project, "" if there is none.
func (p *project) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return string(data)
}

const staged = ".mcpcontract/stage/new-plan/"

// A reply has the fields of all replies.
type reply struct {
	CandidateID, StagePath, Digest string
	RetainedFiles, RemovedFiles    []string
	Files                          json.RawMessage
	CommandStatus, ProposalToken   string
	ApprovalCommand                string
	Proposal, Receipt              *outcome
	Outcome, OperationID           string
	Error                          struct {
		Code, Message string
		Details       json.RawMessage
	}
}

type outcome struct {
	CandidateID, OperationID, Digest string
	Files                            []file
}

type file struct {
	Path, SHA256 string
	Before       *string
}

func call(tb testing.TB, c *wiretest.Peer, tool, args string) (reply, string) {
	tb.Helper()
	text := c.Call(tb, tool, args).JSON()
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		tb.Fatalf("%s %s: %s", tool, args, text)
	}
	return r, text
}

// stagePlan declares and writes the candidate new-plan.
func (p *project) stagePlan(tb testing.TB, c *wiretest.Peer) {
	tb.Helper()
	r, text := call(tb, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":["docs/plan.md","docs/a/b.md"]}`)
	if r.StagePath != strings.TrimSuffix(staged, "/") {
		tb.Fatalf("candidate_prepare: %s", text)
	}
	p.write(tb, staged+"docs/plan.md", "new plan\n")
	p.write(tb, staged+"docs/a/b.md", "b\n")
}

const prepareApply = `{"request":{"op":"prepare","candidateId":"new-plan"}}`

func apply(tok string) string {
	return fmt.Sprintf(`{"request":{"op":"apply","proposalToken":%q}}`, tok)
}

// propose stages the candidate and returns the token of its proposal.
func (p *project) propose(tb testing.TB, c *wiretest.Peer) string {
	tb.Helper()
	p.stagePlan(tb, c)
	r, text := call(tb, c, "candidate_apply", prepareApply)
	if r.CommandStatus != "approval_required" || r.ProposalToken == "" {
		tb.Fatalf("candidate_apply: %s", text)
	}
	return r.ProposalToken
}

func chmod(tb testing.TB, p *project, mode fs.FileMode) {
	tb.Helper()
	if err := os.Chmod(filepath.Join(p.root, filepath.FromSlash(staged+"docs/plan.md")), mode); err != nil {
		tb.Fatal(err)
	}
}

func rename(tb testing.TB, p *project, from, to string) {
	tb.Helper()
	if err := os.Rename(filepath.Join(p.root, filepath.FromSlash(from)), filepath.Join(p.root, filepath.FromSlash(to))); err != nil {
		tb.Fatal(err)
	}
}

func remove(tb testing.TB, p *project, name string) {
	tb.Helper()
	if err := os.Remove(filepath.Join(p.root, filepath.FromSlash(name))); err != nil {
		tb.Fatal(err)
	}
}

// rewrite makes the staged plan anew, so that it has the mode again that it had.
func (p *project) rewrite(tb testing.TB) {
	tb.Helper()
	remove(tb, p, staged+"docs/plan.md")
	p.write(tb, staged+"docs/plan.md", "new plan\n")
}
