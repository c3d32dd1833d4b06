package rootfs

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fastDir lets the kernel do the walking: openat2 refuses links, mount points
// and ways out in one call.
type fastDir struct {
	f    *os.File
	conn syscall.RawConn // of f: keeps the descriptor open during a call
}

// strictly is what openat2 must keep to.
const strictly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// openFast opens the directory name, whose links are followed. It returns nil
// where openat2 does not work, because the kernel is older than 5.6 or a
// sandbox forbids it, and where name cannot be opened: the other method then
// reports why.
func openFast(name string) dir {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	d, err := newFast(f)
	if err != nil {
		return nil
	}
	probe, err := d.sub(".")
	if err != nil {
		d.close()
		return nil
	}
	probe.close()
	return d
}

func newFast(f *os.File) (dir, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &fastDir{f, conn}, nil
}

// openat2 opens path below d. It returns bare errors of the system.
func (d *fastDir) openat2(path string, flag int, perm fs.FileMode) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   uint64(flag | openFlags | unix.O_CLOEXEC | unix.O_LARGEFILE),
		Resolve: strictly,
	}
	if flag&os.O_CREATE != 0 {
		how.Mode = uint64(perm.Perm())
	}
	var fd int
	err := d.do(func(at int) (err error) {
		fd, err = unix.Openat2(at, path, &how)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// do runs fn with the descriptor of d. It repeats what a signal interrupted,
// and a few times what the kernel could not resolve because of a rename.
func (d *fastDir) do(fn func(fd int) error) error {
	err := fs.ErrClosed // unless the descriptor is there
	_ = d.conn.Control(func(fd uintptr) {
		for range maxTries {
			err = fn(int(fd))
			for err == unix.EINTR {
				err = fn(int(fd))
			}
			if err != unix.EAGAIN {
				return
			}
		}
	})
	return err
}

func (d *fastDir) sub(path string) (dir, error) {
	f, err := d.openat2(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return newFast(f)
}

func (d *fastDir) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return d.openat2(path, flag, perm)
}

func (d *fastDir) self() (node, error) { return fileNode(d.f) }

func (d *fastDir) names(max int) ([]string, error) {
	names, err := readNames(d.f, max)
	return names, bare(err)
}

// lstat asks statx, the one call that knows mount points.
func (d *fastDir) lstat(name string) (node, error) {
	var st unix.Statx_t
	err := d.do(func(fd int) error {
		const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
		return unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS, &st)
	})
	if err != nil {
		return node{}, err
	}
	return node{
		mode:  fileMode(st.Mode),
		size:  int64(st.Size),
		mod:   time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		links: uint64(st.Nlink),
		dev:   unix.Mkdev(st.Dev_major, st.Dev_minor),
		ino:   st.Ino,
		mount: st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0,
	}, nil
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

func (d *fastDir) sync() error { return bare(d.f.Sync()) }

func (d *fastDir) close() error { return bare(d.f.Close()) }
