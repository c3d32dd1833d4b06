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
	w := walk{root: r, fn: fn, lim: lim.withDefaults()}
	w.left = w.lim.Entries
	d, err := r.openDir(dir)
	if err != nil {
		return fail("walk", dir, err)
	}
	defer d.close()
	top := place{d, dir, 1}
	entries, err := w.list(top)
	if err != nil {
		return err
	}
	return skip(w.visit(ctx, top, entries))
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

// list describes what is at a place, in the order of the walk.
func (w *walk) list(at place) ([]entry, error) {
	entries, err := list(at.dir, w.left)
	if err == nil && len(entries) > 0 && at.level > w.lim.Depth {
		err = refusef(TooMany, "it is more than %d levels down", w.lim.Depth)
	}
	if err != nil {
		return nil, fail("walk", at.path, err)
	}
	w.left -= len(entries)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return entries, nil
}

// sortKey makes a directory sort where its content does.
func (e *entry) sortKey() string {
	if e.node.mode.IsDir() {
		return e.name + "/"
	}
	return e.name
}

// visit reports the entries of a place.
func (w *walk) visit(ctx context.Context, at place, entries []entry) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info := infoOf(join(at.path, e.name), e.node)
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
func (w *walk) hash(at place, e entry, info *Info) {
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
func (w *walk) enter(ctx context.Context, at place, e entry, info Info) error {
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
	entries, err := w.list(below)
	if CodeOf(err) == TooMany {
		return err
	}
	if err != nil {
		info.Err = err
		return w.fn(info)
	}
	return w.visit(ctx, below, entries)
}
