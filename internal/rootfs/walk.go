package rootfs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// defaultEntries is how many entries are listed if the caller sets no limit.
const defaultEntries = 100_000

// Limits bounds a walk. Zero fields have the documented default, and so has a
// nil *Limits.
type Limits struct {
	// Entries is the largest number of entries in all; 0 means 100,000.
	Entries int
	// Depth is the largest number of levels below the start; 0 means MaxDepth.
	Depth int
	// HashBytes, if not 0, has every regular file of at most so many bytes
	// hashed into Info.Sum while its directory is open, before it is reported.
	// This is faster than calling [Root.Hash] for each.
	HashBytes int64
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
// with code too_many beyond a limit.
func (r *Root) Walk(ctx context.Context, dir string, lim *Limits, fn func(Info) error) error {
	return r.Walker(dir, lim).Walk(ctx, fn)
}

// A Walker walks one directory again and again. It remembers the names, and what
// follows from them alone: a walk that finds the same names again allocates
// nothing for each. It trusts no memory of what is behind a name, nor that the
// names are still the same. It is not safe for concurrent use, and needs no
// closing.
type Walker struct {
	root *Root
	dir  string
	lim  Limits
	top  folder
}

// Walker returns a Walker for the directory dir, which is opened when it walks.
func (r *Root) Walker(dir string, lim *Limits) *Walker {
	return &Walker{root: r, dir: dir, lim: lim.withDefaults()}
}

// Walk is [Root.Walk] of the directory. fn must not call it.
func (w *Walker) Walk(ctx context.Context, fn func(Info) error) error {
	d, err := w.root.openDir(w.dir)
	if err != nil {
		return fail("walk", w.dir, err)
	}
	defer d.close()
	run := walk{root: w.root, fn: fn, lim: w.lim, left: w.lim.Entries}
	top := place{d, w.dir, 1}
	if err := run.list(top, &w.top); err != nil {
		return err
	}
	return skip(run.visit(ctx, top, &w.top))
}

// withDefaults returns l with its zero fields set.
func (l *Limits) withDefaults() Limits {
	if l == nil {
		l = &Limits{}
	}
	return Limits{
		Entries:   cmp.Or(l.Entries, defaultEntries),
		Depth:     cmp.Or(l.Depth, MaxDepth),
		HashBytes: l.HashBytes,
	}
}

// skip ends the effect of SkipDir.
func skip(err error) error {
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}

// walk is the state of one Walk.
type walk struct {
	root *Root
	fn   func(Info) error
	lim  Limits
	left int // entries that may still come
}

// A place is an open directory on the way of a walk.
type place struct {
	dir   dir
	path  string
	level int // of what is in it, from 1
}

// list reads what is at a place, and puts it in the order of the walk.
func (w *walk) list(at place, f *folder) error {
	err := f.read(at.dir, at.path, w.left)
	if err == nil && len(f.entries) > 0 && at.level > w.lim.Depth {
		err = refusef(TooMany, "it is more than %d levels down", w.lim.Depth)
	}
	if err != nil {
		return fail("walk", at.path, err)
	}
	w.left -= len(f.entries)
	if !slices.IsSortedFunc(f.entries, inOrder) {
		slices.SortFunc(f.entries, inOrder)
	}
	return nil
}

// inOrder compares two entries of a folder: a directory sorts where its content
// does, as if its name ended with a slash.
func inOrder(a, b entry) int {
	n := min(len(a.name), len(b.name))
	return cmp.Or(strings.Compare(a.name[:n], b.name[:n]), cmp.Compare(a.after(n), b.after(n)))
}

// after returns the byte of the sort key behind the first n of the name, and -1
// where there is none.
func (e *entry) after(n int) int {
	switch {
	case n < len(e.name):
		return int(e.name[n])
	case e.node.mode.IsDir():
		return '/'
	}
	return -1
}

// visit reports the entries of a place.
func (w *walk) visit(ctx context.Context, at place, f *folder) error {
	for i := range f.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &f.entries[i]
		info := e.info()
		var err error
		if info.Mode.IsDir() {
			err = skip(w.enter(ctx, at, e, info))
		} else {
			w.hash(at, e, &info)
			err = w.fn(info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hash sets info.Sum, if it is wanted and can be had.
func (w *walk) hash(at place, e *entry, info *Info) {
	if w.lim.HashBytes <= 0 || info.Err != nil {
		return
	}
	f, n, err := at.dir.open(e.name, &e.node)
	if err == nil {
		src := source{f: f, now: n, path: info.Path, root: w.root}
		info.Sum, _, err = src.hash(w.lim.HashBytes, nil)
		info.Size, info.ModTime = n.size, n.mod
		f.close()
	}
	info.Err = fail("hash", info.Path, err)
}

// enter reports a directory and what it holds.
func (w *walk) enter(ctx context.Context, at place, e *entry, info Info) error {
	if err := w.fn(info); err != nil || info.Err != nil {
		return err
	}
	sub, err := at.dir.sub(e.name)
	if err != nil {
		info.Err = fail("walk", info.Path, err)
		return w.fn(info)
	}
	defer sub.close()
	below := place{sub, info.Path, at.level + 1}
	err = w.list(below, &e.folder)
	if CodeOf(err) == TooMany {
		return err
	}
	if err != nil {
		info.Err = err
		return w.fn(info)
	}
	return w.visit(ctx, below, &e.folder)
}
