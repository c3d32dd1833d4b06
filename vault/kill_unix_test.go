//go:build unix

package vault_test

import "syscall"

// kill ends the process without any chance to tidy up.
func kill() {
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {}
}
