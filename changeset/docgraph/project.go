package docgraph

import (
	"context"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Default limits, used where a field of [Options] is zero.
const (
	DefaultMaxFiles     = 20_000
	DefaultMaxFileBytes = 4 << 20
	DefaultMaxBytes     = 256 << 20
)

// Options describes a project and its limits. Nil and the zero value are the
// default; they are read once and never changed.
type Options struct {
	// Project is the id of the project, 1 to 200 bytes on one line. Empty:
	// "project".
	Project string
	// Docs is the folder of the documents, in slash form and relative to the
	// root; "." is the root itself. Empty: "docs".
	Docs string
	// Identity is what else the project is made of, such as the bytes of its
	// configuration. It only enters the revision.
	Identity []byte
	// MaxFiles is the largest number of documents; beyond it nothing is loaded.
	// 0: DefaultMaxFiles.
	MaxFiles int
	// MaxFileBytes is the size of the largest document; a larger one is a
	// problem and no node. 0: DefaultMaxFileBytes.
	MaxFileBytes int64
	// MaxBytes is the size of all documents together; beyond it nothing is
	// loaded. 0: DefaultMaxBytes.
	MaxBytes int64
	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	// trace is told of operations on the file system, for tests.
	trace func(rootfs.Event)
}

// A Project is a folder of documents, which it reads and never writes. It is
// safe for concurrent use. Close it when it is no longer needed.
type Project struct {
	opts Options
	root *rootfs.Root

	// turn holds one value while nobody refreshes; it guards what follows, and
	// unlike a mutex it can be waited for together with a context.
	turn   chan struct{}
	walker *rootfs.Walker
	files  []*file // in the order of their paths
	odd    []changeset.Problem
	graph  *Graph // of the files, nil before the first refresh
}

// Open opens the project in the directory dir, in the form of the operating
// system. It looks for the docs folder and reads no document yet. The error's
// code is docgraph_options_invalid, docs_unreadable or docgraph_io.
func Open(dir string, opts *Options) (*Project, error) {
	o, err := opts.complete()
	if err != nil {
		return nil, err
	}
	root, err := rootfs.Open(dir, &rootfs.Options{Trace: o.trace})
	if err != nil {
		return nil, &Error{Code: CodeDocs, Op: "open", Path: dir, Err: err}
	}
	if info, err := root.Stat(o.Docs); err != nil || !info.Mode.IsDir() {
		_ = root.Close() // never fails
		return nil, &Error{Code: CodeDocs, Op: "open", Path: o.Docs, Detail: "make the folder, or declare another", Err: err}
	}
	walker := root.Walker(o.Docs, &rootfs.Limits{Entries: 100_000 + 4*o.MaxFiles})
	p := &Project{opts: o, root: root, walker: walker, turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p, nil
}

// complete returns the options with their defaults.
func (o *Options) complete() (Options, error) {
	c := Options{}
	if o != nil {
		c = *o
	}
	c.Project = orDefault(c.Project, "project")
	c.Docs = orDefault(c.Docs, "docs")
	c.MaxFiles = orDefault(c.MaxFiles, DefaultMaxFiles)
	c.MaxFileBytes = orDefault(c.MaxFileBytes, DefaultMaxFileBytes)
	c.MaxBytes = orDefault(c.MaxBytes, DefaultMaxBytes)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Identity = append([]byte(nil), c.Identity...)
	if len(c.Project) > 200 || !utf8.ValidString(c.Project) || containsControl(c.Project) {
		return c, optionError("Project is not 1 to 200 bytes of text on one line")
	}
	if c.Docs != "." {
		if err := rootfs.Check(c.Docs); err != nil {
			return c, &Error{Code: CodeOptions, Op: "open", Detail: "Docs is not a relative path", Err: err}
		}
	}
	if c.MaxFiles < 0 || c.MaxFileBytes < 0 || c.MaxBytes < 0 {
		return c, optionError("a limit is negative")
	}
	return c, nil
}

// optionError is a fault of the options.
func optionError(detail string) error {
	return &Error{Code: CodeOptions, Op: "open", Detail: detail}
}

// orDefault returns v, or def if v is zero.
func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// containsControl reports whether s has characters that break a line.
func containsControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}

// Docs returns the folder of the documents, relative to the root, as Options.Docs
// with its default. A store of changesets holds its own options against it.
func (p *Project) Docs() string { return p.opts.Docs }

// Close releases the root. The graphs of the project stay usable. The error is
// always nil.
func (p *Project) Close() error { return p.root.Close() }

// Graph returns the project as it is now, reading the files that changed since
// the last call. The error's code is docs_unreadable, too_many, too_large or
// docgraph_io.
func (p *Project) Graph(ctx context.Context) (*Graph, error) {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { p.turn <- struct{}{} }()
	changed, err := p.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if changed || p.graph == nil {
		p.graph = newGraph(&p.opts, p.files, p.odd)
	}
	return p.graph, nil
}

// Snapshot implements [changeset.Source]: it is that of [Project.Graph].
func (p *Project) Snapshot(ctx context.Context) (*changeset.Snapshot, error) {
	g, err := p.Graph(ctx)
	if err != nil {
		return nil, err
	}
	return g.Snapshot(), nil
}

// Read implements [changeset.Source]: it returns the bytes that the file of a
// node has now, whatever a graph says. path is relative to the docs folder. The
// error's code is file_unreadable, too_large or docgraph_io.
func (p *Project) Read(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !isDocument(path) {
		return nil, &Error{Code: CodeFile, Op: "read", Path: path, Detail: "it is no document of the project"}
	}
	data, err := p.root.ReadFile(p.inRoot(path), p.opts.MaxFileBytes)
	if err != nil {
		return nil, wrap("read", path, err)
	}
	return data, nil
}

// inRoot turns a path below the docs folder into one below the root.
func (p *Project) inRoot(path string) string {
	if p.opts.Docs == "." {
		return path
	}
	return p.opts.Docs + "/" + path
}

// tooMany is the error for more of something than allowed.
func tooMany(op, what string, limit int) error {
	return &Error{Code: CodeTooMany, Op: op, Detail: fmt.Sprintf("more than %d %s", limit, what)}
}
