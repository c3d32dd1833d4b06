//go:build !linux

package rootfs

// openFast returns nothing: only Linux has openat2.
func openFast(string) (dir, error) { return nil, nil }
