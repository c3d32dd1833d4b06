package candidates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// maxKills bounds how many servers TestProcessKill starts for each of its counts.
const maxKills = 12

// A server that dies at any point of an apply leaves a token that applies once, or answers with what was done.
func TestProcessKill(t *testing.T) {
	died, applied := 0, 0
	die := func(t *testing.T, r role) bool {
		t.Helper()
		p := newProject(t)
		p.write(t, "docs/plan.md", "old plan\n")
		r.Root = p.root
		tok := p.propose(t, dialStdio(t, role{Root: p.root}, wiretest.Handshake, &wiretest.Client{Name: "zed"}))
		first, err := dialStdio(t, r, wiretest.Stateless, &wiretest.Client{Name: "zed"}).TryCall("candidate_apply", apply(tok))
		if err != nil {
			died++
		}
		before := p.read(t, "docs/plan.md")
		c := dialStdio(t, role{Root: p.root}, wiretest.Stateless, &wiretest.Client{Name: "zed"})
		done, text := call(t, c, "candidate_apply", apply(tok))
		if done.CommandStatus != "applied" || p.read(t, "docs/plan.md") != "new plan\n" {
			t.Fatalf("after the restart: got %s", text)
		}
		if first != nil && first.JSON() != text {
			t.Errorf("after the restart: got %s, want %s", text, first.JSON())
		}
		if before == "new plan\n" {
			applied++
		}
		p.write(t, "docs/plan.md", "edited later\n")
		if _, again := call(t, c, "candidate_apply", apply(tok)); again != text || p.read(t, "docs/plan.md") != "edited later\n" {
			t.Errorf("applied twice: %s, first %s", again, text)
		}
		return err != nil
	}
	for name, at := range map[string]func(r *role, n int64){
		"clock": func(r *role, n int64) { r.DieAtClock = n },
		"check": func(r *role, n int64) { r.DieAtCheck = n },
	} {
		t.Run(name, func(t *testing.T) {
			for n := range int64(maxKills) {
				var r role
				at(&r, n+1)
				if !die(t, r) {
					break // it does not get that far
				}
			}
		})
	}
	t.Logf("%d servers died, %d of them after the files were promoted", died, applied)
	if died < 3 || applied == 0 {
		t.Error("too few deaths to prove anything")
	}
}

// A scene is what a project looks like at some moment of an apply.
type scene struct {
	name string
	seen func(root string) bool
}

func exists(parts ...string) bool {
	found, err := filepath.Glob(filepath.Join(parts...))
	return err == nil && len(found) > 0
}

// TestProcessKillInside kills servers from outside, in the middle of a promotion of many files.
func TestProcessKillInside(t *testing.T) {
	scenes := []scene{
		{"new files beside the targets", func(root string) bool { return exists(root, "docs", ".x-tmp-*") }},
		{"intent", func(root string) bool { return exists(root, ".mcpcontract", "journal") }},
		{"first file", func(root string) bool { return exists(root, "docs", "f00.md") }},
		{"last file", func(root string) bool { return exists(root, "docs", "f39.md") }},
		{"receipt", func(root string) bool { return exists(root, ".mcpcontract", "receipts", "op-*") }},
		{"no intent any more", func(root string) bool {
			return exists(root, ".mcpcontract", "receipts", "op-*") && !exists(root, ".mcpcontract", "journal")
		}},
	}
	const files = 40
	names := make([]string, files)
	for i := range names {
		names[i] = fmt.Sprintf("docs/f%02d.md", i)
	}
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	zed := &wiretest.Client{Name: "zed"}
	died := 0
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			p := newProject(t)
			c := dialStdio(t, role{Root: p.root}, wiretest.Handshake, zed)
			call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":`+string(list)+`}`)
			for _, name := range names {
				p.write(t, staged+name, name)
			}
			r, text := call(t, c, "candidate_apply", prepareApply)
			if r.ProposalToken == "" {
				t.Fatal(text)
			}
			if p.killAt(t, s, r.ProposalToken) {
				died++
			}
			done, first := call(t, c, "candidate_apply", apply(r.ProposalToken))
			if done.CommandStatus != "applied" || len(done.Receipt.Files) != files {
				t.Fatalf("after the kill: got %s", first)
			}
			for _, name := range names {
				if got := p.read(t, name); got != name {
					t.Errorf("%s has %q", name, got)
				}
				p.write(t, name, "edited later\n")
			}
			if _, again := call(t, c, "candidate_apply", apply(r.ProposalToken)); again != first || p.read(t, names[0]) != "edited later\n" {
				t.Errorf("applied twice: %s, first %s", again, first)
			}
		})
	}
	t.Logf("%d of %d servers died before they replied", died, len(scenes))
}

// killAt applies a token and kills the server as soon as it sees the scene. It reports whether that came before the
// reply: how fast a machine is decides that, and either way nothing may be lost.
func (p *project) killAt(t *testing.T, s scene, tok string) bool {
	t.Helper()
	r := role{Root: p.root}
	cmd := r.command(context.WithoutCancel(t.Context()), t)
	victim := wiretest.Start(t, cmd, wiretest.Stateless, &wiretest.Client{Name: "zed"})
	replied := make(chan error, 1)
	go func() {
		_, err := victim.TryCall("candidate_apply", apply(tok))
		replied <- err
	}()
	look := time.NewTicker(50 * time.Microsecond)
	defer look.Stop()
	for {
		select {
		case err := <-replied:
			return err != nil
		case <-look.C:
			if s.seen(p.root) {
				if err := cmd.Process.Signal(os.Kill); err != nil {
					t.Error(err)
				}
				return <-replied != nil
			}
		}
	}
}
