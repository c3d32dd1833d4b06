package rootfs

import (
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// ReadDir lists the directory dir, which may be ".", sorted by the bytes of
// the names. Entries of every kind are listed, also those that cannot be
// opened: see Info.Err. More than limit entries are refused with code too_many.
func (r *Root) ReadDir(dir string, limit int) ([]Info, error) {
	d, err := r.openDir(dir)
	if err != nil {
		return nil, fail("readdir", dir, err)
	}
	defer d.close()
	entries, err := list(d, limit)
	if err != nil {
		return nil, fail("readdir", dir, err)
	}
	infos := make([]Info, len(entries))
	for i, e := range entries {
		infos[i] = infoOf(join(dir, e.name), e.node)
	}
	return infos, nil
}

// An entry is what a listing tells of one name.
type entry struct {
	name string
	node node
}

// list describes the entries of d, sorted by name.
func list(d dir, limit int) ([]entry, error) {
	names, err := readAtMost(d, limit)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		n, err := d.lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name, n})
	}
	return entries, nil
}

// readAtMost returns the sorted names in d if there are at most limit.
func readAtMost(d dir, limit int) ([]string, error) {
	limit = min(limit, math.MaxInt-1)
	names, err := d.names(limit + 1)
	if err != nil {
		return nil, err
	}
	if len(names) > limit {
		return nil, refusef(TooMany, "it has more than %d entries", limit)
	}
	slices.Sort(names)
	return names, nil
}

// join puts a name below p. It does not clean: the name comes from a listing
// and is reported as it is.
func join(p, name string) string {
	if p == "." {
		return name
	}
	return p + "/" + name
}

// Collision returns the path of an existing entry whose [FoldKey] is that of
// path, or of a directory in it, though it is spelled otherwise: where names
// are compared without regard to case or composition, path would lead there.
// It returns "" if there is none. path itself need not exist.
func (r *Root) Collision(path string) (string, error) {
	if err := check(path); err != nil {
		return "", fail("collision", path, err)
	}
	at := "."
	for part := range strings.SplitSeq(path, "/") {
		names, err := r.names(at)
		if err != nil {
			return "", fail("collision", path, err)
		}
		for _, name := range names {
			if name != part && FoldKey(name) == FoldKey(part) {
				return join(at, name), nil
			}
		}
		if !slices.Contains(names, part) {
			break
		}
		at = join(at, part)
	}
	return "", nil
}

// names lists the directory at p.
func (r *Root) names(p string) ([]string, error) {
	d, err := r.top.sub(p)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return readAtMost(d, defaultEntries)
}
