//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openFlags go with every opening: a pipe must not block, a terminal must not
// become ours. (The os package adds O_CLOEXEC.)
const openFlags = unix.O_NONBLOCK | unix.O_NOCTTY

// syncsDirs says that a directory can be made durable.
const syncsDirs = true

// nodeOf takes what a FileInfo of the os package knows.
func nodeOf(info fs.FileInfo) node {
	n := node{mode: info.Mode(), size: info.Size(), mod: info.ModTime(), info: info}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		n.links, n.dev = uint64(st.Nlink), uint64(st.Dev) //nolint:unconvert // the widths differ between systems
		n.ino = st.Ino
		changed := changeTime(st)
		n.changed = time.Unix(changed.Unix())
	}
	return n
}

// fileNode describes an open file.
func fileNode(f *os.File) (node, error) {
	info, err := f.Stat()
	if err != nil {
		return node{}, err
	}
	return nodeOf(info), nil
}

// same reports whether a and b are one file.
func same(a, b node) bool { return a.dev == b.dev && a.ino == b.ino }

// tryLock takes the lock on f if it is free, and reports whether it did.
func tryLock(f *os.File) (bool, error) {
	var lockErr error
	err := control(f, func(fd uintptr) {
		for {
			lockErr = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB)
			if lockErr != unix.EINTR {
				return
			}
		}
	})
	if errors.Is(lockErr, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err == nil {
		err = lockErr
	}
	return err == nil, err
}

// control runs fn with the descriptor of f, which stays open meanwhile.
func control(f *os.File, fn func(fd uintptr)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(fn)
}
