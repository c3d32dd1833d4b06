package stage

import (
	"context"
	"io/fs"
	"slices"
	"strconv"

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
	var text []byte // of all parts, which stay where they were when it grows
	part := func(end []byte) {
		parts, text = append(parts, end[len(text):]), end
	}
	for i := range files {
		f := &files[i]
		part(append(text, f.Path...))
		part(append(text, f.SHA256...))
		part(strconv.AppendInt(text, f.Size, 10))
		part(strconv.AppendUint(text, uint64(f.Mode), 8))
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
	files, err := a.inspect(ctx, op, id)
	if err != nil {
		return Manifest{}, about(id, err)
	}
	return Manifest{Candidate: id, Files: files, Digest: digestFiles(files)}, nil
}

// inspect returns the files of a candidate. They are hashed while the listing
// goes on, which takes about as long.
func (a *Area) inspect(ctx context.Context, op, id string) ([]File, error) {
	declared, err := a.declared(op, id)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(declared))
	hashing := a.startHashing(ctx, op, id, files)
	err = a.list(ctx, op, id, declared, files, hashing.add)
	if hashErr := hashing.end(err != nil); err == nil {
		err = hashErr
	}
	if err != nil {
		return nil, err
	}
	return files, a.checkSizes(op, files)
}

// listing returns the files of a candidate without their hashes, after it
// checked that they are those declared.
func (a *Area) listing(ctx context.Context, op, id string) ([]File, error) {
	declared, err := a.declared(op, id)
	if err != nil {
		return nil, err
	}
	files := make([]File, len(declared))
	return files, a.list(ctx, op, id, declared, files, func(int) {})
}

// list finds the declared files, in their order, and checks that there are no
// others and that they are within the limits. It calls found for each as soon
// as it is in files.
func (a *Area) list(ctx context.Context, op, id string, declared []string, files []File, found func(i int)) error {
	var undeclared []string
	var tooLarge error
	count, total := 0, int64(0)
	if _, err := a.survey(ctx, op, id, func(e entry) error {
		if e.Mode.IsDir() {
			return nil
		}
		if e.Mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
			return &Error{Code: CodeUnsafe, Op: op, Paths: []string{e.Path}, Detail: "it has special permission bits"}
		}
		count++
		i, ok := slices.BinarySearch(declared, e.Path)
		if !ok {
			undeclared = append(undeclared, e.Path)
			return nil
		}
		files[i] = File{Path: e.Path, Size: e.Size, Mode: e.Mode.Perm()}
		if tooLarge == nil {
			tooLarge = a.addSize(op, &total, &files[i])
		}
		if tooLarge == nil {
			found(i)
		}
		return nil
	}); err != nil {
		return err
	}
	if count > a.opts.MaxFiles {
		return refusef(CodeTooMany, op, "%d files, the limit is %d", count, a.opts.MaxFiles)
	}
	if len(undeclared) > 0 {
		slices.Sort(undeclared)
		return refuse(CodeUndeclared, op, undeclared...)
	}
	if missing := missingFrom(files, declared); len(missing) > 0 {
		return refuse(CodeIncomplete, op, missing...)
	}
	return tooLarge
}

// missingFrom returns the declared paths that were not found.
func missingFrom(files []File, declared []string) []string {
	var missing []string
	for i := range files {
		if files[i].Path == "" {
			missing = append(missing, declared[i])
		}
	}
	return missing
}

// checkSizes reports whether files are within the limits.
func (a *Area) checkSizes(op string, files []File) error {
	var total int64
	for i := range files {
		if err := a.addSize(op, &total, &files[i]); err != nil {
			return err
		}
	}
	return nil
}

// addSize adds the size of f to total, and reports whether both are within the
// limits.
func (a *Area) addSize(op string, total *int64, f *File) error {
	if f.Size > a.opts.MaxFileBytes {
		return &Error{
			Code: CodeTooLarge, Op: op, Paths: []string{f.Path},
			Detail: sizeDetail(f.Size, a.opts.MaxFileBytes),
		}
	}
	if *total += f.Size; *total > a.opts.MaxBytes {
		return &Error{Code: CodeTooLarge, Op: op, Detail: "together " + sizeDetail(*total, a.opts.MaxBytes)}
	}
	return nil
}
