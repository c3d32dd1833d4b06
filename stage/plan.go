package stage

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// Generated is a file that no candidate holds, such as an index, and that is
// promoted together with one.
type Generated struct {
	// Path is where it goes, relative to the root.
	Path string
	// Data is its content.
	Data []byte
}

// A Plan says what Promote does. Area.Plan makes one; Context and Approval are
// the only fields to be set afterwards. Promote checks every other against the
// disk.
type Plan struct {
	// Manifest is what the candidate holds.
	Manifest Manifest
	// Generated are further files to be written, with mode 0644.
	Generated []Generated
	// Remove has the paths of files to be removed.
	Remove []string
	// Base has, for every path that is to be written or removed, the SHA-256 of
	// the file that is there now, in hexadecimal digits; "" means that there is
	// none.
	Base map[string]string
	// Context is a digest of what else the decision rests on and the disk does
	// not show, such as what checks said about the candidate. It is part of
	// Digest and of nothing else, and has the form of Approval.
	Context string
	// Approval names the decision that allows the promotion, for example the
	// hash of a token. An approval is used for one plan, once: promoting again
	// with it returns the receipt. It matches ^[A-Za-z0-9_-]{0,128}$; "" stands
	// for no approval.
	Approval string
}

// A Change is what a plan does to one path.
type Change struct {
	// Path is relative to the root.
	Path string `json:"path"`
	// Before is the SHA-256 of the file that is replaced or removed, "" if
	// there is none.
	Before string `json:"before"`
	// SHA256 is that of the file that is written, "" if one is removed.
	SHA256 string `json:"sha256"`
	// Size is the number of bytes that are written.
	Size int64 `json:"size"`

	mode      fs.FileMode
	generated []byte // the content, if staged is false
	staged    bool
}

// Plan plans the promotion of what Inspect found, together with generated files
// and files to be removed. It checks where they go and reads what is there now.
// Nothing is written.
//
// The error's code is path_invalid, path_not_allowed, path_collision, too_many,
// too_large, plan_invalid, target_unsafe, or stage_io.
func (a *Area) Plan(ctx context.Context, m Manifest, generated []Generated, remove []string) (Plan, error) {
	plan := Plan{Manifest: m, Generated: generated, Remove: remove}
	changes, err := a.changes("plan", plan)
	if err != nil {
		return Plan{}, about(m.Candidate, err)
	}
	if err := a.checkSpelling("plan", changes); err != nil {
		return Plan{}, about(m.Candidate, err)
	}
	plan.Base = make(map[string]string, len(changes))
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return Plan{}, err
		}
		now, err := a.current(c.Path)
		if err != nil {
			return Plan{}, about(m.Candidate, wrap(CodeTarget, "plan", c.Path, err))
		}
		if c.SHA256 == "" && now == "" {
			return Plan{}, &Error{Code: CodePlan, Op: "plan", Subject: m.Candidate, Paths: []string{c.Path}, Detail: "there is nothing to remove"}
		}
		plan.Base[c.Path] = now
	}
	return plan, nil
}

// Changes returns what the plan does, sorted by the bytes of the paths. A file
// whose bytes stay the same is listed too.
func (p Plan) Changes() []Change {
	var all []Change
	for _, f := range p.Manifest.Files {
		all = append(all, Change{Path: f.Path, SHA256: f.SHA256, Size: f.Size, mode: f.Mode, staged: true})
	}
	for _, g := range p.Generated {
		all = append(all, Change{Path: g.Path, SHA256: canon.Sum(g.Data), Size: int64(len(g.Data)), mode: 0o644, generated: g.Data})
	}
	for _, path := range p.Remove {
		all = append(all, Change{Path: path})
	}
	for i := range all {
		all[i].Before = p.Base[all[i].Path]
	}
	slices.SortFunc(all, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return all
}

// Digest returns a SHA-256 over all that the plan does: candidate, manifest
// with modes, generated content, removals, base and Context, but not Approval.
// It is what a person approves.
func (p Plan) Digest() string {
	parts := [][]byte{[]byte(p.Manifest.Candidate), []byte(p.Manifest.Digest), []byte(p.Context)}
	for _, c := range p.Changes() {
		parts = append(parts, []byte(c.Path), []byte(c.Before), []byte(c.SHA256), strconv.AppendInt(nil, c.Size, 10))
	}
	return canon.Digest("mcpcontract/stage/plan/1", parts...)
}

// changes returns the changes of a plan after it checked all that can be
// checked without the disk, except the base.
func (a *Area) changes(op string, plan Plan) ([]Change, error) {
	m := plan.Manifest
	if err := checkID(op, m.Candidate); err != nil {
		return nil, err
	}
	n := len(m.Files) + len(plan.Generated) + len(plan.Remove)
	if n == 0 {
		return nil, refusef(CodePlan, op, "it changes nothing")
	}
	if n > a.opts.MaxFiles {
		return nil, refusef(CodeTooMany, op, "%d files, the limit is %d", n, a.opts.MaxFiles)
	}
	if err := a.checkManifest(op, m); err != nil {
		return nil, err
	}
	all := make([]string, 0, n)
	sizes := slices.Clone(m.Files)
	for _, f := range m.Files {
		all = append(all, f.Path)
	}
	for _, g := range plan.Generated {
		all = append(all, g.Path)
		sizes = append(sizes, File{Path: g.Path, Size: int64(len(g.Data))})
	}
	if err := a.checkPaths(op, m.Candidate, append(all, plan.Remove...)); err != nil {
		return nil, err
	}
	if err := a.checkSizes(op, sizes); err != nil {
		return nil, err
	}
	return plan.Changes(), nil
}

// checkManifest reports whether m is as Inspect makes it.
func (a *Area) checkManifest(op string, m Manifest) error {
	for i, f := range m.Files {
		switch {
		case i > 0 && m.Files[i-1].Path >= f.Path:
			return refusef(CodePlan, op, "the manifest is not sorted")
		case !isSum(f.SHA256) || f.Size < 0 || f.Mode != f.Mode.Perm():
			return refuse(CodePlan, op, f.Path)
		}
		if err := rootfs.Check(f.Path); err != nil {
			return &Error{Code: CodePath, Op: op, Paths: []string{f.Path}, Err: err}
		}
	}
	if m.Digest != digestFiles(m.Files) {
		return refusef(CodePlan, op, "the digest is not that of the files")
	}
	return nil
}

// checkBase reports whether the plan says of every path what is there.
func checkBase(plan Plan, changes []Change) error {
	if len(plan.Base) != len(changes) {
		return refusef(CodePlan, "promote", "the base has %d paths, the plan changes %d", len(plan.Base), len(changes))
	}
	for _, c := range changes {
		sum, ok := plan.Base[c.Path]
		if !ok || sum != "" && !isSum(sum) || sum == "" && c.SHA256 == "" {
			return refuse(CodePlan, "promote", c.Path)
		}
	}
	return nil
}

// checkSpelling reports a path that is on disk under another spelling.
func (a *Area) checkSpelling(op string, changes []Change) error {
	s := spelling{a.files, map[string]map[string][]string{}}
	for _, c := range changes {
		if err := s.check(op, c.Path); err != nil {
			return err
		}
	}
	return nil
}

// current returns the SHA-256 of the file at path, "" if there is none.
func (a *Area) current(path string) (string, error) {
	sum, _, err := a.files.Hash(path, a.opts.MaxFileBytes)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:]), nil
}

// isSum reports whether s has the form of a SHA-256.
func isSum(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
}

// isApproval reports whether s can name a decision.
func isApproval(s string) bool {
	return len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
}

func sizeDetail(n, limit int64) string {
	return fmt.Sprintf("%d bytes, the limit is %d", n, limit)
}
