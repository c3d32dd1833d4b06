package discovery_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/discovery"
	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

func newResolver(tb testing.TB, opts *resolve.Options) (*resolve.Resolver, string) {
	tb.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		tb.Fatal(err)
	}
	reg := workspace(tb, string(text))
	write(tb, filepath.Join(reg.Root(), "finance/ledger/logo.png"), "\x89PNG\r\n\x1a\n\x00")
	return resolve.New(resolve.Static(reg), opts), reg.Root()
}

// each runs a test for every identity, on a workspace of its own.
func each(t *testing.T, test func(t *testing.T, p *peer, root string)) {
	t.Helper()
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			r, root := newResolver(t, nil)
			test(t, dial(t, r, nil, id), root)
		})
	}
}

type page[T any] struct {
	Items      []T
	NextCursor string
}

func TestListRepos(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{`{}`, []string{"ledger", "shop"}},
		{`{"includeArchived":true}`, []string{"attic", "ledger", "shop"}},
		{`{"lifecycle":"archived"}`, []string{"attic"}},
		{`{"lifecycle":"transitional"}`, []string{"shop"}},
		{`{"owner":"finance"}`, []string{"ledger"}},
		{`{"owner":"finance","includeArchived":true}`, []string{"attic", "ledger"}},
		{`{"repo_class":"application","owner":"web"}`, []string{"shop"}},
		{`{"owner":"nobody"}`, nil},
	}
	each(t, func(t *testing.T, p *peer, _ string) {
		t.Helper()
		for _, tt := range tests {
			got, _ := get[page[struct {
				RepoID string `json:"repo_id"`
			}]](p, "list_repos", tt.args)
			var ids []string
			for _, repo := range got.Items {
				ids = append(ids, repo.RepoID)
			}
			if diff := cmp.Diff(tt.want, ids); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.args, diff)
			}
		}
		all, _ := get[page[json.RawMessage]](p, "list_repos", `{}`)
		const want = `{"repo_id":"ledger","repo_class":"application","lifecycle":"active","owner":"finance","manifest_source":"repo",` +
			`"signals":{"has_docs":true,"has_mkdocs":false,"has_adr":false,"has_intents":false}}`
		if string(all.Items[0]) != want {
			t.Errorf("got  %s\nwant %s", all.Items[0], want)
		}
		if e := p.refused("list_repos", `{"lifecycle":"dead"}`); e.Code != "invalid_arguments" {
			t.Errorf("got %+v, want invalid_arguments", e)
		}
	})
}

// manyRepos is a registry that does not fit one page.
func manyRepos(n int, note string) string {
	var b strings.Builder
	b.WriteString("schema_version: \"1.0\"\nkind: workspace_registry\nx-note: " + note + "\nrepos:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {repo_id: repo-%04d, manifest_source: generated, entrypoints: [README.md], owner: a-team, repo_class: application}\n", i)
	}
	return b.String()
}

// parse reads a registry whose workspace is root.
func parse(tb testing.TB, text, root string) *registry.Registry {
	tb.Helper()
	reg, err := registry.Parse([]byte(text), &registry.ParseOptions{Root: root})
	if err != nil {
		tb.Fatal(err)
	}
	return reg
}

type swap struct{ reg *registry.Registry }

func (s *swap) Registry() *registry.Registry { return s.reg }

func TestListReposPages(t *testing.T) {
	const n = 500
	load := func(note string) *registry.Registry { return parse(t, manyRepos(n, note), t.TempDir()) }
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			src := &swap{load("one")}
			p := dial(t, resolve.New(src, nil), nil, id)
			var ids []string
			args, first := `{}`, ""
			for pages := 0; ; pages++ {
				got, size := get[page[struct {
					RepoID string `json:"repo_id"`
				}]](p, "list_repos", args)
				if size > 10_000 || pages > n {
					t.Fatalf("page %d has %d bytes on the wire", pages, size)
				}
				for _, repo := range got.Items {
					ids = append(ids, repo.RepoID)
				}
				if got.NextCursor == "" {
					break
				}
				args = fmt.Sprintf(`{"cursor":%q}`, got.NextCursor)
				if first == "" {
					first = got.NextCursor
				}
			}
			if len(ids) != n || ids[0] != "repo-0000" || ids[n-1] != "repo-0499" {
				t.Errorf("got %d ids from %q to %q", len(ids), ids[0], ids[len(ids)-1])
			}
			// The cursor belongs to its query and to the registry.
			if e := p.refused("list_repos", fmt.Sprintf(`{"owner":"a-team","cursor":%q}`, first)); e.Code != "cursor_invalid" {
				t.Errorf("another query: got %+v, want cursor_invalid", e)
			}
			src.reg = load("two")
			if e := p.refused("list_repos", fmt.Sprintf(`{"cursor":%q}`, first)); e.Code != "snapshot_changed" {
				t.Errorf("another registry: got %+v, want snapshot_changed", e)
			}
			if got, _ := get[page[json.RawMessage]](p, "list_repos", `{}`); len(got.Items) == 0 {
				t.Error("starting again gives nothing")
			}
		})
	}
}

func TestCheckRegistry(t *testing.T) {
	type problem struct {
		Code string
		File string
		Repo string `json:"repo_id"`
	}
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		got, _ := get[page[problem]](p, "check_registry", `{}`)
		want := []problem{
			{"repo_missing", "registry.yaml", "attic"},
			{"path_outside", "finance/ledger/docs/agent/manifest.yaml", "ledger"},
			{"path_missing", "registry.yaml", "shop"},
			{"path_missing", "registry.yaml", "shop"},
		}
		if diff := cmp.Diff(want, got.Items); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		write(t, filepath.Join(root, "shop/gone.md"), "back")
		if got, _ := get[page[problem]](p, "check_registry", `{}`); len(got.Items) != 3 {
			t.Errorf("after a repair: got %+v", got.Items)
		}
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		if e := p.refused("check_registry", `{}`); e.Code != "workspace_unreadable" || strings.Contains(e.Message, root) {
			t.Errorf("without the workspace: got %+v", e)
		}
	})
}

func TestCheckRegistryPages(t *testing.T) {
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			dir := t.TempDir()
			reg := parse(t, manyRepos(200, "x"), dir)
			p := dial(t, resolve.New(resolve.Static(reg), nil), nil, id)
			seen, args, first := 0, `{}`, ""
			for {
				got, size := get[page[json.RawMessage]](p, "check_registry", args)
				if size > 10_000 {
					t.Fatalf("a page has %d bytes on the wire", size)
				}
				if seen += len(got.Items); got.NextCursor == "" {
					break
				}
				args = fmt.Sprintf(`{"cursor":%q}`, got.NextCursor)
				if first == "" {
					first = args
				}
			}
			if seen != 200 {
				t.Errorf("got %d problems, want one for each of 200 repos", seen)
			}
			write(t, filepath.Join(dir, "repo-0000", "README.md"), "x")
			if e := p.refused("check_registry", first); e.Code != "snapshot_changed" {
				t.Errorf("after a repair: got %+v, want snapshot_changed", e)
			}
		})
	}
}

// Files are named relative to the workspace, wherever the server was started.
func TestCheckRegistryFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ws/registry.yaml"), "schema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n"+
		"  - {repo_id: a, owner: x, manifest_source: repo, manifest_path: m.yaml, entrypoints: [gone.md]}\n")
	write(t, filepath.Join(dir, "ws/a/m.yaml"), "kind: repo_manifest\nrepo_id: b\n")
	t.Chdir(dir)
	reg, err := registry.Load("ws/registry.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	type problem struct {
		Code, File string
		Line       int
	}
	got, _ := get[page[problem]](dial(t, resolve.New(resolve.Static(reg), nil), nil, identities[0]), "check_registry", `{}`)
	want := []problem{{"path_missing", "registry.yaml", 4}, {"manifest_id_differs", "a/m.yaml", 2}}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The pages of one listing are of one moment and cost one check, unless they are
// read too slowly or the registry is another.
func TestCheckRegistryOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, source *swap, dir string)
		code   string // of the second page
	}{
		{"at once", func(*testing.T, *swap, string) {}, ""},
		{"slowly", func(*testing.T, *swap, string) { time.Sleep(2 * time.Minute) }, "snapshot_changed"},
		{"another registry", func(t *testing.T, source *swap, dir string) {
			t.Helper()
			source.reg = parse(t, manyRepos(200, "y"), dir)
		}, "snapshot_changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				source := &swap{parse(t, manyRepos(200, "x"), dir)}
				p := dial(t, resolve.New(source, nil), nil, identities[0])
				got, _ := get[page[json.RawMessage]](p, "check_registry", `{}`)
				write(t, filepath.Join(dir, "repo-0000", "README.md"), "x")
				tt.before(t, source, dir)
				next := fmt.Sprintf(`{"cursor":%q}`, got.NextCursor)
				if tt.code != "" {
					if e := p.refused("check_registry", next); e.Code != tt.code {
						t.Errorf("got %+v, want %s", e, tt.code)
					}
					return
				}
				seen := len(got.Items)
				for got.NextCursor != "" {
					got, _ = get[page[json.RawMessage]](p, "check_registry", fmt.Sprintf(`{"cursor":%q}`, got.NextCursor))
					seen += len(got.Items)
				}
				if seen != 200 {
					t.Errorf("got %d problems, want the 200 of the first page's moment", seen)
				}
				if e := p.refused("check_registry", next); e.Code != "snapshot_changed" {
					t.Errorf("after the last page: got %+v, want snapshot_changed", e)
				}
			})
		})
	}
}

// A change of the repo is seen by the next call: nothing is cached.
func TestResolveStaleAndRecovered(t *testing.T) {
	type reply struct {
		Mode    string                  `json:"discovery_mode"`
		Notices []struct{ Code string } `json:"notices"`
	}
	each(t, func(t *testing.T, p *peer, root string) {
		t.Helper()
		manifest := filepath.Join(root, "finance/ledger/docs/agent/manifest.yaml")
		if err := os.Rename(manifest, manifest+".away"); err != nil {
			t.Fatal(err)
		}
		got, _ := get[reply](p, "resolve_repo", `{"repo_id":"ledger"}`)
		if got.Mode != "registry-fallback" || got.Notices[0].Code != "manifest_missing" {
			t.Errorf("without the manifest: got %+v", got)
		}
		if e := p.refused("read_view", `{"repo_id":"ledger","view":"manifest"}`); e.Code != "view_not_declared" {
			t.Errorf("without the manifest: got %+v, want view_not_declared", e)
		}
		if err := os.Rename(manifest+".away", manifest); err != nil {
			t.Fatal(err)
		}
		if got, _ := get[reply](p, "resolve_repo", `{"repo_id":"ledger"}`); got.Mode != "manifest-backed" {
			t.Errorf("with the manifest again: got %+v", got)
		}
	})
}

// A folder cannot be read; the refusal names the tool that lists it, and the type.
func TestReadFolder(t *testing.T) {
	each(t, func(t *testing.T, p *peer, _ string) {
		t.Helper()
		e := p.refused("read_entrypoint", `{"repo_id":"ledger","path":"docs"}`)
		const want = `repo "ledger": "docs" is a folder, not a file; what is in it is listed by its resource type: docs; call scan_root with that type`
		if e.Code != "file_refused" || e.Message != want {
			t.Errorf("got %+v, want %s", e, want)
		}
	})
}

func TestNoHeuristics(t *testing.T) {
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			r, _ := newResolver(t, &resolve.Options{NoHeuristics: true})
			p := dial(t, r, nil, id)
			for _, call := range [][2]string{
				{"resolve_repo", `{"repo_id":"notebook"}`},
				{"read_entrypoint", `{"repo_id":"notebook","path":"README.md"}`},
				{"read_view", `{"repo_id":"notebook","view":"manifest"}`},
				{"scan_root", `{"repo_id":"notebook","type":"docs"}`},
			} {
				if e := p.refused(call[0], call[1]); e.Code != "probe_forbidden" {
					t.Errorf("%s: got %+v, want probe_forbidden", call[0], e)
				}
			}
			if r := p.send("resources/read", `{"uri":"repo://notebook/manifest"}`); r.Error == nil || r.Error.Code != -32602 {
				t.Errorf("resource: got %+v", r)
			}
		})
	}
}

// A description that would be too large drops the digests before anything else.
func TestResolveLargeRepo(t *testing.T) {
	var reg strings.Builder
	reg.WriteString("-- registry.yaml --\nschema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - repo_id: big\n    manifest_source: generated\n    entrypoints:\n")
	var files strings.Builder
	for i := range 80 {
		fmt.Fprintf(&reg, "      - docs/%03d.md\n", i)
		fmt.Fprintf(&files, "-- big/docs/%03d.md --\nx\n", i)
	}
	loaded := workspace(t, reg.String()+files.String())
	type reply struct {
		Entrypoints []map[string]any
	}
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			p := dial(t, resolve.New(resolve.Static(loaded), nil), nil, id)
			got, size := get[reply](p, "resolve_repo", `{"repo_id":"big"}`)
			if size > 10_000 || len(got.Entrypoints) != 80 {
				t.Errorf("got %d entrypoints in %d bytes", len(got.Entrypoints), size)
			}
			want := map[string]any{"path": "docs/000.md", "status": "present"}
			if diff := cmp.Diff(want, got.Entrypoints[0]); diff != "" {
				t.Errorf("entrypoint (-want +got):\n%s", diff)
			}
		})
	}
}

// A description that is too large even without digests drops the ends of its
// lists, and says so, instead of locking agents out of the repo.
func TestResolveHugeRepo(t *testing.T) {
	var reg strings.Builder
	reg.WriteString("-- registry.yaml --\nschema_version: \"1.0\"\nkind: workspace_registry\nrepos:\n  - repo_id: huge\n    manifest_source: generated\n    entrypoints:\n")
	for i := range 400 {
		fmt.Fprintf(&reg, "      - docs/guide/chapter-%04d.md\n", i)
	}
	reg.WriteString("    views:\n")
	for i := range 300 {
		fmt.Fprintf(&reg, "      view-%04d: docs/guide/chapter-%04d.md\n", i, i)
	}
	loaded := workspace(t, reg.String()+"-- huge/docs/guide/chapter-0399.md --\nthe end\n")
	type reply struct {
		Entrypoints []struct{ Path string }
		Views       map[string]string
		Notices     []struct{ Code, Message string }
	}
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			p := dial(t, resolve.New(resolve.Static(loaded), nil), nil, id)
			got, size := get[reply](p, "resolve_repo", `{"repo_id":"huge"}`)
			if size > 10_000 || size < 5_000 {
				t.Errorf("the reply has %d bytes, want nearly 10,000", size)
			}
			if n := len(got.Entrypoints); n == 0 || n == 400 || got.Entrypoints[0].Path != "docs/guide/chapter-0000.md" {
				t.Errorf("got %d entrypoints, want the first of 400", n)
			}
			want := fmt.Sprintf("entrypoints: %d of 400 are shown, to keep the reply short; the others can be used all the same", len(got.Entrypoints))
			found := false
			for _, n := range got.Notices {
				found = found || n.Code == "list_cut" && n.Message == want
			}
			if !found {
				t.Errorf("no notice says %q; got %v", want, got.Notices)
			}
			read, _ := get[struct{ Text string }](p, "read_entrypoint", `{"repo_id":"huge","path":"docs/guide/chapter-0399.md"}`)
			if read.Text != "the end\n" {
				t.Errorf("an entrypoint that is not shown reads as %q", read.Text)
			}
		})
	}
}

func TestResourceLimits(t *testing.T) {
	for _, id := range identities {
		t.Run(id.title, func(t *testing.T) {
			r, root := newResolver(t, nil)
			p := dial(t, r, &discovery.Options{MaxResource: 1500}, id)
			write(t, filepath.Join(root, "shop/docs/contracts.md"), strings.Repeat("x", 1501))
			got := p.send("resources/read", `{"uri":"repo://shop/contracts"}`)
			if got.Error == nil || !strings.Contains(got.Error.Message, "read_view") {
				t.Errorf("a long file: got %+v", got)
			}
			write(t, filepath.Join(root, "shop/docs/contracts.md"), "\xff")
			got = p.send("resources/read", `{"uri":"repo://shop/contracts"}`)
			if got.Error == nil || !strings.Contains(string(got.Error.Data), `"not_text"`) {
				t.Errorf("a binary file: got %+v", got)
			}
			reg, err := registry.Parse([]byte(manyRepos(50, "x")), &registry.ParseOptions{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			p = dial(t, resolve.New(resolve.Static(reg), nil), &discovery.Options{MaxResource: 1500}, id)
			got = p.send("resources/read", `{"uri":"repo://index"}`)
			var contents struct {
				Contents []struct{ Text string }
			}
			var index struct {
				Items   []json.RawMessage
				Omitted int
				Hint    string
			}
			if json.Unmarshal(got.Result, &contents) != nil || json.Unmarshal([]byte(contents.Contents[0].Text), &index) != nil {
				t.Fatalf("index: got %s", got.Result)
			}
			if len(index.Items) == 0 || len(index.Items)+index.Omitted != 50 || index.Hint == "" || len(contents.Contents[0].Text) > 1500 {
				t.Errorf("index: got %d items, %d omitted, hint %q", len(index.Items), index.Omitted, index.Hint)
			}
		})
	}
}

func TestFeatureRefusesNil(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("did not panic")
		}
	}()
	discovery.Feature(nil, nil)
}

// A page that could not hold what is said of one repo is refused at set-up.
func TestFeatureRefusesSmallPages(t *testing.T) {
	reg, err := registry.Parse([]byte("schema_version: \"1.0\"\nkind: workspace_registry\nrepos: []\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.New(resolve.Static(reg), nil)
	for size, ok := range map[int]bool{-1: false, 1: false, 3_999: false, 4_000: true, 0: true} {
		_, err := mcpkit.NewServer(&mcp.Implementation{Name: "test", Version: "1.0.0"}, nil, discovery.Feature(r, &discovery.Options{MaxPage: size}))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "4000") {
			t.Errorf("%d: got %v", size, err)
		}
	}
}
