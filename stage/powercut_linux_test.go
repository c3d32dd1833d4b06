package stage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/stage"
)

// fsShutdown is FS_IOC_SHUTDOWN, which stops all writing of a file system at
// once, as a power cut does. 1 writes the log of what was promised before, 2
// drops it.
const fsShutdown = 0x8004587d

func shutDown(dir string, flag int) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.IoctlSetPointerInt(fd, fsShutdown, flag)
}

// TestPowerCut lets the file system of a promotion stop at every change of it,
// and mounts it again. All mounts are made in a name space of a child process,
// and end with it.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	for _, fs := range []string{"ext4", "xfs"} {
		t.Run(fs, func(t *testing.T) {
			for _, tool := range []string{"unshare", "mkfs." + fs, "mount", "umount"} {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("needs %s", tool)
				}
			}
			dir := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "--propagation", "private", "true").CombinedOutput(); err != nil {
				t.Skipf("no private mounts here: %v %s", err, out)
			}
			child := self(t.Context(), dir, "cut", powerCuts)
			cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"-m", "--propagation", "private"}, child.Args...)...)
			cmd.Env = append(child.Env, "STAGE_TEST_FS="+fs)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 77 {
				t.Skipf("no %s image can be mounted and shut down here: %s", fs, out)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s: %s", fs, strings.TrimSpace(string(out)))
		})
	}
}

// cutChild makes the cuts.
func cutChild() int {
	cuts, _ := strconv.Atoi(os.Getenv(childAt))
	c := &cutter{dir: os.Getenv(childDir), fs: os.Getenv("STAGE_TEST_FS")}
	c.mnt = filepath.Join(c.dir, "mnt")
	if err := c.setUp(); err != nil {
		fmt.Println(err)
		return 77
	}
	f := newFlip()
	stopped, acknowledged, bad, state := 0, 0, 0, 0
	for at, n := 1, 0; n < cuts; n++ {
		done, err := c.cut(f, 1-state, at, 1+n%2)
		if err == nil {
			state, err = c.check(f, state, done)
		}
		if err != nil {
			bad++
			fmt.Printf("cut %d at change %d: %v\n", n, at, err)
			if err := c.remount(); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		if done {
			acknowledged++
			at = 0
		} else {
			stopped++
		}
		at++
	}
	if err := c.run("umount", c.mnt); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("cuts %d, in the middle %d, after the acknowledgement %d, bad %d\n", cuts, stopped, acknowledged, bad)
	return min(bad, 1)
}

type cutter struct{ dir, mnt, fs string }

func (c *cutter) run(name string, args ...string) error {
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %s", name, err, out)
	}
	return nil
}

// setUp makes and mounts an image, and tries whether it can be shut down.
func (c *cutter) setUp() error {
	image := filepath.Join(c.dir, "image")
	size := int64(48 << 20)
	if c.fs == "xfs" {
		size = 320 << 20
	}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size), os.Mkdir(c.mnt, 0o755)); err != nil {
		return err
	}
	if err := c.run("mkfs."+c.fs, "-q", image); err != nil {
		return err
	}
	if err := c.mount(); err != nil {
		return err
	}
	for p, text := range newFlip().files[0] {
		p = filepath.Join(c.mnt, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	unix.Sync()
	if err := shutDown(c.mnt, 1); err != nil {
		return err
	}
	return c.remount()
}

func (c *cutter) mount() error {
	return c.run("mount", "-t", c.fs, "-o", "loop", filepath.Join(c.dir, "image"), c.mnt)
}

func (c *cutter) remount() error {
	if err := c.run("umount", c.mnt); err != nil {
		return err
	}
	return c.mount()
}

// cut promotes to a state and cuts the power at a change, or, if there are
// fewer, after the promotion. It says whether that was acknowledged.
func (c *cutter) cut(f flip, to, at, flag int) (done bool, err error) {
	ctx := context.Background()
	area, err := stage.Open(c.mnt, allowDocs())
	if err != nil {
		return false, err
	}
	plan, err := f.stage(ctx, c.mnt, area, to)
	area.Close()
	if err != nil {
		return false, err
	}
	unix.Sync() // the stage is no part of what is tried
	off := false
	area, err = tripped(c.mnt, at, func() { off = shutDown(c.mnt, flag) == nil })
	if err != nil {
		return false, err
	}
	_, err = area.Promote(ctx, plan)
	area.Close()
	if err == nil && !off {
		done = true
		err = shutDown(c.mnt, flag)
	} else if err == nil {
		return false, errors.New("acknowledged without power")
	} else {
		err = nil
	}
	return done, errors.Join(err, c.remount())
}

// check recovers and says which state the project is in.
func (c *cutter) check(f flip, state int, done bool) (int, error) {
	area, err := stage.Open(c.mnt, allowDocs())
	if err != nil {
		return state, err
	}
	defer area.Close()
	if _, err := area.Recover(context.Background()); err != nil {
		return state, err
	}
	for i := range f.files {
		if same(c.mnt, f.files[i], f.files[1-i]) {
			if done && i == state {
				return state, errors.New("an acknowledged promotion is lost")
			}
			return i, nil
		}
	}
	return state, errors.New("neither state")
}

// same reports whether the project has the files of one state, and none that
// only the other has.
func same(dir string, have, other map[string]string) bool {
	for p, text := range have {
		if data, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(data) != text {
			return false
		}
	}
	for p := range other {
		if _, ok := have[p]; ok {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, p)); err == nil {
			return false
		}
	}
	return true
}
