package stage

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Prepared is what Prepare found and did.
type Prepared struct {
	// Dir is where the files of the candidate are to be written, relative to
	// the root and in slash form.
	Dir string
	// Retained has the declared files that are there already, sorted by bytes.
	Retained []string
	// Removed has the files that were there and not declared, sorted by bytes.
	Removed []string
}

// Prepare declares the files of the candidate id, and makes it converge to
// them: files that are there and not declared are removed, and directories
// that are empty then. Declaring again with fewer files is how a candidate
// shrinks. Nothing is made or removed before all of it was looked at, and
// nothing outside the candidate's directory at all.
//
// The error's code is candidate_invalid, path_invalid, path_collision,
// path_not_allowed, too_many, candidate_unsafe, or one of those common to all
// methods, stage_locked and stage_io.
func (a *Area) Prepare(ctx context.Context, id string, expected []string) (Prepared, error) {
	const op = "prepare"
	if err := checkID(op, id); err != nil {
		return Prepared{}, err
	}
	expected = slices.Clone(expected)
	slices.Sort(expected)
	if err := a.checkPaths(op, id, expected); err != nil {
		return Prepared{}, about(id, err)
	}
	l, err := a.lock(ctx, op)
	if err != nil {
		return Prepared{}, about(id, err)
	}
	p, err := a.prepare(ctx, id, expected)
	return p, about(id, first(err, unlock(op, l)))
}

// prepare is Prepare under the lock.
func (a *Area) prepare(ctx context.Context, id string, expected []string) (Prepared, error) {
	const op = "prepare"
	var found []entry
	there, err := a.survey(ctx, op, id, func(e entry) error {
		found = append(found, e)
		return nil
	})
	if err != nil {
		return Prepared{}, err
	}
	if !there {
		if err := a.checkRoom(ctx); err != nil {
			return Prepared{}, err
		}
	}
	done := Prepared{Dir: a.candidateDir(id)}
	var emptied []string // directories, those in others first
	for _, e := range slices.Backward(found) {
		if e.Mode.IsDir() {
			if !slices.ContainsFunc(expected, func(p string) bool { return strings.HasPrefix(p, e.Path+"/") }) {
				emptied = append(emptied, e.Path)
			}
		} else if _, ok := slices.BinarySearch(expected, e.Path); ok {
			done.Retained = append(done.Retained, e.Path)
		} else {
			done.Removed = append(done.Removed, e.Path)
		}
	}
	slices.Sort(done.Retained)
	slices.Sort(done.Removed)
	for _, p := range slices.Concat(done.Removed, emptied) {
		if err := a.removeFile(done.Dir + "/" + p); err != nil {
			return Prepared{}, wrap(CodeUnsafe, op, p, err)
		}
	}
	if err := a.makeDir(op, done.Dir); err != nil {
		return Prepared{}, err
	}
	return done, a.declare(id, expected)
}

// An entry is a file or directory of a candidate.
type entry = rootfs.Info

// survey calls fn for all that is in the candidate, with paths relative to it,
// if nothing in it is unsafe. It reports whether there is a candidate.
func (a *Area) survey(ctx context.Context, op, id string, fn func(entry) error) (bool, error) {
	dir := a.candidateDir(id)
	lim := &rootfs.Limits{Entries: 2 * a.opts.MaxFiles}
	err := a.files.Walk(ctx, dir, lim, func(e rootfs.Info) error {
		e.Path = strings.TrimPrefix(e.Path, dir+"/")
		if e.Err != nil {
			return wrap(CodeUnsafe, op, e.Path, e.Err)
		}
		return fn(e)
	})
	if CodeOf(err) == "" && rootfs.CodeOf(err) == rootfs.NotFound {
		return false, nil
	}
	return true, wrap(CodeUnsafe, op, dir, err)
}

// checkRoom reports whether there may be one more candidate.
func (a *Area) checkRoom(ctx context.Context) error {
	ids, err := a.Candidates(ctx)
	if err != nil {
		return err
	}
	if len(ids) >= a.opts.MaxCandidates {
		return refusef(CodeTooMany, "prepare", "%d candidates are kept, the limit is %d; discard one", len(ids), a.opts.MaxCandidates)
	}
	return nil
}

// Candidates returns the ids of the candidates that are kept, sorted.
func (a *Area) Candidates(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir := a.below(stageDir)
	infos, err := a.files.ReadDir(dir, maxEntries)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(CodeUnsafe, "list", dir, err)
	}
	var ids []string
	for _, info := range infos {
		if id := path.Base(info.Path); info.Mode.IsDir() && checkID("list", id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// declare keeps the list of declared files. The caller holds the lock.
func (a *Area) declare(id string, expected []string) error {
	data, err := canon.Marshal(append([]string{}, expected...))
	if err == nil {
		_, err = a.put(a.below(stageDir), id+listSuffix, data)
	}
	return wrap(CodeUnsafe, "prepare", a.below(stageDir, id+listSuffix), err)
}

// declared returns the list of declared files, which is sorted. Whoever writes
// candidates could have written it: it serves to compare, and the paths of a
// plan are checked for themselves.
func (a *Area) declared(op, id string) ([]string, error) {
	name := a.below(stageDir, id+listSuffix)
	data, err := a.files.ReadFile(name, mostFiles*(rootfs.MaxPath+8))
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, &Error{Code: CodeUnknown, Op: op}
	}
	if err != nil {
		return nil, wrap(CodeUnsafe, op, name, err)
	}
	var paths []string
	if err := json.Unmarshal(data, &paths); err != nil || !slices.IsSorted(paths) {
		return nil, refuse(CodeDamaged, op, name)
	}
	return paths, nil
}

// Discard removes the candidate id with all that is in it, of whatever kind,
// and returns the files it removed, sorted by bytes. Links are removed, never
// followed. A promoted file is not touched, and neither is a receipt.
//
// The error's code is candidate_invalid, candidate_unknown, candidate_unsafe
// (a mount, or a name that is not valid; remove it by hand), too_many, or one
// of those common to all methods.
func (a *Area) Discard(ctx context.Context, id string) ([]string, error) {
	const op = "discard"
	if err := checkID(op, id); err != nil {
		return nil, err
	}
	l, err := a.lock(ctx, op)
	if err != nil {
		return nil, about(id, err)
	}
	removed, err := a.discard(ctx, id)
	return removed, about(id, first(err, unlock(op, l)))
}

// noDirectory reports whether something else than a directory, such as a link,
// has the name of a candidate. It has nothing in it that could be listed.
func noDirectory(err error) bool {
	code := rootfs.CodeOf(err)
	return code == rootfs.Link || code == rootfs.NotDir || code == rootfs.NotRegular
}

// discard is Discard under the lock.
func (a *Area) discard(ctx context.Context, id string) ([]string, error) {
	const op = "discard"
	dir, list := a.candidateDir(id), a.below(stageDir, id+listSuffix)
	var all, removed []string
	err := a.files.Walk(ctx, dir, nil, func(e rootfs.Info) error {
		p := strings.TrimPrefix(e.Path, dir+"/")
		if code := rootfs.CodeOf(e.Err); code == rootfs.PathInvalid || code == rootfs.CrossDevice {
			return wrap(CodeUnsafe, op, p, e.Err)
		}
		all = append(all, e.Path)
		if !e.Mode.IsDir() {
			removed = append(removed, p)
		}
		return nil
	})
	missing := rootfs.CodeOf(err) == rootfs.NotFound
	if err != nil && !missing && !noDirectory(err) {
		return nil, wrap(CodeUnsafe, op, dir, err)
	}
	if _, err := a.files.Stat(list); missing && rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, &Error{Code: CodeUnknown, Op: op}
	}
	slices.Reverse(all) // what is in a directory before it
	for _, p := range append(all, dir, list) {
		if err := a.removeFile(p); err != nil {
			return nil, wrap(CodeUnsafe, op, p, err)
		}
	}
	slices.Sort(removed)
	return removed, wrap(CodeUnsafe, op, dir, a.files.SyncDir(a.below(stageDir)))
}
