//go:build unix && !linux

package probe_test

import "syscall"

func peakBytes(usage *syscall.Rusage) int64 { return usage.Maxrss }
