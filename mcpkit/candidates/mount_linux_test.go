package candidates_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// privateMounts gives the goroutine of t a mount namespace of its own, which ends with it, if it may. Processes that it
// starts are in it too.
func privateMounts(t *testing.T) {
	t.Helper()
	// Never unlocked: the thread, and the namespace with it, ends with the goroutine.
	runtime.LockOSThread()
	if unix.Unshare(unix.CLONE_NEWNS) == nil {
		_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") // what is mounted next says whether it may
	}
}

// mount mounts source on a new or existing entry of the project, for as long as the test.
func mount(source, kind, data string, flags uintptr) func(p *project, full string) error {
	return func(p *project, full string) error {
		if source != "" {
			source = filepath.Join(p.root, source)
		}
		info, err := os.Stat(source)
		if source != "" && err == nil && !info.IsDir() {
			err = os.WriteFile(full, nil, 0o600)
		} else {
			err = os.MkdirAll(full, 0o700)
		}
		if err != nil {
			return err
		}
		if err := unix.Mount(source, full, kind, flags, data); err != nil {
			p.tb.Skipf("mounting needs privilege: %v", err)
		}
		p.tb.Cleanup(func() {
			if err := unix.Unmount(full, unix.MNT_DETACH); err != nil {
				p.tb.Error(err)
			}
		})
		return nil
	}
}

// TestPlantedMounts has other file systems in place of what is the project's own.
func TestPlantedMounts(t *testing.T) {
	bind := func(source string) func(*project, string) error { return mount(source, "", "", unix.MS_BIND) }
	tmpfs := mount("", "tmpfs", "size=64k", 0)
	runPlanted(t, []plantedRow{
		{"directory of others as a staged directory", put(staged+"docs", bind("../out/docs")), "candidate_unsafe", ""},
		{"file of others as a staged file", put(staged+"docs/plan.md", bind("../out/plan.md")), "candidate_unsafe", ""},
		{"other file system as a staged directory", put(staged+"docs/a", tmpfs), "candidate_unsafe", ""},
		{"processes as a staged directory", put(staged+"docs/a", mount("", "proc", "", 0)), "candidate_unsafe", ""},
		{"directory of others as a target's directory", put("docs", bind("../out/docs")), "", "target_unsafe"},
		{"file of others as a target", put("docs/plan.md", bind("../out/plan.md")), "", "target_unsafe"},
		{"other file system as a target's directory", put("docs", tmpfs), "", "target_unsafe"},
	})
}
