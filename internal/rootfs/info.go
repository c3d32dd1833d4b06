package rootfs

import (
	"crypto/sha256"
	"io/fs"
	"time"
)

// An Info describes one entry.
type Info struct {
	// Path is relative to the root, in slash form; "." is the root itself.
	Path string
	// Size is the length in bytes; it means something for regular files only.
	Size int64
	// Mode has the kind and the permissions. A link is described itself, not
	// what it leads to.
	Mode fs.FileMode
	// ModTime is when the content last changed, or what somebody set it to.
	ModTime time.Time
	// ChangeTime is when anything of the entry last changed, which nobody can
	// set. It is zero on Windows.
	ChangeTime time.Time
	// Inode is the number of the entry on its file system, which another entry
	// in its place does not have while both exist. It is zero on Windows.
	Inode uint64
	// Sum is the SHA-256 of a regular file, if Limits.HashBytes asked for it.
	Sum [sha256.Size]byte
	// Err, if not nil, is the reason why this entry can be neither read nor
	// entered: an [*Error] with code path_invalid, link, not_regular,
	// hard_link or cross_device. In Walk it may also say why a directory
	// could not be listed or a file not be hashed.
	Err error
}

// infoOf describes the entry at p. bad is why p does not pass Check, if so.
func infoOf(p string, bad error, n node) Info {
	info := Info{Path: p, Size: n.size, Mode: n.mode, ModTime: n.mod, ChangeTime: n.changed, Inode: n.ino}
	err := bad
	switch {
	case err != nil:
	case n.mode.IsDir():
		err = checkDir(n)
	default:
		err = checkFile(n)
	}
	info.Err = fail("stat", p, err)
	return info
}

// checkDir reports whether n may be entered.
func checkDir(n node) error {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return refuse(Link)
	case !n.mode.IsDir():
		return refuse(NotDir)
	case n.mount:
		return refuse(CrossDevice)
	}
	return nil
}

// checkFile reports whether n may be read, or replaced, as a file.
func checkFile(n node) error {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return refuse(Link)
	case !n.mode.IsRegular():
		return refuse(NotRegular)
	case n.mount:
		return refuse(CrossDevice)
	case n.links > 1:
		return refuse(HardLink)
	}
	return nil
}

// Stat describes the entry at path; "." is the root itself. A link anywhere in
// path, the last part included, is refused with code link.
func (r *Root) Stat(path string) (Info, error) {
	if path == "." {
		n, err := r.top.self()
		return infoOf(".", nil, n), fail("stat", path, err)
	}
	var info Info
	err := r.within("stat", path, func(d dir, name string) error {
		n, err := d.lstat(name)
		if err != nil {
			return err
		}
		if n.mode&fs.ModeSymlink != 0 {
			return refuse(Link)
		}
		info = infoOf(path, nil, n)
		return nil
	})
	return info, err
}
