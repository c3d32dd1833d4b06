package candidates_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/candidates"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
	"github.com/mcpcontract/mcpcontract/stage"
)

// manyFiles returns n paths that cost more than their length on the wire.
func manyFiles(n int) []string {
	files := make([]string, n)
	for i := range files {
		files[i] = fmt.Sprintf("docs/%04d & %s.md", i, strings.Repeat("x", 20))
	}
	return files
}

// stageMany stages a file at each path.
func (p *project) stageMany(tb testing.TB, files []string) {
	tb.Helper()
	if _, err := p.area.Prepare(tb.Context(), "new-plan", files); err != nil {
		tb.Fatal(err)
	}
	for _, name := range files {
		p.write(tb, staged+name, name)
	}
}

// A counts has the counts of all replies.
type counts struct {
	RetainedFiles, RemovedFiles, Files, KeptFiles []string
	RetainedCount, RemovedCount                   int
	FileCount, KeptCount                          int
}

// bounded reports what is wrong with a list that was cut: its first entries must be those of want.
func bounded(got []string, count int, want []string) string {
	if count != len(want) || len(got) == 0 || len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
		return fmt.Sprintf("%d entries and the count %d, want the first of %d", len(got), count, len(want))
	}
	return ""
}

// What removes files answers so, however many there are.
func TestManyRemoved(t *testing.T) {
	for _, client := range []string{"codex", "zed"} { // structured, and one text block
		t.Run(client, func(t *testing.T) {
			p := newProject(t)
			c := wiretest.Dial(t, p.server(t), wiretest.Stateless, client)
			files := manyFiles(1_300)
			ask := func(tool string, args any) (got counts) {
				t.Helper()
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				r, text := call(t, c, tool, string(raw))
				if r.Error.Code != "" || len(text) > 10_000 {
					t.Fatalf("%s: %d bytes, %.300s", tool, len(text), text)
				}
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatal(err)
				}
				return got
			}
			p.stageMany(t, files)
			got := ask("candidate_prepare", map[string]any{"candidateId": "new-plan", "expectedFiles": files[:600]})
			for _, fault := range []string{bounded(got.RetainedFiles, got.RetainedCount, files[:600]), bounded(got.RemovedFiles, got.RemovedCount, files[600:])} {
				if fault != "" {
					t.Errorf("candidate_prepare: %s", fault)
				}
			}
			got = ask("candidate_prepare", map[string]any{"candidateId": "new-plan", "expectedFiles": files[:1]})
			if fault := bounded(got.RemovedFiles, got.RemovedCount, files[1:600]); fault != "" || !slices.Equal(got.RetainedFiles, files[:1]) || got.RetainedCount != 0 {
				t.Errorf("candidate_prepare: %s, retained %d", fault, len(got.RetainedFiles))
			}
			p.stageMany(t, files)
			got = ask("candidate_discard", map[string]any{"candidateId": "new-plan"})
			if fault := bounded(got.RemovedFiles, got.RemovedCount, files); fault != "" {
				t.Errorf("candidate_discard: %s", fault)
			}
			if ids, err := p.area.Candidates(t.Context()); len(ids) > 0 || err != nil {
				t.Errorf("after candidate_discard: %v, %v", ids, err)
			}
		})
	}
}

func TestManyRecovered(t *testing.T) {
	files := manyFiles(2_000)
	for _, r := range []stage.Recovery{
		{Operation: "op-0000000001-abcdefgh", Candidate: "new-plan", Files: files},
		{Operation: "op-0000000001-abcdefgh", Candidate: "new-plan", Undone: true, Files: files, Kept: files},
	} {
		reply, err := candidates.Outcome(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		var got counts
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if fault := bounded(got.Files, got.FileCount, files); fault != "" {
			t.Errorf("files: %s", fault)
		}
		if fault := bounded(got.KeptFiles, got.KeptCount, files); r.Undone && fault != "" {
			t.Errorf("kept: %s", fault)
		}
		if size := paging.Cost(reply) + paging.Envelope; size > 10_000 {
			t.Errorf("%d bytes", size)
		}
	}
}

// The pages of a large candidate are its files, in order and with one digest; a change in between is noticed.
func TestInspectPages(t *testing.T) {
	p := newProject(t)
	c := wiretest.Dial(t, p.server(t), wiretest.Handshake, "zed")
	files := manyFiles(300)
	p.stageMany(t, files)
	var got []string
	var digest, first string
	for cursor, pages := "", 0; ; pages++ {
		r, text := call(t, c, "candidate_inspect", fmt.Sprintf(`{"candidateId":"new-plan","cursor":%q}`, cursor))
		var page struct {
			FileCount  int
			Files      []file
			NextCursor string
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || r.Error.Code != "" || page.FileCount != len(files) || len(text) > 10_000 {
			t.Fatalf("%d bytes: %.300s", len(text), text)
		}
		for _, f := range page.Files {
			got = append(got, f.Path)
		}
		if digest == "" {
			digest, first = r.Digest, page.NextCursor
		}
		if r.Digest != digest {
			t.Errorf("page %d has another digest", pages)
		}
		if cursor = page.NextCursor; cursor == "" || pages > 100 {
			break
		}
	}
	if !slices.Equal(got, files) {
		t.Errorf("%d files on all pages, want %d", len(got), len(files))
	}
	p.write(t, staged+files[299], "changed")
	if r, text := call(t, c, "candidate_inspect", fmt.Sprintf(`{"candidateId":"new-plan","cursor":%q}`, first)); r.Error.Code != "snapshot_changed" {
		t.Errorf("after a change: got %.300s", text)
	}
	if r, text := call(t, c, "candidate_inspect", `{"candidateId":"new-plan","cursor":"x"}`); r.Error.Code != "cursor_invalid" {
		t.Errorf("with a cursor that is none: got %.300s", text)
	}
}
