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
	infos, err := w.list(d, dir, 1)
	if err != nil {
		return err
	}
	return skip(w.entries(d, infos, 1))
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
func (w *walk) list(d dir, p string, level int) ([]Info, error) {
	infos, err := list(d, p, w.left)
	if err == nil && len(infos) > 0 && level > w.lim.Depth {
		err = refusef(TooMany, "it is more than %d levels down", w.lim.Depth)
	}
	if err != nil {
		return nil, fail("walk", p, err)
	}
	w.left -= len(infos)
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return infos, nil
}

// sortKey makes a directory sort where its content does.
func sortKey(i Info) string {
	if i.Mode.IsDir() {
		return i.Path + "/"
	}
	return i.Path
}

// entries reports what is in d.
func (w *walk) entries(d dir, infos []Info, level int) error {
	for _, info := range infos {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		var err error
		if info.Mode.IsDir() {
			err = skip(w.directory(d, info, level))
		} else {
			err = w.file(d, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reports one entry of d that is no directory.
func (w *walk) file(d dir, info Info) error {
	if w.lim.HashBytes > 0 && info.Err == nil {
		sum, size, err := w.root.hash(d, info.Path, path.Base(info.Path), w.lim.HashBytes)
		if err != nil {
			info.Err = fail("hash", info.Path, err)
		} else {
			info.Sum, info.Size = sum, size
		}
	}
	return w.fn(info)
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
	infos, err := w.list(sub, info.Path, level+1)
	if CodeOf(err) == TooMany {
		return err
	}
	if err != nil {
		info.Err = err
		return w.fn(info)
	}
	return w.entries(sub, infos, level+1)
}
