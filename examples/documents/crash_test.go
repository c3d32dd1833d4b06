package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKillWhileProposing kills the server in the middle of proposing, many times.
// Whatever it had answered is there afterwards, whole; what it had not is there
// whole or not at all.
func TestKillWhileProposing(t *testing.T) {
	t.Parallel()
	const kills = 14
	f := sampleProject(t)
	before := f.tree(t, ".mcpdocs")
	texts := map[string]string{} // by node, of everything answered
	var changesets []string
	for round := range kills {
		s := f.serve(t, perRequest, "--proposal-writer", "agent")
		id := s.good(t, "create_changeset", args{"title": fmt.Sprint("Round ", round)}).ChangesetID
		changesets = append(changesets, id)
		// Later rounds get further, and end at other points of a proposal.
		killer := time.AfterFunc(time.Duration(round)*2300*time.Microsecond, func() { _ = s.Cmd.Process.Kill() })
		for n := 0; ; n++ {
			name, text := fmt.Sprintf("r%d-%d", round, n), strings.Repeat(fmt.Sprintf("Line %d of round %d.\n", n, round), 50)
			reply, err := s.Call("propose_node_create", args{"changesetId": id, "id": name, "kind": "page", "title": name, "path": name + ".md", "text": text})
			if err != nil {
				break
			}
			if payload, _, failed := reply.Payload(); failed {
				t.Fatalf("%s", payload)
			}
			texts[name] = text
		}
		killer.Stop()
		_ = s.Cmd.Process.Kill()
		_ = s.Cmd.Wait() // it was killed
	}
	s := f.serve(t, perRequest, "--proposal-writer", "agent")
	defer s.stop(t)
	if got := s.good(t, "project_status", nil).Changesets; got.Open != kills || got.Damaged != 0 {
		t.Errorf("changesets %+v, want %d open", got, kills)
	}
	unanswered := 0
	for _, id := range changesets {
		found := s.diffs(t, id)
		for name, unified := range found {
			want, ok := texts[name]
			if !ok {
				unanswered++
				continue
			}
			if got := strings.Count(unified, "\n+Line "); got != strings.Count(want, "\n") {
				t.Errorf("%s has %d lines", name, got)
			}
			delete(texts, name)
		}
		if v := s.good(t, "validate_changeset", args{"changesetId": id}); !v.Valid {
			t.Errorf("%s is not valid any more", id)
		}
	}
	if len(texts) > 0 {
		t.Errorf("lost: %v", slices.Collect(maps.Keys(texts)))
	}
	t.Logf("%d proposals were written and not answered", unanswered)
	if diff := cmp.Diff(before, f.tree(t, ".mcpdocs")); diff != "" {
		t.Errorf("files (-before +after)\n%s", diff)
	}
}

// diffs are the diffs of a changeset, by node, with their parts joined.
func (s *server) diffs(t *testing.T, id string) map[string]string {
	t.Helper()
	found := map[string]string{}
	arguments := args{"changesetId": id}
	for range 1000 {
		page := s.good(t, "get_changeset_diff", arguments)
		for _, item := range page.Items {
			found[item.ID] += item.Unified
		}
		if page.NextCursor == "" {
			return found
		}
		arguments["cursor"] = page.NextCursor
	}
	t.Fatal("no end")
	return nil
}

// TestStatusWhileUnderWay kills the server in the middle of a promotion until one
// is left unfinished, and looks at it: the status tells of the candidate, of an
// approval that waits and of the operation, and of nothing else as of documents.
func TestStatusWhileUnderWay(t *testing.T) {
	t.Parallel()
	for range 20 {
		f := sampleProject(t)
		s := f.serve(t, structured, "--proposal-writer", "agent", "-approve", "command")
		revision := s.good(t, "project_info", nil).Provenance.Revision
		s.stage(t, f, "waits", "plans/waits.md", "# Waits\n")
		s.good(t, "candidate_apply", prepare("waits"))
		token := s.stageDrafts(t, f)
		s.killInside(t, f, token)

		s = f.serve(t, structured, "--proposal-writer", "agent", "-approve", "command")
		status := s.call(t, "project_status", nil)
		if !strings.Contains(status.payload, `"operations":{"unfinished":1}`) {
			s.stop(t) // it was killed too early or too late
			continue
		}
		if !slices.Equal(status.fields.Candidates, []string{"drafts", "waits"}) || status.fields.Approvals.Pending != 1 {
			t.Errorf("status %s", status.payload)
		}
		if got := status.fields.Provenance.Revision; got != revision {
			t.Errorf("the revision is %s, was %s: staged files are no documents", got, revision)
		}
		outcome := s.good(t, "operation_recover", nil).Outcome
		if outcome != "finished" && outcome != "undone" {
			t.Errorf("the operation is %s", outcome)
		}
		if status := s.call(t, "project_status", nil).payload; !strings.Contains(status, `"operations":{"unfinished":0}`) {
			t.Errorf("after recovery: %s", status)
		}
		promoted := 0
		for name := range f.tree(t) {
			if strings.HasPrefix(name, "plans/drafts/") && f.read(t, name) == name {
				promoted++
			}
		}
		if want := map[string]int{"finished": drafts}[outcome]; promoted != want {
			t.Errorf("%s, and %d files are there, want %d", outcome, promoted, want)
		}
		s.stop(t)
		return
	}
	t.Error("no promotion was ever left unfinished")
}

// drafts are enough files that their promotion can be met half-way.
const drafts = 60

// stageDrafts stages files that nobody is asked about.
func (s *server) stageDrafts(t *testing.T, f folder) args {
	t.Helper()
	var files []string
	for i := range drafts {
		files = append(files, fmt.Sprintf("plans/drafts/%02d.md", i))
	}
	to := s.good(t, "candidate_prepare", args{"candidateId": "drafts", "expectedFiles": files}).StagePath
	for _, file := range files {
		f.write(t, to+"/"+file, file)
	}
	return prepare("drafts")
}

// killInside applies and kills the server once the first file is promoted.
func (s *server) killInside(t *testing.T, f folder, arguments args) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.Call("candidate_apply", arguments) // the server dies
	}()
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for seen := false; !seen; {
		select {
		case <-done:
			seen = true
		case <-look.C:
			journal, err := filepath.Glob(f.path(".mcpdocs/journal"))
			seen = err == nil && len(journal) > 0
		}
	}
	if err := s.Cmd.Process.Signal(os.Kill); err != nil {
		t.Error(err)
	}
	<-done
	_ = s.Cmd.Wait() // it was killed
}
