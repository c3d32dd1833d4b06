package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// errFault is what a faultyDir returns.
var errFault = errors.New("injected fault")

// A faultyDir fails the one call whose number is reached, and counts them all.
// Directories opened through it share its count.
type faultyDir struct {
	dir
	calls *[]string
	fail  int // number of the call to fail, from 1
}

// next counts a call and reports whether it is to fail.
func (d *faultyDir) next(call string) bool {
	*d.calls = append(*d.calls, call)
	return len(*d.calls) == d.fail
}

func (d *faultyDir) sub(path string) (dir, error) {
	if d.next("sub") {
		return nil, errFault
	}
	sub, err := d.dir.sub(path)
	if err != nil {
		return nil, err
	}
	return &faultyDir{sub, d.calls, d.fail}, nil
}

func (d *faultyDir) lstat(name string) (node, error) {
	if d.next("lstat") {
		return node{}, errFault
	}
	return d.dir.lstat(name)
}

// create also decides what happens to the file: writing fails on one that is
// open for reading, syncing on a pipe.
func (d *faultyDir) create(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if d.next("create") {
		return nil, errFault
	}
	f, err := d.dir.create(path, flag, perm)
	if err != nil {
		return nil, err
	}
	if d.next("file write") {
		f.Close()
		return os.Open(os.DevNull)
	}
	if d.next("file sync") {
		f.Close()
		r, w, err := os.Pipe()
		if err == nil {
			go func() { _, _ = r.WriteTo(discard{}); r.Close() }()
		}
		return w, err
	}
	return f, nil
}

// discard is io.Discard without its io.ReaderFrom.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (d *faultyDir) mkdir(name string, perm fs.FileMode) error {
	if d.next("mkdir") {
		return errFault
	}
	return d.dir.mkdir(name, perm)
}

func (d *faultyDir) rename(from, to string) error {
	if d.next("rename") {
		return errFault
	}
	return d.dir.rename(from, to)
}

func (d *faultyDir) sync() error {
	if d.next("sync") {
		return errFault
	}
	return d.dir.sync()
}

// withFaults runs do with a fault at each of its calls in turn, on a new
// directory each time, and finally without one. It returns what was called.
func withFaults(t *testing.T, opts Options, do func(r *Root) error, check func(dir, call string)) []string {
	t.Helper()
	for n := 1; n < 100; n++ {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir, &opts)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var calls []string
		r.top = &faultyDir{r.top, &calls, n}
		err = do(r)
		if n > len(calls) {
			if err != nil {
				t.Errorf("without a fault: %v", err)
			}
			check(dir, "")
			return calls
		}
		if CodeOf(err) != IO {
			t.Errorf("fault in %s: %v, want code io", calls[n-1], err)
		}
		check(dir, calls[n-1])
		if last := calls[len(calls)-1]; last == "sync" && calls[n-1] != "sync" || len(calls) > n+2 {
			t.Errorf("fault in %s was not the end: %q", calls[n-1], calls)
		}
	}
	t.Fatal("more calls than expected")
	return nil
}

// TestWriteFileFaults fails each step of a write: an error is reported, the
// old file stays, and no temporary file does. Only after the last step is the
// new file there. No sync is tried again.
func TestWriteFileFaults(t *testing.T) {
	for _, opts := range []Options{{}, {Portable: true}} {
		write := func(r *Root) error { return r.WriteFile("f", []byte("new"), 0o644) }
		renamed := false
		calls := withFaults(t, opts, write, func(dir, call string) {
			want := map[string]string{"f": "old"}
			if call == "" || call == "sync" {
				want["f"] = "new"
				renamed = true
			}
			got := map[string]string{}
			names, _ := os.ReadDir(dir)
			for _, d := range names {
				data, _ := os.ReadFile(filepath.Join(dir, d.Name()))
				got[d.Name()] = string(data)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("fault in %q: files (-want +got):\n%s", call, diff)
			}
		})
		if !renamed {
			t.Error("the new file never got its name")
		}
		want := []string{"sub", "lstat", "create", "file write", "file sync", "rename", "sync"}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

// TestCopyFaults fails each step of a copy: then there is no copy.
func TestCopyFaults(t *testing.T) {
	for _, opts := range []Options{{}, {Portable: true}} {
		cp := func(r *Root) error {
			_, _, err := r.Copy("f", "g", 10, 0o644)
			return err
		}
		calls := withFaults(t, opts, cp, func(dir, call string) {
			data, err := os.ReadFile(filepath.Join(dir, "g"))
			if call == "" && string(data) != "old" || call != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("fault in %q: the copy is %q, %v", call, data, err)
			}
		})
		if diff := cmp.Diff([]string{"sub", "create", "file write", "file sync"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

// TestMkdirAllFaults fails each step of making two directories.
func TestMkdirAllFaults(t *testing.T) {
	for _, opts := range []Options{{}, {Portable: true}} {
		mkdir := func(r *Root) error { return r.MkdirAll("a/b", 0o755) }
		calls := withFaults(t, opts, mkdir, func(dir, call string) {
			_, err := os.Stat(filepath.Join(dir, "a", "b"))
			if call == "" && err != nil {
				t.Errorf("not made: %v", err)
			}
		})
		want := []string{"sub", "sub", "mkdir", "sync", "sub", "sub", "mkdir", "sync", "sub"}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

// TestStepwiseLater changes an entry between the look at it and its opening,
// where only the comparison of the two can tell.
func TestStepwiseLater(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top, err := openStep(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer top.close()
	before, err := top.lstat("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := top.open("b", &before); CodeOf(fail("open", "b", err)) != Changed {
		t.Errorf("open = %v, want code changed", err)
	}
}
