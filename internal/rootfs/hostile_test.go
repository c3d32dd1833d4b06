//go:build unix

package rootfs_test

import (
	"context"
	"maps"
	"net"
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

// A scene is one root with good files in it and secrets around it.
type scene struct {
	*testing.T
	base string // holds root, secret, root-evil
	dir  string // the root
	opts rootfs.Options
}

func newScene(t *testing.T, opts rootfs.Options) *scene {
	t.Helper()
	base := t.TempDir()
	s := &scene{T: t, base: base, dir: filepath.Join(base, "root"), opts: opts}
	put(t, base, "secret", secret, "root-evil/x", secret, "out/secret", secret)
	put(t, s.dir, "ok.md", "ok", "d/ok.md", "ok", "k.md", "ok")
	return s
}

// in returns the name of an entry of the root.
func (s *scene) in(path string) string { return filepath.Join(s.dir, path) }

// link makes a symbolic link in the root.
func (s *scene) link(target, path string) { must(s, os.Symlink(target, s.in(path))) }

// A hostile is one row of the table of hostile cases.
type hostile struct {
	row   int
	name  string
	setup func(s *scene)     // prepares the scene
	paths []string           // what is asked for
	want  rootfs.Code        // of reading each
	do    func(*scene) error // asked instead of reading paths
	root  bool               // needs privilege to mount
	// blind says that the portable method reads it: it cannot see a second
	// mount of the root's own file system.
	blind bool
}

// read is what most rows ask for.
func read(s *scene, path string) (string, error) {
	r := open(s, s.dir, s.opts)
	data, err := r.ReadFile(path, 1<<20)
	return string(data), err
}

// lexical are the rows that the path policy decides alone.
func lexical() []hostile {
	long := strings.Repeat("n", 255)
	row := func(n int, name string, paths ...string) hostile {
		return hostile{row: n, name: name, paths: paths, want: rootfs.PathInvalid}
	}
	return []hostile{
		row(1, "parent", "../secret"),
		row(2, "down and out", "d/../../secret"),
		row(3, "dots", ".."),
		row(4, "dots and slash", "../", "d/../..//"),
		row(5, "neighbour with the same prefix", "../root-evil/x"),
		row(9, "two slashes", "//etc/x", "///"),
		row(10, "empty", ""),
		row(11, "dot as a file", ".", "./"),
		row(12, "unclean", "d/../ok.md"),
		row(13, "unclean through nothing", "missing/../ok.md"),
		row(14, "unclean through a file", "ok.md/../d/ok.md"),
		row(15, "empty and dot parts", "d//ok.md", "./ok.md", "d/./ok.md"),
		row(16, "slash after a file", "ok.md/"),
		row(17, "dot after a file", "ok.md/."),
		row(18, "backslash", `..\secret`, `d\ok.md`, `ok.md\`, `\\host\share\x`),
		row(21, "NUL", "ok\x00.md"),
		row(22, "NUL and a way out", "ok\x00/../../x"),
		row(23, "control characters", "a\nb", "a\rb", "a\tb", "\x1b[2J", "a\x7f", "a\u0085b", "a\u2028b"),
		row(24, "invalid UTF-8", "a\xff", "\xc3", "a\xed\xa0\x80"),
		row(25, "overlong slash", "a\xc0\xafb"),
		row(26, "bidirectional override", "a\u202emd.exe", "\u2066a"),
		row(27, "zero width", "a\u200b.md", "a\u200c.md", "a\u200d.md", "\ufeffa.md"),
		row(29, "trailing dot", "ok.md.", "d./ok.md", "..."),
		row(30, "space at an end", "ok.md ", " ok.md", "d /ok.md", "\u00a0a.md", "a.md\u3000"),
		row(31, "device of Windows", "NUL", "com1.txt", "CONIN$", "d/aux", "Prn .md", "COM\u00b9", "lpt9.tar.gz"),
		row(32, "alternate stream", "name:stream", "ok.md::$DATA"),
		row(33, "drive", "C:x", "C:../x", "C:/x"),
		row(34, "8.3 name", "git~1", "PROGRA~1", "d/readme~2.md", "GI7EBA~1/config"),
		row(35, ".git", ".git/config", ".GIT/config", "d/.Git", ".gIT"),
		row(36, ".git with an ignorable", ".g\u200cit/config"),
		row(37, "option or home", "-rf", "~/x", "d/-x", "~root"),
		row(38, "255 bytes, no room for a temporary name", long, "d/"+long[:201]),
		row(39, "256 bytes", long+"n"),
		row(40, "longer than any system takes", strings.Repeat(long[:200]+"/", 30)+"x"),
		row(41, "500 parents", strings.Repeat("../", 500)+"secret"),
		row(42, "1000 times in and out", strings.Repeat("d/../", 1000)+"ok.md"),
		row(81, "slash after a link", "link/"),
	}
}

// onDisk are the rows that depend on what is there.
func onDisk() []hostile {
	linked := func(n int, name string, paths []string, pairs ...string) hostile {
		return hostile{row: n, name: name, setup: links(pairs...), paths: paths, want: rootfs.Link}
	}
	return []hostile{
		{row: 6, name: "absolute neighbour", want: rootfs.PathInvalid, do: func(s *scene) error {
			_, err := read(s, s.dir+"-evil/x")
			return err
		}},
		{row: 7, name: "absolute outside", want: rootfs.PathInvalid, do: func(s *scene) error {
			_, err := read(s, filepath.Join(s.base, "secret"))
			return err
		}},
		{row: 8, name: "absolute inside", want: rootfs.PathInvalid, do: func(s *scene) error {
			_, err := read(s, s.in("ok.md"))
			return err
		}},
		{row: 19, name: "percent signs are never decoded", paths: ask("%2e%2e/secret"), want: rootfs.NotFound},
		{row: 20, name: "wide dots are letters", paths: ask("\uff0e\uff0e/secret"), want: rootfs.NotFound},
		linked(44, "relative link to inside", ask("l"), "ok.md", "l"),
		linked(45, "link to a directory inside", ask("l/ok.md", "l"), "d", "l"),
		linked(46, "link out and back in", ask("l/ok.md"), "../root/d", "l"),
		linked(47, "two hops to outside", ask("l/secret", "m/secret"), "m", "l", "../out", "m"),
		linked(48, "link to the parent", ask("l/secret"), "..", "l"),
		linked(49, "circle of two", ask("a", "b", "a/x"), "b", "a", "a", "b"),
		linked(50, "circle of one", ask("l", "l/x"), "l", "l"),
		linked(51, "dangling link, read", ask("l"), "nothing", "l"),
		linked(54, "link into proc", ask("l/hostname", "l"), "/proc/self/root/etc", "l"),
		linked(55, "link to a descriptor", ask("l"), "/proc/self/fd/0", "l"),
		{row: 43, name: "absolute link to inside", setup: func(s *scene) {
			s.link(s.in("ok.md"), "l")
		}, paths: ask("l"), want: rootfs.Link},
		{row: 52, name: "dangling link to inside, write", setup: links("nothing", "l"), do: writeAll("l"), want: rootfs.Link},
		{row: 53, name: "dangling link to outside, write", setup: links("../out/nothing", "l"), do: writeAll("l"), want: rootfs.Link},
		{row: 56, name: "link and dots", setup: links("d", "l"), paths: ask("l/../../../ok.md"), want: rootfs.PathInvalid},
		{row: 57, name: "hard link to outside, read", setup: hardLink("../secret"), paths: ask("h"), want: rootfs.HardLink},
		{row: 58, name: "hard link to outside, write", setup: hardLink("../secret"), do: writeAll("h"), want: rootfs.HardLink},
		{row: 59, name: "hard link to inside", setup: hardLink("ok.md"), paths: ask("h", "ok.md"), want: rootfs.HardLink},
		{row: 60, name: "pipe", setup: func(s *scene) {
			must(s, syscall.Mkfifo(s.in("p"), 0o644))
		}, paths: ask("p"), want: rootfs.NotRegular},
		{row: 61, name: "socket", setup: socket, paths: ask("s"), want: rootfs.NotRegular},
		{row: 62, name: "endless device", setup: func(s *scene) {
			s.device("zero", 1<<8|5)
		}, paths: ask("zero"), want: rootfs.NotRegular},
		{row: 63, name: "terminal", setup: func(s *scene) {
			s.device("tty", 5<<8)
		}, paths: ask("tty"), want: rootfs.NotRegular},
		{row: 64, name: "directory for a file", paths: ask("d"), want: rootfs.NotRegular},
		{row: 65, name: "file for a directory", paths: ask("ok.md/x", "ok.md/x/y"), want: rootfs.NotDir},
		{row: 73, name: "huge and sparse", setup: func(s *scene) {
			put(s, s.dir, "huge", "")
			must(s, os.Truncate(s.in("huge"), 1<<40))
		}, paths: ask("huge"), want: rootfs.TooLarge},
		{row: 83, name: "listed but missing", paths: ask("gone.md", "gone/x.md"), want: rootfs.NotFound},
	}
}

// ask lists paths to ask for.
func ask(paths ...string) []string { return paths }

// links makes symbolic links, given as target and name in turn.
func links(pairs ...string) func(*scene) {
	return func(s *scene) {
		for i := 0; i < len(pairs); i += 2 {
			s.link(pairs[i], pairs[i+1])
		}
	}
}

func hardLink(target string) func(*scene) {
	return func(s *scene) { must(s, os.Link(s.in(target), s.in("h"))) }
}

func socket(s *scene) {
	// The full name may be longer than a socket address can be.
	s.Chdir(s.dir)
	l, err := net.Listen("unix", "s")
	must(s, err)
	s.Cleanup(func() { l.Close() })
}

// writeAll tries every way to write to path. It returns WriteFile's error.
func writeAll(path string) func(*scene) error {
	return func(s *scene) error {
		r := open(s, s.dir, s.opts)
		put(s, s.dir, "new.md", "new")
		if _, err := r.Create(path, 0o644); rootfs.CodeOf(err) != rootfs.Exists {
			s.Errorf("Create: %v, want code exists", err)
		}
		err := r.WriteFile(path, []byte("new"), 0o644)
		if renameErr := r.Rename("new.md", path); rootfs.CodeOf(renameErr) != rootfs.CodeOf(err) {
			s.Errorf("Rename: %v, want the code of WriteFile: %v", renameErr, err)
		}
		if _, lockErr := r.Lock(context.Background(), path); rootfs.CodeOf(lockErr) != rootfs.CodeOf(err) {
			s.Errorf("Lock: %v, want the code of WriteFile: %v", lockErr, err)
		}
		must(s, os.Remove(s.in("new.md")))
		return err
	}
}

// TestHostile runs the table of hostile cases: whatever the policy or the disk
// holds against a path, reading it is refused with the right code, nothing
// blocks, and neither root nor surroundings change. The rows about time and
// about several files are in tests of their own, named in TestHostileComplete.
func TestHostile(t *testing.T) {
	for _, h := range slices.Concat(lexical(), onDisk(), mounts()) {
		t.Run(strconv.Itoa(h.row)+" "+h.name, func(t *testing.T) {
			for way, opts := range ways() {
				t.Run(way, func(t *testing.T) {
					if h.root {
						privateMounts(t)
					}
					s := newScene(t, opts)
					if h.setup != nil {
						h.setup(s)
					}
					want := h.want
					if opts.Portable && h.blind {
						want = ""
					}
					before := tree(t, s.base)
					start := time.Now()
					h.check(s, want)
					if took := time.Since(start); took > time.Minute {
						t.Errorf("took %v", took)
					}
					if diff := cmp.Diff(before, tree(t, s.base)); diff != "" {
						t.Errorf("the disk changed (-before +after):\n%s", diff)
					}
				})
			}
		})
	}
}

// check asks for what the row asks for.
func (h *hostile) check(s *scene, want rootfs.Code) {
	if h.do != nil {
		if err := h.do(s); rootfs.CodeOf(err) != want {
			s.Errorf("got %v, want code %q", err, want)
		}
	}
	for _, path := range h.paths {
		data, err := read(s, path)
		if rootfs.CodeOf(err) != want {
			s.Errorf("ReadFile(%.60q) = %.20q, %v, want code %q", path, data, err, want)
		}
		if want != "" && data != "" {
			s.Errorf("ReadFile(%.60q) returned data beside an error", path)
		}
		r := open(s, s.dir, s.opts)
		if _, _, err := r.Hash(path, 1<<20); rootfs.CodeOf(err) != want {
			s.Errorf("Hash(%.60q): %v, want code %q", path, err, want)
		}
	}
}

// TestHostileOperations asks for each lexically bad path in every other way.
// None may touch the file system.
func TestHostileOperations(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			var seen events
			opts.Trace = seen.add
			s := newScene(t, opts)
			r := open(t, s.dir, opts)
			before := tree(t, s.base)
			for _, h := range lexical() {
				for _, path := range h.paths {
					ops := operations(r, path)
					if path == "." { // names the root itself here
						for _, name := range []string{"Stat", "ReadDir", "Walk", "SyncDir", "MkdirAll"} {
							delete(ops, name)
						}
					}
					for name, op := range ops {
						if err := op(); rootfs.CodeOf(err) != rootfs.PathInvalid {
							t.Errorf("%s(%.60q) = %v, want code path_invalid", name, path, err)
						}
					}
				}
			}
			if got := seen.take(); len(got) > 0 {
				t.Errorf("refused paths caused operations: %v", got[0])
			}
			if diff := cmp.Diff(before, tree(t, s.base)); diff != "" {
				t.Errorf("the disk changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestThroughLink does everything to a path that leads through a link to a
// directory: inside the root, and outside.
func TestThroughLink(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			for _, target := range []string{"d", "../out"} {
				s := newScene(t, opts)
				s.link(target, "l")
				r := open(t, s.dir, opts)
				before := tree(t, s.base)
				for _, path := range []string{"l/ok.md", "l/secret", "l/new", "l/new/x"} {
					for name, op := range operations(r, path) {
						// Rename names two directories here, refused for that.
						want := rootfs.Link
						if strings.HasPrefix(name, "Rename") {
							want = ""
						}
						err := op()
						if got := rootfs.CodeOf(err); err == nil || want != "" && got != want {
							t.Errorf("link to %s: %s(%q) = %v, want code %s", target, name, path, err, want)
						}
					}
					// Within the linked directory.
					if err := r.Rename(path, path+"2"); rootfs.CodeOf(err) != rootfs.Link {
						t.Errorf("link to %s: Rename(%q) = %v, want code link", target, path, err)
					}
				}
				if diff := cmp.Diff(before, tree(t, s.base)); diff != "" {
					t.Errorf("link to %s: the disk changed (-before +after):\n%s", target, diff)
				}
			}
		})
	}
}

// TestHostileComplete counts the rows.
func TestHostileComplete(t *testing.T) {
	rows := map[int]string{
		28: "TestCollision", 71: "TestRootIsLink", 72: "TestRootMoves", 74: "TestFileChanges", 75: "TestFileChanges",
		76: "TestDirectoryBecomesLink, TestRace", 77: "TestCollision", 78: "TestFileAndDirectory",
		79: "TestCollision", 80: "TestCollision", 82: "TestCaseInsensitive", 84: "TestTooMany, TestDeepTree",
	}
	for _, h := range slices.Concat(lexical(), onDisk(), mounts()) {
		if _, twice := rows[h.row]; twice {
			t.Errorf("row %d is there twice", h.row)
		}
		rows[h.row] = "TestHostile"
	}
	for n := range 84 {
		if rows[n+1] == "" {
			t.Errorf("row %d is missing", n+1)
		}
	}
	if len(rows) != 84 {
		t.Errorf("there are rows beyond 84: %v", slices.Sorted(maps.Keys(rows)))
	}
}
