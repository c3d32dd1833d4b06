//go:build !unix

package lookup

import "os/exec"

// ownGroup does nothing where there are no process groups: the program alone is
// killed then.
func ownGroup(*exec.Cmd) {}

// killGroup has nothing to kill.
func killGroup(*exec.Cmd) {}
