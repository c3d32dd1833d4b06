//go:build unix

package probe

import (
	"errors"
	"os/exec"
	"syscall"
)

// A group is the process group of a program, whose id is that of the program.
type group struct{ id int }

// startGroup starts a program as the leader of a new group.
func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{cmd.Process.Pid}, nil
}

// terminate asks all processes of the group to end.
func (g *group) terminate() { _ = g.signal(syscall.SIGTERM) } // alive tells what came of it

// kill ends all processes of the group.
func (g *group) kill() { _ = g.signal(syscall.SIGKILL) }

// alive reports whether a process of the group runs. Once there is none, its id
// may be given to another group, so nothing is sent to it after that.
func (g *group) alive() bool {
	if !errors.Is(g.signal(syscall.Signal(0)), syscall.ESRCH) && onlyZombies(g.id) {
		g.id = 0
	}
	return g.id > 0
}

func (g *group) signal(s syscall.Signal) error {
	if g.id <= 0 {
		return syscall.ESRCH
	}
	err := syscall.Kill(-g.id, s)
	if errors.Is(err, syscall.ESRCH) {
		g.id = 0
	}
	return err
}

// close has nothing to do.
func (*group) close() {}
