package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The files in a vault's directory.
const (
	fileName = "vault.json"
	bakName  = "vault.bak"
	lockName = "vault.lock"
)

// maxListed bounds how many entries of the directory are looked at for what a
// crash left.
const maxListed = 1000

// files is what a vault needs of a file system, and what [rootfs.Root] has.
// Tests put in its place one that fails.
type files interface {
	Dir() string
	Stat(path string) (rootfs.Info, error)
	ReadFile(path string, limit int64) ([]byte, error)
	ReadDir(dir string, limit int) ([]rootfs.Info, error)
	Create(path string, perm fs.FileMode) (*rootfs.File, error)
	Copy(from, to string, limit int64, perm fs.FileMode) (sum [32]byte, size int64, err error)
	Rename(oldpath, newpath string) error
	Remove(path string) error
	SyncDir(dir string) error
	Lock(ctx context.Context, path string) (*rootfs.Lock, error)
	Close() error
}

// private refuses an entry that others may read or change. Windows does not
// show in a mode who may.
func private(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "it is a link"
	case !ours(info):
		return "it belongs to another user"
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "other users have access to it"
	}
	return ""
}

// checkWriter refuses what a writer finds beside the vault's file, under the
// lock, if it is not private. A backup with a second name cannot be removed, and
// who may open the lock file may keep the lock.
func checkWriter(root files, op string) error {
	for _, name := range []string{lockName, bakName} {
		info, err := root.Stat(name)
		if err == nil {
			err = info.Err
		}
		if err == nil {
			err = checkPrivate(root, name)
		}
		if err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
			return failed(op, err)
		}
	}
	return nil
}

// checkPrivate refuses the directory, or the file in it, if it is not private.
// It looks again by name, because rootfs does not tell the owner of what it
// opened; who can swap a file in a private directory is its owner or root.
func checkPrivate(root files, name string) error {
	info, err := os.Lstat(filepath.Join(root.Dir(), name))
	if err != nil {
		return failed("open", err)
	}
	what := private(info)
	switch {
	case what == "":
		return nil
	case name == ".":
		return fault(CodePermissions, "open", "its directory: %s", what)
	}
	return &Error{Code: CodePermissions, Op: "open", Name: name, Detail: what}
}

// readTries is how often a file is read that is replaced meanwhile.
const readTries = 20

// readFile reads the vault's file. Readers take no lock: it is only ever
// replaced as a whole.
func readFile(root files) ([]byte, error) {
	for try := 1; ; try++ {
		data, err := root.ReadFile(fileName, maxFile)
		if rootfs.CodeOf(err) == rootfs.Changed && try < readTries {
			continue
		}
		if rootfs.CodeOf(err) == rootfs.TooLarge {
			return nil, fault(CodeDamaged, "open", "it is larger than any vault, which has at most %d bytes", maxFile)
		}
		if err != nil {
			return nil, failed("open", err)
		}
		return data, checkPrivate(root, fileName)
	}
}

// A backup says what becomes of vault.bak when the vault's file is replaced.
type backup int

const (
	backupNone backup = iota // there is no state before
	backupKeep               // the state before goes there
	backupDrop               // no state before is to be left anywhere
)

// replaceFile gives the vault's file new content. The caller holds the lock.
//
// All that can fail for want of room comes first, so that then both files stay
// as they are. A state before that a revoked key opens is gone durably before
// the new file shows that the key is revoked: who is killed in between can do
// it again, and it is never half done.
func replaceFile(root files, data []byte, b backup) error {
	if err := dropTemps(root); err != nil && b == backupDrop {
		return failed("save", err)
	}
	next := rootfs.TempPrefix + rand.Text()
	if err := makeFile(root, next, data); err != nil {
		return failed("save", err)
	}
	err := setBackup(root, b)
	if err == nil {
		err = root.Rename(next, fileName)
	}
	if err != nil {
		return failed("save", errors.Join(err, root.Remove(next)))
	}
	return failed("save", root.SyncDir("."))
}

// makeFile writes a new file, or leaves none. Its content is durable, its name
// is not.
func makeFile(root files, name string, data []byte) error {
	f, err := root.Create(name, 0o600)
	if err != nil {
		return err
	}
	if err := rootfs.Fill(f, data); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// setBackup does with vault.bak what b says.
func setBackup(root files, b backup) error {
	switch b {
	case backupKeep:
		// A copy and not a second name: a file with two is refused, because the
		// other may lie anywhere. The old file keeps its name until the last step.
		temp := rootfs.TempPrefix + rand.Text()
		if _, _, err := root.Copy(fileName, temp, maxFile, 0o600); err != nil {
			return err
		}
		if err := root.Rename(temp, bakName); err != nil {
			return errors.Join(err, root.Remove(temp))
		}
	case backupDrop:
		if err := root.Remove(bakName); err != nil && rootfs.CodeOf(err) != rootfs.NotFound {
			return err
		}
		return root.SyncDir(".")
	}
	return nil
}

// dropTemps removes what crashes left behind, which may be copies of the
// vault's file. Nobody else writes while the lock is held.
func dropTemps(root files) error {
	list, err := root.ReadDir(".", maxListed)
	if err != nil {
		return err
	}
	var failed error
	for _, info := range list {
		// What is no file holds no copy, and a directory may have entries.
		if !strings.HasPrefix(info.Path, rootfs.TempPrefix) {
			continue
		}
		if err := root.Remove(info.Path); err != nil && info.Mode.IsRegular() {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
