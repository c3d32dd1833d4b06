package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// header starts a registry file.
const header = `-- registry.yaml --
schema_version: "1.0"
kind: workspace_registry
repos:
`

// withManifest is a registry of one repo that declares a manifest, a folder and
// two entrypoints.
const withManifest = header + `  - repo_id: svc
    manifest_source: repo
    manifest_path: docs/agent/manifest.yaml
    entrypoints: [README.md, docs/index.md]
    resource_roots: {docs: docs, notes: [notes]}
    authority_order: [from_registry]
    repo_class: legacy
    owner: registry-team
-- svc/README.md --
read me
-- svc/docs/index.md --
index
-- svc/secret.md --
secret
`

const manifestHead = `-- svc/docs/agent/manifest.yaml --
schema_version: "1.0"
kind: repo_manifest
repo_id: svc
`

// answer is what the tests look at in a repo.
type answer struct {
	Mode        resolve.Mode
	Entrypoints []string // "path" or "path status"
	Roots       []string // "type: path path"
	Views       map[string]string
	Authority   []string
	Class       string
	Owner       string
	Notices     []string // "code" or "code path"
	Steps       []string // "name: outcome"
}

func summary(repo *resolve.Repo) answer {
	a := answer{Mode: repo.Mode, Views: repo.Views, Authority: repo.AuthorityOrder, Class: repo.Class, Owner: repo.Owner}
	for _, e := range repo.Entrypoints {
		a.Entrypoints = append(a.Entrypoints, strings.TrimSpace(e.Path+" "+string(e.Status)))
	}
	for _, r := range repo.ResourceRoots {
		a.Roots = append(a.Roots, r.Type+": "+strings.Join(r.Paths, " "))
	}
	for _, n := range repo.Notices {
		a.Notices = append(a.Notices, strings.TrimSpace(string(n.Code)+" "+n.Path))
	}
	for _, s := range repo.Steps {
		a.Steps = append(a.Steps, s.Name+": "+s.Outcome)
	}
	return a
}

func TestResolve(t *testing.T) {
	fromRegistry := answer{
		Mode:        resolve.RegistryFallback,
		Entrypoints: []string{"README.md", "docs/index.md"},
		Roots:       []string{"docs: docs", "notes: notes"},
		Authority:   []string{"from_registry"},
		Class:       "legacy",
		Owner:       "registry-team",
	}
	fallback := func(manifest string, notices ...string) answer {
		a := fromRegistry
		a.Notices = notices
		a.Steps = []string{"registry: found", "manifest: " + manifest, "entrypoints: registry-fallback"}
		return a
	}
	// backed changes the answer for a manifest that says nothing.
	backed := func(change func(a *answer)) answer {
		a := fromRegistry
		a.Mode = resolve.ManifestBacked
		a.Views = map[string]string{"manifest": "docs/agent/manifest.yaml"}
		a.Steps = []string{"registry: found", "manifest: loaded", "entrypoints: registry-fallback"}
		change(&a)
		return a
	}
	tests := []struct {
		name, files, id string
		want            answer
		failed          int // file operations that have to fail
	}{{
		name:  "manifest decides on content",
		files: withManifest + manifestHead + "repo_class: application\nowner: repo-team\nauthority_order: [from_manifest]\nentrypoints: [docs/index.md, docs/more.md, README.md]\nresource_roots: {docs: docs/agent, adr: docs/adr}\n-- svc/docs/more.md --\nmore\n",
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"docs/index.md", "docs/more.md", "README.md"}
			a.Roots = []string{"adr: docs/adr", "docs: docs/agent", "notes: notes"}
			a.Authority, a.Class, a.Owner = []string{"from_manifest"}, "application", "repo-team"
			a.Steps[2] = "entrypoints: manifest-backed"
		}),
	}, {
		name:  "manifest that says nothing",
		files: withManifest + manifestHead,
		want:  backed(func(*answer) {}),
	}, {
		name: "manifest paths outside the registry are refused",
		files: withManifest + manifestHead + "entrypoints: [secret.md, ../other/x.md, 'C:\\x', docs/index.md, docsecret.md]\nresource_roots: {docs: [src, docs], all: .github}\nviews: {contracts: secret.md}\n" +
			"-- svc/docsecret.md --\nx\n",
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"docs/index.md"}
			a.Notices = []string{
				"manifest_path_refused docs/agent/manifest.yaml", "manifest_path_refused docs/agent/manifest.yaml",
				"manifest_path_refused .github", "manifest_path_refused src",
				"manifest_path_refused secret.md", "manifest_path_refused docsecret.md", "manifest_path_refused secret.md",
			}
			a.Steps[2] = "entrypoints: manifest-backed"
		}),
	}, {
		name:  "manifest whose entrypoints are all refused",
		files: withManifest + manifestHead + "entrypoints: [secret.md]\n",
		want: backed(func(a *answer) {
			a.Notices = []string{"manifest_path_refused secret.md"}
		}),
	}, {
		name:  "manifest names files that are not there",
		files: withManifest + manifestHead + "entrypoints: [docs/gone.md, docs/deep/gone.md, README.md]\nviews: {workflows: docs/flow.md}\n",
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"docs/gone.md missing", "docs/deep/gone.md missing", "README.md"}
			a.Views["workflows"] = "docs/flow.md"
			a.Notices = []string{"entrypoint_missing docs/gone.md", "entrypoint_missing docs/deep/gone.md", "entrypoint_missing docs/flow.md"}
			a.Steps[2] = "entrypoints: manifest-backed"
		}),
	}, {
		name:  "manifest names folders as files",
		files: withManifest + manifestHead + "entrypoints: [docs, docs/sub, docs/sub/gone.md, README.md]\n-- svc/docs/sub/x.md --\nx\n",
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"docs not-a-file", "docs/sub not-a-file", "docs/sub/gone.md missing", "README.md"}
			a.Notices = []string{"entrypoint_unusable docs", "entrypoint_unusable docs/sub", "entrypoint_missing docs/sub/gone.md"}
			a.Steps[2] = "entrypoints: manifest-backed"
		}),
	}, {
		name: "default views that are there",
		files: withManifest + manifestHead + "views: {capabilities: docs/index.md}\n-- svc/docs/agent/start-here.md --\nx\n" +
			"-- svc/docs/context/capabilities.md --\nx\n-- svc/docs/context/workflows.md/a --\nx\n",
		want: backed(func(a *answer) {
			a.Views["start-here"], a.Views["capabilities"] = "docs/agent/start-here.md", "docs/index.md"
		}),
	}, {
		name:  "manifest with another id",
		files: withManifest + "-- svc/docs/agent/manifest.yaml --\nschema_version: \"1.0\"\nkind: repo_manifest\nrepo_id: elsewhere\n",
		want:  backed(func(a *answer) { a.Notices = []string{"manifest_id_differs docs/agent/manifest.yaml"} }),
	}, {
		name:  "manifest with an empty id",
		files: withManifest + "-- svc/docs/agent/manifest.yaml --\nschema_version: \"1.0\"\nkind: repo_manifest\nrepo_id: \"\"\n",
		want:  backed(func(a *answer) { a.Notices = []string{"manifest_id_differs docs/agent/manifest.yaml"} }),
	}, {
		name:  "one bad manifest entry",
		files: withManifest + manifestHead + "entrypoints: [docs/index.md, 7]\n",
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"docs/index.md"}
			a.Notices = []string{"manifest_problem docs/agent/manifest.yaml"}
			a.Steps[2] = "entrypoints: manifest-backed"
		}),
	}, {
		name:   "declared manifest is missing",
		files:  withManifest,
		want:   fallback("missing", "manifest_missing docs/agent/manifest.yaml"),
		failed: 1,
	}, {
		name:  "manifest is recorded as missing",
		files: strings.Replace(withManifest, "    owner:", "    entrypoint_status: {docs/agent/manifest.yaml: missing}\n    owner:", 1) + manifestHead,
		want:  fallback("missing", "manifest_missing docs/agent/manifest.yaml"),
	}, {
		name:  "manifest is no YAML",
		files: withManifest + "-- svc/docs/agent/manifest.yaml --\n{[\n",
		want:  fallback("invalid", "manifest_invalid docs/agent/manifest.yaml"),
	}, {
		name:  "manifest is another kind of file",
		files: withManifest + "-- svc/docs/agent/manifest.yaml --\nschema_version: \"1.0\"\nkind: Pod\n",
		want:  fallback("invalid", "manifest_invalid docs/agent/manifest.yaml"),
	}, {
		name:  "manifest is too large",
		files: withManifest + manifestHead + strings.Repeat("# padding\n", 30_000),
		want:  fallback("invalid", "manifest_invalid docs/agent/manifest.yaml"),
	}, {
		name:   "manifest is a folder",
		files:  withManifest + "-- svc/docs/agent/manifest.yaml/x --\nx\n",
		want:   fallback("invalid", "manifest_invalid docs/agent/manifest.yaml"),
		failed: -1,
	}, {
		name:  "generated source means no manifest, even if one is there",
		files: strings.Replace(strings.Replace(withManifest, "manifest_source: repo", "manifest_source: generated", 1), "    manifest_path: docs/agent/manifest.yaml\n", "", 1) + manifestHead,
		want:  fallback("not declared"),
	}, {
		name:  "status and views of the registry",
		files: strings.Replace(withManifest, "    owner:", "    views: {contracts: docs/c.md}\n    entrypoint_status: {README.md: present, docs/index.md: missing, notes: missing}\n    owner:", 1) + manifestHead,
		want: backed(func(a *answer) {
			a.Entrypoints = []string{"README.md present", "docs/index.md missing"}
			a.Views["contracts"] = "docs/c.md"
			a.Notices = []string{"root_missing notes"}
		}),
	}, {
		name:  "former id",
		files: header + "  - {repo_id: svc, former_ids: [old], manifest_source: generated, entrypoints: [README.md]}\n",
		id:    "old",
		want: answer{
			Mode: resolve.RegistryFallback, Entrypoints: []string{"README.md"}, Notices: []string{"repo_renamed"},
			Steps: []string{"registry: renamed", "manifest: not declared", "entrypoints: registry-fallback"},
		},
	}, {
		name:  "archived",
		files: header + "  - {repo_id: svc, lifecycle: archived, manifest_source: generated, entrypoints: [README.md]}\n",
		want: answer{
			Mode: resolve.RegistryFallback, Entrypoints: []string{"README.md"}, Notices: []string{"repo_archived"},
			Steps: []string{"registry: found", "manifest: not declared", "entrypoints: registry-fallback"},
		},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, ops := counted(workspace(t, tt.files), nil)
			id := tt.id
			if id == "" {
				id = "svc"
			}
			repo := mustResolve(t, r, id)
			if diff := cmp.Diff(tt.want, summary(repo), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if repo.ID != "svc" || repo.Root != "svc" {
				t.Errorf("got id %q, root %q, want svc", repo.ID, repo.Root)
			}
			if (repo.Manifest != nil) != (repo.Mode == resolve.ManifestBacked) || (repo.ManifestFile != nil) != (repo.Manifest != nil) {
				t.Errorf("mode %s with manifest %v, file %v", repo.Mode, repo.Manifest, repo.ManifestFile)
			}
			if tt.failed >= 0 && len(ops.failed) != tt.failed {
				t.Errorf("failed file operations: got %v, want %d", ops.failed, tt.failed)
			}
		})
	}
}

func TestResolveNamesSuccessor(t *testing.T) {
	reg := workspace(t, header+`  - {repo_id: svc, lifecycle: archived, superseded_by: next, manifest_source: generated, entrypoints: [README.md]}
  - {repo_id: next, manifest_source: generated, entrypoints: [README.md]}
`)
	repo := mustResolve(t, resolve.New(resolve.Static(reg), nil), "svc")
	if len(repo.Notices) != 1 || !strings.Contains(repo.Notices[0].Message, `"next"`) {
		t.Errorf("notices %v do not name the successor", repo.Notices)
	}
}

func TestResolveBoundsNotices(t *testing.T) {
	var manifest strings.Builder
	manifest.WriteString(withManifest + manifestHead + "entrypoints:\n")
	for i := range 500 {
		fmt.Fprintf(&manifest, "  - src/%d.md\n", i)
	}
	repo := mustResolve(t, resolve.New(resolve.Static(workspace(t, manifest.String())), nil), "svc")
	last := repo.Notices[len(repo.Notices)-1]
	if len(repo.Notices) != 41 || last.Code != resolve.MoreNotices {
		t.Errorf("got %d notices, the last %q; want 41, the last %q", len(repo.Notices), last.Code, resolve.MoreNotices)
	}
}

const mixed = header + `  - {repo_id: billing, manifest_source: generated, entrypoints: [README.md]}
  - {repo_id: billing-ui, manifest_source: generated, entrypoints: [README.md]}
  - {repo_id: elsewhere, path: tools, safe_to_probe: true, manifest_source: generated, entrypoints: [README.md]}
  - {repo_id: inner, path: wild/docs, manifest_source: generated, entrypoints: [index.md]}
-- billing/README.md --
x
-- tools/README.md --
x
-- free/Readme.md --
read me
-- free/CLAUDE.md --
x
-- free/docs/README.md --
x
-- free/docs/readme.md --
x
-- free/docs/adr/0001-x.md --
x
-- free/docs/adr/template.md --
x
-- free/docs/agent/manifest.yaml --
schema_version: "1.0"
-- free/mkdocs.yml --
site_name: x
-- free/private.md --
private
-- wild/README.md --
x
-- wild/docs/index.md --
registered
-- bare/main.go --
package main
-- file --
x
`

func TestResolveUnregistered(t *testing.T) {
	tests := []struct {
		name, id string
		off      bool // heuristics
		want     answer
		code     resolve.Code
		nearest  []string
		ops      bool // file operations are allowed
	}{
		{
			name: "folder", id: "free", ops: true,
			want: answer{
				Mode:        resolve.Heuristic,
				Entrypoints: []string{"Readme.md", "docs/README.md", "docs/readme.md", "CLAUDE.md", "mkdocs.yml"},
				Notices:     []string{"repo_unregistered"},
				Steps:       []string{"registry: unknown", "heuristic: found"},
			},
		},
		{
			name: "folder of a registered repo inside is left alone", id: "wild", ops: true,
			want: answer{
				Mode:        resolve.Heuristic,
				Entrypoints: []string{"README.md"},
				Notices:     []string{"repo_unregistered"},
				Steps:       []string{"registry: unknown", "heuristic: found"},
			},
		},
		{
			name: "folder without anything known", id: "bare", ops: true,
			want: answer{
				Mode:    resolve.Heuristic,
				Notices: []string{"repo_unregistered"},
				Steps:   []string{"registry: unknown", "heuristic: found"},
			},
		},
		{name: "no folder", id: "biling", code: resolve.RepoUnknown, nearest: []string{"billing"}, ops: true},
		{name: "part of an id", id: "ui", code: resolve.RepoUnknown, nearest: []string{"billing-ui"}, ops: true},
		{name: "other case", id: "FREE", code: resolve.RepoUnknown, ops: true},
		{name: "registered in other case", id: "Billing", code: resolve.RepoUnknown, nearest: []string{"billing", "billing-ui"}, ops: true},
		{name: "a file", id: "file", code: resolve.RepoUnknown, ops: true},
		{name: "a link to a folder", id: "link", code: resolve.RepoUnknown, ops: true},
		{name: "folder of another repo, even one that is safe to probe", id: "tools", code: resolve.ProbeForbidden, nearest: []string{"elsewhere"}},
		{name: "heuristics off, folder is there", id: "free", off: true, code: resolve.ProbeForbidden},
		{name: "heuristics off, nothing is there", id: "biling", off: true, code: resolve.ProbeForbidden, nearest: []string{"billing"}},
		{name: "nested", id: "free/docs", code: resolve.RepoUnknown},
		{name: "parent", id: "..", code: resolve.RepoUnknown},
		{name: "root", id: ".", code: resolve.RepoUnknown},
		{name: "git folder", id: ".git", code: resolve.RepoUnknown},
		{name: "device", id: "NUL", code: resolve.RepoUnknown},
		{name: "empty", id: "", code: resolve.RepoUnknown},
		{name: "huge", id: strings.Repeat("x", 1<<20), code: resolve.RepoUnknown},
		{name: "control characters", id: "a\x00\n", code: resolve.RepoUnknown},
	}
	reg := workspace(t, mixed)
	if err := os.Symlink("free", filepath.Join(reg.Root(), "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, ops := counted(reg, &resolve.Options{NoHeuristics: tt.off})
			repo, err := r.Resolve(t.Context(), tt.id)
			if code := codeOf(t, err); code != tt.code {
				t.Fatalf("got code %q, want %q", code, tt.code)
			}
			if err == nil {
				defer repo.Close()
				if diff := cmp.Diff(tt.want, summary(repo), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			} else {
				fault, _ := errors.AsType[*resolve.Error](err)
				if diff := cmp.Diff(tt.nearest, fault.Details.Nearest); diff != "" {
					t.Errorf("nearest ids (-want +got):\n%s", diff)
				}
				if len(err.Error()) > 1000 {
					t.Errorf("message of %d bytes", len(err.Error()))
				}
			}
			if len(ops.failed) > 0 {
				t.Errorf("failed file operations: %v", ops.failed)
			}
			if !tt.ops && ops.all > 0 {
				t.Errorf("%d file operations, want none", ops.all)
			}
		})
	}
}

func TestResolveUnregisteredSignals(t *testing.T) {
	repo := mustResolve(t, resolve.New(resolve.Static(workspace(t, mixed)), nil), "free")
	want := registry.Signals{HasDocs: true, HasMkdocs: true, HasADR: true}
	if diff := cmp.Diff(want, repo.Entry.Signals); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
}

// A workspace that is itself a registered repo has no unregistered folders.
func TestResolveInsideRegisteredWorkspace(t *testing.T) {
	reg := workspace(t, header+"  - {repo_id: mono, path: ., manifest_source: generated, entrypoints: [README.md]}\n-- sub/README.md --\nx\n-- README.md --\nx\n")
	r := resolve.New(resolve.Static(reg), nil)
	if _, err := r.Resolve(t.Context(), "sub"); codeOf(t, err) != resolve.ProbeForbidden {
		t.Errorf("got %v, want %s", err, resolve.ProbeForbidden)
	}
	file, err := mustResolve(t, r, "mono").Open(t.Context(), "README.md")
	if err != nil || string(file.Data) != "x\n" {
		t.Errorf("got %v, %v", file, err)
	}
}

func TestResolveCrowdedWorkspace(t *testing.T) {
	reg := workspace(t, mixed)
	_, err := resolve.New(resolve.Static(reg), &resolve.Options{MaxEntries: 3}).Resolve(t.Context(), "free")
	if code := codeOf(t, err); code != resolve.TooManyEntries {
		t.Errorf("got code %q, want %q", code, resolve.TooManyEntries)
	}
}

func TestResolveWorkspaceGone(t *testing.T) {
	reg, err := registry.Parse([]byte("schema_version: \"1.0\"\nkind: workspace_registry\nrepos: []\n"), &registry.ParseOptions{Root: filepath.Join(t.TempDir(), "gone")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resolve.New(resolve.Static(reg), nil).Resolve(t.Context(), "x"); codeOf(t, err) != resolve.RepoUnknown {
		t.Errorf("got %v, want %s", err, resolve.RepoUnknown)
	}
}

func TestResolveCanceled(t *testing.T) {
	reg := workspace(t, withManifest+manifestHead)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := resolve.New(resolve.Static(reg), nil).Resolve(ctx, "svc"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A registered folder that is gone is the registry's fault: a notice, and an
// error only when something is read.
func TestResolveFolderGone(t *testing.T) {
	reg := workspace(t, withManifest)
	if err := os.RemoveAll(filepath.Join(reg.Root(), "svc")); err != nil {
		t.Fatal(err)
	}
	repo := mustResolve(t, resolve.New(resolve.Static(reg), nil), "svc")
	if got := summary(repo).Notices; !cmp.Equal(got, []string{"manifest_missing docs/agent/manifest.yaml"}) {
		t.Errorf("got notices %v", got)
	}
	_, err := repo.Open(t.Context(), "README.md")
	if code := codeOf(t, err); code != resolve.RepoMissing {
		t.Errorf("got code %q, want %q", code, resolve.RepoMissing)
	}
	if _, err := repo.Scan(t.Context(), "docs"); codeOf(t, err) != resolve.RepoMissing {
		t.Errorf("scan: got %v, want %q", err, resolve.RepoMissing)
	}
	if strings.Contains(err.Error(), reg.Root()) {
		t.Errorf("the error names the absolute path: %v", err)
	}
}

// A repo behind a link is not there.
func TestResolveLinkedFolder(t *testing.T) {
	reg := workspace(t, header+"  - {repo_id: svc, path: link, manifest_source: generated, entrypoints: [README.md]}\n-- real/README.md --\nx\n")
	if err := os.Symlink("real", filepath.Join(reg.Root(), "link")); err != nil {
		t.Fatal(err)
	}
	repo := mustResolve(t, resolve.New(resolve.Static(reg), nil), "svc")
	if _, err := repo.Open(t.Context(), "README.md"); codeOf(t, err) != resolve.RepoMissing {
		t.Errorf("got %v, want %s", err, resolve.RepoMissing)
	}
}

// A source may change between calls; each answer is of one registry.
func TestResolveFollowsSource(t *testing.T) {
	before := workspace(t, header+"  - {repo_id: svc, manifest_source: generated, entrypoints: [README.md]}\n")
	after := workspace(t, header+"  - {repo_id: svc, manifest_source: generated, entrypoints: [other.md]}\n")
	src := &swap{before}
	r := resolve.New(src, nil)
	first := mustResolve(t, r, "svc")
	src.reg = after
	second := mustResolve(t, r, "svc")
	if first.Entrypoints[0].Path != "README.md" || second.Entrypoints[0].Path != "other.md" || r.Registry() != after {
		t.Errorf("got %v, then %v", first.Entrypoints, second.Entrypoints)
	}
	if first.Revision() == second.Revision() {
		t.Error("the revision did not change with the registry")
	}
	if again := mustResolve(t, r, "svc"); again.Revision() != second.Revision() {
		t.Error("the revision is not stable")
	}
}

type swap struct{ reg *registry.Registry }

func (s *swap) Registry() *registry.Registry { return s.reg }

func TestNewRefusesNil(t *testing.T) {
	for name, call := range map[string]func(){
		"New":    func() { resolve.New(nil, nil) },
		"Static": func() { resolve.Static(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			call()
		})
	}
}

// A folder that a manifest also names as a file is listed all the same.
func TestScanFolderNamedAsFile(t *testing.T) {
	reg := workspace(t, withManifest+manifestHead+"entrypoints: [docs]\n")
	repo := mustResolve(t, resolve.New(resolve.Static(reg), nil), "svc")
	if _, err := repo.Open(t.Context(), "docs"); codeOf(t, err) != resolve.FileRefused {
		t.Errorf("open: got %v, want %s", err, resolve.FileRefused)
	}
	if found, err := repo.Scan(t.Context(), "docs"); err != nil || len(found) != 2 {
		t.Errorf("scan: got %v, %v, want 2 files", found, err)
	}
}

// The notice of a faulty manifest says where the fault is.
func TestManifestProblemPlace(t *testing.T) {
	for text, want := range map[string]string{
		"entrypoints: [docs/index.md, 7]\n": `line 4, entrypoints[1]: "7" is read as a number; put it in quotes`,
		"---\na: 1\n":                       "line 5: a second document starts here; keep one document per file",
	} {
		repo := mustResolve(t, resolve.New(resolve.Static(workspace(t, withManifest+manifestHead+text)), nil), "svc")
		if len(repo.Notices) != 1 || repo.Notices[0].Message != want {
			t.Errorf("%q: got the notices %+v, want %q", text, repo.Notices, want)
		}
	}
}
