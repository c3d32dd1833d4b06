//go:build unix

package vault

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether the entry belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int64(st.Uid) == int64(os.Geteuid())
}

// names returns how many names the file has.
func names(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // the widths differ between systems
}
