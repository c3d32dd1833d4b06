//go:build darwin || freebsd || netbsd

package rootfs

import "syscall"

// changeTime is when anything of a file last changed.
func changeTime(st *syscall.Stat_t) syscall.Timespec { return st.Ctimespec }
