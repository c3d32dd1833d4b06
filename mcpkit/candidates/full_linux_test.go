package candidates_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

const (
	page      = 4096 // what a file system in memory gives at a time
	fullFiles = 6    // of two pages each; half of them replace others
)

// fullProject returns a project on a small file system of its own, with a candidate.
func fullProject(t *testing.T) (p *project, before, after map[string]string) {
	t.Helper()
	privateMounts(t)
	base := &project{tb: t, root: t.TempDir()}
	root := filepath.Join(base.root, "root")
	if err := mount("", "tmpfs", "size=1m", 0)(base, root); err != nil {
		t.Fatal(err)
	}
	p = newProjectIn(t, root)
	before, after = make(map[string]string), make(map[string]string)
	for i := range fullFiles {
		name := fmt.Sprintf("docs/f%d.md", i)
		after[name] = strings.Repeat(fmt.Sprintf("new %d\n", i), 1000)
		if i%2 == 0 {
			before[name] = strings.Repeat(fmt.Sprintf("old %d\n", i), 1000)
			p.write(t, name, before[name])
		}
	}
	return p, before, after
}

// fill takes all space of the file system but some pages, until the returned function gives it back.
func (p *project) fill(t *testing.T, free int) (release func()) {
	t.Helper()
	name := filepath.Join(p.root, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var size int64
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, page))
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Truncate(max(size-int64(free)*page, 0)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// files returns the content of the documents.
func (p *project) files(t *testing.T) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	entries, err := os.ReadDir(filepath.Join(p.root, "docs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		tree["docs/"+e.Name()] = p.read(t, "docs/"+e.Name())
	}
	return tree
}

// A disk that is full at any step of an apply changes nothing and uses up no approval, or the change is there as a whole.
func TestFullDisk(t *testing.T) {
	codes := make(map[string]int)
	for level := range 40 / fullEvery {
		free := level * fullEvery
		t.Run(fmt.Sprintf("%d pages", free), func(t *testing.T) {
			p, before, after := fullProject(t)
			c := dialStdio(t, role{Root: p.root}, wiretest.Stateless, &wiretest.Client{Name: "zed"})
			names := `"docs/f0.md","docs/f1.md","docs/f2.md","docs/f3.md","docs/f4.md","docs/f5.md"`
			call(t, c, "candidate_prepare", `{"candidateId":"new-plan","expectedFiles":[`+names+`]}`)
			for name, text := range after {
				p.write(t, staged+name, text)
			}
			r, text := call(t, c, "candidate_apply", prepareApply)
			tok := r.ProposalToken
			if tok == "" {
				t.Fatal(text)
			}
			release := p.fill(t, free)
			step := func(tool, args string) reply {
				r, text := call(t, c, tool, args)
				if code := r.Error.Code; code != "" {
					codes[tool+" "+code]++
					if code == "internal" || !strings.Contains(text, "no space left") {
						t.Errorf("%s: got %s, want what the system said", tool, text)
					}
				}
				return r
			}
			step("candidate_prepare", `{"candidateId":"other","expectedFiles":["docs/x.md"]}`)
			step("candidate_apply", prepareApply)
			done := step("candidate_apply", apply(tok))
			want := before
			if done.CommandStatus == "applied" {
				want = after
				codes["applied"]++
			}
			if diff := cmp.Diff(want, p.files(t)); diff != "" {
				t.Errorf("full, applied %q (-want +got):\n%.1000s", done.CommandStatus, diff)
			}
			release()
			if r, text := call(t, c, "candidate_apply", apply(tok)); r.CommandStatus != "applied" || len(r.Receipt.Files) != fullFiles {
				t.Errorf("with space again: got %s, want applied", text)
			}
			if got := p.files(t); !maps.Equal(got, after) {
				t.Errorf("with space again (-want +got):\n%.1000s", cmp.Diff(after, got))
			}
			if r, text := call(t, c, "candidate_prepare", `{"candidateId":"other","expectedFiles":["docs/x.md"]}`); r.CandidateID != "other" {
				t.Errorf("with space again: got %s", text)
			}
		})
	}
	t.Logf("outcomes: %v", codes)
	if len(codes) > 0 && (codes["applied"] == 0 || len(codes) < 3) { // none at all without privilege
		t.Error("the disk was never full, or always")
	}
}
