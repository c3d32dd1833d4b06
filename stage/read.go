package stage

import (
	"context"

	"github.com/mcpcontract/mcpcontract/internal/canon"
)

// Dir returns the directory of the candidate id, relative to the root and in
// slash form, where its files are to be written. It does not look whether there
// is one. The error's code is candidate_invalid.
func (a *Area) Dir(id string) (string, error) {
	if err := checkID("locate", id); err != nil {
		return "", err
	}
	return a.candidateDir(id), nil
}

// ReadFile returns the bytes of a file of a manifest, which are those that
// Inspect hashed or none: if they changed since, the error's code is
// stage_changed. Else it is candidate_unsafe, too_large, or stage_io.
func (a *Area) ReadFile(ctx context.Context, m Manifest, f File) ([]byte, error) {
	const op = "read"
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkID(op, m.Candidate); err != nil {
		return nil, err
	}
	data, err := a.files.ReadFile(a.candidateDir(m.Candidate)+"/"+f.Path, a.opts.MaxFileBytes)
	if err != nil {
		return nil, about(m.Candidate, wrap(CodeUnsafe, op, f.Path, err))
	}
	if canon.Sum(data) != f.SHA256 {
		return nil, about(m.Candidate, refuse(CodeChanged, op, f.Path))
	}
	return data, nil
}
