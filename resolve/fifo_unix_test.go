//go:build unix

package resolve_test

import "syscall"

// mkfifo makes a named pipe.
func mkfifo(name string) error { return syscall.Mkfifo(name, 0o600) }
