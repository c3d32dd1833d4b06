package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fastDir lets the kernel do the walking: openat2 refuses links, mount points
// and ways out in one call. It uses bare descriptors, because an os.File costs
// two more system calls than reading a small file takes.
type fastDir struct {
	mu sync.RWMutex // held for reading while fd is in use
	fd int          // -1 once it is closed
}

// strictly is what openat2 must keep to.
const strictly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// openFast opens the directory name, whose links are followed. It returns nil
// and no error where openat2 does not work, because the kernel is older than
// 5.6 or a sandbox forbids it.
func openFast(name string) (dir, error) {
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	d := &fastDir{fd: fd}
	probe, err := d.sub(".")
	if err == nil {
		probe.close()
		return d, nil
	}
	d.close()
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL), errors.Is(err, unix.E2BIG):
		return nil, nil
	}
	return nil, err
}

// do runs fn with the descriptor of d, which stays open meanwhile.
func (d *fastDir) do(fn func(fd int) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.fd < 0 {
		return fs.ErrClosed
	}
	return retry(func() error { return fn(d.fd) })
}

// retry repeats what a signal interrupted, and a few times what the kernel
// could not resolve because of a rename.
func retry(fn func() error) error {
	for tries := 0; ; {
		switch err := fn(); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && tries < maxTries:
			tries++
		default:
			return err
		}
	}
}

// openat2 opens path below d and returns the descriptor.
func (d *fastDir) openat2(path string, flag int, perm fs.FileMode) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flag | openFlags | unix.O_CLOEXEC | unix.O_LARGEFILE),
		Resolve: strictly,
	}
	if flag&os.O_CREATE != 0 {
		how.Mode = uint64(perm.Perm())
	}
	err = d.do(func(at int) (err error) {
		fd, err = unix.Openat2(at, path, &how)
		return err
	})
	return fd, err
}

func (d *fastDir) sub(path string) (dir, error) {
	fd, err := d.openat2(path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &fastDir{fd: fd}, nil
}

func (d *fastDir) open(path string, _ *node) (handle, node, error) {
	fd, err := d.openat2(path, unix.O_RDONLY, 0)
	if err != nil {
		return nil, node{}, err
	}
	f := fastFile(fd)
	n, err := f.node()
	if err != nil {
		f.close()
		return nil, node{}, err
	}
	return f, n, nil
}

func (d *fastDir) create(path string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := d.openat2(path, flag|os.O_CREATE, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func (d *fastDir) self() (node, error) {
	n, err := d.statx("", unix.AT_EMPTY_PATH)
	n.mount = false // that the root is one does not matter
	return n, err
}

func (d *fastDir) lstat(name string) (node, error) {
	return d.statx(name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT)
}

func (d *fastDir) statx(name string, flags int) (n node, err error) {
	err = d.do(func(fd int) (err error) {
		n, err = statx(fd, name, flags)
		return err
	})
	return n, err
}

// statx asks the one call that knows mount points.
func statx(fd int, name string, flags int) (node, error) {
	var st unix.Statx_t
	if err := statxInto(&st, fd, name, flags); err != nil {
		return node{}, err
	}
	return node{
		mode:    fileMode(st.Mode),
		size:    int64(st.Size),
		mod:     time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		changed: time.Unix(st.Ctime.Sec, int64(st.Ctime.Nsec)),
		links:   uint64(st.Nlink),
		dev:     unix.Mkdev(st.Dev_major, st.Dev_minor),
		ino:     st.Ino,
		mount:   st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0,
	}, nil
}

// statxInto is unix.Statx without its copy of the name on the heap, which a walk
// over many files would leave behind for each.
func statxInto(st *unix.Statx_t, fd int, name string, flags int) error {
	var buf [256]byte
	if copy(buf[:], name) == len(buf) || strings.IndexByte(name, 0) >= 0 {
		return unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS, st) // long, or refused there
	}
	_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(flags),
		unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// fileMode translates a mode of the kernel.
func fileMode(m uint16) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

func (d *fastDir) names(limit int, last []string) (names []string, err error) {
	buf := make([]byte, 8<<10)
	names = make([]string, 0, min(limit, len(last)))
	err = d.do(func(fd int) error {
		for len(names) < limit {
			n, err := unix.Getdents(fd, buf)
			if err != nil || n == 0 {
				return err
			}
			names = appendNames(names, buf[:n], limit, last)
		}
		return nil
	})
	return names, err
}

// appendNames appends the names that getdents put into buf, as long as there are
// no more than limit, and allocates none that last has in the same place.
func appendNames(names []string, buf []byte, limit int, last []string) []string {
	const nameAt = 8 + 8 + 2 + 1 // behind inode, position, length of the record and type
	for len(buf) > nameAt && len(names) < limit {
		size := binary.NativeEndian.Uint16(buf[16:])
		name, _, _ := bytes.Cut(buf[nameAt:size], []byte{0})
		buf = buf[size:]
		switch i := len(names); {
		case string(name) == "." || string(name) == "..":
		case i < len(last) && last[i] == string(name):
			names = append(names, last[i])
		default:
			names = append(names, string(name))
		}
	}
	return names
}

func (d *fastDir) mkdir(name string, perm fs.FileMode) error {
	return d.do(func(fd int) error { return unix.Mkdirat(fd, name, uint32(perm.Perm())) })
}

func (d *fastDir) rename(from, to string) error {
	return d.do(func(fd int) error { return unix.Renameat(fd, from, fd, to) })
}

func (d *fastDir) remove(name string, isDir bool) error {
	flags := 0
	if isDir {
		flags = unix.AT_REMOVEDIR
	}
	return d.do(func(fd int) error { return unix.Unlinkat(fd, name, flags) })
}

func (d *fastDir) sync() error { return d.do(unix.Fsync) }

func (d *fastDir) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd >= 0 {
		_ = unix.Close(d.fd)
		d.fd = -1
	}
}

// fastFile is the descriptor of a file that is open for reading.
type fastFile int

func (f fastFile) Read(p []byte) (n int, err error) {
	err = retry(func() (err error) {
		n, err = unix.Read(int(f), p)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f fastFile) node() (node, error) { return statx(int(f), "", unix.AT_EMPTY_PATH) }

func (f fastFile) close() { _ = unix.Close(int(f)) }
