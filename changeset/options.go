package changeset

import (
	"context"
	"time"
)

// A View is a way to show a project or a changeset, declared by the project.
type View struct {
	// ID names the view; it matches ^[a-z0-9]+(-[a-z0-9]+)*$ in at most 64
	// bytes.
	ID string
	// Title is for people; "" means the id.
	Title string
	// Renderer is "review" or "outline". There are no others, and none can be
	// added.
	Renderer string
}

// An Output is a file of the project that is made from a view. This package
// never writes it; [Store.RenderStatus] says whether it is up to date.
type Output struct {
	// View is the id of a declared view.
	View string
	// Path is where the file is, relative to the root and in slash form.
	Path string
}

// A Validator adds an integration's own rules to [Store.Validate].
type Validator interface {
	// Validate returns what is wrong with a proposal. It gets a copy, which it
	// may keep and modify: nothing it does to that changes the changeset, and
	// the problems of others stay. A problem with another severity than
	// warning is an error. A panic becomes a problem too, validator_failed.
	Validate(ctx context.Context, p Proposal) []Problem
}

// A Proposal is what a [Validator] is shown.
type Proposal struct {
	// Changeset is the changeset with its operations.
	Changeset Changeset
	// Before is the project, and After the project as proposed. Neither has
	// problems.
	Before, After Snapshot
	// Files has the proposed bytes by the id of the operation. Deleted nodes
	// have none.
	Files map[string][]byte
}

// Options says what a store is for. Nil and the zero value are the default.
type Options struct {
	// Docs is the folder of the canonical files, relative to the root; "" means
	// "docs". No root below may overlap it.
	Docs string
	// Changesets and Previews are the two folders that are written to, relative
	// to the root; "" means ".mcpdocs/changesets" and ".mcpdocs/previews". They
	// overlap neither each other nor Docs nor an output.
	Changesets, Previews string

	// Views are the views there are, at most 64; none means that there is no
	// preview.
	Views []View
	// Outputs are the files that the project makes from views, at most 64.
	Outputs []Output

	// Policy is what every writer is bound by, in addition to its own. Nil adds
	// nothing.
	Policy *Policy
	// Validators add problems to those that Validate finds, in order; at most
	// 16.
	Validators []Validator

	// MaxChangesets is how many changesets may be kept; 0 means 256. More are
	// refused; a person makes room by removing files.
	MaxChangesets int
	// MaxOperations is how many operations a changeset may have; 0 means 200.
	MaxOperations int
	// MaxFileBytes is how many bytes a file may have, before or afterwards; 0
	// means 1 MiB.
	MaxFileBytes int64
	// MaxBytes is how many bytes a changeset may have as stored; 0 means 16 MiB.
	// It keeps both the old and the new content of each file.
	MaxBytes int64

	// Now returns the time; nil means [time.Now].
	Now func() time.Time
}
