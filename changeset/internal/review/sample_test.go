package review_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset/internal/review"
)

func update() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	os.Exit(m.Run())
}

// sample is a changeset of each kind of change.
func sample() *review.Model {
	setup := "---\nid: setup\nkind: guide\ntitle: Set up the bench\nstatus: current\n---\n\n# Set up the bench\n\n" +
		"Take the *left* plug and the red cable.\nSwitch on the lamp.\n\n## Parts\n\n| part | count |\n| --- | ---: |\n| plug | 1 |\n| cable | 2 |\n\n" +
		"## Order\n\n1. Plug\n2. Lamp\n3. Test\n\n" + strings.Repeat("Nothing changes in this line.\n\n", 20) + "## Safety\n\nAsk before you open the case.\n"
	changed := strings.NewReplacer(
		"*left* plug and the red", "*right* plug and the blue",
		"Switch on the lamp.\n", "Switch on the lamp, wait a minute, and look.\nNote what you see.\n",
		"| cable | 2 |", "| cable | 3 |\n| fuse | 1 |",
		"Ask before you open", "Ask twice before you open",
	).Replace(setup)
	return &review.Model{
		Project: "handbook", Revision: strings.Repeat("1a", 32), ChangesetID: "cs-0007", Title: "Correct the bench guide",
		Description: "The plug moved to the right side.\nThe old checklist goes.", Writer: "editor", View: "review",
		Digest: strings.Repeat("9f", 32), Created: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Problems: []review.Problem{
			{Code: "base_stale", Severity: "warning", ID: "setup", Path: "guides/setup.md", Message: "the file has changed since the proposal"},
			{Code: "dangling_reference", Severity: "error", ID: "tour", Path: "guides/tour.md", Message: "depends on \"checklist\", which the changeset deletes"},
		},
		Changes: []review.Change{
			{Op: "update", ID: "setup", Kind: "guide", Title: "Set up the bench", OldPath: "guides/setup.md", NewPath: "guides/setup.md", Old: []byte(setup), New: []byte(changed), BaseHash: strings.Repeat("a0", 32), NewHash: strings.Repeat("b1", 32)},
			{Op: "create", ID: "tour", Kind: "guide", Title: "A tour", NewPath: "guides/tour.md", New: []byte("# A tour\n\nSee [the shop](https://shop.example/tour?x=1) and ![a bench](img/bench.png).\n\n- [x] lamp\n- [ ] plug\n"), NewHash: strings.Repeat("c2", 32)},
			{Op: "move", ID: "rules", Kind: "spec", Title: "House rules", OldPath: "rules.md", NewPath: "guides/house/rules.md", Old: []byte("# House rules\n\nBe kind.\n"), New: []byte("# House rules\n\nBe kind.\n"), BaseHash: strings.Repeat("d3", 32), NewHash: strings.Repeat("d3", 32)},
			{Op: "delete", ID: "checklist", Kind: "guide", Title: "Checklist", OldPath: "guides/checklist.md", Old: []byte("# Checklist\n\n- lamp\n- plug"), BaseHash: strings.Repeat("e4", 32)},
		},
		Nodes: []review.Node{
			{ID: "setup", Kind: "guide", Title: "Set up the bench", Status: "current", Path: "guides/setup.md", Tags: []string{"bench", "safety"}, Op: "update"},
			{ID: "tour", Kind: "guide", Title: "A tour", Path: "guides/tour.md", DependsOn: []string{"setup", "checklist"}, Links: []string{"rules"}, Op: "create"},
			{ID: "rules", Kind: "spec", Title: "House rules", Path: "guides/house/rules.md", Op: "move"},
			{ID: "start", Kind: "page", Title: "Start", Path: "start.md", Links: []string{"setup", "tour"}},
		},
	}
}

// TestGolden compares the pages of the sample with those that were looked at.
func TestGolden(t *testing.T) {
	for _, renderer := range review.Renderers() {
		t.Run(renderer, func(t *testing.T) {
			got := render(t, renderer, sample())
			file := filepath.Join("testdata", renderer+".golden.html")
			if update() {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("page of the sample (-want +got); look at it, then run with -update:\n%s", d)
			}
		})
	}
}

func render(t *testing.T, renderer string, m *review.Model) []byte {
	t.Helper()
	got, err := review.Render(renderer, m)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
