//go:build unix

package lookup_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the time that this process has worked. Unlike that of a clock it does
// not grow while other programs do.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
