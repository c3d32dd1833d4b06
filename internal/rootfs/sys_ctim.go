//go:build dragonfly || linux || openbsd

package rootfs

import "syscall"

// changeTime is when anything of a file last changed.
func changeTime(st *syscall.Stat_t) syscall.Timespec { return st.Ctim }
