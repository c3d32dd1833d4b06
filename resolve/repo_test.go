package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/registry"
	"github.com/mcpcontract/mcpcontract/resolve"
)

const files = header + `  - repo_id: svc
    manifest_source: repo
    manifest_path: docs/agent/manifest.yaml
    entrypoints: [README.md, gone.md, known-gone.md, big.bin, odd/folder.md, link.md, "空 白.md"]
    entrypoint_status: {known-gone.md: missing, docs/old.md: missing, docs/big.md: too-large, docs/denied.md: unreadable, docs/away.md: outside-root, notes: missing}
    resource_roots: {docs: docs, all: [docs, extra], gone: gone, notes: notes, both: [gone, extra]}
    views: {contracts: agreed.md, workflows: no-flow.md}
-- svc/README.md --
read me
-- svc/agreed.md --
agreed
-- svc/secret.md --
secret
-- svc/空 白.md --
names
-- svc/odd/folder.md/x --
x
-- svc/docs/old.md --
this was added after the registry was written
-- svc/docs/b.md --
b
-- svc/docs/a/deep.md --
deep
-- svc/docs-secret/x.md --
secret
-- svc/extra/c.md --
c
-- svc/docs/agent/manifest.yaml --
schema_version: "1.0"
kind: repo_manifest
repo_id: svc
entrypoints: [docs/b.md, README.md, gone.md, known-gone.md]
-- other/README.md --
other
`

// openFiles prepares the workspace of the tests below: what an archive cannot
// hold is added here.
func openFiles(t *testing.T, opts *resolve.Options) *resolve.Repo {
	t.Helper()
	reg := workspace(t, files)
	svc := filepath.Join(reg.Root(), "svc")
	for name, target := range map[string]string{"link.md": "README.md", "docs/link.md": "b.md", "docs/out": "../../other"} {
		if err := os.Symlink(target, filepath.Join(svc, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(svc, "secret.md"), filepath.Join(svc, "docs/hard.md")); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(filepath.Join(svc, "docs/pipe.md")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(svc, "big.bin"), strings.Repeat("\xff", 5<<20))
	return mustResolve(t, resolve.New(resolve.Static(reg), opts), "svc")
}

func TestRepoOpen(t *testing.T) {
	tests := []struct {
		path, want string
		code       resolve.Code
	}{
		{path: "README.md", want: "read me\n"},
		{path: "docs/b.md", want: "b\n"},
		{path: "docs/a/deep.md", want: "deep\n"},
		{path: "extra/c.md", want: "c\n"},
		{path: "空 白.md", want: "names\n"},

		{path: "secret.md", code: resolve.PathNotDeclared},
		{path: "agreed.md", code: resolve.PathNotDeclared}, // a view, no entrypoint
		{path: "docs-secret/x.md", code: resolve.PathNotDeclared},
		{path: "readme.md", code: resolve.PathNotDeclared},
		{path: "", code: resolve.PathNotDeclared},
		{path: ".", code: resolve.PathNotDeclared},
		{path: "/etc/passwd", code: resolve.PathNotDeclared},
		{path: "../other/README.md", code: resolve.PathNotDeclared},
		{path: "docs/../secret.md", code: resolve.PathNotDeclared},
		{path: "./README.md", code: resolve.PathNotDeclared},
		{path: "docs//b.md", code: resolve.PathNotDeclared},
		{path: `docs\b.md`, code: resolve.PathNotDeclared},
		{path: "docs/b.md/", code: resolve.PathNotDeclared},
		{path: "docs/.git/config", code: resolve.PathNotDeclared},
		{path: "docs/b.md\x00", code: resolve.PathNotDeclared},
		{path: "docs/b.md:stream", code: resolve.PathNotDeclared},
		{path: "docs/" + strings.Repeat("x/", 600) + "y", code: resolve.PathNotDeclared},

		{path: "gone.md", code: resolve.FileMissing},
		{path: "docs/none.md", code: resolve.FileMissing},
		{path: "known-gone.md", code: resolve.FileMissing},
		{path: "docs/old.md", code: resolve.FileMissing}, // there, but the registry says no
		{path: "docs/big.md", code: resolve.FileTooLarge},
		{path: "docs/denied.md", code: resolve.FileUnreadable},
		{path: "docs/away.md", code: resolve.FileRefused},
		{path: "big.bin", code: resolve.FileTooLarge},
		{path: "docs", code: resolve.FileRefused},
		{path: "odd/folder.md", code: resolve.FileRefused},
		{path: "link.md", code: resolve.FileRefused},
		{path: "docs/link.md", code: resolve.FileRefused},
		{path: "docs/out/README.md", code: resolve.FileRefused},
		{path: "docs/hard.md", code: resolve.FileRefused},
		{path: "docs/pipe.md", code: resolve.FileRefused},
	}
	repo := openFiles(t, nil)
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.40q", tt.path), func(t *testing.T) {
			file, err := repo.Open(t.Context(), tt.path)
			if code := codeOf(t, err); code != tt.code {
				t.Fatalf("got code %q (%v), want %q", code, err, tt.code)
			}
			if err != nil {
				if len(err.Error()) > 1500 {
					t.Errorf("message of %d bytes", len(err.Error()))
				}
				return
			}
			if file.Path != tt.path || string(file.Data) != tt.want || len(file.SHA256) != 64 {
				t.Errorf("got %+v, want the text %q", file, tt.want)
			}
		})
	}
}

// A refusal says what lies at the path and what to do instead.
func TestRepoOpenSaysWhy(t *testing.T) {
	repo := openFiles(t, nil)
	for path, want := range map[string][]string{
		"docs":           {`"docs" is a folder, not a file`, "resource type: ", "docs"},
		"docs/a":         {`"docs/a" is a folder, not a file`, "resource type: "},
		"odd/folder.md":  {"is a folder, not a file; none of its resource types lists it"},
		"docs/hard.md":   {"has another name (a hard link)", "put a copy in its place"},
		"docs/link.md":   {"is a link, or behind one"},
		"docs/pipe.md":   {"is not a plain file"},
		"docs/b.md/x.md": {"is not a folder, or lies below what is none"},
		"big.bin":        {"has more than 4194304 bytes", "split it"},
	} {
		_, err := repo.Open(t.Context(), path)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %v, want %q in it", path, err, part)
			}
		}
	}
	_, err := repo.Open(t.Context(), "docs/a")
	var e *resolve.Error
	if !errors.As(err, &e) || !slices.Equal(e.Details.ResourceRoots["docs"], []string{"docs"}) {
		t.Errorf("the details do not name the types that list a folder: %+v", e)
	}
	_, err = openFiles(t, &resolve.Options{MaxEntries: 3}).Scan(t.Context(), "docs")
	if err == nil || !strings.Contains(err.Error(), "over 3 entries") || !strings.Contains(err.Error(), "read files by their paths") {
		t.Errorf("a long listing: got %v", err)
	}
}

func TestRepoOpenSaysWhatIsDeclared(t *testing.T) {
	_, err := openFiles(t, nil).Open(t.Context(), "secret.md")
	var e *resolve.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := resolve.Details{
		RepoID:      "svc",
		Path:        "secret.md",
		Entrypoints: []string{"docs/b.md", "README.md", "gone.md", "known-gone.md"},
		ResourceRoots: map[string][]string{
			"docs": {"docs"}, "all": {"docs", "extra"}, "gone": {"gone"}, "notes": {"notes"}, "both": {"gone", "extra"},
		},
	}
	if diff := cmp.Diff(want, e.ErrorDetails()); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	const text = `repo "svc" does not declare the path "secret.md"; entrypoints: docs/b.md, README.md, gone.md, known-gone.md; folders: docs, extra, gone, notes`
	if e.Error() != text {
		t.Errorf("got  %s\nwant %s", e, text)
	}
}

func TestRepoView(t *testing.T) {
	tests := []struct {
		view, path string
		code       resolve.Code
	}{
		{view: "manifest", path: "docs/agent/manifest.yaml"},
		{view: "contracts", path: "agreed.md"},
		{view: "workflows", code: resolve.FileMissing},
		{view: "start-here", code: resolve.ViewNotDeclared},
		{view: "README.md", code: resolve.ViewNotDeclared},
		{view: "", code: resolve.ViewNotDeclared},
		{view: strings.Repeat("../", 5000), code: resolve.ViewNotDeclared},
	}
	repo := openFiles(t, nil)
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.40q", tt.view), func(t *testing.T) {
			file, err := repo.View(t.Context(), tt.view)
			if code := codeOf(t, err); code != tt.code {
				t.Fatalf("got code %q (%v), want %q", code, err, tt.code)
			}
			if err == nil && file.Path != tt.path {
				t.Errorf("got path %q, want %q", file.Path, tt.path)
			}
			var e *resolve.Error
			if errors.As(err, &e) && e.Code == resolve.ViewNotDeclared && !cmp.Equal(e.Details.Views, repo.Views) {
				t.Errorf("got the views %v, want %v", e.Details.Views, repo.Views)
			}
		})
	}
}

// A registry without a manifest has the views it declares and no default ones.
func TestRepoViewWithoutManifest(t *testing.T) {
	reg := workspace(t, header+`  - repo_id: svc
    manifest_source: generated
    entrypoints: [docs/agent/start-here.md]
    resource_roots: {docs: docs}
    views: {contracts: agreed.md}
-- svc/docs/agent/start-here.md --
x
-- svc/agreed.md --
agreed
`)
	repo := mustResolve(t, resolve.New(resolve.Static(reg), nil), "svc")
	if diff := cmp.Diff(map[string]string{"contracts": "agreed.md"}, repo.Views); diff != "" {
		t.Errorf("views (-want +got):\n%s", diff)
	}
	for _, view := range []string{"manifest", "start-here"} {
		if _, err := repo.View(t.Context(), view); codeOf(t, err) != resolve.ViewNotDeclared {
			t.Errorf("view %s: got %v, want %s", view, err, resolve.ViewNotDeclared)
		}
	}
	if file, err := repo.View(t.Context(), "contracts"); err != nil || string(file.Data) != "agreed\n" {
		t.Errorf("got %v, %v", file, err)
	}
}

func TestRepoScan(t *testing.T) {
	docs := []resolve.FileInfo{
		{Path: "docs/a/deep.md", Size: 5},
		{Path: "docs/agent/manifest.yaml", Size: 115},
		{Path: "docs/b.md", Size: 2},
		{Path: "docs/old.md", Size: 46},
	}
	extra := resolve.FileInfo{Path: "extra/c.md", Size: 2}
	tests := []struct {
		kind string
		max  int
		want []resolve.FileInfo
		code resolve.Code
	}{
		{kind: "docs", want: docs},
		{kind: "all", want: append(slices.Clone(docs), extra)},
		{kind: "both", want: []resolve.FileInfo{extra}},
		{kind: "gone", code: resolve.FileMissing},
		{kind: "notes", code: resolve.FileMissing},
		{kind: "adr", code: resolve.RootNotDeclared},
		{kind: "", code: resolve.RootNotDeclared},
		{kind: "docs", max: 3, code: resolve.TooManyEntries},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s max %d", tt.kind, tt.max), func(t *testing.T) {
			got, err := openFiles(t, &resolve.Options{MaxEntries: tt.max}).Scan(t.Context(), tt.kind)
			if code := codeOf(t, err); code != tt.code {
				t.Fatalf("got code %q (%v), want %q", code, err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepoScanSeveralRootsWithinLimit(t *testing.T) {
	reg := workspace(t, header+`  - {repo_id: svc, manifest_source: generated, entrypoints: [a/1], resource_roots: {all: [a, b]}}
-- svc/a/1 --
-- svc/a/2 --
-- svc/b/1 --
-- svc/b/2 --
`)
	for limit, want := range map[int]resolve.Code{3: resolve.TooManyEntries, 4: ""} {
		repo := mustResolve(t, resolve.New(resolve.Static(reg), &resolve.Options{MaxEntries: limit}), "svc")
		if _, err := repo.Scan(t.Context(), "all"); codeOf(t, err) != want {
			t.Errorf("limit %d: got %v, want code %q", limit, err, want)
		}
	}
}

func TestRepoHeuristic(t *testing.T) {
	r, ops := counted(workspace(t, mixed), nil)
	repo := mustResolve(t, r, "free")
	tests := []struct {
		path string
		code resolve.Code
	}{
		{path: "Readme.md"},
		{path: "docs/readme.md"},
		{path: "README.md", code: resolve.PathNotDeclared},
		{path: "private.md", code: resolve.PathNotDeclared},
		{path: "docs/adr/0001-x.md", code: resolve.PathNotDeclared},
		{path: "docs/agent/manifest.yaml", code: resolve.PathNotDeclared},
		{path: "../billing/README.md", code: resolve.PathNotDeclared},
	}
	for _, tt := range tests {
		file, err := repo.Open(t.Context(), tt.path)
		if code := codeOf(t, err); code != tt.code || err == nil && file.Path != tt.path {
			t.Errorf("Open(%q): got %v, %v, want code %q", tt.path, file, err, tt.code)
		}
	}
	if _, err := repo.View(t.Context(), "manifest"); codeOf(t, err) != resolve.ViewNotDeclared {
		t.Errorf("view: got %v, want %s", err, resolve.ViewNotDeclared)
	}
	if _, err := repo.Scan(t.Context(), "docs"); codeOf(t, err) != resolve.RootNotDeclared {
		t.Errorf("scan: got %v, want %s", err, resolve.RootNotDeclared)
	}
	entries, notices, err := repo.Inspect(t.Context())
	if err != nil || len(notices) != 0 || len(entries) != 5 || entries[0].Size != 8 || entries[0].Status != registry.StatusPresent {
		t.Errorf("Inspect: got %+v, %v, %v", entries, notices, err)
	}
	if len(ops.failed) > 0 {
		t.Errorf("failed file operations: %v", ops.failed)
	}
}

func TestRepoInspect(t *testing.T) {
	reg := workspace(t, header+`  - repo_id: svc
    manifest_source: generated
    entrypoints: [README.md, known-gone.md, gone.md, folder, big.md]
    entrypoint_status: {README.md: present, known-gone.md: missing, gone.md: present}
-- svc/README.md --
read me
-- svc/known-gone.md --
back again
-- svc/folder/x --
-- svc/big.md --
0123456789
`)
	r, ops := counted(reg, &resolve.Options{MaxFile: 9})
	repo := mustResolve(t, r, "svc")
	got, notices, err := repo.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []resolve.Entrypoint{
		{Path: "README.md", Status: registry.StatusPresent, Size: 8, SHA256: "65ce01fcc3e22e78b63419ef0f4493b0950daac7cee97329b428f5cafd395cda"},
		{Path: "known-gone.md", Status: registry.StatusMissing},
		{Path: "gone.md", Status: registry.StatusMissing},
		{Path: "folder", Status: registry.StatusNotAFile},
		{Path: "big.md", Status: registry.StatusTooLarge},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entrypoints (-want +got):\n%s", diff)
	}
	var codes []string
	for _, n := range notices {
		codes = append(codes, string(n.Code)+" "+n.Path)
	}
	if diff := cmp.Diff([]string{"entrypoint_missing gone.md", "entrypoint_unusable folder", "entrypoint_unusable big.md"}, codes); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	for _, e := range ops.failed {
		if e.Path == "svc/known-gone.md" {
			t.Errorf("what is recorded as missing was touched: %v", e)
		}
	}
	if repo.Entrypoints[2].Status != registry.StatusPresent {
		t.Error("Inspect changed the repo")
	}
}

// Only so many files are hashed; the rest is looked at.
func TestRepoInspectManyEntrypoints(t *testing.T) {
	var reg, texts strings.Builder
	reg.WriteString(header + "  - repo_id: svc\n    manifest_source: generated\n    entrypoints:\n")
	for i := range 64 {
		fmt.Fprintf(&reg, "      - %02d.md\n", i)
		fmt.Fprintf(&texts, "-- svc/%02d.md --\nx\n", i)
	}
	reg.WriteString("      - last.md\n      - folder\n      - gone.md\n      - hard.md\n")
	loaded := workspace(t, reg.String()+texts.String()+"-- svc/last.md --\nlast\n-- svc/folder/x --\n-- svc/other --\n")
	if err := os.Link(filepath.Join(loaded.Root(), "svc/other"), filepath.Join(loaded.Root(), "svc/hard.md")); err != nil {
		t.Fatal(err)
	}
	got, notices, err := mustResolve(t, resolve.New(resolve.Static(loaded), nil), "svc").Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []resolve.Entrypoint{
		{Path: "last.md", Status: registry.StatusPresent, Size: 5},
		{Path: "folder", Status: registry.StatusNotAFile},
		{Path: "gone.md", Status: registry.StatusMissing},
		{Path: "hard.md", Status: registry.StatusNotAFile},
	}
	if diff := cmp.Diff(want, got[64:]); diff != "" {
		t.Errorf("entrypoints (-want +got):\n%s", diff)
	}
	if len(notices) != 3 || got[63].SHA256 == "" {
		t.Errorf("got notices %v, last hashed %+v", notices, got[63])
	}
}

func TestRepoClose(t *testing.T) {
	repo := openFiles(t, nil)
	if _, err := repo.Open(t.Context(), "README.md"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := repo.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, openErr := repo.Open(t.Context(), "README.md")
	_, scanErr := repo.Scan(t.Context(), "docs")
	_, _, inspectErr := repo.Inspect(t.Context())
	for name, err := range map[string]error{"Open": openErr, "Scan": scanErr, "Inspect": inspectErr} {
		if codeOf(t, err) != resolve.RepoClosed || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close: got %v, want %s", name, err, resolve.RepoClosed)
		}
	}
}

func TestRepoCanceled(t *testing.T) {
	repo := openFiles(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, openErr := repo.Open(ctx, "README.md")
	_, viewErr := repo.View(ctx, "contracts")
	_, scanErr := repo.Scan(ctx, "docs")
	_, _, inspectErr := repo.Inspect(ctx)
	for name, err := range map[string]error{"Open": openErr, "View": viewErr, "Scan": scanErr, "Inspect": inspectErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", name, err, context.Canceled)
		}
	}
}

func TestFileText(t *testing.T) {
	tests := []struct {
		name, data string
		ok         bool
	}{
		{"empty", "", true},
		{"text", "Grüße\r\n", true},
		{"NUL", "a\x00b", false},
		{"Latin-1", "Gr\xfc\xdfe", false},
		{"cut character", "Gr\xc3", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := (&resolve.File{Path: "x", Data: []byte(tt.data)}).Text()
			if tt.ok && (err != nil || text != tt.data) {
				t.Errorf("got %q, %v, want %q", text, err, tt.data)
			}
			if !tt.ok && codeOf(t, err) != resolve.NotText {
				t.Errorf("got %q, %v, want %s", text, err, resolve.NotText)
			}
		})
	}
}

func FuzzRepoOpen(f *testing.F) {
	reg := workspace(f, files)
	declared := map[string]string{
		"README.md": "read me\n", "docs/b.md": "b\n", "docs/a/deep.md": "deep\n", "extra/c.md": "c\n",
		"docs/agent/manifest.yaml": "", "空 白.md": "names\n",
	}
	repo, err := resolve.New(resolve.Static(reg), nil).Resolve(f.Context(), "svc")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { repo.Close() })
	for path := range declared {
		f.Add(path)
	}
	for _, path := range []string{"secret.md", "docs/../secret.md", "docs/./b.md", "/docs/b.md", "docs//b.md", "docs/b.md/"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		file, err := repo.Open(t.Context(), path)
		text, ok := declared[path]
		if (err == nil) != ok {
			t.Fatalf("Open(%q): got error %v, declared: %v", path, err, ok)
		}
		if err != nil {
			if code := codeOf(t, err); code == "" || code == resolve.FileUnreadable && utf8.ValidString(path) {
				t.Fatalf("Open(%q): got code %q", path, code)
			}
			return
		}
		if text != "" && string(file.Data) != text {
			t.Fatalf("Open(%q): got %q, want %q", path, file.Data, text)
		}
	})
}
