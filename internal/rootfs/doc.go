// Package rootfs reads and writes files below one directory without ever
// following a link.
package rootfs
