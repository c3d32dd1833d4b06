package stage

import (
	"encoding/json"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Files and File are the seam between this package and a file system.
type (
	Files    = files
	NewFile  = rootfs.NewFile
	Unlocker = rootfs.Unlocker
)

// OpenOn opens an area on any file system. Operation ids are random-free.
func OpenOn(f Files, opts *Options) (*Area, error) {
	full, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Area{files: f, opts: full, newID: func() string { return "aaaaaaaa" }}, nil
}

// FilesOf returns the file system of a.
func FilesOf(a *Area) Files { return a.files }

// SealJournal makes a whole journal of any JSON text.
func SealJournal(text string) string {
	data, err := seal(journalKind, json.RawMessage(text))
	if err != nil {
		panic(err)
	}
	return string(data)
}
