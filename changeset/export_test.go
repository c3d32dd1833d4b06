package changeset

import "github.com/mcpcontract/mcpcontract/internal/rootfs"

// Files and File are the seam between this package and a file system.
type (
	Files    = files
	NewFile  = rootfs.NewFile
	Unlocker = rootfs.Unlocker
)

// OpenOn opens a store on any file system, with ids that id makes.
func OpenOn(f Files, src Source, opts *Options, id func() string) (*Store, error) {
	full, err := opts.withDefaults(src)
	if err != nil {
		return nil, err
	}
	s := newStore(f, src, full)
	s.newID = id
	return s, nil
}

// FilesOf returns the file system of s.
func FilesOf(s *Store) Files { return s.files }

// Reencode decodes the stored form of the changeset id and encodes it again.
func Reencode(id string, data []byte) (Changeset, []byte, error) {
	r, err := decode(id, data)
	if err != nil {
		return Changeset{}, nil, err
	}
	again, err := r.encode()
	return r.Changeset, again, err
}

// Diffed returns how often s computed the diffs of a changeset, and how many
// bytes of them it remembers, of at most MaxMemory.
func Diffed(s *Store) (times, bytes int) {
	s.diffs.mu.Lock()
	defer s.diffs.mu.Unlock()
	return s.diffs.computed, s.diffs.bytes
}

// MaxMemory is what a store remembers of diffs at most.
const MaxMemory = maxMemory
