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
	WriteFile(path string, data []byte, perm fs.FileMode) error
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

// checkPrivate refuses the directory, or the file in it, if it is not private.
// It looks again by name, because rootfs does not tell the owner of what it
// opened; who can swap a file in a private directory is its owner or root.
func checkPrivate(root files, name string) error {
	info, err := os.Lstat(filepath.Join(root.Dir(), name))
	if err != nil {
		return failed("open", err)
	}
	if what := private(info); what != "" {
		return &Error{Code: CodePermissions, Op: "open", Name: name, Detail: what}
	}
	return nil
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
		if err != nil {
			return nil, failed("open", err)
		}
		return data, checkPrivate(root, fileName)
	}
}

// replaceFile gives the vault's file new content. The caller holds the lock.
// The state before stays in vault.bak; backup is false where there is none.
func replaceFile(root files, data []byte, backup bool) error {
	dropTemps(root)
	// A copy and not a second name: a file with two is refused, because the
	// other may lie anywhere. The old file keeps its name until the last step.
	if backup {
		temp := rootfs.TempPrefix + rand.Text()
		if _, _, err := root.Copy(fileName, temp, maxFile, 0o600); err != nil {
			return failed("save", err)
		}
		if err := root.Rename(temp, bakName); err != nil {
			return failed("save", errors.Join(err, root.Remove(temp)))
		}
	}
	return failed("save", root.WriteFile(fileName, data, 0o600))
}

// dropBackup removes vault.bak, which opens with a key that is to open nothing
// any more.
func dropBackup(root files) error {
	err := root.Remove(bakName)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil
	}
	return failed("save", errors.Join(err, root.SyncDir(".")))
}

// dropTemps removes what crashes left behind. Nobody else writes while the
// lock is held. What cannot be removed is sealed, and tried again next time.
func dropTemps(root files) {
	list, err := root.ReadDir(".", maxListed)
	if err != nil {
		return
	}
	for _, info := range list {
		if strings.HasPrefix(info.Path, rootfs.TempPrefix) {
			_ = root.Remove(info.Path) // see above
		}
	}
}
