package resolve

import (
	"context"
	"fmt"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/registry"
)

// Source gives the registry that is in force now. It is asked once per call of
// [Resolver.Resolve] and must never return nil; it may return another registry
// each time, so a source that reloads a file fits.
type Source interface {
	Registry() *registry.Registry
}

// Static returns a source that always gives reg, which must not be nil.
func Static(reg *registry.Registry) Source {
	if reg == nil {
		panic("resolve: Static needs a registry")
	}
	return static{reg}
}

type static struct{ reg *registry.Registry }

func (s static) Registry() *registry.Registry { return s.reg }

// Options are the settings of a [Resolver]. The zero value is good.
type Options struct {
	// NoHeuristics forbids looking for a repo that the registry does not list.
	// An unknown id is then refused with the code probe_forbidden, without any
	// access to the disk.
	NoHeuristics bool

	// MaxFile is the largest file that is read, in bytes. 0 means 4 MiB.
	MaxFile int64

	// MaxManifest is the largest manifest that is read, in bytes. 0 means
	// 256 KiB.
	MaxManifest int64

	// MaxEntries bounds one listing: the entries of a folder, or all files and
	// folders below the roots of one [Repo.Scan]. 0 means 10,000.
	MaxEntries int
}

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.MaxFile <= 0 {
		opts.MaxFile = 4 << 20
	}
	if opts.MaxManifest <= 0 {
		opts.MaxManifest = 256 << 10
	}
	if opts.MaxEntries <= 0 {
		opts.MaxEntries = 10_000
	}
	return opts
}

// Resolver finds repos. It is safe for concurrent use, holds no file open and
// needs no clean-up.
type Resolver struct {
	src    Source
	opts   Options
	rootfs rootfs.Options // the zero value, except in tests that count operations
}

// New returns a resolver that asks src first, always. src must not be nil; opts
// may be.
func New(src Source, opts *Options) *Resolver {
	if src == nil {
		panic("resolve: New needs a source")
	}
	return &Resolver{src: src, opts: opts.withDefaults()}
}

// Registry returns the registry in force now.
func (r *Resolver) Registry() *registry.Registry { return r.src.Registry() }

// Resolve finds the repo with the given id, or with that former id. Close the
// repo after use.
//
// For a registered repo without a manifest it touches no file. For one with a
// manifest it reads the manifest and lists the folders that lead to a view's
// default path. For an id that the registry does not know it lists the
// workspace root and, when a folder of exactly that name is there, the few
// folders in which entrypoints usually lie.
//
// The error is an [*Error] with the code repo_unknown, probe_forbidden,
// too_many_entries or file_unreadable, or the error of ctx. What is wrong with
// a registered repo is a [Notice] of the repo and no error.
func (r *Resolver) Resolve(ctx context.Context, id string) (*Repo, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reg := r.src.Registry()
	entry, ok := reg.Lookup(id)
	if !ok {
		return r.unregistered(ctx, reg, id)
	}
	repo := &Repo{
		ID:             entry.ID,
		Root:           entry.Path,
		Class:          entry.Class,
		Owner:          entry.Owner,
		AuthorityOrder: entry.AuthorityOrder,
		ResourceRoots:  entry.ResourceRoots,
		Views:          entry.Views,
		Mode:           RegistryFallback,
		Entry:          entry,
		resolver:       r,
		registry:       reg,
	}
	repo.registered(id)
	if err := repo.loadManifest(ctx); err != nil {
		_ = repo.Close()
		return nil, err
	}
	repo.settle()
	return repo, nil
}

// registered records how the registry answered for the id asked for.
func (r *Repo) registered(asked string) {
	outcome := "found"
	if asked != r.ID {
		outcome = "renamed"
		r.notice(RepoRenamed, "", "%s is a former id of %s; use the new one", quote(asked), quote(r.ID))
	}
	r.step("registry", outcome)
	if r.Entry.Lifecycle != registry.Archived {
		return
	}
	if next := r.Entry.SupersededBy; next != "" {
		r.notice(RepoArchived, "", "the repo is archived and superseded by %s", quote(next))
		return
	}
	r.notice(RepoArchived, "", "the repo is archived; expect no changes")
}

const maxNotices = 40

// notice adds a notice, or counts it when the list is full.
func (r *Repo) notice(code Code, path, format string, args ...any) {
	if len(r.Notices) == maxNotices {
		r.Notices = append(r.Notices, Notice{Code: MoreNotices, Message: "more notices were left out; run check on the registry"})
	}
	if len(r.Notices) > maxNotices {
		return
	}
	r.Notices = append(r.Notices, Notice{Code: code, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *Repo) step(name, outcome string) {
	if r.Steps == nil {
		r.Steps = r.steps[:0]
	}
	r.Steps = append(r.Steps, Step{Name: name, Outcome: outcome})
}
