//go:build unix

package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Row 71.
func TestRootIsLink(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			name := filepath.Join(s.base, "name")
			must(t, os.Symlink("root", name))
			r := open(t, name, opts)
			// From now on the link does not matter.
			must(t, os.Remove(name), os.Symlink("out", name))
			data, err := r.ReadFile("ok.md", 10)
			if string(data) != "ok" || err != nil {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			if want, _ := filepath.EvalSymlinks(s.dir); r.Dir() != want {
				t.Errorf("Dir() = %q, want %q", r.Dir(), want)
			}
		})
	}
}

// Row 72.
func TestRootMoves(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			r := open(t, s.dir, opts)
			must(t, os.Rename(s.dir, s.dir+"-moved"), os.Symlink("out", s.dir))
			if data, err := r.ReadFile("d/ok.md", 10); string(data) != "ok" || err != nil {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			if _, err := r.ReadFile("secret", 100); rootfs.CodeOf(err) != rootfs.NotFound {
				t.Errorf("ReadFile of a file of the other directory: %v, want code not_found", err)
			}
			must(t, r.WriteFile("new.md", []byte("new"), 0o644))
			if got := tree(t, s.dir+"-moved")["new.md"]; got != "new" {
				t.Errorf("WriteFile went elsewhere")
			}
		})
	}
}

// Rows 74 and 75: what is changed between two looks at a file.
func TestFileChanges(t *testing.T) {
	early := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	write := func(content string, at time.Time) func(string) error {
		return func(name string) error {
			return errors.Join(os.WriteFile(name, []byte(content), 0o644), os.Chtimes(name, at, at))
		}
	}
	cases := []struct {
		name string
		on   map[string]func(name string) error // what happens after which operation
	}{
		{"grows", map[string]func(string) error{"open": write("okay", early)}},
		{"shrinks", map[string]func(string) error{"open": write("o", early)}},
		{"same size", map[string]func(string) error{"open": write("KO", early.Add(time.Second))}},
		{"shorter for a moment", map[string]func(string) error{"open": write("o", early), "read": write("ok", early)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for way, opts := range ways() {
				t.Run(way, func(t *testing.T) {
					s := newScene(t, opts)
					name := s.in("ok.md")
					opts.Trace = func(e rootfs.Event) {
						if change := c.on[e.Op]; change != nil {
							must(t, change(name))
						}
					}
					r := open(t, s.dir, opts)
					must(t, write("ok", early)(name))
					if data, err := r.ReadFile("ok.md", 100); rootfs.CodeOf(err) != rootfs.Changed {
						t.Errorf("ReadFile = %q, %v, want code changed", data, err)
					}
					must(t, write("ok", early)(name))
					if _, _, err := r.Hash("ok.md", 100); rootfs.CodeOf(err) != rootfs.Changed {
						t.Errorf("Hash: %v, want code changed", err)
					}
				})
			}
		})
	}
}

// Row 76: a directory becomes a link between being listed and being opened.
func TestDirectoryBecomesLink(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			r := open(t, s.dir, opts)
			var codes []rootfs.Code
			must(t, r.Walk(t.Context(), ".", nil, func(i rootfs.Info) error {
				if strings.HasPrefix(i.Path, "d") {
					codes = append(codes, rootfs.CodeOf(i.Err))
				}
				if i.Path == "d" && i.Err == nil {
					must(t, os.Rename(s.in("d"), s.in("e")))
					s.link("../out", "d")
				}
				return nil
			}))
			if diff := cmp.Diff([]rootfs.Code{"", rootfs.Link}, codes); diff != "" {
				t.Errorf("codes reported for d (-want +got):\n%s", diff)
			}
		})
	}
}

// Rows 28, 77, 79 and 80: names that some file system takes for one.
func TestCollision(t *testing.T) {
	cases := []struct {
		row         string
		have, asked string
		want        string
	}{
		{"28", "caf\u00e9.md", "cafe\u0301.md", "caf\u00e9.md"},
		{"77", "a.md", "A.md", "a.md"},
		{"77 in a directory", "Docs/x.md", "docs/x.md", "Docs"},
		{"79", "ss.md", "\u00df.md", "ss.md"},
		{"80", "\u212a.md", "K.md", "\u212a.md"},
		{"itself", "a.md", "a.md", ""},
		{"none", "a.md", "b.md", ""},
		{"none, and no directory", "a.md", "q/r/b.md", ""},
		{"below", "Docs/X.md", "Docs/x.md", "Docs/X.md"},
	}
	for _, c := range cases {
		t.Run(c.row, func(t *testing.T) {
			if got := rootfs.FoldKey(c.have) == rootfs.FoldKey(c.asked); got != (c.want == c.have && c.want != "" || c.row == "itself" || c.want == "Docs") {
				t.Errorf("equal keys: %v", got)
			}
			for way, opts := range ways() {
				t.Run(way, func(t *testing.T) {
					dir := t.TempDir()
					put(t, dir, c.have, "x")
					got, err := open(t, dir, opts).Collision(c.asked)
					if got != c.want || err != nil {
						t.Errorf("Collision(%q) = %q, %v, want %q", c.asked, got, err, c.want)
					}
				})
			}
		})
	}
}

// Row 78: a file and something below it.
func TestFileAndDirectory(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			r := open(t, t.TempDir(), opts)
			must(t, r.WriteFile("a", []byte("x"), 0o644))
			for name, err := range map[string]error{
				"WriteFile":  r.WriteFile("a/b", nil, 0o644),
				"MkdirAll":   r.MkdirAll("a/b", 0o755),
				"MkdirAll a": r.MkdirAll("a", 0o755),
			} {
				if rootfs.CodeOf(err) != rootfs.NotDir {
					t.Errorf("%s: %v, want code not_dir", name, err)
				}
			}
			must(t, r.MkdirAll("d", 0o755))
			if err := r.WriteFile("d", nil, 0o644); rootfs.CodeOf(err) != rootfs.NotRegular {
				t.Errorf("WriteFile onto a directory: %v, want code not_regular", err)
			}
		})
	}
}

// Row 84: more files or levels than a caller accepts.
func TestTooMany(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			for i := range 6 {
				put(t, dir, "d/"+strconv.Itoa(i), "x")
			}
			put(t, dir, "e/1/2/3/x", "x")
			r := open(t, dir, opts)
			none := func(rootfs.Info) error { return nil }
			cases := map[string]struct {
				err  error
				want rootfs.Code
			}{
				"6 of 6 listed":    {second(r.ReadDir("d", 6)), ""},
				"6 of 5 listed":    {second(r.ReadDir("d", 5)), rootfs.TooMany},
				"1 of 0 listed":    {second(r.ReadDir("d", 0)), rootfs.TooMany},
				"12 of 12 walked":  {r.Walk(t.Context(), ".", &rootfs.Limits{Entries: 12}, none), ""},
				"12 of 11 walked":  {r.Walk(t.Context(), ".", &rootfs.Limits{Entries: 11}, none), rootfs.TooMany},
				"5 of 5 levels":    {r.Walk(t.Context(), ".", &rootfs.Limits{Depth: 5}, none), ""},
				"5 of 4 levels":    {r.Walk(t.Context(), ".", &rootfs.Limits{Depth: 4}, none), rootfs.TooMany},
				"4 of 4 levels of": {r.Walk(t.Context(), "e", &rootfs.Limits{Depth: 4}, none), ""},
			}
			for name, c := range cases {
				if rootfs.CodeOf(c.err) != c.want {
					t.Errorf("%s: %v, want code %q", name, c.err, c.want)
				}
			}
		})
	}
}

// TestDeepTree walks a tree that is deeper than a path may have parts.
func TestDeepTree(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 200)), 0o755))
			r := open(t, dir, opts)
			n := 0
			err := r.Walk(t.Context(), ".", nil, func(rootfs.Info) error { n++; return nil })
			if rootfs.CodeOf(err) != rootfs.TooMany || n != rootfs.MaxDepth {
				t.Errorf("Walk reported %d entries and ended with %v, want %d and code too_many", n, err, rootfs.MaxDepth)
			}
		})
	}
}

// TestPlainNames makes sure that the policy refuses nothing a person would
// call a plain file.
func TestPlainNames(t *testing.T) {
	names := []string{
		"README.md", ".gitignore", ".github/workflows/ci.yml", "..md", "a..b", "a b/c d.md", "文件/说明.md",
		"caf\u00e9.md", "cafe\u0301.md", "\u00df.md", "100%.md", "a+b=c,d;e.md", "it's (1) [x] {y} & #z@!$^`.md",
		"console.md", "nullable.go", "com10.txt", "comic.md", "lptx", "auxiliary/x", "x~", "a~1b", "document~1.md",
		"x.md~", "\u2764\ufe0f.md", "a-b", "_x", "CON1", "\uff0e\uff0e/x", "%2e%2e/x", ".git2", "git", "d.git/x",
		strings.Repeat("n", rootfs.MaxName), strings.TrimSuffix(strings.Repeat("d/", rootfs.MaxDepth), "/"),
		rootfs.TempPrefix + "abc",
	}
	for _, name := range names {
		if err := rootfs.Check(name); err != nil {
			t.Errorf("Check(%.60q) = %v", name, err)
		}
	}
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			r := open(t, t.TempDir(), opts)
			for _, name := range names {
				dir := "t" + strconv.Itoa(slices.Index(names, name))
				if strings.Count(name, "/") > rootfs.MaxDepth-2 {
					continue // does not fit below dir
				}
				p := dir + "/" + name
				must(t, r.MkdirAll(filepath.Dir(p), 0o755), r.WriteFile(p, []byte(name), 0o644))
				if got, err := r.ReadFile(p, 1<<10); string(got) != name || err != nil {
					t.Errorf("ReadFile(%q) = %q, %v", p, got, err)
				}
			}
		})
	}
}

// entryCodes lists dir of r as names and codes.
func entryCodes(t *testing.T, r *rootfs.Root, dir string) map[string]rootfs.Code {
	t.Helper()
	infos, err := r.ReadDir(dir, 1000)
	must(t, err)
	got := map[string]rootfs.Code{}
	for _, i := range infos {
		got[i.Path] = rootfs.CodeOf(i.Err)
	}
	return got
}

// TestReadDirKinds lists entries of every kind, and those with names that the
// policy refuses.
func TestReadDirKinds(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			s.link("ok.md", "l")
			s.link("nothing", "m")
			must(t, os.Link(s.in("k.md"), s.in("h")), syscall.Mkfifo(s.in("p"), 0o644), os.Mkdir(s.in(".git"), 0o755))
			put(t, s.dir, "a:b", "", "line\nbreak", "", rootfs.TempPrefix+"1", "")
			r := open(t, s.dir, opts)
			want := map[string]rootfs.Code{
				"ok.md": "", "d": "", "l": rootfs.Link, "m": rootfs.Link, "h": rootfs.HardLink, "k.md": rootfs.HardLink,
				"p": rootfs.NotRegular, ".git": rootfs.PathInvalid, "a:b": rootfs.PathInvalid,
				"line\nbreak": rootfs.PathInvalid, rootfs.TempPrefix + "1": "",
			}
			if os.WriteFile(s.in("bad\xff"), nil, 0o644) == nil { // some systems refuse it
				want["bad\xff"] = rootfs.PathInvalid
			}
			if diff := cmp.Diff(want, entryCodes(t, r, ".")); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			i, err := r.Stat("p")
			if i.Mode.Type() != fs.ModeNamedPipe || rootfs.CodeOf(i.Err) != rootfs.NotRegular || err != nil {
				t.Errorf("Stat of a pipe: %v, %v", i, err)
			}
			if _, err := r.Stat("l"); rootfs.CodeOf(err) != rootfs.Link {
				t.Errorf("Stat of a link: %v", err)
			}
		})
	}
}
