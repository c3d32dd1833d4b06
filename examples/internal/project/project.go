// Package project reads mcpdocs.yaml, the file that says what the documents
// server serves:
//
//	p, err := project.Load(dir)
//
//	schema_version: "1.0"
//	project: {id: handbook, title: Handbook}
//	docs: docs
//	views:
//	  - {id: review, title: Review, renderer: review}
//	  - {id: outline, title: Outline, renderer: outline}
//	outputs:
//	  - {view: outline, path: site/outline.html}
//	proposals: {allow: [create, update, move, delete], kinds: [guide, spec], paths: ["**/*.md"]}
//	candidates: {allow: ["plans/**/*.md"], authorized: []}
//	templates: templates
//	roots: {changesets: .mcpdocs/changesets, previews: .mcpdocs/previews, stage: .mcpdocs/stage}
//
// Only the first three fields are required. Without views there are the two
// above; without proposals every operation may be proposed on every kind and
// path, without candidates none may be promoted, and without templates there are
// none. The roots default to those above. Whatever the file holds besides is a
// fault, and all faults are reported at once, each with its line and column.
//
// docs may be ".", the folder of the project file; then there can be no
// candidates, and every root has a name that begins with a dot.
//
// A candidate may be promoted neither into the docs, the templates, an output,
// this file nor the server's own folders: a pattern that could match there is a
// fault.
//
// The functions are safe for concurrent use.
package project

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/changeset"
	"github.com/mcpcontract/mcpcontract/internal/rootfs"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

const (
	// Name is the name of the project file in the project's folder.
	Name = "mcpdocs.yaml"
	// StateDir is the folder below which the server keeps what it writes, unless
	// the roots say otherwise. No candidate is ever promoted into it.
	StateDir = ".mcpdocs"

	maxFile = 1 << 20 // bytes
)

// File is a project file with its defaults filled in. Paths are relative to the
// project's folder, clean and with forward slashes.
type File struct {
	// ID names the project towards clients; Title is for people.
	ID, Title string
	// Docs is the folder of the canonical documents, "." for that of the project.
	Docs string
	// Views and Outputs are the pages that can be made.
	Views   []changeset.View
	Outputs []changeset.Output
	// Proposals says what a writer may propose.
	Proposals changeset.Policy
	// Allow has the patterns of paths that candidates may be promoted to, and
	// Authorized those for which nobody need be asked.
	Allow, Authorized []string
	// Templates is the folder of the templates, "" for none.
	Templates string
	// Changesets, Previews and Stage are where the server writes.
	Changesets, Previews, Stage string
	// Source is the file as it was read.
	Source []byte
}

// Error lists what is wrong with a project file, in the order of the lines.
type Error struct {
	// Faults are "mcpdocs.yaml:LINE:COLUMN: field: what is wrong and what to do".
	Faults []string
}

// Error joins the faults, one a line.
func (e *Error) Error() string { return strings.Join(e.Faults, "\n") }

// ErrorCode is "project_invalid".
func (e *Error) ErrorCode() string { return "project_invalid" }

// Load reads the project file in the folder dir. The error is an [*Error] with
// every fault of the file, or says why there is none to read.
func Load(dir string) (*File, error) {
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	src, err := root.ReadFile(Name, maxFile)
	if rootfs.CodeOf(err) == rootfs.NotFound {
		return nil, fmt.Errorf("there is no %s in %s; write one with schema_version, project and docs", Name, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read project: %w", err)
	}
	return Parse(src)
}

// Parse reads the text of a project file. The error is an [*Error].
func Parse(src []byte) (*File, error) {
	node, err := yamldoc.Parse(src, &yamldoc.Options{MaxBytes: maxFile})
	if err != nil {
		e := &Error{}
		for _, f := range yamldoc.Faults(err) {
			e.Faults = append(e.Faults, fmt.Sprintf("%s:%d:%d: %s", Name, f.Line, f.Column, f.Msg))
		}
		return nil, e
	}
	r := &reader{file: File{
		Source:     slices.Clone(src),
		Changesets: StateDir + "/changesets",
		Previews:   StateDir + "/previews",
		Stage:      StateDir + "/stage",
	}}
	r.read(node)
	if len(r.faults) > 0 {
		return nil, r.err()
	}
	return &r.file, nil
}

// State is the folder in which the server keeps approvals and what promotions
// need, and the staged files in a folder "stage" of it: the one above Stage if
// that has this name, else Stage itself.
func (f *File) State() string {
	if dir, base := path.Split(f.Stage); base == "stage" && dir != "" {
		return path.Clean(dir)
	}
	return f.Stage
}

// Protected returns the files and folders that no candidate may change, apart
// from the documents of a project whose Docs is its own folder.
func (f *File) Protected() []string {
	list := []string{Name, StateDir, f.Changesets, f.Previews, f.Stage, f.State()}
	if f.Docs != "." {
		list = append(list, f.Docs)
	}
	if f.Templates != "" {
		list = append(list, f.Templates)
	}
	for _, out := range f.Outputs {
		list = append(list, out.Path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// View returns the declared view of that id.
func (f *File) View(id string) (changeset.View, error) {
	var ids []string
	for _, v := range f.Views {
		if v.ID == id {
			return v, nil
		}
		ids = append(ids, v.ID)
	}
	return changeset.View{}, fmt.Errorf("no view %.80q; there are %s", id, strings.Join(ids, ", "))
}

// err sorts the faults by their places.
func (r *reader) err() error {
	slices.SortStableFunc(r.faults, func(a, b fault) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	e := &Error{}
	for i, f := range r.faults {
		if i == maxFaults {
			e.Faults = append(e.Faults, fmt.Sprintf("%s: and %d more", Name, len(r.faults)-i))
			break
		}
		e.Faults = append(e.Faults, fmt.Sprintf("%s:%d:%d: %s: %s", Name, f.line, f.column, f.field, f.text))
	}
	return e
}

const maxFaults = 100

// checkPath reports why p is no path of this project.
func checkPath(p string) error {
	if clean := path.Clean(p); clean != p && rootfs.Check(clean) == nil {
		return fmt.Errorf("%.80q is not clean; write %q", p, clean)
	}
	err := rootfs.Check(p)
	if e, ok := errors.AsType[*rootfs.Error](err); ok && e.Err != nil {
		return fmt.Errorf("%.80q is no path in the project: %w", p, e.Err)
	}
	return err
}
