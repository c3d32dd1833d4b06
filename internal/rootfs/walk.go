package rootfs

import (
	"cmp"
	"context"
	"io/fs"
	"path"
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
	w := walk{root: r, ctx: ctx, fn: fn, lim: lim.withDefaults()}
	w.left = w.lim.Entries
	d, err := r.openDir(dir)
	if err != nil {
		return fail("walk", dir, err)
	}
	defer d.close()
	entries, err := w.list(d, dir, 1)
	if err != nil {
		return err
	}
	return skip(w.entries(d, dir, entries, 1))
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
	if err == fs.SkipDir {
		return nil
	}
	return err
}

// walk is the state of one Walk.
type walk struct {
	root *Root
	ctx  context.Context // lives as long as the call
	fn   func(Info) error
	lim  Limits
	left int // entries that may still come
}

// list describes what is in d, which is at p and level levels down, in the
// order of the walk.
func (w *walk) list(d dir, p string, level int) ([]entry, error) {
	entries, err := list(d, w.left)
	if err == nil && len(entries) > 0 && level > w.lim.Depth {
		err = refusef(TooMany, "it is more than %d levels down", w.lim.Depth)
	}
	if err != nil {
		return nil, fail("walk", p, err)
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

// entries reports what is in d, which is at p.
func (w *walk) entries(d dir, p string, entries []entry, level int) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		info := infoOf(join(p, e.name), e.node)
		var err error
		if info.Mode.IsDir() {
			err = skip(w.directory(d, info, level))
		} else {
			w.hash(d, e, &info)
			err = w.fn(info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hash sets info.Sum, if it is wanted and can be had.
func (w *walk) hash(d dir, e entry, info *Info) {
	if w.lim.HashBytes <= 0 || info.Err != nil {
		return
	}
	f, n, err := d.open(e.name, &e.node)
	if err == nil {
		info.Sum, _, err = w.root.hash(f, n, info.Path, w.lim.HashBytes)
		info.Size, info.ModTime = n.size, n.mod
	}
	info.Err = fail("hash", info.Path, err)
}

// directory reports one directory in d and what it holds.
func (w *walk) directory(d dir, info Info, level int) error {
	if err := w.fn(info); err != nil || info.Err != nil {
		return err
	}
	sub, err := d.sub(path.Base(info.Path))
	if err != nil {
		info.Err = fail("walk", info.Path, err)
		return w.fn(info)
	}
	defer sub.close()
	entries, err := w.list(sub, info.Path, level+1)
	if CodeOf(err) == TooMany {
		return err
	}
	if err != nil {
		info.Err = err
		return w.fn(info)
	}
	return w.entries(sub, info.Path, entries, level+1)
}
