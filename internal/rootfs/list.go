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
	var f folder
	if err := f.read(d, dir, limit); err != nil {
		return nil, fail("readdir", dir, err)
	}
	slices.SortFunc(f.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	infos := make([]Info, len(f.entries))
	for i := range f.entries {
		infos[i] = f.entries[i].info()
	}
	return infos, nil
}

// A folder is what is known of one directory. What follows from the names alone
// is kept from one read to the next; the rest is asked for each time.
type folder struct {
	names   []string // in the order of the file system
	entries []entry
}

// An entry is what a folder tells of one name.
type entry struct {
	name   string
	path   string
	bad    error // why path does not pass Check, if so
	node   node
	folder folder // of a directory, while somebody walks it
}

// info describes the entry.
func (e *entry) info() Info { return infoOf(e.path, e.bad, e.node) }

// read describes what is in d, the directory at p, if there are at most limit
// entries.
func (f *folder) read(d dir, p string, limit int) error {
	names, err := readAtMost(d, limit, f.names)
	if err != nil {
		return err
	}
	// The names are read and not inferred from the times of the directory, which
	// some file systems keep carelessly.
	if !slices.Equal(names, f.names) {
		f.names, f.entries = names, make([]entry, len(names))
		for i, name := range names {
			path := join(p, name)
			f.entries[i] = entry{name: name, path: path, bad: check(path)}
		}
	}
	return f.look(d)
}

// look describes the entries anew, and drops those that are gone by now.
func (f *folder) look(d dir) error {
	gone := false
	for i := range f.entries {
		e := &f.entries[i]
		n, err := d.lstat(e.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		e.node = n
		if err != nil {
			e.name, gone = "", true
		}
	}
	if gone {
		f.entries = slices.DeleteFunc(f.entries, func(e entry) bool { return e.name == "" })
		f.names = nil // so that the next read begins anew
	}
	return nil
}

// readAtMost returns the names in d if there are at most limit. See dir.names for
// last.
func readAtMost(d dir, limit int, last []string) ([]string, error) {
	limit = min(limit, math.MaxInt-1)
	names, err := d.names(limit+1, last)
	if err != nil {
		return nil, err
	}
	if len(names) > limit {
		return nil, refusef(TooMany, "it has more than %d entries", limit)
	}
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

// names lists the directory at p, sorted.
func (r *Root) names(p string) ([]string, error) {
	d, err := r.top.sub(p)
	if err != nil {
		return nil, err
	}
	defer d.close()
	names, err := readAtMost(d, defaultEntries, nil)
	slices.Sort(names)
	return names, err
}
