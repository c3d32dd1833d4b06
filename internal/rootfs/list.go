package rootfs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ReadDir lists the directory dir, which may be ".", sorted by the bytes of
// the names. Entries of every kind are listed, also those that cannot be
// opened: see Info.Err. More than max entries are refused with code too_many.
func (r *Root) ReadDir(dir string, max int) ([]Info, error) {
	d, err := r.openDir(dir)
	if err != nil {
		return nil, fail("readdir", dir, err)
	}
	defer d.close()
	infos, err := list(d, dir, max)
	return infos, fail("readdir", dir, err)
}

// openDir checks and opens the directory at p.
func (r *Root) openDir(p string) (dir, error) {
	if p != "." {
		if err := Check(p); err != nil {
			return nil, err
		}
	}
	return r.top.sub(p)
}

// list describes the entries of d, which is at p.
func list(d dir, p string, max int) ([]Info, error) {
	if max < 0 {
		max = 0
	}
	names, err := d.names(max + 1)
	if err != nil {
		return nil, err
	}
	if len(names) > max {
		return nil, refuse(TooMany, "it has more than %d entries", max)
	}
	slices.Sort(names)
	infos := make([]Info, 0, len(names))
	for _, name := range names {
		n, err := d.lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, infoOf(join(p, name), n))
	}
	return infos, nil
}

// join puts a name below p. It does not clean: the name comes from a listing
// and is reported as it is.
func join(p, name string) string {
	if p == "." {
		return name
	}
	return p + "/" + name
}

// Limits bounds a walk. Zero fields have the documented default.
type Limits struct {
	// Entries is the largest number of entries in all; 0 means 100,000.
	Entries int
	// Depth is the largest number of levels below the start; 0 means MaxDepth.
	Depth int
}

// withDefaults returns l with its zero fields set.
func (l *Limits) withDefaults() Limits {
	out := Limits{Entries: 100_000, Depth: MaxDepth}
	if l != nil {
		out.Entries = cmp.Or(l.Entries, out.Entries)
		out.Depth = cmp.Or(l.Depth, out.Depth)
	}
	return out
}

// Walk calls fn for every entry below the directory dir, which may be ".", and
// opens each directory once. Files come in the byte order of their paths, a
// directory before what it holds. No link is followed and no mount entered.
//
// An entry that cannot be used has Info.Err set; a directory that cannot be
// listed is reported a second time, with the reason there. Walk carries on if
// fn returns nil. It ends with fn's error, except that [fs.SkipDir] for a
// directory leaves that directory out and for anything else the rest of the
// directory it is in. It ends with the context's error when ctx does, and
// with code too_many beyond a limit; nil lim means the defaults.
func (r *Root) Walk(ctx context.Context, dir string, lim *Limits, fn func(Info) error) error {
	d, err := r.openDir(dir)
	if err != nil {
		return fail("walk", dir, err)
	}
	defer d.close()
	w := walk{ctx: ctx, fn: fn, lim: lim.withDefaults()}
	w.left = w.lim.Entries
	err = w.dir(d, dir, 1)
	if err == fs.SkipDir {
		return nil
	}
	return err
}

// walk is the state of one Walk.
type walk struct {
	ctx  context.Context
	fn   func(Info) error
	lim  Limits
	left int // entries that may still come
}

// dir reports what is in d, which is at p.
func (w *walk) dir(d dir, p string, level int) error {
	infos, err := list(d, p, w.left)
	if CodeOf(err) == TooMany {
		return fail("walk", p, refuse(TooMany, "there are more than %d entries in all", w.lim.Entries))
	}
	if err != nil {
		return fail("walk", p, err)
	}
	if len(infos) > 0 && level > w.lim.Depth {
		return fail("walk", p, refuse(TooMany, "there are more than %d levels", w.lim.Depth))
	}
	w.left -= len(infos)
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(sortKey(a), sortKey(b)) })
	for _, info := range infos {
		if err := w.entry(d, info, level); err != nil {
			return err
		}
	}
	return nil
}

// sortKey makes a directory sort where its content does.
func sortKey(i Info) string {
	if i.Mode.IsDir() {
		return i.Path + "/"
	}
	return i.Path
}

// entry reports one entry of d and, if it is a directory, what is in it.
func (w *walk) entry(d dir, info Info, level int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	err := w.fn(info)
	if !info.Mode.IsDir() || info.Err != nil || err != nil {
		if err == fs.SkipDir && info.Mode.IsDir() {
			return nil
		}
		return err
	}
	sub, err := d.sub(path.Base(info.Path))
	if err != nil {
		info.Err = fail("walk", info.Path, err)
		return w.fn(info)
	}
	defer sub.close()
	err = w.dir(sub, info.Path, level+1)
	if err == fs.SkipDir {
		return nil
	}
	return err
}
