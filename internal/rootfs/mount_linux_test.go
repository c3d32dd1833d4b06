package rootfs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// privateMounts gives the goroutine of t a mount namespace of its own, which
// ends with the test. It skips the test without privilege.
func privateMounts(t *testing.T) {
	t.Helper()
	// Never unlocked: the thread, and the namespace with it, ends with the
	// goroutine.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Skipf("mounting needs privilege: %v", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounting needs privilege: %v", err)
	}
}

// mount mounts something on an existing entry of the root.
func (s *scene) mount(source, path, kind string, flags uintptr) {
	s.Helper()
	target, data := s.in(path), ""
	if kind == "tmpfs" {
		data = "size=64k"
	}
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		s.Skipf("mounting needs privilege: %v", err)
	}
	// Before the temporary directory is removed, and what is mounted with it.
	s.Cleanup(func() { must(s, unix.Unmount(target, unix.MNT_DETACH)) })
}

// device makes a character device in the root, or skips the test.
func (s *scene) device(path string, dev int) {
	if err := unix.Mknod(s.in(path), unix.S_IFCHR|0o666, dev); err != nil {
		s.Skipf("making a device needs privilege: %v", err)
	}
}

// mounts are the rows about what is mounted inside the root.
func mounts() []hostile {
	on := func(source, kind string, flags uintptr) func(*scene) {
		return func(s *scene) {
			must(s, os.Mkdir(s.in(mountPoint), 0o755))
			s.mount(source, mountPoint, kind, flags)
		}
	}
	return []hostile{
		{row: 66, name: "mount of an outside directory", root: true, setup: func(s *scene) {
			on(filepath.Join(s.base, "out"), "", unix.MS_BIND)(s)
		}, paths: ask("mnt/secret"), want: rootfs.CrossDevice, blind: true},
		{row: 67, name: "mount over a file", root: true, setup: func(s *scene) {
			s.mount(filepath.Join(s.base, "secret"), "ok.md", "", unix.MS_BIND)
		}, paths: ask("ok.md"), want: rootfs.CrossDevice, blind: true},
		{row: 68, name: "other file system inside", root: true, setup: func(s *scene) {
			on("none", "tmpfs", 0)(s)
			put(s, s.dir, "mnt/x", secret)
		}, paths: ask("mnt/x"), want: rootfs.CrossDevice},
		{
			row: 69, name: "the way out of a proc inside", root: true, setup: on("proc", "proc", 0),
			paths: ask("mnt/self/root/etc/hostname"), want: rootfs.CrossDevice,
		},
		{
			row: 70, name: "a file of a proc inside", root: true, setup: on("proc", "proc", 0),
			paths: ask("mnt/version"), want: rootfs.CrossDevice,
		},
	}
}

// TestMountsListed sees that a listing flags what is mounted, and that a walk
// does not enter it.
func TestMountsListed(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			privateMounts(t)
			s := newScene(t, opts)
			must(t, os.Mkdir(s.in(mountPoint), 0o755), os.Mkdir(s.in("same"), 0o755))
			s.mount("none", mountPoint, "tmpfs", 0)
			s.mount(filepath.Join(s.base, "out"), "same", "", unix.MS_BIND)
			put(t, s.dir, "mnt/x", secret)
			r := open(t, s.dir, opts)
			want := map[string]rootfs.Code{"d": "", "d/ok.md": "", "k.md": "", "ok.md": "", "mnt": rootfs.CrossDevice}
			if opts.Portable {
				want["same"], want["same/secret"] = "", ""
			} else {
				want["same"] = rootfs.CrossDevice
			}
			got := map[string]rootfs.Code{}
			must(t, r.Walk(t.Context(), ".", nil, func(i rootfs.Info) error {
				got[i.Path] = rootfs.CodeOf(i.Err)
				return nil
			}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			infos, err := r.ReadDir(".", 100)
			must(t, err)
			for _, i := range infos {
				if rootfs.CodeOf(i.Err) != want[i.Path] {
					t.Errorf("%s is listed with %v, want code %q", i.Path, i.Err, want[i.Path])
				}
			}
			for name, op := range operations(r, "mnt/x") {
				if err := op(); err == nil {
					t.Errorf("%s below a mount succeeded", name)
				}
			}
		})
	}
}

// TestWalkerMeetsMount mounts something between two walks of one Walker, over a
// directory and over a file that it knows, and takes it away again.
func TestWalkerMeetsMount(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			privateMounts(t)
			s := newScene(t, opts)
			w := open(t, s.dir, opts).Walker(".", nil)
			first, err := walkInfos(t.Context(), w)
			must(t, err)
			if err := unix.Mount("none", s.in("d"), "tmpfs", 0, "size=64k"); err != nil {
				t.Skipf("mounting needs privilege: %v", err)
			}
			put(t, s.dir, "d/ok.md", secret)
			second, err := walkInfos(t.Context(), w)
			must(t, err, unix.Unmount(s.in("d"), unix.MNT_DETACH))
			for _, i := range second {
				switch {
				case i.Path == "d" && rootfs.CodeOf(i.Err) != rootfs.CrossDevice:
					t.Errorf("the mount is reported with %v, want code cross_device", i.Err)
				case i.Path == "d/ok.md":
					t.Error("the walk entered the mount")
				}
			}
			third, err := walkInfos(t.Context(), w)
			must(t, err)
			if diff := cmp.Diff(first, third, cmp.Comparer(sameError)); diff != "" {
				t.Errorf("after the mount (-before +after):\n%s", diff)
			}
		})
	}
}

// TestNoSpace fills a small file system: the old file stays, and nothing else.
func TestNoSpace(t *testing.T) {
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			privateMounts(t)
			s := newScene(t, opts)
			must(t, os.Mkdir(s.in(mountPoint), 0o755))
			s.mount("none", mountPoint, "tmpfs", 0)
			put(t, s.dir, "mnt/a", "old")
			r := open(t, s.in(mountPoint), opts)
			if i, err := r.Stat("."); err != nil || i.Err != nil {
				t.Errorf("Stat of a root that is a mount point = %v, %v", i.Err, err)
			}
			err := r.WriteFile("a", make([]byte, 128<<10), 0o644)
			if rootfs.CodeOf(err) != rootfs.IO || !errors.Is(err, unix.ENOSPC) {
				t.Errorf("WriteFile = %v, want code io and ENOSPC", err)
			}
			if diff := cmp.Diff(map[string]string{"a": "old"}, tree(t, s.in(mountPoint))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMountedFileNamed reads and writes a file that an operator mounted, as
// containers do with configuration.
func TestMountedFileNamed(t *testing.T) {
	privateMounts(t)
	s := newScene(t, rootfs.Options{})
	put(t, s.base, "config", "text")
	s.mount(filepath.Join(s.base, "config"), "ok.md", "", unix.MS_BIND)
	if data, err := rootfs.ReadNamed(s.in("ok.md"), 100); string(data) != "text" || err != nil {
		t.Errorf("ReadNamed = %q, %v", data, err)
	}
	if err := rootfs.WriteNamed(s.in("ok.md"), nil, 0o644); rootfs.CodeOf(err) != rootfs.CrossDevice {
		t.Errorf("WriteNamed = %v, want code cross_device", err)
	}
}

// TestCaseInsensitive is row 82: on a file system that ignores case, a path in
// another spelling is found to collide before it overwrites anything.
func TestCaseInsensitive(t *testing.T) {
	for _, tool := range []string{"mkfs.exfat", "mount.exfat-fuse", "losetup"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("a file system that ignores case needs %s", tool)
		}
	}
	for way, opts := range ways() {
		t.Run(way, func(t *testing.T) {
			privateMounts(t)
			s := newScene(t, opts)
			must(t, os.Mkdir(s.in(mountPoint), 0o755))
			s.mountExFAT(mountPoint)
			put(t, s.dir, "mnt/Docs/Plan.md", "old")
			r := open(t, s.in(mountPoint), opts)
			for path, want := range map[string]string{
				"Docs/Plan.md": "", "docs/plan.md": "Docs", "Docs/PLAN.md": "Docs/Plan.md", "Docs/new.md": "",
			} {
				if got, err := r.Collision(path); got != want || err != nil {
					t.Errorf("Collision(%q) = %q, %v, want %q", path, got, err, want)
				}
			}
			must(t, r.WriteFile("Docs/new.md", []byte("new"), 0o644))
			if data, err := r.ReadFile("Docs/new.md", 10); string(data) != "new" || err != nil {
				t.Errorf("ReadFile = %q, %v", data, err)
			}
			put(t, s.dir, "mnt/.git/config", "old")
			if err := r.WriteFile(".GIT/config", nil, 0o644); rootfs.CodeOf(err) != rootfs.PathInvalid {
				t.Errorf("WriteFile = %v, want code path_invalid", err)
			}
		})
	}
}

// mountExFAT mounts a new, empty exFAT file system.
func (s *scene) mountExFAT(path string) {
	image := filepath.Join(s.base, "image")
	put(s, s.base, "image", "")
	must(s, os.Truncate(image, 8<<20))
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			s.Skipf("%s: %v: %s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("mkfs.exfat", image)
	loop := run("losetup", "--find", "--show", image)
	s.Cleanup(func() { run("losetup", "--detach", loop) })
	run("mount.exfat-fuse", loop, s.in(path))
	s.Cleanup(func() { must(s, unix.Unmount(s.in(path), 0)) })
}
