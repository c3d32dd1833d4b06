package changeset

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// A Store keeps the changesets of one project, and reads the project. It has
// no method that changes the project: nothing carries a changeset out.
//
// It is safe for concurrent use, and several processes may have stores on one
// root. Close it when it is no longer needed.
type Store struct {
	files  files
	source Source
	opts   Options
	newID  func() string // of a changeset

	diffs diffMemory

	mu    sync.Mutex           // guards bound
	bound map[string][]*Policy // by writer: all that were ever bound
}

// Open opens the store of the project in the directory root, named in the form
// of the operating system, whose canonical files src reads. Nothing is written
// before it is needed.
//
// The error's code is changeset_options_invalid, also if the source reads another
// folder than Options.Docs or a folder to be written to leads through a link or
// is none, or changeset_io if the directory cannot be opened.
func Open(root string, src Source, opts *Options) (*Store, error) {
	full, err := opts.withDefaults(src)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, refusef(CodeOptions, "open", "the source is nil")
	}
	r, err := rootfs.Open(root, nil)
	if err != nil {
		return nil, &Error{Code: CodeIO, Op: "open", Err: err}
	}
	s := newStore(r.Files(), src, full)
	for _, dir := range []string{full.Changesets, full.Previews} {
		if err := s.checkFolder(dir); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

func newStore(f files, src Source, opts Options) *Store {
	return &Store{files: f, source: src, opts: opts, newID: randomID, bound: map[string][]*Policy{}}
}

// randomID returns a new id of 128 bits and more that nobody can guess.
func randomID() string { return idPrefix + strings.ToLower(rand.Text()[:idRandom]) }

// checkFolder reports whether dir is a folder below the root, or can become
// one.
func (s *Store) checkFolder(dir string) error {
	info, err := s.files.Stat(dir)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil
	}
	if err == nil && !info.Mode.IsDir() {
		return &Error{Code: CodeOptions, Op: "open", Path: dir, Detail: "it is not a folder"}
	}
	if err != nil {
		return &Error{Code: CodeOptions, Op: "open", Path: dir, Err: err}
	}
	return nil
}

// Close releases the handle of the root. What is under way in other calls is
// completed. The error is always nil, as nothing can be lost.
func (s *Store) Close() error { return s.files.Close() }

// List returns all changesets, oldest first. One whose file is damaged or
// cannot be read is in the list too, behind the others, with Damaged set.
//
// The error's code is too_many if the folder holds many files of others, or
// changeset_io.
func (s *Store) List(ctx context.Context) ([]Changeset, error) {
	const op = "list"
	ids, err := s.ids(op)
	if err != nil {
		return nil, err
	}
	all := make([]Changeset, 0, len(ids))
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := s.load(op, id)
		switch CodeOf(err) {
		case "":
			all = append(all, r.Changeset)
		case CodeUnknown: // removed since it was listed
		default:
			all = append(all, Changeset{ID: id, Operations: []Operation{}, Damaged: true})
		}
	}
	slices.SortStableFunc(all, func(a, b Changeset) int {
		if a.Damaged != b.Damaged {
			return cmp.Compare(boolInt(a.Damaged), boolInt(b.Damaged))
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// maxEntries bounds what is in a folder of the store.
const maxEntries = 4 * mostChangesets

// ids returns the ids of all changesets that are kept, sorted.
func (s *Store) ids(op string) ([]string, error) {
	dir := s.opts.Changesets
	infos, err := s.files.ReadDir(dir, maxEntries)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(op, dir, err)
	}
	var ids []string
	for _, info := range infos {
		if id, ok := strings.CutSuffix(path.Base(info.Path), extension); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Get returns the changeset id. The error's code is changeset_unknown,
// changeset_damaged, or changeset_io.
func (s *Store) Get(ctx context.Context, id string) (Changeset, error) {
	r, err := s.get(ctx, "get", id)
	if err != nil {
		return Changeset{}, err
	}
	return r.Changeset, nil
}

// get reads a changeset for a caller.
func (s *Store) get(ctx context.Context, op, id string) (*record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.load(op, id)
}

// file is where the changeset id is.
func (s *Store) file(id string) string { return s.opts.Changesets + "/" + id + extension }

// load reads the changeset id. The limit is not Options.MaxBytes: one that was
// written when that was larger can be read, and Validate says that it is too
// large.
func (s *Store) load(op, id string) (*record, error) {
	if !isID(id) {
		return nil, &Error{Code: CodeUnknown, Op: op, Changeset: id}
	}
	p := s.file(id)
	data, err := s.files.ReadFile(p, 2*mostBytes)
	switch rootfs.CodeOf(err) {
	case "":
	case rootfs.NotFound:
		return nil, &Error{Code: CodeUnknown, Op: op, Changeset: id}
	case rootfs.IO, rootfs.Permission, rootfs.Changed:
		return nil, &Error{Code: CodeIO, Op: op, Changeset: id, Path: p, Err: err}
	default: // something else than a regular file of ours
		return nil, &Error{Code: CodeDamaged, Op: op, Changeset: id, Path: p, Err: err}
	}
	r, err := decode(id, data)
	if err != nil {
		return nil, &Error{Code: CodeDamaged, Op: op, Changeset: id, Path: p, Err: err}
	}
	return r, nil
}

// save writes r, if it is not too large.
func (s *Store) save(op string, r *record) error {
	data, err := r.encode()
	if err == nil {
		// What could not be read back is never written, whatever a source says.
		_, err = decode(r.ID, data)
	}
	if err != nil {
		return &Error{Code: CodeProposal, Op: op, Changeset: r.ID, Err: err}
	}
	if n := int64(len(data)); n > s.opts.MaxBytes {
		return in(r.ID, refusef(CodeTooLarge, op, "the changeset would have %d bytes, the limit is %d", n, s.opts.MaxBytes))
	}
	p := s.file(r.ID)
	return in(r.ID, wrap(op, p, s.put(p, data)))
}

// snapshot returns the project as it is.
func (s *Store) snapshot(ctx context.Context, op string) (snap *Snapshot, err error) {
	err = s.ask(ctx, op, "", func() (err error) {
		snap, err = s.source.Snapshot(ctx)
		if err == nil && snap == nil {
			err = fmt.Errorf("there is no snapshot")
		}
		return err
	})
	return snap, err
}

// read returns the bytes of a node's file, if they are those of the snapshot:
// an operation must never bind a hash to bytes that do not have it.
func (s *Store) read(ctx context.Context, op string, n Node) (data []byte, err error) {
	if n.Size > s.opts.MaxFileBytes {
		return nil, &Error{Code: CodeTooLarge, Op: op, ID: n.ID, Path: n.Path, Detail: fmt.Sprintf("the file has %d bytes, the limit is %d", n.Size, s.opts.MaxFileBytes)}
	}
	err = s.ask(ctx, op, n.Path, func() (err error) {
		data, err = s.source.Read(ctx, n.Path)
		return err
	})
	if err == nil && (int64(len(data)) != n.Size || canon.Sum(data) != n.Hash) {
		err = &Error{Code: CodeStale, Op: op, ID: n.ID, Path: n.Path, Detail: "the file is being changed"}
	}
	return data, err
}

// ask calls the source. Its failures are not those of this package, so they
// are told apart, and a panic of foreign code ends one call only.
func (s *Store) ask(ctx context.Context, op, p string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Code: CodeSource, Op: op, Path: p, Detail: fmt.Sprintf("it panicked: %.200v", r)}
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	err = fn()
	if ended := ctx.Err(); err != nil && ended != nil {
		return ended
	}
	if err != nil {
		return &Error{Code: CodeSource, Op: op, Path: p, Err: err}
	}
	return nil
}
