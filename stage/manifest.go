package stage

import (
	"context"
	"encoding/hex"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// A File is one staged file.
type File struct {
	// Path is where it is in the candidate and, promoted, below the root.
	Path string `json:"path"`
	// Size is the number of its bytes.
	Size int64 `json:"size"`
	// SHA256 is the SHA-256 of its bytes in lower-case hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Mode has its permission bits. It is promoted with them, less the umask
	// of the process.
	Mode fs.FileMode `json:"-"`
}

// A Manifest says what a candidate holds.
type Manifest struct {
	// Candidate is the id.
	Candidate string
	// Files are its files, sorted by the bytes of their paths.
	Files []File
	// Digest is a SHA-256 over all of Files, with their modes, in lower-case
	// hexadecimal digits. It does not depend on the candidate's id.
	Digest string
}

// digestFiles returns the digest of a manifest.
func digestFiles(files []File) string {
	parts := make([][]byte, 0, 4*len(files))
	for _, f := range files {
		parts = append(parts, []byte(f.Path), []byte(f.SHA256),
			strconv.AppendInt(nil, f.Size, 10), strconv.AppendUint(nil, uint64(f.Mode), 8))
	}
	return canon.Digest("mcpcontract/stage/manifest/1", parts...)
}

// Inspect reads the candidate id and says what it holds. It fails unless there
// are exactly the declared files: regular, with one name, within the limits.
// Nothing is written. The files are read by as many goroutines as GOMAXPROCS
// says, with a buffer each.
//
// The error's code is candidate_invalid, candidate_unknown,
// candidate_incomplete, candidate_undeclared, candidate_unsafe (also if a file
// changes while it is read), too_large, too_many, or stage_io.
func (a *Area) Inspect(ctx context.Context, id string) (Manifest, error) {
	const op = "inspect"
	if err := checkID(op, id); err != nil {
		return Manifest{}, err
	}
	files, err := a.listing(ctx, op, id)
	if err == nil {
		err = a.hashAll(ctx, op, id, files)
	}
	if err != nil {
		return Manifest{}, about(id, err)
	}
	return Manifest{Candidate: id, Files: files, Digest: digestFiles(files)}, nil
}

// listing returns the files of a candidate without their hashes, after it
// checked that they are those declared.
func (a *Area) listing(ctx context.Context, op, id string) ([]File, error) {
	declared, err := a.declared(op, id)
	if err != nil {
		return nil, err
	}
	found, err := a.survey(ctx, op, id)
	if err != nil {
		return nil, err
	}
	files := []File{}
	var undeclared []string
	for _, e := range found {
		if e.Mode.IsDir() {
			continue
		}
		if e.Mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
			return nil, &Error{Code: CodeUnsafe, Op: op, Paths: []string{e.Path}, Detail: "it has special permission bits"}
		}
		if _, ok := slices.BinarySearch(declared, e.Path); !ok {
			undeclared = append(undeclared, e.Path)
		}
		files = append(files, File{Path: e.Path, Size: e.Size, Mode: e.Mode.Perm()})
	}
	if len(files) > a.opts.MaxFiles {
		return nil, refusef(CodeTooMany, op, "%d files, the limit is %d", len(files), a.opts.MaxFiles)
	}
	slices.SortFunc(files, func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	if len(undeclared) > 0 {
		slices.Sort(undeclared)
		return nil, refuse(CodeUndeclared, op, undeclared...)
	}
	if missing := missingFrom(files, declared); len(missing) > 0 {
		return nil, refuse(CodeIncomplete, op, missing...)
	}
	return files, a.checkSizes(op, files)
}

// missingFrom returns the paths that files, which are sorted, lack.
func missingFrom(files []File, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, ok := slices.BinarySearchFunc(files, p, func(f File, p string) int { return strings.Compare(f.Path, p) })
		return ok
	})
}

// checkSizes reports whether files are within the limits.
func (a *Area) checkSizes(op string, files []File) error {
	var total int64
	for _, f := range files {
		if f.Size > a.opts.MaxFileBytes {
			return &Error{
				Code: CodeTooLarge, Op: op, Paths: []string{f.Path},
				Detail: sizeDetail(f.Size, a.opts.MaxFileBytes),
			}
		}
		if total += f.Size; total > a.opts.MaxBytes {
			return &Error{Code: CodeTooLarge, Op: op, Detail: "together " + sizeDetail(total, a.opts.MaxBytes)}
		}
	}
	return nil
}

// hashAll sets the hashes of files, and their sizes to what was hashed.
func (a *Area) hashAll(ctx context.Context, op, id string, files []File) error {
	dir := a.candidateDir(id) + "/"
	errs := make([]error, len(files))
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(files)) && !failed.Load() && ctx.Err() == nil; i = next.Add(1) - 1 {
			f := &files[i]
			sum, size, err := a.files.Hash(dir+f.Path, a.opts.MaxFileBytes)
			if err != nil {
				errs[i] = wrap(CodeUnsafe, op, f.Path, err)
				failed.Store(true)
			}
			f.Size, f.SHA256 = size, hex.EncodeToString(sum[:])
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(work)
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return a.checkSizes(op, files)
}
