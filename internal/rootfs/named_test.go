package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// symlinks makes symbolic links, given as target and name in turn.
func symlinks(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := os.Symlink(pairs[i], filepath.Join(dir, pairs[i+1])); err != nil {
			t.Skipf("making a link needs privilege: %v", err)
		}
	}
}

func TestReadNamed(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a b.yaml", "text", ".git/x", "text", "d/f", "text")
	symlinks(t, dir, "d", "l", "l/f", "m", "nothing", "n", "o", "o")
	must(t, os.Link(filepath.Join(dir, "d/f"), filepath.Join(dir, "h")))
	cases := []struct {
		path string
		max  int64
		want rootfs.Code
	}{
		{"a b.yaml", 4, ""},
		{"a b.yaml", 3, rootfs.TooLarge},
		{".git/x", 4, ""}, // the policy is for what others name
		{"l/f", 4, ""},
		{"m", 4, ""},
		{"h", 4, ""},
		{"d/../a b.yaml", 4, ""},
		{"n", 4, rootfs.NotFound},
		{"o", 4, rootfs.Link},
		{"d", 4, rootfs.NotRegular},
		{"d/f/x", 4, rootfs.NotDir},
		{"q", 4, rootfs.NotFound},
		{"", 4, rootfs.NotFound},
	}
	for _, c := range cases {
		path := c.path
		if path != "" {
			path = dir + string(filepath.Separator) + filepath.FromSlash(path)
		}
		data, err := rootfs.ReadNamed(path, c.max)
		if rootfs.CodeOf(err) != c.want || (string(data) == "text") != (c.want == "") {
			t.Errorf("ReadNamed(%q) = %q, %v, want code %q", c.path, data, err, c.want)
		}
		var e *rootfs.Error
		if errors.As(err, &e) && e.Path != path {
			t.Errorf("ReadNamed(%q): the error names %q", c.path, e.Path)
		}
	}
	t.Chdir(dir)
	if data, err := rootfs.ReadNamed("m", 4); string(data) != "text" || err != nil {
		t.Errorf("ReadNamed of a relative name = %q, %v", data, err)
	}
}

func TestWriteNamed(t *testing.T) {
	reset := func() string {
		dir := t.TempDir()
		put(t, dir, "d/f", "old")
		symlinks(t, dir, "d", "l", "l/f", "m", "nothing", "n", "o", "o")
		return dir
	}
	cases := []struct {
		path string
		want rootfs.Code
		file string // what has the new content, if it worked
	}{
		{"new:1.yaml", "", "new:1.yaml"},
		{"d/f", "", "d/f"},
		{"l/f", "", "d/f"},
		{"m", "", "d/f"},
		{"l/g", "", "d/g"},
		{"n", rootfs.NotFound, ""},
		{"o", rootfs.Link, ""},
		{"d", rootfs.NotRegular, ""},
		{"d/", rootfs.NotRegular, ""},
		{"q/f", rootfs.NotFound, ""},
		{"d/f/x", rootfs.NotDir, ""},
		{strings.Repeat("n", 255), "", strings.Repeat("n", 255)},
		{strings.Repeat("n", 256), rootfs.PathInvalid, ""},
		{strings.Repeat("n", 300), rootfs.PathInvalid, ""},
	}
	for _, c := range cases {
		dir := reset()
		want := tree(t, dir)
		if c.file != "" {
			want[c.file] = "new"
		}
		path := dir + string(filepath.Separator) + filepath.FromSlash(c.path)
		err := rootfs.WriteNamed(path, []byte("new"), 0o644)
		if rootfs.CodeOf(err) != c.want {
			t.Errorf("WriteNamed(%q) = %v, want code %q", c.path, err, c.want)
		}
		var e *rootfs.Error
		if errors.As(err, &e) && (e.Path != path || e.Op != "write") {
			t.Errorf("WriteNamed(%q): the error is about %s %q", c.path, e.Op, e.Path)
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("WriteNamed(%q): files (-want +got):\n%s", c.path, diff)
		}
	}
	if err := rootfs.WriteNamed(string(filepath.Separator), nil, 0o644); rootfs.CodeOf(err) != rootfs.NotRegular {
		t.Errorf("WriteNamed of the top directory = %v, want code not_regular", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "f", "")
			symlinks(t, dir, "o", "o", "nothing", "n")
			for name, want := range map[string]rootfs.Code{
				"q": rootfs.NotFound, "f": rootfs.NotDir, "f/x": rootfs.NotDir, "o": rootfs.Link, "n": rootfs.NotFound,
			} {
				r, err := rootfs.Open(filepath.Join(dir, name), &opts)
				if r != nil || rootfs.CodeOf(err) != want {
					t.Errorf("Open(%q) = %v, %v, want code %s", name, r, err, want)
				}
			}
			if r, err := rootfs.Open(dir, nil); err != nil || r.Close() != nil {
				t.Errorf("Open with nil options = %v", err)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	cases := []struct {
		err  *rootfs.Error
		want string
	}{
		{
			&rootfs.Error{Op: "read", Path: "a\nb", Code: rootfs.Link},
			`read "a\nb": a symbolic link, which is never followed`,
		},
		{
			&rootfs.Error{Op: "rename", Path: "f", Code: rootfs.IO, Err: fs.ErrInvalid},
			`rename "f": input or output failed: invalid argument`,
		},
		{
			&rootfs.Error{Op: "read", Path: "f", Code: rootfs.IO, Err: syscall.EIO},
			`read "f": input or output failed: ` + syscall.EIO.Error(),
		},
		{
			&rootfs.Error{Op: "read", Path: "f", Code: rootfs.NotFound, Err: syscall.ENOENT},
			`read "f": not found`,
		},
		{
			&rootfs.Error{Op: "stat", Path: strings.Repeat("n", 5000), Code: rootfs.TooLarge},
			`stat "` + strings.Repeat("n", 160) + `...": too large`,
		},
	}
	for _, c := range cases {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	seen := map[string]rootfs.Code{}
	for _, c := range []rootfs.Code{
		rootfs.PathInvalid, rootfs.NotFound, rootfs.NotRegular, rootfs.NotDir, rootfs.Link, rootfs.HardLink,
		rootfs.CrossDevice, rootfs.Escape, rootfs.TooLarge, rootfs.TooMany, rootfs.Changed, rootfs.Exists,
		rootfs.NotEmpty, rootfs.Permission, rootfs.Locked, rootfs.IO,
	} {
		text := (&rootfs.Error{Op: "read", Path: "f", Code: c}).Error()
		if other, twice := seen[text]; twice {
			t.Errorf("codes %s and %s have the same text: %s", c, other, text)
		}
		seen[text] = c
		if got := (&rootfs.Error{Code: c}).ErrorCode(); got != string(c) {
			t.Errorf("ErrorCode = %q, want %q", got, c)
		}
	}
	if got := rootfs.CodeOf(errors.New("foreign")); got != "" {
		t.Errorf("CodeOf of a foreign error = %q", got)
	}
	if got := rootfs.CodeOf(nil); got != "" {
		t.Errorf("CodeOf(nil) = %q", got)
	}
}
