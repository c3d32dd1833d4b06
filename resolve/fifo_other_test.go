//go:build !unix

package resolve_test

import "os"

// mkfifo makes a folder where there are no named pipes: it is refused alike.
func mkfifo(name string) error { return os.Mkdir(name, 0o700) }
