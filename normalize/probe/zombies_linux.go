package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies reports whether all processes of a group have ended and only wait
// for somebody to ask how. Grandchildren stay so for ever where the first
// process of the system does not ask, as in many containers.
func onlyZombies(group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return false
	}
	zombies := 0
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended since
		}
		// After the program's name in parentheses: state, parent, group.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		zombies++
	}
	return zombies > 0
}
