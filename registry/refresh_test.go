package registry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/mcpcontract/mcpcontract/registry"
)

// regenerate brings a text up to date with a workspace, and checks that once is enough.
func regenerate(t *testing.T, dir, name, text string) (string, []registry.Problem) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	opts := &registry.ScanOptions{File: file, WorkspaceRoot: "."}
	var problems []registry.Problem
	for range 2 {
		put(t, file, text, long(0))
		data, found, err := registry.Generate(context.Background(), dir, opts)
		if err != nil {
			t.Fatalf("%v\nof:\n%s", err, text)
		}
		if problems != nil && string(data) != text {
			t.Errorf("twice is not as once (-once +twice):\n%s", cmp.Diff(text, string(data)))
		}
		text, problems = string(data), append(found, registry.Problem{})
	}
	return text, problems[:len(problems)-1]
}

// changed gives the lines that differ between two texts, - before those of a and + before those of b.
func changed(a, b string) string {
	var out []string
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(x) > 0 && len(y) > 0 && x[0] == y[0]:
			x, y = x[1:], y[1:]
		case len(x) > 0 && (len(y) == 0 || !slices.Contains(y, x[0]) || slices.Contains(x[1:], y[0])):
			out, x = append(out, "-"+x[0]), x[1:]
		default:
			out, y = append(out, "+"+y[0]), y[1:]
		}
	}
	return strings.Join(out, "\n")
}

const twoRepos = `
-- b/.git/HEAD --
-- b/README.md --
-- b/docs/index.md --
-- b/CODEOWNERS --
* @acme/payments
-- d/.git/HEAD --
-- d/README.md --
-- d/docs/adr/0001-a.md --
`

func TestGenerateKeepsEdits(t *testing.T) {
	cases := []struct {
		name      string
		edit      func(text string) string // by hand
		disk      map[string]string        // files written afterwards, removed if empty
		want      string                   // the lines that change then
		wantCodes string
	}{
		{name: "nothing"},
		{
			name: "one value",
			edit: func(s string) string {
				return strings.Replace(s, "owner: '@acme/payments'", "owner: '@acme/payments'   # ask Zoë, née O'Hara", 1)
			},
			disk: map[string]string{"b/CODEOWNERS": "* @acme/billing\n"},
			want: "-    owner: '@acme/payments'   # ask Zoë, née O'Hara\n+    owner: '@acme/billing'   # ask Zoë, née O'Hara\n-    fingerprint: PRINT\n+    fingerprint: PRINT",
		},
		{
			name: "an edited value stays",
			edit: func(s string) string { return strings.Replace(s, "owner: '@acme/payments'", "owner: finance", 1) },
			disk: map[string]string{"b/CODEOWNERS": "* @acme/billing\n"},
			want: "+    origin: overridden",
		},
		{
			name: "a locked value stays",
			edit: func(s string) string {
				return strings.Replace(s, "owner: '@acme/payments'", "owner: '@acme/payments'\n    locked: [owner]", 1)
			},
			disk: map[string]string{"b/CODEOWNERS": "* @acme/billing\n"},
		},
		{
			name: "a list",
			edit: func(s string) string {
				return strings.Replace(s, "      - README.md\n", "      # read this\n      - README.md # first\n", 1)
			},
			disk: map[string]string{"b/AGENTS.md": "x\n", "b/docs/index.md": "", "b/docs/other.md": "x"},
			want: "+      - AGENTS.md\n-      - docs/index.md\n-      has_docs: docs/index.md\n+      has_docs: docs/other.md\n-    fingerprint: PRINT\n+    fingerprint: PRINT",
		},
		{
			name: "a new repo, and one that is gone",
			edit: func(s string) string {
				return strings.Replace(s, "  - repo_id: d\n", "  # theirs\n  - repo_id: d\n", 1)
			},
			disk: map[string]string{"c/.git/HEAD": "x\n", "d/.git/HEAD": ""},
			want: "+  - repo_id: c\n+    fingerprint: PRINT", wantCodes: "repo_missing d",
		},
		{
			name: "an entry by hand",
			edit: func(s string) string {
				return s + "  - repo_id: c # by hand\n    entrypoints: [README.md]\n    x-note: {a: 1}\n"
			},
			disk: map[string]string{"c/.git/HEAD": "x\n", "c/README.md": "x", "c/docs/index.md": "x"},
			want: "+    origin: manual",
		},
		{
			name: "another id, and fields that are nobody else's",
			edit: func(s string) string {
				return strings.Replace(s, "  - repo_id: d\n", "  - repo_id: delta\n    path: d\n    former_ids: [d]\n    lifecycle: archived\n", 1)
			},
		},
		{
			name: "an entry in braces",
			edit: func(s string) string {
				s = s[:strings.Index(s, "  - repo_id: d\n")]
				return s + "  - {repo_id: d, owner: x, fingerprint: owner=0} # short\n"
			},
			disk: map[string]string{},
			want: `-  - {repo_id: d, owner: x, fingerprint: owner=0} # short
+  - {repo_id: d, owner: x, fingerprint: "entrypoints=be3ae3b6 resource_roots=4d2b686a owner=0 signals=0023fcd8 evidence=32d1fc4b", "entrypoints": ["README.md"], "resource_roots": {"adr":["docs/adr"],"docs":["docs"]}, "signals": {"has_docs":true,"has_adr":true}, "evidence": {"has_adr":"docs/adr, 1 found, 1 numbered","has_docs":"docs/adr/0001-a.md"}, "origin": "overridden"} # short`,
			wantCodes: "",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			dir := workspace(t, txtar.Parse([]byte(twoRepos)).Files)
			text, _ := regenerate(t, dir, "new.yaml", "schema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated, origin: generated}\nrepos: [] # all of them\n")
			if tc.edit != nil {
				edited := tc.edit(text)
				if edited == text {
					t.Fatalf("nothing was edited in\n%s", text)
				}
				text = edited
			}
			for name, content := range tc.disk {
				p := filepath.Join(dir, filepath.FromSlash(name))
				err := os.Remove(p)
				if content != "" {
					_ = os.MkdirAll(filepath.Dir(p), 0o700)
					err = os.WriteFile(p, []byte(content), 0o600)
				} else if strings.Contains(name, ".git/") {
					err = os.RemoveAll(filepath.Dir(p))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			got, found := regenerate(t, dir, "registry.yaml", text)
			lines := strings.Split(changed(text, got), "\n")
			for i, line := range lines {
				if before, _, ok := strings.Cut(line, "fingerprint: "); ok && !strings.Contains(line, "{") {
					lines[i] = before + "fingerprint: PRINT"
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("changed lines (-want +got):\n%s\nof\n%s", diff, text)
			}
			var codes []string
			for _, p := range found {
				codes = append(codes, fmt.Sprintf("%s %s", p.Code, p.RepoID))
			}
			if diff := cmp.Diff(tc.wantCodes, strings.Join(codes, ", ")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever is edited between two runs is still there after the next.
func TestGenerateKeepsRandomEdits(t *testing.T) {
	dir := workspace(t, txtar.Parse([]byte(twoRepos)).Files)
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
		name := []string{"registry.yaml", "registry.json"}[seed%2]
		text := "schema_version: \"1.0\"\nkind: workspace_registry\ndefaults: {manifest_source: generated, origin: generated}\nrepos: []\n"
		if seed%2 == 1 {
			text = `{"schema_version": "1.0", "kind": "workspace_registry", "defaults": {"manifest_source": "generated"}, "repos": []}`
		}
		text, _ = regenerate(t, dir, name, text)
		var marks []string
		edit := func(old, now, mark string) {
			if at := strings.Index(text, old); at >= 0 && !slices.Contains(marks, mark) {
				text = text[:at] + now + text[at+len(old):]
				marks = append(marks, mark)
			}
		}
		edits := []func(){
			func() { edit("@acme/payments", "mine", "mine") },
			func() { edit("docs/index.md", "docs/hand.md", "docs/hand.md") },
			func() { edit("README.md", "HAND.md", "HAND.md") },
			func() { edit("1 numbered", "by hand", "by hand") },
			func() { edit("docs/adr", "docs/other", "docs/other") },
			func() { edit("      has_docs: true\n", "      has_intents: true # seen\n", "has_intents: true # seen") },
			func() { edit("    owner:", "    lifecycle: transitional\n    owner:", "lifecycle: transitional") },
			func() { edit("    signals:\n", "    # above\n    signals: # beside\n      # below\n", "# below") },
			func() {
				edit("  - repo_id: d\n", "\n  # about d\n\n  - # d\n    repo_id: d\n", "# about d\n\n  - # d\n")
			},
			func() { edit(`"repo_id":"d"`, `"x-mine" : [1,  2], "repo_id":"d"`, `"x-mine" : [1,  2]`) },
		}
		for range 1 + rnd.IntN(4) {
			edits[rnd.IntN(len(edits))]()
		}
		owner := fmt.Sprintf("* @acme/team%d\n", seed)
		for _, f := range []struct{ name, text string }{{"b/CODEOWNERS", owner}, {fmt.Sprintf("d/docs/adr/%04d-x.md", seed+2), "x"}} {
			if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after, _ := regenerate(t, dir, name, text)
		for _, mark := range marks {
			if !strings.Contains(after, mark) {
				t.Errorf("the edit %q is lost\nbefore:\n%s\nafter:\n%s", mark, text, after)
			}
		}
		if !slices.Contains(marks, "mine") && !strings.Contains(after, strings.TrimSpace(owner[2:])) {
			t.Errorf("the owner is not up to date in\n%s", after)
		}
		if err := os.WriteFile(filepath.Join(dir, "b/CODEOWNERS"), []byte("* @acme/payments\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGenerateFileForms(t *testing.T) {
	dir := workspace(t, txtar.Parse([]byte(twoRepos)).Files)
	const head = "schema_version: \"1.0\"\nkind: workspace_registry\n"
	cases := []struct {
		name, file, text string
		want             string // part of the result
		code             registry.Code
	}{
		{name: "line breaks of Windows", file: "r.yaml", text: strings.ReplaceAll(head+"repos: []\n", "\n", "\r\n"), want: "repos:\r\n  - repo_id: b\r\n    manifest_source: generated\r\n"},
		{name: "no line break at the end", file: "r.yaml", text: head + "repos:\n- repo_id: a\n  manifest_source: generated", want: "- repo_id: a\n  manifest_source: generated\n- repo_id: b\n  manifest_source: generated\n"},
		{name: "not sorted", file: "r.yaml", text: head + "repos:\n- {repo_id: z, manifest_source: generated}\n- {repo_id: a, manifest_source: generated}\n# end\n", want: "- {repo_id: a, manifest_source: generated}\n- repo_id: b\n"},
		{name: "first", file: "r.yaml", text: head + "repos:\n  # theirs\n  - {repo_id: z, manifest_source: generated}\n", want: "repos:\n  # theirs\n  - repo_id: b\n"},
		{name: "an empty JSON list", file: "r.json", text: `{"schema_version":"1.0","kind":"workspace_registry","repos":[]}`, want: "\"repos\":[\n    {\"repo_id\":\"b\","},
		{name: "first in JSON", file: "r.json", text: "{\"schema_version\":\"1.0\",\"kind\":\"workspace_registry\",\"repos\":[\n {\"repo_id\":\"z\",\"manifest_source\":\"generated\"}]}", want: "},\n {\"repo_id\":\"z\","},
		{name: "not there", file: "none/r.yaml", want: "generator: mcpcontract\n"},
		{name: "TOML", file: "r.toml", text: "schema_version = \"1.0\"\nkind = \"workspace_registry\"\nrepos = []\n", code: registry.NotSpliced},
		{name: "not good", file: "r.yaml", text: head + "repos: 1\n", code: registry.WrongType},
		{name: "comments in brackets", file: "r.yaml", text: head + "repos:\n- {repo_id: b, fingerprint: owner=0, # why\n   entrypoints: [a.md, # this\n   b.md], manifest_source: generated}\n", want: "[a.md, # this\n"},
		{name: "comments in the way", file: "r.yaml", text: head + "repos:\n- {repo_id: b, manifest_source: generated,\n  # why\n  evidence: {owner: x}, fingerprint: evidence=b3c4bfb3}\n", want: "# why\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), filepath.FromSlash(tc.file))
			if tc.text != "" {
				put(t, file, tc.text, long(0))
			}
			data, _, err := registry.Generate(context.Background(), dir, &registry.ScanOptions{File: file})
			switch {
			case tc.code != "":
				if got := problems(t, err)[0].Code; got != tc.code {
					t.Errorf("code %s, want %s: %v", got, tc.code, err)
				}
			case err != nil:
				t.Error(err)
			case !strings.Contains(string(data), tc.want):
				t.Errorf("%q is not in\n%s", tc.want, data)
			}
		})
	}
}
