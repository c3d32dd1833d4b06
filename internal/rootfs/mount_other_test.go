//go:build unix && !linux

package rootfs_test

import "testing"

func privateMounts(t *testing.T) { t.Skip("mounts are tested on Linux") }

func (s *scene) device(string, int) { s.Skip("devices are tested on Linux") }

// mounts are the rows about what is mounted inside the root.
func mounts() []hostile {
	var rows []hostile
	for n := 66; n <= 70; n++ {
		rows = append(rows, hostile{row: n, name: "mount", root: true})
	}
	return rows
}
