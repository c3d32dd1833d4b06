package probe

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is the job object that holds a program and all that it starts.
type group struct{ job windows.Handle }

// startGroup starts a program in a job of its own.
func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	g := &group{job}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		g.close()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		g.close()
		return nil, err
	}
	if err := g.adopt(cmd); err != nil {
		_ = cmd.Process.Kill() // it was never used
		_ = cmd.Wait()
		g.close()
		return nil, err
	}
	return g, nil
}

// adopt puts a program into the job. What it started before that is outside.
func (g *group) adopt(cmd *exec.Cmd) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(g.job, process)
}

// terminate does nothing: Windows has no request to end that all programs hear.
func (*group) terminate() {}

// kill ends all processes of the job.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// alive reports whether the job has a process.
func (g *group) alive() bool {
	// JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
	var info struct {
		TotalUserTime, TotalKernelTime, ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
		TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses     uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

// close ends what is left in the job.
func (g *group) close() { _ = windows.CloseHandle(g.job) }
