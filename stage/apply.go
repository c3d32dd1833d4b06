package stage

import (
	"encoding/hex"
	"path"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// finish carries out the steps of an operation that passed its commit point,
// and ends it with a receipt. again means that another call may have done part
// of it before.
func (a *Area) finish(in *intent, again bool) (Receipt, error) {
	if err := a.apply(in, again); err != nil {
		return Receipt{}, a.unfinished(in, err)
	}
	r, err := a.writeReceipt(in)
	if err == nil {
		err = a.end(in)
	}
	if err != nil {
		return Receipt{}, a.unfinished(in, err)
	}
	return r, nil
}

// apply carries out the steps, each by what is there: the old file, then it is
// replaced; the new one, then it was; or something else, then nobody may decide
// but a person. It looks at all before it changes any.
func (a *Area) apply(in *intent, again bool) error {
	todo, err := a.assess(in)
	if err != nil {
		return err
	}
	for i, s := range in.Steps {
		if s.SHA256 != "" {
			if err := a.place(in, i, todo[i]); err != nil {
				return err
			}
		}
	}
	for i, s := range in.Steps {
		if s.SHA256 == "" && todo[i] {
			if err := a.files.Remove(s.Path); err != nil {
				return err
			}
		}
	}
	for _, dir := range in.targetDirs() {
		if err := a.syncTarget(in, dir, again); err != nil {
			return err
		}
	}
	return nil
}

// assess says which steps are still to be done.
func (a *Area) assess(in *intent) ([]bool, error) {
	todo := make([]bool, len(in.Steps))
	var strange []string
	for i, s := range in.Steps {
		now, err := a.current(s.Path)
		if code := rootfs.CodeOf(err); code == rootfs.IO || code == rootfs.Permission {
			return nil, err
		}
		todo[i] = now == s.Before
		if err != nil || now != s.Before && now != s.SHA256 {
			strange = append(strange, s.Path)
		}
	}
	if len(strange) > 0 {
		return nil, &Error{Code: CodeConflict, Op: "promote", Subject: in.Operation, Paths: strange}
	}
	return todo, nil
}

// place gives the new file of step i its name. If it has it already, a
// temporary file that is left is removed.
func (a *Area) place(in *intent, i int, todo bool) error {
	temp, s := in.temp(i), in.Steps[i]
	if !todo {
		return a.removeFile(temp)
	}
	sum, err := a.current(temp)
	if err != nil {
		return err
	}
	if sum == "" && s.Before == s.SHA256 {
		return nil // the new file has the bytes of the old one, and its name
	}
	if sum != s.SHA256 {
		// Somebody removed or changed the temporary file. The candidate may
		// still have the content.
		if err := a.remake(in, i); err != nil {
			return err
		}
	}
	return a.files.Rename(temp, s.Path)
}

// remake makes the new file of step i once more.
func (a *Area) remake(in *intent, i int) error {
	s := in.Steps[i]
	lost := &Error{
		Code: CodeConflict, Op: "promote", Subject: in.Operation, Paths: []string{s.Path},
		Detail: "its new content is gone; abort the operation",
	}
	if !s.Staged {
		return lost
	}
	if err := a.removeFile(in.temp(i)); err != nil {
		return err
	}
	if err := a.copyStaged(in, i); err != nil {
		if CodeOf(err) == CodeChanged {
			return lost
		}
		return err
	}
	return a.files.SyncDir(path.Dir(s.Path))
}

// syncTarget makes the names in a target directory durable. If a sync of it may
// have failed before, it gets a change first: a system that failed to write a
// directory may think that it has nothing left to write.
func (a *Area) syncTarget(in *intent, dir string, again bool) error {
	if again {
		if err := a.touch(in, dir); err != nil {
			return err
		}
	}
	return a.files.SyncDir(dir)
}

// touch changes a directory, to no effect.
func (a *Area) touch(in *intent, dir string) error {
	p := path.Join(dir, tempName(in.Operation, mostFiles))
	if err := a.removeFile(p); err != nil {
		return err
	}
	f, err := a.files.Create(p, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return a.files.Remove(p)
}

// end removes what only an operation under way needs, the journal last.
func (a *Area) end(in *intent) error {
	undo := a.below(undoDir, in.Operation)
	for i := range in.Steps {
		if err := a.removeFile(a.undo(in, i)); err != nil {
			return err
		}
	}
	if err := a.removeFile(undo); err != nil {
		return err
	}
	if err := a.files.SyncDir(a.below(undoDir)); err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
		return err
	}
	return a.dropJournal()
}

// clearAway removes all that an operation made before its commit point, and
// ends it.
func (a *Area) clearAway(in *intent) error {
	err := a.removeTemps(in)
	if err == nil {
		err = a.removeDirs(in)
	}
	if err == nil {
		err = a.end(in)
	}
	return wrap(CodeIO, "recover", "", err)
}

// removeTemps removes all temporary files of an operation, durably.
func (a *Area) removeTemps(in *intent) error {
	for i := range in.Steps {
		if err := a.removeFile(in.temp(i)); err != nil {
			return err
		}
	}
	for _, dir := range in.targetDirs() {
		if err := a.removeFile(path.Join(dir, tempName(in.Operation, mostFiles))); err != nil {
			return err
		}
		if err := a.files.SyncDir(dir); err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
			return err
		}
	}
	return nil
}

// removeDirs removes the directories that an operation made, durably, except
// those that somebody put something in.
func (a *Area) removeDirs(in *intent) error {
	for _, dir := range slices.Backward(in.Dirs) {
		err := a.removeFile(dir)
		if rootfs.CodeOf(err) == rootfs.NotEmpty {
			continue
		}
		if err != nil {
			return err
		}
		err = a.files.SyncDir(path.Dir(dir))
		if err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
			return err
		}
	}
	return nil
}

// revert undoes the steps of an operation. What is neither the old nor the new
// file is somebody's work by now: it stays, and is returned.
func (a *Area) revert(in *intent) (kept []string, err error) {
	for i, s := range in.Steps {
		now, err := a.current(s.Path)
		if code := rootfs.CodeOf(err); code == rootfs.IO || code == rootfs.Permission {
			return nil, err
		}
		switch {
		case err != nil || now != s.Before && now != s.SHA256:
			kept = append(kept, s.Path)
		case now == s.Before && now != s.SHA256:
		default:
			if err := a.restore(in, i); err != nil {
				return nil, err
			}
		}
	}
	for _, dir := range in.targetDirs() {
		err := a.syncTarget(in, dir, true)
		// An abort that was interrupted may have removed it before.
		if err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
			return nil, err
		}
	}
	return kept, nil
}

// restore puts the old file of step i back, or removes the new one if there was
// none.
func (a *Area) restore(in *intent, i int) error {
	s := in.Steps[i]
	if s.Before == "" {
		return a.removeFile(s.Path)
	}
	temp := in.temp(i)
	if err := a.removeFile(temp); err != nil {
		return err
	}
	sum, _, err := a.files.Copy(a.undo(in, i), temp, a.opts.MaxFileBytes, s.OldMode)
	if rootfs.CodeOf(err) == rootfs.NotFound && s.Before == s.SHA256 {
		return nil // restored before
	}
	if err != nil {
		return err
	}
	if hex.EncodeToString(sum[:]) != s.Before {
		return &Error{
			Code: CodeConflict, Op: "abort", Subject: in.Operation, Paths: []string{s.Path},
			Detail: "the copy of its old content was changed; restore the file and abort again",
		}
	}
	return a.files.Rename(temp, s.Path)
}
