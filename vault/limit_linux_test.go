package vault_test

import (
	"os/signal"
	"syscall"
)

const canLimitFiles = true

// limitFiles lets no file of this process grow beyond size bytes until restore
// is called.
func limitFiles(size uint64) (restore func() error, err error) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return nil, err
	}
	signal.Ignore(syscall.SIGXFSZ)
	restore = func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }
	return restore, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max})
}
