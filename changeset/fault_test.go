package changeset_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A victim is a project on a file system of which one call fails.
type victim struct {
	*project

	store  *changeset.Store
	writer *changeset.Writer
	id     string // of a changeset with one operation
	where  string // the call that failed
}

// newVictim makes a project on which the call number n fails, counted from when
// armed becomes true.
func newVictim(t *testing.T, n int, armed *bool) *victim {
	t.Helper()
	v := &victim{project: newProject(t, options(), handbook())}
	v.id = begin(t, v.project.writer(t, "ada"))
	if _, err := propose(t, v.project.writer(t, "ada"), v.id, "create new new.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.project.store.Preview(t.Context(), v.id, "review"); err != nil {
		t.Fatal(err)
	}
	count := 0
	var err error
	v.store, err = tripped(v.dir, func(op, at string) error {
		if !*armed {
			return nil
		}
		if count++; count != n {
			return nil
		}
		v.where = op + " " + at
		return &rootfs.Error{Op: op, Path: at, Code: rootfs.IO, Err: syscall.ENOSPC}
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.writer, err = v.store.Bind("ada", everything()); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFaults lets every call of the file system fail in turn, as on a full
// disk: a write writes half of what it was given. What fails has changed
// nothing, or all of it if only the last step failed; never half.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		call func(*testing.T, *victim) error
		// what is there: it must be the same as before, or else as after
		// success.
		state func(*testing.T, *victim) string
	}{
		{
			"create",
			func(t *testing.T, v *victim) error {
				t.Helper()
				_, err := v.writer.Create(t.Context(), "Another", "")
				return err
			},
			func(t *testing.T, v *victim) string {
				t.Helper()
				list, err := v.project.store.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, c := range list {
					if c.Damaged {
						t.Errorf("%s is damaged", c.ID)
					}
					all = append(all, c.Title)
				}
				slices.Sort(all) // the clock stands, so they are in the order of ids
				return strings.Join(all, "\n")
			},
		},
		{
			"propose",
			func(t *testing.T, v *victim) error {
				t.Helper()
				_, err := v.writer.ProposeUpdate(t.Context(), v.id, "setup", changeset.NodeEdit{Text: new(proposedText)})
				return err
			},
			func(t *testing.T, v *victim) string {
				t.Helper()
				return strings.Join(summary(v.get(t, v.id)), "\n")
			},
		},
		{
			"preview",
			func(t *testing.T, v *victim) error {
				t.Helper()
				v.write(t, "docs/setup.md", "else")
				_, err := v.store.Preview(t.Context(), v.id, "review")
				return err
			},
			func(t *testing.T, v *victim) string {
				t.Helper()
				html, err := os.ReadFile(v.path(".mcpdocs/previews/" + v.id + "-review.html"))
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(strings.ReplaceAll(string(html), v.id, "ID"), v.get(t, v.id).Digest, "DIGEST")
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			armed := false
			calm := newVictim(t, -1, &armed)
			before := test.state(t, calm)
			if err := test.call(t, calm); err != nil {
				t.Fatal(err)
			}
			after := test.state(t, calm)
			for n := 1; ; n++ {
				armed = false
				v := newVictim(t, n, &armed)
				armed = true
				err := test.call(t, v)
				armed = false
				if v.where == "" {
					t.Logf("calls that failed %d", n-1)
					if err != nil || n < 10 {
						t.Errorf("%d calls, then %v", n-1, err)
					}
					return
				}
				want := before
				if strings.HasPrefix(v.where, "syncdir") {
					want = after
				}
				if diff := cmp.Diff(want, test.state(t, v)); diff != "" {
					t.Errorf("%s failed (-want +got):\n%s", v.where, diff)
				}
				if changeset.CodeOf(err) != changeset.CodeIO || !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%s failed: %v", v.where, err)
				}
				v.recovers(t, test.call)
			}
		})
	}
}

// recovers checks that what failed once works afterwards and leaves nothing
// behind.
func (v *victim) recovers(t *testing.T, call func(*testing.T, *victim) error) {
	t.Helper()
	if err := call(t, v); err != nil {
		t.Errorf("%s failed once, and now: %v", v.where, err)
	}
	if _, err := propose(t, v.writer, v.id, "delete terms"); err != nil {
		t.Errorf("%s failed once, and now: %v", v.where, err)
	}
	v.wantNoTemp(t)
}

// A hidden file system does not tell what is at some paths.
type hidden struct {
	changeset.Files

	code  rootfs.Code
	paths []string
}

func (h *hidden) Stat(p string) (rootfs.Info, error) {
	if slices.Contains(h.paths, p) {
		return rootfs.Info{}, &rootfs.Error{Op: "stat", Path: p, Code: h.code, Err: syscall.EIO}
	}
	return h.Files.Stat(p)
}

// TestOccupiedUnknown proposes a path of which cannot be told whether something
// is there, itself or a folder above it. What was proposed before stays valid:
// that is for who carries it out to see.
func TestOccupiedUnknown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		code rootfs.Code
		at   []string
		step string
		want changeset.Code
	}{
		{"input fails", rootfs.IO, []string{"docs/a/new.md"}, "create new a/new.md", changeset.CodeIO},
		{"no permission", rootfs.Permission, []string{"docs/a/new.md"}, "create new a/new.md", changeset.CodeIO},
		{"a move", rootfs.IO, []string{"docs/a/new.md"}, "move setup a/new.md", changeset.CodeIO},
		{"the folder fails", rootfs.IO, []string{"docs/file"}, "create new file/new.md", changeset.CodeIO},
		{"elsewhere", rootfs.IO, []string{"docs/a/other.md"}, "create new a/new.md", ""},
		{"no folder of documents", rootfs.IO, []string{"docs"}, "create new a/new.md", ""},
		{"a link is there", rootfs.Link, []string{"docs/a/new.md"}, "create new a/new.md", changeset.CodePathTaken},
		{"nothing is there", rootfs.NotFound, []string{"docs/a/new.md"}, "create new a/new.md", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, options(), handbook())
			p.write(t, "docs/file", "no folder")
			h := &hidden{Files: changeset.FilesOf(p.store), code: test.code}
			s, err := changeset.OpenOn(h, p.source(), options(), func() string { return fixedID })
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.Bind("ada", everything())
			if err != nil {
				t.Fatal(err)
			}
			id := begin(t, w)
			h.paths = test.at
			_, err = propose(t, w, id, test.step)
			wantCode(t, err, test.want)
			if io := test.want == changeset.CodeIO; io != errors.Is(err, syscall.EIO) || io && !strings.Contains(err.Error(), `/new.md"`) {
				t.Errorf("the error is %v", err)
			}
			if n := len(p.get(t, id).Operations); (n > 0) != (test.want == "") {
				t.Errorf("%d operations are stored", n)
			}
			h.paths = nil
			if _, err := propose(t, w, id, "create later later.md"); err != nil {
				t.Fatal(err)
			}
			h.paths, h.code = append(test.at, "docs/later.md"), rootfs.IO
			if v, err := s.Validate(t.Context(), id); err != nil || !v.Valid {
				t.Errorf("validation %+v, %v", v, err)
			}
		})
	}
}
