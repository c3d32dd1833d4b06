package rootfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// TestKinds compares what a listing says of entries of many kinds and modes
// with what the os package says.
func TestKinds(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			s.link("ok.md", "link")
			must(t, unix.Mkfifo(s.in("pipe"), 0o640), os.Chmod(s.in("ok.md"), 0o751),
				os.Chmod(s.in("k.md"), 0o644|fs.ModeSetuid|fs.ModeSetgid), os.Chmod(s.in("d"), 0o777|fs.ModeSticky))
			socket(s)
			devices := unix.Mknod(s.in("char"), unix.S_IFCHR|0o600, 1<<8|5) == nil &&
				unix.Mknod(s.in("block"), unix.S_IFBLK|0o600, 7<<8) == nil
			if !devices {
				t.Log("making devices needs privilege: left out")
			}
			infos, err := open(t, s.dir, opts).ReadDir(".", 100)
			must(t, err)
			type facts struct {
				Mode  fs.FileMode
				Size  int64
				Nanos int64
			}
			got, want := map[string]facts{}, map[string]facts{}
			for _, i := range infos {
				got[i.Path] = facts{i.Mode, i.Size, i.ModTime.UnixNano()}
			}
			names, err := os.ReadDir(s.dir)
			must(t, err)
			for _, d := range names {
				i, err := d.Info()
				must(t, err)
				want[i.Name()] = facts{i.Mode(), i.Size(), i.ModTime().UnixNano()}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// unprivileged gives up, for the goroutine of t, the right to do anything to
// other users' files. It skips the test if there is none to give up.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs privilege")
	}
	// Never unlocked: the thread ends with the goroutine.
	runtime.LockOSThread()
	old, err := unix.SetfsuidRetUid(65534)
	must(t, err)
	t.Cleanup(func() { _, _ = unix.SetfsuidRetUid(old) })
}

func TestPermission(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			s := newScene(t, opts)
			put(t, s.dir, "closed/x", secret, "private", secret, "z", "ok")
			must(t, os.Chmod(s.in("closed"), 0o700), os.Chmod(s.in("private"), 0o600))
			r := open(t, s.dir, opts)
			unprivileged(t)
			for name, err := range map[string]error{
				"ReadFile":       second(r.ReadFile("private", 100)),
				"ReadFile below": second(r.ReadFile("closed/x", 100)),
				"ReadDir":        second(r.ReadDir("closed", 100)),
				"WriteFile":      r.WriteFile("d/new", nil, 0o644),
				"MkdirAll":       r.MkdirAll("d/new", 0o755),
				"Remove":         r.Remove("ok.md"),
				"Rename":         r.Rename("ok.md", "new"),
				"Lock":           second(r.Lock(t.Context(), "lock")),
			} {
				if rootfs.CodeOf(err) != rootfs.Permission {
					t.Errorf("%s = %v, want code permission", name, err)
				}
			}
			type visit struct {
				Path string
				Code rootfs.Code
			}
			var got []visit
			must(t, r.Walk(t.Context(), ".", &rootfs.Limits{HashBytes: 100}, func(i rootfs.Info) error {
				got = append(got, visit{i.Path, rootfs.CodeOf(i.Err)})
				return nil
			}))
			want := []visit{
				{"closed", ""},
				{"closed", rootfs.Permission},
				{"d", ""},
				{"d/ok.md", ""},
				{"k.md", ""},
				{"ok.md", ""},
				{"private", rootfs.Permission},
				{"z", ""},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("walk (-want +got):\n%s", diff)
			}
		})
	}
}

// forbidOpenat2 makes openat2 fail with no, for the goroutine of t.
func forbidOpenat2(t *testing.T, no unix.Errno) {
	t.Helper()
	// Never unlocked: the thread, and the filter with it, ends with the
	// goroutine.
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_OPENAT2, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(no)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		_, _, no := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
		if no != 0 {
			err = no
		}
	}
	if err != nil {
		t.Skipf("the kernel takes no filter: %v", err)
	}
	if _, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{}); !errors.Is(err, no) {
		t.Fatalf("openat2 = %v, want %v", err, no)
	}
}

// TestSandbox opens a root where openat2 is missing or forbidden.
func TestSandbox(t *testing.T) {
	for _, no := range []unix.Errno{unix.ENOSYS, unix.EPERM} {
		t.Run(no.Error(), func(t *testing.T) {
			s := newScene(t, rootfs.Options{})
			s.link("ok.md", "l")
			forbidOpenat2(t, no)
			var seen events
			r := open(t, s.dir, rootfs.Options{Trace: seen.add})
			if got := seen.take(); len(got) > 0 {
				t.Errorf("Open caused %v", steps(got))
			}
			must(t, r.WriteFile("d/new.md", []byte("new"), 0o644))
			if data, err := r.ReadFile("d/new.md", 10); string(data) != "new" || err != nil {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			if _, err := r.ReadFile("l", 10); rootfs.CodeOf(err) != rootfs.Link {
				t.Errorf("ReadFile of a link = %v, want code link", err)
			}
			if data, err := rootfs.ReadNamed(filepath.Join(s.dir, "l"), 10); string(data) != "ok" || err != nil {
				t.Errorf("ReadNamed = %q, %v", data, err)
			}
		})
	}
}

// Of what a walk allocates over files that an earlier one met, nothing is for a
// single file.
func TestWalkerAllocs(t *testing.T) {
	dir := shallow(t)
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{})
	if err != nil {
		t.Skipf("the standard library, which is used without openat2 (%v), allocates for each file", err)
	}
	must(t, unix.Close(fd))
	w := open(t, dir, rootfs.Options{}).Walker(".", nil)
	got := testing.AllocsPerRun(10, func() { must(t, w.Walk(t.Context(), none)) })
	if budget := 10.0 + 4*folders; got > budget {
		t.Errorf("a walk over %d unchanged files allocates %.0f times, budget %.0f", folders*files, got, budget)
	}
}
