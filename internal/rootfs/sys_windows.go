package rootfs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openFlags are none: pipes and terminals have names of their own on Windows.
const openFlags = 0

// syncsDirs says that the handle of a directory cannot be flushed.
const syncsDirs = false

// nodeOf takes what a FileInfo of the os package knows.
func nodeOf(info fs.FileInfo) node {
	return node{mode: info.Mode(), size: info.Size(), mod: info.ModTime(), info: info}
}

// fileNode describes an open file. Only an open file tells how many names it
// has.
func fileNode(f *os.File) (node, error) {
	info, err := f.Stat()
	if err != nil {
		return node{}, err
	}
	n := nodeOf(info)
	var by windows.ByHandleFileInformation
	var sysErr error
	err = control(f, func(fd uintptr) {
		sysErr = windows.GetFileInformationByHandle(windows.Handle(fd), &by)
	})
	if err == nil {
		err = sysErr
	}
	n.links = uint64(by.NumberOfLinks)
	return n, err
}

// same reports whether a and b are one file.
func same(a, b node) bool { return os.SameFile(a.info, b.info) }

// tryLock takes the lock on f if it is free, and reports whether it did.
func tryLock(f *os.File) (bool, error) {
	var lockErr error
	err := control(f, func(fd uintptr) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		lockErr = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, new(windows.Overlapped))
	})
	if errors.Is(lockErr, windows.ERROR_LOCK_VIOLATION) || errors.Is(lockErr, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	if err == nil {
		err = lockErr
	}
	return err == nil, err
}

// control runs fn with the handle of f, which stays open meanwhile.
func control(f *os.File, fn func(fd uintptr)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(fn)
}
