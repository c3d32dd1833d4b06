//go:build unix

package lookup

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the program in a process group of its own, and kills that
// group in place of the program alone.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills what a program that has ended left behind. The group's id
// cannot be another's while a member is there, and is nobody's without one.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // no such group is what we want
	}
}
