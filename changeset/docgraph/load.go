package docgraph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/changeset/internal/page"
	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A file is what the project knows of one file.
type file struct {
	path    string
	size    int64
	modTime time.Time
	changed time.Time // as rootfs.Info has it
	inode   uint64
	settled bool // a later change cannot have left all of these as they are
	doc     *doc // nil if the file could not be read
	problem *changeset.Problem
}

// A doc is a file that was read. It never changes.
type doc struct {
	path  string
	hash  string
	raw   []byte
	page  page.Page
	id    string // its words, see plain
	title string // its words
	terms []term // sorted
}

// A listing is what one walk found, in the order of the paths.
type listing struct {
	files []*file // nil where a file has to be read
	stale []stale // those
	gone  bool    // something that the project knows is not there
	odd   []changeset.Problem

	was   []*file // what the project knows beyond the last file
	total int64   // bytes of the files
}

// A stale file has to be read.
type stale struct {
	info rootfs.Info // with the path below the docs folder
	old  *file       // what was known of it, or nil
}

// refresh brings the files up to date and reports whether anything changed. If
// it fails, nothing is.
func (p *Project) refresh(ctx context.Context) (changed bool, err error) {
	l, err := p.list(ctx)
	if err != nil {
		return false, err
	}
	changed = l.gone || !slices.Equal(p.odd, l.odd)
	if !changed && len(l.stale) == 0 {
		return false, nil
	}
	builder := newTermBuilder()
	for i, f := range l.files {
		if f != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		next := l.stale[0]
		l.stale = l.stale[1:]
		l.files[i] = p.load(next.info, next.old, builder)
		changed = changed || !l.files[i].same(next.old)
	}
	vanished := func(f *file) bool { return f.doc == nil && f.problem == nil }
	p.files, p.odd = slices.DeleteFunc(l.files, vanished), l.odd
	return changed, nil
}

// current reports whether a file is what was read before; f may be nil.
func (f *file) current(info rootfs.Info) bool {
	return f != nil && f.settled && f.size == info.Size && f.modTime.Equal(info.ModTime) &&
		f.changed.Equal(info.ChangeTime) && f.inode == info.Inode
}

// same reports whether two files make the same graph.
func (f *file) same(old *file) bool {
	if old == nil {
		return f.doc == nil && f.problem == nil
	}
	sameProblem := f.problem == nil && old.problem == nil || f.problem != nil && old.problem != nil && *f.problem == *old.problem
	return f.doc == old.doc && sameProblem
}

// load reads one file. If its bytes are those of old, it keeps old's document.
func (p *Project) load(info rootfs.Info, old *file, builder *termBuilder) *file {
	f := &file{path: info.Path, size: info.Size, modTime: info.ModTime, changed: info.ChangeTime, inode: info.Inode}
	f.settled = p.isSettled(f.modTime) && (f.changed.IsZero() || p.isSettled(f.changed))
	raw, err := p.root.ReadFile(p.inRoot(info.Path), p.opts.MaxFileBytes)
	switch rootfs.CodeOf(err) {
	case "":
	case rootfs.NotFound:
		return f
	default:
		f.settled = false
		f.problem = fileProblem(info.Path, err)
		return f
	}
	hash := canon.Sum(raw)
	if old != nil && old.doc != nil && old.doc.hash == hash {
		f.doc = old.doc
		return f
	}
	d := &doc{path: info.Path, hash: hash, raw: raw, page: page.Parse(info.Path, raw)}
	d.id, d.title = plain(d.page.ID), plain(d.page.Title)
	d.terms = builder.terms(d)
	f.doc = d
	return f
}

// isSettled reports whether a write from now on must give a file another time
// than t. File systems count in ticks of some milliseconds, some in whole seconds.
func (p *Project) isSettled(t time.Time) bool {
	tick := 50 * time.Millisecond
	if t.Nanosecond() == 0 {
		tick = 2 * time.Second
	}
	age := p.opts.Now().Sub(t)
	return age > tick || age < -tick
}

// list walks the docs folder.
func (p *Project) list(ctx context.Context) (*listing, error) {
	l := &listing{files: make([]*file, 0, len(p.files)+1), was: p.files}
	prefix := len(p.inRoot(""))
	err := p.walker.Walk(ctx, func(info rootfs.Info) error {
		info.Path = info.Path[prefix:]
		if ok, err := l.admit(info); !ok {
			return err
		}
		if info.Size > p.opts.MaxFileBytes {
			l.odd = append(l.odd, largeProblem(info.Path, info.Size, p.opts.MaxFileBytes))
			return nil
		}
		if l.total += info.Size; l.total > p.opts.MaxBytes {
			return &Error{Code: CodeTooLarge, Op: "load", Path: p.opts.Docs, Detail: fmt.Sprintf("the documents have more than %d bytes together", p.opts.MaxBytes)}
		}
		if len(l.files) >= p.opts.MaxFiles {
			return tooMany("load", "documents", p.opts.MaxFiles)
		}
		l.add(info)
		return nil
	})
	l.gone = l.gone || len(l.was) > 0
	return l, p.listError(err)
}

// add notes a document.
func (l *listing) add(info rootfs.Info) {
	for len(l.was) > 0 && l.was[0].path < info.Path {
		l.was, l.gone = l.was[1:], true
	}
	var old *file
	if len(l.was) > 0 && l.was[0].path == info.Path {
		old, l.was = l.was[0], l.was[1:]
	}
	if old.current(info) {
		l.files = append(l.files, old)
		return
	}
	l.files = append(l.files, nil)
	l.stale = append(l.stale, stale{info, old})
}

// admit looks at one entry. It reports whether this is a document that may be
// read; the error is for Walk.
func (l *listing) admit(info rootfs.Info) (bool, error) {
	name := path.Base(info.Path)
	hidden := strings.HasPrefix(name, ".")
	switch {
	case info.Mode.IsDir() && hidden:
		return false, fs.SkipDir
	case hidden:
		return false, nil
	case info.Mode.IsDir() && strings.Count(info.Path, "/")+3 >= rootfs.MaxDepth:
		l.odd = append(l.odd, problem(codeUnreadable, changeset.SeverityWarning, info.Path, "the folder is too deep; its documents are left out"))
		return false, fs.SkipDir
	case info.Err != nil:
		// A link may have been meant as a folder of documents.
		if info.Mode.IsDir() || isMarkdown(name) || rootfs.CodeOf(info.Err) == rootfs.Link && path.Ext(name) == "" {
			l.odd = append(l.odd, *fileProblem(info.Path, info.Err))
		}
		return false, nil
	}
	return info.Mode.IsRegular() && isMarkdown(name), nil
}

// listError turns the error of a walk into one of this package.
func (p *Project) listError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	code := CodeDocs
	switch rootfs.CodeOf(err) {
	case "":
		return err
	case rootfs.TooMany:
		code = CodeTooMany
	case rootfs.IO:
		code = CodeIO
	}
	return &Error{Code: code, Op: "load", Path: p.opts.Docs, Err: err}
}

// isMarkdown reports whether a file of that name is a document.
func isMarkdown(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }

// isDocument reports whether a path below the docs folder can be a node's.
func isDocument(name string) bool {
	return rootfs.Check(name) == nil && isMarkdown(name) && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}
